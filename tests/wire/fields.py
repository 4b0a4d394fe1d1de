"""What the name of a field says about its value, in the answers of services that agree on no names."""

from __future__ import annotations

import re
from functools import cache

# Names in lower case without signs.
_ACCOUNT = re.compile(
    r"(?:account|organi[sz]ation|org|user|customer|tenant|workspace|team|member|owner|login|username|email|company|phone)"
    r"(?:s|name|id|ids|slug|email|number|no)?"
)
_IDENTIFIER = re.compile(
    r"(?:.*(?:request|search|session|trace|span|response|correlation|message|task|job|log|event|ray))?(?:id|uuid|guid)"
    r"|.*(?:session|cursor|nonce|token|vqd|signature)|traceparent|trace|ray"
)
_CHOICE = re.compile(
    r".*(?:type|kind|status|state|code|category|mode|scheme|object|role|language|lang|locale|country|region|format"
    r"|currency|level|tier|plan|version|engine|jsonrpc|safe|method|class)"
)
_SERVICE = re.compile(r".*(?:error|message|warning|notice)s?|msg|detail|reason|hint")
_DATE = re.compile(r".*(?:date|time|publish|creat|updat|epoch|modif|crawl|reset).*|age|ts|.*at")
_TOTAL = re.compile(r"(?!.*account).*(?:total|count|results|estimat|bytes|size|limit|remaining).*")
_LAST_SECOND = 4_102_444_800  # the year 2100


@cache
def plain(name: str) -> str:
    """Return a name as the patterns here write it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_account(name: str) -> bool:
    """True when the value says who somebody is."""
    return _ACCOUNT.fullmatch(plain(name)) is not None


def is_identifier(name: str) -> bool:
    """True when the value tells one request, session or thing from all others."""
    return _IDENTIFIER.fullmatch(plain(name)) is not None


def is_choice(name: str) -> bool:
    """True when the value is one of a few words the service knows."""
    return _CHOICE.fullmatch(plain(name)) is not None


def is_service_s(name: str) -> bool:
    """True when the value is a sentence of the service itself."""
    return _SERVICE.fullmatch(plain(name)) is not None


def is_total(name: str) -> bool:
    """True when the value counts something and may be large."""
    return _TOTAL.fullmatch(plain(name)) is not None


def is_date(name: str, value: int) -> bool:
    """True when the value is a time in seconds or milliseconds."""
    return _DATE.fullmatch(plain(name)) is not None and any(0 < value // unit < _LAST_SECOND for unit in (1, 1000))
