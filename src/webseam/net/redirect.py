"""Following redirects: where they lead, and what goes along.

The policy judges the target; this module reads the Location as strictly as the rest of the answer and keeps
credentials from leaving the origin they were given for.

Source: RFC 9110, sections 10.2.2 and 15.4. Only GET and HEAD are sent on, so no rule about methods or bodies is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from webseam.errors import Outcome
from webseam.net.exchange import Exchange
from webseam.net.message import Headers, Request
from webseam.net.url import MAX_URL, URL

LEADS_ON = frozenset({301, 302, 303, 307, 308})
FOLLOWED = frozenset({"GET", "HEAD"})

_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})


class Unresolved(Exception):
    """The policy wants the addresses of a name that nobody has looked up yet."""


def unresolved(host: str) -> Sequence[str]:
    """Stand in for a resolver until it is known that one is needed: the policy is synchronous, DNS is not."""
    raise Unresolved(host)


def read_location(headers: Headers, exchange: Exchange) -> str:
    """Return the one Location of a redirect.

    Raises:
        TransportError: there is none, more than one, or one that cannot be a URL.
    """
    values = headers.raw(b"location")
    problem, location = None, ""
    if not values:
        problem = "without saying where to"
    elif len(values) > 1:
        problem = f"to {len(values)} places at once"
    elif len(values[0]) > MAX_URL:
        problem = f"to a URL of {len(values[0]):,} bytes"
    else:
        try:
            location = values[0].decode("utf-8")  # not allowed, but sent, and followed by every browser
        except UnicodeDecodeError:
            problem = "to a URL with bytes that no URL has"
    if problem is not None:
        raise exchange.failed(Outcome.BAD_RESPONSE, "location", f"{{host}} redirects {problem}")
    return location


def next_request(request: Request, current: URL, following: URL) -> Request:
    """Return the request for where a redirect leads: without credentials once it leaves the origin, for good."""
    if current.origin == following.origin:
        return request
    kept = tuple(
        (name, value)
        for name, value in request.headers
        if name.lower() not in _CREDENTIALS and not any(secret and secret in value for secret in request.secrets)
    )
    return replace(request, headers=kept)
