"""What an answer that is not a result means, by status and by words together.

Services disagree about statuses: spent credits come as 401, 402, 403, 429 and 432, and a challenge page comes as 200.
So the body is read too, quota before rate before key. Challenge marks are looked for only where nothing parsed: a page
echoes the query, and the query may hold the words.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, Final

from webseam.errors import Outcome, ProviderError
from webseam.resilience.retry import parse_retry_after

if TYPE_CHECKING:
    from webseam.providers.base import Reply

_REFUSED: Final = (400, 404, 410, 413, 414, 422)  # the words decide: a key, nothing found, an option, or none of these
_ECHOES: Final = frozenset({"query", "q", "queries", "input"})
ERROR_BODY: Final = 65_536  # bytes of an error body that are looked at

_QUOTA = re.compile(
    r"credits?\b.{0,40}\b(?:exhausted|limit|insufficient|not enough|used up)"
    r"|(?:exhausted|insufficient|more|not enough|out of|ran out of|run out of|used all)\b.{0,30}\bcredits?"
    r"|insufficient[ _](?:balance|funds|quota)|out of (?:credits|searches)|run out of searches|budget|billing|arrears"
    r"|spending[ _-]limit|(?:daily|monthly)[ _](?:limit|quota)|usage[ _]limit|plan[ _]limit"
    r"|quota[ _](?:exceeded|exhausted|reached)",
    re.IGNORECASE,
)
_RATE = re.compile(r"too many requests|rate[ _-]?limit|throttl|requests per (?:second|minute)|concurren", re.IGNORECASE)
_KEY = re.compile(
    r"(?:invalid|incorrect|missing|expired|revoked|no)[ _](?:api[ _-]?)?(?:key|token)"
    r"|api[ _-]?key (?:is )?(?:invalid|missing)|unauthori[sz]ed|unauthenticated|subscription[ _]token",
    re.IGNORECASE,
)
_NONE = re.compile(r"no (?:search )?results|hasn't returned any results|did not yield any result", re.IGNORECASE)
_OPTION = re.compile(
    r"unsupported|not supported|parameter|option|model|too long|length|characters|maximum|exceeds|not allowed|must be",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"captcha|challenge-form|anomaly-modal|anomaly\.js|/cdn-cgi/challenge-platform/|__cf_chl_|unusual traffic"
    r"|enable javascript and cookies|consent\.(?:google|yahoo|youtube)|<form[^>]{0,300}consent",
    re.IGNORECASE,
)


def is_challenge(reply: Reply, text: str) -> bool:
    """True when a page asks for proof of being human or for consent. Only for answers from which nothing parsed."""
    return reply.header("cf-mitigated") == "challenge" or _CHALLENGE.search(text[:ERROR_BODY]) is not None


def failure(reply: Reply) -> ProviderError:
    """Return the error that an answer outside 2xx means by the common rules."""
    text = _beginning(reply)
    markup = text.lstrip()[:1] == "<"
    words, signals = ("", "") if markup else _message(reply, text)
    outcome = _by_status(reply, reply.status, signals, text if markup else "")
    said = f": {reply.quote(words)}" if words.strip() else ""
    return ProviderError(
        f"HTTP {reply.status}{said}",
        outcome=outcome,
        http_status=reply.status,
        retry_after=retry_after(reply) if outcome in (Outcome.RATE_LIMITED, Outcome.QUOTA, Outcome.UPSTREAM) else None,
    )


def _beginning(reply: Reply) -> str:
    return reply.response.body[:ERROR_BODY].decode("utf-8-sig", "replace")


def _by_status(reply: Reply, status: int, words: str, page: str) -> Outcome:
    quota, rate = _QUOTA.search(words), _RATE.search(words)
    if status == 999 or (page and status in (403, 429, 503) and is_challenge(reply, page)):
        return Outcome.BLOCKED
    if status == 402 or (quota and status in (400, 401, 403, 404, 410, 422, 429)):
        return Outcome.QUOTA
    if status == 429 or (rate and status in (403, 503)):
        return Outcome.RATE_LIMITED
    if status in (401, 403):
        return Outcome.AUTH
    if status in (408, 504):
        return Outcome.TIMEOUT
    if 500 <= status <= 599:
        return Outcome.UPSTREAM
    if status in _REFUSED:
        return _refused_input(words)
    return Outcome.BAD_RESPONSE


def _refused_input(words: str) -> Outcome:
    if _KEY.search(words):
        return Outcome.AUTH
    if _NONE.search(words):
        return Outcome.EMPTY
    return Outcome.UNSUPPORTED if _OPTION.search(words) else Outcome.BAD_RESPONSE


def by_words(words: str, code: object = None) -> Outcome:
    """Return what an error object at status 200 means: by its numeric code when it has one, else by its words."""
    status = status_in(code)
    if _QUOTA.search(words) or status == 402:
        return Outcome.QUOTA
    if _RATE.search(words) or status == 429:
        return Outcome.RATE_LIMITED
    if status in (401, 403) or _KEY.search(words):
        return Outcome.AUTH
    if status in (408, 504):
        return Outcome.TIMEOUT
    if status >= 500:
        return Outcome.UPSTREAM
    if status in _REFUSED:
        return _refused_input(words)
    return Outcome.EMPTY if _NONE.search(words) else Outcome.BAD_RESPONSE


def status_in(code: object) -> int:
    """Return the HTTP status that an error object's code spells, or 0."""
    return int(code) if isinstance(code, (int, str)) and re.fullmatch(r"[1-5][0-9]{2}", str(code)) else 0


