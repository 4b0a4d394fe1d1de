"""PubMed: one article's record with its abstract, and where its whole text is.

Source: https://www.ncbi.nlm.nih.gov/books/NBK25499/ (EFetch, `db=pubmed`, XML). A key lifts three questions a second to
ten; NCBI takes it as a parameter only, so with one the question is posted: a key has no business in an address.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from webseam.errors import Outcome
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.elements import parse, words
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_AUTHORS: Final = 50
MAX_TERMS: Final = 40
_ID = re.compile(r"\d{1,9}", re.ASCII)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class PubMed(Site):
    """`pubmed.ncbi.nlm.nih.gov/ID` and `ncbi.nlm.nih.gov/pubmed/ID`."""

    id = "pubmed"
    label = "PubMed"
    hosts = ("pubmed.ncbi.nlm.nih.gov", "www.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov")
    base_url = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    token_env = ("NCBI_API_KEY",)

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case (key,) if place.host.startswith("pubmed.") and _ID.fullmatch(key):
                return partial(_article, key=key)
            case ("pubmed", key) if not place.host.startswith("pubmed.") and _ID.fullmatch(key):
                return partial(_article, key=key)
        return None

    def credentials(self, token: str) -> tuple[tuple[str, str], ...]:
        return ()


def _article(api: Api, key: str) -> Asked[Reading]:
    asked = {"db": "pubmed", "id": key, "retmode": "xml", "tool": "webseam"}
    sent = {"form": {**asked, "api_key": api.config.token}} if api.config.token else {"query": asked}
    answer = yield from api.text("efetch.fcgi", accept="application/xml", **sent)
    found = parse(answer, "PubMed").find("PubmedArticle")
    article = found.find("MedlineCitation/Article") if found is not None else None
    if found is None or article is None:
        raise SiteFailed("no such article", outcome=Outcome.NOT_FOUND)
    authors = [_name(one) for one in article.iterfind("AuthorList/Author")]
    published = _date(article.find("ArticleDate")) or _date(article.find("Journal/JournalIssue/PubDate"))
    issue = article.find("Journal/JournalIssue")
    names = {one.get("IdType", ""): words(one) for one in found.iterfind("PubmedData/ArticleIdList/ArticleId")}
    document = api.document(words(article, "ArticleTitle") or words(article, "VernacularTitle") or f"PubMed {key}")
    document.facts(
        ("Authors", joined(authors, most=MAX_AUTHORS)),
        ("Published", published),
        ("In", joined([words(article, "Journal/Title"), _named("volume", issue, "Volume"),
                       _named("issue", issue, "Issue"), _named("pages", article, "Pagination/MedlinePgn")])),
        ("Type", joined(words(one) for one in article.iterfind("PublicationTypeList/PublicationType"))),
        ("Language", joined(words(one) for one in article.iterfind("Language"))),
        ("PubMed", f"https://pubmed.ncbi.nlm.nih.gov/{key}/"),
        ("DOI", f"https://doi.org/{names['doi']}" if names.get("doi") else ""),
        ("Full text", f"https://pmc.ncbi.nlm.nih.gov/articles/{names['pmc']}/" if names.get("pmc") else ""),
        ("Corrections", joined(_correction(one) for one in found.iterfind(
            "MedlineCitation/CommentsCorrectionsList/CommentsCorrections"))),
    )  # fmt: skip
    parts = article.findall("Abstract/AbstractText")
    if parts:
        document.heading(2, "Abstract")
    for part in parts:
        title = part.get("Label", "")
        if title:
            document.heading(3, title.capitalize())
        document.plain(words(part))
    terms = [words(one) for one in found.iterfind("MedlineCitation/MeshHeadingList/MeshHeading/DescriptorName")]
    keywords = [words(one) for one in found.iterfind("MedlineCitation/KeywordList/Keyword")]
    if terms or keywords:
        document.heading(2, "Terms")
        document.facts(
            ("Keywords", joined(keywords, most=MAX_TERMS)), ("MeSH", joined(dict.fromkeys(terms), most=MAX_TERMS))
        )
    return document.reading(author=joined(authors, most=3), published=published)


def _named(name: str, element: Element | None, path: str) -> str:
    value = words(element, path)
    return f"{name} {value}" if value else ""


def _name(author: Element) -> str:
    given = words(author, "ForeName") or words(author, "Initials")
    return " ".join(filter(None, (given, words(author, "LastName")))) or words(author, "CollectiveName")


def _correction(one: Element) -> str:
    """Return e.g. `RetractionIn: …`; comments and the like are no corrections."""
    kind = one.get("RefType", "")
    return f"{kind}: {words(one, 'RefSource')}" if kind.startswith(("Retraction", "Erratum", "Expression")) else ""


def _date(element: Element | None) -> str | None:
    """Return `2024-05-01`, or less where less is known."""
    year, month, day = (words(element, name) for name in ("Year", "Month", "Day"))
    if not re.fullmatch(r"\d{4}", year, re.ASCII):
        found = re.match(r"\d{4}", words(element, "MedlineDate"), re.ASCII)
        return found[0] if found else None
    number = _MONTHS.index(month[:3].lower()) + 1 if month[:3].lower() in _MONTHS else month
    if not re.fullmatch(r"\d{1,2}", str(number), re.ASCII):
        return year
    return f"{year}-{int(number):02d}" + (f"-{int(day):02d}" if re.fullmatch(r"\d{1,2}", day, re.ASCII) else "")
