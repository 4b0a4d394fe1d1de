"""The reader of images: what one can be told about them without decoding a pixel.

Type, size in pixels and name, all from the first bytes; what is in the picture is for `describe` to say. Decoders of
images are large and have a history of being broken into, so none is loaded.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.decode import decode
from webseam.fetch.readers.writing import as_title, file_name, literal
from webseam.fetch.sniff import sniff
from webseam.fetch.types import Reading, Source, Unreadable

READER: Final = "image"
Size = tuple[int, int]  # width and height in pixels

_NAMES: Final = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WebP",
    "image/bmp": "BMP",
    "image/vnd.microsoft.icon": "ICO",
    "image/avif": "AVIF",
    "image/heic": "HEIC",
    "image/svg+xml": "SVG",
    "image/tiff": "TIFF",
    "image/jxl": "JPEG XL",
    "image/jp2": "JPEG 2000",
    "image/vnd.adobe.photoshop": "Photoshop",
}
_MAX_SEGMENTS: Final = 1_000  # of a JPEG before its size; cameras write about twenty
_MAX_ICONS: Final = 256
_MAX_BOXES: Final = 4_000  # of a HEIF file; a picture in tiles has one size box and a few properties for each kind
_MAX_TAGS: Final = 512  # of a TIFF
_FILL: Final = re.compile(rb"\xff+")  # before a marker, as many as there may be
_SVG_SEARCHED: Final = 65_536  # bytes in which the first element of an SVG stands
_NO_SIZE_MARKERS: Final = frozenset((0xC4, 0xC8, 0xCC))  # between the frame headers of JPEG, and none
_SVG_TAG: Final = re.compile(r"<(?:[\w.-]{1,40}:)?svg\b([^<>]{0,20000})")
_SVG_ATTRIBUTE: Final = re.compile(r"(?<=[\s\"'])(width|height|viewBox)\s*=\s*(?:\"([^\"]{0,200})\"|'([^']{0,200})')")
_SVG_TITLE: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:title|desc)\b[^<>]{0,500}>([^<]{1,2000})<")
_PIXELS: Final = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:px)?\s*")
_NUMBERS: Final = re.compile(r"[\s,]+")


def read(source: Source) -> Reading:
    """Return one paragraph: "[image: logo.png, PNG, 640 × 480 pixels, 12,345 bytes]". The title of an SVG is its title.

    Raises:
        Unreadable: it is no image.
    """
    found = sniff(source.body, source.media_type, source.url)
    if found.kind != "image":
        raise Unreadable(f"no image but {found.media_type} ({len(source.body):,} bytes)", outcome=Outcome.UNSUPPORTED)
    name, title = file_name(source.url), None
    if found.media_type == "image/svg+xml":
        text = decode(source.body[:_SVG_SEARCHED], source.charset, xml=True).text
        size, title = _svg_size(text), _svg_title(text)
    else:
        size = pixels(source.body, found.media_type)
    facts = [
        literal(name or ""),
        _NAMES.get(found.media_type, found.media_type),
        f"{size[0]:,} × {size[1]:,} pixels" if size else "",
        f"{'at least ' if source.truncated else ''}{len(source.body):,} bytes",
        f'"{literal(title)}"' if title else "",
    ]
    return Reading(
        markdown=f"[image: {', '.join(filter(None, facts))}]\n",
        title=title or name,
        reader=READER,
        truncated=source.truncated,
    )


def pixels(body: bytes, media_type: str) -> Size | None:
    """Return width and height from the header of an image, None when it does not say or is damaged."""
    measure = _MEASURES.get(media_type)
    if measure is None:
        return None
    try:
        size = measure(body)
    except (struct.error, IndexError):  # it ends before its size
        return None
    return size if size and size[0] > 0 and size[1] > 0 else None


def _png(body: bytes) -> Size | None:
    width, height = struct.unpack_from(">2L", body, 16)
    return (width, height) if body[12:16] == b"IHDR" else None


def _gif(body: bytes) -> Size | None:
    width, height = struct.unpack_from("<2H", body, 6)
    return width, height


def _jpeg(body: bytes) -> Size | None:
    position = 2
    for _ in range(_MAX_SEGMENTS):
        if fill := _FILL.match(body, position):
            position = fill.end() - 1
        marker, length = struct.unpack_from(">xBH", body, position)
        if body[position] != 0xFF or length < 2:
            return None
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE_MARKERS:
            height, width = struct.unpack_from(">2H", body, position + 5)
            return width, height
        position += 2 + length
    return None


def _webp(body: bytes) -> Size | None:
    kind = body[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<2H", body, 26)
        return (width & 0x3FFF, height & 0x3FFF) if body[23:26] == b"\x9d\x01\x2a" else None
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<L", body, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X" and len(body) >= 30:
        return int.from_bytes(body[24:27], "little") + 1, int.from_bytes(body[27:30], "little") + 1
    return None


def _bmp(body: bytes) -> Size | None:
    (header,) = struct.unpack_from("<L", body, 14)
    width, height = struct.unpack_from("<2H" if header == 12 else "<2l", body, 18)
    return width, abs(height)  # a negative height means that the rows go down


def _ico(body: bytes) -> Size | None:
    """Return the size of the largest picture in an icon."""
    (count,) = struct.unpack_from("<H", body, 4)
    sizes = [
        (body[start] or 256, body[start + 1] or 256)
        for start in range(6, min(6 + 16 * min(count, _MAX_ICONS), len(body) - 1), 16)
    ]
    return max(sizes, default=None)


def _heif(body: bytes) -> Size | None:
    """Return the largest size among the properties of an AVIF or HEIC file: its picture, of which others are parts."""
    sizes = []
    for kind, start, end in _boxes(body, 0, len(body)):
        if kind == b"meta":
            for inner, inside, stop in _path(body, start + 4, end, (b"iprp", b"ipco")):
                if inner == b"ispe" and stop - inside >= 12:
                    sizes.append(struct.unpack_from(">2L", body, inside + 4))
            break
    return max(((width, height) for width, height in sizes), key=lambda size: size[0] * size[1], default=None)


def _path(body: bytes, start: int, end: int, names: tuple[bytes, ...]) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes inside the first box of each name, one within the other."""
    for name in names:
        found = next((box for box in _boxes(body, start, end) if box[0] == name), None)
        if found is None:
            return
        _, start, end = found
    yield from _boxes(body, start, end)


