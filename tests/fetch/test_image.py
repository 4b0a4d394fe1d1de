import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers.image import pixels, read
from webseam.fetch.types import Reading, Source, Unreadable


def box(kind: bytes, *contents: bytes) -> bytes:
    body = b"".join(contents)
    return struct.pack(">L4s", 8 + len(body), kind) + body


def size_box(width: int, height: int) -> bytes:
    return box(b"ispe", bytes(4), struct.pack(">2L", width, height))


def segment(marker: int, contents: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, 2 + len(contents)) + contents


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">2L", 640, 480) + b"\x08\x02\x00\x00\x00"
GIF = b"GIF89a" + struct.pack("<2H", 640, 480) + bytes(3)
FRAME = b"\x08" + struct.pack(">2H", 480, 640) + b"\x03"
JPEG = b"\xff\xd8" + segment(0xE0, b"JFIF\x00" + bytes(9)) + segment(0xC4, bytes(20)) + segment(0xC2, FRAME)
JPEG_FILLED = b"\xff\xd8" + segment(0xE1, b"Exif\x00\x00") + b"\xff" * 9 + segment(0xC0, FRAME)
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(4) + bytes(3) + b"\x9d\x01\x2a" + struct.pack("<2H", 640, 480 | 0x4000)
WEBP_LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<L", 639 | 479 << 14)
WEBP_EXTENDED = b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
BMP = b"BM" + bytes(12) + struct.pack("<L2l", 40, 640, -480) + bytes(20)
BMP_OLD = b"BM" + bytes(12) + struct.pack("<L2H", 12, 640, 480) + bytes(20)
ICO = b"\x00\x00\x01\x00\x02\x00" + b"\x10\x10\x00\x00" + bytes(12) + b"\x00\x00\x00\x00" + bytes(12)
AVIF = box(b"ftyp", b"avif", bytes(4)) + box(
    b"meta", bytes(4), box(b"hdlr", bytes(20)), box(b"iprp", box(b"ipco", size_box(64, 48), size_box(640, 480)))
)
TIFF = b"II*\x00\x08\x00\x00\x00\x02\x00" + struct.pack("<2HLL2HLHH", 256, 4, 1, 640, 257, 3, 1, 480, 0)
TIFF_BIG = b"MM\x00*\x00\x00\x00\x08\x00\x02" + struct.pack(">2HLL2HLHH", 256, 4, 1, 640, 257, 3, 1, 480, 0)


def paragraph(body: bytes, *, url: str = "https://example.org/a/logo.png", media_type: str = "") -> str:
    return read(Source(body=body, url=url, media_type=media_type)).markdown


@pytest.mark.parametrize(
    ("body", "kind", "size"),
    [
        pytest.param(PNG, "PNG", "640 × 480", id="PNG"),
        pytest.param(GIF, "GIF", "640 × 480", id="GIF"),
        pytest.param(JPEG, "JPEG", "640 × 480", id="progressive JPEG behind its tables"),
        pytest.param(JPEG_FILLED, "JPEG", "640 × 480", id="JPEG with fill bytes"),
        pytest.param(WEBP, "WebP", "640 × 480", id="WebP"),
        pytest.param(WEBP_LOSSLESS, "WebP", "640 × 480", id="lossless WebP"),
        pytest.param(WEBP_EXTENDED, "WebP", "640 × 480", id="extended WebP"),
        pytest.param(BMP, "BMP", "640 × 480", id="BMP from top to bottom"),
        pytest.param(BMP_OLD, "BMP", "640 × 480", id="BMP with the old header"),
        pytest.param(ICO, "ICO", "256 × 256", id="the largest of an icon"),
        pytest.param(AVIF, "AVIF", "640 × 480", id="AVIF in tiles"),
        pytest.param(TIFF, "TIFF", "640 × 480", id="TIFF"),
        pytest.param(TIFF_BIG, "TIFF", "640 × 480", id="TIFF, high bytes first"),
    ],
)
def test_the_size_of_an_image_is_in_its_header(body: bytes, kind: str, size: str) -> None:
    assert paragraph(body) == f"[image: logo.png, {kind}, {size} pixels, {len(body):,} bytes]\n"


