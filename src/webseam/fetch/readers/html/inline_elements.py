"""Elements inside a line: marks, links, images, code. What the functions return: see `block_elements`."""

from __future__ import annotations

from typing import Any, Final

from webseam.fetch.readers.html import code, math
from webseam.fetch.readers.html.block_elements import enter_code_block
from webseam.fetch.readers.html.inline import Style, Target
from webseam.fetch.readers.html.marks import image_text, is_checkbox, is_link_mark, is_self_link, raised
from webseam.fetch.readers.html.writer import Leave, Writer
from webseam.fetch.types import Link

_MAX_LINKS: Final = 3  # links inside each other, which only broken pages have, whose words are read


def enter_strong(writer: Writer, node: Any, classes: str) -> Leave:
    return writer.styled(strong=True)


def enter_emphasis(writer: Writer, node: Any, classes: str) -> Leave:
    return writer.styled(emphasis=True)


def enter_strike(writer: Writer, node: Any, classes: str) -> Leave:
    return writer.styled(strike=True)


def enter_link(writer: Writer, node: Any, classes: str) -> Leave | bool:
    href = node.attr("href")
    if href is None:
        return True
    fragment = writer.targets.fragment(href)
    if fragment is not None:
        if is_link_mark(node, classes, in_heading=writer.in_heading) or (
            not writer.in_heading
            and writer.notes.is_back_link(node, classes)  # a heading may lead back to the contents
        ):
            return False
        label = writer.notes.reference(node, classes, fragment)
        if label:
            writer.add("raw", f"[^{label}]")
            return False
        return True
    url = writer.targets.absolute(href)
    if url is None or is_self_link(node, classes):
        return url is None
    writer.links_open += 1
    if url not in writer.links and writer.links_open <= _MAX_LINKS:
        writer.links[url] = Link(text=" ".join(node.text.split()), url=url)
    before = writer.style
    writer.style = Style(Target(url), before.strong, before.emphasis, before.strike)

    def restore() -> None:
        writer.style = before
        writer.links_open -= 1

    return restore


def enter_image(writer: Writer, node: Any, classes: str) -> bool:
    formula = math.image_source(node)
    if formula:
        writer.formula(formula)
        return False
    url = writer.targets.image(node)
    text = image_text(node, classes)
    if text is None:
        return False
    words, is_letter = text
    if is_letter:
        writer.add("text", words)
        return False
    if words == "image" and writer.in_heading:  # an icon that nobody described
        return False
    if writer.style.link is None and url is not None:
        style, writer.style = writer.style, Style(Target(url))
        writer.add("text", words)
        writer.style = style
    elif words != "image":
        writer.add("text", words)
    return False


def enter_raised(writer: Writer, node: Any, classes: str) -> bool:
    before = writer.runs[-1].text if writer.runs else ""
    text = raised(node, before)
    if text is None:
        return True
    writer.add("text", text)
    return False


def enter_ruby(writer: Writer, node: Any, classes: str) -> Leave:
    writer.add("text", "(")
    return lambda: writer.add("text", ")")


def enter_input(writer: Writer, node: Any, classes: str) -> bool:
    if is_checkbox(node) and writer.lists and not any(run.text.strip() for run in writer.runs):
        writer.add("raw", "[x]" if node.attr("checked") is not None else "[ ]")
        writer.add("text", " ")
    return False


def enter_quoted(writer: Writer, node: Any, classes: str) -> Leave:
    writer.add("text", "“")
    return lambda: writer.add("text", "”")


def enter_code(writer: Writer, node: Any, classes: str) -> Leave | bool:
    if writer.codes:
        return True
    if next(node.iter_elements(code.CODE_TAGS), None) is not None:
        writer.codes += 1
        return lambda: _end_code(writer)
    if not writer.is_one_line() and node.tag == "code" and code.is_block_of_lines(node):
        return enter_code_block(writer, node, classes)
    writer.add("code", " ".join(node.text.split()))
    return False


def _end_code(writer: Writer) -> None:
    writer.codes -= 1
