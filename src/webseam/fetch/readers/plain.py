"""The reader of text that is read as it is: prose, Markdown, source code and logs.

Nothing is laid out anew. Lines of prose stay as they were wrapped, Markdown is passed on, and code and logs go into a
fence, because Markdown would otherwise make headings of their comments and one paragraph of their lines.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final
from urllib.parse import urljoin

from webseam.fetch.readers.languages import language_of
from webseam.fetch.readers.moments import moment
from webseam.fetch.readers.writing import as_title, decoded, extension, fenced, file_name, lines_of
from webseam.fetch.types import Link, Reading, Source

READER: Final = "plain"
_MARKDOWN: Final = frozenset({"md", "markdown", "x-markdown", "mdown", "mkd", "mkdn", "mdx", "rmd", "qmd"})
_MAX_FRONT: Final = 200  # lines of front matter; a longer block is text between two rules
_MAX_LINKS: Final = 2_000  # links and images looked at
_TITLE_WITHIN: Final = 200  # lines from the top; a heading further down is not the title of the whole
_MAX_HEADING: Final = 2_000  # characters of a line that are looked at for a title
_PART: Final = 200_000  # characters of lines taken apart at once
_LOG_SAMPLE: Final = 40  # lines
_HEADING: Final = re.compile(r" {0,3}#[ \t]+(\S.*)$|[ \t]{0,9}<h1\b[^<>]{0,300}>(.{1,500}?)</h1>", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r" {0,3}=+[ \t]*")
_MARKS: Final = re.compile(r"<[^<>]{0,300}>|[`*]+|[ \t]+#+[ \t]*$")
_FIELD: Final = re.compile(r"([A-Za-z_][\w.-]{0,50})[ \t]*[:=](?:[ \t]+(.*)|$|(?<==)(.*))")
_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(?:name:[ \t]*)?(\S.*)")
_COMMENT: Final = re.compile(r"[ \t]#.*")
_LINK: Final = re.compile(
    r"(!?)\[([^\[\]]{0,300}+)\]"
    r"\([ \t]{0,9}+<?([^()\s<>]{1,2000}+(?:\([^()\s<>]{0,300}+\)[^()\s<>]{0,300}+)?)[^()]{0,300}+\)"
)
_FILE: Final = re.compile(r"!\[([^\[\]]{0,300}+)\]\(<?(data|attachment):([^)\[\s>]*+)[^)\n\[]{0,300}+\)")
_STAMP: Final = re.compile(r"\W{0,3}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\W{0,3}[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ")


def read(source: Source) -> Reading:
    """Return text as Markdown: prose and Markdown as they are, source code and logs in a fence.

    Front matter of Markdown becomes title, author, date and language. Images inside the file itself are named.
    """
    text, notes = decoded(source)
    subtype = source.media_type.rpartition("/")[2]
    if subtype in _MARKDOWN or extension(source.url) in _MARKDOWN:
        return _markdown(text, source, notes)
    label = language_of(source.url, source.media_type, text) or ("log" if _is_log(text, source) else None)
    markdown = _trimmed(text) if label is None else fenced(text, label)
    return Reading(
        markdown=markdown, title=file_name(source.url), reader=READER, notes=notes, truncated=source.truncated
    )


def _is_log(text: str, source: Source) -> bool:
    """True when the name says so or most of the first lines begin with a time."""
    if extension(source.url) == "log" or source.media_type == "text/x-log":
        return True
    lines = [line for line in text.split("\n", _LOG_SAMPLE)[:_LOG_SAMPLE] if line.strip()]
    return len(lines) > 2 and 2 * sum(_STAMP.match(line) is not None for line in lines) > len(lines)


def _trimmed(text: str) -> str:
    """Return text without spaces at the ends of its lines, with one line end at its own."""
    text = _without_trailing_spaces(text).strip("\n")
    return f"{text}\n" if text else ""


def _without_trailing_spaces(text: str) -> str:
    """Return text whose lines end where their words do. Part by part: a list of five million lines takes 80 MiB."""
    parts: list[str] = []
    start = 0
    while start <= len(text):
        end = text.find("\n", start + _PART)
        end = len(text) if end < 0 else end
        parts.append("\n".join(map(str.rstrip, text[start:end].split("\n"))))
        start = end + 1
    return "\n".join(parts)


def _markdown(text: str, source: Source, notes: list[str]) -> Reading:
    """Return Markdown as it came, but for its front matter and for images that are part of the file."""
    fields, body = front_matter(text)
    body = named_images(body).strip("\n")
    published = (moment(fields.get(name)) for name in ("date", "published", "pubdate", "updated", "lastmod"))
    return Reading(
        markdown=f"{body}\n" if body.strip() else "",
        title=as_title(fields.get("title")) or first_heading(body) or file_name(source.url),
        author=as_title(fields.get("author") or fields.get("authors")),
        published=next(filter(None, published), None),
        language=as_title(fields.get("lang") or fields.get("language")),
        links=links_of(body, source.url),
        reader=READER,
        removed={"front matter": 1} if fields else {},
        notes=notes,
        truncated=source.truncated,
    )


def first_heading(markdown: str) -> str | None:
    """Return the first heading of level 1 near the top, as text."""
    before = ""
    for line, is_code in islice(lines_of(markdown), _TITLE_WITHIN):
        line = "" if is_code else line[:_MAX_HEADING]
        found = _HEADING.match(line)
        words = (found[1] or found[2]) if found else before if before.strip() and _UNDERLINE.fullmatch(line) else ""
        words = _LINK.sub(_label, _LINK.sub(_label, words))  # twice: an image inside a link
        if title := as_title(_MARKS.sub("", words)):
            return title
        before = line
    return None


def _label(link: re.Match[str]) -> str:
    """Return what a title keeps of a link: its words, and nothing of an image."""
    return "" if link[1] else link[2]


def links_of(markdown: str, base_url: str) -> tuple[Link, ...]:
    """Return the inline links outside code, absolute, each address once."""
    found: dict[str, Link] = {}
    lines = (line for line, is_code in lines_of(markdown) if "](" in line and not is_code)
    for link in islice((link for line in lines for link in _LINK.finditer(line)), _MAX_LINKS):
        if link[1] or link[3].startswith("#"):
            continue
        try:
            url = urljoin(base_url, link[3])
        except ValueError:  # a bracket that opens no address
            continue
        if url.startswith(("http://", "https://")):
            found.setdefault(url, Link(text=as_title(_MARKS.sub("", link[2])) or "", url=url))
    return tuple(found.values())


def named_images(markdown: str) -> str:
    """Return Markdown with the images that it carries itself replaced by their names and sizes."""
    return _FILE.sub(_image_name, markdown) if "](data:" in markdown or "](attachment:" in markdown else markdown


def _image_name(found: re.Match[str]) -> str:
    if found[2] == "attachment":
        return image_line(found[1] or found[3], "")
    head, _, content = found[3].partition(",")
    media_type, _, coding = head.partition(";")
    size = len(content) * 3 // 4 if coding.endswith("base64") else len(content)
    return image_line(found[1], media_type or "text/plain", size)


def image_line(name: str, media_type: str, size: int | None = None) -> str:
    """Return what stands for an image that is not shown: "[image: name, image/png, 1,234 bytes]"."""
    facts = [name.strip(), media_type, "" if size is None else f"{size:,} bytes"]
    return f"[image: {', '.join(filter(None, facts))}]"


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of YAML or TOML front matter, names in lower case, and the text after it.

    Fields on the first level only; a list is joined with commas. Without front matter: no fields, and all of the text.
    """
    mark = text[:3]
    lines = text.split("\n", _MAX_FRONT + 1)
    if mark not in ("---", "+++") or lines[0].rstrip() != mark:
        return {}, text
    ends = (place for place, line in enumerate(lines[1:_MAX_FRONT], 1) if line.rstrip() in (mark, "..."))
    end = next(ends, 0)
    fields: dict[str, str] = {}
    name = ""
    for line in lines[1:end]:
        if found := _FIELD.match(line):
            name = found[1].lower()
            fields[name] = _value(found[2] or found[3] or "")
        elif name and (item := _ITEM.match(line)):
            fields[name] = ", ".join(filter(None, (fields[name], _value(item[1]))))
        elif name and line.startswith(" ") and not fields[name]:
            fields[name] = _value(line)
    return (fields, "\n".join(lines[end + 1 :])) if fields else ({}, text)


def _value(text: str) -> str:
    """Return a scalar or a list on one line, without quotes, comments and the marks of folded text."""
    text = text.strip()
    if text[:1] in ("'", '"') and (end := text.find(text[0], 1)) > 0:
        return text[1:end]
    text = _COMMENT.sub("", text).strip()
    if text[:1] == "[" and text[-1:] == "]":
        return ", ".join(item.strip().strip("'\"") for item in text[1:-1].split(","))
    return "" if text in ("|", ">", "|-", ">-") else text
