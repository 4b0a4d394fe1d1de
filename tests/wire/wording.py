"""Texts of a recorded answer, piece by piece: what points at somebody is replaced, and other people's words on demand.

One pattern cuts a text into URLs, addresses, tokens and so on, and each piece is replaced by one of its own kind. What
is between them is words: a page's are invented, the service's own stay, since a verdict is read from them.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count, groupby
from typing import Final
from urllib.parse import quote, quote_plus, unquote

from tests.wire import QUERY, invented
from tests.wire.invented import KEY, LONGEST, PREFIXED, SHORT_ID, UUID, Table, is_random
from tests.wire.places import HOST, URL, Places
from webseam.net.redact import REDACTED, Redactor

# The words before a colon in results that come as text; a parser looks for them.
_LABELS = (
    r"^\s*(?:\[\d{1,3}\]\s*)?(?:Title|URL|Link|Source|Published(?: Date)?|Date|Author|Highlights?|Text|Summary|Snippet"
    r"|Description|Content|ID|Score|Site):"
)
_MOMENT = r"(?<![\w-])(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"
_ADDRESS = (
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)"
    r"|(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?![\w:])"
)
_ENTITIES = "amp lt gt quot apos nbsp hellip mdash ndash middot raquo laquo rsquo lsquo rdquo ldquo bull #39 #34 #x27"
_PIECES = re.compile(
    r"(?P<script><(?P<raw>script|style)\b[^<>]*>.*?</(?P=raw)>)|(?P<comment><!--.*?-->)|(?P<tag><[/!]?[A-Za-z][^<>]*>)"
    rf"|(?P<label>{_LABELS}|\bN/A\b|{_MOMENT})|(?P<data>(?<!\w)data:[\w./+-]*(?:;[\w=-]+)*,[A-Za-z0-9+/=%_-]*)|(?P<url>{URL})"
    r"|(?P<encoded>(?i:https?%3A%2F%2F)[\w.%~+-]+)"
    r"|(?P<email>[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})"
    rf"|(?P<address>{_ADDRESS})"
    rf"|(?P<host>{HOST})"
    r"|(?P<phone>\+1-555-01\d\d|(?<!\w)(?!\+[0-9a-f]{8}-[0-9a-f]{4}-)\+\d(?:[ ().-]{0,2}\d){7,14}(?!\w))"
    rf"|(?P<entity>&(?:{'|'.join(_ENTITIES.split())});|%(?:0[9AD]|2[0-9A-F]|3[A-F]|5[B-F]|7[B-E]))"
    r"|(?P<masked>[\w-]{2,}(?:\*{3,}|•{3,}|…)[\w-]*|(?:\*{3,}|•{3,})\w[\w-]+)"
    r"|(?P<token>(?<!%)(?<!%[0-9A-Fa-f])(?!https?://)[A-Za-z0-9](?:(?!https?://)[A-Za-z0-9+/_=~-]){5,})",
    re.DOTALL | re.MULTILINE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/<>"']+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)""")
_LINKS: Final = frozenset("href src action srcset poster cite formaction data-src data-href".split())
_SHOWN: Final = frozenset("title alt content placeholder aria-label label summary".split())
_PLAIN_VALUE = re.compile(r"[a-z]{0,24}|[a-z]{2}-[A-Za-z]{2}|\d{1,4}")
# Somebody's name after the word that says whose. Words of limits follow these too, and a verdict is read from them.
_NAMED = re.compile(
    r"(\b(?:[Aa]ccount|[Oo]rgani[sz]ation|[Oo]rg|[Ww]orkspace|[Tt]eam|[Pp]roject|[Tt]enant|[Uu]ser|[Cc]ustomer|[Cc]ompany)"
    r"(?: (?:name|id|is|for))?(?: named| called|[:=#])? ?)"
    r"([\"'`“‘][^\"'`”’\n]{1,80}[\"'`”’]"
    r"|(?![\w-]*(?:limit|rate|quota|credit|found|exceed))(?=[A-Za-z.]*[0-9-])[A-Za-z0-9][\w.-]*"
    r"|(?:(?<=named )|(?<=called )|(?<=[:=])|(?<=[:=] ))[A-Z][\w-]*(?: [A-Z][\w-]*)*)"
)
_LONG = 6  # digits that are no year, price or port
_PROSE = 2_000  # characters of a page's text that are kept; a parser treats longer ones no differently
_FRAGMENT = 8  # characters in a row of a secret that are too many anywhere
_TAILS = (4, 5, 6, 7)  # of a secret's last characters, as a word of their own: "the key ending in 9f2c"


