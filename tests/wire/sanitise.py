"""Makes a recorded answer fit to be kept: other people's words, and all that points at the person who asked, replaced.

What stays is what a parser reads: structure, types, nulls, markup, dates, small numbers, and what the service says
about itself. Replacements are of the same form, and the same everywhere. Sanitising twice changes nothing more. Whether
anything was missed is not for this module to say: that is `leaks`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from tests.wire.fields import is_account, is_choice, is_date, is_identifier, is_service_s, is_total, plain
from tests.wire.wording import Wording
from webseam.providers.dates import published_day

_ENUMERATION = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]{0,39}(?: [A-Za-z]{1,20})?")
_NAMES: Final = ("name", "id", "slug")
_ANYBODY: Final = frozenset("free user admin default owner member team personal none null basic standard".split())
_RELATIVE = re.compile(r"\s*\d{1,4} (?:minute|min|hour|day)s? ago\s*", re.IGNORECASE | re.ASCII)
_COARSE = re.compile(r"\s*(?:(?:\d{1,4}|an?) \w+ ago|yesterday|today)\s*", re.IGNORECASE | re.ASCII)
_CHOICE = re.compile(r"[a-z][a-z_-]{0,30}|[a-z]{2}-[A-Z]{2}|\d{1,4}", re.ASCII)
_BARE = re.compile(r"[\w.:/+=~-]{1,2000}", re.ASCII)  # an identifier has no spaces
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_POINTING, _LARGE = 5, 9  # digits of a number that may be somebody's, under a name that says so and anywhere


class Sanitiser:
    """Sanitises everything of one recording.

    Args:
        secrets: keys, cookies and passwords in use.
        own: domains of the service itself, which stay.
        queries: what was searched for; it becomes the query of every case.
        hide: further words that say who the person is.
        keep: names of fields whose words are the service's own.

    Attributes:
        kept: words that stayed as they are, to be shown to the person.
    """

    def __init__(
        self,
        *,
        secrets: Iterable[str] = (),
        own: Iterable[str] = (),
        queries: Iterable[str] = (),
        hide: Iterable[str] = (),
        keep: Iterable[str] = (),
    ) -> None:
        self.kept: dict[str, None] = {}
        self._wording = Wording(secrets=secrets, own=own, queries=queries)
        self._keep = frozenset(map(plain, keep))
        for words in hide:
            self._wording.learn(words, self._wording.account(words))

    @property
    def replaced(self) -> Mapping[str, int]:
        """How many of each sort were replaced."""
        return +self._wording.replaced

    def learn_identifier(self, text: str) -> None:
        """Replace an identifier wherever it stands from now on."""
        if self._wording.known(text) == text:  # a secret is known as one
            self._wording.learn(text, self._wording.identifier(text))

    def learn_from(self, document: Any, name: str = "", *, account: bool = False) -> None:
        """Note the names and identifiers of accounts in an answer: other answers may repeat them in a sentence."""
        if isinstance(document, dict):
            for inner, value in document.items():
                self.learn_from(value, inner, account=account or is_account(inner))
        elif isinstance(document, list):
            for value in document:
                self.learn_from(value, name, account=account)
        elif isinstance(document, str) and account and _names_somebody(document, name):
            self._wording.learn(document, self._wording.account(document))

    def body(self, text: str, *, contents: bool) -> dict[str, Any]:
        """Return a body as cases state it, as `json` or `text`. `contents`: it holds other people's words."""
        try:
            return {"json": self.value(json.loads(text), contents=contents)}
        except (ValueError, RecursionError):
            return {"text": self._plain_body(text, contents)}

    def text(self, text: str) -> str:
        """Return words of the service itself."""
        return self._wording.text(text, contents=False)

    def _plain_body(self, text: str, contents: bool) -> str:
        lines = _LINE.findall(text)
        if not any(line.startswith("data:") for line in lines[:3]):
            return self._wording.text(text, contents=contents)
        made = []
        for is_data, group in groupby(lines, lambda line: line.startswith("data:")):
            found = list(group)
            made += self._data(found, contents) if is_data else [self._event_line(line, contents) for line in found]
        return "".join(made)

    def _data(self, lines: list[str], contents: bool) -> list[str]:
        """Return the data of one event: as one line where they are JSON, however many they were."""
        document = _json_in("\n".join(line[5:].strip("\r\n") for line in lines))
        if document is None:
            return [self._event_line(line, contents) for line in lines]
        end = lines[-1][len(lines[-1].rstrip("\r\n")) :]
        return [f"data: {json.dumps(self.value(document, contents=contents), ensure_ascii=False)}{end}"]

    def value(self, value: Any, name: str = "", *, contents: bool, account: bool = False) -> Any:
        """Return a JSON value of the same structure and types.

        Args:
            name: of the entry it stands under. account: it is about somebody's account.
        """
        if isinstance(value, dict):
            made: dict[str, Any] = {}
            for inner, below in value.items():
                place = self._wording.text(inner, contents=" " in inner)
                while place in made:
                    place += "-"
                made[place] = self.value(below, inner, contents=contents, account=account or is_account(inner))
            return made
        if isinstance(value, list):
            return [self.value(one, name, contents=contents, account=account) for one in value]
        if isinstance(value, str):
            return self._string(value, name, contents=contents, account=account)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._integer(value, name, account=account)
        return value

    def setting(self, value: Any) -> Any:
        """Return a setting of the provider's own section: what is no plain choice points at the person."""
        if isinstance(value, list | tuple):
            return [self.setting(one) for one in value]
        if not isinstance(value, str) or _CHOICE.fullmatch(value):
            return value
        made = self._wording.account(value)
        self._wording.learn(value, made)
        return made

    def rule(self, domain: str) -> str:
        """Return a domain rule of a search that covers what it covered."""
        return self._wording.places.bare(domain)

    def _event_line(self, line: str, contents: bool) -> str:
        """Return one line of an event stream."""
        content = line.rstrip("\r\n")
        end = line[len(content) :]
        field, colon, rest = content.partition(":")
        space = " " if rest.startswith(" ") else ""
        if field == "id":
            rest = space + self._wording.identifier(rest.strip())
        elif field not in ("event", "retry"):
            rest = self._wording.text(rest, contents=contents)
        return field + colon + rest + end

    def _integer(self, value: int, name: str, *, account: bool) -> int:
        digits = str(abs(value))
        pointing = account or is_account(name) or is_identifier(name)
        if len(digits) < (_POINTING if pointing else _LARGE):
            return value
        if not pointing and (is_total(name) or is_date(name, value)):
            return value
        return int(self._wording.number(digits)) * (-1 if value < 0 else 1)

    def _string(self, value: str, name: str, *, contents: bool, account: bool) -> str:
        inner = _json_in(value)
        if inner is not None:
            return json.dumps(self.value(inner, contents=contents, account=account), ensure_ascii=False)
        if published_day(value) is not None or _COARSE.fullmatch(value):
            return _day(value)
        said = (is_choice(name) and _ENUMERATION.fullmatch(value)) or plain(name) in self._keep
        if account and not (said and value.islower() and value.isalpha()):
            return self._wording.account(value)
        if is_identifier(name) and _BARE.fullmatch(value) and "://" not in value:
            return self._wording.identifier(self._wording.known(value))
        if contents and not said and not is_service_s(name):
            return self._wording.text(value, contents=True)
        made = self._wording.text(value, contents=False)
        if made == value.strip() != "":
            self.kept[value] = None
        return made


def _names_somebody(text: str, name: str) -> bool:
    return (is_account(name) or plain(name) in _NAMES) and text.lower() not in _ANYBODY


def _json_in(text: str) -> Any:
    """Return the object or list that a text is the JSON of, or the JSON text of one, for some encode twice; or None."""
    if text.strip()[:1] not in ("{", "[", '"'):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_text_of_one = isinstance(document, str) and _json_in(document) is not None
    return document if isinstance(document, dict | list) or is_text_of_one else None


def _day(value: str) -> str:
    """Return a date as it is, but one counted from today as the day it is: the case would age with each day."""
    if not _RELATIVE.fullmatch(value):
        return value
    day = datetime.fromisoformat(str(published_day(value)))
    return f"{day:%b} {day.day}, {day.year}"
