"""docs.rs and the documentation of Rust itself: rustdoc's pages without what rustdoc puts around them.

There is no API that gives the text of a page: the JSON form of rustdoc is megabytes for a whole crate, in a format that
changes every few weeks. So the page is asked for, its main part is kept, and the buttons, the links to the source and
the blanket implementations that every type has (a quarter of a typical page) are left out; fragments such as
`#method.spawn` lead to their item. The page about a crate comes from the registry. Source:
https://doc.rust-lang.org/rustdoc/ and https://docs.rs/about.
"""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Final
from urllib.parse import urljoin, urlsplit

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.crates import read_crate
from webseam.fetch.sites.writing import one_line
from webseam.fetch.types import Reading
from webseam.schema import Setting

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VERSION = re.compile(r"latest|[\^~=]?\d[0-9A-Za-z.+-]{0,60}")
_OWN: Final = frozenset("alloc core proc_macro std test".split())  # crates of Rust itself
_CHANNEL = re.compile(r"stable|beta|nightly|1\.\d{1,3}\.\d{1,2}")
_RESERVED: Final = frozenset("-  about crate features releases search sitemap static".split())
_REGISTRY: Final = "https://crates.io"
_MAIN = re.compile(r"<section id=\"main(?:-content)?\"[^<>]{0,200}>")
_END = re.compile(r"</section>\s{0,10}</div>\s{0,10}</main>|</main>|<script\b")
_AUTO = re.compile(r"<h2 id=\"synthetic-implementations\"")
_BLANKET = re.compile(r"<h2 id=\"blanket-implementations\"")
_HEADER = re.compile(r"<h3 class=\"code-header[^\"]{0,50}\">(.{1,2000}?)</h3>", re.DOTALL)
_SHOWN_VERSION = re.compile(r"class=\"version\">\s{0,10}(?:Version )?(\d[0-9A-Za-z.+-]{0,60})")
_ITEM = re.compile(r"<section id=\"([^\"<>]{1,200})\" class=\"|<span id=\"((?:variant|structfield)\.[^\"<>]{1,200})\"")
_NOISE = re.compile(
    r"</?(?:details|summary)\b[^<>]{0,200}>|<wbr>|</?rustdoc-toolbar[^<>]{0,50}>"
    r"|<summary class=\"hideme\">[^/]{0,100}</span></summary>|<button\b[^<>]{0,300}>[^<>]{0,100}</button>"
    r"|<span class=\"(?:[a-z-]{1,20} )?since(?: [a-z-]{1,20})?\"[^<>]{0,200}>"
    r"[^<>]{0,60}(?:<a [^<>]{0,300}>[^<>]{0,60}</a>[^<>]{0,60})?</span>"
    r"|<a (?:[a-z-]{1,20}=\"[^\"]{0,300}\" ){0,5}class=\"(?:src|srclink|anchor|doc-anchor|tooltip|test-arrow)\b"
    r"[^\"]{0,50}\"[^<>]{0,500}>[^<>]{0,20}</a>"
)
_TOGGLE = re.compile(r"<summary class=\"hideme\">.{0,100}?</summary>")
_EMPTY = re.compile(r"<span class=\"(?:rightside|sub-heading|out-of-band)\">[\s·]{0,20}</span>")
_WHERE = re.compile(r"(?<!\s)(?=<div class=\"where\b)")
_CODE = re.compile(r"(<pre\b|</pre>)")
_TITLE = re.compile(r"<h1\b[^<>]{0,200}>(.{1,2000}?)</h1>", re.DOTALL)
MAX_PAGE: Final = 4 * 1024 * 1024  # bytes; the largest page of the standard library has 2.8 MiB
TITLE_WITHIN: Final = 10_000  # characters from the beginning of a page's main part
AUTO_WITHIN: Final = 100_000  # characters of the list of auto traits; most have seven in two thousand
_TAG = re.compile(r"<[^<>]{0,500}>")


