"""Articles, papers, standards, vulnerabilities and cards, read through the APIs of those who publish them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fetch.sites.reading import EXAMPLES, answer, around, config, drive, page, read
from tests.world import Recorded, World
from webseam.errors import Outcome
from webseam.fetch.sites import find, get
from webseam.fetch.sites.base import SiteFailed

ARTICLE = {
    "id": 99,
    "key": "Oil_lamp",
    "title": "Oil lamp",
    "latest": {"id": 12345, "timestamp": "2024-04-01T10:00:00Z"},
    "license": {"title": "Creative Commons Attribution-Share Alike 4.0"},
    "html": "<p>An <b>oil lamp</b> is a lamp.</p><h2>History</h2><p>Old.</p>",
}
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title>ArXiv Query</title>
  <entry>
    <id>http://arxiv.org/abs/2401.01234v2</id>
    <updated>2024-02-01T10:00:00Z</updated>
    <published>2024-01-02T10:00:00Z</published>
    <title>Attention to
      Lanterns</title>
    <summary>  We light
    $n$ lanterns &amp; measure.</summary>
    <author><name>Ada Acme</name></author>
    <author><name>Bob Brook</name></author>
    <arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">12 pages</arxiv:comment>
    <arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.5555/1</arxiv:doi>
    <category term="cs.LG"/>
    <category term="cs.CL"/>
  </entry>
</feed>
"""
RFC = """



Lantern Working Group                                            A. Acme
Request for Comments: 9999                                  Lantern Inc.
Category: Standards Track                                       June 2024


                        The Lantern Protocol (LP)

Abstract

   This document describes how lanterns are lit
   over the network, with <angle> brackets.

Table of Contents

   1.  Introduction  . . . . . . . . . . . . . . . . .   2
     1.1.  Words . . . . . . . . . . . . . . . . . . .   2

1.  Introduction

   A lantern is lit by a message.  The message has

Acme                         Standards Track                    [Page 1]
\f
RFC 9999                  The Lantern Protocol                 June 2024

   two parts:

   o  a wick, which burns
      for some time;

   *  oil.

1.1.  Words

     +------+      +------+
     | wick | ---> | oil  |
     +------+      +------+

     light = wick SP oil

   The end.

Appendix A.  Thanks

   To all.
"""
RFC_FACTS = {
    "doc_id": "RFC9999",
    "title": "The Lantern Protocol",
    "authors": ["A. Acme", "B. Brook, Ed."],
    "pub_date": "June 2024",
    "status": "PROPOSED STANDARD",
    "obsoletes": ["RFC1234"],
    "obsoleted_by": [],
    "updates": [],
    "updated_by": ["RFC10001 "],
    "errata_url": None,
}
MDN = {
    "doc": {
        "title": "Lantern: light() method",
        "modified": "2024-04-01T10:00:00.000Z",
        "pageFlags": ["deprecated"],
        "baseline": {"baseline": "high", "baseline_low_date": "2020-01-15"},
        "body": [
            {"type": "prose", "value": {"id": None, "title": None, "content": "<p>Lights it.</p>"}},
            {
                "type": "prose",
                "value": {
                    "id": "syntax",
                    "title": "Syntax",
                    "isH3": False,
                    "content": "<pre><code>light(wick)\n</code></pre>",
                },
            },
            {"type": "prose", "value": {"title": "<code>wick</code>", "isH3": True, "content": "<p>A wick.</p>"}},
            {
                "type": "specifications",
                "value": {
                    "title": "Specifications",
                    "specifications": [{"title": "Lantern API", "bcdSpecificationURL": "https://w3c.example/#light"}],
                },
            },
            {"type": "browser_compatibility", "value": {"title": "Browser compatibility", "query": "api.Lantern"}},
        ],
    }
}
WORK = {
    "status": "ok",
    "message": {
        "DOI": "10.5555/lantern.2024.7",
        "title": ["Lanterns &amp; light"],
        "author": [{"given": "Ada", "family": "Acme"}, {"name": "The Lantern Group"}],
        "published": {"date-parts": [[2024, 5, 1]]},
        "container-title": ["Journal of Lanterns"],
        "volume": "7",
        "page": "1-9",
        "publisher": "Acme Press",
        "type": "journal-article",
        "resource": {"primary": {"URL": "https://press.example/lantern"}},
        "is-referenced-by-count": 3,
        "references-count": 20,
        "abstract": "<jats:title>Abstract</jats:title><jats:p>We light <jats:italic>lanterns</jats:italic>.</jats:p>",
        "link": [
            {"URL": "https://press.example/lantern.pdf", "intended-application": "text-mining"},
            {"URL": "https://press.example/check", "intended-application": "similarity-checking"},
        ],
        "language": "en",
    },
}
OSV = {
    "id": "GHSA-aaaa-bbbb-cccc",
    "summary": "Lantern sets fire to its input",
    "details": "Any input is *burnt*.",
    "aliases": ["CVE-2024-0007"],
    "published": "2024-05-01T00:00:00Z",
    "modified": "2024-05-02T00:00:00Z",
    "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N"}],
    "database_specific": {"severity": "HIGH", "cwe_ids": ["CWE-79"]},
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "lantern"},
            "ranges": [
                {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.1"}]},
                {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "0123456"}]},
            ],
        },
        {"package": {"ecosystem": "npm", "name": "lantern"}, "versions": ["1.0.0", "1.0.1"]},
    ],
    "references": [{"type": "ADVISORY", "url": "https://lantern.example/advisory"}],
}
CVE = {
    "totalResults": 1,
    "vulnerabilities": [
        {
            "cve": {
                "id": "CVE-2024-0007",
                "published": "2024-05-01T00:00:00.000",
                "lastModified": "2024-05-02T00:00:00.000",
                "vulnStatus": "Analyzed",
                "descriptions": [
                    {"lang": "es", "value": "Quema."},
                    {"lang": "en", "value": "Lantern burns its input."},
                ],
                "metrics": {
                    "cvssMetricV31": [
                        {
                            "source": "nvd@nist.gov",
                            "cvssData": {"baseScore": 8.1, "baseSeverity": "HIGH", "vectorString": "CVSS:3.1/AV:N"},
                        }
                    ]
                },
                "weaknesses": [{"description": [{"lang": "en", "value": "CWE-79"}]}],
                "configurations": [
                    {
                        "nodes": [
                            {
                                "cpeMatch": [
                                    {
                                        "vulnerable": True,
                                        "criteria": "cpe:2.3:a:acme:lan\\:tern:*:*:*:*:*:*:*:*",
                                        "versionStartIncluding": "1.0",
                                        "versionEndExcluding": "2.1",
                                    },
                                    {"vulnerable": False, "criteria": "cpe:2.3:o:acme:os:-:*:*:*:*:*:*:*"},
                                ]
                            }
                        ]
                    }
                ],
                "references": [{"url": "https://lantern.example/advisory", "tags": ["Patch"]}],
            }
        }
    ],
}
MODEL = {
    "id": "acme/lantern-small",
    "author": "acme",
    "pipeline_tag": "text-generation",
    "library_name": "transformers",
    "cardData": {"license": "mit", "language": ["en", "de"], "base_model": "acme/lantern"},
    "safetensors": {"total": 1234567},
    "gated": "auto",
    "downloads": 1000,
    "likes": 10,
    "createdAt": "2024-01-01T00:00:00.000Z",
    "lastModified": "2024-04-01T10:00:00.000Z",
    "tags": ["transformers", "license:mit"],
    "siblings": [{"rfilename": "README.md"}, {"rfilename": "model.safetensors"}],
}
CARD = "---\nlicense: mit\n---\n# Lantern small\n\nA small model.\n"
PAPER = {
    "id": "2401.01234",
    "title": "Attention to Lanterns",
    "summary": "We light lanterns.",
    "authors": [{"name": "Ada Acme"}, {"name": "Bob Brook"}],
    "publishedAt": "2024-01-02T10:00:00.000Z",
    "upvotes": 12,
}
VIDEO = {
    "title": "Lighting a lantern",
    "author_name": "Ada",
    "author_url": "https://www.youtube.com/@ada",
    "type": "video",
}

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "wikipedia": (EXAMPLES["wikipedia"], {"/w/rest.php/v1/page/Oil_lamp/with_html": (200, {}, ARTICLE)}),
    "arxiv": (EXAMPLES["arxiv"], {"/query": (200, {"Content-Type": "application/atom+xml"}, FEED)}),
    "rfc-editor": (
        EXAMPLES["rfc-editor"],
        {"/rfc/rfc9999.txt": (200, {"Content-Type": "text/plain"}, RFC), "/rfc/rfc9999.json": (200, {}, RFC_FACTS)},
    ),
    "mdn": (EXAMPLES["mdn"], {"/en-US/docs/Web/API/Lantern/index.json": (200, {}, MDN)}),
    "doi": (EXAMPLES["doi"], {"/works/10.5555/lantern.2024.7": (200, {}, WORK)}),
    "osv": (EXAMPLES["osv"], {"/v1/vulns/GHSA-aaaa-bbbb-cccc": (200, {}, OSV)}),
    "nvd": (EXAMPLES["nvd"], {"/cves/2.0": (200, {}, CVE)}),
    "hugging-face": (
        EXAMPLES["hugging-face"],
        {
            "/api/models/acme/lantern-small": (200, {}, MODEL),
            "/acme/lantern-small/raw/main/README.md": (200, {"Content-Type": "text/plain"}, CARD),
        },
    ),
    "hugging-face-paper": ("https://huggingface.co/papers/2401.01234", {"/api/papers/2401.01234": (200, {}, PAPER)}),
    "hugging-face-file": (
        "https://huggingface.co/datasets/acme/lights/blob/main/data/one.json",
        {"/datasets/acme/lights/raw/main/data/one.json": (200, {"Content-Type": "text/plain"}, '{"light": 1}\n')},
    ),
    "youtube": (EXAMPLES["youtube"], {"/oembed": (200, {}, VIDEO)}),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_page_is_read_through_the_api(name: str) -> None:
    url, answers = CASES[name]
    async with World() as world:
        reading = await read(world, url, answers)
    assert reading.markdown == page(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wikipedia", ("Oil lamp", None, None, "en", [], False)),
        ("arxiv", ("Attention to Lanterns", "Ada Acme, Bob Brook", "2024-01-02T10:00:00Z", None, [], False)),
        ("rfc-editor", ("RFC 9999: The Lantern Protocol", "A. Acme, B. Brook, Ed.", "2024-06-01", "en", [], False)),
        ("mdn", ("Lantern: light() method", None, "2024-04-01T10:00:00.000Z", "en-US", [], False)),
        ("doi", ("Lanterns & light", "Ada Acme, The Lantern Group", "2024-05-01", "en", [], False)),
        (
            "youtube",
            (
                "Lighting a lantern",
                "Ada",
                None,
                None,
                ["title and channel only: YouTube gives descriptions and captions to its player alone"],
                False,
            ),
        ),
    ],
)
async def test_a_reading_says_who_and_when(name: str, said: tuple[object, ...]) -> None:
    url, answers = CASES[name]
    async with World() as world:
        assert around(await read(world, url, answers)) == said


