"""The one seam to the network: which URL may be dialled, and the client that dials it.

Nothing else in webseam opens a socket or imports an HTTP client, so the egress policy cannot be walked around. The
names below load on first use: a command that only reads settings must not pay for TLS, an HTTP stack and a URL parser.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` for it costs more than all the rest here
if TYPE_CHECKING:
    from webseam.net.client import Client
    from webseam.net.message import Headers, Request, Response
    from webseam.net.policy import EgressPolicy, Verdict
    from webseam.net.redact import Redactor, redact_url
    from webseam.net.resolve import Resolver
    from webseam.net.sse import events
    from webseam.net.url import URL, UrlRefused, parse

__all__ = [
    "URL",
    "Client",
    "EgressPolicy",
    "Headers",
    "Redactor",
    "Request",
    "Resolver",
    "Response",
    "UrlRefused",
    "Verdict",
    "events",
    "parse",
    "redact_url",
]

_HOME = {
    "URL": "url",
    "Client": "client",
    "EgressPolicy": "policy",
    "Headers": "message",
    "Redactor": "redact",
    "Request": "message",
    "Resolver": "resolve",
    "Response": "message",
    "UrlRefused": "url",
    "Verdict": "policy",
    "events": "sse",
    "parse": "url",
    "redact_url": "redact",
}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value  # the next look-up finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
