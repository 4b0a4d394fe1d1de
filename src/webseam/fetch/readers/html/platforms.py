"""Where known publishing software puts the text of a page: one row each, told by its markup and never by a host name.

The first row whose selector finds enough text wins, so the narrow ones stand first. Adding a generator of documentation
is one row here and one case in the tests.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.measure import may_match

if TYPE_CHECKING:
    from turbohtml import Document, Element

_LEAST: Final = 120  # characters of text below which an element is a placeholder and the next row is tried


@dataclass(frozen=True, slots=True)
class Platform:
    """One kind of software.

    Attributes:
        content: selector of the element with the text.
        clutter: selector of what is inside it and is not text: edit links, permalinks, pagers.
        mark: selector that must be somewhere on the page, for a `content` that other software uses too.
    """

    name: str
    content: str
    clutter: str = ""
    mark: str = ""


PLATFORMS: Final = (
    Platform(
        "sphinx",
        'div[itemprop="articleBody"], #furo-main-content, article.bd-article, div.body[role="main"], '
        '[role="main"] > .document, .documentwrapper .body, div.rst-content [role="main"]',
        ".headerlink, .viewcode-link, .viewcode-back, .prev-next-area, .rst-footer-buttons, .related, .sphinxsidebar",
        '.highlight, .headerlink, .toctree-wrapper, .reference, section[id], div.section, [href*="_static"]',
    ),
    Platform(
        "material", "article.md-content__inner", ".md-content__button, .headerlink, .md-source-file, .md-feedback"
    ),
    Platform(
        "docusaurus",
        ".theme-doc-markdown, article .markdown",
        ".hash-link, .theme-doc-toc-mobile, .theme-doc-footer, .pagination-nav, .theme-edit-this-page",
        '[class*="docusaurus"], #__docusaurus',
    ),
    Platform("rustdoc", "#main-content", ".src, .anchor, #copy-path, .out-of-band, rustdoc-toolbar", ".rustdoc"),
    Platform("mdbook", "#content main, #mdbook-content main", ".nav-chapters, .buttons", "#sidebar, .sidebar-toggle"),
    Platform("mkdocs", '.wy-nav-content [role="main"], .col-md-9[role="main"]', ".headerlink", '[href*="mkdocs"]'),
    Platform("starlight", ".sl-markdown-content", ".sl-anchor-link, .pagination-links"),
    Platform("vitepress", ".vp-doc, .theme-default-content", ".header-anchor, .VPDocFooter, .page-edit, .page-nav"),
    Platform("nextra", ".nextra-content main, main.nextra-content", ".subheading-anchor, .nextra-breadcrumb"),
    Platform("mintlify", ".mdx-content", "#pagination, .feedback-toolbar"),
    Platform("docsy", ".td-content", ".td-heading-self-link, .feedback, .td-page-meta, #pre-footer, .section-index"),
    Platform("gitbook", ".book-body .markdown-section, .page-inner section.normal", ".gitbook-link"),
    Platform("devsite", ".devsite-article-body", "devsite-feedback, .devsite-code-buttons-container, devsite-bookmark"),
    Platform("antora", "article.doc", ".toc, nav.pagination, .edit-this-page, .anchor"),
    Platform("readme", ".rm-Markdown", ".PaginationContainer"),
    Platform("doxygen", "div.contents", ".permalink, .dynheader", "#doc-content, .doxygen, #titlearea"),
    Platform(
        "javadoc",
        "main[role=main], .contentContainer",
        ".sub-nav, .copy, .anchor-link",
        ".sub-title, .package-signature",
    ),
    Platform(
        "docbook",
        "div.refentry, div.chapter, div.sect1, div.appendix, div.preface, div.part",
        ".navheader, .navfooter",
        ".navheader, .navfooter, .titlepage, .sect2, .refsect1",
    ),
    Platform("godoc", ".UnitReadme-content, .Documentation-content", ".Documentation-idLink, .Documentation-source"),
    Platform(
        "notebook", ".jp-Notebook, #notebook-container", ".jp-InputPrompt, .jp-OutputPrompt, .prompt, .anchor-link"
    ),
    Platform(
        "mediawiki",
        ".mw-parser-output",
        ".mw-editsection, .navbox, .toc, #toc, .catlinks, .printfooter, .noprint, .metadata, .sistersitebox, "
        ".mw-empty-elt, .authority-control, .portalbox, .vector-toc",
        '.mw-body, #mw-content-text, [class*="mediawiki"]',
    ),
    Platform(
        "dokuwiki", "#dokuwiki__content .page, .dokuwiki .page", "#dw__toc, .secedit, .editbutton_section", ".dokuwiki"
    ),
    Platform(
        "confluence", "#main-content.wiki-content, .wiki-content", ".toc-macro", '[class*="confluence"], #confluence-ui'
    ),
    Platform("github", "#readme article.markdown-body, article.markdown-body, .markdown-body.entry-content", ".anchor"),
    Platform("gitlab", ".file-content.md, .wiki-page-details .md", ".anchor", "[data-page]"),
    Platform("pypi", ".project-description", ""),
    Platform("zendesk", ".article-body", ".article-votes, .article-relatives", '.article-info, [href*="zendesk"]'),
    Platform("substack", ".available-content .body, .available-content", ".subscription-widget-wrap, .button-wrapper"),
    Platform("ghost", ".gh-content", ".kg-signup-card, .kg-cta-card"),
    Platform("devto", "#article-body", "", ".crayons-article"),
    Platform(
        "learn",
        "#main .content, #main-column .content",
        ".feedback-verbatim, #article-header, .alert-subscribe",
        "[data-bi-name=content]",
    ),
)


def find_platform(document: Document, names: Set[str]) -> tuple[Platform, Element] | None:
    """Return the software that made the page and the one element that holds its text; None when neither is sure.

    `names`: the classes and ids on the page.
    """
    for platform in PLATFORMS:
        if not may_match(platform.content, names):
            continue
        found = document.select(platform.content)
        if not found or (platform.mark and document.select_one(platform.mark) is None):
            continue
        all_found = set(found)
        outer = [element for element in found if all_found.isdisjoint(element.ancestors)]
        if len(outer) > 1 and platform.name not in (
            "sphinx",
            "godoc",
        ):  # a list of posts: the page is about all of them
            continue
        best = max(outer, key=lambda element: len(element.text))
        if len("".join(best.text.split())) >= _LEAST:
            return platform, best
    return None
