"""Presentations, made of the XML that each test is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.packages import NAMESPACES, OLE, pptx, properties
from webseam.errors import Outcome
from webseam.fetch.readers.pptx import read
from webseam.fetch.types import Link, Reading, Source, Unreadable


def line(text: str, properties: str = "") -> str:
    inside = text if text.startswith("<") else f"<a:r><a:t>{text}</a:t></a:r>"
    return f"<a:p>{properties}{inside}</a:p>"


def shape(*lines: str, place: str | None = None, more: str = "") -> str:
    placed = (
        "" if place is None else f'<p:nvPr><p:ph type="{place}"/></p:nvPr>' if place else "<p:nvPr><p:ph/></p:nvPr>"
    )
    about = f'<p:nvSpPr><p:cNvPr id="1" name="x" {more}/>{placed}</p:nvSpPr>'
    return f"<p:sp>{about}<p:txBody>{''.join(lines)}</p:txBody></p:sp>"


def table(*rows: str) -> str:
    body = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    return f'<p:graphicFrame><a:graphic><a:tbl><a:tblPr firstRow="1"/>{body}</a:tbl></a:graphic></p:graphicFrame>'


def cell(text: str, more: str = "") -> str:
    return f"<a:tc {more}><a:txBody>{line(text) if text else '<a:p/>'}</a:txBody></a:tc>"


def reading(body: bytes, url: str = "https://example.org/files/a.pptx") -> Reading:
    return read(Source(body=body, url=url))


TITLE = shape(line("Title"), place="title")
SLIDES = {
    "the title comes first, wherever it stands": (
        shape(line("below")) + TITLE,
        "## Slide 1: Title\n\nbelow\n",
    ),
    "a slide without a title": (shape(line("text")), "## Slide 1\n\ntext\n"),
    "points of a placeholder are a list by their levels": (
        TITLE + shape(line("a"), line("b", '<a:pPr lvl="1"/>'), line("c"), place="body"),
        "## Slide 1: Title\n\n- a\n  - b\n- c\n",
    ),
    "points without bullets are paragraphs": (
        shape(line("a", "<a:pPr><a:buNone/></a:pPr>"), line("b", "<a:pPr><a:buNone/></a:pPr>"), place=""),
        "## Slide 1\n\na\n\nb\n",
    ),
    "one point is a paragraph": (shape(line("a"), place="body"), "## Slide 1\n\na\n"),
    "numbered points": (
        shape(
            line("a", '<a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr>'),
            line("b", '<a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr>'),
        ),
        "## Slide 1\n\n3. a\n4. b\n",
    ),
    "letters and line ends": (
        shape(line('<a:r><a:rPr b="1"/><a:t>a</a:t></a:r><a:br/><a:r><a:rPr i="1"/><a:t>b</a:t></a:r>')),
        "## Slide 1\n\n**a**\n*b*\n",
    ),
    "what stands on every slide is no text of it": (
        TITLE
        + shape(line('<a:fld type="slidenum"><a:t>7</a:t></a:fld>'), place="sldNum")
        + shape(line("Acme"), place="ftr"),
        "## Slide 1: Title\n",
    ),
    "a table with cells over columns and rows": (
        table(
            cell("a") + cell("b"),
            cell("both", 'gridSpan="2"') + cell("", 'hMerge="1"'),
            cell("1", 'rowSpan="2"') + cell("2"),
            cell("", 'vMerge="1"') + cell("3"),
        ),
        "## Slide 1\n\n| a | b |\n| --- | --- |\n| both |  |\n| 1 | 2 |\n| 1 | 3 |\n",
    ),
    "a picture is its description": (
        '<p:pic><p:nvPicPr><p:cNvPr id="2" name="x.png" descr="A cat"/></p:nvPicPr></p:pic>',
        "## Slide 1\n\nimage: A cat\n",
    ),
    "alternatives are read once": (
        f"<mc:AlternateContent><mc:Choice>{shape(line('a'))}</mc:Choice>"
        f"<mc:Fallback>{shape(line('a'))}</mc:Fallback></mc:AlternateContent>",
        "## Slide 1\n\na\n",
    ),
    "a formula": (
        shape(line("<m:oMath><m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:oMath>")),
        "## Slide 1\n\n$\\sqrt{x}$\n",
    ),
}


@pytest.mark.parametrize(("slide", "expected"), SLIDES.values(), ids=SLIDES.keys())
def test_a_slide_is_read_as(slide: str, expected: str) -> None:
    assert reading(pptx([slide])).markdown == expected


CHART = (
    f"<c:chartSpace {NAMESPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sums</a:t></a:r></a:p></c:rich></c:tx>"
    "</c:title><c:plotArea><c:barChart>"
    + "".join(
        f"<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>East</c:v></c:pt><c:pt idx='1'><c:v>West</c:v></c:pt>"
        "</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
        f"<c:pt idx='0'><c:v>{first}</c:v></c:pt><c:pt idx='1'><c:v>{second}</c:v></c:pt>"
        "</c:numCache></c:numRef></c:val></c:ser>"
        for name, first, second in (("Q1", 1, 2), ("Q2", 3, 4))
    )
    + "</c:barChart></c:plotArea></c:chart></c:chartSpace>"
)
DIAGRAM = (
    f"<dgm:dataModel {NAMESPACES}><dgm:ptLst>"
    "<dgm:pt><dgm:t><a:p><a:r><a:t>first</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt type='parTrans'/>"
    "<dgm:pt><dgm:t><a:p><a:r><a:t>second</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
)


def test_a_whole_reading() -> None:
    body = pptx(
        [
            TITLE
            + shape(line('<a:r><a:rPr><a:hlinkClick r:id="l"/></a:rPr><a:t>there</a:t></a:r>'))
            + '<p:graphicFrame><c:chart r:id="c"/></p:graphicFrame>'
            + '<p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame>',
            f'<p:sld {NAMESPACES} show="0"><p:cSld><p:spTree>{shape(line("secret"))}</p:spTree></p:cSld></p:sld>',
            shape(line("last")) + shape(line("unseen"), more='hidden="1"'),
        ],
        links={
            0: {
                "l": ("hyperlink", "https://e.org/"),
                "c": ("chart", "../charts/chart1.xml"),
                "d": ("diagramData", "../diagrams/data1.xml"),
                "n": ("notesSlide", "../notesSlides/n1.xml"),
            }
        },
        parts={
            "ppt/charts/chart1.xml": CHART,
            "ppt/diagrams/data1.xml": DIAGRAM,
            "ppt/notesSlides/n1.xml": f"<p:notes {NAMESPACES}><p:cSld><p:spTree>{shape(line('1'), place='sldNum')}"
            f"{shape(line('Say hello.'), place='body')}</p:spTree></p:cSld></p:notes>",
            "docProps/core.xml": properties(dc_title="PowerPoint Presentation", dc_creator="A"),
        },
    )
    assert reading(body) == Reading(
        markdown="## Slide 1: Title\n\n[there](https://e.org/)\n\nChart: Sums\n\n"
        "|  | Q1 | Q2 |\n| --- | --- | --- |\n| East | 1 | 3 |\n| West | 2 | 4 |\n\n- first\n- second\n\n"
        "> **Notes:**\n>\n> Say hello.\n\n## Slide 3\n\nlast\n",
        title="Title",
        author="A",
        links=(Link(text="there", url="https://e.org/"),),
        reader="pptx",
        removed={"hidden": 2},
    )


def test_a_long_presentation_is_cut_and_says_where() -> None:
    found = reading(pptx([shape(line("word " * 200) * 1_000)] * 4))
    assert found.notes == ["Left out: the rest of slide 2 and what follows of 4 slides."]
    assert found.truncated


REFUSED = {
    "encrypted": (
        OLE + "EncryptedPackage".encode("utf-16-le"),
        "this presentation of 640 bytes is encrypted",
        Outcome.UNSUPPORTED,
    ),
    "empty": (pptx([""]), f"this presentation of {len(pptx([''])):,} bytes holds no text", Outcome.UNSUPPORTED),
}


@pytest.mark.parametrize(("body", "detail", "outcome"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_the_reason(body: bytes, detail: str, outcome: Outcome) -> None:
    with pytest.raises(Unreadable) as refused:
        reading(body)
    assert (refused.value.detail, refused.value.outcome) == (detail, outcome)


def test_a_slide_that_is_missing_is_no_short_presentation() -> None:
    body = pptx([TITLE]).replace(b"ppt/slides/slide0.xml", b"ppt/slides/other.xml_")
    with pytest.raises(Unreadable, match="damaged: slide 1 of 1 is missing") as refused:
        reading(body)
    assert refused.value.outcome is Outcome.BAD_RESPONSE


NAMES = "p:sp p:nvPr p:ph a:p a:r a:t a:tbl a:tr a:tc p:graphicFrame m:oMath mc:Choice mc:Fallback a:fld a:rPr".split()


@given(st.lists(st.sampled_from(NAMES), max_size=30))
def test_elements_in_any_order_are_read(names: list[str]) -> None:
    slide = "".join(f"<{name}>x" for name in names) + "".join(f"</{name}>" for name in reversed(names))
    try:
        found = reading(pptx([slide])).markdown
    except Unreadable as error:
        found = error.detail
    assert found.endswith(("\n", "holds no text"))
