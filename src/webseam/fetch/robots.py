"""What a site's robots.txt says about a page: RFC 9309, read from bytes.

The parser is our own because a refusal must name the rule it rests on, and because what there is for Python reads the
standard more freely than it allows, in both directions: an agent's name taken for a longer one, an unknown line that
ends a group, a `$` that is also a literal, bytes that are not UTF-8 made equal.

Nothing here decides whether robots.txt is obeyed; that is a setting.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from webseam.errors import EgressDenied, TransportError
from webseam.net import Response, parse
from webseam.text import quote

__all__ = ["Get", "Robots", "RobotsVerdict", "Rules", "read_rules"]

Get = Callable[[str], Awaitable[Response]]  # one GET, its redirects followed

TOKEN: Final = "webseam"  # noqa: S105 - RFC 9309 calls the name of a crawler its product token
MAX_SIZE: Final = 500 * 1024  # bytes that are read: RFC 9309, 2.5 asks for no less
MAX_AGE: Final = 86_400.0  # seconds: RFC 9309, 2.4
MAX_STALE: Final = 30 * 86_400.0  # seconds for which a copy stands in for a server that fails: RFC 9309, 2.3.1.4
FAILURE_AGE: Final = 60.0  # seconds until a server that answered with a fault is asked again
MAX_ORIGINS: Final = 512
MAX_WEIGHT: Final = 8 * 2**20  # bytes of rules, of all origins together
_RULE_WEIGHT: Final = 200  # bytes a rule takes up besides its text
_INLINE_SIZE: Final = 8 * 1024  # bytes that are read in the event loop: 6 ms; a hostile file of full size takes 0.5 s
_INLINE_RULES: Final = 500  # tried in the event loop: 20 ms at worst; all that fit into a file can take 2 s

_END_OF_LINE: Final = re.compile(rb"\r\n?|\n")
_MARKUP: Final = re.compile(rb"\s*<(?:!doctype|!--|html|head|body|\?xml)", re.IGNORECASE)
_NUMBER: Final = re.compile(rb"\d{1,6}(?:\.\d{0,6})?")
# RFC 9309, 2.2.4 lets a reader be lenient; these are what site owners really write.
_KEYS: Final = {
    b"user-agent": "agent",
    b"useragent": "agent",
    b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"diasllow": "disallow",
    b"disallaw": "disallow",
    b"crawl-delay": "delay",
}
_WITHOUT_COLON: Final = re.compile(rb"(user-?agent|(?:dis)?allow)[ \t]+(\S+)", re.IGNORECASE)

_ESCAPED: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_TO_ESCAPE: Final = re.compile(rb"[^!-~]|[\"<>\\^`{|}#]")
_APART_IN_PATH: Final = frozenset(b"/?#%*$")  # escaped, they are another character than plain
_APART_IN_QUERY: Final = frozenset(b"#%*$")


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a site wants a page to be read by programs.

    Attributes:
        rule: the line that decided, as "Disallow: /private"; None when no line did.
        crawl_delay: seconds that the site asks to leave between two requests; None when it does not.
        reason: what the verdict rests on, in words.
    """

    allowed: bool
    rule: str | None
    crawl_delay: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: Literal["allow", "disallow"]
    written: bytes
    parts: tuple[bytes, ...]  # what stands between the asterisks
    anchored: bool
    length: int  # octets of the pattern: the longest that matches decides

    def matches(self, path: bytes) -> bool:
        first, *rest = self.parts
        if not path.startswith(first):
            return False
        if not rest:
            return len(path) == len(first) or not self.anchored
        position = len(first)
        for part in rest[:-1]:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        if self.anchored:
            return len(path) - len(rest[-1]) >= position and path.endswith(rest[-1])
        return path.find(rest[-1], position) >= 0

    def __str__(self) -> str:
        return f"{self.kind.capitalize()}: {self.written.decode('utf-8', 'replace')}"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a robots.txt says to one agent; the rule that decides before others comes first."""

    rules: tuple[_Rule, ...] = ()
    crawl_delay: float | None = None

    @property
    def weight(self) -> int:
        """Return about how many bytes of memory the rules take up."""
        return sum(_RULE_WEIGHT + len(rule.written) for rule in self.rules)

    def deciding(self, target: str) -> tuple[bool, str | None]:
        """Return whether a path with its query is allowed, and the line that says so."""
        path = _canonical(target.encode(), pattern=False)
        if path == b"/robots.txt":
            return True, None
        rule = next((rule for rule in self.rules if rule.matches(path)), None)
        return (True, None) if rule is None else (rule.kind == "allow", quote(str(rule)))


def read_rules(content: bytes, token: str = TOKEN) -> Rules:
    """Return what a robots.txt says to the agent `token`: its own groups taken together, else those of everyone."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        content = content.decode("utf-16", "replace").encode()
    content = content.removeprefix(b"\xef\xbb\xbf")
    if len(content) > MAX_SIZE:
        cut = content[:MAX_SIZE]
        content = cut[: max(cut.rfind(b"\n"), cut.rfind(b"\r")) + 1]  # half a pattern would match more than the whole
    if _MARKUP.match(content):
        return Rules()
    own, everyone = _Group(), _Group()
    speaking: list[_Group] = []
    naming = False  # whether the line before it named an agent, so that one more belongs to the same group
    for key, value in _lines(content):
        if key == "agent":
            if not naming:
                speaking = []
            naming = True
            agent = _agent(value)
            group = everyone if agent == "*" else own if agent == token.lower() else None
            if group is not None and group not in speaking:
                group.named = True
                speaking.append(group)
        elif key == "delay":
            for group in speaking:
                group.slow_down(value)
        else:
            naming = False
            for group in speaking:
                group.add(key, value)
    return (own if own.named else everyone).rules()


