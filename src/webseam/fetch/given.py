"""Reading what a program already has: the readers alone, for callers with and without an event loop.

The URL given along is only a name and a base for links: nothing is ever dialled from here.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from webseam.errors import RequestError
from webseam.fetch.present import Found, present
from webseam.fetch.reading import KINDS, as_it_came, read_source
from webseam.fetch.request import FetchRequest
from webseam.fetch.types import Source
from webseam.model import Page
from webseam.net.message import Headers
from webseam.resilience.deadline import Deadline, seconds_of

TIMEOUT = 20.0  # seconds, as for a page
_TAKEN = frozenset({"focus", "max_tokens", "cursor", "outline", "reader", "raw", "pages", "timeout"})


def read_given(data: bytes | str, *, url: str, media_type: str | None = None, **options: Any) -> Page:
    """Return the page that `data` is; see `webseam.read`."""
    if unknown := options.keys() - _TAKEN:
        raise TypeError(f"read() got an unexpected keyword argument {min(unknown)!r}")
    deadline = Deadline.after(seconds_of(options.pop("timeout", None), TIMEOUT))
    request = FetchRequest(url=url, **options)
    if request.reader is not None and request.reader not in KINDS:
        raise RequestError("reader", f"{request.reader!r:.40} is no form of text", hint=f"one of {', '.join(KINDS)}")
    source = _source(data, request, media_type)
    return _run(_read(source, request, deadline))


def _source(data: object, request: FetchRequest, media_type: str | None) -> Source:
    from webseam.fetch.download import charset_of, essence_of

    if media_type is not None and not isinstance(media_type, str):
        raise RequestError("media_type", f"must be text, not {type(media_type).__name__}")
    headers = Headers([(b"content-type", (media_type or "").encode("utf-8", "replace"))])
    charset: str | None = "utf-8"
    if isinstance(data, str):
        body = data.encode("utf-8", "replace")
    elif isinstance(data, (bytes, bytearray, memoryview)):
        body, charset = bytes(data), charset_of(headers)
    else:
        raise RequestError("data", f"must be bytes or text, not {type(data).__name__}")
    return Source(body=body, url=request.target.href, media_type=essence_of(headers), charset=charset)


async def _read(source: Source, request: FetchRequest, deadline: Deadline) -> Page:
    started = time.monotonic()
    if request.raw:
        reading, media_type = as_it_came(source), source.media_type or None
    else:
        reading, sniffed = await read_source(
            source,
            expires_at=deadline.at,
            form=request.reader,
            fragment=request.fragment,
            pages=request.pages,
        )
        media_type = sniffed.media_type
    found = Found(reading=reading, final_url=source.url, media_type=media_type)
    page = await present(found, request, expires_at=deadline.at)
    return replace(page, took=round(time.monotonic() - started, 4))


def _run(work: Coroutine[Any, Any, Page]) -> Page:
    """Run to the end here, or in a thread of its own where this one already runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: list[Page] = []
    problem: list[BaseException] = []

    def carry_out() -> None:
        try:
            result.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            problem.append(error)

    thread = threading.Thread(target=carry_out, name="webseam read", daemon=True)
    thread.start()
    thread.join()
    if problem:
        raise problem[0]
    return result[0]
