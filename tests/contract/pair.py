"""A pair: somebody else's client and the search of ours that asks for the same, for the table in `sdks/`."""

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
class Compared:
    """What a comparison covered: names of fields that both sent, and what was read of each result."""

    method: str
    path: str
    fields: tuple[str, ...]
    read: tuple[str, ...]


def pairs(package: str) -> list[Any]:
    """Return the pairs in the files of a folder, as rows for a table."""
    folder = Path(import_module(package).__path__[0])
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return [pair for name in names for pair in import_module(f"{package}.{name}").PAIRS]


async def compare(pair: Pair) -> Compared:
    """Run a client and our search against one fake; fail where they send or read something else."""
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


def _assert_sent_the_same(pair: Pair, theirs: Recorded, ours: Recorded) -> tuple[str, ...]:
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
