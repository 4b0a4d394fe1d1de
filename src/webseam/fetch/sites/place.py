"""The address of a page as site handlers see it.

Apart from the handlers' base, because it is where an address that would climb inside an API is turned away: nothing
behind it has to look again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from webseam.domains import ascii_host


@dataclass(frozen=True, slots=True)
class Place:
    """The address of a page, taken apart once.

    Attributes:
        segments: the parts of the path, percent-decoded; none is empty, `.` or `..`.
        query: the parameters, of a repeated one the first.
    """

    url: str
    origin: str
    host: str
    segments: tuple[str, ...]
    query: Mapping[str, str]
    fragment: str

    @classmethod
    def of(cls, url: str) -> Place | None:
        """Return the parts of an http(s) URL, or None when it is none that an API could be asked about."""
        try:
            parts = urlsplit(url)
            host = ascii_host(parts.hostname or "")
            port = parts.port
        except ValueError:
            return None
        if parts.scheme not in ("http", "https") or not host or parts.username is not None or ":" in host:
            return None
        segments = tuple(unquote(segment) for segment in parts.path.split("/") if segment)
        if any(segment in (".", "..") or not segment.isprintable() for segment in segments):
            return None  # it would climb inside the API
        query: dict[str, str] = {}
        for pair in filter(None, parts.query.split("&")[:100]):
            name, _, value = pair.partition("=")
            query.setdefault(unquote(name), unquote(value.replace("+", " ")))
        origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
        return cls(url, origin, host, segments, query, unquote(parts.fragment))
