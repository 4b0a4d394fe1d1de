"""Values that stand for others in recorded cases: what they look like, and how they are told from real ones.

The sanitiser puts them in and the checker lets them pass, so both must agree on what is invented. An invented value is
recognised by its form alone: sanitising a sanitised answer changes nothing, and a case written by hand in the same
style passes too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from zlib import crc32

from tests.wire import QUERY

KEY = "EXAMPLE-KEY"

# No word here is a top-level domain: a dot between two of them must not make a host.
_LOREM = (
    "a e et ut ad ex sed non qui per cum nec amet enim quis nisi duis aute sint sunt quam erat ante arcu nunc lorem"
    " ipsum dolor magna minim velit culpa fugit novum tempor labore aliqua veniam mollit dictum mattis congue nostrud"
    " commodo officia feugiat viverra egestas volutpat pariatur deserunt interdum dignissim consequat voluptate"
    " excepteur fermentum incididunt adipiscing reprehendis condimentum scelerisque sollicitudin pellentesqua"
    " ullamcorpera"
).split()
# Words that carry no contents of anybody: those of a date in prose, and the query of every case.
_PLAIN = (
    f"{QUERY} ago minute minutes min mins hour hours day days week weeks month months year years yesterday today"
    " january february march april may june july august september october november december jan feb mar apr jun jul"
    " aug sep sept oct nov dec mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday"
    " someone key"
).split()
WORDS = frozenset(_LOREM) | frozenset(_PLAIN)
LONGEST = 12  # letters of an invented word
_BY_LENGTH = {length: [word for word in _LOREM if len(word) == length] for length in range(1, LONGEST + 1)}

# What comes before the mark in identifiers of the kind `req_7f3a…`. It says what the thing is, so it stays.
PREFIXES = "req org acct account user cus sub sess session trace team proj project run resp msg call srch search id"
_PREFIX = rf"(?:(?:{'|'.join(PREFIXES.split())})[-_])"
PREFIXED = re.compile(rf"{_PREFIX}(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{{6,}}")
UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_INVENTED_UUID = re.compile(r"0{8}-0{4}-[04]000-[08]000-0*\d{1,4}")
_STAND_IN = re.compile(rf"{_PREFIX}?(?=[^\d]*[\d])[aA0=+/_~.:-]{{5,}}\d{{1,4}}")
_INVENTED_ID = re.compile(rf"{_PREFIX}?[aA0=+/_~.:-]*\d{{0,4}}|[A-Za-z]{{1,8}}[-_.:#/ ]?\d{{0,3}}")
_INVENTED_NUMBER = re.compile(r"10*\d{0,3}|0+\d{0,3}|(\d)\1+")
_COUNTED = "1234567890" * 10  # as people write them by hand
_WORDLIKE = re.compile(r"[A-Z]?[a-z]{1,24}\d{0,3}|[A-Z]{1,16}\d{0,3}|\d{1,4}|(?:[A-Z]{0,8}[a-z]{2,16}){1,4}[A-Z]{0,4}")
_DAY = re.compile(r"(?:19|20)\d\d-\d\d-\d\d(?:T\d\d)?")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_VARIED = 6  # different characters; fewer are a pattern
SHORT_ID, RANDOM = 10, 16  # letters and digits from which on a mixture of them is an identifier, and a secret

_EXAMPLES = re.compile(r"(?:.+\.)?(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost)")
_DOCUMENTATION = tuple(
    map(ip_network, "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20 127.0.0.0/8 ::1 ::".split())
)
_PHONE = re.compile(r"\+1-555-01\d\d")


def is_word(character: str) -> bool:
    """True for what words are made of in any script, marks of letters included."""
    return unicodedata.category(character)[0] in "LNM"


def word(original: str) -> str:
    """Return an invented word of the same length (at most `LONGEST`) and in the same case, always the same one."""
    if original.lower() in WORDS:
        return original
    choice = _BY_LENGTH[max(1, min(len(original), LONGEST))]
    found = choice[crc32(original.lower().encode("utf-8", "surrogatepass")) % len(choice)]
    if original.isupper() and len(original) > 1:
        return found.upper()
    return found.capitalize() if original[:1].isupper() else found


def is_words(text: str) -> bool:
    """True when a text has no word that is not invented."""
    return all(run.lower() in WORDS or re.fullmatch(r"\d{1,4}", run) for run in re.findall(r"[^\W_]+", text))


def is_host(host: str) -> bool:
    """True for names and addresses that are kept free for examples, and for this machine."""
    address = as_address(host)
    return is_address(address) if address else _EXAMPLES.fullmatch(host.lower()) is not None


def as_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an IP address, or None when it is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_address(address: IPv4Address | IPv6Address) -> bool:
    """True for addresses of the documentation ranges and this machine's own."""
    return any(address in network for network in _DOCUMENTATION)


