"""The first bytes of formats that are no text: what a file is, whatever its name and its server say.

A table and a few checks of its second look. Only what can be told in a bounded number of bytes.
"""

from __future__ import annotations

from typing import Final, Literal

from webseam.fetch.zipped import MAX_ENTRIES, zip_entries

Kind = Literal["pdf", "docx", "pptx", "xlsx", "epub", "image", "archive", "binary"]

_PDF_SEARCHED: Final = 1_024  # bytes; what stands before the mark is ignored by readers of PDF
_TAR_MARK: Final = 257  # offset of "ustar" in the first header of a tar
_PE_POINTER: Final = 0x3C  # offset of the offset of the second mark of a Windows program
_OLE_SEARCHED: Final = 65_536  # bytes that hold the directory of most old Office files
_FTYP_BRANDS: Final = 64  # bytes of the box that names the brands of an ISO media file

_FIRST_BYTES: Final[tuple[tuple[bytes, Kind, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (b"\xff\xd8\xff", "image", "image/jpeg"),
    (b"GIF87a", "image", "image/gif"),
    (b"GIF89a", "image", "image/gif"),
    (b"II*\x00", "image", "image/tiff"),
    (b"MM\x00*", "image", "image/tiff"),
    (b"\xff\x0a", "image", "image/jxl"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "image", "image/jxl"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "image", "image/jp2"),
    (b"8BPS\x00\x01", "image", "image/vnd.adobe.photoshop"),
    (b"\x1f\x8b\x08", "archive", "application/gzip"),
    (b"\xfd7zXZ\x00", "archive", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "archive", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "archive", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "archive", "application/vnd.rar"),
    (b"!<arch>\n", "archive", "application/x-archive"),
    (b"\xed\xab\xee\xdb", "archive", "application/x-rpm"),
    (b"MSCF\x00\x00\x00\x00", "archive", "application/vnd.ms-cab-compressed"),
    (b"\x04\x22\x4d\x18", "archive", "application/x-lz4"),
    (b"LZIP\x01", "archive", "application/x-lzip"),
    (b"\x7fELF", "binary", "application/x-elf"),
    (b"\xfe\xed\xfa\xce", "binary", "application/x-mach-binary"),
    (b"\xfe\xed\xfa\xcf", "binary", "application/x-mach-binary"),
    (b"\xce\xfa\xed\xfe", "binary", "application/x-mach-binary"),
    (b"\xcf\xfa\xed\xfe", "binary", "application/x-mach-binary"),
    (b"\xca\xfe\xba\xbe", "binary", "application/java-vm"),
    (b"\x00asm", "binary", "application/wasm"),
    (b"SQLite format 3\x00", "binary", "application/vnd.sqlite3"),
    (b"PAR1", "binary", "application/vnd.apache.parquet"),
    (b"\x89HDF\r\n\x1a\n", "binary", "application/x-hdf5"),
    (b"wOFF", "binary", "font/woff"),
    (b"wOF2", "binary", "font/woff2"),
    (b"OTTO\x00", "binary", "font/otf"),
    (b"\x00\x01\x00\x00\x00", "binary", "font/ttf"),
    (b"ID3\x02", "binary", "audio/mpeg"),
    (b"ID3\x03", "binary", "audio/mpeg"),
    (b"ID3\x04", "binary", "audio/mpeg"),
    (b"fLaC\x00", "binary", "audio/flac"),
    (b"OggS\x00", "binary", "application/ogg"),
    (b"\x1a\x45\xdf\xa3", "binary", "video/x-matroska"),
    (b"FLV\x01", "binary", "video/x-flv"),
    (b"{\\rtf1", "binary", "application/rtf"),
)
_RIFF: Final[dict[bytes, tuple[Kind, str]]] = {
    b"WEBP": ("image", "image/webp"),
    b"WAVE": ("binary", "audio/wav"),
    b"AVI ": ("binary", "video/x-msvideo"),
}
_OFFICE: Final[tuple[tuple[str, Kind, str], ...]] = (  # the folder that makes an Office Open XML package what it is
    ("word/", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ppt/", "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xl/", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
)
_OLE_STREAMS: Final = (  # the stream that makes an old Office file what it is
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("Workbook", "application/vnd.ms-excel"),
)


def recognise(body: bytes) -> tuple[Kind, str] | None:
    """Return the kind and the media type of bytes that are no text, or None when their beginning tells nothing."""
    for mark, kind, media_type in _FIRST_BYTES:
        if body.startswith(mark):
            return kind, media_type
    if body.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _inside_zip(body)
    if b"%PDF-" in body[:_PDF_SEARCHED] and body.lstrip()[:1] != b"<":
        return "pdf", "application/pdf"
    return _by_second_look(body)


def _by_second_look(body: bytes) -> tuple[Kind, str] | None:
    """Tell formats whose first bytes alone could be the beginning of a text."""
    if body.startswith(b"RIFF"):
        return _RIFF.get(body[8:12])
    if body[4:8] == b"ftyp":
        return _by_brand(body[8:_FTYP_BRANDS])
    if (
        body.startswith(b"BM")
        and body[6:10] == bytes(4)
        and body[14:15] in (b"\x0c", b"\x28", b"\x38", b"\x6c", b"\x7c")
    ):
        return "image", "image/bmp"
    if (
        body[:4] in (b"\x00\x00\x01\x00", b"\x00\x00\x02\x00")
        and 0 < body[4] + 256 * body[5] < 256
        and body[9:10] == b"\x00"
    ):
        return "image", "image/vnd.microsoft.icon"
    if body.startswith(b"BZh") and body[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "archive", "application/x-bzip2"
    if body[_TAR_MARK : _TAR_MARK + 5] == b"ustar":
        return "archive", "application/x-tar"
    if body.startswith(b"MZ"):
        pointer = int.from_bytes(body[_PE_POINTER : _PE_POINTER + 4], "little")
        if body[pointer : pointer + 2] in (b"PE", b"NE", b"LE"):
            return "binary", "application/vnd.microsoft.portable-executable"
    if body.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        directory = body[:_OLE_SEARCHED] + body[-_OLE_SEARCHED:]
        streams = (media_type for name, media_type in _OLE_STREAMS if name.encode("utf-16-le") in directory)
        return "binary", next(streams, "application/x-ole-storage")
    return None


def _by_brand(brands: bytes) -> tuple[Kind, str]:
    if b"avif" in brands or b"avis" in brands:
        return "image", "image/avif"
    if brands[:4] in (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"):
        return "image", "image/heic"
    return "binary", "audio/mp4" if brands[:3] == b"M4A" else "video/mp4"


def _inside_zip(body: bytes) -> tuple[Kind, str]:
    """Tell documents that are zip files apart by their entries."""
    listing = zip_entries(body, MAX_ENTRIES)
    names = {entry.name for entry in listing.entries}
    if "mimetype" in names and (said := listing.mimetype):
        if said == "application/epub+zip":
            return "epub", said
        if said.startswith("application/vnd.oasis.opendocument."):
            return "binary", said
    if "META-INF/container.xml" in names and any(name.endswith(".opf") for name in names):
        return "epub", "application/epub+zip"
    if "[Content_Types].xml" in names:
        for folder, kind, media_type in _OFFICE:
            if any(name.startswith(folder) for name in names):
                return kind, media_type
    return "archive", "application/zip"
