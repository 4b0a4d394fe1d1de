"""DuckDuckGo's plain HTML form, for people; it needs no key. Facts of the form: read from the page itself.

Nothing here gets past a block: one constant User-Agent, no rotation, no retry. A block is tied to the address, so it is
reported as what it is and left alone for an hour. The page is parsed first and searched for challenge marks only when
nothing parsed, because it echoes the query.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from webseam.errors import Outcome, ProviderError
from webseam.model import Freshness, SearchRequest
from webseam.net.message import Request
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting
from webseam.providers.options import bucket, with_sites

# The form is made for browsers, so this is written as browsers write theirs, and still says who we are.
_USER_AGENT: Final = "Mozilla/5.0 (X11; Linux x86_64) webseam"
_MAX_QUERY: Final = 499
_WHEN: Final[dict[Freshness, str]] = {"day": "d", "week": "w", "month": "m", "year": "y"}
_SAFE: Final = {"strict": "1", "moderate": "-1", "off": "-2"}
_NOWHERE: Final = "wt-wt"  # no region
# All values of `kl` there are, `<country>-<language>`; a made-up one counts as none. Of a country the first is usual.
_REGIONS: Final = (
    "ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr de-de "
    "gr-el hk-tzh hu-hu in-en id-id id-en ie-en il-he it-it jp-jp kr-kr lv-lv lt-lt my-ms my-en mx-es nl-nl nz-en "
    "no-no pe-es ph-en pl-pl pt-pt ro-ro ru-ru sg-en sk-sk sl-sl za-en es-es se-sv ch-de ch-fr ch-it tw-tzh th-th "
    "tr-tr ua-uk uk-en us-en us-es ve-es vn-vi xa-ar xa-en"
).split()
# Countries it does not call by their code; what it calls `sl` is Slovenia, not Sierra Leone.
_OWN_NAMES: Final = {"GB": "uk", "SI": "sl", "SL": ""}
_ENGINE: Final = "duckduckgo.com"
_START = re.compile(r"[0-9]{1,6}", re.ASCII)  # field `s` of a form: how many results lie before its page


class Duckduckgo(Provider):
    id = "duckduckgo"
    label = "DuckDuckGo"
    receives = "DuckDuckGo (html.duckduckgo.com)"
    rank = 220
    base_url = "https://html.duckduckgo.com"
    key = "none"
    settings = (Setting(name="region", default=_NOWHERE, help="region when the request names none, e.g. us-en"),)
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": NATIVE,
        "date_range": EMULATED,
        "language": NATIVE,
        "region": NATIVE,
        "safe": NATIVE,
        "page": EMULATED,
    }
    max_count = 30
    max_query = _MAX_QUERY
    interval = 0.5
    price = 0.0
    hint = "set up a key (webseam key set NAME) or a SearXNG instance"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        region = _region(search) or str(config.values["region"])
        form = {"q": _without_bangs(with_sites(search, limit=_MAX_QUERY)), "b": "", "kl": region}
        when = bucket(search)
        if when:
            form["df"] = _WHEN[when]
        if search.safe:
            form["kp"] = _SAFE[search.safe]
        return self._post(search, config, form)

    def _post(self, search: SearchRequest, config: ProviderConfig, form: dict[str, str]) -> Request:
        cookies = "; ".join(f"{name}={form[name]}" for name in ("kl", "df") if form.get(name))
        language = search.language or "en"
        headers = (
            ("User-Agent", _USER_AGENT),
            ("Accept", "text/html"),
            ("Accept-Language", f"{language},en;q=0.5" if language != "en" else "en"),
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Referer", f"{config.base_url.rstrip('/')}/"),
            ("Cookie", cookies),
            ("Sec-Fetch-Dest", "document"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-User", "?1"),
        )
        return Request(
            method="POST",
            url=config.url("/html/"),
            headers=headers,
            body=urlencode(form).encode(),
            secrets=config.secrets,
        )

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import retry_after

        outcomes = {403: Outcome.BLOCKED, 418: Outcome.RATE_LIMITED, 429: Outcome.RATE_LIMITED}
        outcome = outcomes.get(reply.status)
        if outcome is None:
            return None
        return ProviderError(
            f"HTTP {reply.status}", outcome=outcome, http_status=reply.status, retry_after=retry_after(reply)
        )

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        import turbohtml  # 40 ms that only this provider needs

        page = turbohtml.parse(reply.text())
        hits = Hits(self.id)
        for node in page.select("#links .result, #links .web-result"):
            _add(hits, node, self.base_url)
        if hits.found or hits.dropped:
            more = self._next(page, reply, search, config)
            return hits.parsed(answer=_answer(page), more=more, notes=self._notes(search, config))
        if page.select_one(".no-results") is not None or "No results." in (_text(page.select_one("#links")) or ""):
            return hits.parsed(notes=self._notes(search, config))
        raise _nothing(reply, page)

    def _notes(self, search: SearchRequest, config: ProviderConfig) -> list[str]:
        """Say when the wanted region is not on its closed list."""
        if not search.region or _region(search):
            return []
        used = config.values["region"]
        return [f"{self.label} does not know the region {search.region}; duckduckgo.region ({used}) was used"]

    def _next(self, page: Any, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Request | None:
        """Return the request for the next page, from the page's own form; without its `vqd` asking would block us."""
        forms = []
        for form in page.select("form"):
            fields = {
                str(item.attrs["name"]): str(item.attrs.get("value") or "") for item in form.select("input[name]")
            }
            if fields.get("vqd") and _START.fullmatch(fields.get("s", "")):
                forms.append(fields)
        following = max(forms, key=lambda fields: int(fields["s"]), default=None)  # the other one leads back
        if following is None or int(following["s"]) <= _start(reply):
            return None
        return self._post(search, config, following)


