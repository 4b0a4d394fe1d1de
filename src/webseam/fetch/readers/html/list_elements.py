"""Elements of lists and of lists of definitions. What the functions return: see `block_elements`."""

from __future__ import annotations

from typing import Any

from webseam.fetch.readers.html import lists
from webseam.fetch.readers.html.inline import Run, Style
from webseam.fetch.readers.html.marks import is_link_mark
from webseam.fetch.readers.html.writer import Leave, Writer


def enter_list(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    if writer.is_one_line():
        return writer.flush
    nested = getattr(node.parent, "tag", None) in ("ul", "ol", "menu") and bool(writer.lists)
    if nested:  # a list right inside a list, though only items may be
        writer.lines.open("  ", "  ", is_item=True, tight=True)
    writer.lists.append(lists.open_list(node))
    return lambda: _end_list(writer, nested)


def _end_list(writer: Writer, nested: bool) -> None:
    writer.flush()
    writer.lists.pop()
    if nested:
        writer.lines.close()


def enter_item(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    if writer.is_one_line():
        writer.add("text", "- ")
        return writer.flush
    listing = writer.lists[-1] if writer.lists else lists.Listing()
    lists.open_item(writer.lines, listing, node.attr("value"))
    return lambda: _end_item(writer, listing)


def _end_item(writer: Writer, listing: lists.Listing) -> None:
    writer.flush()
    lists.close_item(writer.lines, listing)


def enter_definitions(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    plain = not writer.is_one_line() and lists.is_plain_definitions(node)
    writer.terms.append("start" if plain else "")
    writer.lists.append(lists.Listing())
    return lambda: _end_definitions(writer)


def _end_definitions(writer: Writer) -> None:
    writer.flush()
    listing = writer.lists.pop()
    if writer.terms.pop() in ("dt", "dd"):
        lists.close_item(writer.lines, listing)


def enter_term(writer: Writer, node: Any, classes: str) -> Leave | bool:
    before = writer.terms[-1] if writer.terms else ""
    if not before:
        writer.flush()
    elif before == "dt":
        writer.add("text", ", ")
    else:
        writer.flush()
        if before == "dd":
            lists.close_item(writer.lines, writer.lists[-1])
        lists.open_item(writer.lines, writer.lists[-1])
    if before:
        writer.terms[-1] = "dt"
    if "sig" in classes.split():  # a signature of an interface: one piece of code
        style, writer.style = writer.style, Style(strong=True)
        writer.add("code", _signature(node))
        writer.style = style
    else:
        return writer.styled(strong=True, then=None if before else writer.flush)
    if not before:
        writer.flush()
    return False


def enter_definition(writer: Writer, node: Any, classes: str) -> Leave | bool:
    before = writer.terms[-1] if writer.terms else ""
    if not before:
        writer.flush()
        return writer.flush
    if before == "start":
        lists.open_item(writer.lines, writer.lists[-1])
    elif before == "dd":
        writer.runs.append(Run("break", "\n"))
    else:
        ends = bool(writer.runs) and writer.runs[-1].text.rstrip().endswith((":", "."))
        writer.add("text", " " if ends else ": ")
    writer.terms[-1] = "dd"
    return True


def _signature(node: Any) -> str:
    """Return a signature without the marks that lead to it or to its source."""
    links = (link for link in node.iter_elements("a"))
    marks = [link.text for link in links if is_link_mark(link, link.attr("class") or "", in_heading=True)]
    text = node.text
    for mark in (*marks, "[source]"):
        if mark:
            text = text.rstrip().removesuffix(mark)
    return " ".join(text.split())
