"""webseam: the one seam through which a program, an agent or a person reaches the web.

    import webseam

    response = webseam.search("parse a url query string")
    for hit in response.hits:
        print(hit.title, hit.url)
    print(webseam.fetch(response.hits[0].url).markdown)

Names are loaded when they are first used, so that `import webseam` costs a millisecond.
"""

from __future__ import annotations

import sys

from webseam.version import VERSION

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would be most of what this import costs

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from webseam import tools
    from webseam.blocking import Web
    from webseam.errors import (
        AllProvidersFailed,
        EgressDenied,
        FetchError,
        Outcome,
        ProviderError,
        RequestError,
        SettingsError,
        TransportError,
        WebSeamError,
    )
    from webseam.model import Attempt, Page, SearchHit, SearchRequest, SearchResponse
    from webseam.web import AsyncWeb

__version__ = VERSION

__all__ = [
    "AllProvidersFailed",
    "AsyncWeb",
    "Attempt",
    "EgressDenied",
    "FetchError",
    "Outcome",
    "Page",
    "ProviderError",
    "RequestError",
    "SearchHit",
    "SearchRequest",
    "SearchResponse",
    "SettingsError",
    "TransportError",
    "Web",
    "WebSeamError",
    "__version__",
    "fetch",
    "read",
    "search",
    "tools",
]

_MODULE_OF = {
    "AsyncWeb": "webseam.web",
    "Web": "webseam.blocking",
    **dict.fromkeys(("Attempt", "Page", "SearchHit", "SearchRequest", "SearchResponse"), "webseam.model"),
    **dict.fromkeys(
        (
            "AllProvidersFailed",
            "EgressDenied",
            "FetchError",
            "Outcome",
            "ProviderError",
            "RequestError",
            "SettingsError",
            "TransportError",
            "WebSeamError",
        ),
        "webseam.errors",
    ),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "tools":
        return import_module("webseam.tools")
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def search(query: str, **options: Any) -> SearchResponse:
    """Search the web once; see `AsyncWeb.search` for the options. Many searches are faster through one `Web`."""
    from webseam.blocking import Web

    with Web() as web:
        return web.search(query, **options)


def fetch(url: str, **options: Any) -> Page:
    """Read one page as Markdown; see `AsyncWeb.fetch` for the options. Several are faster through one `Web`."""
    from webseam.blocking import Web

    with Web() as web:
        return web.fetch(url, **options)


def read(data: bytes | str, *, url: str, media_type: str | None = None, **options: Any) -> Page:
    """Make Markdown of what a program already has, by the readers alone: no network, no files, no cache.

    Args:
        data: bytes as they came, or text.
        url: where it is from: links start there, and its name says what it may be. Nothing is asked of it.
        media_type: as a server would say it, e.g. "text/html; charset=latin-1".
        options: as of `fetch`: focus, max_tokens, cursor, outline, reader (a form, as "html"), raw, pages, timeout.

    Raises:
        RequestError: the input is wrong. FetchError: no reader can read it.
    """
    from webseam.fetch.given import read_given

    return read_given(data, url=url, media_type=media_type, **options)


if not TYPE_CHECKING:
    ModuleType = type(sys)
_SHORTCUTS: dict[str, Callable[..., Any]] = {"search": search, "fetch": fetch}


class _Package(ModuleType):
    """A package that has the name of a shortcut, and can be called as that."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _SHORTCUTS[self.__name__.rpartition(".")[2]](*arguments, **options)


class _Root(ModuleType):
    """This module. Importing `webseam.search.run` binds the package in place of the function `search`."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _SHORTCUTS and type(value) is ModuleType:
            value.__class__ = _Package
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Root
