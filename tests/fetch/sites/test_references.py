"""Articles, papers, standards, vulnerabilities and cards, read through the APIs of those who publish them."""

from __future__ import annotations

import json
from pathlib import Path
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
COMPAT = {
    "query": "api.Lantern",
    "browsers": {"chrome": {"name": "Chrome"}, "safari_ios": {"name": "Safari on iOS"}},
    "data": {
        "__compat": {
            "support": {
                "chrome": {"version_added": "50", "version_removed": "60"},
                "safari_ios": [{"version_added": "11", "partial_implementation": True}, {"version_added": "9"}],
                "nodejs": {"version_added": False},
                "deno": {"version_added": None, "flags": [{"type": "runtime_flag", "name": "--light"}]},
            }
        },
        "light_twice": {"__compat": {"support": {"chrome": {"version_added": "preview"}}}},
    },
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
RECORD = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.example/pubmed.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">31234567</PMID>
<Article PubModel="Print-Electronic">
<Journal><JournalIssue CitedMedium="Internet"><Volume>7</Volume><Issue>2</Issue>
<PubDate><Year>2024</Year><Month>May</Month></PubDate></JournalIssue><Title>Journal of Lanterns</Title></Journal>
<ArticleTitle>The light of <i>Lampyris</i> at H<sub>2</sub>O.</ArticleTitle>
<Pagination><MedlinePgn>1-9</MedlinePgn></Pagination>
<Abstract><AbstractText Label="BACKGROUND">We light &lt;5 lanterns.</AbstractText>
<AbstractText Label="METHODS"># Not a heading.</AbstractText></Abstract>
<AuthorList CompleteYN="Y"><Author><LastName>Acme</LastName><ForeName>Ada B</ForeName></Author>
<Author><CollectiveName>The Lantern Group</CollectiveName></Author></AuthorList><Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
<ArticleDate DateType="Electronic"><Year>2024</Year><Month>04</Month><Day>03</Day></ArticleDate></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="ErratumIn"><RefSource>J Lanterns. 2024;7:10</RefSource>
</CommentsCorrections><CommentsCorrections RefType="Cites"><RefSource>J Oil. 1900;1:1</RefSource></CommentsCorrections>
</CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D1">Light</DescriptorName></MeshHeading></MeshHeadingList>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">oil</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">31234567</ArticleId><ArticleId IdType="doi">10.5555/1</ArticleId>
<ArticleId IdType="pmc">PMC7654321</ArticleId></ArticleIdList></PubmedData></PubmedArticle></PubmedArticleSet>
"""


def note(number: int, kind: str, content: dict[str, Any], signed: str, above: str = "Ab3_xYz9") -> dict[str, Any]:
    return {
        "id": f"note{number}",
        "forum": "Ab3_xYz9",
        "replyto": above,
        "invitations": [f"Acme.org/2024/Conference/Submission7/-/{kind}", "Acme.org/2024/Conference/-/Edit"],
        "signatures": [signed],
        "cdate": 1_700_000_000_000 + number * 86_400_000,
        "content": {name: {"value": value} for name, value in content.items()},
    }


FORUM = {
    "count": 5,
    "notes": [
        note(
            3,
            "Official_Comment",
            {"comment": "We trimmed it."},
            "Acme.org/2024/Conference/Submission7/Authors",
            "note1",
        ),
        {
            **note(0, "Submission", {}, "Acme.org/2024/Conference/Submission7/Authors"),
            "id": "Ab3_xYz9",
            "replyto": None,
            "pdate": 1_705_000_000_000,
            "content": {
                "title": {"value": "Attention to Lanterns"},
                "authors": {"value": ["Ada Acme", "Bob Brook"]},
                "authorids": {"value": ["~Ada_Acme1"]},
                "keywords": {"value": ["light", "oil"]},
                "abstract": {"value": "We light $n$ lanterns."},
                "TLDR": {"value": "Light."},
                "venue": {"value": "Acme 2024 oral"},
                "pdf": {"value": "/pdf/1.pdf"},
                "_bibtex": {"value": "@inproceedings{}"},
            },
        },
        note(
            4,
            "Decision",
            {"title": "Paper Decision", "decision": "Accept (oral)"},
            "Acme.org/2024/Conference/Program_Chairs",
        ),
        note(
            1,
            "Official_Review",
            {
                "summary": "# Summary\nLanterns, lit.",
                "questions": "```\nlight()",
                "rating": "8: accept",
                "confidence": 4,
                "code_of_conduct": "Yes",
            },
            "Acme.org/2024/Conference/Submission7/Reviewer_aB12",
        ),
        {**note(2, "Public_Comment", {"comment": "gone"}, "~Eve_Example1"), "ddate": 1_700_000_000_001},
    ],
}
OLD_FORUM = {
    "notes": [
        {
            "id": "Ab3_xYz9",
            "cdate": 1_500_000_000_000,
            "invitation": "Acme.org/2017/Conference/-/Submission",
            "signatures": ["~Ada_Acme1"],
            "content": {"title": "Old Lanterns", "authors": ["Ada Acme"], "abstract": "Dim."},
        },
        {
            "id": "old1",
            "replyto": "Ab3_xYz9",
            "cdate": 1_500_100_000_000,
            "invitation": "Acme.org/2017/Conference/-/Paper7/Official_Review",
            "signatures": ["Acme.org/2017/Conference/Paper7/AnonReviewer2"],
            "content": {"title": "Nice", "review": "Bright enough.", "rating": "7: Good paper"},
        },
    ]
}
RUSTDOC = (Path(__file__).parent / "pages" / "rustdoc.html").read_text(encoding="utf-8")
PROJECT = {
    "id": 7,
    "name": "Lantern",
    "slug": "lantern",
    "created": "2019-01-02T03:04:05.678901Z",
    "modified": "2024-04-01T10:00:00Z",
    "language": {"code": "en", "name": "English"},
    "programming_language": {"code": "py", "name": "Python"},
    "homepage": "https://lantern.example",
    "repository": {"url": "https://github.com/acme/lantern", "type": "git"},
    "default_version": "stable",
    "default_branch": "main",
    "subproject_of": None,
    "translation_of": None,
    "urls": {
        "documentation": "https://lantern.readthedocs.io/en/stable/",
        "home": "https://readthedocs.org/projects/lantern/",
    },
    "tags": ["light"],
}
VERSIONS = {
    "count": 60,
    "next": "https://app.readthedocs.org/api/v3/projects/lantern/versions/?limit=50&offset=50",
    "results": [
        {
            "slug": "stable",
            "verbose_name": "stable",
            "type": "tag",
            "built": True,
            "hidden": False,
            "urls": {"documentation": "https://lantern.readthedocs.io/en/stable/"},
        },
        {"slug": "v1", "verbose_name": "v1", "type": "branch", "built": False, "hidden": False, "urls": {}},
        {"slug": "secret", "verbose_name": "secret", "type": "branch", "built": True, "hidden": True, "urls": {}},
    ],
}
VIDEO = {
    "title": "Lighting a lantern",
    "author_name": "Ada",
    "author_url": "https://www.youtube.com/@ada",
    "type": "video",
}
PLAYER: dict[str, Any] = {
    "playabilityStatus": {"status": "OK"},
    "videoDetails": {
        "videoId": "abcdefghijk",
        "lengthSeconds": "3723",
        "viewCount": "4321",
        "shortDescription": "How to light it.\n\n# Not a heading\n0:00 Oil\n1:10 Fire </script>",
    },
    "microformat": {"playerMicroformatRenderer": {"publishDate": "2024-04-01T10:00:00-07:00", "category": "Education"}},
    "captions": {
        "playerCaptionsTracklistRenderer": {
            "captionTracks": [
                {
                    "baseUrl": "https://evil.example/steal?lang=de",
                    "languageCode": "de",
                    "name": {"simpleText": "German"},
                },
                {
                    "baseUrl": "https://www.youtube.com/api/timedtext?v=abcdefghijk&kind=asr&lang=en",
                    "languageCode": "en",
                    "kind": "asr",
                    "name": {"runs": [{"text": "English (auto-generated)"}]},
                },
                {
                    "baseUrl": "https://www.youtube.com/api/timedtext?v=abcdefghijk&sig=a%2Bb&lang=en-GB",
                    "languageCode": "en-GB",
                    "name": {"simpleText": "English (United Kingdom)"},
                },
            ]
        }
    },
}
SPEECH = {
    "events": [
        {"tStartMs": 0, "dDurationMs": 500, "id": 1},
        {"tStartMs": 1_200, "segs": [{"utf8": "Take the"}, {"utf8": " lantern"}]},
        {"tStartMs": 3_000, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 30_000, "segs": [{"utf8": "and\nthe <b>oil</b>."}]},
        {"tStartMs": 70_000, "segs": [{"utf8": "Now fire."}]},
    ]
}


def watch_page(player: object) -> tuple[int, dict[str, str], str]:
    written = json.dumps(player).replace("</", "<\\/")
    page = f"<html><script>var ytInitialPlayerResponse = {written};var meta = 1;</script></html>"
    return 200, {"Content-Type": "text/html; charset=utf-8"}, page


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "wikipedia": (EXAMPLES["wikipedia"], {"/w/rest.php/v1/page/Oil_lamp/with_html": (200, {}, ARTICLE)}),
    "arxiv": (EXAMPLES["arxiv"], {"/query": (200, {"Content-Type": "application/atom+xml"}, FEED)}),
    "rfc-editor": (
        EXAMPLES["rfc-editor"],
        {"/rfc/rfc9999.txt": (200, {"Content-Type": "text/plain"}, RFC), "/rfc/rfc9999.json": (200, {}, RFC_FACTS)},
    ),
    "mdn": (
        EXAMPLES["mdn"],
        {
            "/en-US/docs/Web/API/Lantern/index.json": (200, {}, MDN),
            "/bcd/api/v0/current/api.Lantern.json": (200, {}, COMPAT),
        },
    ),
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
    "pubmed": (EXAMPLES["pubmed"], {"/efetch.fcgi": (200, {"Content-Type": "text/xml"}, RECORD)}),
    "openreview": (EXAMPLES["openreview"], {"/notes": (200, {}, FORUM)}),
    "docs-rs": (
        EXAMPLES["docs-rs"],
        {"/lantern/latest/lantern/struct.Wick.html": (200, {"Content-Type": "text/html"}, RUSTDOC)},
    ),
    "read-the-docs": (
        EXAMPLES["read-the-docs"],
        {
            "/api/v3/projects/lantern/": (200, {}, PROJECT),
            "/api/v3/projects/lantern/versions/": (200, {}, VERSIONS),
        },
    ),
    "youtube": (
        EXAMPLES["youtube"],
        {"/oembed": (200, {}, VIDEO), "/watch": watch_page(PLAYER), "/api/timedtext": (200, {}, SPEECH)},
    ),
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
                "2024-04-01T10:00:00-07:00",
                "en-GB",
                ["captions in other languages: de, en"],
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
        ("https://www.ncbi.nlm.nih.gov/pubmed/31234567", "pubmed"),
        ("https://pubmed.ncbi.nlm.nih.gov/?term=lantern", None),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC7654321/", None),
        ("https://openreview.net/pdf?id=Ab3_xYz9", None),
        ("https://docs.rs/lantern", "docs-rs"),
        ("https://docs.rs/lantern/~2/lantern/", "docs-rs"),
        ("https://docs.rs/crate/lantern/latest", "docs-rs"),
        ("https://docs.rs/crate/lantern/2.0.1/source/src/lib.rs", None),
        ("https://docs.rs/lantern/latest/src/lantern/lib.rs.html", None),
        ("https://docs.rs/releases/recent", None),
        ("https://docs.rs/about", None),
        ("https://doc.rust-lang.org/std/vec/struct.Vec.html", "docs-rs"),
        ("https://doc.rust-lang.org/nightly/core/", "docs-rs"),
        ("https://doc.rust-lang.org/book/ch01-00-getting-started.html", None),
        ("https://readthedocs.org/projects/lantern/versions/", "read-the-docs"),
        ("https://readthedocs.org/dashboard/", None),
        ("https://lantern.readthedocs.io/en/latest/", "read-the-docs"),
        ("https://lantern.readthedocs.io/en/latest/_static/a.js", None),
    ],
)
def test_which_pages_are_asked_for(url: str, known: str | None) -> None:
    site = find(url)
    assert (site.id if site else None) == known


async def test_an_article_without_its_table_of_browsers_is_read_all_the_same() -> None:
    async with World() as world:
        reading = await read(world, EXAMPLES["mdn"], {"/en-US/docs/Web/API/Lantern/index.json": (200, {}, MDN)})
    assert reading.markdown.endswith(
        "\n\n## Browser compatibility\n\nThe table of browser versions is on the page only.\n"
    )
    assert reading.notes == ["without the versions of browsers: MDN answered 404"]


async def test_the_key_of_ncbi_is_posted_and_in_no_address() -> None:
    async with World() as world:
        world.route("POST", "/efetch.fcgi", (200, {"Content-Type": "text/xml"}, RECORD))
        reading = await read(world, EXAMPLES["pubmed"], token="secret-1")
        sent = world.requests[0]
    assert reading.markdown == page("pubmed")
    assert sent.body == b"db=pubmed&id=31234567&retmode=xml&tool=webseam&api_key=secret-1"
    assert "secret-1" not in sent.target
    assert "secret-1" not in str(sent.headers)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param("<PubmedArticleSet/>", id="nothing found"),
        pytest.param("<PubmedArticleSet><PubmedBookArticle/></PubmedArticleSet>", id="a book"),
        pytest.param('<!DOCTYPE a [<!ENTITY b "c">]><PubmedArticleSet/>', id="entities"),
        pytest.param("{}", id="JSON"),
    ],
)
def test_a_record_that_is_none_is_a_failure(record: str) -> None:
    with pytest.raises(SiteFailed):
        drive(
            get("pubmed"), EXAMPLES["pubmed"], config("https://a.example"), lambda request: answer(200, record.encode())
        )


async def test_a_paper_of_an_old_venue_is_asked_for_where_those_are() -> None:
    async with World() as world:
        old = World()
        async with old:
            old.route("GET", "/notes", (200, {}, OLD_FORUM))
            world.route("GET", "/notes", (404, {}, {"name": "NotFoundError", "message": "The Note was not found"}))
            reading = await read(world, EXAMPLES["openreview"], values={"old_url": old.url})
    assert reading.markdown == page("openreview-old")


def test_a_forum_that_is_not_for_everybody_is_not_found() -> None:
    with pytest.raises(SiteFailed) as failed:
        drive(
            get("openreview"),
            EXAMPLES["openreview"],
            config("https://api.example"),
            lambda request: answer(200, b'{"notes": [], "count": 0}'),
        )
    assert failed.value.outcome is Outcome.NOT_FOUND


def test_a_note_of_a_forum_is_where_its_address_leads() -> None:
    body = json.dumps(FORUM).encode()
    reading, _ = drive(
        get("openreview"), EXAMPLES["openreview"], config("https://a.example"), lambda _: answer(200, body)
    )
    assert reading is not None
    at = reading.anchors["note3"]
    assert reading.markdown[at:].startswith(
        "### 2. Authors, reply to 1, official comment, 2023-11-17\n\n**Comment:** We"
    )


def test_an_item_of_rustdoc_is_where_its_address_leads() -> None:
    reading, _ = drive(
        get("docs-rs"), EXAMPLES["docs-rs"], config("https://docs.rs"), lambda _: answer(200, RUSTDOC.encode())
    )
    assert reading is not None
    assert reading.title == "Struct Wick"
    assert reading.removed == {"blanket implementations": 2}
    assert {name: reading.markdown[at:].split("\n")[0] for name, at in reading.anchors.items()} == {
        "impl-Wick": "### impl Wick",
        "method.trim": "#### pub fn trim<T>(self) -> bool where T: Ord,",
    }


async def test_the_page_about_a_crate_comes_from_the_registry() -> None:
    crate = {
        "crate": {"name": "lantern", "description": "Light", "max_stable_version": "2.0.1", "newest_version": "2.0.1"}
    }
    async with World() as world:
        reading = await read(world, "https://docs.rs/crate/lantern", {"/api/v1/crates/lantern": (200, {}, crate)})
    assert reading.reader == "docs-rs"
    assert reading.markdown.startswith("# lantern 2.0.1\n\nLight\n")


async def test_a_redirect_of_rustdoc_is_where_relative_addresses_start() -> None:
    async with World() as world:
        world.route("GET", "/lantern", (302, {"Location": "/lantern/latest/lantern/"}, ""))
        found = {"/lantern/latest/lantern/": (200, {"Content-Type": "text/html"}, RUSTDOC)}
        seen: list[str] = []
        site = get("docs-rs")
        assert site is not None
        given = config(world.url)

        def noted(fragment: str, base: str) -> str:
            seen.append(base)
            return given.html_to_markdown(fragment, base)

        await read(world, "https://docs.rs/lantern", found, html_to_markdown=noted)
    assert set(seen) == {"https://docs.rs/lantern/latest/lantern/"}


async def test_pages_of_read_the_docs_are_left_to_the_readers_without_a_token() -> None:
    site = get("read-the-docs")
    url = "https://lantern.readthedocs.io/en/latest/guide.html"
    assert drive(site, url, config("https://a.example"), lambda _: answer(500)) == (None, [])


async def test_pages_of_read_the_docs_come_through_the_embed_api_with_a_token() -> None:
    title = '<h1>The guide<a class="headerlink" href="#guide" title="x">\u00b6</a></h1>'
    content = f'<section id="guide">{title}<p>Light.</p></section>'
    async with World() as world:
        reading = await read(
            world,
            "https://lantern.readthedocs.io/en/latest/guide.html#first",
            {"/api/v3/embed/": (200, {}, {"url": "x", "fragment": None, "content": content, "external": False})},
            token="secret-1",
        )
        sent = world.requests[0]
    assert (reading.title, reading.markdown) == ("The guide", "# The guide\n\nLight.\n")
    assert sent.query == {"url": ["https://lantern.readthedocs.io/en/latest/guide.html"]}
    assert sent.headers["authorization"] == "Token secret-1"


async def video(**answers: Any) -> Any:
    """Read the video of the examples; `answers` replace what its parts answer."""
    player = answers.pop("player", PLAYER)
    routes = {"/oembed": (200, {}, VIDEO), "/watch": watch_page(player), "/api/timedtext": (200, {}, SPEECH)}
    routes |= {f"/{name.replace('_', '/')}": given for name, given in answers.items() if name != "values"}
    async with World() as world:
        reading = await read(world, EXAMPLES["youtube"], routes, values=answers.get("values", {}))
        return reading, [request.target for request in world.requests]


async def test_captions_are_asked_for_at_youtube_whatever_the_page_says() -> None:
    _, sent = await video(values={"language": "de"})
    assert sent[-1] == "/api/timedtext?lang=de&fmt=json3"


async def test_captions_can_be_turned_off() -> None:
    reading, sent = await video(values={"captions": False})
    assert len(sent) == 1
    assert reading.notes == ["title and channel only: reading of captions is turned off"]


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        pytest.param({"player": {"videoDetails": {}}}, "no captions: the video has none", id="none"),
        pytest.param(
            {"player": {"playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age"}}},
            "no captions: Sign in to confirm your age",
            id="not for everybody",
        ),
        pytest.param(
            {"api_timedtext": (200, {}, "")},
            "without captions: YouTube gives those of this video to its own player only",
            id="an empty answer",
        ),
        pytest.param(
            {"api_timedtext": (200, {}, "<transcript/>")},
            "without captions: YouTube answered with captions in another form",
            id="another form",
        ),
        pytest.param({"api_timedtext": (404, {}, "")}, "without captions: YouTube answered 404", id="gone"),
        pytest.param({"watch": (429, {}, "")}, "without description and captions: YouTube answered 429", id="no page"),
        pytest.param(
            {"watch": (200, {"Content-Type": "text/html"}, "<html>consent</html>")},
            "without description and captions: the watch page does not say",
            id="a consent page",
        ),
        pytest.param(
            {"watch": (200, {"Content-Type": "text/html"}, "var ytInitialPlayerResponse = {cut")},
            "without description and captions: the watch page does not say in a known form",
            id="a cut page",
        ),
    ],
)
async def test_a_video_without_captions_says_why(answers: dict[str, Any], note: str) -> None:
    reading, _ = await video(**answers)
    assert reading.title == "Lighting a lantern"
    assert reading.notes == [note]
