"""Official clients, unmodified, and our providers against the same fake: both must send the same and read the same.

A fake that an official client accepts is a fair one, and what that client reads out of it is what users of that service
know. Clients that block run in a thread of their own.

    provider    client (PyPI)               what is compared
    ----------  --------------------------  ----------------------------------------------------------------------
    exa         exa-py                      request (method, path, auth, common fields); URLs, titles, dates, extracts
    tavily      tavily-python               request; URLs, titles, dates, extracts
    brave       brave-search-python-client  request; URLs, titles, dates, extracts, web and news; and the real answers
                                            of Brave that its wheel ships, read whole
    exa         anysearch-sdk               method, path, auth; URLs, titles, dates
    tavily      anysearch-sdk               the same
    brave       anysearch-sdk               the same, web and news
    searxng     anysearch-sdk               the same
    duckduckgo  anysearch-sdk               the same, without dates
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

import pytest

from tests.wire import FOLDER, QUERY, captured
from tests.wire.fake import KEY, Answer, Fake, search
from tests.wire.write import HTML, JSON
from tests.world import Recorded, World
from webseam.errors import Outcome
from webseam.text import plain

AUTHENTICATION = ("authorization", "x-api-key", "x-subscription-token")


@dataclass(frozen=True)
class Read:
    """One result as a client gave it, in words of ours."""

    url: str
    title: str | None
    published: str | None = None
    extracts: tuple[str, ...] | None = None


Reader = Callable[[str], Awaitable[list[Read]]]


async def _exa_py(url: str) -> list[Read]:
    from exa_py import Exa

    client = Exa(KEY, base_url=url)
    found = await asyncio.to_thread(
        client.search,
        QUERY,
        type="auto",
        contents={"highlights": True},
        num_results=10,
        include_domains=["example.org"],
        start_published_date="2026-01-01T00:00:00.000Z",
        end_published_date="2026-06-30T23:59:59.999Z",
        category="news",
        moderation=True,
        user_location="US",
    )
    return [Read(one.url, one.title, one.published_date, tuple(one.highlights or ())) for one in found.results]


async def _tavily_python(url: str) -> list[Read]:
    from tavily import TavilyClient

    client = TavilyClient(KEY, api_base_url=url)
    try:
        found = await asyncio.to_thread(
            client.search,
            QUERY,
            search_depth="basic",
            topic="general",
            max_results=10,
            include_domains=["example.org"],
            exclude_domains=["example.net"],
            start_date="2026-01-01",
            end_date="2026-06-30",
            country="united states",
            language="en",
            filter_by_language=True,
            include_answer=False,
            include_raw_content=False,
            include_usage=True,
        )
    finally:
        client.close()
    return [Read(one["url"], one["title"], one["published_date"], (one["content"],)) for one in found["results"]]


def _brave_client(url: str) -> Any:
    from brave_search_python_client import BraveSearch

    client = BraveSearch(api_key=KEY)
    client._base_url = f"{url}/res/v1/"
    return client


async def _brave_web(url: str) -> list[Read]:
    from brave_search_python_client import WebSearchRequest

    request = WebSearchRequest(
        q=QUERY,
        count=10,
        offset=2,
        country="US",
        search_lang="en",
        safesearch="strict",
        freshness="2026-01-01to2026-06-30",
        text_decorations=False,
        extra_snippets=True,
        result_filter="web",
    )
    found = await _brave_client(url).web(request)
    return [Read(one.url, plain(one.title), one.page_age, tuple(one.extra_snippets or ())) for one in found.web.results]


async def _brave_news(url: str) -> list[Read]:
    from brave_search_python_client import NewsSearchRequest

    request = NewsSearchRequest(q=QUERY, count=10, country="US", search_lang="en", extra_snippets=True)
    found = await _brave_client(url).news(request)
    return [Read(str(one.url), one.title, one.page_age) for one in found.results]


def _anysearch(provider: str, **options: Any) -> Reader:
    async def read(url: str) -> list[Read]:
        from anysearch import AnySearch

        client = AnySearch(provider=provider, api_key=KEY, base_url=url, env={}, on_unsupported="error")
        found = await asyncio.to_thread(partial(client.search, QUERY, **options))
        return [Read(str(one.url), one.title, one.published_date) for one in found]

    return read


# What the fakes answer: the answer each official client was seen to accept, with three results in place of one.


def _three(provider: str, *path: str) -> Answer:
    document = json.loads(json.dumps(captured(provider)["response_example"]))
    holder = document
    for name in path:
        holder = holder[name]
    (example,) = holder["results"]
    dates = {"publishedDate": "{}T00:00:00.000Z", "published_date": "{}", "page_age": "{}T10:00:00"}
    holder["results"] = [
        {
            **example,
            "url": f"https://example.org/{day}",
            "id": f"https://example.org/{day}",
            "title": f"Guide of {day}",
            **{name: form.format(day) for name, form in dates.items() if name in example},
        }
        for day in ("2026-02-03", "2026-03-04", "2026-04-05")
    ]
    return 200, JSON, json.dumps(document).encode()


def _three_news() -> Answer:
    results = [
        {
            "type": "news_result",
            "url": f"https://example.org/{day}",
            "title": f"News of {day}",
            "description": "It happened.",
            "age": "a while ago",
            "page_age": f"{day}T10:00:00",
            "meta_url": {**captured("brave")["response_example"]["web"]["results"][0]["meta_url"], "path": f"› {day}"},
        }
        for day in ("2026-02-03", "2026-03-04")
    ]
    query = {"original": QUERY, "spellcheck_off": True, "show_strict_warning": False}
    document = {"type": "news", "query": query, "results": results}
    return 200, JSON, json.dumps(document).encode()


_EXA = _three("exa")
_TAVILY = _three("tavily")
_BRAVE = _three("brave", "web")
_SEARXNG = _three("searxng")
_DUCKDUCKGO: Answer = (200, HTML, (FOLDER / "duckduckgo" / "page1.html").read_bytes())


@dataclass(frozen=True)
class Pair:
    """A client and the search of ours that asks for the same.

    Attributes:
        ours_differs: fields that both send, with the value we send on purpose.
        fields: compare what is sent beyond method, path and authentication.
    """

    provider: str
    reader: Reader
    answer: Answer
    options: dict[str, Any] = field(default_factory=dict)
    fields: bool = True
    ours_differs: dict[str, Any] = field(default_factory=dict)


_DAYS = {"after": "2026-01-01", "before": "2026-06-30"}
_BRAVE_WEB: dict[str, Any] = {"page": 3, "region": "US", "language": "en", "safe": "strict", **_DAYS}
PAIRS = [
    pytest.param(
        Pair(
            "exa",
            _exa_py,
            _EXA,
            # With a domain filter twice as much is fetched, as services let other domains through.
            {"count": 5, "include_domains": ["example.org"], "kind": "news", "safe": "strict", "region": "US", **_DAYS},
        ),
        id="exa-py",
    ),
    pytest.param(
        Pair(
            "tavily",
            _tavily_python,
            _TAVILY,
            {
                "count": 5,
                "include_domains": ["example.org"],
                "exclude_domains": ["example.net"],
                "region": "US",
                "language": "en",
                **_DAYS,
            },
        ),
        id="tavily-python",
    ),
    pytest.param(Pair("brave", _brave_web, _BRAVE, _BRAVE_WEB), id="brave-search-python-client"),
    pytest.param(
        Pair(
            "brave",
            _brave_news,
            _three_news(),
            {"kind": "news", "region": "US", "language": "en"},
            ours_differs={"spellcheck": "false"},  # the caller's words are never rewritten
        ),
        id="brave-search-python-client-news",
    ),
    pytest.param(Pair("exa", _anysearch("exa", highlights=True), _EXA, fields=False), id="anysearch-exa"),
    pytest.param(Pair("tavily", _anysearch("tavily"), _TAVILY, fields=False), id="anysearch-tavily"),
    pytest.param(Pair("brave", _anysearch("brave"), _BRAVE, fields=False), id="anysearch-brave"),
    pytest.param(
        Pair("brave", _anysearch("brave", search_type="news"), _three_news(), {"kind": "news"}, fields=False),
        id="anysearch-brave-news",
    ),
    pytest.param(Pair("searxng", _anysearch("searxng"), _SEARXNG, {"count": 3}, fields=False), id="anysearch-searxng"),
    pytest.param(Pair("duckduckgo", _anysearch("duckduckgo"), _DUCKDUCKGO, fields=False), id="anysearch-duckduckgo"),
]


@pytest.mark.parametrize("pair", PAIRS)
async def test_a_client_and_we_read_the_same_out_of_the_same_answer(pair: Pair) -> None:
    async with World() as world:
        fake = Fake(world, pair.answer)
        theirs = await pair.reader(fake.url)
        ours = await search(pair.provider, fake.url, pair.options)
    assert ours.outcome == Outcome.OK
    assert len(theirs) >= 2
    assert [
        Read(hit.url, hit.title, hit.published, read.extracts and (hit.passages or (hit.snippet or "",)))
        for hit, read in zip(ours.hits, theirs, strict=True)
    ] == theirs


@pytest.mark.parametrize("pair", PAIRS)
async def test_a_client_and_we_send_the_same(pair: Pair) -> None:
    async with World() as world:
        fake = Fake(world, pair.answer)
        await pair.reader(fake.url)
        await search(pair.provider, fake.url, pair.options)
    theirs, ours = fake.requests
    assert (ours.method, ours.path) == (theirs.method, theirs.path)
    if pair.provider != "duckduckgo":  # there is no key, though the client was given one
        for name in AUTHENTICATION:
            assert ours.headers.get(name) == theirs.headers.get(name)
    if not pair.fields:
        return
    mine, their_own = _fields(ours), _fields(theirs)
    common = mine.keys() & their_own.keys()
    assert {name: mine[name] for name in common} == {**{name: their_own[name] for name in common}, **pair.ours_differs}
    assert len(common) >= 4


def _fields(request: Recorded) -> dict[str, Any]:
    """What a request asks for; the names of a query in lower-case words, as booleans are spelt in either case."""
    if request.body:
        return dict(request.json())
    return {name: values[0].lower() for name, values in request.query.items()}


# Real answers of Brave.


def _shipped(name: str) -> bytes:
    return files("brave_search_python_client").joinpath(f"responses/mock_data/{name}.json").read_bytes()


@pytest.mark.parametrize(
    "name, reader, kind",
    [pytest.param("web", _brave_web, "web", id="web"), pytest.param("news", _brave_news, "news", id="news")],
)
async def test_real_answers_of_brave_are_read_whole(name: str, reader: Reader, kind: str) -> None:
    body = _shipped(name)
    document = json.loads(body)
    rows = document["web"]["results"] if name == "web" else document["results"]
    async with World() as world:
        fake = Fake(world, (200, JSON, body))
        theirs = await reader(fake.url)
        ours = await search("brave", fake.url, {"kind": kind, "count": 20})
    assert (ours.outcome, ours.dropped, ours.attempt.hits) == (Outcome.OK, {}, len(rows))
    assert [(hit.url, hit.title, hit.published) for hit in ours.hits] == [
        (read.url, read.title, read.published) for read in theirs
    ]
    assert [hit.snippet for hit in ours.hits] == [plain(row["description"]) for row in rows]
    assert [hit.site for hit in ours.hits] == [row["meta_url"]["hostname"] for row in rows]
    assert [hit.passages for hit in ours.hits] == [tuple(row.get("extra_snippets") or ()) for row in rows]
