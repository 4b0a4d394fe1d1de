"""What a caller may ask of `fetch`, and what becomes of it for one URL or several.

Apart from the facade, whose blocking twin takes the same options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypedDict

from webseam.config import Settings
from webseam.errors import RequestError, WebSeamError
from webseam.fetch.request import FetchRequest
from webseam.model import Page
from webseam.resilience.deadline import Deadline, seconds_of

if TYPE_CHECKING:
    from webseam.fetch.service import Fetching

MAX_URLS: Final = 100  # of one call
Urls = list[str] | tuple[str, ...]


class FetchOptions(TypedDict, total=False):
    """Options of `fetch`.

    focus: a question; only the passages that matter to it are returned, within `max_tokens`.
    max_tokens: most tokens of text, 4 characters a token; default: `fetch.max_tokens`, which is the whole page.
    cursor: `next_cursor` of an earlier page: go on there.
    outline: only the headings, with the size of their sections.
    reader: read with this alone: "html", "pdf" …, a site's name, a remote reader's, or "browser".
    raw: the text as it came, without a reader.
    pages: of a PDF, as "3", "2-5" or "1,4-6".
    archived: ask the web archive when the page is gone.
    timeout: seconds for everything, from call to return; default: `fetch.timeout`.
    cache: False = ask the server even where the cache could answer.
    """

    focus: str | None
    max_tokens: int | None
    cursor: str | None
    outline: bool
    reader: str | None
    raw: bool
    pages: str | None
    archived: bool
    timeout: float | None
    cache: bool


async def carry_out(
    fetching: Fetching, url: str | Urls, options: FetchOptions, settings: Settings
) -> Page | tuple[Page, ...]:
    """Read one URL, or several; see `AsyncWeb.fetch`."""
    unknown = options.keys() - FetchOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"fetch() got an unexpected keyword argument {min(unknown)!r}")
    deadline = Deadline.after(seconds_of(options.get("timeout"), float(settings.get("fetch", "timeout"))))
    wanted: dict[str, Any] = {name: value for name, value in options.items() if name != "timeout"}
    if not isinstance(url, (list, tuple)):
        return await fetching.fetch(FetchRequest(url=url, **wanted), settings, deadline)
    if len(url) > MAX_URLS:
        raise RequestError("url", f"{len(url)} are too many at once, at most {MAX_URLS}", hint="call again")
    return await fetching.fetch_all([_request(one, wanted) for one in url], settings, deadline)


def _request(url: str, options: Mapping[str, Any]) -> FetchRequest | Page:
    """Return the request for one of several URLs, or the page that says what is wrong with this URL."""
    from webseam.fetch.service import failed

    try:
        return FetchRequest(url=url, **options)
    except WebSeamError as error:
        if isinstance(error, RequestError) and error.field != "url":
            raise  # an option is wrong for all of them
        return failed(url if isinstance(url, str) else repr(url)[:200], error)
