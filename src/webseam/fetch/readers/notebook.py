"""The reader of Jupyter notebooks, formats 3 and 4: text as it is, code in fences, outputs bounded, images named.

Most of a notebook's size is outputs, and most of those are pictures as text. What a reader needs of an output is its
beginning and, of an error, its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from webseam.errors import Outcome
from webseam.fetch.readers.plain import first_heading, image_line, links_of, named_images
from webseam.fetch.readers.writing import MAX_CONTAINERS, as_title, decoded, fenced, file_name, is_crowded, literal
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.text import plain

READER: Final = "notebook"
_MAX_OUTPUT: Final = 6_000  # characters of one output
_TAIL: Final = 1_500  # characters of those that are kept from its end, where errors say what they are
_MAX_OUTPUTS: Final = 20  # of one cell
_CELLS: Final = ("cells", "worksheets")  # formats 4 and 3
_COLOUR: Final = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
_OVERWRITTEN: Final = re.compile(r"(?m)^(?:[^\r\n]*+\r(?=[^\r\n]))+")  # a progress bar; a terminal shows the last state
_MAGIC: Final = re.compile(r"\s*%%([A-Za-z]\w*)")
_MAGIC_LANGUAGES: Final = {  # other cell magics, such as %%time, run the kernel's own language
    **dict.fromkeys("bash html javascript latex perl ruby sql svg R".split()),
    "sh": "bash",
    "js": "javascript",
    "python3": "python",
    "cython": "cython",
    "writefile": "",
}
_SHORT_TYPES: Final = {  # format 3
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "text": "text/plain",
    "html": "text/html",
    "latex": "text/latex",
    "json": "application/json",
}


@dataclass(slots=True)
class _Left:
    """What was left out of the outputs."""

    characters: int = 0
    outputs: int = 0


def read(source: Source) -> Reading:
    """Return a notebook as Markdown, cell by cell; `notes` say what was left out of the outputs.

    Raises:
        Unreadable: bad_response when it is not a notebook.
    """
    text, notes = decoded(source)
    notebook = _notebook(text, source)
    metadata = _mapping(notebook.get("metadata"))
    language = _language(metadata)
    left = _Left()
    parts: list[str] = []
    for cell in _cells(notebook):
        parts.extend(part.strip("\n") for part in _cell(cell, language, left) if part.strip())
    markdown = "\n\n".join(parts)
    counts = {"characters of outputs": left.characters, "outputs": left.outputs}
    left_out = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    if left_out:
        notes.append(f"Left out: {', '.join(left_out)}.")
    authors = metadata.get("authors")
    names = [one["name"] for one in _mappings(authors) if isinstance(one.get("name"), str)]
    return Reading(
        markdown=f"{markdown}\n" if markdown else "",
        title=as_title(metadata.get("title")) or first_heading(markdown) or file_name(source.url),
        author=as_title(", ".join(names)),
        links=links_of(markdown, source.url),
        reader=READER,
        notes=notes,
        truncated=source.truncated or bool(left_out),
    )


def _notebook(text: str, source: Source) -> dict[str, Any]:
    size = f"({len(source.body):,} bytes)"
    if is_crowded(text, MAX_CONTAINERS // 2):
        raise Unreadable(f"a notebook of too many parts {size}", outcome=Outcome.UNSUPPORTED)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        cut = " that was cut at the size limit" if source.truncated else ""
        raise Unreadable(f"a notebook{cut} with broken JSON {size}", outcome=Outcome.BAD_RESPONSE) from None
    if not isinstance(notebook, dict) or not any(isinstance(notebook.get(key), list) for key in _CELLS):
        raise Unreadable(f"not a notebook but other JSON {size}", outcome=Outcome.BAD_RESPONSE)
    return notebook


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    """Return text that is stored whole or as a list of lines."""
    if isinstance(value, list):
        value = "".join(one for one in value if isinstance(one, str))
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of format 4, or of every worksheet of format 3."""
    yield from _mappings(notebook.get("cells"))
    for sheet in _mappings(notebook.get("worksheets")):
        yield from _mappings(sheet.get("cells"))