def _add(hits: Hits, node: Any, base: str) -> None:
    classes = node.attrs.get("class") or ""
    link = node.select_one("a.result__a")
    if link is None or "result--ad" in classes:
        return
    href = _target(link.attrs.get("href") or "", base)
    if href is None:
        return
    snippet, site, extras = (node.select_one(name) for name in (".result__snippet", ".result__url", ".result__extras"))
    hits.add(
        url=href,
        title=_text(link),
        snippet=_text(snippet),
        site=_text(site),
        published=next((_text(span) for span in extras.select("span") if "T" in (_text(span) or "")), None)
        if extras
        else None,
    )


def _target(href: str, base: str) -> str | None:
    """Return where a result leads; None for an advertisement or a page of the engine itself."""
    try:
        absolute = urljoin(base, href)
        parts = urlsplit(absolute)
        host = parts.hostname or ""
    except ValueError:  # whether a malformed address can be a hit is decided where all are
        return href
    if not href or not (host == _ENGINE or host.endswith("." + _ENGINE)):
        return href and absolute
    return dict(parse_qsl(parts.query)).get("uddg") or "" if parts.path == "/l/" else None


def _text(node: Any) -> str | None:
    return " ".join(node.text.split()) if node is not None else None


def _answer(page: Any) -> str | None:
    """Return the short answer above the results, unless it shows the caller's own address or client."""
    text = _text(page.select_one("#zero_click_abstract"))
    if not text or "Your IP address" in text or "Your user agent" in text:
        return None
    return text


def _nothing(reply: Reply, page: Any) -> ProviderError:
    from webseam.providers.verdicts import is_challenge

    marked = page.select_one("form#challenge-form, .anomaly-modal, [class*=anomaly-modal]") is not None
    if marked or reply.status == 202 or is_challenge(reply, reply.text()):
        return ProviderError(
            f"HTTP {reply.status} with a challenge instead of results",
            outcome=Outcome.BLOCKED,
            http_status=reply.status,
        )
    return ProviderError(
        "nothing could be read from its page; its layout may have changed",
        outcome=Outcome.BAD_RESPONSE,
        http_status=reply.status,
    )


def _start(reply: Reply) -> int:
    """Return how many results lie before the page that was answered."""
    sent = dict(parse_qsl(reply.request.body.decode())) if reply.request else {}
    return int(sent["s"]) if _START.fullmatch(sent.get("s", "")) else 0


def _without_bangs(query: str) -> str:
    """Quote words that start with `!`: the site would answer with a redirect to another engine."""
    return " ".join(f'"{word}"' if word.startswith("!") and len(word) > 1 else word for word in query.split(" "))


def _region(search: SearchRequest) -> str | None:
    """Return the region as the site names it, in the wanted language where it has that; None when it knows none."""
    if not search.region:
        return None
    country = _OWN_NAMES.get(search.region, search.region.lower())
    language = (search.language or "").split("-")[0].lower()
    known = [name for name in _REGIONS if name.startswith(f"{country}-")]
    return next((name for name in known if name == f"{country}-{language}"), known[0] if known else None)