class DocsRs(Site):
    """`docs.rs/NAME`, `docs.rs/NAME/VERSION/PATH`, `docs.rs/crate/NAME`, and `doc.rust-lang.org/std`."""

    id = "docs-rs"
    label = "docs.rs"
    hosts = ("docs.rs", "doc.rust-lang.org")
    base_url = "https://docs.rs"
    home = ("docs.rs",)
    settings = (
        Setting(name="registry_url", default=_REGISTRY, guarded=True, help="where crates are described"),
        Setting(
            name="static_url",
            default="https://static.crates.io",
            guarded=True,
            help="where rendered READMEs are served",
        ),
    )

    def plan(self, place: Place) -> Plan | None:
        segments = place.segments
        if place.query or not segments or any(not _is_plain(part) for part in segments):
            return None
        if place.host == "doc.rust-lang.org":
            inside = segments[1:] if _CHANNEL.fullmatch(segments[0]) else segments
            return _page if inside and inside[0] in _OWN and _is_page(inside[-1]) else None
        match segments:
            case ("crate", name) | ("crate", name, "latest") if _NAME.fullmatch(name):
                return partial(_crate, name=name, version=None)
            case ("crate", name, version) if _NAME.fullmatch(name) and re.fullmatch(r"\d[\w.+-]{0,60}", version):
                return partial(_crate, name=name, version=version)
        if segments[0] in _RESERVED or not _NAME.fullmatch(segments[0]):
            return None
        if len(segments) > 1 and not _VERSION.fullmatch(segments[1]):
            return None
        return _page if segments[2:3] != ("src",) and (len(segments) < 3 or _is_page(segments[-1])) else None


def _is_plain(segment: str) -> bool:
    return "/" not in segment and "\\" not in segment


def _is_page(segment: str) -> bool:
    return segment.endswith(".html") or "." not in segment


def _crate(api: Api, name: str, version: str | None) -> Asked[Reading]:
    registry = str(api.config.values.get("registry_url") or _REGISTRY)
    return (yield from read_crate(api, name, version, root=registry))


def _page(api: Api) -> Asked[Reading]:
    segments = api.place.segments
    is_folder = api.place.url.partition("#")[0].endswith("/")
    response = yield from api.get(*segments, *([""] if is_folder else []), accept="text/html", max_bytes=MAX_PAGE)
    page = response.body.decode("utf-8", "replace")
    start = _MAIN.search(page)
    if start is None:
        raise SiteFailed(f"{api.site.label} answered with a page that rustdoc did not make")
    end = _END.search(page, start.end())
    main = page[start.end() : end.start() if end else len(page)]
    blanket = _BLANKET.search(main)
    left_out = main.count('<h3 class="code-header', blanket.start()) if blanket else 0
    main = main[: blanket.start()] if blanket else main
    automatic = _AUTO.search(main)
    listed = main[automatic.start() : automatic.start() + AUTO_WITHIN] if automatic else ""
    implemented = [_words(one[1]) for one in _HEADER.finditer(listed)]
    main = main[: automatic.start()] if automatic else main
    # Where the page was in the end: its relative addresses start there.
    base = urljoin(api.place.origin, urlsplit(response.url).path or "/")
    document = api.document("", base=base)
    shown = _SHOWN_VERSION.search(page, 0, start.start())
    heading = _TITLE.search(main, 0, TITLE_WITHIN)
    document.title = _words(heading[1]) if heading else ""
    if heading:
        main = main[: heading.start()] + main[heading.end() :]
        document.heading(1, document.title)
    document.facts(("Crate", segments[0] if api.place.host == "docs.rs" else ""), ("Version", shown and shown[1]))
    document.html(_cleaned(main), base, anchors=_ITEM)
    if implemented:
        document.heading(2, "Auto trait implementations")
        document.entries([f"`{one}`" for one in implemented if one])
    if left_out:
        document.removed["blanket implementations"] = left_out
    return document.reading(language="en")


def _cleaned(main: str) -> str:
    """Return a page's main part without what is for a hand with a mouse."""
    parts = _CODE.split(_EMPTY.sub("", _NOISE.sub("", _TOGGLE.sub("", main))))
    in_code = False
    for at, part in enumerate(parts):
        if at % 2:
            in_code = part != "</pre>"
        elif not in_code:  # in code it stands on its own line
            parts[at] = _WHERE.sub(" ", part)
    return "".join(parts)


def _words(fragment: str) -> str:
    return one_line(html.unescape(_TAG.sub("", _cleaned(fragment))))
