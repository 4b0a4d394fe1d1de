"""One strict reading of a URL, whose result is what is judged, dialled and sent.

Holes in URL guards come from two parsers that read two hosts out of one text. So whatever browsers, urlsplit and HTTP
clients read differently (backslashes, control characters, credentials, short IPv4 spellings, missing slashes) is
refused here instead of repaired, and only then does a WHATWG parser write the path and query. Nothing may pass the
original text on: `URL.href` is the only form that leaves this module.

Sources: the WHATWG URL standard, RFC 3986, RFC 5890 to 5894 (IDNA2008), RFC 1035 (lengths of names).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webseam.errors import EgressDenied
from webseam.text import quote

if TYPE_CHECKING:
    import ada_url

__all__ = [
    "DEFAULT_PORTS",
    "MAX_PORT",
    "MAX_URL",
    "URL",
    "UrlRefused",
    "canonical_host",
    "join",
    "parse",
    "port_number",
]

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL = 8_192  # characters, as given and as sent; servers stop at 8 KiB and longer ones carry data out, not in
MAX_HOST = 253  # octets of a name without its root dot, RFC 1035
MAX_LABEL = 63  # octets, RFC 1035
MAX_PORT = 65_535
_MAX_PORT_DIGITS = 5  # after leading zeros: keeps int() away from thousands of digits

_WHITESPACE = " \t\n\f\r"  # ASCII white space as the WHATWG standard lists it; anything wider hides characters
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # what IDNA2003 and browsers take for a full stop
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")  # underscores and outer hyphens are no host names by the book, yet answer
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that some parser reads as an IPv4 address
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_QUAD = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]{2,45}")


class UrlRefused(EgressDenied):
    """A URL that cannot be read in one way only, or not at all.

    Attributes:
        rule: the stable id, `url.*` or `host.ambiguous_ipv4`.
        problem: what is wrong, without the rule.
    """

    def __init__(self, rule: str, problem: str, *, url: str = "", hint: str | None = None) -> None:
        super().__init__(rule, problem, url=url, hint=hint)
        self.problem = problem


@dataclass(frozen=True, slots=True, repr=False)
class URL:
    """An http or https URL in its one canonical form.

    Attributes:
        scheme: "http" or "https".
        host: lower case, A-labels, no root dot; an IPv6 address without brackets.
        port: always set.
        href: what is dialled and sent, without the fragment, which never travels.
        address: the host again when it is an IP address, else None.
    """

    scheme: str
    host: str
    port: int
    href: str
    address: str | None

    @property
    def origin(self) -> str:
        """`scheme://host:port`, the port always written: two spellings of one origin must compare equal."""
        return f"{self.scheme}://{_bracketed(self.host)}:{self.port}"

    def __repr__(self) -> str:
        from webseam.net.redact import redact_url  # a query may carry a key

        return f"URL({redact_url(self.href)!r})"


def parse(text: str) -> URL:
    """Return the one reading of `text`.

    Raises:
        UrlRefused: it has none, or more than one.
    """
    trimmed = text.strip(_WHITESPACE)
    try:
        return _parse(trimmed)
    except UrlRefused as refused:
        from webseam.net.redact import redact_url

        refused.url = redact_url(trimmed[:MAX_URL])
        raise


def join(base: URL, reference: str) -> URL:
    """Return the URL that `reference`, a Location value or a link, names when it was found at `base`.

    Raises:
        UrlRefused: as `parse`. Forms that browsers repair (backslashes, `http:host`, `///host`) are refused here too.
    """
    trimmed = reference.strip(_WHITESPACE)
    _check_characters(trimmed)
    if _SCHEME.match(trimmed):
        return parse(trimmed)
    _check_backslash(trimmed)
    if trimmed.startswith("//"):
        return parse(f"{base.scheme}:{trimmed}")
    return parse(_standard(trimmed, base.href).href)


def _parse(text: str) -> URL:
    _check_characters(text)
    scheme, authority, tail = _split(text)
    if "@" in authority:
        raise UrlRefused(
            "url.userinfo",
            "credentials in a URL end up in logs and can disguise the host",
            hint="remove everything up to the @",
        )
    host_text, port_text = _split_port(authority)
    if not host_text:
        raise UrlRefused("url.not_absolute", "there is no host before the port")
    host, address = canonical_host(host_text)
    port = port_number(port_text) if port_text else DEFAULT_PORTS[scheme]
    return _written(scheme, host, address, port, tail)


def _check_characters(text: str) -> None:
    if len(text) > MAX_URL:
        raise UrlRefused("url.length", f"{len(text):,} characters, at most {MAX_URL:,} are allowed")
    found = _FORBIDDEN.search(text)
    if found:  # urlsplit drops some of these in silence and getaddrinfo stops at others
        raise UrlRefused("url.control_char", f"has the control character U+{ord(found.group()):04X}")


def _check_backslash(text: str) -> None:
    if "\\" in re.split(r"[?#]", text, maxsplit=1)[0]:  # after the question mark it cannot move the host any more
        raise UrlRefused("url.backslash", "browsers read a backslash as a slash, other clients do not")


def _split(text: str) -> tuple[str, str, str]:
    """Return scheme, authority and the rest of an absolute URL; refuse every other form."""
    found = _SCHEME.match(text)
    if not found:
        raise UrlRefused("url.not_absolute", "is no absolute URL", hint="start it with https://" if text else None)
    scheme = found[1].lower()
    rest = text[found.end() :]
    if scheme not in DEFAULT_PORTS:
        port_like = rest[:1].isdigit()
        hint = "for a host and a port write http:// before it" if port_like else "use http or https"
        raise UrlRefused("url.scheme", f"{quote(scheme)}: is neither http nor https", hint=hint)
    _check_backslash(rest)
    if not rest.startswith("//"):
        raise UrlRefused("url.not_absolute", f"{scheme}: is not followed by //", hint=f"write {scheme}://host/path")
    end = re.search(r"[/?#]", rest[2:])
    authority = rest[2 : 2 + end.start()] if end else rest[2:]
    if not authority:
        raise UrlRefused("url.not_absolute", f"there is no host after {scheme}://")
    return scheme, authority, rest[2 + len(authority) :]


def _split_port(authority: str) -> tuple[str, str]:
    """Return the host, in its brackets if it has some, and the text of the port, empty when none is given."""
    if authority.startswith("["):
        inside, bracket, after = authority.partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise UrlRefused("url.ipv6_form", f"{quote(authority)} is not [address] or [address]:port")
        return inside + bracket, after[1:]
    if authority.count(":") > 1 and ("::" in authority or _is_ipv6(authority)):
        raise UrlRefused("url.ipv6_form", "an IPv6 address has to stand in brackets", hint="write [address]:port")
    host, _, port = authority.partition(":")
    return host, port


def port_number(text: str) -> int:
    """Return a port written in decimal digits, 1 to 65535; leading zeros are legal.

    Raises:
        UrlRefused: `url.port`.
    """
    digits = text.lstrip("0")
    if text.isascii() and text.isdecimal() and 0 < len(digits) <= _MAX_PORT_DIGITS and int(digits) <= MAX_PORT:
        return int(digits)
    raise UrlRefused("url.port", f"{quote(text)} is not a port number from 1 to {MAX_PORT}")


def canonical_host(text: str) -> tuple[str, str | None]:
    """Return a host in the form that is dialled, and the same again when it is an IP address, else None.

    Takes a name, a dotted quad, or an IPv6 address in brackets; gives that address without them.

    Raises:
        UrlRefused: `url.host_char`, `url.idna`, `url.ipv6_form` or `host.ambiguous_ipv4`.
    """
    if text.startswith("["):
        if not (text.endswith("]") and _is_ipv6(text[1:-1])):
            raise UrlRefused("url.ipv6_form", f"{quote(text)} is not an IPv6 address", hint="zones are not taken")
        address = _standard(f"http://{text}/").hostname[1:-1]  # its spelling does not follow the version of Python
        return address, address
    name = _DOTS.sub(".", text)
    rooted = name.endswith(".")
    labels = [_canonical_label(label) for label in name.removesuffix(".").split(".")]
    host = ".".join(labels)
    if len(host) > MAX_HOST:
        raise UrlRefused("url.host_char", f"the host name is longer than {MAX_HOST} octets")
    if not _NUMBER.fullmatch(labels[-1]):
        return host, None
    if rooted or not _QUAD.fullmatch(host):  # getaddrinfo reads 0x7f.1 as 127.0.0.1, ipaddress does not
        raise UrlRefused(
            "host.ambiguous_ipv4", f"{quote(text)} is read as different addresses", hint="write it as a dotted quad"
        )
    return host, host


def _canonical_label(label: str) -> str:
    if len(label) > MAX_LABEL:
        raise UrlRefused("url.host_char", f"a label of the host is longer than {MAX_LABEL} octets")
    if not label.isascii():
        return _a_label(label)
    lowered = label.lower()
    if not _LABEL.fullmatch(lowered):
        problem = f"the host has a label {quote(label)!r}" if label else "the host has an empty label"
        raise UrlRefused("url.host_char", problem, hint="letters, digits, hyphens and underscores only")
    return lowered


def _a_label(label: str) -> str:
    """Return a non-ASCII label as DNS has it. IDNA2008 maps nothing, so no look-alike turns into ASCII."""
    import idna  # 20 ms of tables that only names outside ASCII need

    prepared = unicodedata.normalize("NFC", label.lower())
    try:
        if prepared.isascii():  # the Kelvin sign is a K in disguise
            raise idna.IDNAError("it turns into ASCII")
        return idna.alabel(prepared).decode("ascii")
    except idna.IDNAError as error:
        raise UrlRefused(
            "url.idna",
            f"{quote(label)!r} is not a valid international label: {quote(str(error))}",
            hint="give the xn-- form if the name is meant",
        ) from None


def _is_ipv6(text: str) -> bool:
    import ipaddress

    if not _IPV6.fullmatch(text):  # also keeps out zones, which ipaddress takes
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _standard(text: str, base: str | None = None) -> ada_url.URL:
    """Return what the WHATWG parser makes of a text whose authority this module wrote or took as safe."""
    import ada_url

    try:
        return ada_url.URL(text, base)
    except ValueError:  # something was let through above that should not have been: refuse rather than guess
        raise UrlRefused("url.host_char", "the URL standard reads no host in it") from None


def _written(scheme: str, host: str, address: str | None, port: int, tail: str) -> URL:
    """Return the URL with path and query as the WHATWG parser writes them, behind a host it may not change."""
    port_text = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
    front = f"{scheme}://{_bracketed(host)}{port_text}"
    href = _standard(front + tail).href.partition("#")[0]
    if not href.startswith(front + "/"):
        raise UrlRefused("url.host_char", f"{quote(host)} is read as two different hosts")
    if len(href) > MAX_URL:
        raise UrlRefused("url.length", f"{len(href):,} characters once encoded, at most {MAX_URL:,} are allowed")
    return URL(scheme, host, port, href, address)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