class _Group:
    def __init__(self) -> None:
        self.named = False
        self._found: dict[tuple[str, bytes], _Rule] = {}  # some files say the same thing a thousand times
        self._delay: float | None = None

    def add(self, key: Literal["allow", "disallow"], value: bytes) -> None:
        # Others match no path; an empty one says that nothing is meant.
        if value.startswith((b"/", b"*", b"$")) and (key, value) not in self._found:
            self._found[key, value] = _rule(key, value)

    def slow_down(self, value: bytes) -> None:
        if _NUMBER.fullmatch(value):
            self._delay = max(self._delay or 0.0, float(value))

    def rules(self) -> Rules:
        # Of two as long "allow" wins, which its place in the alphabet sees to.
        ordered = sorted(self._found.values(), key=lambda rule: (-rule.length, rule.kind))
        return Rules(tuple(ordered), self._delay)


def _lines(content: bytes) -> Iterator[tuple[Literal["agent", "allow", "disallow", "delay"], bytes]]:
    """Yield the lines that mean something to us. Others, known or not, must not come between those of a group."""
    for line in _END_OF_LINE.split(content):
        line = line.partition(b"#")[0].strip()
        name, colon, value = line.partition(b":")
        key = _KEYS.get(name.strip().lower()) if colon else None
        if key is None and (found := _WITHOUT_COLON.fullmatch(line)):
            name, value = found.groups()
            key = _KEYS[name.lower()]
        if key is not None:
            yield key, value.strip()  # type: ignore[misc]


def _agent(value: bytes) -> str:
    """Return the product token that a line names: without a version, and without what else stands there."""
    words = value.split()
    name = words[0].partition(b"/")[0].decode("latin-1").lower() if words else ""
    return name if name == "*" else name.rstrip("*")


def _rule(kind: Literal["allow", "disallow"], written: bytes) -> _Rule:
    anchored = written.endswith(b"$")
    pattern = re.sub(rb"\*+", b"*", _canonical(written[:-1] if anchored else written, pattern=True))
    return _Rule(kind, written, tuple(pattern.split(b"*")), anchored, len(pattern) + anchored)


def _canonical(text: bytes, *, pattern: bool) -> bytes:
    """Return a path with its query in the one form in which two spellings of it are equal: RFC 9309, 2.2.2.

    Escapes are undone where that changes no meaning, and what no URL holds is escaped. In a `pattern` an asterisk is
    left as it is; in a path it is escaped, so that only an escaped one in a pattern stands for it.
    """
    path, mark, query = text.partition(b"?")
    whole = _undo(path, _APART_IN_PATH) + mark + _undo(query, _APART_IN_QUERY)
    whole = _TO_ESCAPE.sub(lambda found: b"%%%02X" % found[0][0], whole).replace(b"$", b"%24")
    return whole if pattern else whole.replace(b"*", b"%2A")


def _undo(text: bytes, apart: frozenset[int]) -> bytes:
    def plain(found: re.Match[bytes]) -> bytes:
        octet = int(found[1], 16)
        return found[0].upper() if octet in apart or not 0x21 <= octet <= 0x7E else bytes([octet])

    return _ESCAPED.sub(plain, text)


@dataclass(slots=True)
class _Known:
    """What was last heard of an origin's robots.txt."""

    rules: Rules | None  # None: the server failed, and there was no copy
    read_at: float  # when the rules came
    ask_at: float  # when to ask again
    reason: str


