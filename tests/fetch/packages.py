"""Small documents that are zip files, made of the XML that a test is about."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

SCHEMAS = "http://schemas.openxmlformats.org"
OFFICE = f"{SCHEMAS}/officeDocument/2006"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": f"{SCHEMAS}/wordprocessingml/2006/main",
        "p": f"{SCHEMAS}/presentationml/2006/main",
        "a": f"{SCHEMAS}/drawingml/2006/main",
        "c": f"{SCHEMAS}/drawingml/2006/chart",
        "dgm": f"{SCHEMAS}/drawingml/2006/diagram",
        "wp": f"{SCHEMAS}/drawingml/2006/wordprocessingDrawing",
        "m": f"{OFFICE}/math",
        "r": f"{OFFICE}/relationships",
        "mc": f"{SCHEMAS}/markup-compatibility/2006",
    }.items()
)
SPREADSHEET = f'xmlns="{SCHEMAS}/spreadsheetml/2006/main" xmlns:r="{OFFICE}/relationships"'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """`targets`: id -> kind, and a part or an address."""
    lines = [f'<Relationships xmlns="{SCHEMAS}/package/2006/relationships">']
    for name, (kind, target) in targets.items():
        mode = 'TargetMode="External"' if "://" in target else ""
        lines.append(f'<Relationship Id="{name}" Type="{OFFICE}/relationships/{kind}" Target="{target}" {mode}/>')
    return "".join([*lines, "</Relationships>"])


def properties(**said: str) -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{SCHEMAS}/package/2006/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        + "".join(f"<{name.replace('_', ':')}>{value}</{name.replace('_', ':')}>" for name, value in said.items())
        + "</cp:coreProperties>"
    )


def office(main: str, parts: Mapping[str, str | bytes]) -> bytes:
    """A package whose main part is `main`."""
    first = {"[Content_Types].xml": "<Types/>", "_rels/.rels": relations({"r1": ("officeDocument", main)})}
    return zipped({**first, **parts})


def docx(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    links: Mapping[str, str] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    targets = {name: ("hyperlink", url) for name, url in (links or {}).items()}
    more: dict[str, str | bytes] = {}
    for name, content in {"styles": styles, "numbering": numbering, "footnotes": footnotes}.items():
        if content:
            targets[name] = (name, f"{name}.xml")
            more[f"word/{name}.xml"] = f"<w:{name} {NAMESPACES}>{content}</w:{name}>"
    return office(
        "word/document.xml",
        {
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(targets),
            **more,
            **(parts or {}),
        },
    )


def xlsx(
    sheets: Mapping[str, str],
    *,
    texts: str = "",
    formats: Mapping[str, str] | None = None,
    book: str = "",
    states: Mapping[str, str] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """`sheets`: name -> rows; `formats`: code -> "1", "2" and so on as style of a cell, in order."""
    names = list(sheets)
    targets = {f"s{place}": ("worksheet", f"worksheets/sheet{place}.xml") for place in range(len(names))}
    targets |= {"t": ("sharedStrings", "sharedStrings.xml"), "f": ("styles", "styles.xml")}
    listed = "".join(
        f'<sheet name="{name}" sheetId="{place + 1}" r:id="s{place}" state="{(states or {}).get(name, "visible")}"/>'
        for place, name in enumerate(names)
    )
    codes = "".join(
        f'<numFmt numFmtId="{170 + place}" formatCode="{code}"/>' for place, code in enumerate(formats or ())
    )
    looks = "".join(f'<xf numFmtId="{170 + place}"/>' for place in range(len(formats or ())))
    return office(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f"<workbook {SPREADSHEET}>{book}<sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(targets),
            "xl/sharedStrings.xml": f"<sst {SPREADSHEET}>{texts}</sst>",
            "xl/styles.xml": f"<styleSheet {SPREADSHEET}><numFmts>{codes}</numFmts>"
            f'<cellXfs><xf numFmtId="0"/>{looks}</cellXfs></styleSheet>',
            **{
                f"xl/worksheets/sheet{place}.xml": f"<worksheet {SPREADSHEET}>{sheets[name]}</worksheet>"
                for place, name in enumerate(names)
            },
            **(parts or {}),
        },
    )


def pptx(
    slides: list[str],
    *,
    links: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """`links`: place of a slide -> what it refers to. A slide is what stands in its tree of shapes."""
    order = "".join(f'<p:sldId id="{256 + place}" r:id="s{place}"/>' for place in range(len(slides)))
    made: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{place}": ("slide", f"slides/slide{place}.xml") for place in range(len(slides))}
        ),
    }
    for place, shapes in enumerate(slides):
        made[f"ppt/slides/slide{place}.xml"] = (
            shapes
            if shapes.startswith("<p:sld")
            else f"<p:sld {NAMESPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        made[f"ppt/slides/_rels/slide{place}.xml.rels"] = relations((links or {}).get(place, {}))
    return office("ppt/presentation.xml", {**made, **(parts or {})})


def epub(
    chapters: Mapping[str, str | bytes],
    *,
    metadata: str = "<dc:title>A book</dc:title>",
    items: str = "",
    order: str = "",
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """`chapters`: name -> inside of the body, or a whole file in bytes."""
    made: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{metadata}</metadata><manifest>{items}"
        + "".join(
            f'<item id="c{place}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
            for place, name in enumerate(chapters)
        )
        + f"</manifest><spine>{order}"
        + "".join(f'<itemref idref="c{place}"/>' for place in range(len(chapters)))
        + "</spine></package>",
    }
    for name, chapter in chapters.items():
        made[f"OEBPS/{name}"] = (
            chapter
            if isinstance(chapter, bytes)
            else '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"'
            f' xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head><body>{chapter}</body></html>'
        )
    return zipped({**made, **(parts or {})})