async def test_what_is_asked_for_stands_in_the_query() -> None:
    asked: list[dict[str, list[str]]] = []

    def feed(request: Recorded) -> tuple[int, dict[str, str], Any]:
        asked.append(request.query)
        return 200, {}, FEED

    async with World() as world:
        await read(world, EXAMPLES["arxiv"], {"/query": feed})
    assert asked == [{"id_list": ["2401.01234v2"], "max_results": ["1"]}]


async def test_the_key_of_nvd_goes_in_its_own_header() -> None:
    async with World() as world:
        await read(world, EXAMPLES["nvd"], CASES["nvd"][1], token="secret-1")
        assert world.requests[0].headers["apikey"] == "secret-1"
        assert "secret-1" not in world.requests[0].target


@pytest.mark.parametrize(
    "feed",
    [
        pytest.param(b'<!DOCTYPE x [<!ENTITY a "aaaa">]><feed>&a;</feed>', id="entities"),
        pytest.param(b"<feed>", id="cut"),
        pytest.param(b"\xff\xfe", id="not UTF-8"),
        pytest.param(b'<feed xmlns="http://www.w3.org/2005/Atom"/>', id="no entry"),
    ],
)
def test_a_feed_that_is_none_is_a_failure(feed: bytes) -> None:
    with pytest.raises(SiteFailed):
        drive(get("arxiv"), EXAMPLES["arxiv"], config("https://api.example"), lambda request: answer(200, feed))


