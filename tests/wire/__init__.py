"""What services send, as small files, and how a test reads them.

Each provider that searches over the network has a folder here, named by its id. Nothing else in these tests names a
provider: the tables find the folder.

    ok.json, empty.json, rate_limited.json, …   one exchange each: what was asked (`search`, `settings`), what the
                                                service answers (`answer`, or a list of them, given one after the
                                                other), and all that must come of it (`expect`)
    captured.json                               a request as the service's official client sends it, with the smallest
                                                answer that client accepts
    shape.json                                  how the service writes results down, and where it rightly differs from
                                                the tables (see `Shape`)
    writer.py                                   how it writes them where JSON cannot say it: `write(rows)`
    read_ok.json, read_not_found.json, …        where the service also reads pages: one page each (`url`) and all that
                                                must come of it
    read_shape.json                             how the service writes a page down (see `ReadShape`)

Contents are invented. In every `settings`, `{url}` is the address of the fake.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from webseam import providers

FOLDER = Path(__file__).parent
NETWORKED = tuple(
    provider.id
    for provider in providers.every()
    if getattr(provider, "means", "network") == "network" and not provider.local
)
READING = tuple(provider.id for provider in providers.every() if provider.reads)
CAPTURED, SHAPE, WRITER = "captured", "shape", "writer.py"
READ = "read_"  # what the names of files about reading pages begin with
# Headers that say who somebody is. A key may also stand in the query, where a service documents nothing else.
AUTHENTICATION = ("authorization", "x-api-key", "x-subscription-token", "ocp-apim-subscription-key")
QUERY = "example domain registration"
PAGE_URL = "https://example.org/guide"
FIELDS = ("url", "title", "snippet", "published")  # of a result, in our words

Answer = tuple[int, Mapping[str, str], bytes]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One exchange with a service.

    Attributes:
        search: options of the search, as for `AsyncWeb.search`; the query is `QUERY` unless given.
        url: of the page, where the case is about reading one.
        settings: of the provider's own section; None takes one away that is set otherwise.
        answers: what the service says to one request after the other; the last one repeats.
        requests: how many requests must arrive, without the handshake of a protocol.
        sent: those requests, where they are pinned: `method`, `path`, all of `query` and of `body` (fields of JSON or a
            form), and the `headers` that matter. "*" stands for a value that is another each time.
        expect: outcome, hits, attempt (attempts, when there are several), and, where there are any, answer, notes,
            dropped and hint.
    """

    provider: str
    name: str
    search: dict[str, Any] = field(default_factory=dict)
    url: str = PAGE_URL
    settings: dict[str, Any] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    requests: int = 1
    sent: tuple[dict[str, Any], ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How a service writes results down, and what is particular about it.

    Attributes:
        document: an answer as JSON, with `"$rows"` where the list of results stands. `{"$text": …}` is the JSON of its
            contents as text, for protocols that carry JSON in a string.
        row: our names of a result's fields, to dotted paths in the service's (a number is a place in a list); what the
            service does not give is absent. A path may also be `{"path": …, "as": …}`: "epoch" (seconds of that UTC
            day), "us" ("Feb 3, 2026") or "list" (the text alone in a list). For a writer only the names count.
        always: fields every result has besides.
        envelope: "mcp" where errors are stated as JSON-RPC errors.
        settings: of the own section, for every test of this provider.
        secrets: how a secret setting holds a key where it is not the key alone, with `{key}`, or `{json}` inside JSON.
        failures: rows of the table of failures, by id, and what of outcome, http_status, retry_after and the number of
            requests differs.
        asked, asked_settings: what of ours asks for the same as the captured request.
        ours: where our request differs from the captured one on purpose, by dotted path; None = left out.
        why: in words, for entries of `ours` and `failures`; JSON has no comments.
    """

    document: Any = None
    row: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(FIELDS, ""))
    always: dict[str, Any] = field(default_factory=dict)
    envelope: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    asked_settings: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def gives(self, name: str) -> bool:
        """Whether the service's results have this field of ours at all."""
        return name in self.row


@dataclass(frozen=True, kw_only=True)
class ReadShape:
    """How a service that reads pages writes one down, and what is particular about it.

    Attributes:
        document: an answer as JSON, with `"$markdown"`, `"$title"`, `"$author"`, `"$published"` and `"$url"` where the
            page's values stand; what the service does not give is absent.
        unread: what it answers for a page it could not read (`status`, `json`), and the `outcome` that is.
        settings: of the own section, for every test of this provider.
        failures: rows of the table of failures, by id, and what of outcome, http_status and retry_after differs.
        why: in words, for entries of `failures`.
    """

    document: Any
    unread: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def gives(self, name: str) -> bool:
        """Whether the service's answers have this value of a page at all."""
        return f'"${name}"' in json.dumps(self.document)


def names(provider: str) -> list[str]:
    """Return the names of a provider's cases of searches."""
    stems = (path.stem for path in (FOLDER / provider).glob("*.json"))
    return sorted(stem for stem in stems if stem not in (CAPTURED, SHAPE) and not stem.startswith(READ))


def read_names(provider: str) -> list[str]:
    """Return the names of a provider's cases of pages."""
    stems = (path.stem for path in (FOLDER / provider).glob(f"{READ}*.json"))
    return sorted(stem for stem in stems if stem != READ + SHAPE)


def case(provider: str, name: str) -> Case:
    """Return one case."""
    document = read(provider, name)
    stated = document["answer"]
    answers = tuple(_answer(provider, answer) for answer in (stated if isinstance(stated, list) else [stated]))
    return Case(
        provider=provider,
        name=name,
        search=document.get("search", {}),
        url=document.get("url", PAGE_URL),
        settings=document.get("settings", {}),
        answers=answers,
        requests=document.get("requests", len(answers)),
        sent=tuple(document.get("sent", ())),
        expect=document["expect"],
    )


@cache
def shape(provider: str) -> Shape:
    """Return how a provider's service writes; a writer needs no shape beside it.

    Raises:
        FileNotFoundError: there is neither. TypeError: the file has a key that `Shape` has not.
    """
    folder = FOLDER / provider
    if (folder / WRITER).exists() and not (folder / f"{SHAPE}.json").exists():
        return Shape()
    return Shape(**read(provider, SHAPE))


@cache
def read_shape(provider: str) -> ReadShape:
    """Return how a provider's service writes a page down.

    Raises:
        FileNotFoundError: it says nothing about that. TypeError: the file has a key that `ReadShape` has not.
    """
    return ReadShape(**read(provider, READ + SHAPE))


def has_captured(provider: str) -> bool:
    """True when a request of the service's official client was captured."""
    return (FOLDER / provider / f"{CAPTURED}.json").exists()


def captured(provider: str) -> dict[str, Any]:
    """Return the request of a service's official client and the answer that client accepts."""
    return read(provider, CAPTURED)


def read(provider: str, name: str) -> Any:
    """Return the contents of one file."""
    return json.loads((FOLDER / provider / f"{name}.json").read_bytes())


def _answer(provider: str, answer: dict[str, Any]) -> Answer:
    return answer.get("status", 200), answer.get("headers", {}), _body(provider, answer)


def _body(provider: str, answer: dict[str, Any]) -> bytes:
    """The body: JSON, text as it is, or a page that lies beside the case."""
    if "json" in answer:
        return json.dumps(answer["json"]).encode()
    if "page" in answer:
        return (FOLDER / provider / answer["page"]).read_bytes()
    return str(answer["text"]).encode()
