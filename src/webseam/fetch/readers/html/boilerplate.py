"""What stands around the text on many pages: menus, consent notices, share bars, related links. Removed and counted.

Names of classes are hints and no proof: an element goes only when its name says so *and* it does not hold the page's
text. Platforms that are known are not judged by names at all.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.measure import each, is_in_code

if TYPE_CHECKING:
    from turbohtml import Element, Node

LANDMARKS: Final = (
    "nav, footer, menu, [role=navigation], [role=contentinfo], [role=complementary], [role=search], [role=menu], "
    "[role=menubar], [role=tablist], [role=banner], [role=toolbar]"
)
_TAGS: Final = frozenset(
    "div section ul ol p span table header form li dl a h2 h3 h4 figure article details center".split()
)
_MENU: Final = 6  # links from which a list of nothing else is a menu
_ALL_LINKS: Final = 0.9  # share of links in a menu's text
_FEW_LINKS: Final = 0.3
_SOME: Final = 500  # characters from which the page's main part is believed to be all of it
_GREAT: Final = 0.4  # share of the page's text from which a name is not believed
_GREATER: Final = 0.8  # the same for an element that means what it is called

_EDGE: Final = r"(?:$|[-_ ])"
_KIND: Final = [  # what is counted, and the words for it; the first that matches
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "consent",
            r"cookie|consent|gdpr|ccpa|onetrust|truste|usercentrics|didomi|qc-cmp|iubenda-cs|privacy-(?:banner|notice|popup)",
        ),
        (
            "share",
            r"shar(?:e|ing)(?:$|[-_ ]?(?:bar|buttons?|links?|icons?|tools?|this|list|social|widget|menu|row|daddy))"
            r"|sharedaddy|social(?!ite|ism|ly|-proof)|addtoany|addthis|follow-?us|jp-relatedposts",
        ),
        (
            "related",
            r"related|recommend(?:ed|ations)|read-?(?:next|more-)|more-(?:stories|articles|posts|from|in|on)"
            r"|also-?(?:like|read|viewed|bought)|most-?(?:read|popular|viewed)|trending|popular-?posts|you-may|up-?next"
            r"|outbrain|taboola|suggested|recently-?viewed|cross-?sell|up-?sell|similar-(?:items|products)",
        ),
        (
            "comments",
            r"(?:^| )comments?(?: |$)|comments?-?(?:list|area|section|wrap|container|thread|form|respond)"
            r"|disqus|respond(?: |$)|reply-form"
            r"|fb-comments",
        ),
        (
            "navigation",
            r"(?:^|[-_ ])(?:nav|menu|navbar|navigation|breadcrumbs?|pagination|pager|paging|toolbar|topbar|sidebar"
            r"|side-bar|footer|masthead|skip-?link|site-header|header-top|mega-?menu|offcanvas|off-canvas|drawer|sitemap"
            r"|language-?(?:switcher|selector)|back-?to-?top|prev-?next|post-?nav|tabs-?nav)"
            + _EDGE
            + r"|navbox|breadcrumb|sidebar(?!-less)|subnav|menu-item",
        ),
        (
            "promotion",
            r"newsletter|subscri(?:be|ption)(?!er)|sign-?up-(?:form|box|bar)|mailing-?list|banner-?ad|advert|paywall"
            r"|pop-?up|modal|lightbox|dfp-ad|gpt-ad|sponsor(?:ed)?" + _EDGE + r"|(?:^|[-_ ])ads?" + _EDGE,
        ),
        (
            "byline",
            r"(?:^|[-_ ])(?:author-(?:box|bio|card|info|profile)|about-(?:the-)?author|byline|post-?meta|entry-meta"
            r"|article-meta|posted-on|tag-?(?:s|list|links)|post-tags|cat-links|entry-footer|article-footer|post-footer"
            r"|read(?:ing)?-time)" + _EDGE,
        ),
    )
]
_SENTENCE: Final = 60  # characters of a paragraph that says something
_ANY = re.compile("|".join(f"(?:{pattern.pattern})" for _, pattern in _KIND))
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z][a-z]{2})")  # parts of words, and not of the hash behind them
_BODY = re.compile(r"(?:^|[-_ ])(?:article|post|entry|story)[-_]{0,2}(?:body|content|text)(?:$|[-_ ])")
_CARDS: Final = frozenset(("related", "promotion", "byline", "share"))  # what the cards of a list may be called
_MANY: Final = 6
_SURE = re.compile(  # what manages consent, by the names that only it has: it may say more than the page does
    r"onetrust-(?:consent|banner)|CybotCookiebot|usercentrics-root|didomi-host|qc-cmp2|ensModalWrapper|cookie-law-info"
    r"|cmplz-cookiebanner|iubenda-cs"
)
_NOTE = re.compile(r"quote|note|admonition|callout|alert|tip|warning|citation")
_LAYOUT = re.compile(  # the same words on boxes of the page itself
    r"(?:has|with|no|without|page|layout|body|js|is|hide|show|toggle|wp-block|elementor)-?(?:[a-z]+-)?"
    r"(?:sidebar|nav|menu|header|footer|banner|modal|cookie)"
    r"|main-?content|content-?(?:wrapper|container|area|main)|page-?(?:wrapper|container)"
    r"|site-?(?:content|wrapper|container|main)|sidebar-?(?:right|left)?-?(?:layout|page|template)"
    r"|article-?(?:body|content)|(?:post|entry)-?(?:body|content)|hentry|product"
)


def remove_boilerplate(root: Node, *, is_article: bool) -> Counter[str]:
    """Remove what surrounds the text below `root`. Returns how many elements of each kind.

    Comments go from an article only: on other pages they may be what the page is for.
    """
    removed: Counter[str] = Counter()
    size = len(root.text) or 1
    main = _main(root)
    for element in each(root, LANDMARKS):
        if _stays(element, size, _GREATER) and not (_is_apart(element, main) or _is_only_menu(element, root)):
            continue
        removed["navigation"] += 1
        element.extract()
    for aside in each(root, "aside"):
        if not _is_note(aside) and not _stays(aside, size):
            removed["related"] += 1
            aside.extract()
    for header in each(root, "header"):
        if header.select_one("h1") is not None or header.closest("article, main") is not None:
            continue
        if not _stays(header, size) or _is_only_menu(header, root):
            removed["navigation"] += 1
            header.extract()
    removed["navigation"] += _remove_menus(root, size)
    for kind, element in _named(root, size, main, is_article=is_article):
        removed[kind] += 1
        element.extract()
    return removed


def _named(root: Node, size: int, main: Element | None, *, is_article: bool) -> list[tuple[str, Element]]:
    """Return the elements below `root` whose names say that they are around the text, with what they say.

    On a page that is a list the cards may be called `promo` or `related`: when all of a kind together are much of the
    page, they are what it is about.
    """
    found: list[tuple[str, Element]] = []
    sizes: Counter[str] = Counter()
    times: Counter[str] = Counter()
    elements = root.select("[class], [id]")
    at = 0
    while at < len(elements):
        element = elements[at]
        at += 1
        if element.tag not in _TAGS:
            continue
        name = element.attr("class") or ""
        if element.tag != "section":  # a section's id is its heading: "cookies", "more-on-lists"
            name = f"{name} {element.attr('id') or ''}"
        kind = _kind_of(name)
        if kind is None or (kind == "comments" and not is_article):
            continue
        if _stays(element, size) and not _is_sure(element, kind, name, main):
            continue
        found.append((kind, element))
        sizes[kind] += len(element.text)
        times[kind] += 1
        at += len(element.select("[class], [id]"))  # what is inside goes with it
    if is_article:
        return found
    much = len(root.text) * _GREAT
    cards = {kind for kind in _CARDS if times[kind] >= _MANY and sizes[kind] > much}
    return [(kind, element) for kind, element in found if kind not in cards]


@lru_cache(maxsize=8_192)
def _kind_of(name: str) -> str | None:
    """Return `kind_of` what stands in the attributes, where words may be told apart by capitals alone."""
    spread = _CAMEL.sub("-", name).lower()
    return kind_of(spread) if any(map(_may_be, spread.split())) else None


@lru_cache(maxsize=16_384)  # pages say the same words in ever new combinations
def _may_be(word: str) -> bool:
    return _ANY.search(word) is not None


def kind_of(name: str) -> str | None:
    """Return what an element with these classes and this id is, when it is not the page's text."""
    if _BODY.search(name):
        return None
    for word in name.split():
        if "[" in word or _LAYOUT.search(word):  # in brackets stand values: `h-[var(--nav-height)]`
            continue
        for kind, pattern in _KIND:
            if pattern.search(word):
                return kind
    return None


