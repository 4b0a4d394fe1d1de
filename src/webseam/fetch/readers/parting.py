"""Cutting a page in a child process: `webseam.fetch.part` behind the interface that the worker knows.

No reader of a form; it stands here because the worker starts nothing from anywhere else.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from webseam.errors import RequestError
from webseam.fetch.part import Wanted, part_of
from webseam.fetch.types import Source


def read(source: Source, **wanted: Any) -> dict[str, Any]:
    """Return the part of a page as plain values, or {"invalid": [field, problem, hint]}; see `part_of`."""
    text = source.body.decode("utf-8", "surrogatepass")
    try:
        return asdict(part_of(text, Wanted(**wanted)))
    except RequestError as error:
        return {"invalid": [error.field, error.detail.partition(": ")[2], error.hint]}
