"""Asking the policy about a URL that somebody else will dial.

A remote reader goes where we send it. What it must not be told are addresses that only mean something on this network:
so they are looked up and judged here as if we dialled them, and `allow`, which names one's own network, lifts nothing.
"""

from __future__ import annotations

import asyncio
import time

from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.policy import EgressPolicy
from webseam.net.redact import redact_url
from webseam.net.redirect import Unresolved, unresolved
from webseam.net.resolve import Resolver, SystemResolver
from webseam.net.url import parse


async def check_public(
    url: str, *, resolver: Resolver | None = None, proxy: bool = False, local_dns: bool = False, expires_at: float
) -> None:
    """Return when all that `url` leads to is public.

    Args:
        proxy, local_dns: as for `EgressPolicy`: behind a proxy names are looked up there, or here too with local_dns.
        expires_at: an instant of `time.monotonic`.

    Raises:
        EgressDenied: it is not, or has no address. TransportError: `timeout`, the name was not resolved in time.
    """
    policy = EgressPolicy(proxy=proxy, local_dns=local_dns)
    try:
        verdict = policy.judge(url, resolve=unresolved)
    except Unresolved:
        target = parse(url)
        try:
            async with asyncio.timeout(max(0.0, expires_at - time.monotonic())):
                answers = tuple(await (resolver or SystemResolver())(target.host, target.port))
        except TimeoutError:
            detail = f"the name {target.host} was not resolved in time"
            raise TransportError(
                detail, outcome=Outcome.TIMEOUT, host=target.host, phase="dns", kind="deadline"
            ) from None
        except OSError:
            answers = ()
        verdict = policy.judge(url, resolve=lambda _: answers)
    if not verdict.allowed:
        raise EgressDenied(verdict.rule, verdict.detail, url=redact_url(url))
