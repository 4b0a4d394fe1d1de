"""Domain filters: what a caller may write, and which URLs a rule covers.

The rules are enforced on every hit whatever a provider promised, so writing and matching live together, below the
providers. A rule is a host or a host and a path prefix; a bare public suffix such as `edu` or `gov.uk` covers every
host under it, which falls out of suffix matching and needs no list of suffixes.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MAX_HOST = 253  # octets of a DNS name, RFC 1035


def normalize_rule(text: str) -> str:
    """Return the canonical form of a domain rule, `host` or `host/path`.

    Scheme, `*.`, `www.`, a port, a trailing dot or slash and letter case are dropped; IDN becomes punycode.

    Raises:
        ValueError: it is not a host or a host with a path.
    """
    rest = _SCHEME.sub("", text.strip())
    host, slash, path = rest.partition("/")
    if "@" in host or "?" in rest or "#" in rest or any(character.isspace() for character in rest):
        raise ValueError(f"{text!r} is not a host or host/path")
    host = ascii_host(re.sub(r":\d{1,5}$", "", host))
    host = host.removeprefix("*.").removeprefix(".")
    while host.startswith("www.") and "." in host[4:]:  # www.com is a host of its own; `com` would cover half the web
        host = host[4:]
    sound = len(host) <= _MAX_HOST and all(_LABEL.fullmatch(label) for label in host.split("."))
    if not sound or not path.isprintable():
        raise ValueError(f"{text!r} is not a host or host/path")
    path = path.strip("/")
    return f"{host}/{path}" if slash and path else host


def ascii_host(host: str) -> str:
    """Return a host in lower case and punycode, without its root dot.

    Raises:
        ValueError: a label cannot be written in punycode.
    """
    host = host.strip().rstrip(".").lower()
    if host.isascii():
        return host
    if len(host) > _MAX_HOST:  # before the tables: their work grows faster than the name
        raise ValueError(f"{host[:40]!r}… is longer than a name can be")
    import idna  # 20 ms of tables that only names outside ASCII need

    prefix = "*." if host.startswith("*.") else ""
    try:
        return prefix + idna.encode(host.removeprefix("*."), uts46=True).decode("ascii").rstrip(".")
    except idna.IDNAError as error:
        raise ValueError(f"{host!r} is not a valid international name: {error}") from None


def covers(rule: str, url: str) -> bool:
    """True when `rule` (from `normalize_rule`) is the URL's host, a parent of it, or a path prefix on such a host."""
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "")
    except ValueError:
        return False
    name, _, path = rule.partition("/")
    if host != name and not host.endswith("." + name):
        return False
    if not path:
        return True
    own, path = unquote(parts.path.strip("/")), unquote(path)
    return own == path or own.startswith(path + "/")


def host_of(rule: str) -> str:
    """Return the host part of a rule, for services that take hosts only."""
    return rule.partition("/")[0]
