"""webseam: the one seam through which a program, an agent or a person reaches the web.

    import webseam

    response = webseam.search("parse a url query string")
    for hit in response.hits:
        print(hit.title, hit.url)

Names are loaded when they are first used, so that `import webseam` costs a millisecond.
"""

from __future__ import annotations

from webseam.version import VERSION

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would be most of what this import costs

if TYPE_CHECKING:
    from typing import Any

    from webseam.blocking import Web
    from webseam.errors import (
        AllProvidersFailed,
        EgressDenied,
        Outcome,
        ProviderError,
        RequestError,
        SettingsError,
        TransportError,
        WebSeamError,
    )
    from webseam.model import Attempt, SearchHit, SearchRequest, SearchResponse
    from webseam.web import AsyncWeb

__version__ = VERSION

__all__ = [
    "AllProvidersFailed",
    "AsyncWeb",
    "Attempt",
    "EgressDenied",
    "Outcome",
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
    "search",
]

_MODULE_OF = {
    "AsyncWeb": "webseam.web",
    "Web": "webseam.blocking",
    **dict.fromkeys(("Attempt", "SearchHit", "SearchRequest", "SearchResponse"), "webseam.model"),
    **dict.fromkeys(
        (
            "AllProvidersFailed",
            "EgressDenied",
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
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def search(query: str, **options: Any) -> SearchResponse:
    """Search the web once; see `AsyncWeb.search` for the options. Many searches are faster through one `Web`."""
    from webseam.blocking import Web

    with Web() as web:
        return web.search(query, **options)
