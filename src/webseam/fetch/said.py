"""What a child process answered, checked before anything of it is used: a document may have taken the child over."""

from __future__ import annotations

from typing import Any, Protocol

from webseam.errors import Outcome
from webseam.fetch.types import Link, OutOfMemory, Reading, Unreadable
from webseam.text import quote


class Job(Protocol):
    """What errors say about the work that was asked for."""

    @property
    def reader(self) -> str: ...

    @property
    def size(self) -> str: ...

    @property
    def max_memory(self) -> int: ...


def said_by(answer: dict[str, Any], job: Job) -> dict[str, Any]:
    """Return an answer that is no failure.

    Raises:
        Unreadable: what the reader said, or what became of it.
    """
    reader, size = job.reader, job.size
    if "unstarted" in answer:
        detail = f"this system starts no process in which {size} could be read by the {reader} reader"
        raise Unreadable(detail, outcome=Outcome.UNAVAILABLE)
    limit = f"{job.max_memory / 1024 / 1024:,.0f} MiB"
    if "crashed" in answer:
        detail = f"the {reader} reader crashed on {size} ({answer['crashed']})"
        hint = f"native code that needs more than {limit} of memory ends like this too"
        raise Unreadable(detail, outcome=Outcome.BAD_RESPONSE, hint=hint)
    if answer.get("failed") == "MemoryError":
        detail = f"the {reader} reader needed more than {limit} of memory for {size}"
        raise OutOfMemory(detail, outcome=Outcome.BAD_RESPONSE)
    if "failed" in answer:
        detail = f"the {reader} reader failed on {size} ({quote(str(answer['failed']))})"
        raise Unreadable(detail, outcome=Outcome.BAD_RESPONSE)
    if "unreadable" in answer:
        try:
            problem = _unreadable(answer["unreadable"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise nonsense(job) from None
        raise problem
    return answer


def nonsense(job: Job) -> Unreadable:
    """Return the error for an answer that is none."""
    detail = f"the {job.reader} reader gave no usable answer for {job.size}"
    return Unreadable(detail, outcome=Outcome.BAD_RESPONSE)


def reading_of(answer: dict[str, Any], job: Job) -> Reading:
    """Return the reading that an answer holds.

    Raises:
        Unreadable: it holds none.
    """
    said = said_by(answer, job)
    try:
        return _checked(said["reading"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise nonsense(job) from None


def _unreadable(said: dict[str, Any]) -> Unreadable:
    hint = said["hint"] and quote(text_of(said["hint"]))
    return Unreadable(quote(text_of(said["detail"])), outcome=Outcome(said["outcome"]), hint=hint or None)


def _checked(said: dict[str, Any]) -> Reading:
    if not isinstance(said["truncated"], bool):
        raise TypeError("truncated")
    return Reading(
        markdown=text_of(said["markdown"]),
        title=text_or_none(said["title"]),
        author=text_or_none(said["author"]),
        published=text_or_none(said["published"]),
        language=text_or_none(said["language"]),
        links=tuple(Link(text=text_of(link["text"]), url=text_of(link["url"])) for link in said["links"]),
        reader=text_of(said["reader"]),
        anchors={text_of(name): int(offset) for name, offset in said["anchors"].items()},
        removed={text_of(kind): int(count) for kind, count in said["removed"].items()},
        notes=[text_of(note) for note in said["notes"]],
        truncated=said["truncated"],
    )


def text_of(value: object) -> str:
    """Return a value that is text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def text_or_none(value: object) -> str | None:
    """Return a value that is text or None. Raises TypeError."""
    return None if value is None else text_of(value)