def is_email(address: str) -> bool:
    return is_host(address.rpartition("@")[2])


def is_phone(number: str) -> bool:
    return _PHONE.fullmatch(number) is not None


def is_number(digits: str) -> bool:
    """True for a long number that nobody has."""
    return _INVENTED_NUMBER.fullmatch(digits) is not None or digits in _COUNTED


def is_identifier(text: str) -> bool:
    """True for an identifier that is invented, or too plain to be anybody's."""
    if UUID.fullmatch(text):
        return _INVENTED_UUID.fullmatch(text) is not None
    return _INVENTED_ID.fullmatch(text) is not None or text == KEY or (text.isdecimal() and is_number(text))


def is_stand_in(token: str) -> bool:
    """True for what `identifiers` makes."""
    return _STAND_IN.fullmatch(token) is not None


def is_random(token: str, least: int = RANDOM) -> bool:
    """True when a token looks drawn by chance: a key, a hash, a session, as against words joined by marks."""
    if is_identifier(token):
        return False
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", _DAY.sub("", token)) if part and not is_stand_in(part)]
    core = "".join(parts)
    if len(core) < least or len(set(core)) < _VARIED:
        return False
    if all(_WORDLIKE.fullmatch(part) and not _is_jumble(part) for part in parts):
        return False
    return any(map(str.isalpha, core)) and (any(map(str.isdigit, core)) or any(map(_is_jumble, parts)))


def _is_jumble(letters: str) -> bool:
    """True for letters whose case changes too often for words set together."""
    return len(letters) >= 8 and len(_PIECE.findall(letters)) * 3 > len(letters)


class Table:
    """Stand-ins for originals: the same one for the same original, another for another."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def __contains__(self, original: str) -> bool:
        return original in self._given

    def __getitem__(self, original: str) -> str:
        return self._given[original]

    def give(self, original: str, proposals: Iterable[str]) -> str:
        """Return what stands for `original`: what already does, else the first proposal that is still free.

        What was given before stands for itself.
        """
        if original in self._taken:
            return original
        if original not in self._given:
            self._given[original] = next(one for one in proposals if one not in self._taken)
            self._taken.add(self._given[original])
        return self._given[original]


def identifiers(original: str) -> Iterable[str]:
    """Propose stand-ins for an identifier, of its length and with its kinds of characters."""
    if UUID.fullmatch(original):
        return (f"00000000-0000-4000-8000-{number:012d}" for number in range(1, 10_000))
    found = re.match(_PREFIX, original)
    prefix = found[0] if found else ""
    shape = "".join(map(_kind, original[len(prefix) :]))
    return (prefix + _ending(shape, number) for number in range(1, 10_000))


def numbers(digits: str) -> Iterable[str]:
    """Propose stand-ins for a long number, of its length."""
    return (_ending("1" + "0" * (len(digits) - 1), number) for number in range(1, 1_000))


def _kind(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character if character in "=+/_~.:-" else "-"


def _ending(shape: str, number: int) -> str:
    ending = str(number)
    return shape[: max(0, len(shape) - len(ending))] + ending
