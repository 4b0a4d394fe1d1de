"""Word documents, made of the XML that each test is about."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.packages import OLE, docx, office, properties, zipped
from webseam.errors import Outcome
from webseam.fetch.readers import parts
from webseam.fetch.readers.docx import read
from webseam.fetch.types import Link, Reading, Source, Unreadable

STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="Heading 2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Chapter"/><w:basedOn w:val="H2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Out"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Quote"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="C"><w:name w:val="Source Code"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Ghost"><w:name w:val="g"/><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="VC"><w:name w:val="Verbatim Char"/></w:style>'
    '<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="LB2"><w:name w:val="List Bullet 2"/>'
    '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="*"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="1">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%2)"/></w:lvl>'
    '<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%3"/></w:lvl>'
    "</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    "</w:lvlOverride></w:num>"
)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(text: str, style: str = "N", properties: str = "") -> str:
    inside = text if text.startswith("<") else run(text)
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{properties}</w:pPr>{inside}</w:p>'


def item(text: str, level: int = 0, number: int = 1) -> str:
    listed = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, properties=listed)


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text) if text else '<w:p/>'}</w:tc>"


def table(*rows: list[str], look: str = '<w:tblLook w:firstRow="1"/>') -> str:
    lines = "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows)
    return f"<w:tbl><w:tblPr>{look}</w:tblPr>{lines}</w:tbl>"


def reading(body: bytes, url: str = "https://example.org/files/a.docx") -> Reading:
    return read(Source(body=body, url=url))


def markdown(body: str, **more: str) -> str:
    return reading(docx(body, styles=STYLES, numbering=NUMBERING, **more)).markdown  # type: ignore[arg-type]


CASES = {
    "headings by name, by the style below and by level": (
        paragraph("A", "T") + paragraph("B", "berschrift1") + paragraph("C", "Mine") + paragraph("D", "Out"),
        "# A\n\n# B\n\n## C\n\n### D\n",
    ),
    "a heading is not bold as well": (paragraph(run("A", "<w:b/>"), "H2"), "## A\n"),
    "a heading by the paragraph alone": (paragraph("A", properties='<w:outlineLvl w:val="3"/>'), "#### A\n"),
    "a numbered heading keeps its number": (
        paragraph("A", "H2", '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>'),
        "## 1. A\n",
    ),
    "letters": (
        paragraph(
            run("a ")
            + run("b", "<w:b/>")
            + run("c", "<w:b/>")
            + run(" d ")
            + run("e", "<w:i/>")
            + run(" ")
            + run("f", "<w:strike/>")
            + run(" g", '<w:b w:val="0"/>')
            + run(" h", '<w:rStyle w:val="Strong"/>')
        ),
        "a **bc** d *e* ~~f~~ g **h**\n",
    ),
    "text is no markup": (paragraph("&lt;b&gt; *x* [y](z) # q"), "\\<b> \\*x\\* \\[y](z) # q\n"),
    "line ends, tabs and hyphens": (
        paragraph("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r>"),
        "a\nb c-d\n",
    ),
    "nested bullets": (item("a") + item("b", 1) + item("c", 1) + item("d"), "- a\n  - b\n  - c\n- d\n"),
    "Word's own second bullet": (item("a") + paragraph("b", "LB2"), "- a\n  - b\n"),
    "numbers go on behind a paragraph": (
        item("a", number=2) + item("b", number=2) + paragraph("x") + item("c", number=2),
        "1. a\n2. b\n\nx\n\n3. c\n",
    ),
    "a list that begins at seven": (item("a", number=2) + paragraph("x") + item("b", number=3), "1. a\n\nx\n\n7. b\n"),
    "numbers that Markdown does not have": (
        item("a", number=2) + item("b", 1, 2) + item("c", 1, 2) + item("d", 2, 2),
        "1. a\n   - (a) b\n   - (b) c\n     - 1.I d\n",
    ),
    "no list at all": (item("a", number=0), "a\n"),
    "code by its style, its lines together": (
        paragraph("def f():", "C") + paragraph("    return 1", "C") + paragraph("", "C") + paragraph("f()", "C"),
        "```\ndef f():\n    return 1\n\nf()\n```\n",
    ),
    "code by its letters": (
        paragraph(run("x = 1", '<w:rFonts w:ascii="Consolas"/>')) + paragraph("text"),
        "```\nx = 1\n```\n\ntext\n",
    ),
    "code in a line": (
        paragraph(
            run("call ")
            + run("f()", '<w:rStyle w:val="VC"/>')
            + run(" or ")
            + run("g", '<w:rFonts w:ascii="Courier New"/>')
        ),
        "call `f()` or `g`\n",
    ),
    "a quotation": (paragraph("a", "Q"), "> a\n"),
    "powers": (paragraph(run("x") + run("2", '<w:vertAlign w:val="superscript"/>')), "x^2\n"),
    "a table with its first row as names": (
        table([cell("a"), cell("b")], [cell("1"), cell("2 | 3")]),
        "| a | b |\n| --- | --- |\n| 1 | 2 \\| 3 |\n",
    ),
    "cells over columns and rows": (
        table(
            [cell("a"), cell("b"), cell("c")],
            [cell("1", '<w:vMerge w:val="restart"/>'), cell("2", '<w:gridSpan w:val="2"/>')],
            [cell("", "<w:vMerge/>"), cell("3"), cell("4")],
        ),
        "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 |  |\n| 1 | 3 | 4 |\n",
    ),
    "a table inside a cell is read": (
        table([cell("a"), f"<w:tc>{table([cell('x'), cell('y')], [cell('1'), cell('2')])}<w:p/></w:tc>"]),
        "a\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n",
    ),
    "changes: what was added stays, what was deleted goes": (
        paragraph(run("a") + f"<w:ins>{run('b')}</w:ins><w:del><w:r><w:delText>c</w:delText></w:r></w:del>"),
        "ab\n",
    ),
    "frames are read once, behind their paragraph": (
        paragraph(
            run("a")
            + f"<w:r><mc:AlternateContent><mc:Choice><w:txbxContent>{paragraph('box')}</w:txbxContent></mc:Choice>"
            f"<mc:Fallback><w:txbxContent>{paragraph('box')}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>"
        ),
        "a\n\nbox\n",
    ),
    "a picture is its description": (
        paragraph(
            '<w:r><w:drawing><wp:inline><wp:docPr id="1" descr="A &quot;cat&quot;"/></wp:inline></w:drawing></w:r>'
        ),
        'image: A "cat"\n',
    ),
    "fields: what came out of them, not their code": (
        paragraph(
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
            f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("7")}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
            f'<w:fldSimple w:instr="DATE">{run(" May")}</w:fldSimple>'
        ),
        "7 May\n",
    ),
    "a formula": (
        paragraph(
            "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:sSup><m:e><m:r><m:t>b</m:t></m:r></m:e>"
            "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f></m:oMath>"
        ),
        "$\\frac{a}{b^{2}}$\n",
    ),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES.keys())
def test_a_document_is_read_as(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_a_whole_reading() -> None:
    body = docx(
        paragraph("Heading", "berschrift1")
        + paragraph(f'<w:hyperlink r:id="l1">{run("there")}</w:hyperlink>')
        + paragraph(
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://e.org/2"</w:instrText>'
            f'</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("too")}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )
        + paragraph(f'{run("Said")}<w:r><w:footnoteReference w:id="2"/></w:r>'),
        styles=STYLES,
        footnotes='<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{paragraph("The note.")}</w:footnote>',
        links={"l1": "https://e.org/1"},
        parts={
            "docProps/core.xml": properties(
                dc_title="T", dc_creator="A", dc_language="de", dcterms_created="2026-01-02T03:04:05Z"
            ),
            "word/vbaProject.bin": b"\x00",
        },
    )
    assert reading(body) == Reading(
        markdown="# Heading\n\n[there](https://e.org/1)\n\n[too](https://e.org/2)\n\nSaid[^1]\n\n[^1]: The note.\n",
        title="T",
        author="A",
        published="2026-01-02T03:04:05Z",
        language="de",
        links=(Link(text="there", url="https://e.org/1"), Link(text="too", url="https://e.org/2")),
        reader="docx",
        removed={"script": 1},
    )


HIDDEN = {
    "hidden letters": (run("x", "<w:vanish/>"), ""),
    "a hidden style": (run("x"), "Ghost"),
    "letters of half a point": (run("x", '<w:sz w:val="1"/>'), ""),
    "white on white": (run("x", '<w:color w:val="FFFFFF"/>'), ""),
}


@pytest.mark.parametrize(("letters", "style"), HIDDEN.values(), ids=HIDDEN.keys())
def test_what_nobody_sees_is_left_out_and_counted(letters: str, style: str) -> None:
    found = reading(docx(paragraph("seen") + paragraph(letters, style or "N"), styles=STYLES))
    assert (found.markdown, found.removed) == ("seen\n", {"hidden": 1})


def test_white_letters_on_a_dark_ground_are_seen() -> None:
    white = '<w:color w:val="FFFFFF"/>'
    body = (
        paragraph(run("a", white), properties='<w:shd w:fill="000000"/>')
        + paragraph(run("b", white + '<w:highlight w:val="black"/>'))
        + table([f"<w:tc>{paragraph(run('c', white))}</w:tc>"], look="")
    )
    found = reading(docx(body))
    assert (found.markdown, found.removed) == ("a\n\nb\n\nc\n", {})


def test_letters_of_one_width_all_over_are_no_code() -> None:
    styles = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr></w:rPrDefault></w:docDefaults>'
    )
    assert reading(docx(paragraph(run("a", '<w:rFonts w:ascii="Courier New"/>')), styles=styles)).markdown == "a\n"


def test_a_table_of_contents_is_left_out_and_counted() -> None:
    found = reading(docx(paragraph("Intro 3", "TOC1") + paragraph("text"), styles=STYLES))
    assert (found.markdown, found.removed) == ("text\n", {"navigation": 1})


def test_what_is_not_shown_is_said() -> None:
    changed = paragraph("<w:del><w:r><w:delText>c</w:delText></w:r></w:del>" + run("a"))
    chart = '<w:r><w:drawing><c:chart r:id="x"/></w:drawing></w:r>'
    found = reading(docx(changed + paragraph(run("b") + '<w:r><w:commentReference w:id="1"/></w:r>' + chart)))
    assert found.notes == [
        "Changes are tracked in it: what was deleted is left out.",
        "Left out: 1 comment.",
        "Left out: 1 chart.",
    ]


def test_a_long_document_is_cut_and_says_so() -> None:
    found = reading(docx(paragraph("word " * 100) * 5_000))
    assert found.truncated
    assert found.notes == ["Only the beginning was read: there is more text than fits."]
    assert 1_500_000 < len(found.markdown) < 2_000_000


def test_a_document_that_takes_too_long_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    instants = iter([0.0] * 5)
    monkeypatch.setattr(parts, "time", SimpleNamespace(monotonic=lambda: next(instants, inf)))
    found = read(Source(body=docx(paragraph("word") * 50_000), url="https://example.org/"), seconds=20)
    assert (found.truncated, found.notes) == (True, ["Only the beginning was read: time was short."])


def test_a_document_of_which_nothing_was_read_in_time_is_not_called_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "time", SimpleNamespace(monotonic=lambda: inf))
    body = docx(paragraph("word"))
    with pytest.raises(Unreadable) as refused:
        read(Source(body=body, url="https://example.org/"), seconds=20)
    assert refused.value.detail == f"this Word document of {len(body):,} bytes could not be read in the time there was"
    assert refused.value.outcome is Outcome.TIMEOUT


def test_both_sets_of_namespaces_are_read() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    body = f'<w:document xmlns:w="{strict}"><w:body><w:p><w:r><w:t>a</w:t></w:r></w:p></w:body></w:document>'
    assert reading(office("word/document.xml", {"word/document.xml": body})).markdown == "a\n"


WHOLE = docx(paragraph("text " * 500))
REFUSED = {
    "encrypted": (
        OLE + "EncryptedPackage".encode("utf-16-le"),
        "this Word document of 640 bytes is encrypted",
        Outcome.UNSUPPORTED,
    ),
    "old": (
        OLE,
        "this Word document of 608 bytes is in the format of Office before 2007, which is not read",
        Outcome.UNSUPPORTED,
    ),
    "no zip": (b"hello", "this Word document of 5 bytes is damaged: it is no zip file", Outcome.BAD_RESPONSE),
    "cut": (
        WHOLE[:-100],
        f"this Word document of {len(WHOLE) - 100:,} bytes is damaged: it ends too early",
        Outcome.BAD_RESPONSE,
    ),
    "empty zip": (
        zipped({"a": ""}),
        f"this Word document of {len(zipped({'a': ''}))} bytes is damaged: the part word/document.xml is missing",
        Outcome.BAD_RESPONSE,
    ),
    "no text": (
        docx("<w:p/>"),
        f"this Word document of {len(docx('<w:p/>')):,} bytes holds no text",
        Outcome.UNSUPPORTED,
    ),
}


@pytest.mark.parametrize(("body", "detail", "outcome"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_the_reason(body: bytes, detail: str, outcome: Outcome) -> None:
    with pytest.raises(Unreadable) as refused:
        reading(body)
    assert (refused.value.detail, refused.value.outcome) == (detail, outcome)


def test_xml_that_breaks_off_is_refused_with_its_place() -> None:
    with pytest.raises(Unreadable, match=r"damaged: .+ in line 1 of the part word/document\.xml") as refused:
        reading(office("word/document.xml", {"word/document.xml": "<w:document"}))
    assert refused.value.outcome is Outcome.BAD_RESPONSE


def patched(offset: int, value: bytes) -> bytes:
    """A document in whose table of contents something about the body is changed."""
    whole = docx(paragraph("text " * 500))
    name = whole.index(b"word/document.xml", whole.index(b"PK\x01\x02"))
    place = name - 46 + offset
    return whole[:place] + value + whole[place + len(value) :]


LIES = {
    "encrypted": (8, b"\x01\x00", "is encrypted", Outcome.UNSUPPORTED),
    "packed in another way": (10, b"\x0c\x00", "is packed in a way that is not read (method 12)", Outcome.UNSUPPORTED),
    "another checksum": (
        16,
        b"\x00\x00\x00\x00",
        "is damaged: the part word/document.xml is not what was packed",
        Outcome.BAD_RESPONSE,
    ),
    "fewer packed bytes": (
        20,
        b"\x20\x00\x00\x00",
        "is damaged: the part word/document.xml cannot be unpacked",
        Outcome.BAD_RESPONSE,
    ),
    "more packed bytes": (
        20,
        b"\x00\x00\x00\x7f",
        "is damaged: the part word/document.xml is cut off",
        Outcome.BAD_RESPONSE,
    ),
    "elsewhere": (
        42,
        b"\x01\x00\x00\x00",
        "is damaged: the part word/document.xml is cut off",
        Outcome.BAD_RESPONSE,
    ),
}


@pytest.mark.parametrize(("offset", "value", "why", "outcome"), LIES.values(), ids=LIES.keys())
def test_a_table_of_contents_that_lies_is_found_out(offset: int, value: bytes, why: str, outcome: Outcome) -> None:
    body = patched(offset, value)
    with pytest.raises(Unreadable) as refused:
        reading(body)
    assert (refused.value.detail, refused.value.outcome) == (
        f"this Word document of {len(body):,} bytes {why}",
        outcome,
    )


def test_the_size_that_is_declared_is_not_believed() -> None:
    assert reading(patched(24, b"\x01\x00\x00\x00")).markdown == "text " * 499 + "text\n"


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_a_damaged_byte_never_passes_for_other_text(place: int, byte: int) -> None:
    damaged = WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    try:
        found = reading(damaged)
    except Unreadable:
        return
    assert found.markdown == "text " * 499 + "text\n"


@given(st.lists(st.sampled_from("w:p w:r w:t w:tbl w:tr w:tc w:hyperlink w:fldSimple w:txbxContent m:oMath".split())))
def test_elements_in_any_order_are_read(names: list[str]) -> None:
    body = "".join(f"<{name}>x" for name in names) + "".join(f"</{name}>" for name in reversed(names))
    try:
        found = reading(docx(body)).markdown
    except Unreadable as error:
        found = error.detail
    assert found.endswith(("\n", "holds no text"))
