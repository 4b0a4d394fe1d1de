"""Which IP addresses a URL chosen by a model or a page may lead to.

The flags of `ipaddress` follow the Python version and call multicast, Azure's WireServer and several translation
prefixes global, so the table is ours: the IANA special-purpose registries for IPv4 and IPv6 plus the addresses where
clouds hand out credentials. Outside 2000::/3 nothing in IPv6 is a public host. An address that carries another one
inside is never judged more kindly than what it carries.

Sources: IANA IPv4 and IPv6 special-purpose address registries, RFC 6890, 4291, 6052, 8215, 3056, 4380, 5214 and the
documentation of each cloud. No DNS and no sockets here.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OK", "Span", "judge_address", "number", "span"]

OK = "ok"
METADATA = "address.metadata"
_LOW_32 = 0xFFFF_FFFF
_LOW_16 = 0xFFFF

_SPECIAL: tuple[tuple[str, str, str], ...] = (  # network, rule, what it is
    ("0.0.0.0/8", "address.unspecified", "this network, RFC 791"),
    ("10.0.0.0/8", "address.private", "private use, RFC 1918"),
    ("100.64.0.0/10", "address.shared", "carrier-grade NAT, RFC 6598"),
    ("127.0.0.0/8", "address.loopback", "loopback, RFC 1122"),
    ("169.254.0.0/16", "address.link_local", "link-local, RFC 3927"),
    ("172.16.0.0/12", "address.private", "private use, RFC 1918"),
    ("192.0.0.0/24", "address.reserved", "IETF protocol assignments, RFC 6890"),
    ("192.0.2.0/24", "address.documentation", "TEST-NET-1, RFC 5737"),
    ("192.31.196.0/24", "address.reserved", "AS112 anycast, RFC 7535"),
    ("192.52.193.0/24", "address.reserved", "AMT anycast, RFC 7450"),
    ("192.88.99.0/24", "address.reserved", "6to4 relay anycast, RFC 7526"),
    ("192.168.0.0/16", "address.private", "private use, RFC 1918"),
    ("192.175.48.0/24", "address.reserved", "AS112 delegation, RFC 7534"),
    ("198.18.0.0/15", "address.reserved", "benchmarking, RFC 2544"),
    ("198.51.100.0/24", "address.documentation", "TEST-NET-2, RFC 5737"),
    ("203.0.113.0/24", "address.documentation", "TEST-NET-3, RFC 5737"),
    ("224.0.0.0/4", "address.multicast", "multicast, RFC 5771"),
    ("240.0.0.0/4", "address.reserved", "reserved and broadcast, RFC 1112"),
    ("::/128", "address.unspecified", "unspecified, RFC 4291"),
    ("::1/128", "address.loopback", "loopback, RFC 4291"),
    ("::/96", "address.not_global", "IPv4-compatible, retired by RFC 4291"),
    ("::ffff:0:0:0/96", "address.not_global", "IPv4-translated, RFC 7915"),
    ("64:ff9b:1::/48", "address.not_global", "local-use translation, RFC 8215"),
    ("100::/64", "address.not_global", "discard only, RFC 6666"),
    ("100:0:0:1::/64", "address.not_global", "dummy prefix, RFC 9780"),
    ("2001::/23", "address.reserved", "IETF protocol assignments, RFC 2928"),
    ("2001::/32", "address.transition", "Teredo, RFC 4380"),
    ("2001:2::/48", "address.reserved", "benchmarking, RFC 5180"),
    ("2001:10::/28", "address.reserved", "ORCHID, RFC 4843"),
    ("2001:20::/28", "address.reserved", "ORCHIDv2, RFC 7343"),
    ("2001:db8::/32", "address.documentation", "documentation, RFC 3849"),
    ("2002::/16", "address.transition", "6to4, RFC 3056, retired by RFC 7526"),
    ("2620:4f:8000::/48", "address.reserved", "AS112 delegation, RFC 7534"),
    ("3fff::/20", "address.documentation", "documentation, RFC 9637"),
    ("5f00::/16", "address.not_global", "segment routing, RFC 9602"),
    ("fc00::/7", "address.private", "unique local, RFC 4193"),
    ("fe80::/10", "address.link_local", "link-local, RFC 4291"),
    ("fec0::/10", "address.not_global", "site-local, retired by RFC 3879"),
    ("ff00::/8", "address.multicast", "multicast, RFC 4291"),
)

_METADATA: dict[str, str] = {
    "169.254.169.254": "the metadata service of AWS, Google, Azure, Oracle, DigitalOcean and Hetzner",
    "169.254.170.2": "the credentials of an ECS task",
    "169.254.170.23": "the credentials of an EKS pod",
    "169.254.42.42": "the metadata service of Scaleway",
    "169.254.0.23": "the metadata service of Tencent Cloud",
    "100.100.100.200": "the metadata service of Alibaba Cloud",
    "168.63.129.16": "Azure's WireServer",
    "192.0.0.192": "the metadata service of Oracle Cloud classic",
    "fd00:ec2::254": "the metadata service of AWS",
    "fd00:ec2::23": "the credentials of an EKS pod",
    "fd00:42::42": "the metadata service of Scaleway",
    "fd00:c1::a9fe:a9fe": "the metadata service of Oracle Cloud",
    "fd20:ce::254": "the metadata service of Google Cloud",
    "fe80::a9fe:a9fe": "the metadata service of OpenStack",
}

Span = tuple[int, int, int]  # IP version, first and last address as numbers


def span(network: str) -> Span:
    """Return a CIDR network or a single address as version, first and last address.

    Raises:
        ValueError: it is neither, or has bits set below its prefix.
    """
    parsed = ipaddress.ip_network(network)
    return parsed.version, int(parsed.network_address), int(parsed.broadcast_address)


def number(text: str) -> tuple[int, int] | None:
    """Return an address as version and number, an IPv4-mapped one as the IPv4 address the socket would go to.

    None when it is no address, or one with a zone.
    """
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    if parsed.version == 6 and "%" in text:
        return None
    value = int(parsed)
    if parsed.version == 6 and value >> 32 == _LOW_16:
        return 4, value & _LOW_32
    return parsed.version, value


_RANGES: tuple[tuple[Span, str, str], ...] = tuple(  # longest prefix first, as a router would look them up
    sorted(
        ((span(network), rule, words) for network, rule, words in _SPECIAL), key=lambda entry: entry[0][2] - entry[0][1]
    )
)
_METADATA_NUMBERS = {span(address)[:2]: words for address, words in _METADATA.items()}
_NAT64 = span("64:ff9b::/96")
_NAT64_LOCAL = span("64:ff9b:1::/48")
_TEREDO = span("2001::/32")
_SIX_TO_FOUR = span("2002::/16")
_TRANSLATED = span("::ffff:0:0:0/96")


def judge_address(text: str) -> tuple[str, str]:
    """Return ("ok", "") for a public unicast address, else the rule that refuses it and why.

    Anything that is not one IP address is refused too: a resolver is not trusted more than a page.
    """
    known = number(text)
    if known is None:
        if "%" in text:
            return "address.link_local", "an address with a zone lives on one link"
        return "address.not_global", "this is no IP address"
    version, value = known
    return _judge_ipv4(value) if version == 4 else _judge_ipv6(value)


def _judge_ipv4(value: int) -> tuple[str, str]:
    if (4, value) in _METADATA_NUMBERS:
        return METADATA, _METADATA_NUMBERS[4, value]
    return _looked_up(4, value) or (OK, "")


def _judge_ipv6(value: int) -> tuple[str, str]:
    if (6, value) in _METADATA_NUMBERS:
        return METADATA, _METADATA_NUMBERS[6, value]
    for form, payload in _carried(value):
        if (4, payload) in _METADATA_NUMBERS:
            return METADATA, f"{form} of {_METADATA_NUMBERS[4, payload]}"
    if _within(_NAT64, value):  # DNS64 answers so for every IPv4 site on an IPv6-only network
        return _judge_payload("NAT64", value & _LOW_32)
    special = _looked_up(6, value)
    if special:
        return special
    if value >> 125 != 0b001:
        return "address.not_global", "outside 2000::/3, where public hosts are"
    if _is_isatap(value):
        return _judge_payload("ISATAP", value & _LOW_32)
    return OK, ""


def _judge_payload(form: str, payload: int) -> tuple[str, str]:
    rule, words = _judge_ipv4(payload)
    return (rule, f"{form} of {words}") if rule != OK else (OK, "")


def _carried(value: int) -> Iterator[tuple[str, int]]:
    """Yield each IPv4 address this IPv6 address may lead to, with the name of the form."""
    if value >> 32 == 0:
        yield "IPv4-compatible form", value & _LOW_32
    elif _within(_TRANSLATED, value):
        yield "IPv4-translated form", value & _LOW_32
    elif _within(_NAT64, value):
        yield "NAT64 form", value & _LOW_32
    elif _within(_NAT64_LOCAL, value):  # the prefix may be /48, /56, /64 or /96; bits 64 to 71 are always empty
        yield "NAT64 form", (value >> 64 & _LOW_16) << 16 | value >> 40 & _LOW_16
        yield "NAT64 form", (value >> 64 & 0xFF) << 24 | value >> 32 & 0xFF_FFFF
        yield "NAT64 form", value >> 24 & _LOW_32
        yield "NAT64 form", value & _LOW_32
    elif _within(_SIX_TO_FOUR, value):
        yield "6to4 form", value >> 80 & _LOW_32
    elif _within(_TEREDO, value):
        yield "Teredo server", value >> 64 & _LOW_32
        yield "Teredo client", ~value & _LOW_32
    if _is_isatap(value):
        yield "ISATAP form", value & _LOW_32


def _is_isatap(value: int) -> bool:
    return (value >> 32 & 0xFCFF_FFFF) == 0x5EFE  # the u and g bits say whether the payload is globally unique


def _looked_up(version: int, value: int) -> tuple[str, str] | None:
    for (own_version, first, last), rule, words in _RANGES:
        if own_version == version and first <= value <= last:
            return rule, words
    return None


def _within(network: Span, value: int) -> bool:
    return network[1] <= value <= network[2]
