"""The text that the hosted server writes: records of page text, which may look like anything."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, ProviderError
from webseam.model import SearchHit, SearchRequest
from webseam.net.message import Headers, Response
from webseam.providers.base import Parsed, ProviderConfig, Reply
from webseam.providers.exa_free import ExaFree

CONFIG = ProviderConfig(provider="exa-free", base_url="https://mcp.example", values={"tier": True, "advanced": False})
SEARCH = SearchRequest(query="q")


def parsed(*blocks: str, **result: Any) -> Parsed:
    content = [{"type": "text", "text": block} for block in blocks]
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": content, **result}}
    reply = Reply(Response(200, Headers(), "https://mcp.example/mcp", json.dumps(message).encode()))
    return ExaFree().parse(reply, SEARCH, CONFIG)


def read(text: str) -> Parsed | ProviderError:
    try:
        return parsed(text)
    except ProviderError as error:
        return error


def failed(*blocks: str, **result: Any) -> tuple[Outcome, str, int | None]:
    with pytest.raises(ProviderError) as caught:
        parsed(*blocks, **result)
    return caught.value.outcome, caught.value.detail, caught.value.http_status


def hit(url: str, **fields: Any) -> SearchHit:
    return SearchHit(url=url, providers=("exa-free",), **fields)


FIRST = "Title: One\nURL: https://one.example/\nPublished: 2026-02-03T00:00:00.000Z\nAuthor: A. Author\n"
SECOND = "Title: Two\nURL: https://two.example/\nPublished: N/A\nAuthor: N/A\nText: Second text."
TWO = hit("https://two.example/", title="Two", snippet="Second text.")


def one(snippet: str | None, *passages: str) -> SearchHit:
    return hit(
        "https://one.example/",
        title="One",
        published="2026-02-03T00:00:00.000Z",
        author="A. Author",
        snippet=snippet,
        passages=passages,
    )


@pytest.mark.parametrize(
    "text, hits",
    [
        pytest.param(
            f"{FIRST}Highlights:\nFirst excerpt.\n---\nwith a rule\nSecond excerpt.\n\n---\n\n{SECOND}",
            [
                one("First excerpt. with a rule Second excerpt.", "First excerpt.", "with a rule", "Second excerpt."),
                TWO,
            ],
            id="as the server writes it",
        ),
        pytest.param(
            f"{FIRST}Text: a\n\n---\n\nb\n\n----------\n\n---\n\n{SECOND}",
            [one("a b"), TWO],
            id="rules inside page text never split a record",
        ),
        pytest.param(
            f"{FIRST}Text: Front matter:\n---\nTitle: My page\nDate: today\n---\nURL: is not needed\n\n---\n\n{SECOND}",
            [one("Front matter: Title: My page Date: today URL: is not needed"), TWO],
            id="Title: and URL: apart inside page text",
        ),
        pytest.param(
            f"{FIRST}Text: The form is\nTitle: X\nURL: https://x.example/\nand so on\n\n---\n\n{SECOND}",
            [one("The form is Title: X URL: https://x.example/ and so on"), TWO],
            id="Title: and URL: together inside page text",
        ),
        pytest.param(
            f"{FIRST}Highlights:\nAuthor: an imposter\nSummary: of it\nPublished: never\nText: more\n---\n{SECOND}",
            [
                one(
                    "Author: an imposter Summary: of it Published: never Text: more",
                    "Author: an imposter",
                    "Summary: of it",
                    "Published: never",
                    "Text: more",
                ),
                TWO,
            ],
            id="names of fields inside page text",
        ),
        pytest.param(
            "Title: N/A\nURL: https://two.example/\nPublished: N/A\nAuthor: N/A\nText: words",
            [hit("https://two.example/", snippet="words")],
            id="N/A is unknown",
        ),
        pytest.param(
            "Title: Two\nURL: https://two.example/\nAuthor: B",
            [hit("https://two.example/", title="Two", author="B")],
            id="no text",
        ),
        pytest.param(
            "Title:\nURL: https://two.example/\nText:\n",
            [hit("https://two.example/")],
            id="empty fields",
        ),
        pytest.param(
            "Title: Two\n\nURL:   https://two.example/  (cached)\nPublished Date: 2026-02-03\nSummary: In short.",
            [hit("https://two.example/", title="Two", published="2026-02-03", snippet="In short.")],
            id="older names and a blank line",
        ),
        pytest.param(
            "Title: Two\nURL: https://two.example/\nHighlights:\n\nText: full text",
            [hit("https://two.example/", title="Two", snippet="full text")],
            id="empty highlights, then text",
        ),
        pytest.param(
            "Title: One\nURL: https://one.example/\n\nTitle: Two\nURL: https://two.example/",
            [hit("https://one.example/", title="One"), hit("https://two.example/", title="Two")],
            id="title and URL suffice when no record has more",
        ),
        pytest.param(
            f"{SECOND}\n\n---\n\nTitle: Bare\nURL: https://bare.example/",
            [hit("https://two.example/", title="Two", snippet="Second text. Title: Bare URL: https://bare.example/")],
            id="title and URL do not suffice when another record has more",
        ),
        pytest.param(f"Search results for q:\n\n{SECOND}\n\n---\n", [TWO], id="words before, a rule at the end"),
        pytest.param(
            "Title: Two\nURL: https://two.example/\nText: more… and more... \x1b[31m<b>bold</b>\u202e",
            [hit("https://two.example/", title="Two", snippet="more… and more… bold")],
            id="cleaned",
        ),
    ],
)
def test_records_are_read_whole(text: str, hits: list[SearchHit]) -> None:
    assert list(parsed(text).hits) == hits
    assert list(parsed(text.replace("\n", "\r\n")).hits) == hits


def test_records_may_come_in_several_blocks() -> None:
    assert list(parsed(f"{FIRST}Text: a", SECOND).hits) == [one("a"), TWO]


@pytest.mark.parametrize(
    "url, reason",
    [
        ("", "no url"),
        ("N/A", "not http"),
        ("javascript:alert(1)", "not http"),
        ("ftp://a.example/", "not http"),
        ("https://", "not http"),
    ],
)
def test_a_record_without_a_web_address_is_dropped_and_counted(url: str, reason: str) -> None:
    found = parsed(f"Title: X\nURL: {url}\nText: x\n\n---\n\n{SECOND}")
    assert (list(found.hits), found.dropped) == ([TWO], {reason: 1})


RESULTS = {"results": [{"url": "https://two.example/", "title": "Two", "text": "Second text."}]}
STRUCTURED = hit("https://two.example/", title="Two", snippet="Second text.", passages=("Second text.",))


@pytest.mark.parametrize(
    "blocks, result",
    [
        pytest.param([], {"structuredContent": RESULTS}, id="structured content"),
        pytest.param([], {"data": RESULTS}, id="data"),
        pytest.param([json.dumps(RESULTS)], {}, id="JSON in a text block"),
        pytest.param([json.dumps(json.dumps(RESULTS))], {}, id="JSON encoded twice"),
        pytest.param(["Here you are:", json.dumps(RESULTS)], {}, id="JSON in the second block"),
        pytest.param([SECOND], {"structuredContent": RESULTS, "data": None}, id="structured content before text"),
    ],
)
def test_results_as_json_are_read_wherever_they_are(blocks: list[str], result: dict[str, Any]) -> None:
    assert list(parsed(*blocks, **result).hits) == [STRUCTURED]


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param([], id="no block"),
        pytest.param([" \n"], id="white space"),
        pytest.param(["No search results found. Try other words."], id="the server's sentence"),
    ],
)
def test_nothing_found_is_empty(blocks: list[str]) -> None:
    assert parsed(*blocks) == Parsed(hits=[])


LIMIT = "You've hit Exa's free MCP rate limit. Get a key at https://dashboard.exa.ai/?key=1"


@pytest.mark.parametrize(
    "blocks, result, wanted",
    [
        pytest.param(
            [LIMIT],
            {"isError": True},
            (
                Outcome.RATE_LIMITED,
                "the free tier's rate limit is reached: You've hit Exa's free MCP rate limit.",
                200,
            ),
            id="the limit, without the advice to put a key into a URL",
        ),
        pytest.param(
            [LIMIT],
            {},
            (
                Outcome.RATE_LIMITED,
                "the free tier's rate limit is reached: You've hit Exa's free MCP rate limit.",
                200,
            ),
            id="the limit, not marked as an error",
        ),
        pytest.param(
            ["web_search_exa error (429): slow down\nTimestamp: now"],
            {"isError": True},
            (
                Outcome.RATE_LIMITED,
                "the free tier's rate limit is reached: web_search_exa error (429): slow down Timestamp: now",
                200,
            ),
            id="429 in words",
        ),
        pytest.param(
            [SECOND],
            {"_meta": {"ai.exa/rateLimited": True}},
            (Outcome.RATE_LIMITED, "the free tier's rate limit is reached: Title: Two URL:", 200),
            id="a mark on the result",
        ),
        pytest.param(
            ["web_search_exa error (402): no"],
            {"isError": True},
            (Outcome.QUOTA, "its tool failed: web_search_exa error (402): no", 402),
            id="402",
        ),
        pytest.param(
            ["web_search_exa error (401): no"],
            {"isError": True},
            (Outcome.AUTH, "its tool failed: web_search_exa error (401): no", 401),
            id="401",
        ),
        pytest.param(
            ["web_search_exa error (403): no"],
            {"isError": True},
            (Outcome.AUTH, "its tool failed: web_search_exa error (403): no", 403),
            id="403",
        ),
        pytest.param(
            ["web_search_exa error (500): no"],
            {"isError": True},
            (Outcome.BAD_RESPONSE, "its tool failed: web_search_exa error (500): no", 500),
            id="500",
        ),
        pytest.param(
            ["The search timed out after 25 s"],
            {"isError": True},
            (Outcome.TIMEOUT, "its tool failed: The search timed out after 25 s", 200),
            id="time-out",
        ),
        pytest.param(
            ["web_search_exa error (504): timed out after 25 s"],
            {"isError": True},
            (Outcome.TIMEOUT, "its tool failed: web_search_exa error (504): timed out after 25 s", 504),
            id="time-out-with-a-status",
        ),
        pytest.param(
            [], {"isError": True}, (Outcome.BAD_RESPONSE, "its tool failed: an error without words", 200), id="no words"
        ),
        pytest.param(
            ["<html><title>Sign in</title>"],
            {},
            (Outcome.BAD_RESPONSE, "it sent a web page instead of results", 200),
            id="web page",
        ),
        pytest.param(
            ["<html>captcha</html>"], {}, (Outcome.BLOCKED, "it sent a web page instead of results", 200), id="captcha"
        ),
        pytest.param(
            ["Sorry, try later."],
            {},
            (Outcome.BAD_RESPONSE, "its answer holds no result: Sorry, try later.", 200),
            id="other words",
        ),
    ],
)
def test_an_answer_without_results_is_the_failure_it_is(
    blocks: list[str], result: dict[str, Any], wanted: tuple[Outcome, str, int]
) -> None:
    assert failed(*blocks, **result) == wanted


def test_a_rate_limit_marked_on_a_block_counts() -> None:
    block = {"type": "text", "text": SECOND, "_meta": {"ai.exa/rateLimited": True}}
    assert failed(content=[block])[0] == Outcome.RATE_LIMITED


LINES = st.sampled_from(
    [
        *(
            "Title: T",
            "Title:",
            "URL: https://a.example/",
            "URL: x",
            "URL:",
            "Published: N/A",
            "Author: A",
            "Highlights:",
        ),
        *(
            "Text: t",
            "Summary: s",
            "---",
            "  ----- ",
            "",
            "words",
            "\tTitle: no",
            "Title: \x1b[31m",
            "…",
            "\u2028",
            "\r",
        ),
    ]
)


@given(st.lists(LINES, max_size=20), st.sampled_from(["\n", "\r\n"]))
def test_any_lines_are_hits_or_a_provider_error(lines: list[str], end: str) -> None:
    found = read(end.join(lines))
    if isinstance(found, ProviderError):
        assert found.outcome == Outcome.BAD_RESPONSE
        return
    assert all(one.url.startswith("https://a.example/") for one in found.hits)


PAGE_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["---", "Title: x", "URL: https://x.example/", "Text: x", "Author: x", "", "Summary:", "-----"]
        ),
        st.text(st.characters(categories=["L", "N", "P"]), max_size=8),
    ),
    max_size=12,
).filter(lambda lines: not any(line.startswith("Title:") for line in lines) and any(line.strip("- ") for line in lines))


@given(PAGE_LINES, PAGE_LINES)
def test_page_text_stays_with_its_own_record(first: list[str], second: list[str]) -> None:
    text = f"{FIRST}Text: start\n" + "\n".join(first) + f"\n\n---\n\n{SECOND}\n" + "\n".join(second)
    found = [(one.url, one.title, one.author) for one in parsed(text).hits]
    assert found == [("https://one.example/", "One", "A. Author"), ("https://two.example/", "Two", None)]


@pytest.mark.parametrize(
    "head, piece, tail",
    [
        pytest.param(f"{FIRST}Text: ", "\n", "x", id="blank lines"),
        pytest.param(f"{FIRST}Text: ", "\n ", "x", id="blank lines with spaces"),
        pytest.param(f"{FIRST}Text: ", "a\n", "x", id="short lines"),
        pytest.param(f"{FIRST}Text: ", "\n---", "x", id="rules"),
        pytest.param(f"{FIRST}Text: ", "-", "x", id="dashes"),
        pytest.param(f"{FIRST}Text: ", "\n---   ", "x", id="rules with spaces"),
        pytest.param(f"{FIRST}Highlights:\n", "word word\n", "x", id="highlights"),
        pytest.param(f"{FIRST}Text: ", "Title: a\n", "x", id="titles"),
        pytest.param("", "Title: a\n\n\n", "", id="titles alone"),
        pytest.param("", "Title:", "", id="titles on one line"),
        pytest.param("Title: a", "\n", "URL", id="a title, then nothing for long"),
        pytest.param("", "Title: a\nURL: b\n", "", id="titles and URLs"),
        pytest.param("", "Title: a\nURL: https://a.example/\nText: b\n", "", id="records"),
        pytest.param(f"{FIRST}Text: ", "<", "x", id="signs"),
        pytest.param(f"{FIRST}Text: ", "[](", "x", id="links"),
    ],
)
def test_a_hostile_megabyte_is_read_in_linear_time(head: str, piece: str, tail: str) -> None:
    # No clock: what grew with the square of the size took hours here, and runs into the bound of the whole suite.
    text = head + piece * (1_000_000 // len(piece)) + tail
    found = read(text)
    if isinstance(found, ProviderError):
        assert found.outcome == Outcome.BAD_RESPONSE
    else:
        assert len(found.hits) <= 500
