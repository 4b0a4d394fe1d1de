"""Templates hold for every query: what is sent is exactly what was asked, and nothing in it is looked at again."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.net.url import parse
from webseam.providers.base import ProviderConfig
from webseam.providers.custom_parts.answer import read_path
from webseam.providers.custom_parts.template import Mistake, check_body, fill, in_form, in_json, in_url
from webseam.providers.setup import places
from webseam.secrets import SavedKeys

_TRICKY = [
    "{query}",
    "{{query}}",
    "{count}",
    "{page}",
    "{",
    "}",
    '"',
    "\\",
    "&",
    "=",
    "+",
    "%41",
    "%",
    "#",
    "?",
    "/",
    "..",
]
_CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_PRINTED = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)
QUERIES = (
    st.lists(st.one_of(st.sampled_from(_TRICKY), st.text(_CHARACTERS, max_size=8)), min_size=1, max_size=12)
    .map("".join)
    .filter(str.strip)
)
FORM = "content-type: application/x-www-form-urlencoded"


def _config(**settings: str) -> ProviderConfig:
    named = {f"WEBSEAM_CUSTOM_{name.upper()}": value for name, value in settings.items()}
    (config,) = places(providers.get("custom"), Settings(named), SavedKeys(os.environ))
    return config


def _asked(query: str, config: ProviderConfig, **options: Any) -> tuple[SearchRequest, Request]:
    search = SearchRequest(query=query, **options)
    return search, providers.get("custom").request(search, config)


@given(query=QUERIES)
def test_a_json_body_parses_and_holds_exactly_the_query(query: str) -> None:
    template = '{"q": "{query}", "both": ["a{query}b{query}", {count}, "{page}"], "{query}": {"x": "{other}"}}'
    config = _config(url="https://example.org/x", method="POST", body_template=template)
    search, request = _asked(query, config, count=7, page=3)
    text = search.query
    assert json.loads(request.body, object_pairs_hook=list) == [
        ("q", text),
        ("both", [f"a{text}b{text}", 7, "3"]),
        (text, [("x", "{other}")]),
    ]
    assert (request.url, request.body.isascii()) == ("https://example.org/x", True)


@given(query=QUERIES)
def test_a_url_parses_back_to_exactly_the_query(query: str) -> None:
    config = _config(
        url_template="https://example.org/a/x{query}/{count}?b={query}&c={{query}}x&n={count}&p={page}&o={o}"
    )
    search, request = _asked(query, config, count=7, page=3)
    parts = urlsplit(parse(request.url).href)
    text = search.query
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "example.org", "")
    assert [unquote(part) for part in parts.path.split("/")] == ["", "a", f"x{text}", "7"]
    assert parse_qs(parts.query, keep_blank_values=True, strict_parsing=True) == {
        "b": [text],
        "c": [f"{text}x"],
        "n": ["7"],
        "p": ["3"],
        "o": ["{o}"],
    }


@given(query=st.one_of(QUERIES, st.sampled_from([".", "..", "%2e", "%2E."])))
def test_a_query_that_is_a_whole_part_of_the_path_arrives_whole_or_not_at_all(query: str) -> None:
    config = _config(url_template="https://example.org/find/{query}/end")
    if query.strip() in (".", ".."):
        with pytest.raises(ProviderError) as caught:
            _asked(query, config)
        assert caught.value.outcome is Outcome.UNSUPPORTED
        return
    search, request = _asked(query, config)
    parts = urlsplit(parse(request.url).href).path.split("/")
    assert [unquote(part) for part in parts] == ["", "find", search.query, "end"]


@given(query=QUERIES)
def test_a_form_holds_exactly_the_query(query: str) -> None:
    config = _config(
        url="https://example.org/x", method="POST", headers=FORM, body_template="a={query}&b=x{{query}}&n={count}"
    )
    search, request = _asked(query, config)
    text = search.query
    assert parse_qs(request.body.decode(), strict_parsing=True) == {"a": [text], "b": [f"x{text}"], "n": ["10"]}


@given(
    query=QUERIES,
    value=_PRINTED,
    name=_PRINTED,
)
def test_parameters_that_are_always_sent_are_taken_literally(query: str, value: str, name: str) -> None:
    config = _config(url="https://example.org/x", query_param="the query", params=json.dumps({name: value}))
    search, request = _asked(query, config)
    sent = parse_qs(urlsplit(parse(request.url).href).query, keep_blank_values=True, strict_parsing=True)
    assert sent == ({"the query": [search.query]} | {name: [value]})


_PIECES = st.lists(
    st.one_of(
        st.sampled_from(["{query}", "{{query}}", "{count}", "{{page}}"]),
        st.text(st.characters(exclude_characters="{}"), max_size=5),
    ),
    max_size=8,
)


@given(
    pieces=_PIECES, values=st.fixed_dictionaries({name: st.text(max_size=20) for name in ("query", "count", "page")})
)
def test_each_placeholder_is_replaced_once_and_nothing_else_is(pieces: list[str], values: dict[str, str]) -> None:
    wanted = "".join(values[piece.strip("{}")] if piece.startswith("{") else piece for piece in pieces)
    assert fill("".join(pieces), values, str) == wanted


@given(template=st.text(st.sampled_from('{}":,[]\\u0a Q'), max_size=20).map('{{"x": "{}"}}'.format), query=QUERIES)
@example(template='{"x": "\\Q"}', query="n")
@example(template='{"x": "\\u000Q"}', query="a")
def test_a_json_template_that_was_accepted_holds_for_every_query(template: str, query: str) -> None:
    whole = template.replace("Q", "{query}")
    try:
        check_body("body_template", whole, in_json)
    except Mistake:
        return
    marked = f"\ue000{query}\ue001"
    filled = json.loads(fill(whole, {"query": marked, "count": "1", "page": "1"}, in_json))
    assert json.dumps(filled, ensure_ascii=False).count(json.dumps(marked, ensure_ascii=False)[1:-1]) == whole.count(
        "{query}"
    )


@pytest.mark.parametrize(
    "template, accepted",
    [
        pytest.param("a={query}", True, id="value"),
        pytest.param("{query}", True, id="all"),
        pytest.param("{query}=1", True, id="name"),
        pytest.param("fixed=1", True, id="no-query"),
    ],
)
def test_a_form_template_may_have_the_query_anywhere(template: str, accepted: bool) -> None:
    assert (check_body("body_template", template, in_form) is None) is accepted


def test_a_value_is_encoded_for_its_place() -> None:
    text = 'a b/"é&=\n'
    assert [in_url(text), in_form(text), in_json(text)] == [
        "a%20b%2F%22%C3%A9%26%3D%0A",
        "a+b%2F%22%C3%A9%26%3D%0A",
        'a b/\\"\\u00e9&=\\n',
    ]


@pytest.mark.parametrize(
    "path, steps",
    [
        pytest.param("results", ("results",), id="name"),
        pytest.param("a.b[0].c", ("a", "b", 0, "c"), id="place"),
        pytest.param("[1][*].x y.*", (1, None, "x y", None), id="each"),
    ],
)
def test_a_path_is_read_step_by_step(path: str, steps: tuple[Any, ...]) -> None:
    assert read_path(path) == steps


@given(path=st.text(st.sampled_from("ab.[]*01 $"), max_size=12))
def test_a_path_is_read_or_refused_whole(path: str) -> None:
    try:
        steps = read_path(path)
    except Mistake:
        return
    spelt = "".join(f".{step}" if isinstance(step, str) else f"[{'*' if step is None else step}]" for step in steps)
    assert read_path(spelt.removeprefix(".")) == steps
