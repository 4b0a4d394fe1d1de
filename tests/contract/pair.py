"""A pair: somebody else's client and the search of ours that asks for the same, for the table in `sdks/`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.wire import QUERY, Answer, captured
from tests.wire.fake import KEY
from tests.wire.write import JSON

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
