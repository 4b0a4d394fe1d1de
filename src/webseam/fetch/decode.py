"""From bytes to text: which encoding a page is really in, whatever was said about it.

A label is followed unless the bytes contradict it, because what a server or a page says about itself is often left over
from a template. Decoding never fails: bytes that no encoding explains become U+FFFD and are counted, so that a reader
of the page can be told how much was lost.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal

from webseam.fetch.charsets import codec_of, detect, is_dense, web_name

Origin = Literal["bom", "header", "declared", "recovered", "detected", "default"]

_SAMPLE: Final = 65_536  # bytes a decision is made on; a longer sample changed no decision and cost time
_HEAD: Final = 16_384  # bytes searched for a declaration; browsers change their mind while parsing, so 1,024 is too few
_META: Final = 1_024  # bytes of one <meta> element
_WIDE_SAMPLE: Final = 4_096
_WIDE_ASCII: Final = 20  # one character in so many is ASCII: Russian prose has its spaces, and nothing else
_CERTAIN: Final = 4  # characters that are UTF-8 by chance in another encoding: fewer are no evidence against its label
_TOLERANCE: Final = 20  # one damaged character in so many is damage; more are another encoding
_LEGACY_TOLERANCE: Final = 50  # bytes; two-byte encodings accept much of each other
_CROWD: Final = 16  # bytes above ASCII from which on their runs tell a script
_UNFINISHED: Final = 4  # bytes of the longest character; what is broken there was cut off, not written so

_BOMS: Final = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)
_BY_ZEROS: Final = {  # which of the four bytes of a unit, or of two, are zero in ASCII characters
    (False, True, True, True): "utf_32_le",
    (True, True, True, False): "utf_32_be",
    (False, True, False, True): "utf_16_le",
    (True, False, True, False): "utf_16_be",
}
_WIDE: Final = ("utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")  # escapes colour logs; U+0085 ends a line
_HIGH = re.compile(rb"[\x80-\xff]")
_JIS_ESCAPE = re.compile(rb"\x1b\$[@B]")
_XML_DECLARATION = re.compile(rb"\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*(?:\"([^\">]{1,40})\"|'([^'>]{1,40})')")
_MARKUP = re.compile(rb"<(?:!--|(meta|body|script|style|title|textarea)(?=[\s/>]))", re.IGNORECASE)
_SKIPPED: Final = (  # what stands in them is text, even if it looks like <meta>
    b"script",
    b"style",
    b"title",
    b"textarea",
)
# Each attribute is looked for at its beginning only, which keeps the search linear.
_ATTRIBUTE = re.compile(rb"(?<=[\s\"'/])([a-z-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
_IN_CONTENT = re.compile(rb"charset\s*=\s*[\"']?([^\s\"';,]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Text, and how it was got.

    Attributes:
        encoding: the web's name of the encoding that was used: "utf-8", "windows-1252".
        origin: where it is from. "header" and "declared" (in the document) are labels that fit; "recovered" means that
            there was a label, of a known encoding, and that the bytes contradict it; "detected" that there was none;
            "default" that there was none and nothing to detect, so UTF-8.
        replaced: how many U+FFFD stand for bytes that could not be decoded.
    """

    text: str
    encoding: str
    origin: Origin
    replaced: int = 0


