"""Elements that are blocks: paragraphs, headings, quotes, notes, code, formulas, tables.

Each function starts an element and returns how it ends: a call, True for nothing to do, False when nothing inside is
to be visited.
"""

from __future__ import annotations

from typing import Any

from webseam.fetch.readers.html import admonitions, code, code_gutters, math, tables
from webseam.fetch.readers.html.inline import Run, cell, paragraph
from webseam.fetch.readers.html.writer import Leave, Writer


def enter_paragraph(writer: Writer, node: Any, classes: str) -> Leave | bool:
    if writer.runs:
        writer.flush()
    return writer.flush


def enter_break(writer: Writer, node: Any, classes: str) -> bool:
    writer.runs.append(Run("break", "\n"))
    return False


def enter_rule(writer: Writer, node: Any, classes: str) -> bool:
    writer.flush()
    if not writer.is_one_line() and not writer.lines.is_empty:
        writer.lines.block("---")
    return False


def enter_heading(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    if writer.is_one_line():
        return writer.flush
    writer.level = int(node.tag[1])
    if "code-header" in classes:  # rustdoc's signatures
        writer.add("code", " ".join(node.text.split()))
        writer.end_heading(writer.level)
        return False
    writer.in_heading = True
    return lambda: writer.end_heading(writer.level) if writer.in_heading else writer.flush()


def enter_quote(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    if writer.is_one_line() or _is_code_alone(node):
        return writer.flush
    return _open_quote(writer)


def _open_quote(writer: Writer) -> Leave:
    writer.lines.open("> ", "> ")
    return writer.close


def _is_code_alone(node: Any) -> bool:
    """True for a quote that is there to indent code, which a mark before each of its lines would only hurt."""
    parts = [part for part in node.children if getattr(part, "tag", None) is not None or part.text.strip()]
    return bool(parts) and all(_is_code(part) for part in parts)


def _is_code(part: Any) -> bool:
    tag = getattr(part, "tag", None)
    return tag is not None and code.is_code_block(tag, part.attr("class") or "")


def start_admonition(writer: Writer, node: Any, kind: str) -> Leave:
    writer.flush()
    _open_quote(writer)
    title, writer.skipped = admonitions.title_of(node, kind)
    writer.admonitions += 1
    writer.add_marked(title)
    writer.flush()
    return lambda: _end_admonition(writer)


def _end_admonition(writer: Writer) -> None:
    writer.admonitions -= 1
    writer.close()


def start_note(writer: Writer, node: Any) -> Leave | bool:
    writer.flush()
    label = writer.notes.label_of(node)
    if writer.is_one_line():
        return writer.flush
    writer.lines.open(f"[^{label}]: ", "    ", is_item=True)
    return writer.close


def enter_summary(writer: Writer, node: Any, classes: str) -> Leave:
    writer.flush()
    return writer.styled(strong=True, then=writer.flush)


def enter_code_block(writer: Writer, node: Any, classes: str) -> bool:
    for part in code.variants_of(node):
        _write_code(writer, code.read_code(part))
    return False


def _write_code(writer: Writer, read: code.Code | None) -> None:
    if read is not None and read.language == "math":  # GitLab, and what remark makes of a fence called so
        writer.formula(math.in_dollars(read.text, display=True))
    elif read is not None and writer.is_one_line():
        for line in filter(None, (line.strip() for line in read.text.split("\n"))):
            writer.flush()
            writer.add("code", line)
        writer.flush()
    elif read is not None:
        writer.block(read.fenced())


def enter_formula(writer: Writer, node: Any, classes: str) -> bool:
    formula = math.read_math(node)
    if formula:
        writer.formula(formula)
    return False


def enter_table(writer: Writer, node: Any, classes: str) -> Leave | bool:
    writer.flush()
    if writer.is_one_line():
        return writer.flush
    if code_gutters.holds_code(node):
        return enter_code_block(writer, node, classes)
    if "ltx_eqn_table" in classes and next(node.iter_elements("table"), None) is None:
        writer.formula(math.read_equations(node))
        return False
    table = tables.read_table(node)
    if table is None:
        tables.name_cells(node)
        return writer.flush
    if table.caption is not None:
        writer.block(paragraph(writer.line_of(table.caption)))
    writer.block(tables.render(table, lambda part, is_heading: cell(writer.line_of(part), is_heading=is_heading)))
    return False
