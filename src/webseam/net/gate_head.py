"""The heads that pass through the gate, read strictly and written anew.

A proxy that passes a head on as it came can be made to disagree with the server about where a request ends, and the
rest would then be a request nobody judged. So nothing of a head goes on but what was understood here: one request a
connection, its body of a stated length, every line of the one form that all readers read alike.

Sources: RFC 9110 (methods, fields, CONNECT), RFC 9112 (lines, framing, forms of a target). Pure: bytes in, bytes out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from webseam.net.url import URL, UrlRefused, parse

__all__ = ["AnswerHead", "BadHead", "RequestHead", "read_answer", "read_request", "target_of", "write_request"]

MAX_LENGTH_DIGITS: Final = 15  # of a Content-Length: a petabyte is no length of anything that comes through here

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE: Final = re.compile(rb"([A-Za-z]{1,20}) ([\x21-\x7e]+) HTTP/1\.[01]")
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\x00-\x08\x0a-\x1f\x7f]*)?")
_FIELD: Final = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
_AUTHORITY: Final = re.compile(r"[^/?#@\\\s]+:[0-9]{1,5}")

# What belongs to one connection only, or to the proxy (RFC 9110, section 7.6.1). Upgrades go through tunnels.
_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-connection proxy-authorization proxy-authenticate proxy-authentication-info te"
    b" trailer upgrade".split()
)

Fields = list[tuple[bytes, bytes]]


class BadHead(Exception):
    """A head that cannot be read in one way only; `status` is what to answer, the words say why."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What a browser asks of its proxy.

    Attributes:
        target: an absolute URL, or host:port for CONNECT; not judged and not even known to be one yet.
        fields: all of them, for `write_request` to choose from.
        authorization: the value of Proxy-Authorization, "" for none.
        length: of the body, in bytes.
    """

    method: str
    target: str
    fields: Fields = field(repr=False)  # cookies and keys
    authorization: str = field(repr=False)
    length: int


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What a server answered.

    Attributes:
        interim: another answer follows, the real one.
        length: of the body, None when only its own form or the end of the connection tells.
        written: the head to pass on.
    """

    status: int
    interim: bool
    length: int | None
    written: bytes = field(repr=False)


def read_request(head: bytes) -> RequestHead:
    """Return the request in `head`, which ends with its blank line.

    Raises:
        BadHead: it is none, or has a body whose end is not plain.
    """
    line, fields = _split(head)
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        raise BadHead(400, "the request line is not one of HTTP/1.1")
    if _values(fields, b"transfer-encoding"):
        raise BadHead(411, "a request body needs a Content-Length here")
    credentials = _values(fields, b"proxy-authorization")
    if len(credentials) > 1:
        raise BadHead(400, "there is more than one Proxy-Authorization")
    return RequestHead(
        method=found[1].decode("ascii"),
        target=found[2].decode("ascii"),
        fields=fields,
        authorization=credentials[0].decode("latin-1") if credentials else "",
        length=_length(fields, 400) or 0,
    )


def target_of(request: RequestHead) -> URL:
    """Return the URL that a request would have dialled, by the one strict parser.

    A tunnel is taken for https: nothing but its host and port can be seen, and only these are judged.

    Raises:
        UrlRefused: it cannot be read, or in more than one way.
        BadHead: the form does not fit the method.
    """
    if request.method == "CONNECT":
        if _AUTHORITY.fullmatch(request.target) is None:
            raise UrlRefused("url.not_absolute", "a tunnel is asked for with host:port")
        return parse(f"https://{request.target}/")
    url = parse(request.target)
    if url.scheme != "http":
        raise BadHead(400, "https goes through a tunnel")
    return url


def write_request(
    request: RequestHead, url: URL, *, whole_url: bool, extra: Sequence[tuple[bytes, bytes]] = ()
) -> bytes:
    """Return the head to send to the server of `url`, or with `whole_url` to a proxy on the way there.

    The connection ends with the answer: a second request on it would not be judged.
    """
    authority, slash, rest = url.href.partition("://")[2].partition("/")
    target = url.href if whole_url else slash + rest
    kept = _end_to_end(request.fields, also=(b"host",))
    fields = [(b"Host", authority.encode("ascii")), *kept, *extra, (b"Connection", b"close")]
    return _written(f"{request.method} {target} HTTP/1.1".encode("ascii"), fields)


def read_answer(head: bytes, method: str) -> AnswerHead:
    """Return the answer to a request of `method`, without what only concerned our connection to the server.

    Raises:
        BadHead: it is none, or something that only a proxy may answer.
    """
    line, fields = _split(head)
    found = _STATUS_LINE.fullmatch(line)
    if found is None:
        raise BadHead(502, "the server does not speak HTTP/1.1")
    status = int(found[1])
    if status in (101, 407):  # 407 would have the browser tell the server our credential
        raise BadHead(502, f"the server answered {status}, which nobody asked for")
    interim = status < 200
    closing: Fields = [] if interim else [(b"Connection", b"close"), (b"Proxy-Connection", b"close")]
    length = None if _values(fields, b"transfer-encoding") else _length(fields, 502)
    if interim or method == "HEAD" or status in (204, 304):
        length = 0
    return AnswerHead(status, interim, length, _written(line, [*_end_to_end(fields), *closing]))


def _split(head: bytes) -> tuple[bytes, Fields]:
    line, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields = []
    for text in rest:
        found = _FIELD.fullmatch(text)
        if found is None:  # folded lines, bare line ends, a space before the colon
            raise BadHead(400, "a header line is not one of HTTP/1.1")
        fields.append((found[1], found[2]))
    return line, fields


def _values(fields: Fields, name: bytes) -> list[bytes]:
    return [value for key, value in fields if key.lower() == name]


def _length(fields: Fields, status: int) -> int | None:
    lengths = _values(fields, b"content-length")
    if len(lengths) > 1 or not all(value.isdigit() and len(value) <= MAX_LENGTH_DIGITS for value in lengths):
        raise BadHead(status, "the length of the body is not plain")
    return int(lengths[0]) if lengths else None


def _end_to_end(fields: Fields, *, also: Sequence[bytes] = ()) -> Fields:
    """Return the fields that travel on: not those of one connection, nor those that Connection names."""
    named = {word.strip().lower() for value in _values(fields, b"connection") for word in value.split(b",")}
    left_out = _HOP_BY_HOP | set(also) | (named - {b"content-length", b"transfer-encoding", b"host"})
    return [(name, value) for name, value in fields if name.lower() not in left_out]


def _written(line: bytes, fields: Fields) -> bytes:
    return b"\r\n".join([line, *(name + b": " + value for name, value in fields), b"", b""])
