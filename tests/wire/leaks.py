"""Says what in a wire case should not be public: secrets, identifiers, addresses of people and machines, real hosts.

It looks at the finished file and knows nothing of how it was made, so that it finds what the sanitiser missed. All
cases in these folders pass it, written by hand or recorded. What it takes wrongly for a leak may stand, as it is found,
in a list `allowed` of the case.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, unquote_plus, urlsplit

from tests.wire import invented
from tests.wire.fields import is_account, is_date, is_identifier, is_total
from tests.wire.invented import KEY, PREFIXED, SHORT_ID, UUID, is_random
from tests.wire.places import HOST, URL, is_below, owner
from webseam import providers
from webseam.net.redact import REDACTED, Redactor
from webseam.providers.dates import published_day

# Headers of an answer that a parser may read and that say nothing about who asked.
HEADERS: Final = re.compile(r"content-type|retry-after|(?:x-)?rate-?limit(?:-[a-z]+)*|www-authenticate|cf-mitigated")
_TAGS = re.compile(r"<[^<>]*>")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+/_=~-]{5,}")
_PLACEHOLDER = re.compile(r"\{\w+\}")  # of a template
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")  # what it stands for is looked at once it is decoded
_EMAIL = re.compile(r"[\w.+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}")
_FOUR = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)")
_SIX = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?![\w:])")
_PHONE = re.compile(r"\+1-555-01\d\d|(?<!\w)\+\d(?:[ ().-]{0,2}\d){7,14}(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d{9,}(?!\w)", re.ASCII)  # `_LARGE`
_POINTING, _LARGE = 5, 9  # digits of a number that may be somebody's, under a name that says so and anywhere
_FRAGMENT = 8  # characters in a row of a secret
_RUN = 12  # letters and digits of a secret with anything between them, such as spaces or markup
_SHOWN = 40  # characters of a finding that are shown
_INNER_DEPTH = 3  # encodings inside one another that are looked through


@dataclass(frozen=True, order=True)
class Leak:
    """One thing found.

    Attributes:
        where: the file, or the place in a document as a dotted path.
        what: the rule. shown: what was found; a secret's first characters only.
    """

    where: str
    what: str
    shown: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.shown}"


def own_domains(provider: str) -> tuple[str, ...]:
    """Return the domains that a provider's declaration names as its service's, or as whom that service asks."""
    declared = providers.get(provider)
    texts = (declared.base_url, declared.hint, declared.receives)
    hosts = {urlsplit(url).hostname or "" for text in texts for url in re.findall(URL, text)}
    hosts |= {found[0].partition("/")[0] for text in texts for found in re.finditer(HOST, text)}
    names = {f"{name.lower()}.com" for name in re.findall(r"\b[A-Z][A-Za-z]+\b", declared.receives)}
    return tuple(sorted({owner(host) for host in hosts if host and not invented.is_host(host)} | names))


def in_folder(folder: Path, provider: str) -> list[Leak]:
    """Return the leaks of every file of a provider's cases."""
    allowed: set[str] = set()
    texts = {path: path.read_text("utf-8") for path in sorted(folder.iterdir()) if path.is_file()}
    documents = {path: json.loads(text) for path, text in texts.items() if path.suffix == ".json"}
    for document in documents.values():
        allowed.update(document.get("allowed", ()))
    checker = Checker(own=own_domains(provider), allowed=allowed)
    return [
        Leak(f"{path.name} {leak.where}".strip(), leak.what, leak.shown)
        for path, text in texts.items()
        for leak in (checker.document(documents[path]) if path in documents else checker.text(text))
    ]