def _language(metadata: dict[str, Any]) -> str:
    """Return the label of the kernel's language; Python, which format 3 did not name, when there is none."""
    for key, name in (("kernelspec", "language"), ("language_info", "name"), ("kernel_info", "name")):
        found = _mapping(metadata.get(key)).get(name)
        if isinstance(found, str) and found:
            return found.lower()
    return "python"


def _cell(cell: dict[str, Any], language: str, left: _Left) -> Iterator[str]:
    """Yield the blocks of one cell."""
    kind = cell.get("cell_type")
    text = _text(cell.get("source", cell.get("input")))
    if kind == "markdown":
        yield named_images(text)
    elif kind == "heading":  # format 3
        level = cell.get("level")
        depth = level if isinstance(level, int) and 1 <= level <= 6 else 1
        yield f"{'#' * depth} {' '.join(text.split())}" if text.strip() else ""
    elif kind == "code":
        own = cell.get("language")
        yield fenced(text, _label(text, own if isinstance(own, str) else language))
        outputs = _joined(_mappings(cell.get("outputs")))
        left.outputs += max(len(outputs) - _MAX_OUTPUTS, 0)
        for output in outputs[:_MAX_OUTPUTS]:
            yield from _output(output, left)
    else:  # raw
        yield fenced(text)


def _label(code: str, language: str) -> str:
    magic = _MAGIC.match(code)
    if magic is None or magic[1] not in _MAGIC_LANGUAGES:
        return language
    label = _MAGIC_LANGUAGES[magic[1]]
    return magic[1].lower() if label is None else label


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return outputs with the pieces of one stream put together."""
    joined: list[dict[str, Any]] = []
    pieces: list[str] = []
    for output in outputs:
        if output.get("output_type") != "stream":
            joined.append(output)
            continue
        name = output.get("name", output.get("stream"))
        if not joined or joined[-1].get("output_type") != "stream" or joined[-1]["name"] != name:
            pieces = []
            joined.append({"output_type": "stream", "name": name, "text": pieces})
        pieces.append(_text(output.get("text")))
    return joined


def _output(output: dict[str, Any], left: _Left) -> Iterator[str]:
    """Yield the blocks of one output: a line that says what it is, then its text in a fence."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "Output (stderr):" if output.get("name") == "stderr" else "Output:"
        yield from _shown(name, _text(output["text"]), left)
    elif kind in ("error", "pyerr"):
        trace = output.get("traceback")
        words = "\n".join(map(_text, trace)) if isinstance(trace, list) else ""
        yield from _shown("Error:", words or f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}", left)
    else:
        data = _mapping(output.get("data")) or {_SHORT_TYPES[key]: output[key] for key in output.keys() & _SHORT_TYPES}
        yield from _result(data, left)


def _result(data: dict[str, Any], left: _Left) -> Iterator[str]:
    """Yield the form of a result that reads best: an image's name, Markdown, text, formulas, then anything else."""
    words = _text(data.get("text/plain"))
    image = next((kind for kind in sorted(data) if kind.startswith("image/")), None)
    if image:
        content = _text(data[image])
        size = len(content) if image.endswith("xml") else len("".join(content.split())) * 3 // 4
        yield image_line(literal(words[:100]), literal(image[:50]), size)
    elif markdown := _text(data.get("text/markdown")) or _text(data.get("text/latex")):
        yield named_images(_bounded(markdown, left))
    elif words:
        yield from _shown("Output:", words, left)
    elif page := _text(data.get("text/html")):
        yield from _shown("Output:", plain(page), left)
    elif "application/json" in data:
        yield from _shown("Output:", json.dumps(data["application/json"], indent=2), left, "json")


def _shown(head: str, text: str, left: _Left, label: str = "text") -> Iterator[str]:
    block = fenced(_bounded(text, left).strip("\n"), label)
    if block:
        yield head
        yield block


def _bounded(text: str, left: _Left) -> str:
    """Return an output as a terminal would show it, without its middle when it is too long."""
    text = _COLOUR.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text).replace("\r", "\n")
    rest = len(text) - _MAX_OUTPUT
    if rest <= 0:
        return text
    left.characters += rest
    return f"{text[: _MAX_OUTPUT - _TAIL]}\n… {rest:,} characters left out …\n{text[-_TAIL:]}"