@pytest.mark.parametrize(
    ("svg", "facts"),
    [
        ("<svg width='640' height='480px'/>", "SVG, 640 × 480 pixels"),
        ("<svg viewBox='0 0 640.4 480'/>", "SVG, 640 × 480 pixels"),
        ("<svg width='100%' height='100%' viewBox='0,0,640,480'/>", "SVG, 640 × 480 pixels"),
        ("<svg width='10cm' height='8cm'/>", "SVG"),
        ("<svg width='-1' height='0'/>", "SVG"),
        ("<svg:svg xmlns:svg='x' width='640' height='480'/>", "SVG, 640 × 480 pixels"),
        (
            "<!-- <b width='1'> --><svg data-width='7' width='640' height='480'><rect width='3'/></svg>",
            "SVG, 640 × 480 pixels",
        ),
    ],
)
def test_the_size_of_an_svg_is_its_own_or_that_of_its_view_box(svg: str, facts: str) -> None:
    assert paragraph(svg.encode(), url="https://example.org/a.svg") == f"[image: a.svg, {facts}, {len(svg)} bytes]\n"


def test_the_title_of_an_svg_is_told_as_text() -> None:
    svg = b"<svg><title>\n A &lt;b&gt; ![x](http://e.com)\xe2\x80\xae </title></svg>"
    assert read(Source(body=svg, url="https://example.org/a.svg", media_type="image/svg+xml")) == Reading(
        markdown=f'[image: a.svg, SVG, {len(svg)} bytes, "A \\<b> \\![x]\\(http://e.com)"]\n',
        title="A <b> ![x](http://e.com)",
        reader="image",
    )


def test_a_picture_cut_at_the_limit_has_at_least_so_many_bytes() -> None:
    assert read(Source(body=PNG, url="https://example.org/", truncated=True)) == Reading(
        markdown="[image: PNG, 640 × 480 pixels, at least 29 bytes]\n", reader="image", truncated=True
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PNG[:20], id="PNG, cut off"),
        pytest.param(PNG[:16] + bytes(8), id="PNG of no size"),
        pytest.param(b"\xff\xd8\xff" + b"\xff" * 5_000_000, id="JPEG of fill bytes"),
        pytest.param(b"\xff\xd8" + segment(0xE0, b"") * 5_000, id="JPEG of segments"),
        pytest.param(AVIF[:90], id="AVIF, cut off"),
        pytest.param(box(b"ftyp", b"avif") + box(b"free") * 100_000, id="AVIF of boxes"),
        pytest.param(box(b"ftyp", b"avif") + b"\x00\x00\x00\x04meta" * 100, id="AVIF with a box that ends in its head"),
        pytest.param(b"II*\x00\xff\xff\xff\xff", id="TIFF that points outside"),
        pytest.param(b"II*\x00\x08\x00\x00\x00\xff\xff" + bytes(200_000), id="TIFF of tags"),
    ],
)
def test_an_image_without_a_size_has_none(body: bytes) -> None:
    assert "pixels" not in paragraph(body)


def test_what_is_no_image_is_refused_with_its_kind_and_size() -> None:
    with pytest.raises(Unreadable) as refused:
        read(Source(body=b"<!doctype html><p>Not found", url="https://example.org/a.png", media_type="image/png"))
    assert refused.value.outcome is Outcome.UNSUPPORTED
    assert refused.value.detail == "no image but text/html (27 bytes)"


@given(
    st.sampled_from([PNG, GIF, JPEG, WEBP, WEBP_LOSSLESS, WEBP_EXTENDED, BMP, ICO, AVIF, TIFF]),
    st.integers(0, 200),
    st.binary(max_size=30),
)
def test_a_damaged_header_gives_a_size_or_none(body: bytes, at: int, noise: bytes) -> None:
    damaged = body[:at] + noise + body[at + len(noise) :]
    for media_type in ("png", "gif", "jpeg", "webp", "bmp", "vnd.microsoft.icon", "avif", "tiff"):
        size = pixels(damaged, f"image/{media_type}")
        assert size is None or min(size) > 0


@given(st.text(alphabet="<svg widthe=\"'0123456789.px%viewBox/>&;!-[]\n", max_size=200))
def test_any_svg_is_one_paragraph(text: str) -> None:
    markdown = paragraph(b"<svg " + text.encode(), media_type="image/svg+xml")
    assert markdown.startswith("[image: logo.png, SVG, ")
    assert markdown.count("\n") == 1