def decode(body: bytes, charset: str | None, *, xml: bool = False, html: bool = False) -> Decoded:
    """Decode `body`, in this order of trust: byte order mark, header, declaration in the document, detection.

    Args:
        charset: the label of the header, as it came.
        xml: look for an XML declaration.
        html: look for a `<meta>` and for an XML declaration.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark) and not (codec == "utf_32_le" and _lost(body, codec)):
            return _decoded(body[len(mark) :], codec, "bom")
    wide = unmarked_wide(body)
    is_ascii = body.isascii()
    sample = b"" if is_ascii else _sample(body)
    if (
        wide is None
        and charset
        and codec_of(charset) == "utf_8"
        and (is_ascii or not _contradicts(body, sample, "utf_8"))
    ):
        return _decoded(body, "utf_8", "header")  # most pages: what they say themselves would change nothing
    labels = _labels(body, charset, xml=xml, html=html)
    if wide:
        return _decoded(body, wide, _origin_of(wide, labels))
    if is_ascii:
        return _decode_ascii(body, labels)
    fitting = [(codec, origin) for codec, origin in labels if not _contradicts(body, sample, codec)]
    if fitting:
        return _decoded(body, *_chosen(fitting, sample))
    found = "utf_8" if _is_utf8(sample) else detect(sample)
    if found is not None:
        return _decoded(body, found, _origin_of(found, labels))
    return _decoded(body, *(labels[0] if labels else ("utf_8", "default")))


def unmarked_wide(body: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 codec of text without a byte order mark, or None.

    ASCII characters in it, of which markup is full, have zero bytes at the same places of every unit. Numbers in binary
    files have too; read as text they are full of control characters.
    """
    sample = body[:_WIDE_SAMPLE]
    units = len(sample) // 4
    zeros = [sample[place::4].count(0) for place in range(4)]
    first, second, third, fourth = (units > 0 and _WIDE_ASCII * count > units for count in zeros)
    codec = _BY_ZEROS.get((first, second, third, fourth))
    if codec is None or _lost(sample, codec):
        return None
    text = sample.decode(codec, "ignore")
    return codec if is_readable(text) else None


def is_readable(text: str) -> bool:
    """True when at most one character in fifty is a control character that text does not have."""
    return len(text) >= 50 * len(_CONTROL.findall(text))


def declared_label(body: bytes, *, xml: bool = False, html: bool = False) -> str | None:
    """Return the label that a document gives itself in its XML declaration or its first `<meta>` with one, or None."""
    head = body[:_HEAD]
    if (xml or html) and (found := _XML_DECLARATION.match(head)):
        return (found[1] or found[2]).decode("latin-1")
    return _meta_label(head) if html else None


def _meta_label(head: bytes) -> str | None:
    position = 0
    while tag := _MARKUP.search(head, position):
        name = (tag[1] or b"").lower()
        position = tag.end()
        if not name:
            position = head.find(b"-->", tag.start() + 2)  # `<!-->` is a whole comment
            if position < 0:
                return None
        elif name in _SKIPPED:
            end = re.compile(b"</" + name, re.IGNORECASE).search(head, position)
            if end is None:
                return None
            position = end.end()
        elif name == b"body":
            return None
        elif name == b"meta":
            label, length = _read_meta(head[position : position + _META])
            position += length  # what stands inside its attributes is no element
            if label:
                return label
    return None


def _read_meta(text: bytes) -> tuple[str | None, int]:
    """Return the label of one <meta> and the length of its attributes; `text` begins behind the element's name."""
    attributes: dict[bytes, bytes] = {}
    end = 0
    for found in _ATTRIBUTE.finditer(text):
        if b">" in text[end : found.start()]:
            break
        end = found.end()
        attributes.setdefault(found[1].lower(), found[2] or found[3] or found[4] or b"")
    label = attributes.get(b"charset", b"").strip()
    if not label and attributes.get(b"http-equiv", b"").strip().lower() == b"content-type":
        inside = _IN_CONTENT.search(attributes.get(b"content", b""))
        label = inside[1] if inside else b""
    return label.decode("latin-1") or None, end


def _labels(body: bytes, charset: str | None, *, xml: bool, html: bool) -> list[tuple[str, Origin]]:
    """Return the codecs of the labels that name one, the header's first."""
    labels: list[tuple[str, Origin]] = []
    if charset and (codec := codec_of(charset)):
        labels.append((codec, "header"))
    if (label := declared_label(body, xml=xml, html=html)) and (codec := codec_of(label)):
        # The declaration was found in single bytes, so it cannot be right about two-byte units; browsers read UTF-8.
        labels.append(("utf_8" if codec in _WIDE else codec, "declared"))
    return labels