class Wording:
    """Replaces in texts, always the same by the same.

    Args:
        secrets: become `KEY` in every spelling.
        own: domains of the service itself.
        queries: what was searched for; it becomes the query of all cases.

    Attributes:
        replaced: how many of each sort.
    """

    def __init__(self, *, secrets: Iterable[str], own: Iterable[str], queries: Iterable[str]) -> None:
        self.replaced: Counter[str] = Counter()
        self.places = Places(own, address=self.address, part=self._part)
        known = sorted({secret for secret in secrets if secret}, key=lambda secret: (-len(secret), secret))
        self._redact = Redactor(known)
        self._fragments = frozenset(
            secret[at : at + _FRAGMENT] for secret in known for at in range(len(secret) - _FRAGMENT + 1)
        )
        tails = {re.escape(secret[-size:]) for secret in known if len(secret) > 2 * _FRAGMENT for size in _TAILS}
        self._tails = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(tails))})(?!\w)") if tails else None
        self._learned: dict[str, str] = {}
        self._ids, self._numbers, self._emails, self._phones, self._addresses = (Table() for _ in range(5))
        for query in queries:
            self.learn(query, QUERY)

    def learn(self, original: str, instead: str) -> None:
        """Replace `original` wherever it stands from now on, also inside a URL."""
        if len(original) > 2 and original != instead:
            self._learned |= {original: instead, quote(original, safe=""): quote(instead, safe="")}
            self._learned |= {quote_plus(original): quote_plus(instead)}

    def text(self, text: str, *, contents: bool) -> str:
        """Return a text; `contents` says that its words are other people's."""
        text = self.known(text)
        if text in self.places:
            return self.places.host(text)
        if contents and len(text) > _PROSE and "<" not in text and not re.search(_LABELS, text, re.MULTILINE):
            text = text[:_PROSE].rpartition(" ")[0] or text[:_PROSE]
        if not contents:
            text = _NAMED.sub(self._named, text)
        made, done, at = [], 0, 0
        while found := _PIECES.search(text, at):
            at = found.end()
            if found["token"] and not _is_special(found[0]):  # a word, or the start of one in several scripts
                slash = found[0].find("/") + 1  # what follows may be a host
                at = found.start() + slash if slash else at
                continue
            made += [self._between(text[done : found.start()], contents), self._piece(found, contents)]
            done = at
        made.append(self._between(text[done:], contents))
        return "".join(_apart(made))

    def known(self, text: str) -> str:
        """Return a text without what was known before: secrets, names of accounts, the query."""
        text = self._without_secrets(text)
        for original in sorted(self._learned, key=len, reverse=True):
            if original.casefold() in text.casefold():
                pattern = re.compile(rf"(?:(?<!\w)|(?<=%[0-9A-Fa-f]{{2}})){re.escape(original)}(?!\w)", re.IGNORECASE)
                text, times = pattern.subn(lambda _, to=self._learned[original]: to, text)  # type: ignore[misc]
                self.replaced["known name"] += times
        return text

    def identifier(self, text: str) -> str:
        """Return an identifier of the same form."""
        if invented.is_identifier(text):
            return text
        if invented.as_address(text):
            return self.address(text)
        return self._counted("identifier", self._ids.give(text, invented.identifiers(text)))

    def number(self, digits: str) -> str:
        """Return a number as long that is nobody's."""
        if invented.is_number(digits):
            return digits
        return self._counted("number", self._numbers.give(digits, invented.numbers(digits)))

    def address(self, text: str) -> str:
        """Return an IP address of the ranges for documentation."""
        address = invented.as_address(text)
        if address is None or invented.is_address(address):
            return text
        ranges = ("2001:db8::",) if address.version == 6 else ("192.0.2.", "198.51.100.", "203.0.113.")
        proposals = (f"{network}{number}" for network in ranges for number in range(1, 255))
        return self._counted("IP address", self._addresses.give(str(address), proposals))

    def account(self, text: str) -> str:
        """Return what stands for the name or the number of an account."""
        text = self.known(text)
        if text.isdecimal() and len(text) >= _LONG:
            return self.number(text)
        if re.fullmatch(r"[\w-]+", text) and (PREFIXED.fullmatch(text) or is_random(text, SHORT_ID)):
            return self.identifier(text)
        return self.text(text, contents=True)

    def words(self, text: str, *, joint: str = " ") -> str:
        """Return invented words in the place of words; signs and short numbers stay."""
        made = []
        for is_run, group in groupby(text, invented.is_word):
            run = "".join(group)
            if not is_run:
                made.append(run)
            elif run.isascii() and run.isdecimal():
                made.append(run if len(run) < _LONG - 1 else self.number(run))
            else:
                made.append(joint.join(invented.word(run[at : at + LONGEST]) for at in range(0, len(run), LONGEST)))
        return "".join(made)

    # Pieces.

    def _between(self, text: str, contents: bool) -> str:
        return self.words(text) if contents else self._long_numbers(text)

    def _long_numbers(self, text: str) -> str:
        return re.sub(rf"(?a)\d{{{_LONG},}}", lambda found: self.number(found[0]), text)

    def _piece(self, found: re.Match[str], contents: bool) -> str:
        sort = next(name for name, piece in found.groupdict().items() if piece is not None)
        text = found[0]
        match sort:
            case "url":
                made = self.places.url(text)
            case "host":
                made = self.places.bare(text)
            case "encoded":
                made = quote(self.places.url(unquote(text)), safe="")
            case "email":
                made = self._email(text)
            case "address":
                made = self.address(text) if invented.as_address(text) else self._between(text, contents)
            case "phone":
                made = self._phone(text)
            case "token":
                made = self._token(text)
            case "tag":
                made = self._tag(text, contents)
            case "script":
                made = self._script(text, contents)
            case "comment":
                made = "<!-- -->"
            case "data":
                made = text.partition(",")[0] + ",AAAA"
            case "masked":
                made = KEY if contents or text.strip("*•…") else text
            case _:  # an entity, a label, a date
                made = text
        return self._counted(sort, made) if sort in ("url", "host", "masked") and made != text else made

    def _email(self, text: str) -> str:
        if invented.is_email(text):
            return text
        proposals = (f"someone{number or ''}@example.org" for number in count())
        return self._counted("e-mail address", self._emails.give(text.lower(), proposals))

    def _phone(self, text: str) -> str:
        if invented.is_phone(text):
            return text
        proposals = (f"+1-555-01{number:02d}" for number in range(100))
        return self._counted("telephone number", self._phones.give(text, proposals))

    def _token(self, text: str) -> str:
        made = UUID.sub(lambda found: self.identifier(found[0]), text)
        return made if made != text or UUID.search(text) else self.identifier(text)

    def _script(self, text: str, contents: bool) -> str:
        opening, mark, rest = text.partition(">")
        inside, end, name = rest.rpartition("</")
        return (
            self._tag(opening + mark, contents) + ("" if contents else self.text(inside, contents=False)) + end + name
        )

    def _tag(self, text: str, contents: bool) -> str:
        return _ATTRIBUTE.sub(lambda found: self._attribute(found, contents), text)

    def _attribute(self, found: re.Match[str], contents: bool) -> str:
        name, equals, value = found[1].lower(), found[2], found[3]
        mark = value[0] if value[0] in "\"'" else ""
        inside = html.unescape(value[1:-1] if mark else value)
        if name in _LINKS:
            made = self.places.url(inside) if "//" in inside[:8] else self.places.rest(inside, own=True)
        elif name in ("style", "integrity", "nonce"):
            made = ""
        elif name in _SHOWN or (name in ("value", "datetime") and not _PLAIN_VALUE.fullmatch(inside)):
            made = self.text(inside, contents=contents)
        else:
            made = self.text(inside, contents=False)
        return found[0] if made == inside else f"{found[1]}{equals}{mark}{html.escape(made)}{mark}"

    def _part(self, text: str) -> str:
        """Return words for a part of a URL."""
        if _is_special(text):
            return self._token(text)
        made = []
        for piece in re.split(f"({_ADDRESS})", text.replace("@", "-")):  # around that sign is somebody's address
            made.append(self.address(piece) if invented.as_address(piece) else self.words(piece, joint="-"))
        return "".join(made)

    def _named(self, found: re.Match[str]) -> str:
        who = found[2]
        if who[0] in "\"'`“‘":
            return found[1] + who[0] + self.account(who[1:-1]) + who[-1]
        return found[1] + (who if invented.is_identifier(who) else self.account(who))

    # Secrets.

    def _without_secrets(self, text: str) -> str:
        mark = "\ue000"  # the redactor's own mark may be somebody's words
        shown = self._redact(text.replace(REDACTED, mark)).replace(REDACTED, KEY).replace(mark, REDACTED)
        if self._fragments:
            shown = self._without_fragments(shown)
            shown = self._tails.sub(KEY, shown) if self._tails else shown
        self.replaced["secret"] += max(0, shown.count(KEY) - text.count(KEY))
        return shown

    def _without_fragments(self, text: str) -> str:
        made, at = [], 0
        while at < len(text):
            end = at
            while text[end : end + _FRAGMENT] in self._fragments:
                end += 1
            made.append(KEY if end > at else text[at])
            at = end + _FRAGMENT - 1 if end > at else at + 1
        return "".join(made)

    def _counted(self, sort: str, made: str) -> str:
        self.replaced[sort] += 1
        return made


def _apart(pieces: list[str]) -> Iterator[str]:
    """Yield words and pieces in turn, the words not grown onto the piece before.

    A word in another script ends a URL or an address; its stand-in is ASCII and would not.
    """
    before = ""
    for number, piece in enumerate(pieces):
        ends = before[-1:].isalnum() and before[0] not in "%&"
        grown = number % 2 == 0 and ends and piece[:1].isascii() and piece[:1].isalnum()
        yield f" {piece}" if grown else piece
        before = piece


def _is_special(token: str) -> bool:
    """True for what is no word: an identifier, or what looks drawn by chance."""
    known = UUID.search(token) or PREFIXED.fullmatch(token) or invented.is_stand_in(token)
    return bool(known or is_random(token, SHORT_ID))