def error_object(reply: Reply, document: Any) -> ProviderError | None:
    """Return the error that a 2xx answer states in its body, or None when it states none.

    Called where the results are missing: an answer with results and a remark is an answer.
    """
    if not isinstance(document, dict):
        return None
    words = message_of(document)
    code = document.get("code", document.get("statusCode", document.get("status")))
    if isinstance(document.get("error"), dict):
        code = document["error"].get("code", document["error"].get("status", code))
    if not words and status_in(code) < 400:
        return None
    return ProviderError(
        f"it answered 200 with an error: {reply.quote(words) or code}",
        outcome=by_words(f"{signals_of(document)} {code}", code),
        http_status=reply.status,
        retry_after=retry_after(reply),
    )


def not_json(reply: Reply, problem: str) -> ProviderError:
    """Return the error for a 2xx body that is not JSON: a challenge page is blocked, anything else bad_response."""
    text = _beginning(reply)
    if text.lstrip()[:1] == "<" or "text/html" in (reply.header("content-type") or ""):
        if is_challenge(reply, text):
            return ProviderError(
                "it answered with a challenge page instead of results",
                outcome=Outcome.BLOCKED,
                http_status=reply.status,
            )
        return ProviderError(
            f"it answered with a web page instead of JSON: {reply.quote(_page_words(text))}",
            outcome=Outcome.BAD_RESPONSE,
            http_status=reply.status,
        )
    return ProviderError(
        f"its answer is not JSON: {problem}"[:300], outcome=Outcome.BAD_RESPONSE, http_status=reply.status
    )


def _page_words(page: str) -> str:
    from webseam.text import plain

    title = re.search(r"<title[^>]{0,200}>([^<]{0,300})", page, re.IGNORECASE)
    return plain(title[1]) if title else plain(page[:2_000])


def _message(reply: Reply, text: str) -> tuple[str, str]:
    """Return `(words to show, words to judge by)` of an error body."""
    from webseam.providers.base import decode_json

    try:
        document = decode_json(reply.response.body[:ERROR_BODY])
    except ValueError:
        return text, text.replace("_", " ")
    return message_of(document) or text, signals_of(document)


def signals_of(document: Any, depth: int = 4) -> str:
    """Return all words of an error document but the echoed query, codes spelled as words: `NO_MORE_CREDITS` counts."""
    if isinstance(document, str):
        return document[:2_000].replace("_", " ")
    if depth and isinstance(document, dict):
        return " ".join(signals_of(value, depth - 1) for name, value in document.items() if name not in _ECHOES)[:8_000]
    if depth and isinstance(document, list):
        return " ".join(signals_of(value, depth - 1) for value in document[:10])
    return ""


def message_of(document: Any) -> str:
    """Return the words of an error document, wherever this kind of service puts them; "" when there are none."""
    if not isinstance(document, dict):
        return document if isinstance(document, str) else ""
    error, detail, errors = document.get("error"), document.get("detail"), document.get("errors")
    found: list[Any] = []
    if isinstance(error, dict):
        found += [error.get("message"), error.get("detail"), error.get("code")]
    found += [error, document.get("message")]
    if isinstance(detail, dict):
        found += [detail.get("error"), detail.get("message")]
    found.append(detail)
    if isinstance(errors, list) and errors:
        found.append(errors[0].get("message") if isinstance(errors[0], dict) else errors[0])
    found.append(document.get("title"))
    for words in found:
        if isinstance(words, list) and words and isinstance(words[0], dict):
            words = words[0].get("message", words[0].get("msg"))
        if isinstance(words, str) and words.strip():
            return words
    return ""


def retry_after(reply: Reply) -> float | None:
    """Return the seconds a service asks to be left alone, or None when it says nothing usable."""
    return parse_retry_after(reply.header("retry-after"), now=time.time())
