"""Hosts and URLs of a recorded answer, led to hosts that are kept free for examples.

Who is below whom stays as it was, for hosts and for paths: a filter for `python.org` has to cover `docs.python.org/3`
afterwards too, and two pages have to stay two pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import count
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

from tests.wire import invented
from tests.wire.invented import SHORT_ID, Table, is_random

# Enough to know a host in a sentence by; every ending there is would make hosts of half of all file names.
_TLDS = (
    "com|org|net|edu|gov|mil|int|info|biz|io|ai|dev|app|co|me|us|uk|de|fr|jp|cn|ru|nl|eu|ch|at|it|es|ca|au|in|br|kr|se"
    "|no|fi|dk|pl|be|cz|tv|xyz|tech|site|online|cloud|wiki|news|blog|page|so|to|ly|gg|new|test|example|invalid"
)
_AFTER = r"[^\s<>\"'`{}|\\^()\[\]]"
URL: Final = rf"https?://{_AFTER}*[^\s<>\"'`{{}}|\\^()\[\].,;:!?…]"
HOST: Final = (
    rf"(?<![\w@.%-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?\.)+(?:{_TLDS})(?![\w-]|\.\w)(?:/{_AFTER}*)?"
)

_SECOND_LEVEL: Final = frozenset("co com org net gov ac edu ne or".split())  # `co.uk` and its like are no owner's name
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]-]{0,24}")
_OWN_PART = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,30}|\d{1,4}|")
_PATH_SAFE = "-._~!$&'()*+,;=:@"


def owner(host: str) -> str:
    """Return the part of a host that somebody registered."""
    labels = host.split(".")
    known = len(labels) > 2 and labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2
    return ".".join(labels[-3 if known else -2 :])


def is_below(host: str, domains: Iterable[str]) -> bool:
    """True for one of the domains and for every host below it."""
    return any(host == domain or host.endswith("." + domain) for domain in domains)


class Places:
    """Invented places for real ones, the same for the same.

    Args:
        own: domains of the service; they stay, and what stands after them only loses what looks drawn by chance.
        address: gives what stands for an IP address.
        part: gives invented words for a part of a URL.
    """

    def __init__(self, own: Iterable[str], *, address: Callable[[str], str], part: Callable[[str], str]) -> None:
        self._own = tuple(own)
        self._address, self._part = address, part
        self._hosts = Table()
        self._segments: dict[str, Table] = {}

    def __contains__(self, host: str) -> bool:
        return host in self._hosts

    def is_own(self, host: str) -> bool:
        """True for the service's hosts."""
        return is_below(host, self._own)

    def url(self, text: str) -> str:
        """Return an invented URL, absolute or without its scheme. User names in it are left out."""
        scheme, mark, rest = text.partition("//")
        return scheme + mark + self.bare(rest)

    def bare(self, text: str) -> str:
        """Return an invented `host`, `host/path` and so on."""
        end = re.search(r"[/?#]|$", text)
        at = end.start() if end else len(text)
        authority = text[:at].rpartition("@")[2]
        name, colon, port = authority.rpartition(":") if re.search(r":\d+$", authority) else (authority, "", "")
        host = name.lower()
        return self.host(name) + colon + port + self.rest(text[at:], own=self.is_own(host), host=host)

    def rest(self, text: str, *, own: bool, host: str = "") -> str:
        """Return path, query and fragment of a URL; also of one without a host."""
        front, hash_mark, fragment = text.partition("#")
        path, question, query = front.partition("?")
        parts = [self._parameter(part, own=own) for part in query.split("&")]
        return self._path(path, own, host) + question + "&".join(parts) + hash_mark + self._piece(fragment, own)

    def host(self, name: str) -> str:
        """Return an invented host; a name below another stays below it."""
        bracketed = name.startswith("[")
        address = invented.as_address(name.strip("[]"))
        if address:
            made = self._address(str(address))
            return f"[{made}]" if bracketed else made
        host = name.lower().rstrip(".")
        if not host or self.is_own(host) or invented.is_host(host):
            return name
        if host.startswith("www.") and "." in host[4:]:
            return "www." + self.host(host[4:])
        if host in self._hosts:
            return self._hosts[host]
        above = self._above(host)
        label = self._part(host.removesuffix("." + above).replace(".", "-")) if above else invented.word(host)
        base = self.host(above) if above else "example.org"
        first = re.sub(r"[^a-z0-9-]", "", label.lower()).strip("-") or "site"
        return self._hosts.give(host, (f"{first}{number or ''}.{base}" for number in count()))

    def _above(self, host: str) -> str:
        """Return the nearest host above that has a place already, else the one somebody registered; "" at the top."""
        labels = host.split(".")
        parents = [".".join(labels[at:]) for at in range(1, len(labels))]
        known = next((parent for parent in parents if parent in self._hosts), None)
        return known or (owner(host) if owner(host) != host else "")

    def _path(self, path: str, own: bool, host: str) -> str:
        made, before = [], host
        for segment in path.split("/"):
            if not segment or (own and self._is_plain(segment)):
                made.append(segment)
            else:
                table = self._segments.setdefault(before, Table())
                base = quote(self._part(unquote(segment)), safe=_PATH_SAFE)
                made.append(table.give(segment, (f"{base}-{number}" if number else base for number in _from_two())))
            before += "/" + segment
        return "/".join(made)

    def _piece(self, text: str, own: bool) -> str:
        return text if own and self._is_plain(text) else quote(self._part(unquote(text)), safe=_PATH_SAFE)

    def _parameter(self, part: str, *, own: bool) -> str:
        name, equals, value = part.partition("=")
        plain = unquote_plus(value)
        if not _PARAMETER.fullmatch(name) or is_random(name, SHORT_ID):
            name = quote(self._part(unquote_plus(name)), safe=_PATH_SAFE.replace("=", "").replace("&", ""))
        if re.match(r"(?:https?:)?//", plain):
            return name + equals + quote(self.url(plain), safe="")
        if own and self._is_plain(value):
            return part
        return name + equals + quote(self._part(plain), safe="-._~*")

    @staticmethod
    def _is_plain(text: str) -> bool:
        return _OWN_PART.fullmatch(text) is not None and not is_random(text, SHORT_ID)


def _from_two() -> Iterable[int]:
    """Zero for the name as it is, then the numbers of its namesakes."""
    yield 0
    yield from count(2)