def _stays(element: Element, size: int, great: float = _GREAT) -> bool:
    """Tell whether an element is too much of the page to be beside it, or part of code, whose names are its own."""
    if element.parent is None or is_in_code(element):
        return True
    text = len(element.text)
    if text > size * great:
        return True
    return text > 200 and element.select_one("h1, main, [itemprop=articleBody]") is not None


def _main(root: Node) -> Element | None:
    """Return the one element that the page calls its main part, when there is something in it."""
    found = root.select("main, [role=main]")
    return found[0] if len(found) == 1 and len(found[0].text) >= _SOME else None


def _is_apart(element: Element, main: Element | None) -> bool:
    """Tell whether an element is no part of the main one, nor around it: a foot of whatever size is a foot."""
    if main is None or element.parent is None or is_in_code(element):
        return False
    return element != main and element not in set(main.ancestors) and main not in set(element.ancestors)


def _is_sure(element: Element, kind: str, name: str, main: Element | None) -> bool:
    """Tell whether a name is believed however much of the page stands under it."""
    if kind == "navigation":
        return _is_apart(element, main)
    return _SURE.search(name) is not None and not is_in_code(element) and element.select_one("h1, main") is None


def _is_only_menu(element: Element, root: Node) -> bool:
    """Tell whether an element is links and nothing else, beside a sentence: a short page under a long menu."""
    if element.parent is None or is_in_code(element) or _linked(element) < _ALL_LINKS:
        return False
    inside = set(element.iter_elements("p"))
    return any(
        len(one.text) >= _SENTENCE and _linked(one) < _FEW_LINKS for one in root.select("p") if one not in inside
    )


def _is_note(aside: Element) -> bool:
    """Tell whether an aside belongs to the text: a quotation, a footnote, a box with a remark."""
    if _NOTE.search(f"{aside.attr('class') or ''} {aside.attr('role') or ''}".lower()):
        return True
    return aside.closest("article, main") is not None and _linked(aside) < _FEW_LINKS


def _linked(element: Element) -> float:
    """Return the share of an element's text that is links."""
    size = len("".join(element.text.split()))
    return sum(len("".join(link.text.split())) for link in element.iter_elements("a")) / size if size else 0.0


def _remove_menus(root: Node, size: int) -> int:
    """Remove lists of nothing but links that stand before the page's heading, whatever they are called."""
    count = 0
    menus = list(takewhile(lambda element: element.tag != "h1", root.select("h1, ul, ol")))
    if root.select_one("h1") is None:
        return 0
    for menu in menus:
        if menu.parent is None or len(menu.select("a")) < _MENU or _linked(menu) < _ALL_LINKS:
            continue
        if not _stays(menu, size) or _is_only_menu(menu, root):
            count += 1
            menu.extract()
    return count