class Checker:
    """Looks for leaks.

    Args:
        own: domains of the service itself, see `own_domains`.
        secrets: what must not be there in any spelling. words: nor these, as they are or percent-encoded.
        allowed: findings that are none.
    """

    def __init__(
        self,
        *,
        own: Iterable[str] = (),
        secrets: Iterable[str] = (),
        words: Iterable[str] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        self._own = tuple(own)
        self._words = tuple(word.casefold() for word in words if word)
        self._secrets = tuple(secret for secret in secrets if secret)
        self._allowed = frozenset(allowed)
        self._redact, self._redact_shapes = Redactor(self._secrets), Redactor()
        self._pieces = frozenset(piece for secret in self._secrets for piece in _windows(secret, _FRAGMENT))
        self._runs = frozenset(run for secret in self._secrets for run in _windows(_squeezed(secret), _RUN))

    def document(self, document: Any) -> list[Leak]:
        """Return the leaks of a case, without those its own `allowed` names."""
        whole = json.dumps(document, ensure_ascii=False)
        shown = unquote_plus(whole).casefold()
        found = [*self._walk(document, ""), *self._secrets_in(whole)]
        found += [Leak("", "what was searched for or to be hidden", word) for word in self._words if word in shown]
        return sorted({leak for leak in found if leak.shown not in self._allowed})

    def text(self, text: str) -> list[Leak]:
        """Return the leaks of a text."""
        return sorted({leak for leak in self._string(text, "", "") if leak.shown not in self._allowed})

    def _walk(self, value: Any, where: str, name: str = "", *, account: bool = False) -> Iterator[Leak]:
        if isinstance(value, dict):
            if name == "headers":
                yield from self._headers(value, where)
            for inner, below in value.items():
                if inner == "allowed" and not where:
                    continue
                yield from self._string(inner, where, "")
                yield from self._walk(
                    below, f"{where}.{inner}".lstrip("."), inner, account=account or is_account(inner)
                )
        elif isinstance(value, list):
            for number, below in enumerate(value):
                yield from self._walk(below, f"{where}.{number}", name, account=account)
        elif isinstance(value, str):
            yield from self._string(value, where, name)
            if is_account(name) and not _is_nobody(value):
                yield Leak(where, "names an account", _cut(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            digits = str(abs(value))
            pointing = account or is_account(name) or is_identifier(name)
            harmless = not pointing and (is_total(name) or is_date(name, value))
            if len(digits) >= (_POINTING if pointing else _LARGE) and not (harmless or invented.is_number(digits)):
                yield Leak(where, "a number that may be somebody's", digits)

    def _headers(self, headers: dict[str, Any], where: str) -> Iterator[Leak]:
        if where == "request.headers" or where.startswith("sent."):  # what is asked, by an official client or by us
            return
        for name, value in headers.items():
            if not HEADERS.fullmatch(name.lower()) and not invented.is_identifier(str(value)):
                yield Leak(f"{where}.{name}", "a header that no parser needs", _cut(str(value)))

    def _string(self, text: str, where: str, name: str, depth: int = 0) -> Iterator[Leak]:
        for leak in self._secrets_in(text):
            yield Leak(where, leak.what, leak.shown)
        shaped = _PLACEHOLDER.sub(REDACTED, text.replace(KEY, REDACTED))
        if self._redact_shapes(shaped) != shaped:
            yield Leak(where, "has the form of a secret", _cut(_difference(shaped, self._redact_shapes(shaped)), 6))
        yield from (Leak(where, what, found) for what, found in self._tokens(text, name))
        yield from (Leak(where, what, found) for what, found in self._addresses(text, name))
        yield from (Leak(where, "a real host", host) for host in self._hosts(text))
        if depth < _INNER_DEPTH:
            for inner in {*_decoded(text)} - {text}:
                yield from self._string(inner, where, name, depth + 1)

    def _secrets_in(self, text: str) -> Iterator[Leak]:
        if not self._secrets:
            return
        if self._redact(text) != self._redact_shapes(text):
            yield Leak("", "a secret", REDACTED)
        bare = _squeezed(html.unescape(_TAGS.sub("", text)))
        if any(piece in text for piece in self._pieces) or any(run in bare for run in self._runs):
            yield Leak("", "a part of a secret", REDACTED)

    @staticmethod
    def _tokens(text: str, name: str) -> Iterator[tuple[str, str]]:
        yield from (("an identifier", one) for one in UUID.findall(text) if not invented.is_identifier(one))
        least = SHORT_ID if is_identifier(name) else invented.RANDOM
        for token in _TOKEN.findall(_ENCODED.sub(" ", UUID.sub("", text))):
            if PREFIXED.fullmatch(token) and not invented.is_identifier(token):
                yield "an identifier", token
            elif is_random(token, least):
                yield "drawn by chance, as a key or a session is", _cut(token, 6)

    @staticmethod
    def _addresses(text: str, name: str) -> Iterator[tuple[str, str]]:
        yield from (("an e-mail address", one) for one in _EMAIL.findall(text) if not invented.is_email(one))
        yield from (("a telephone number", one) for one in _PHONE.findall(text) if not invented.is_phone(one))
        for found in [*_FOUR.findall(text), *_SIX.findall(text)]:
            address = invented.as_address(found)
            if address and not invented.is_address(address):
                yield "an IP address", found
        for digits in _NUMBER.findall(text):
            if not invented.is_number(digits) and not is_date(name, int(digits)) and not is_total(name):
                yield "a number that may be somebody's", digits

    def _hosts(self, text: str) -> Iterator[str]:
        hosts = {host for url in re.findall(URL, text) if (host := _host_of(url))}
        for host in sorted(hosts | {found[0].partition("/")[0] for found in re.finditer(HOST, text)}):
            name = host.lower().removeprefix("not-")  # made up to be mistaken for the service's
            named = "." in name and not invented.as_address(name)  # addresses are judged by themselves
            if named and not invented.is_host(name) and not is_below(name, self._own):
                yield host


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _decoded(text: str) -> Iterator[str]:
    """Yield what a text says once an encoding is taken off it."""
    if "%" in text:
        yield unquote(text)
    if "&" in text:
        yield html.unescape(text)
    for run in _BASE64.findall(text):
        try:
            bare = run.rstrip("=").replace("-", "+").replace("_", "/")
            inner = base64.b64decode(bare + "=" * (-len(bare) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if inner.isprintable():
            yield inner


def _is_nobody(text: str) -> bool:
    """True for what stands under the name of an account and is no name: nothing, an example, a word for a plan."""
    for judged_alone in (_TAGS, URL, HOST, _EMAIL, _PHONE, _FOUR, _SIX):
        text = re.sub(judged_alone, " ", text)
    plain = invented.is_words(text) or invented.is_identifier(text) or "example" in text
    return plain or published_day(text) is not None


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _windows(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(len(text) - size + 1))


def _difference(before: str, after: str) -> str:
    """Return what `before` has from the first place on at which they differ."""
    at = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(after))
    return before[at:]


def _cut(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else text[:most] + "…"


__all__ = ["HEADERS", "Checker", "Leak", "in_folder", "own_domains"]