class Robots:
    """The robots.txt files of the sites met, each remembered for a day. Belongs to one event loop.

    Args:
        token: the name by which we go in them.
        clock: seconds, from wherever.
    """

    def __init__(self, token: str = TOKEN, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._token = token
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()  # by origin, the last used at the end
        self._weight = 0
        self._asking: dict[str, tuple[asyncio.Lock, int]] = {}

    async def verdict(self, url: str, *, get: Get) -> RobotsVerdict:
        """Return whether `url` may be read. `get` is called for its site's robots.txt unless that is known.

        Several at once ask a site once; the wait for another's question is bounded by the caller.

        Raises:
            EgressDenied: the URL cannot be read, or its site may not be asked anything.
        """
        read = parse(url)
        origin = read.origin
        target = read.href.partition("://")[2].partition("/")[2]
        if target == "robots.txt":
            return RobotsVerdict(True, None, None, "robots.txt itself may always be read")
        known = self._recall(origin)
        if known is None:
            async with self._one_at_a_time(origin):
                known = self._recall(origin)
                if known is None:
                    known = await self._ask(origin, parse(f"{origin}/robots.txt").href, get)
        if known.rules is None:
            return RobotsVerdict(False, None, None, known.reason)
        decide = partial(known.rules.deciding, "/" + target)
        many = len(known.rules.rules) > _INLINE_RULES
        allowed, rule = await asyncio.to_thread(decide) if many else decide()
        reason = known.reason
        if rule is not None:
            reason += f", and the line {rule!r} decides for {self._token}"
        elif known.rules.rules:
            reason += ", and no line of it speaks of this page"
        return RobotsVerdict(allowed, rule, known.rules.crawl_delay, reason)

    def _recall(self, origin: str) -> _Known | None:
        known = self._known.get(origin)
        if known is None or self._clock() >= known.ask_at:
            return None
        self._known.move_to_end(origin)
        return known

    async def _ask(self, origin: str, url: str, get: Get) -> _Known:
        try:
            response = await get(url)
        except TransportError as error:
            now = self._clock()
            if error.kind == "redirects":  # RFC 9309, 2.3.1.2: more than five may count as none
                return self._remember(origin, _Known(Rules(), now, now + MAX_AGE, f"{url} only redirects"))
            # Not remembered: the time that was too short was one caller's.
            return self._stale(origin, f"{url} could not be read ({quote(error.detail)})", now)
        except EgressDenied as denied:
            if denied.rule != "redirect.blocked":
                raise
            return self._stale(origin, f"{url} leads to where we may not go", self._clock())
        now = self._clock()
        if response.status >= 500:
            failed = self._stale(origin, f"{url} answered {response.status}", now)
            return self._remember(origin, failed)
        if not 200 <= response.status < 300:
            reason = f"{url} answered {response.status}, so there is none"
            return self._remember(origin, _Known(Rules(), now, now + MAX_AGE, reason))
        read = partial(read_rules, response.body, self._token)
        rules = await asyncio.to_thread(read) if len(response.body) > _INLINE_SIZE else read()
        reason = f"{url} was read" if rules.rules else f"{url} has no rules for {self._token}"
        return self._remember(origin, _Known(rules, now, now + MAX_AGE, reason))

    def _stale(self, origin: str, reason: str, now: float) -> _Known:
        """Return the copy that stands in for a server that fails; without one all is refused: RFC 9309, 2.3.1.4."""
        before = self._known.get(origin)
        if before is not None and before.rules is not None and now - before.read_at < MAX_STALE:
            return _Known(before.rules, before.read_at, now + FAILURE_AGE, f"{reason}; its last copy was taken")
        reason = f"{reason}, which RFC 9309 counts as a refusal of everything"
        return _Known(None, now, now + FAILURE_AGE, reason)

    def _remember(self, origin: str, known: _Known) -> _Known:
        self._forget(origin)
        self._known[origin] = known
        self._weight += known.rules.weight if known.rules else 0
        while len(self._known) > MAX_ORIGINS or (self._weight > MAX_WEIGHT and len(self._known) > 1):
            self._forget(next(iter(self._known)))
        return known

    def _forget(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        if known is not None and known.rules:
            self._weight -= known.rules.weight

    @asynccontextmanager
    async def _one_at_a_time(self, origin: str) -> AsyncIterator[None]:
        """Let one caller ask; should it go away, the next one asks."""
        lock, waiting = self._asking.get(origin, (asyncio.Lock(), 0))
        self._asking[origin] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._asking[origin]
            if waiting > 1:
                self._asking[origin] = lock, waiting - 1
            else:
                del self._asking[origin]
