"""DuckDuckGo's HTML form: what a browser would send, its pages, and what is no result on them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire import FOLDER, QUERY
from tests.wire.fake import Fake, search, sent
from tests.wire.write import HTML, results
from tests.world import Recorded, World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Headers, Request, Response
from webseam.providers.base import Parsed, ProviderConfig, Reply
from webseam.providers.setup import configure
from webseam.secrets import SavedKeys

NOTHING = results("duckduckgo", [])
PLAIN = {"q": QUERY, "b": "", "kl": "wt-wt"}
VQD = "4-123456789012345678901234567890"


def _form(request: Recorded) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


@pytest.mark.parametrize(
    "options, fields",
    [
        pytest.param({}, {}, id="plain"),
        pytest.param({"include_domains": ["example.org"]}, {"q": f"{QUERY} site:example.org"}, id="site"),
        pytest.param(
            {"include_domains": ["example.org", "example.net"], "exclude_domains": ["docs.example.org"]},
            {"q": f"{QUERY} (site:example.org OR site:example.net) -site:docs.example.org"},
            id="sites",
        ),
        pytest.param({"freshness": "month"}, {"df": "m"}, id="freshness"),
        pytest.param({"region": "de"}, {"kl": "de-de"}, id="region"),
        pytest.param({"region": "de", "language": "en"}, {"kl": "de-de"}, id="language-it-has-not-there"),
        pytest.param({"region": "ch", "language": "it-CH"}, {"kl": "ch-it"}, id="region-and-language"),
        pytest.param({"region": "ch"}, {"kl": "ch-de"}, id="the-first-language-of-several"),
        pytest.param({"region": "gb"}, {"kl": "uk-en"}, id="britain"),
        pytest.param({"region": "si"}, {"kl": "sl-sl"}, id="slovenia"),
        pytest.param({"region": "jp", "language": "ja"}, {"kl": "jp-jp"}, id="its-own-name-of-a-language"),
        pytest.param({"safe": "strict"}, {"kp": "1"}, id="safe-strict"),
        pytest.param({"safe": "moderate"}, {"kp": "-1"}, id="safe-moderate"),
        pytest.param({"safe": "off"}, {"kp": "-2"}, id="safe-off"),
        pytest.param({"query": "!w cats ! and dogs!"}, {"q": '"!w" cats ! and dogs!'}, id="bang"),
    ],
)
async def test_each_option_becomes_this_field(options: dict[str, Any], fields: dict[str, str]) -> None:
    request = await sent("duckduckgo", options, NOTHING)
    assert (request.method, request.target) == ("POST", "/html/")
    assert _form(request) == {**PLAIN, **fields}


async def test_it_asks_as_a_browser_does_and_says_who_it_is() -> None:
    request = await sent("duckduckgo", {"language": "de", "region": "de", "freshness": "week"}, NOTHING)
    headers = {
        name: value for name, value in request.headers.items() if name not in ("host", "content-length", "referer")
    }
    assert headers == {
        "user-agent": "Mozilla/5.0 (X11; Linux x86_64) webseam",
        "accept": "text/html",
        "accept-encoding": request.headers["accept-encoding"],
        "accept-language": "de,en;q=0.5",
        "content-type": "application/x-www-form-urlencoded",
        "cookie": "kl=de-de; df=w",
        "sec-fetch-dest": "document",
        "sec-fetch-mode": "navigate",
        "sec-fetch-site": "same-origin",
        "sec-fetch-user": "?1",
    }
    assert request.headers["referer"] == f"http://{request.headers['host']}/"


async def test_the_region_of_the_settings_stands_in() -> None:
    request = await sent("duckduckgo", {}, NOTHING, settings={"region": "us-en"})
    assert _form(request)["kl"] == "us-en"


@pytest.mark.parametrize("region", [pytest.param("AQ", id="none-such"), pytest.param("SL", id="not-slovenia")])
@pytest.mark.parametrize("rows", [[{"url": "https://example.org/"}], []], ids=["results", "nothing"])
async def test_a_region_it_does_not_know_leaves_that_of_the_settings_and_is_said(
    region: str, rows: list[dict[str, Any]]
) -> None:
    async with World() as world:
        fake = Fake(world, results("duckduckgo", rows))
        result = await search("duckduckgo", fake.url, {"region": region}, settings={"region": "us-en"})
    assert _form(fake.requests[0])["kl"] == "us-en"
    note = f"DuckDuckGo does not know the region {region}; duckduckgo.region (us-en) was used"
    assert (result.outcome, result.notes) == (Outcome.OK if rows else Outcome.EMPTY, (note,))


# Pages.


def _page(name: str) -> tuple[int, dict[str, str], bytes]:
    return 200, HTML, (FOLDER / "duckduckgo" / name).read_bytes()


def _pages(request: Recorded) -> tuple[int, dict[str, str], bytes]:
    """Three pages, of 10, 15 and 15 results; the middle one has a form back as well as a form on."""
    return _page({"": "page1.html", "10": "page2.html", "25": "page3.html"}[_form(request).get("s", "")])


@pytest.mark.parametrize(
    "options, starts, numbers",
    [
        pytest.param({"count": 10}, [None], range(1, 11), id="one-page"),
        pytest.param({"count": 20}, [None, "10"], range(1, 21), id="two-pages"),
        pytest.param({"count": 30}, [None, "10", "25"], range(1, 31), id="three-pages"),
        pytest.param({"count": 10, "page": 2}, [None, "10"], range(11, 21), id="the-second-ten"),
        pytest.param({"count": 10, "page": 3}, [None, "10", "25"], range(21, 31), id="the-third-ten"),
    ],
)
async def test_further_pages_come_from_the_page_s_own_form(
    options: dict[str, Any], starts: list[str | None], numbers: range
) -> None:
    async with World() as world:
        fake = Fake(world, _pages)
        result = await search("duckduckgo", fake.url, options)
    forms = [_form(request) for request in fake.requests]
    assert [form.get("s") for form in forms] == starts
    assert [form.get("vqd") for form in forms[1:]] == [VQD] * (len(starts) - 1)
    assert len({request.headers["user-agent"] for request in fake.requests}) == 1
    assert [hit.url for hit in result.hits] == [f"https://example.org/{number}" for number in numbers]


async def test_the_form_is_sent_back_whole() -> None:
    async with World() as world:
        fake = Fake(world, _pages)
        await search("duckduckgo", fake.url, {"count": 20})
    assert _form(fake.requests[1]) == {
        "q": QUERY,
        "s": "10",
        "nextParams": "",
        "v": "l",
        "o": "json",
        "dc": "11",
        "api": "d.js",
        "vqd": VQD,
        "kl": "wt-wt",
    }


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("", id="no-form"),
        pytest.param('<form><input name="s" value="10"></form>', id="no-vqd"),
        pytest.param('<form><input name="s" value="10"><input name="vqd" value=""></form>', id="empty-vqd"),
        pytest.param('<form><input name="s" value="x"><input name="vqd" value="4-1"></form>', id="no-number"),
        pytest.param('<form><input name="s" value="0"><input name="vqd" value="4-1"></form>', id="back"),
        pytest.param('<input name="s" value="10"><input name="vqd" value="4-1">', id="outside-a-form"),
    ],
)
async def test_a_second_page_is_never_asked_for_without_the_form_for_it(form: str) -> None:
    status, headers, body = results("duckduckgo", [{"url": "https://example.org/", "title": "Home"}])
    async with World() as world:
        fake = Fake(world, (status, headers, body.replace(b"</body>", form.encode() + b"</body>")))
        result = await search("duckduckgo", fake.url, {"count": 30})
    assert (len(result.hits), len(fake.requests)) == (1, 1)


async def test_a_challenge_on_the_second_page_leaves_the_first() -> None:
    async with World() as world:
        pages = iter([_page("page1.html"), _page("anomaly.html")])
        fake = Fake(world, lambda _: next(pages))
        result = await search("duckduckgo", fake.url, {"count": 20})
    assert (result.outcome, len(result.hits)) == (Outcome.OK, 10)
    assert result.notes == ("DuckDuckGo: page 2 failed (blocked)",)


# What is no result.


def _result(href: str, title: str = "Title") -> bytes:
    return f'<div id="links"><div class="result"><a class="result__a" href="{href}">{title}</a></div></div>'.encode()


@pytest.mark.parametrize(
    "href, url, dropped",
    [
        pytest.param("https://example.org/a", "https://example.org/a", {}, id="bare"),
        pytest.param("//example.org/a", "https://example.org/a", {}, id="without-scheme"),
        pytest.param("/l/?uddg=https%3A%2F%2Fexample.org%2Fa", "https://example.org/a", {}, id="wrapped-relative"),
        pytest.param(
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2F100%2525",
            "https://example.org/100%25",
            {},
            id="decoded-once",
        ),
        pytest.param("//duckduckgo.com/l/?uddg=ftp%3A%2F%2Fexample.org%2F", None, {"not http": 1}, id="wrapped-ftp"),
        pytest.param("//duckduckgo.com/l/?rut=0", None, {"no url": 1}, id="wrapped-nothing"),
        pytest.param("http://[::1", None, {"unsafe address": 1}, id="malformed"),
        pytest.param("https://myduckduckgo.com/a", "https://myduckduckgo.com/a", {}, id="another-domain"),
    ],
)
async def test_where_a_result_leads(href: str, url: str | None, dropped: dict[str, int]) -> None:
    async with World() as world:
        result = await search("duckduckgo", Fake(world, (200, HTML, _result(href))).url)
    assert ([hit.url for hit in result.hits], result.dropped) == ([url] if url else [], dropped)


@pytest.mark.parametrize(
    "body, outcome",
    [
        pytest.param(_result("https://duckduckgo.com/y.js?ad=1"), Outcome.BAD_RESPONSE, id="advertisements-alone"),
        pytest.param(b'<div id="links">No results.</div>', Outcome.EMPTY, id="words-for-nothing"),
        pytest.param(b"<title>No results. at DuckDuckGo</title>", Outcome.BAD_RESPONSE, id="the-query-says-it"),
        pytest.param(b"", Outcome.BAD_RESPONSE, id="nothing-at-all"),
        pytest.param(b'<div class="anomaly-modal__title">Bots</div>', Outcome.BLOCKED, id="anomaly"),
        pytest.param(b'<script src="/anomaly.js"></script>', Outcome.BLOCKED, id="anomaly-script"),
    ],
)
async def test_a_page_without_a_result_is_what_it_shows(body: bytes, outcome: Outcome) -> None:
    async with World() as world:
        result = await search("duckduckgo", Fake(world, (200, HTML, body)).url)
    assert (result.outcome, result.hits) == (outcome, ())


@pytest.mark.parametrize(
    "words, answer",
    [
        pytest.param("A domain is a name.", "A domain is a name.", id="answer"),
        pytest.param("Your IP address is 192.0.2.1 in Example", None, id="own-address"),
        pytest.param("Your user agent: Mozilla/5.0", None, id="own-client"),
        pytest.param("  ", None, id="blank"),
    ],
)
async def test_a_short_answer_is_passed_on_unless_it_is_about_the_caller(words: str, answer: str | None) -> None:
    body = f'<div id="zero_click_abstract">{words}</div>'.encode() + _result("https://example.org/")
    async with World() as world:
        result = await search("duckduckgo", Fake(world, (200, HTML, body)).url)
    assert (result.outcome, result.answer) == (Outcome.OK, answer)


@pytest.mark.parametrize("page", ["anomaly.html"])
async def test_a_block_is_not_tried_again(page: str) -> None:
    async with World() as world:
        fake = Fake(world, _page(page))
        first, second = [
            await search("duckduckgo", fake.url, variables={"WEBSEAM_STATE_ENABLED": "on"}) for _ in range(2)
        ]
    assert (first.outcome, second.outcome, len(fake.requests)) == (Outcome.BLOCKED, Outcome.UNAVAILABLE, 1)
    assert str(second.attempt.detail).startswith("cooling down after blocked: HTTP 200 with a challenge")
    assert "webseam key set" in str(second.hint)


# Whatever comes.

_SEARCH = SearchRequest(query=QUERY)
_SAMPLES = sorted(path.read_text() for path in Path(FOLDER / "duckduckgo").glob("*.html"))
_PIECES = st.sampled_from(
    [
        '<div id="links">',
        '<div class="result">',
        '<div class="result result--ad">',
        '<a class="result__a" href="https://example.org/">',
        '<a class="result__a" href="//duckduckgo.com/l/?uddg=http%3A%2F%2F%5B">',
        '<a class="result__a" href="http://[">',
        '<a class="result__a" href>',
        "<a class=result__a>",
        '<a class="result__snippet">',
        '<div class="result__extras"><span>2026-13-99T</span>',
        '<form><input name="vqd" value="1"><input name="s" value="99999999999999999999">',
        "<form><input name=s value=5><input name=vqd value=1><input name>",
        "<template>",
        "<svg><![CDATA[",
        "</div>",
        "</a>",
        "<!--",
        "words \x00\x1b[2J\u202e",
        "&#x110000;&#0;&nosuch;",
    ]
)


def _config() -> ProviderConfig:
    return configure(providers.get("duckduckgo"), Settings(), SavedKeys(dict(os.environ)))


def _parse(body: bytes) -> Parsed | ProviderError:
    duckduckgo, config = providers.get("duckduckgo"), _config()
    request: Request = duckduckgo.request(_SEARCH, config)
    response = Response(status=200, headers=Headers([]), url=request.url, body=body)
    try:
        return duckduckgo.parse(Reply(response, request=request), _SEARCH, config)
    except ProviderError as error:
        return error


@given(st.binary(max_size=400))
def test_any_bytes_are_hits_or_an_error_of_the_provider(body: bytes) -> None:
    _is_sound(_parse(body))


@given(st.lists(st.one_of(_PIECES, st.text(max_size=20)), max_size=25))
def test_any_markup_is_hits_or_an_error_of_the_provider(pieces: list[str]) -> None:
    _is_sound(_parse("".join(pieces).encode("utf-8", "surrogatepass")))


@given(st.sampled_from(_SAMPLES), st.integers(0, 5_000), st.integers(0, 200), st.binary(max_size=20))
def test_a_page_with_a_piece_replaced_is_hits_or_an_error_of_the_provider(
    page: str, start: int, length: int, piece: bytes
) -> None:
    body = page.encode()
    _is_sound(_parse(body[:start] + piece + body[start + length :]))


def _is_sound(parsed: Parsed | ProviderError) -> None:
    if isinstance(parsed, ProviderError):
        assert parsed.outcome in (Outcome.BLOCKED, Outcome.BAD_RESPONSE)
        return
    assert all(re.match(r"https?://", hit.url, re.IGNORECASE) for hit in parsed.hits)
    assert parsed.more is None or b"vqd=" in parsed.more.body
