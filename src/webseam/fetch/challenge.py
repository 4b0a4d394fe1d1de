"""Pages that ask for proof of being human, for consent or for a sign-in instead of giving what they were asked for.

Marks are looked for only where there is next to nothing to read: protected sites put the same scripts into their
ordinary pages, and a page about challenges has all the words.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from webseam.errors import FetchError, Outcome
from webseam.net.message import Response
from webseam.net.redact import redact_url
from webseam.net.url import UrlRefused, parse

LITTLE: Final = 1_000  # letters of text from which a page says something of its own
_SEARCHED: Final = 262_144  # bytes of the page

# In lower case. Apart from the patterns, and each pattern with a beginning that can be searched for: one pattern of
# all of them keeps the event loop for a tenth of a second.
_MARKS: Final = (
    b"__cf_chl_",
    b"cf-turnstile-response",
    b"<title>just a moment...</title>",
    b"<title>attention required! | cloudflare</title>",
    b"anomaly-modal",
    b"our systems have detected unusual traffic",
    b"captcha-delivery.com",
    b"px-captcha",
    b"_px_captcha",
    b"_incapsula_resource",
    b"incident_id=",
    b"/_sec/cp_challenge/",
    b"sec-if-cpt-container",
    b"aws-waf-token",
    b"awswafcaptcha",
    b"<title>human verification</title>",
    b"ddos-guard",
    b"hcaptcha.com/1/api.js",
    b"checking if the site connection is secure",
    b"checking your browser",
    b"please enable js and cookies",
    b"please enable javascript and cookies",
    b"please turn on js and cookies",
    b"please turn on javascript and cookies",
)
_PATTERNS: Final = (
    re.compile(rb"akamai.{0,40}reference&#32;&#35;"),
    re.compile(rb"id=[\"']challenge-(?:form|running|error-text)"),
    re.compile(rb"<title>(?:are you a (?:human|robot)|robot check|security check)\W{0,40}</title>"),
    re.compile(rb"<title>verify(?:ing)? you are (?:a )?human\W{0,40}</title>"),
)
_LETTER: Final = re.compile(r"\S")
_CONSENT_HOSTS: Final = re.compile(r"(?:consent|guce)\.[\w.-]+")


def asks_for_proof(response: Response) -> bool:
    """True when the server says by a header that it answers with a challenge."""
    return (response.headers.get("cf-mitigated") or "").strip().lower() == "challenge"


def is_challenge(response: Response, text: str = "", *, asked: str = "") -> bool:
    """True for a challenge or a consent page; `text` is what a reader found on it, `asked` the URL that led there.

    Who asks for a page of such a host by its name wants that page.
    """
    if asks_for_proof(response) or (_is_consent(response.url) and not _is_consent(asked)):
        return True
    letters = sum(1 for _ in islice(_LETTER.finditer(text), LITTLE))  # counting all of a book takes 20 times its size
    return letters < LITTLE and _has_marks(response.body[:_SEARCHED].lower())


def challenged(response: Response) -> FetchError:
    """Return the error for a page that is one."""
    return FetchError(
        f"{redact_url(response.url)} is a page that asks for proof of being human, or for consent",
        outcome=Outcome.BLOCKED,
        http_status=response.status,
        hint="another reader or another source may have the text",
    )


def _has_marks(page: bytes) -> bool:
    return any(mark in page for mark in _MARKS) or any(pattern.search(page) for pattern in _PATTERNS)


def _is_consent(url: str) -> bool:
    try:
        return _CONSENT_HOSTS.fullmatch(parse(url).host) is not None
    except UrlRefused:
        return False
