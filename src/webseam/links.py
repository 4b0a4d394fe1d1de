"""Result URLs: taking them out of search engines' wrappers, freeing them of tracking, and comparing them.

`tidy` gives the URL a hit shows; `canonical` gives a key under which two spellings of one page are equal and which is
never dialled. Redirect wrappers are decoded here, offline: following them would tell the engine what was chosen.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from webseam.domains import ascii_host
from webseam.text import HIDDEN

MAX_URL: Final = 8_192  # characters, as the egress policy
_MAX_WRAPPED: Final = 4 * MAX_URL  # a URL inside a wrapper is percent-encoded, perhaps twice
_MAX_WRAPPERS: Final = 3  # a wrapper inside a wrapper is seen; deeper is an attack

_TRACKING_NAMES: Final = frozenset(
    "fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ysclid twclid ttclid igshid igsh mc_cid mc_eid mkt_tok "
    "_hsenc _hsmi __hssc __hstc __hsfp hsctatracking vero_id oly_anon_id oly_enc_id rb_clickid s_cid wickedid "
    "srsltid _openstat li_fat_id epik guccounter guce_referrer guce_referrer_sig spm scm ref_src ref_url cmpid "
    "at_medium at_campaign ga_source ga_medium ga_campaign".split()
)
_TRACKING_PREFIXES: Final = ("utm_", "pk_", "piwik_", "mtm_", "hsa_", "oft_", "at_custom", "stm_")
_DEFAULT_PORT: Final = {"http": 80, "https": 443}
_MAY_TRACK = re.compile(  # one scan tells most URLs apart from those whose parameters must be looked at
    r"[?&;](?:utm_|pk_|piwik_|mtm_|hsa_|oft_|at_|stm_|[a-z_]*clid|gclsrc|[gw]braid|igsh|mc_|mkt_tok|_hs|__hs|vero_id|oly_"
    r"|hsctatracking|s_cid|wickedid|srsltid|_openstat|li_fat_id|epik|guc|spm|scm|ref_|cmpid|ga_)",
    re.IGNORECASE,
)
_MAY_WRAP = re.compile(
    r"(?:https?:)?//(?:[\w-]+\.){0,8}(?:duckduckgo\.com/l/|bing\.com/ck/a|google\.[a-z.]{2,6}/url|r\.search\.yahoo\.com/"
    r"|lm?\.facebook\.com/|l\.instagram\.com/|youtube\.com/redirect)",
    re.IGNORECASE,
)
_UNSEEN = re.compile(f"[\x80-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{HIDDEN}]+")
# A name written with percent signs or hidden characters is another name to the eye and to a filter than to a resolver.
_AUTHORITY = re.compile(r"https?://[^/?#\\%]+", re.IGNORECASE)
# Nothing to unwrap, drop or encode: most results, recognised in one scan. Wrappers all have a `?` or a `%`.
_TIDY = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::\d{1,5})?(?:/[!$&-;=@-Z_a-z~]{0,2000})?")
_NOT_IN_URL = re.compile("[\x00-\x20\x7f\ud800-\udfff]")


def tidy(url: str) -> str | None:
    """Return the URL a hit should show: unwrapped, without tracking parameters. None when it is not an http(s) URL.

    Characters that are not seen, or that steer how text is shown, are percent-encoded, as a browser would send them.
    """
    url = url.strip()
    if _TIDY.fullmatch(url):
        return url
    if len(url) > _MAX_WRAPPED:
        return None
    for _ in range(_MAX_WRAPPERS + 1):
        inner = _unwrap(url)
        if inner is None:
            break
        url = inner
    else:
        return None
    if _NOT_IN_URL.search(url):
        return None
    if not url.isascii():
        url = _UNSEEN.sub(lambda found: quote(found[0]), url)
    authority = _AUTHORITY.match(url)
    if len(url) > MAX_URL or authority is None or url[authority.end() : authority.end() + 1] in ("\\", "%"):
        return None
    return _without_tracking(url) if "?" in url and _MAY_TRACK.search(url) else url


def _unwrap(url: str) -> str | None:
    """Return what a known redirect wrapper leads to, or None when `url` is not one."""
    if not _MAY_WRAP.match(url):
        return None
    try:
        parts = urlsplit(f"https:{url}" if url.startswith("//") else url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    inner: str | None = None
    if _is_under(host, "duckduckgo.com") and parts.path == "/l/":
        inner = _parameter(parts.query, "uddg")
    elif _is_under(host, "bing.com") and parts.path == "/ck/a":
        inner = _bing_target(_parameter(parts.query, "u"))
    elif re.fullmatch(r"google\.[a-z.]{2,6}", host) and parts.path == "/url":
        inner = _parameter(parts.query, "q") or _parameter(parts.query, "url")
    elif host == "r.search.yahoo.com":
        found = re.search(r"/RU=([^/]+)/", parts.path)
        inner = unquote(found[1]) if found else None
    elif host in ("l.facebook.com", "lm.facebook.com") or host == "l.instagram.com":
        inner = _parameter(parts.query, "u")
    elif host == "youtube.com" and parts.path == "/redirect":
        inner = _parameter(parts.query, "q")
    return inner if inner and inner[:7].lower() in ("http://", "https:/") else None


def _is_under(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _parameter(query: str, name: str) -> str | None:
    # Decoded once by the parser; a second decoding would corrupt a %25 in the target. The first of two values counts.
    return dict(reversed(parse_qsl(query))).get(name)


def _bing_target(value: str | None) -> str | None:
    """Decode Bing's `u=a1<base64url>`."""
    if not value or not value.startswith("a1"):
        return None
    try:
        return base64.urlsafe_b64decode(value[2:] + "=" * (-len(value[2:]) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _is_tracking(name: str) -> bool:
    name = name.lower()
    return name in _TRACKING_NAMES or name.startswith(_TRACKING_PREFIXES)


def _without_tracking(url: str) -> str:
    """Drop tracking parameters and leave every other byte of the URL as it was."""
    head, mark, fragment = url.partition("#")
    base, _, query = head.partition("?")
    kept = [pair for pair in query.split("&") if not _is_tracking(unquote(pair.partition("=")[0]))]
    return base + ("?" + "&".join(kept) if any(kept) else "") + mark + fragment


@lru_cache(maxsize=4_096)
def canonical(url: str) -> str:
    """Return the key under which two spellings of the same page are equal.

    Scheme, `www.`, letter case of the host, default ports, fragment, a trailing slash, tracking and the order of the
    parameters do not count. A fragment that routes (`#!/` or `#/`) does.
    """
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "").removeprefix("www.")
        port = parts.port
        fields = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=1_000) if parts.query else []
        path = _path(parts.path)
        query = urlencode(sorted(pair for pair in fields if not _is_tracking(pair[0]))) if fields else ""
    except ValueError:  # a broken host, port or text, or an absurd number of parameters, is only equal to itself
        return url
    if port and port != _DEFAULT_PORT.get(parts.scheme):
        host = f"{host}:{port}"
    fragment = parts.fragment if parts.fragment.startswith(("!", "/")) else ""
    return urlunsplit(("", host, path.rstrip("/"), query, fragment))


def _path(path: str) -> str:
    """Return a path with one spelling for every character: percent-encoded only where it must be."""
    if "%" not in path and path.isascii():
        return path
    return quote(unquote(path), safe="/%:@!$&'()*+,;=~-._")
