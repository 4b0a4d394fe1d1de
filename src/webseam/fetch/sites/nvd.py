"""NVD: one CVE with its scores, weaknesses, affected products and references.

Source: https://nvd.nist.gov/developers/vulnerabilities (API 2.0).
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_ENTRIES: Final = 100
_ID = re.compile(r"CVE-\d{4}-\d{4,10}", re.ASCII | re.IGNORECASE)
_METRICS: Final = ("cvssMetricV40", "cvssMetricV31", "cvssMetricV30", "cvssMetricV2")


class Nvd(Site):
    """`/vuln/detail/CVE-…`."""

    id = "nvd"
    label = "NVD"
    hosts = ("nvd.nist.gov",)
    base_url = "https://services.nvd.nist.gov/rest/json"
    token_env = ("NVD_API_KEY",)

    def credentials(self, token: str) -> tuple[tuple[str, str], ...]:
        return (("apiKey", token),)

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("vuln", "detail", key) if _ID.fullmatch(key):
                return partial(_cve, key=key.upper())
        return None


def _cve(api: Api, key: str) -> Asked[Reading]:
    found = yield from api.object("cves", "2.0", query={"cveId": key})
    cve = found["vulnerabilities"][0]["cve"]
    if not cve.is_object:
        raise SiteFailed("no such CVE", outcome=Outcome.NOT_FOUND)
    document = api.document(cve["id"].line or key)
    scores = [_score(metric) for name in _METRICS for metric in cve["metrics"][name]]
    document.facts(
        ("Status", cve["vulnStatus"].line),
        ("Published", cve["published"].day),
        ("Changed", cve["lastModified"].day),
        ("Score", "; ".join(scores[:6])),
        ("Weaknesses", joined({one["description"][0]["value"].line: None for one in cve["weaknesses"]})),
        ("Known to be exploited", joined([cve["cisaExploitAdd"].day or "", cve["cisaRequiredAction"].line])),
    )
    english = [one["value"].text for one in cve["descriptions"] if one["lang"].line == "en"]
    document.plain("\n\n".join(english or [one["value"].text for one in cve["descriptions"]]))
    matches = [
        _product(match)
        for configuration in cve["configurations"]
        for node in configuration["nodes"]
        for match in node["cpeMatch"]
        if match["vulnerable"].raw is True
    ]
    if matches:
        document.heading(2, "Affected")
        document.entries(matches[:MAX_ENTRIES], more=len(matches) - MAX_ENTRIES)
    references = [joined([one["url"].line, *(tag.line for tag in one["tags"])]) for one in cve["references"]]
    if references:
        document.heading(2, "References")
        document.entries(references[:MAX_ENTRIES], more=len(references) - MAX_ENTRIES)
    return document.reading(published=cve["published"].date)


def _score(metric: Value) -> str:
    data = metric["cvssData"]
    severity = data["baseSeverity"].line or metric["baseSeverity"].line
    return f"{data['baseScore'].line} {severity.lower()} ({data['vectorString'].line}, {metric['source'].line})"


def _product(match: Value) -> str:
    parts = [*re.split(r"(?<!\\):", match["criteria"].line), "", "", "", "", "", ""]
    vendor, product, version = parts[3:6]
    spans = [
        f"{words} {match[name].line}"
        for name, words in (
            ("versionStartIncluding", "from"),
            ("versionStartExcluding", "after"),
            ("versionEndIncluding", "up to"),
            ("versionEndExcluding", "before"),
        )
        if match[name].line
    ]
    exact = version if version not in ("*", "-", "") else ""
    return " ".join(filter(None, (vendor, product, exact, *spans))).replace("\\", "")
