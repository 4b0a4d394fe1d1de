"""The table of addresses: exact edges, addresses inside addresses, and the standard library as a second opinion."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.net.address import judge_address, number, span

METADATA_IPV4 = "169.254.169.254"
IPV4 = st.integers(0, 2**32 - 1)
IPV6 = st.integers(0, 2**128 - 1)


@pytest.mark.parametrize(
    ("inside", "outside", "rule"),
    [
        pytest.param("10.255.255.255", "11.0.0.0", "address.private", id="10/8 ends"),
        pytest.param("172.16.0.0", "172.15.255.255", "address.private", id="172.16/12 begins"),
        pytest.param("192.168.255.255", "192.169.0.0", "address.private", id="192.168/16 ends"),
        pytest.param("100.64.0.0", "100.63.255.255", "address.shared", id="100.64/10 begins"),
        pytest.param("169.254.255.255", "169.255.0.0", "address.link_local", id="169.254/16 ends"),
        pytest.param("0.255.255.255", "1.0.0.0", "address.unspecified", id="0/8 ends"),
        pytest.param("192.0.0.255", "192.0.1.0", "address.reserved", id="192.0.0/24 ends"),
        pytest.param("192.0.2.0", "192.0.1.255", "address.documentation", id="TEST-NET-1 begins"),
        pytest.param("198.19.255.255", "198.20.0.0", "address.reserved", id="198.18/15 ends"),
        pytest.param("224.0.0.0", "223.255.255.255", "address.multicast", id="224/4 begins"),
        pytest.param("2001:1ff:ffff::", "2001:200::", "address.reserved", id="2001::/23 ends"),
        pytest.param("2001:db8:ffff::", "2001:db9::", "address.documentation", id="2001:db8::/32 ends"),
        pytest.param("2002::", "2001:ffff::", "address.transition", id="6to4 begins"),
        pytest.param("3fff:fff::", "3fff:1000::", "address.documentation", id="3fff::/20 ends"),
        pytest.param("1fff:ffff::", "2000::", "address.not_global", id="2000::/3 begins"),
        pytest.param("4000::", "3fff:ffff:ffff::", "address.not_global", id="2000::/3 ends"),
        pytest.param("2620:4f:8000::1", "2620:4f:8001::", "address.reserved", id="AS112 ends"),
    ],
)
def test_a_range_ends_where_its_registry_says(inside: str, outside: str, rule: str) -> None:
    assert judge_address(inside)[0] == rule
    assert judge_address(outside) == ("ok", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("10.0.0.1", ("address.private", "private use, RFC 1918"), id="private"),
        pytest.param("::ffff:127.0.0.1", ("address.loopback", "loopback, RFC 1122"), id="mapped loopback"),
        pytest.param(
            "64:ff9b::10.0.0.1", ("address.private", "NAT64 of private use, RFC 1918"), id="translated private"
        ),
        pytest.param(
            "2606:4700::5efe:10.0.0.1", ("address.private", "ISATAP of private use, RFC 1918"), id="ISATAP private"
        ),
        pytest.param("::127.0.0.1", ("address.not_global", "IPv4-compatible, retired by RFC 4291"), id="compatible"),
        pytest.param(
            "fe80::5efe:8.8.8.8", ("address.link_local", "link-local, RFC 4291"), id="public inside link-local"
        ),
        pytest.param("fe80::1%eth0", ("address.link_local", "an address with a zone lives on one link"), id="zone"),
        pytest.param(
            "2606:4700::1%1",
            ("address.link_local", "an address with a zone lives on one link"),
            id="zone on a public one",
        ),
        pytest.param("localhost", ("address.not_global", "this is no IP address"), id="a name"),
        pytest.param("", ("address.not_global", "this is no IP address"), id="nothing"),
        pytest.param("127.1", ("address.not_global", "this is no IP address"), id="short spelling"),
        pytest.param("010.0.0.1", ("address.not_global", "this is no IP address"), id="leading zero"),
        pytest.param("10.0.0.0/8", ("address.not_global", "this is no IP address"), id="a network"),
        pytest.param(
            "2002:a9fe:a9fe::1",
            (
                "address.metadata",
                "6to4 form of the metadata service of AWS, Google, Azure, Oracle, DigitalOcean and Hetzner",
            ),
            id="metadata inside 6to4",
        ),
        pytest.param("fd20:ce::254", ("address.metadata", "the metadata service of Google Cloud"), id="metadata, IPv6"),
    ],
)
def test_a_refusal_names_the_rule_and_says_why(text: str, expected: tuple[str, str]) -> None:
    assert judge_address(text) == expected


def carriers(payload: int) -> list[str]:
    """Return every IPv6 address that may lead to the IPv4 address `payload`."""
    high, low = payload >> 16, payload & 0xFFFF
    values = [
        payload,  # compatible
        0xFFFF << 32 | payload,  # mapped
        0xFFFF << 48 | payload,  # translated
        0x64FF9B << 96 | payload,  # NAT64
        0x64FF9B_0001 << 80 | high << 64 | low << 40,  # local NAT64, /48
        0x64FF9B_0001 << 80 | (payload >> 24) << 64 | (payload & 0xFFFFFF) << 32,  # /56
        0x64FF9B_0001 << 80 | payload << 24,  # /64
        0x64FF9B_0001 << 80 | payload,  # /96
        0x2002 << 112 | payload << 80 | 1,  # 6to4
        0x2001 << 112 | payload << 64,  # Teredo server
        0x2001 << 112 | 0x08080808 << 64 | payload ^ 0xFFFFFFFF,  # Teredo client
        0x26064700 << 96 | 0x00005EFE << 32 | payload,  # ISATAP
        0x26064700 << 96 | 0x02005EFE << 32 | payload,
        0x26064700 << 96 | 0x03005EFE << 32 | payload,
    ]
    return [str(ipaddress.IPv6Address(value)) for value in values]


@settings(max_examples=500)
@given(st.one_of(IPV4, st.sampled_from([int(ipaddress.IPv4Address(text)) for text in ("127.0.0.1", "10.1.2.3")])))
def test_an_address_inside_another_is_never_judged_more_kindly_than_bare(payload: int) -> None:
    bare = judge_address(str(ipaddress.IPv4Address(payload)))[0]
    for carrier in carriers(payload):
        if bare != "ok":
            assert judge_address(carrier)[0] != "ok", carrier


@pytest.mark.parametrize("carrier", carriers(int(ipaddress.IPv4Address(METADATA_IPV4))))
def test_a_metadata_address_is_recognised_in_every_form(carrier: str) -> None:
    assert judge_address(carrier)[0] == "address.metadata"


def refused_by_the_standard_library(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # Python calls all mapped addresses private; the socket goes to the payload
    return (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address.is_reserved
    )


@settings(max_examples=2_000)
@given(st.one_of(st.builds(ipaddress.IPv4Address, IPV4), st.builds(ipaddress.IPv6Address, IPV6)))
def test_nothing_that_the_standard_library_calls_special_is_allowed(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if refused_by_the_standard_library(address) and address not in ipaddress.IPv6Network("64:ff9b::/96"):
        assert judge_address(str(address))[0] != "ok"


@pytest.mark.parametrize("version", [4, 6])
def test_no_edge_of_any_network_of_the_standard_library_is_allowed(version: int) -> None:
    constants = ipaddress._IPv4Constants if version == 4 else ipaddress._IPv6Constants  # type: ignore[attr-defined]
    mapped = ipaddress.ip_network("::ffff:0:0/96")
    networks = [network for network in constants._private_networks if network != mapped]
    assert len(networks) > 5
    for network in networks:
        for edge in (network.network_address, network.broadcast_address):
            assert judge_address(str(edge))[0] != "ok", network


@settings(max_examples=500)
@given(st.text(max_size=20))
def test_any_text_gets_a_judgement(text: str) -> None:
    rule, _ = judge_address(text)
    assert rule == "ok" or rule.startswith("address.")


def test_a_mapped_address_counts_as_the_ipv4_address_it_leads_to() -> None:
    assert number("::ffff:10.0.0.1") == number("10.0.0.1") == (4, 0x0A000001)
    assert number("::1") == (6, 1)
    assert number("fe80::1%eth0") is None
    assert number("nothing") is None


def test_a_network_is_read_as_its_first_and_last_address() -> None:
    assert span("10.0.0.0/8") == (4, 0x0A000000, 0x0AFFFFFF)
    assert span("::1") == (6, 1, 1)
    with pytest.raises(ValueError, match="host bits"):
        span("10.0.0.1/8")