def _origin_of(codec: str, labels: list[tuple[str, Origin]]) -> Origin:
    """Return the origin of a codec that the bytes showed: a label may say the same."""
    said = next((origin for label, origin in labels if label == codec), None)
    return said or ("recovered" if labels else "detected")


def _decode_ascii(body: bytes, labels: list[tuple[str, Origin]]) -> Decoded:
    """Decode bytes below 128, which mean the same in nearly every encoding, whatever the labels say."""
    for codec, origin in labels:
        if codec not in _WIDE:
            return _decoded(body, codec, origin)
    if labels:
        return _decoded(body, "utf_8", "recovered")
    if _JIS_ESCAPE.search(body) and not _lost(body, "iso2022_jp"):
        return _decoded(body, "iso2022_jp", "detected")
    return _decoded(body, "utf_8", "default")


def _sample(body: bytes) -> bytes:
    """Return the bytes to decide on: from the first one above ASCII, at which every encoding begins a character."""
    start = 0
    try:
        body.decode("ascii")  # four times as fast as looking for the byte
    except UnicodeDecodeError as error:
        start = error.start
    return body[start : start + _SAMPLE]


def _contradicts(body: bytes, sample: bytes, codec: str) -> bool:
    """True when a body with bytes above ASCII is not in the encoding that a label names."""
    if codec in _WIDE:
        # Two-byte text without one zero byte has no space and no line end. It is in another encoding.
        start = body[:_SAMPLE]
        return b"\x00" not in start or _TOLERANCE * _lost(start, codec) > len(start)
    lost = _lost(sample, codec)
    if codec == "utf_8":
        return lost > 0 and lost > _characters(sample)
    if _is_utf8(sample, at_least=1 if codec == "cp1252" else _CERTAIN):
        return True
    high = len(_HIGH.findall(sample))
    if _LEGACY_TOLERANCE * lost > high:
        return True
    # It decodes anything. But most letters stand outside ASCII in no language that is written in it.
    return codec == "cp1252" and high >= _CROWD and is_dense(sample)


def _is_utf8(sample: bytes, *, at_least: int = 1) -> bool:
    """True when a sample is UTF-8 with so many characters above ASCII, apart from a few damaged places."""
    return _characters(sample) >= max(at_least, _TOLERANCE * _lost(sample, "utf_8"))


def _characters(sample: bytes) -> int:
    """Return how many whole UTF-8 characters above ASCII there are."""
    text = sample.decode("utf-8", "ignore")
    return len(text) - len(text.encode("ascii", "ignore"))


def _chosen(fitting: list[tuple[str, Origin]], sample: bytes) -> tuple[str, Origin]:
    """Return one of the labels that could be right: the header's, unless the bytes clearly speak for the document's."""
    first, *others = fitting
    if not others or first[0] in ("utf_8", others[0][0]):
        return first
    if first[0] == "cp1252" and is_dense(sample):
        return others[0]
    return others[0] if detect(sample) == others[0][0] else first


def _lost(body: bytes, codec: str) -> int:
    """Return how many characters would be lost; one that is cut off at the end is not."""
    try:
        body.decode(codec)
    except UnicodeDecodeError as error:
        if error.start >= len(body) - _UNFINISHED:
            return 0
        # What is left when errors are ignored may have U+FFFD too: written by the author.
        return body.decode(codec, "replace").count("\ufffd") - body.decode(codec, "ignore").count("\ufffd")
    return 0


def _decoded(body: bytes, codec: str, origin: Origin) -> Decoded:
    try:
        return Decoded(text=body.decode(codec), encoding=web_name(codec), origin=origin)
    except UnicodeDecodeError:
        text = body.decode(codec, "replace")
    replaced = text.count("\ufffd") - body.decode(codec, "ignore").count("\ufffd")
    return Decoded(text=text, encoding=web_name(codec), origin=origin, replaced=replaced)
