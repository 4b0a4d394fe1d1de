"""What a body is: by its first bytes, then by what was declared, then by the name in its URL, then by its text.

The bytes come first because what servers declare is often wrong, and a program or an archive read as text is noise that
costs a model its context. Between kinds of text the declaration and the name decide, since the same words can be a
log, a source file or Markdown.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from webseam.fetch.decode import decode, is_readable, unmarked_wide
from webseam.fetch.readers.languages import language_of
from webseam.fetch.readers.writing import extension, file_name
from webseam.fetch.signatures import recognise

Kind = Literal[
    "html",
    "xml",
    "feed",
    "json",
    "jsonl",
    "csv",
    "text",
    "source",
    "markdown",
    "notebook",
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "epub",
    "image",
    "archive",
    "binary",
]

_SAMPLE: Final = 4_096  # bytes looked at to tell text from other data
_HEAD: Final = 16_384  # bytes that hold the first element: licences stand before some
_TAG_SEARCHED: Final = 65_536  # characters in which a page has at least one tag
_MAX_JSON: Final = 1_048_576  # characters of text declared as something else that are tried as JSON
_MAX_LINE: Final = 262_144  # characters of a line tried as JSON
_ABOVE_ASCII: Final = bytes(range(128, 256))
_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32 LE: UTF-16's

# Comments, a declaration and processing instructions that stand before the first element. Each consumes something.
_PROLOGUE = re.compile(r"\s*(?:<\?[^>]{0,1000}>|<!--(?s:.*?)-->)", re.IGNORECASE)
_DOCTYPE = re.compile(r"\s*<!doctype\s+(?:[\w.-]{1,40}:)?([\w-]+)[^>\[]*(?:\[[^\]]*\]\s*)?>?", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(?:!doctype\s+html\b|html[\s>])", re.IGNORECASE)
_ROOT = re.compile(r"\s*<(?:[\w.-]{1,40}:)?([A-Za-z][\w.-]{0,60})")
_TAG = re.compile(r"<(?:[A-Za-z][A-Za-z0-9-]*[\s/>]|!doctype\b|!--)|&(?:[a-z]{2,8}|#\d{1,6});", re.IGNORECASE)
_HTML_ROOTS: Final = frozenset(
    "html head body title meta link script style div p h1 h2 table a br main article section span iframe form".split()
)
_FEED_ROOTS: Final = frozenset(("rss", "feed", "RDF"))
_RSS_1: Final = "http://purl.org/rss/1.0/"

_BY_TYPE: Final[dict[str, Kind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/json": "json",
    "text/json": "json",
    "application/x-ndjson": "jsonl",
    "application/ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/x-jsonlines": "jsonl",
    "application/jsonlines": "jsonl",
    "application/json-lines": "jsonl",
    "application/json-seq": "jsonl",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/x-ipynb+json": "notebook",
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/zip": "archive",
    "application/gzip": "archive",
    **dict.fromkeys(
        (
            "application/x-gzip",
            "application/x-tar",
            "application/x-gtar",
            "application/x-tgz",
            "application/x-compressed",
            "application/x-compressed-tar",
            "application/x-zip-compressed",
            "application/x-bzip2",
            "application/x-xz",
            "application/zstd",
        ),
        "archive",
    ),
}
_BY_EXTENSION: Final[dict[str, Kind]] = {
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("xml", "xsd", "xsl", "xslt", "plist"), "xml"),
    **dict.fromkeys(("rss", "atom"), "feed"),
    **dict.fromkeys(("json", "geojson", "webmanifest"), "json"),
    **dict.fromkeys(("jsonl", "ndjson"), "jsonl"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mkdn", "mdx", "rmd", "qmd"), "markdown"),
    "ipynb": "notebook",
}
_MARKDOWN_NAMES: Final = frozenset(("llms.txt", "llms-full.txt"))
_MEDIA_TYPE: Final[dict[Kind, str]] = {
    "html": "text/html",
    "xml": "application/xml",
    "feed": "application/xml",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv",
    "text": "text/plain",
    "source": "text/plain",
    "markdown": "text/markdown",
    "notebook": "application/x-ipynb+json",
    "image": "image/svg+xml",  # the only one that is text
    "binary": "application/octet-stream",
}
_UNSAID: Final = frozenset(
    ("", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown")
)
_TEXTUAL: Final[frozenset[Kind]] = frozenset(
    ("text", "source", "markdown", "csv", "json", "jsonl", "notebook", "xml", "feed")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sniffed:
    """What a body is.

    Attributes:
        media_type: of what the bytes are; what was declared when that fits.
        mismatch: "declared text/html, is application/zip" when they differ in kind, else None.
        language: of source code, as a code fence names it.
    """

    kind: Kind
    media_type: str
    mismatch: str | None = None
    language: str | None = None


def sniff(body: bytes, declared: str, url: str) -> Sniffed:
    """Return what `body` is. `declared` is the essence of its media type, "" when nobody said; `url` gives its name."""
    declared = declared.strip().lower()
    if recognised := recognise(body):
        return _sniffed(declared, recognised[0], recognised[1])
    if not looks_like_text(body):
        return _sniffed(declared, "binary", "")
    kind = _kind_of_text(body, declared, url)
    language = language_of(url, declared, _beginning(body[:_SAMPLE])) if kind == "source" else None
    return _sniffed(declared, kind, "", language)


def _sniffed(declared: str, kind: Kind, media_type: str, language: str | None = None) -> Sniffed:
    """Return the verdict; without a `media_type` of the bytes the declared one stands, if it fits the kind."""
    fits = _fits(declared, kind)
    if not media_type:
        media_type = declared if fits and declared not in _UNSAID else _MEDIA_TYPE[kind]
    mismatch = None if fits else f"declared {declared[:100]}, is {media_type}"
    return Sniffed(kind=kind, media_type=media_type, mismatch=mismatch, language=language)


def _fits(declared: str, kind: Kind) -> bool:
    """True when bytes of this kind may be declared so."""
    said = _kind_declared(declared)
    if declared in _UNSAID or said == kind:
        return True
    if said in _TEXTUAL or _is_text_type(declared):
        return kind in _TEXTUAL and said != "html"
    return said is None and kind != "html" and (kind == "binary" or declared.startswith("application/"))


def looks_like_text(body: bytes) -> bool:
    """True when the beginning of `body` has next to no control characters, in single bytes or in UTF-16 or UTF-32."""
    sample = body[:_SAMPLE]
    if sample.startswith(_BOMS) or unmarked_wide(sample):
        return is_readable(_beginning(sample))
    return is_readable(sample.translate(None, _ABOVE_ASCII).decode("ascii"))


def _beginning(body: bytes) -> str:
    """Return the beginning as text in which ASCII is right; enough to tell documents apart, not to read them."""
    if body.startswith(_BOMS):
        return decode(body, None).text
    return body.decode(unmarked_wide(body) or "utf-8", "replace")


def _kind_declared(declared: str) -> Kind | None:
    """Return the kind that a media type stands for, None when it leaves it open."""
    if declared in _BY_TYPE:
        return _BY_TYPE[declared]
    if declared.endswith("+json"):
        return "json"
    if declared.startswith("image/"):
        return "image"
    if declared.endswith("+xml"):
        return "xml"
    return None


def _is_text_type(declared: str) -> bool:
    return declared.startswith(("text/", "message/")) or declared.endswith(
        ("+json", "+xml", "javascript", "yaml", "toml")
    )


def _kind_of_text(body: bytes, declared: str, url: str) -> Kind:
    head = _beginning(body[:_HEAD])
    said, named = _kind_declared(declared), _kind_named(url)
    if declared == "text/plain":
        # Servers of source files say so of all of them, and a page among them is wanted as its source.
        return named if named in _TEXTUAL else _plain(body, declared, url)
    if said == "markdown":
        return "html" if _PAGE.match(head) else said  # Markdown may begin with any other element
    markup = _markup(head)
    if said == "html":
        return markup if markup in ("html", "feed") else _declared_html(body, head, named)
    if markup is not None and (said is not None or not _is_text_type(declared)):
        return markup
    return _kind_of_data(body, declared, url)


def _kind_of_data(body: bytes, declared: str, url: str) -> Kind:
    """Return the kind of text that is no markup."""
    said, named = _kind_declared(declared), _kind_named(url)
    if named == "notebook" or said == "notebook" or (said == "json" and _is_notebook(body)):
        return "notebook"
    kind = said if said in _TEXTUAL else named if named in _TEXTUAL else _plain(body, declared, url)
    return "jsonl" if kind == "json" and (named == "jsonl" or _is_lines(body)) else kind


def _kind_named(url: str) -> Kind | None:
    if (file_name(url) or "").lower() in _MARKDOWN_NAMES:
        return "markdown"
    return _BY_EXTENSION.get(extension(url))


def _plain(body: bytes, declared: str, url: str) -> Kind:
    """Return the kind of text that neither its type nor its name tells: source code, JSON by its syntax, else text."""
    if language_of(url, declared, _beginning(body[:_SAMPLE])) is not None:
        return "source"
    if not declared.startswith("text/") and _is_json(body):
        return "json"
    return "jsonl" if not declared.startswith("text/") and _is_lines(body) else "text"


def _declared_html(body: bytes, head: str, named: Kind | None) -> Kind:
    """Return the kind of what is declared as HTML and does not begin like it: HTML, unless it has no tag at all."""
    if head.lstrip()[:1] in ("{", "[") and _is_json(body):
        return "json"
    if not head.strip() or _TAG.search(_beginning(body[:_TAG_SEARCHED])):
        return "html"
    return named if named in _TEXTUAL else "text"


def _markup(head: str) -> Kind | None:
    """Return the kind of a document that begins with markup, by its document type or its root."""
    if _PAGE.match(head):
        return "html"
    position = _after_prologue(head, 0)
    declared = position > 0 and head.lstrip()[:5].lower() == "<?xml"
    if doctype := _DOCTYPE.match(head, position):
        declared = True
        if doctype[1].lower() == "html":
            return "html"
        position = _after_prologue(head, doctype.end())
    root = _ROOT.match(head, position)
    if root is None:
        return "xml" if declared else None
    kind = _kind_of_root(root[1], head)
    # The first element of no known format may be a fragment, or text about markup.
    return kind if kind != "xml" or declared or "xmlns" in head else None


def _after_prologue(head: str, position: int) -> int:
    while prologue := _PROLOGUE.match(head, position):
        position = prologue.end()
    return position


def _kind_of_root(root: str, text: str) -> Kind:
    if root.lower() in _HTML_ROOTS:
        return "html"
    if root == "svg":
        return "image"
    if root in _FEED_ROOTS:
        return "feed" if root != "RDF" or _RSS_1 in text else "xml"
    return "xml"


def _is_json(body: bytes) -> bool:
    text = _beginning(body[:_MAX_JSON]).strip()
    if text[:1] not in ("{", "["):
        return False
    if len(body) > _MAX_JSON:
        return re.match(r"\{\s*\"|\[\s*[\[{\"\d]", text) is not None
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_lines(body: bytes) -> bool:
    """True when the first two lines are JSON objects or arrays, each by itself."""
    lines = [line for line in _beginning(body[:_MAX_LINE]).split("\n")[:4] if line.strip()][:2]
    return len(lines) == 2 and all(line.strip()[:1] in ("{", "[") and _is_json(line.encode()) for line in lines)


def _is_notebook(body: bytes) -> bool:
    return b'"nbformat"' in body and b'"cells"' in body
