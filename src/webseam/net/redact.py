"""Removing secrets from text that a person, a model, a log or a file will see.

An error quotes what the other side said, and the other side may repeat the key it was sent: as it was, percent-encoded
in a URL, escaped in JSON, or inside the base64 of Basic credentials. Knowing the keys is not enough either, since a
server can talk about keys that are not ours, so common shapes are removed too. Redact first and cut afterwards: half a
key no longer matches and is still a leak.

What is removed becomes `REDACTED`; redacting twice changes nothing more. Patterns are linear, because the text is the
other side's, and compiled on first use, because most commands never fail. Must not import the rest of `net`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from webseam.text import QUOTE_LIMIT, clean, clip, squeeze

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["REDACTED", "SHORT", "Redactor", "redact_url"]

REDACTED = "***"  # no brackets: a redacted URL has to stay readable for urlsplit
SHORT = 6  # characters; a shorter secret of letters and digits is also a part of ordinary words
_MIN_CORE = 6  # base64 characters that identify a secret: 36 bits, no accident in a text of any size we see
_WINDOW = 20_000  # characters of a text that `quote` looks at, for the 200 it shows
_MAX_SPELLING = 12  # characters that one may be spelled with: a surrogate pair in JSON
_MAX_RUN = 2_000  # characters of base64 hidden on either side; longer is a file, not a credential

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=%")
_ESCAPED = re.compile(r"[%\\&+]")  # without one of these a secret can only stand there literally
_HINT = re.compile(r"(?i)bearer|basic|auth|cookie|key|token|secret|credential|jwt|pass|pwd|sig|session|eyj|sk-|@")

# Names whose values are secrets wherever they stand; `cx`, `q`, `id` and the like are none.
_NAMES = (
    r"(?:x[_-])?api[_-]?(?:key|token|secret)|(?:access|auth|refresh|session|id|security|bearer|csrf|private)[_-]?token"
    r"|(?:secret|private|access|subscription|account|master|client)[_-]?key(?:[_-]?id)?|(?:client|app|shared)[_-]?secret"
    r"|aws[_-]?(?:access[_-]?key[_-]?id|secret[_-]?access[_-]?key)|x-(?:amz|goog)-(?:signature|credential|security-token)"
    r"|hapikey|passw(?:or)?d|passphrase|pwd|secret|credentials?|jwt"
)
_QUERY_ONLY = r"key|token|sig|signature|auth|authorization|session|sessionid"  # ordinary words outside a query
_HEADERS = (
    r"(?:proxy-)?authorization|(?:[a-z]{1,20}-){0,3}(?:api|subscription|access)-?(?:key|token)"
    r"|x-auth-token|x-amz-security-token|private-token"
)
_PROSE = r"(?:tokens?|auth\w*|scheme|realm|error|keys?|credentials?|header|is|was|in|or|and|for|with|not|must)\b"


@cache
def _shapes() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of secrets nobody told us about; group 1 is what stays."""
    value = r"(?:(?!%26)[^&\s\"'<>#\\,;)])+"
    return tuple(
        re.compile(pattern)
        for pattern in (
            r"(:(?:\\?/){2})[^\s/?#\"'<>\\@]{0,2000}(?:@[^\s/?#\"'<>\\@]{0,2000}){0,5}(?=@)",  # ://user:password@
            # Authorization: Bearer x, "x-api-key": "x", (b'x-api-key', b'x')
            rf"(?i)(?<![\w-])((?:{_HEADERS})(?:\s{{0,9}}[:=]\s{{0,9}}|\\?[\"']\s{{0,9}}[:,=]\s{{0,9}})[\[(]?(?:b?\\?[\"'])?"
            rf"(?:(?:bearer|basic|token|digest|apikey)\s{{1,9}})?)(?!{_PROSE})[^\s\"'\\,;)\]}}]+",
            r"(?i)(?<![\w-])((?:set-)?cookie\s{0,9}:\s{0,9})[^\s\"'][^\r\n\"']*",
            rf"\b([Bb]earer\s{{1,9}}|BEARER\s{{1,9}})(?!(?i:{_PROSE}))[\w.~+/=-]{{3,}}",
            rf"(?i)((?:[?&;#]|%3f|%26)(?:amp;)?(?:{_NAMES}|{_QUERY_ONLY})(?:=|%3d))(?:(?!%26)[^&\s\"'<>#\\])+",
            rf"(?i)(?<![\w-])((?:{_NAMES})=[\"']?){value}",
            rf"(?i)(?<=[\"'])((?:{_NAMES}|token)\\?[\"']\s{{0,9}}:\s{{0,9}}\\?[\"'])(?:(?!\\?[\"'])[^\r\n])+",
            r"()\b(?:eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|sk-(?=[\w-]{0,40}\d)[\w-]{16,})",  # JWT
        )
    )


