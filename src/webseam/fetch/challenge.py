"""Pages that ask for proof of being human, for consent or for a sign-in instead of giving what they were asked for.

Marks are looked for only where there is next to nothing to read: protected sites put the same scripts into their
ordinary pages, and a page about challenges has all the words.
"""

from __future__ import annotations

import re
from typing import Final

from webseam.net.message import Response
from webseam.net.url import UrlRefused, parse

LITTLE: Final = 1_000  # letters of text from which a page says something of its own
_SEARCHED: Final = 262_144  # bytes of the page

_MARKS: Final = re.compile(
    rb"__cf_chl_|id=[\"']challenge-(?:form|running|error-text)|cf-turnstile-response|<title>just a moment\.\.\.</title>"
    rb"|<title>attention required! \| cloudflare</title>"
    rb"|anomaly-modal|our systems have detected unusual traffic|captcha-delivery\.com|px-captcha|_px_captcha"
    rb"|_incapsula_resource|incident_id=|/_sec/cp_challenge/|sec-if-cpt-container|akamai.{0,40}reference&#32;&#35;"
    rb"|aws-waf-token|awswafcaptcha|<title>human verification</title>|ddos-guard|hcaptcha\.com/1/api\.js"
    rb"|<title>(?:are you a (?:human|robot)\??|robot check|verify(?:ing)? you are (?:a )?human)\W*</title>"
    rb"|<title>security check\W*</title>|please (?:enable|turn on) (?:js|javascript) and cookies"
    rb"|checking (?:if the site connection is secure|your browser)",
    re.IGNORECASE,
)
_CONSENT_HOSTS: Final = re.compile(r"(?:consent|guce)\.[\w.-]+")


def asks_for_proof(response: Response) -> bool:
    """True when the server says by a header that it answers with a challenge."""
    return (response.headers.get("cf-mitigated") or "").strip().lower() == "challenge"


def is_challenge(response: Response, text: str = "") -> bool:
    """True for a challenge or a consent page; `text` is what a reader found on it."""
    if asks_for_proof(response) or _is_consent(response.url):
        return True
    letters = len("".join(text.split()))
    return letters < LITTLE and _MARKS.search(response.body[:_SEARCHED]) is not None


def _is_consent(url: str) -> bool:
    try:
        return _CONSENT_HOSTS.fullmatch(parse(url).host) is not None
    except UrlRefused:
        return False
