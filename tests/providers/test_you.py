"""You.com's API: which field each option becomes, its closed lists, and the other address without a key."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Fake, search, sent
from tests.wire.write import JSON, results
from tests.world import World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome
from webseam.providers.base import ProviderConfig
from webseam.providers.options import today

NOTHING = results("you", [])
KEYLESS = {"keyless": "on", "api_key": None}


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"page": 3}, {"offset": 2}, id="page"),
        pytest.param(
            {"include_domains": ["example.org/docs"], "exclude_domains": ["example.net"]},
            {"include_domains": ["example.org"], "count": 20},
            id="one-of-the-two-lists",
        ),
        pytest.param(
            {"exclude_domains": ["example.net", "edu"]}, {"exclude_domains": ["example.net"], "count": 20}, id="exclude"
        ),
        pytest.param({"freshness": "week"}, {"freshness": "week"}, id="freshness"),
        pytest.param(
            {"after": "2026-01-01", "freshness": "day"},
            {"freshness": f"2026-01-01to{today().isoformat()}"},
            id="open-end",
        ),
        pytest.param({"before": "2026-06-30"}, {"freshness": "1990-01-01to2026-06-30"}, id="open-start"),
        pytest.param({"language": "zh-tw", "region": "tw"}, {"language": "ZH-HANT", "country": "TW"}, id="names"),
        pytest.param({"language": "zh"}, {"language": "ZH-HANS"}, id="chinese"),
        pytest.param({"language": "zh-Hans-HK"}, {"language": "ZH-HANS"}, id="simplified"),
        pytest.param({"language": "zh-Hant"}, {"language": "ZH-HANT"}, id="traditional"),
        pytest.param({"language": "zh-Hant-TW"}, {"language": "ZH-HANT"}, id="traditional-of-a-place"),
        pytest.param({"language": "zh-HK"}, {"language": "ZH-HANT"}, id="hong-kong"),
        pytest.param({"language": "zh-MO"}, {"language": "ZH-HANT"}, id="macao"),
        pytest.param({"language": "de-AT"}, {"language": "DE"}, id="language-without-its-region"),
        pytest.param({"safe": "off"}, {"safesearch": "off"}, id="safe"),
    ],
)
async def test_each_option_becomes_this_field_or_without_a_key_this_parameter(
    options: dict[str, Any], fields: dict[str, Any]
) -> None:
    asked = {"query": QUERY, "count": 10, **fields}
    request = await sent("you", options, NOTHING)
    assert (request.method, request.path, request.headers["x-api-key"]) == ("POST", "/v1/search", KEY)
    assert request.json() == asked
    request = await sent("you", options, NOTHING, settings=KEYLESS)
    assert (request.method, request.path, request.headers.get("x-api-key")) == ("GET", "/v1/agents/search", None)
    assert {name: values[0] for name, values in request.query.items()} == {
        name: ",".join(value) if isinstance(value, list) else str(value) for name, value in asked.items()
    }


@pytest.mark.parametrize(
    "key, keyless, base, place",
    [
        pytest.param("", True, "https://ydc-index.io", "https://api.you.com", id="without-a-key"),
        pytest.param("", True, "https://search.example.org", "https://search.example.org", id="an-address-that-is-set"),
        pytest.param(KEY, True, "https://ydc-index.io", "https://ydc-index.io", id="with-a-key"),
        pytest.param("", False, "https://ydc-index.io", "https://ydc-index.io", id="not-switched-on"),
    ],
)
def test_the_other_address_is_asked_only_without_a_key(key: str, keyless: bool, base: str, place: str) -> None:
    config = ProviderConfig(provider="you", base_url=base, key=key, values={"keyless": keyless})
    assert [one.base_url for one in providers.get("you").routes(config, Settings())] == [place]


async def test_without_a_key_nothing_is_sent_unless_that_is_switched_on() -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        told = await search("you", fake.url, settings={"api_key": None})
    assert (told.outcome, fake.requests) == (Outcome.UNAVAILABLE, [])


@pytest.mark.parametrize(
    "options, note",
    [
        pytest.param({"region": "AQ"}, "You.com does not know the region AQ; that was not applied", id="place"),
        pytest.param(
            {"language": "la"}, "You.com does not know the language la; it searched in English", id="language"
        ),
    ],
)
async def test_what_is_not_on_its_lists_is_not_sent_and_that_is_said(options: dict[str, Any], note: str) -> None:
    async with World() as world:
        fake = Fake(world, results("you", [{"url": "https://example.org/"}]))
        told = await search("you", fake.url, options)
    assert (told.outcome, told.notes) == (Outcome.OK, (note,))
    assert fake.requests[0].json() == {"query": QUERY, "count": 10}


async def test_a_page_beyond_its_last_one_is_refused_before_anything_is_sent() -> None:
    async with World() as world:
        fake = Fake(world, NOTHING)
        told = await search("you", fake.url, {"page": 11})
    assert (told.outcome, told.attempt.detail, fake.requests) == (Outcome.UNSUPPORTED, "You.com has no page 11", [])


@pytest.mark.parametrize("zone", [pytest.param("Z", id="utc"), pytest.param("", id="no-zone")])
async def test_a_used_up_allowance_is_left_alone_until_it_is_renewed(zone: str) -> None:
    renewed = datetime.now(UTC).replace(tzinfo=None, microsecond=0) + timedelta(days=3)
    body = {"error": "payment_required", "reset_at": f"{renewed.isoformat()}{zone}"}
    async with World() as world:
        fake = Fake(world, (402, JSON, json.dumps(body).encode()))
        told = await search("you", fake.url)
    assert told.outcome == Outcome.QUOTA
    assert 2 * 86_400 < (told.attempt.retry_after or 0) <= 3 * 86_400


@pytest.mark.parametrize("reset", ["soon", None, 3, {}])
async def test_a_renewal_that_cannot_be_read_is_unknown(reset: object) -> None:
    body = {"error": "payment_required", "reset_at": reset}
    async with World() as world:
        fake = Fake(world, (402, JSON, json.dumps(body).encode()))
        told = await search("you", fake.url)
    assert (told.outcome, told.attempt.retry_after) == (Outcome.QUOTA, None)