def _boxes(body: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the type of each box in a span, and where its contents begin and end."""
    for _ in range(_MAX_BOXES):
        if start + 8 > end:
            return
        size, kind = struct.unpack_from(">L4s", body, start)
        inside = start + 8
        if size == 1:  # the size takes eight bytes
            (size,) = struct.unpack_from(">Q", body, inside)
            inside += 8
        stop = end if size == 0 else min(start + size, end)
        if stop < inside:
            return
        yield kind, inside, stop
        start = stop


def _tiff(body: bytes) -> Size | None:
    order = "<" if body.startswith(b"II") else ">"
    (directory,) = struct.unpack_from(f"{order}L", body, 4)
    (count,) = struct.unpack_from(f"{order}H", body, directory)
    found: dict[int, int] = {}
    for place in range(directory + 2, directory + 2 + 12 * min(count, _MAX_TAGS), 12):
        tag, kind = struct.unpack_from(f"{order}2H", body, place)
        if tag in (256, 257):  # width and height, as a short or a long
            found[tag] = struct.unpack_from(f"{order}{'H' if kind == 3 else 'L'}", body, place + 8)[0]
    return (found[256], found[257]) if len(found) == 2 else None


_MEASURES: Final[dict[str, Callable[[bytes], Size | None]]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/bmp": _bmp,
    "image/vnd.microsoft.icon": _ico,
    "image/avif": _heif,
    "image/heic": _heif,
    "image/tiff": _tiff,
}


def _svg_size(text: str) -> Size | None:
    """Return the size of an SVG: its own in pixels, else that of its view box; other units depend on the screen."""
    tag = _SVG_TAG.search(text)
    if tag is None:
        return None
    attributes = {name: value or other for name, value, other in _SVG_ATTRIBUTE.findall(tag[1])}
    width, height = (_PIXELS.fullmatch(attributes.get(name, "")) for name in ("width", "height"))
    box = _NUMBERS.split(attributes.get("viewBox", "").strip())
    numbers = [width[1], height[1]] if width and height else box[2:]
    sizes = [round(float(number)) for number in numbers if _PIXELS.fullmatch(number)]
    return (sizes[0], sizes[1]) if len(sizes) == 2 and min(sizes) > 0 else None


def _svg_title(text: str) -> str | None:
    found = _SVG_TITLE.search(text)
    return as_title(unescape(found[1])) if found else None
