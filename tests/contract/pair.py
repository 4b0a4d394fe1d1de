"""A pair: somebody else's client and what of ours asks for the same: a search, for the table in `sdks/`, or a page, for
that in `sdks/reading/`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from tests.wire import AUTHENTICATION, QUERY, Answer, captured
from tests.wire.fake import KEY, Fake, search
from tests.wire.pages import PAGE, written
from tests.wire.pages import read as read_page
from tests.wire.write import JSON
from tests.world import Recorded, World
from webseam import providers
from webseam.errors import Outcome

DAYS = ("2026-02-03", "2026-03-04", "2026-04-05")  # of the three results


@dataclass(frozen=True)
class Read:
    """One result as a client gave it, in words of ours. None for what is not compared, or what that client lacks."""

    url: str
    title: str | None
    published: str | None = None
    extracts: tuple[str, ...] | None = None


Reader = Callable[[str], Awaitable[list[Read]]]


@dataclass(frozen=True)
class Pair:
    """A client and the search of ours that asks for the same.

    Attributes:
        provider: its id.
        reader: runs the client, unmodified, against the fake at a URL. What blocks runs in a thread.
        answer: what the fake says to both.
        options: of our search, as for `AsyncWeb.search`.
        fields: compare what is sent beyond method, path and authentication.
        ours_differs: fields that both send, with the value we send on purpose.
        settings: of the provider's own section; `{url}` is the fake's address.
        keyed: False where there is no key although the client was given one.
        least: how many fields both must send, so that the comparison is one.
    """

    provider: str
    reader: Reader
    answer: Answer
    options: dict[str, Any] = field(default_factory=dict)
    fields: bool = True
    ours_differs: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    keyed: bool = True
    least: int = 4


@dataclass(frozen=True)
class Text:
    """A page as a client gave it, in words of ours. None for what that client lacks."""

    markdown: str
    title: str | None = None
    published: str | None = None
    author: str | None = None
    final_url: str | None = None


@dataclass(frozen=True)
class PagePair:
    """A client that reads `PAGE_URL` through a service, and our reading of it through the same.

    Attributes: as of `Pair`; the answer is the service's as its folder in tests/wire says.
    """

    provider: str
    reader: Callable[[str], Awaitable[Text]]
    ours_differs: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    fields: bool = True
    keyed: bool = True
    least: int = 1


@dataclass(frozen=True)
class Compared:
    """What a comparison covered: names of fields that both sent, and what was read of each result or of the page."""

    method: str
    path: str
    fields: tuple[str, ...]
    read: tuple[str, ...]


def pairs(package: str) -> list[Any]:
    """Return the pairs in the files of a folder, as rows for a table."""
    folder = Path(import_module(package).__path__[0])
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return [pair for name in names for pair in import_module(f"{package}.{name}").PAIRS]


async def compare(pair: Pair | PagePair) -> Compared:
    """Run a client and our search or reading against one fake; fail where they send or read something else."""
    if isinstance(pair, PagePair):
        return await _compare_pages(pair)
    async with World() as world:
        fake = Fake(world, pair.answer)
        read = await pair.reader(fake.url)
        (theirs,) = fake.requests
        ours = await search(pair.provider, fake.url, pair.options, settings=pair.settings)
    common = _assert_sent_the_same(pair, theirs, fake.requests[1])
    assert ours.outcome == Outcome.OK
    assert len(read) >= 2
    assert [
        Read(hit.url, hit.title, hit.published, one.extracts and (hit.passages or (hit.snippet or "",)))
        for hit, one in zip(ours.hits, read, strict=True)
    ] == read
    dated, quoted = any(one.published for one in read), any(one.extracts for one in read)
    what = ("URLs", "titles", *(["dates"] if dated else []), *(["extracts"] if quoted else []))
    return Compared(theirs.method, theirs.path, common, what)


async def _compare_pages(pair: PagePair) -> Compared:
    async with World() as world:
        fake = Fake(world, written(pair.provider))
        text = await pair.reader(fake.url)
        (theirs,) = fake.requests
        ours = (await read_page(pair.provider, fake.url, settings=pair.settings)).reading
    common = _assert_sent_the_same(pair, theirs, fake.requests[1])
    assert ours is not None
    assert (ours.markdown.strip(), text.markdown.strip()) == (PAGE["markdown"], PAGE["markdown"])
    also = [name for name in ("title", "published", "author", "final_url") if getattr(text, name) is not None]
    assert {name: getattr(ours, name) for name in also} == {name: getattr(text, name) for name in also}
    return Compared(theirs.method, theirs.path, common, ("text", *(name.replace("final_url", "URL") for name in also)))


def _assert_sent_the_same(pair: Pair | PagePair, theirs: Recorded, ours: Recorded) -> tuple[str, ...]:
    assert (ours.method, ours.path) == (theirs.method, theirs.path)
    if pair.keyed:
        assert _identity(ours) == _identity(theirs)
        assert any(KEY in value for value in _identity(ours)) or providers.get(pair.provider).key != "required"
    if not pair.fields:
        return ()
    mine, their_own = _fields(ours), _fields(theirs)
    common = mine.keys() & their_own.keys()
    assert {name: mine[name] for name in common} == {**{name: their_own[name] for name in common}, **pair.ours_differs}
    assert len(common) >= pair.least
    return tuple(sorted(common))


def _identity(request: Recorded) -> list[str]:
    """What says who somebody is, each with its place: in a header, or as a parameter that holds the key."""
    headers = [f"{name}: {request.headers[name]}" for name in AUTHENTICATION if name in request.headers]
    return headers + [f"?{name}={KEY}" for name, values in request.query.items() if KEY in values]


def _fields(request: Recorded) -> dict[str, Any]:
    """What a request asks for; the values of a query in lower-case words, as booleans are spelt in either case."""
    if request.body.startswith(b"{"):
        return dict(request.json())
    query = parse_qs(request.body.decode()) if request.body else request.query
    return {name: values[0].lower() for name, values in query.items()}


def three(provider: str, *path: str, list_name: str = "results", dates: dict[str, str] | None = None) -> Answer:
    """Return the answer that a service's official client was seen to accept, with three results in place of one.

    Args:
        path: where the object with the list stands. list_name: what the list is called.
        dates: names of a result's date fields, to how a day is written there.
    """
    document = json.loads(json.dumps(captured(provider)["response_example"]))
    holder = document
    for name in path:
        holder = holder[name]
    example = holder[list_name][0]
    forms = {"publishedDate": "{}T00:00:00.000Z", "published_date": "{}", "page_age": "{}T10:00:00", **(dates or {})}
    places = {"url": "https://example.org/{}", "link": "https://example.org/{}", "id": "https://example.org/{}"}
    names = {"title": "Guide of {}", "name": "Guide of {}"}
    holder[list_name] = [
        {**example, **{name: form.format(day) for name, form in (places | names | forms).items() if name in example}}
        for day in DAYS
    ]
    return 200, JSON, json.dumps(document).encode()


def anysearch(provider: str, **options: Any) -> Reader:
    """Return a reader for the community client that speaks to many services."""

    async def read(url: str) -> list[Read]:
        from anysearch import AnySearch

        client = AnySearch(provider=provider, api_key=KEY, base_url=url, env={}, on_unsupported="error")
        found = await asyncio.to_thread(partial(client.search, QUERY, **options))
        return [Read(str(one.url), one.title, one.published_date) for one in found]

    return read