@cache
def _basic() -> re.Pattern[str]:
    return re.compile(r"(?i)\b(basic\s{1,9})([A-Za-z0-9+/_-]{4,}={0,2})")


def _remove_shapes(text: str) -> str:
    if not _HINT.search(text):
        return text
    for pattern in _shapes():
        text = pattern.sub(rf"\1{REDACTED}", text)
    return _basic().sub(_hide_basic, text)


def _hide_basic(found: re.Match[str]) -> str:
    """Hide what follows `Basic` when it is a pair: "Basic authentication" is a word about it."""
    import base64
    import binascii

    try:
        pair = base64.b64decode(found[2].rstrip("=") + "=" * (-len(found[2].rstrip("=")) % 4), altchars=b"-_")
    except binascii.Error:
        return found.group()
    return found[1] + REDACTED if b":" in pair else found.group()


def _spelled(secret: str) -> str:
    """Return a pattern for `secret` with each character as itself, percent-encoded (also twice) or escaped."""
    return "".join(_spelled_character(character) for character in secret)


def _spelled_character(character: str) -> str:
    encoded = character.encode("utf-8", "surrogatepass")
    units = character.encode("utf-16-be", "surrogatepass").hex()
    forms = [
        re.escape(character),
        "".join(f"%(?:25)*(?i:{byte:02x})" for byte in encoded),
        "".join(rf"\\+u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4)),  # JSON
    ]
    if not character.isascii():
        forms.append("".join(rf"\\+x(?i:{byte:02x})" for byte in encoded))  # repr of bytes
    elif not character.isalnum():
        forms += _escapes(character)
    return f"(?:{'|'.join(forms)})"


def _escapes(sign: str) -> list[str]:
    """Return the further spellings of one ASCII sign, as patterns: in a form, in a quoted string, in HTML."""
    import html

    short = {"\t": "t", "\n": "n", "\r": "r"}.get(sign, sign)
    forms = [r"\\+" + re.escape(short)]
    if sign == " ":
        forms.append(r"\+")
    if html.escape(sign) != sign:
        forms.append(re.escape(html.escape(sign)))
    return forms


def _base64_cores(secret: str) -> set[str]:
    """Return what the base64 of anything around `secret` must contain: one text for each place it can start at."""
    import base64

    raw = secret.encode("utf-8", "surrogatepass")
    cores = set()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw).decode("ascii")
        core = whole[-(-8 * shift // 6) : 8 * (shift + len(raw)) // 6]  # both ends also depend on the neighbours
        if len(core) >= _MIN_CORE:
            cores |= {core, core.replace("+", "-").replace("/", "_")}
    return cores


def _hide_base64(text: str, core: str) -> str:
    """Hide each run of base64 around `core`. Walks outwards: a pattern would be quadratic on a long data URL."""
    parts, done = [], 0
    at = text.find(core)
    while at >= 0:
        start, end = at, at + len(core)
        while start > done and at - start < _MAX_RUN and text[start - 1] in _BASE64:
            start -= 1
        while end < len(text) and end - at < _MAX_RUN and text[end] in _BASE64:
            end += 1
        parts += [text[done:start], REDACTED]
        done = end
        at = text.find(core, done)
    return "".join(parts) + text[done:]


@dataclass(frozen=True, slots=True, repr=False)
class _Known:
    """What to look for, made once per redactor."""

    literal: tuple[str, ...]
    cores: tuple[str, ...]
    anywhere: re.Pattern[str] | None
    as_value: re.Pattern[str] | None


def _known(secrets: tuple[str, ...]) -> _Known:
    short = tuple(secret for secret in secrets if len(secret) < SHORT and secret.isalnum())
    literal = tuple(secret for secret in secrets if secret not in short)
    cores = sorted({core for secret in literal for core in _base64_cores(secret)})
    anywhere = re.compile("|".join(map(_spelled, literal))) if literal else None
    choices = "|".join(map(_spelled, short))
    as_value = re.compile(rf"(?:(?<=[=:\"'])|(?<=[=:] ))(?:{choices})(?!\w)") if short else None
    return _Known(literal, tuple(cores), anywhere, as_value)


class Redactor:
    """Removes known secrets in every spelling, and the shapes of unknown ones, from a text.

    A secret of `SHORT` characters or more, or one with a sign in it, is removed wherever it stands. A shorter one of
    letters and digits only is removed where it stands as a whole value, right after `=`, `:` or a quotation mark:
    anywhere else a password such as "test" would eat into "latest", and show by the holes what it is.
    The part of a `user:password` secret after the colon counts as a secret of its own.

    Building one costs next to nothing; the first call with a text prepares it.
    """

    __slots__ = ("_prepared", "_secrets")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        given = {form for secret in secrets for form in (secret, secret.strip()) if form.strip()}
        given |= {tail for secret in given if "//" not in secret and len(tail := secret.partition(":")[2]) >= SHORT}
        self._secrets = tuple(sorted(given, key=lambda secret: (-len(secret), secret)))  # longest first: they may nest
        self._prepared: _Known | None = None

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._secrets)} secrets>"

    def __call__(self, text: str) -> str:
        """Return `text` without secrets. Call it before anything is cut off the text.

        Text in which cleaning would put a secret together that hidden characters had kept apart comes back cleaned.
        """
        shown = self._remove(text)
        cleaned = clean(shown)
        if cleaned == shown:
            return shown
        again = self._remove(cleaned)
        return shown if again == cleaned else again

    def quote(self, words: str) -> str:
        """Return somebody else's words fit for an error: without secrets, cleaned, one line, `QUOTE_LIMIT` characters.

        Only the start of a long text is looked at, so that quoting a body costs the same whatever its size.
        """
        shown = self._remove(clean(self(words[:_WINDOW])))
        if len(words) > _WINDOW:  # the window may end inside a secret, of which each character may be spelled long
            longest = max(map(len, self._secrets), default=0)
            shown = shown[: max(0, len(shown) - _MAX_SPELLING * longest)]
        return clip(squeeze(shown), QUOTE_LIMIT)

    def known(self, text: str) -> str:
        """Return `text` without the known secrets alone: a result about keys keeps the shapes of other people's."""
        return self._remove_known(text) if self._secrets and text else text

    def _remove(self, text: str) -> str:
        return _remove_shapes(self._remove_known(text) if self._secrets and text else text)

    def _remove_known(self, text: str) -> str:
        known = self._prepared
        if known is None:
            known = self._prepared = _known(self._secrets)
        for core in known.cores:
            if core in text:
                text = _hide_base64(text, core)
        if known.anywhere and (_ESCAPED.search(text) or any(secret in text for secret in known.literal)):
            text = known.anywhere.sub(REDACTED, text)
        return known.as_value.sub(REDACTED, text) if known.as_value else text


def redact_url(url: str) -> str:
    """Return a URL fit to be shown: credentials and the values of parameters that are commonly keys are removed.

    Works on any text, also on one that is no URL; control characters go too.
    """
    front, mark, fragment = clean(url).partition("#")
    path, question, query = front.partition("?")
    return _remove_shapes(path + question + _redact_parameters(query) + mark + _redact_parameters(fragment))


def secret_values(url: str) -> tuple[str, ...]:
    """Return the values of a URL's parameters that are commonly keys, decoded: what its server may send back."""
    from urllib.parse import parse_qsl

    _, _, query = url.partition("?")
    return tuple(value for name, value in parse_qsl(query.partition("#")[0]) if _secret_name().fullmatch(name))


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:{_NAMES}|{_QUERY_ONLY})")


def _redact_parameters(query: str) -> str:
    return "&".join(_redact_parameter(part) for part in query.split("&"))


def _redact_parameter(part: str) -> str:
    name, equals, value = part.partition("=")
    if not value:
        return part
    from urllib.parse import unquote_plus

    return name + equals + REDACTED if _secret_name().fullmatch(unquote_plus(name)) else part