def test_a_cve_that_nobody_knows_is_not_found() -> None:
    nothing = answer(200, b'{"totalResults": 0, "vulnerabilities": []}')
    with pytest.raises(SiteFailed) as failed:
        drive(get("nvd"), EXAMPLES["nvd"], config("https://api.example"), lambda request: nothing)
    assert failed.value.outcome is Outcome.NOT_FOUND


def test_an_article_is_asked_for_on_the_host_of_its_language() -> None:
    article = answer(200, b'{"title": "Lampe", "html": "<p>Licht.</p>"}')
    for url in ("https://de.wikipedia.org/wiki/Lampe_(Licht)", "https://de.m.wikipedia.org/wiki/Lampe_(Licht)"):
        reading, sent = drive(get("wikipedia"), url, config(""), lambda request: article)
        assert [one.url for one in sent] == ["https://de.wikipedia.org/w/rest.php/v1/page/Lampe_%28Licht%29/with_html"]
        assert reading is not None
        assert reading.language == "de"


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://en.wikipedia.org/wiki/Special:Random", None),
        ("https://en.wikipedia.org/wiki/Oil_lamp?action=history", None),
        ("https://en.wikipedia.org/w/index.php?title=Oil_lamp", None),
        ("https://arxiv.org/abs/cs/0112017v1", "arxiv"),
        ("https://arxiv.org/pdf/2401.01234", None),
        ("https://www.rfc-editor.org/info/rfc2119", "rfc-editor"),
        ("https://www.rfc-editor.org/rfc/rfc2119.pdf", None),
        ("https://datatracker.ietf.org/doc/html/rfc9110", "rfc-editor"),
        ("https://datatracker.ietf.org/doc/draft-acme-lantern/", None),
        ("https://developer.mozilla.org/en-US/", None),
        ("https://developer.mozilla.org/fr/docs/Web/API", "mdn"),
        ("https://doi.org/the-identifier/", None),
        ("https://huggingface.co/acme", None),
        ("https://huggingface.co/docs/hub/index", None),
        ("https://huggingface.co/spaces/acme/demo", "hugging-face"),
        ("https://huggingface.co/datasets/acme/lights/tree/main", "hugging-face"),
        ("https://youtu.be/abcdefghijk?t=3", "youtube"),
        ("https://www.youtube.com/@ada", None),
    ],
)
def test_which_pages_are_asked_for(url: str, known: str | None) -> None:
    site = find(url)
    assert (site.id if site else None) == known
