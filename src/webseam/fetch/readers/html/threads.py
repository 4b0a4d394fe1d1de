"""Discussions: posts one after the other, each with who wrote it and when, instead of a page full of profiles.

A row says where a kind of forum keeps its posts; the last one reads schema.org's microdata, which many kinds carry.
Signatures, ranks, votes and buttons fall away because only the named parts of a post are taken.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from webseam.fetch.readers.html.measure import may_match, prose_of
from webseam.text import clip, squeeze

if TYPE_CHECKING:
    from turbohtml import Document, Element

_MOST: Final = 0.5  # share of the page's prose that the posts must hold: under an article they are comments
_QUOTED: Final = 40  # characters at the end of a quotation by which it is found again
_NAME_LIMIT: Final = 60  # characters of a name or a date; longer is not one


@dataclass(frozen=True, slots=True)
class Forum:
    """One kind of forum: selectors of a post and, inside it, of its text, its author and its date."""

    name: str
    post: str
    body: str
    author: str = ""
    date: str = "time[datetime]"
    clutter: str = ""


_XENFORO_CLUTTER: Final = (
    ".bbCodeBlock-expandLink, .message-signature, .quoteExpand, .js-unfurl-desc, .message-lastEdit"
)
FORUMS: Final = (
    Forum(
        "stackexchange",
        "#question, .answer",
        ".s-prose.js-post-body, .post-text",
        ".post-signature:last-of-type .user-details [itemprop=name], .post-signature:last-of-type .user-details > a, "
        ".user-details a",
        ".post-signature:last-of-type .user-action-time .relativetime, .user-action-time .relativetime",
    ),
    Forum(
        "discourse",
        ".crawler-post, .topic-body.crawler-post",
        ".post[itemprop=text], .post",
        ".creator [itemprop=name]",
    ),
    Forum(
        "discourse", "article[data-post-id], .topic-post", ".cooked", ".names .username a, .names a", ".relative-date"
    ),
    Forum(
        "xenforo",
        "article.message, .message--post, .MessageCard",
        ".message-body .bbWrapper, .message-content .bbWrapper, article.message-body, .bbWrapper",
        ".message-name, .MessageCard__user-info__name, .username",
        "time[datetime]",
        _XENFORO_CLUTTER,
    ),
    Forum(
        "xenforo1",
        "li.message[data-author]",
        ".messageText",
        ".userText .username",
        ".DateTime",
        ".quoteExpand, .messageTextEndMarker",
    ),
    Forum(
        "phpbb",
        ".post[id^=p]",
        ".postbody .content, .content",
        ".username, .username-coloured, .author strong",
        "time, p.author",
        ".codebox > p",
    ),
    Forum("phpbb2", "tr:has(.postbody)", ".postbody", ".name, .postauthor", ".postdetails"),
    Forum("vbulletin3", "table[id^=post]", "[id^=post_message_]", ".bigusername", "td.thead, .thead"),
    Forum("vbulletin4", "li.postcontainer, .postbit, .postbitlegacy", ".postcontent", ".username", ".postdate, .date"),
    Forum("vbulletin5", ".b-post", ".js-post__content-text", ".author [itemprop=name], .author", "time"),
    Forum(
        "invision",
        "article.ipsComment, article.ipsEntry, .ipsComment",
        "[data-role=commentContent]",
        ".cAuthorPane_author, .ipsEntry__username, [itemprop=author] [itemprop=name], .ipsComment_author a",
        "time[datetime]",
        ".ipsQuote_citation",
    ),
    Forum(
        "nodebb", "[component=post]", "[component='post/content']", "[itemprop=author] a, [data-username]", ".timeago"
    ),
    Forum("mybb", ".post[id^=post_]", ".post_body", ".author_information .largetext", ".post_date"),
    Forum("smf", ".post_wrapper", ".post .inner, .inner", ".poster h4", ".keyinfo .smalltext, .postinfo .smalltext"),
    Forum("vanilla", ".ItemDiscussion, .ItemComment, .Comment", ".Message.userContent, .Message", ".Username", "time"),
    Forum("flarum", "article.CommentPost, .Post", ".Post-body", ".PostUser-name .username, h3 a", "time"),
    Forum("hackernews", "tr.athing.comtr, table.fatitem", ".commtext, .toptext", ".hnuser", ".age"),
    Forum(
        "lobsters",
        ".story_text, .comment[data-shortid]",
        ".comment_text",
        ".byline a:not(:has(img))",
        ".byline time, .byline span[title]",
    ),
    Forum("reddit", ".thing.link, .thing.comment", ".usertext-body .md", ".tagline .author", ".tagline time"),
    Forum(
        "github",
        ".timeline-comment, .react-issue-body, .react-issue-comment",
        ".comment-body, .markdown-body",
        ".author, [data-testid=issue-body-header-author], [data-testid=avatar-link]",
        "relative-time",
    ),
    Forum(
        "bbpress",
        "div[id^=post-].reply, div.topic.type-topic, .bbp-body > .hentry",
        ".bbp-reply-content, .bbp-topic-content",
        ".bbp-author-name",
        ".bbp-reply-post-date",
    ),
    Forum("lemmy", ".comment, .post-listing", ".comment-content .md-div, .md-div", ".person-listing", ".moment-time"),
    Forum(
        "schema",
        '[itemtype*="schema.org/DiscussionForumPosting"], [itemtype*="schema.org/Comment"], '
        '[itemtype*="schema.org/Answer"], [itemtype*="schema.org/Question"]',
        '[itemprop="text"], [itemprop="articleBody"]',
        '[itemprop="author"] [itemprop="name"], [itemprop="author"]',
        '[itemprop="datePublished"], [itemprop="dateCreated"], time',
    ),
)


_SHARED: Final = frozenset(("schema", "vanilla", "lemmy", "github", "bbpress"))  # markup that articles have too


def find_thread(document: Document, names: Set[str]) -> tuple[str, Element] | None:
    """Return the kind of a discussion and an element with its posts in order; None when the page is not one.

    `names`: the classes and ids on the page. The element is new and not part of `document`; the texts of the posts are
    moved into it.
    """
    for forum in FORUMS:
        bodies = _bodies(document, forum) if may_match(forum.body, names) and may_match(forum.post, names) else []
        if bodies and (forum.name not in _SHARED or _is_page(bodies, document)):
            return forum.name, _assemble(bodies, forum)
    return None


def _is_page(bodies: list[tuple[Element, Element]], document: Document) -> bool:
    """Tell whether the posts are what the page is about, and not the comments under it."""
    return sum(len(body.text) for _, body in bodies) >= prose_of(document) * _MOST


def _bodies(document: Document, forum: Forum) -> list[tuple[Element, Element]]:
    """Return the posts, each with the element that holds its text."""
    if document.select_one(forum.body) is None:
        return []
    found: list[tuple[Element, Element]] = []
    taken: set[Element] = set()
    for post in document.select(forum.post):
        body = post.select_one(forum.body)
        if body is None or body in taken or not body.text.strip():
            continue
        taken.add(body)
        found.append((post, body))
    return found


def _drop_quoted(bodies: list[tuple[Element, Element]]) -> None:
    """Take out quotations of posts that stand on the page themselves: each answer would say the question again."""
    said = ""
    for _, body in bodies:
        quotes = body.select("blockquote, .quote, .bbCodeBlock--quote")
        for quote in quotes:
            words = squeeze(quote.text)
            end = words[-_QUOTED:].strip() if len(words) >= _QUOTED else ""
            if end and end in said:
                quote.extract()
        said += squeeze(body.text) + "\n"


def _assemble(bodies: list[tuple[Element, Element]], forum: Forum) -> Element:
    from turbohtml import Element, Text

    thread = Element("div")
    heads = [_head(post, body, forum) for post, body in bodies]  # before anything moves: a post may hold its replies
    _drop_quoted(bodies)
    for head, (_, body) in zip(heads, bodies, strict=True):
        if forum.clutter:
            body.remove(forum.clutter)
        if head:
            line = Element("p")
            author, date = head
            if author:
                name = Element("strong")
                name.append(Text(author))
                line.append(name)
            line.append(Text(f", {date}" if author and date else date))
            thread.append(line)
        section = Element("div")
        section.append(body.extract())
        thread.append(section)
    return thread


def _head(post: Element, body: Element, forum: Forum) -> tuple[str, str] | None:
    """Return who wrote a post and when, as the page says it; empty where it does not."""
    author = post.attr("data-author") or post.attr("data-username") or _first(post, body, forum.author)
    date = _first(post, body, forum.date)
    return (author, date) if author or date else None


def _first(post: Element, body: Element, selector: str) -> str:
    for found in post.select(selector) if selector else ():
        if body in found.ancestors:
            break  # the posts that this one quotes or holds are behind its own text
        text = squeeze(found.text) or squeeze(found.attr("content") or found.attr("data-username") or "")
        if text and len(text) <= _NAME_LIMIT:
            return clip(text, _NAME_LIMIT)
    return ""
