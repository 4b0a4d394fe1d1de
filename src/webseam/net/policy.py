"""The egress policy: a value that says whether a URL may be dialled, and at which addresses.

Two kinds exist. The open policy is for URLs that a model or a page chose: public web hosts only. The operator policy is
for a base URL that the person running webseam set: exactly that origin, wherever it is. Judging is pure (the answers of
DNS come in through a function), so that every front, every redirect and every test asks the same question in the same
way, and so that the client dials what was judged and never looks a name up a second time.

No sockets, no DNS and no HTTP here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from webseam.errors import RequestError
from webseam.net.address import METADATA, OK, Span, judge_address, number, span
from webseam.net.url import MAX_PORT, URL, UrlRefused, canonical_host, join, parse, port_number
from webseam.text import quote

__all__ = ["LIFTABLE", "EgressPolicy", "Resolve", "Verdict"]

Resolve = Callable[[str], Sequence[str]]  # host in, addresses out; OSError and LookupError mean that there are none

WEB_PORTS = frozenset({80, 443, 8000, 8080, 8443})  # where web servers listen; the rest is databases and daemons
MAX_REDIRECTS = 10

# Trees that never name a public host: RFC 6761, 6762, 7686, 8375, 9476, and ICANN's reservation of `internal`.
_SPECIAL_TREES = ("localhost", "localdomain", "local", "internal", "home.arpa", "onion", "invalid", "alt")
_NEVER_IN_DNS = ("onion",)  # RFC 7686: a look-up alone gives away who is visited
_METADATA_NAMES = (
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "instance-data.ec2.internal",
    "instance-data",
    "rancher-metadata",
    "metadata",
)
_PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")

# What an `allow` entry or an operator's origin may lift. Metadata, our own sockets, multicast and 0.0.0.0 stay refused.
LIFTABLE = frozenset(
    "address." + name
    for name in ("private", "loopback", "link_local", "shared", "reserved", "documentation", "not_global", "transition")
)
_UNSPECIFIED = ((4, 0), (6, 0))
_LOOPBACK = (span("127.0.0.0/8"), span("::1"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policy says about one URL.

    Attributes:
        allowed: whether it may be dialled.
        rule: stable id, "ok" when allowed.
        host, port: as they would be dialled; None when the URL could not be read.
        addresses: where the socket may go, first choice first. Empty when refused, and when a proxy resolves the name.
        detail: why, in words; empty when allowed.
    """

    allowed: bool
    rule: str
    host: str | None = None
    port: int | None = None
    addresses: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Grant:
    """One `allow` entry: a host, all hosts below one, or a span of addresses; on one port or on any."""

    port: int | None
    host: str = ""
    below: bool = False
    addresses: Span | None = None

    def fits_host(self, url: URL) -> bool:
        if not self.host or self.port not in (None, url.port):
            return False
        return url.host.endswith("." + self.host) if self.below else url.host == self.host

    def fits_address(self, address: tuple[int, int] | None, port: int) -> bool:
        if self.addresses is None or address is None or self.port not in (None, port):
            return False
        version, first, last = self.addresses
        return version == address[0] and first <= address[1] <= last


def _ambient_proxy() -> str | None:
    return next((name for name in _PROXY_VARIABLES if os.environ.get(name)), None)


