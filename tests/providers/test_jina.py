"""Jina's search: which field each option becomes at its two addresses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, sent
from tests.wire.write import results
from webseam import providers
from webseam.config import Settings
from webseam.providers.base import ProviderConfig
from webseam.providers.options import today

NOTHING = results("jina", [])


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"count": 50}, {"num": 20}, id="count"),
        pytest.param(
            {"include_domains": ["example.org/docs", "example.com"], "exclude_domains": ["example.net"]},
            {"q": f"{QUERY} (site:example.org OR site:example.com) -site:example.net", "num": 20},
            id="domains",
        ),
        pytest.param({"freshness": "week"}, {"tbs": "qdr:w"}, id="freshness"),
        pytest.param({"after": today().isoformat(), "freshness": "year"}, {"tbs": "qdr:d", "num": 20}, id="days-win"),
        pytest.param({"before": "2026-06-30"}, {"num": 20}, id="before-has-no-age"),
        pytest.param({"language": "pt-BR", "region": "br"}, {"hl": "pt-BR", "gl": "br"}, id="place"),
        pytest.param({"kind": "paper"}, {"domain": "arxiv"}, id="paper"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, Any]) -> None:
    request = await sent("jina", options, NOTHING)
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/", f"Bearer {KEY}")
    assert request.json() == {"q": QUERY, "num": 10, **fields}


@pytest.mark.parametrize(
    "options, parameters, site",
    [
        pytest.param({"region": "de", "language": "de"}, {"gl": "DE", "hl": "de"}, None, id="place"),
        pytest.param(
            {"include_domains": ["example.org"], "exclude_domains": ["docs.example.org"]},
            {"q": f"{QUERY} -site:docs.example.org", "num": "20"},
            "example.org",
            id="one-site",
        ),
        pytest.param(
            {"include_domains": ["example.org", "example.com"]},
            {"q": f"{QUERY} (site:example.org OR site:example.com)", "num": "20"},
            None,
            id="two-sites",
        ),
        # It knows no age, so more is fetched and what is older dropped here.
        pytest.param({"freshness": "week", "kind": "paper"}, {"num": "20"}, None, id="what-it-does-not-know"),
    ],
)
async def test_the_older_address_gets_parameters_and_never_reads_pages(
    options: dict[str, Any], parameters: dict[str, str], site: str | None
) -> None:
    request = await sent("jina", options, NOTHING, settings={"endpoint": "s"})
    assert (request.method, request.path, request.headers["authorization"]) == ("GET", "/", f"Bearer {KEY}")
    assert {name: values[0] for name, values in request.query.items()} == {"q": QUERY, "num": "10", **parameters}
    assert [request.headers.get(name) for name in ("x-respond-with", "x-retain-images", "x-site")] == [
        "no-content",
        "none",
        site,
    ]


@pytest.mark.parametrize(
    "endpoint, base, place",
    [
        pytest.param("svip", "https://svip.jina.ai", "https://svip.jina.ai", id="svip"),
        pytest.param("s", "https://svip.jina.ai", "https://s.jina.ai", id="s"),
        pytest.param("s", "https://search.example.org", "https://search.example.org", id="an-address-that-is-set"),
    ],
)
def test_the_endpoint_decides_where_it_is_asked_unless_an_address_is_set(endpoint: str, base: str, place: str) -> None:
    config = ProviderConfig(provider="jina", base_url=base, values={"endpoint": endpoint})
    assert [one.base_url for one in providers.get("jina").routes(config, Settings())] == [place]
