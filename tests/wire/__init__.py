"""What services send, as small files, and how a test reads them.

Each network provider has a folder with one file a case: what was asked (`search`, `settings`), what the service answers
(`answer`), and all that must come of it (`expect`). `captured.json` is a request as the service's official client sends
it, with the smallest answer that client accepts; contents are invented. A new provider brings such a folder, and the
table tests find it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webseam import providers

FOLDER = Path(__file__).parent
NETWORKED = tuple(provider.id for provider in providers.every() if not provider.local)
CAPTURED = "captured"
QUERY = "example domain registration"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One exchange with a service.

    Attributes:
        search: options of the search, as for `AsyncWeb.search`; the query is `QUERY` unless given.
        settings: of the provider's own section.
        expect: outcome, hits, attempt, and, where there are any, answer, notes, dropped and hint.
    """

    provider: str
    name: str
    search: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    expect: dict[str, Any] = field(default_factory=dict)


def names(provider: str) -> list[str]:
    """Return the names of a provider's cases."""
    return sorted(path.stem for path in (FOLDER / provider).glob("*.json") if path.stem != CAPTURED)


def case(provider: str, name: str) -> Case:
    """Return one case."""
    document = read(provider, name)
    answer = document["answer"]
    return Case(
        provider=provider,
        name=name,
        search=document.get("search", {}),
        settings=document.get("settings", {}),
        status=answer.get("status", 200),
        headers=answer.get("headers", {}),
        body=_body(provider, answer),
        expect=document["expect"],
    )


def captured(provider: str) -> dict[str, Any]:
    """Return the request of a service's official client and the answer that client accepts."""
    return read(provider, CAPTURED)


def read(provider: str, name: str) -> Any:
    """Return the contents of one file."""
    return json.loads((FOLDER / provider / f"{name}.json").read_bytes())


def _body(provider: str, answer: dict[str, Any]) -> bytes:
    """The body: JSON, text as it is, or a page that lies beside the case."""
    if "json" in answer:
        return json.dumps(answer["json"]).encode()
    if "page" in answer:
        return (FOLDER / provider / answer["page"]).read_bytes()
    return str(answer["text"]).encode()
