"""The reader of presentations: a heading for each slide, its text as it is read out, and what the speaker noted.

Straight from the XML, slide by slide. The usual library loads the whole presentation with all its pictures and brings
an XML parser, an imaging library and a writer of spreadsheets along; a reader needs none of them.
"""

from __future__ import annotations

import time
from html import escape
from typing import Final

from webseam.fetch.readers.composing import Composer
from webseam.fetch.readers.package import Package
from webseam.fetch.readers.parts import Handler, Properties, Relations, main_part, walk
from webseam.fetch.readers.pptx_figures import Chart, Diagram
from webseam.fetch.readers.pptx_slide import Slide
from webseam.fetch.readers.writing import as_title, file_name
from webseam.fetch.types import Reading, Source
from webseam.text import clean

READER: Final = "pptx"
SHARE: Final = 0.75  # of the given time after which no further slide is begun
_MAX_SLIDES: Final = 1_000
_MAX_FIGURES: Final = 20  # of one slide


def read(source: Source, *, seconds: float | None = None) -> Reading:
    """Return a presentation as Markdown. Slides that are not shown are left out and counted.

    Args:
        seconds: time there is; a presentation that takes longer is cut, and says so.

    Raises:
        Unreadable: `unsupported` when it is encrypted, too large or without text; `bad_response` when it is damaged.
    """
    until = None if seconds is None else time.monotonic() + seconds * SHARE
    package = Package(source, "presentation")
    main = main_part(package, "ppt/presentation.xml")
    order = _Order(Relations(package, main))
    walk(package, main, order)
    composer = Composer()
    shown = hidden = 0
    title: str | None = None
    cut = ""
    for place, part in enumerate(order.slides):
        if place >= _MAX_SLIDES or composer.left <= 0 or (until is not None and time.monotonic() > until):
            cut = f"slides after slide {place:,} of {len(order.slides):,}"
            break
        if part not in package:
            raise package.damaged(f"slide {place + 1:,} of {len(order.slides):,} is missing")
        slide, html = _slide(package, part, composer.left, until)
        hidden += slide.hidden + slide.is_hidden
        if slide.is_hidden:
            continue
        title = title or as_title(slide.title)
        shown += bool(slide.title or html)
        heading = f"Slide {place + 1}{': ' if slide.title else ''}{slide.title}"
        composer.add(f"<h2>{escape(heading)}</h2>{html}")
        if slide.is_cut:
            cut = f"the rest of slide {place + 1:,} and what follows of {len(order.slides):,} slides"
            break
    if not shown:
        raise package.wordless(is_whole=not cut, in_time=until is None or time.monotonic() <= until)
    about = Properties(package)
    removed = {"hidden": hidden, "script": int(any(part.endswith("vbaproject.bin") for part in package.names()))}
    return Reading(
        markdown=clean(composer.markdown),
        title=_own(about.title) or title or file_name(source.url),
        author=about.author,
        published=about.published,
        language=about.language,
        links=composer.links,
        reader=READER,
        removed={kind: count for kind, count in removed.items() if count},
        notes=[f"Left out: {cut}."] if cut else [],
        truncated=bool(cut),
    )


def _own(title: str | None) -> str | None:
    """Return a title unless it is the one that the program gave."""
    return None if title in ("PowerPoint Presentation", "PowerPoint-Präsentation", "Présentation PowerPoint") else title


class _Order(Handler):
    """The names of the slides in the order in which they are shown."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self.slides: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "p:sldId" and (part := self._relations.target(attributes.get("r:id"))):
            self.slides.append(part)


def _slide(package: Package, part: str, room: int, until: float | None) -> tuple[Slide, str]:
    """Return a slide and all that is on it and noted for it, as HTML."""
    relations = Relations(package, part)
    slide = Slide(relations, room)
    slide.is_cut = not walk(package, part, slide, until=until) or slide.is_cut
    slide.finish()
    blocks = [html for html in slide.blocks if html]
    for name in slide.charts[:_MAX_FIGURES]:
        if name in package:
            chart = Chart()
            walk(package, name, chart, until=until)
            blocks.append(chart.html())
    for name in slide.diagrams[:_MAX_FIGURES]:
        if name in package:
            diagram = Diagram()
            walk(package, name, diagram, until=until)
            blocks.append(diagram.html())
    for name in relations.of_kind("notesSlide"):
        if name in package and not slide.is_cut:
            notes = Slide(Relations(package, name), slide.room, is_notes=True)
            walk(package, name, notes, until=until)
            notes.finish()
            if said := "".join(notes.body):
                blocks.append(f"<blockquote><p><strong>Notes:</strong></p>{said}</blockquote>")
    return slide, "".join(blocks)