@dataclass(frozen=True, kw_only=True)
class EgressPolicy:
    """Which URLs may be dialled. Without arguments: the open policy.

    Attributes:
        ports: open to any public host.
        allow: exceptions of the operator: `host`, `*.host` (below it, not itself), an address or a CIDR network, each
            with an optional `:port`; without one, on every port. They lift the rules about ports, single labels,
            special-use names and non-public addresses for exactly those, never those about metadata or URL forms.
            An entry with addresses does not lift the rules about names.
        origin: the one origin of an operator policy, given as a URL; "" when that cannot be read, which allows nothing.
        public: the origin must be a public one: its addresses are judged as those of any other host.
        own: `address:port` pairs webseam itself listens on; an unspecified address means every loopback one.
        proxy: a trusted proxy from the settings does the dialling, so only the literal rules apply.
        local_dns: with a proxy, resolve and judge addresses here all the same.
        max_redirects: followed for one request; an operator policy follows none.
        ambient_proxy: the environment variable that sets a proxy; never used, only named when a host has no address.

    Raises:
        RequestError: an entry of `ports`, `allow` or `own` cannot be read.
    """

    ports: Collection[int] = WEB_PORTS
    allow: Collection[str] = ()
    origin: str | None = None
    public: bool = False
    own: Collection[str] = ()
    proxy: bool = False
    local_dns: bool = False
    max_redirects: int = MAX_REDIRECTS
    ambient_proxy: str | None = field(default_factory=_ambient_proxy)
    _grants: tuple[_Grant, ...] = field(init=False, repr=False, compare=False)
    _own: tuple[tuple[tuple[int, int], int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ports", _web_ports(self.ports))
        put(self, "allow", _entries("allow", self.allow))
        put(self, "own", _entries("own", self.own))
        put(self, "proxy", bool(self.proxy))  # a caller's proxy URL may hold a password and must not stay in here
        put(self, "_grants", tuple(_read_grant(entry) for entry in self.allow))
        put(self, "_own", tuple(_read_own(entry) for entry in self.own))
        if self.origin is not None:
            put(self, "origin", _origin_of(self.origin))

    @classmethod
    def operator(
        cls,
        base_url: str,
        *,
        public: bool = False,
        own: Collection[str] = (),
        proxy: bool = False,
        local_dns: bool = False,
    ) -> EgressPolicy:
        """Return the policy for a base URL in the settings: that origin alone, redirects refused.

        It may be private, unless `public` asks for a public host, on whatever port. A base URL that cannot be read
        makes a policy that allows nothing; judging the URL itself gives the reason.
        """
        ports = WEB_PORTS | {read.port} if public and isinstance(read := _parsed(base_url), URL) else WEB_PORTS
        return cls(ports=ports, origin=base_url, public=public, own=own, proxy=proxy, local_dns=local_dns)

    def judge(self, url: str, resolve: Resolve) -> Verdict:
        """Return the verdict on `url`. `resolve` is called at most once, and only when no literal rule refuses."""
        parsed = _parsed(url)
        if isinstance(parsed, Verdict):
            return parsed
        return self._by_literal(parsed) or self._by_answers(parsed, resolve)

    def judge_literally(self, url: str) -> Verdict:
        """Return what the text alone says, without a look-up: for links and hits nobody dials yet.

        An allowed name has no `addresses`; it must be judged again before it is dialled.
        """
        parsed = _parsed(url)
        if isinstance(parsed, Verdict):
            return parsed
        return self._by_literal(parsed) or Verdict(True, OK, parsed.host, parsed.port)

    def judge_redirect(
        self, current: str, location: str, *, seen: Sequence[str], resolve: Resolve
    ) -> tuple[Verdict, str]:
        """Return the verdict on a redirect and the absolute URL it leads to, "" when that cannot be read.

        Args:
            current: the URL that answered with the redirect.
            location: the Location value as received.
            seen: every URL requested so far in order, the first one and `current` included.
            resolve: as in `judge`; the name is resolved anew, for a redirect may need a new connection.
        """
        try:
            target = join(parse(current), location)
        except UrlRefused as refused:
            return Verdict(False, "redirect.blocked", detail=f"{refused.rule}: {refused.problem}"), ""
        if self.origin is not None:  # a key travels with the request, and http to https means a wrong setting
            elsewhere = f"it leads to {target.origin}, and redirects of a configured service are not followed"
            return _refused(target, "redirect.blocked", elsewhere), target.href
        visited = [_spelled(url) for url in seen]
        if _spelled(current) not in visited:
            visited.append(_spelled(current))
        if target.href in visited:
            return _refused(target, "redirect.loop", "redirects come back to a URL already seen"), target.href
        if len(visited) > self.max_redirects:
            return _refused(target, "redirect.too_many", f"more than {self.max_redirects} redirects"), target.href
        verdict = self.judge(target.href, resolve)
        if not verdict.allowed:
            verdict = _refused(target, "redirect.blocked", f"{verdict.rule}: {verdict.detail}")
        return verdict, target.href

    def _by_literal(self, url: URL) -> Verdict | None:
        """Return a verdict that needs no DNS, or None."""
        if self.origin is not None and url.origin != self.origin:
            return _refused(url, "origin.other", f"only {self.origin or 'a readable base URL'} may be called here")
        if not self._may_use_port(url):
            listed = ", ".join(str(port) for port in sorted(self.ports))
            return _refused(url, "port.denied", f"port {url.port} is not one of {listed}")
        if url.address is not None:
            rule, detail = self._address_rule(url.address, url)
            return _refused(url, rule, detail) if rule != OK else _allowed(url, (url.address,))
        rule, detail = self._name_rule(url)
        if rule != OK:
            return _refused(url, rule, detail)
        if self.proxy and not self.local_dns:
            return _allowed(url, ())
        return None

    def _by_answers(self, url: URL, resolve: Resolve) -> Verdict:
        try:
            answers = tuple(dict.fromkeys(resolve(url.host)))
        except (OSError, LookupError):  # getaddrinfo's failures, and those of a table used as resolver
            answers = ()
        if not answers:
            if self.ambient_proxy:
                ignored = f"{url.host} has no address here, and the proxy in {self.ambient_proxy} is not used"
                return _refused(url, "proxy.env_ignored", ignored + "; set net.proxy to use one")
            return _refused(url, "dns.no_answers", f"{url.host} has no address")
        judged = [(*self._address_rule(answer, url), answer) for answer in answers]
        bad = [entry for entry in judged if entry[0] != OK]
        if not bad:
            return _allowed(url, answers)
        rule, words, answer = next((entry for entry in bad if entry[0] == METADATA), bad[0])
        detail = f"{url.host} has the address {quote(answer)}: {words}"
        if len(bad) < len(judged):  # dialling only the good one would let the next answer choose
            return _refused(url, "dns.mixed_answers", f"{detail} ({rule}), beside allowed ones")
        return _refused(url, rule, detail)

    def _may_use_port(self, url: URL) -> bool:
        """False when no later rule could make the port right, so that nothing is looked up in vain."""
        if url.port in self.ports or self._granted(url):
            return True
        if url.address is not None:
            return any(grant.fits_address(number(url.address), url.port) for grant in self._grants)
        return any(grant.addresses is not None and grant.port in (None, url.port) for grant in self._grants)

    def _name_rule(self, url: URL) -> tuple[str, str]:
        granted = self._granted(url)
        dns_needed = not self.proxy or self.local_dns
        tree = _tree_of(url.host, _SPECIAL_TREES)
        if tree is not None and (not granted or (dns_needed and tree in _NEVER_IN_DNS)):
            return "host.special_use", f"names under {tree} are not public"
        if "." not in url.host and not granted:
            return "host.single_label", f"{url.host} is a name without a domain"
        if _tree_of(url.host, _METADATA_NAMES) is not None:
            return METADATA, f"{url.host} is a metadata service of a cloud"
        return OK, ""

    def _address_rule(self, address: str, url: URL) -> tuple[str, str]:
        """Return the rule for dialling `address` on behalf of `url`, exceptions applied."""
        known = number(address)
        rule, detail = judge_address(address)
        lifted = self._granted(url) or any(grant.fits_address(known, url.port) for grant in self._grants)
        if known is not None and any(_is_own(known, url.port, own) for own in self._own):
            return "address.self", f"{address}:{url.port} is where webseam itself listens"
        if rule != OK and not (lifted and rule in LIFTABLE):
            return rule, detail
        if url.port not in self.ports and not lifted:
            return "port.denied", f"port {url.port} is allowed at other addresses only"
        return OK, ""

    def _granted(self, url: URL) -> bool:
        """True when the whole host is excepted, so that all of its addresses are."""
        return (self.origin is not None and not self.public) or any(grant.fits_host(url) for grant in self._grants)


def _parsed(url: str) -> URL | Verdict:
    try:
        return parse(url)
    except UrlRefused as refused:
        hint = f" ({refused.hint})" if refused.hint else ""
        return Verdict(False, refused.rule, detail=refused.problem + hint)


def _allowed(url: URL, addresses: tuple[str, ...]) -> Verdict:
    return Verdict(True, OK, url.host, url.port, addresses)


def _refused(url: URL, rule: str, detail: str) -> Verdict:
    return Verdict(False, rule, url.host, url.port, (), detail)


def _spelled(url: str) -> str:
    try:
        return parse(url).href
    except UrlRefused:
        return url


def _origin_of(base_url: str) -> str:
    try:
        return parse(base_url).origin
    except UrlRefused:
        return ""


def _tree_of(host: str, trees: Sequence[str]) -> str | None:
    return next((tree for tree in trees if host == tree or host.endswith("." + tree)), None)


def _is_own(address: tuple[int, int], port: int, own: tuple[tuple[int, int], int]) -> bool:
    listening, own_port = own
    if port != own_port:
        return False
    if listening not in _UNSPECIFIED:
        return address == listening
    return address in _UNSPECIFIED or any(_in_span(address, loopback) for loopback in _LOOPBACK)


def _in_span(address: tuple[int, int], network: Span) -> bool:
    return address[0] == network[0] and network[1] <= address[1] <= network[2]


def _entries(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Collection):
        raise RequestError(name, "must be a list", hint="wrap a single entry in a list")
    return tuple(str(entry).strip() for entry in value)


def _web_ports(value: object) -> frozenset[int]:
    if isinstance(value, Collection) and all(type(port) is int and 0 < port <= MAX_PORT for port in value):
        return frozenset(value)
    raise RequestError("ports", f"must be a list of numbers from 1 to {MAX_PORT}")


def _split_entry(entry: str) -> tuple[str, str]:
    """Return the body of an entry without brackets and the text of its port, "" for none."""
    if entry.startswith("["):
        body, bracket, port = entry[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            raise ValueError("its brackets do not match")
        return body, port[1:]
    if entry.count(":") > 1:
        return entry, ""
    body, _, port = entry.partition(":")
    return body, port


def _read_grant(entry: str) -> _Grant:
    try:
        body, port_text = _split_entry(entry)
        port = port_number(port_text) if port_text else None
        if "/" in body or ":" in body:
            return _Grant(port, addresses=span(body))
        below = body.startswith("*.")
        host, address = canonical_host(body.removeprefix("*."))
        if address is None:
            return _Grant(port, host=host, below=below)
        if below:
            raise ValueError("nothing lies below an address")
        return _Grant(port, addresses=span(address))
    except (UrlRefused, ValueError) as error:
        problem = error.problem if isinstance(error, UrlRefused) else str(error)
        hint = "write a host, *.host, an address or a network such as 10.0.0.0/8, each with an optional :port"
        raise RequestError("allow", f"{quote(entry)!r} cannot be read: {quote(problem)}", hint=hint) from None


def _read_own(entry: str) -> tuple[tuple[int, int], int]:
    try:
        body, port_text = _split_entry(entry)
        address = number(body)
        if address is not None:
            return address, port_number(port_text)
    except (UrlRefused, ValueError):
        pass
    raise RequestError("own", f"{quote(entry)!r} is not address:port", hint="put an IPv6 address in brackets")
