"""The reader of archives: their table of contents. Nothing in them is unpacked but what stands before a name in a tar.

A listing costs little and tells an agent which file to ask for elsewhere. The files themselves are not read: they can
be of any size and of any kind.
"""

from __future__ import annotations

from typing import Final

from webseam.errors import Outcome
from webseam.fetch.readers.writing import as_title, file_name, literal
from webseam.fetch.signatures import recognise
from webseam.fetch.tarred import Unpacked, is_tar, tar_entries
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.fetch.zipped import MAX_ENTRIES, Entry, Listing, zip_entries

READER: Final = "archive"
_NAMES: Final = {
    "application/zip": "zip",
    "application/x-tar": "tar",
    "application/gzip": "gzip",
    "application/x-bzip2": "bzip2",
    "application/x-xz": "xz",
    "application/zstd": "zstd",
    "application/x-7z-compressed": "7z",
    "application/vnd.rar": "RAR",
    "application/x-archive": "ar",
    "application/x-rpm": "RPM",
    "application/vnd.ms-cab-compressed": "cab",
    "application/x-lz4": "lz4",
    "application/x-lzip": "lzip",
}
_PACKED: Final = ("application/gzip", "application/x-bzip2", "application/x-xz")
_SUFFIXES: Final = {"application/gzip": ".gz", "application/x-bzip2": ".bz2", "application/x-xz": ".xz"}
_BLOCK: Final = 512  # bytes of a tar's header
_AR_HEADER: Final = 60
_GZIP_EXTRA, _GZIP_NAME = 0x4, 0x8  # flags of a gzip header
_MAX_GZIP_NAME: Final = 1_024


def read(source: Source) -> Reading:
    """Return what an archive holds: a line about it, then one item a file with its unpacked size, at most 1,000.

    Encrypted files are marked. Of a single packed file the name is given; formats that can only be listed by unpacking
    them, such as 7z, are named. Sizes are what the archive claims.

    Raises:
        Unreadable: it is no archive.
    """
    found = recognise(source.body)
    zipped = source.body.startswith(b"PK")
    if found is None or (found[0] != "archive" and not zipped):
        media_type = found[1] if found else "no known format"
        raise Unreadable(f"no archive but {media_type} ({len(source.body):,} bytes)", outcome=Outcome.UNSUPPORTED)
    media_type = "application/zip" if zipped else found[1]
    label, listing = _list(source, media_type)
    size = f"{'at least ' if source.truncated else ''}{_bytes(len(source.body))}"
    name = file_name(source.url)
    about = f"[archive: {', '.join(filter(None, (literal(name or ''), label, size)))}]"
    if listing is None:
        return Reading(
            markdown=f"{about}\n",
            title=name,
            reader=READER,
            notes=["The names in it cannot be listed without unpacking it."],
            truncated=True,
        )
    more = listing.more or source.truncated
    items = "".join(f"- {_item(entry)}\n" for entry in listing.entries)
    return Reading(
        markdown=f"{about}\n\n{_summary(listing, more)}\n" + (f"\n{items}" if items else ""),
        title=name,
        reader=READER,
        notes=["Not all files of the archive are listed."] if more else [],
        truncated=more,
    )


def _list(source: Source, media_type: str) -> tuple[str, Listing | None]:
    """Return what to call the archive, and its files, None where they cannot be listed."""
    body, label = source.body, _NAMES.get(media_type, media_type)
    if media_type == "application/zip":
        return label, zip_entries(body)
    if media_type == "application/x-tar":
        return label, tar_entries(Unpacked(body, media_type))
    if media_type == "application/x-archive":
        return label, _ar_entries(body)
    if media_type not in _PACKED:
        return label, None
    stream = Unpacked(body, media_type)
    if is_tar(stream.peek(_BLOCK)):
        return f"tar, {label}", tar_entries(stream)
    return label, Listing(entries=(_single(source, media_type),))


def _single(source: Source, media_type: str) -> Entry:
    """Return the one file that was packed: its name from the header of gzip, else from the URL without the suffix."""
    name = _gzip_name(source.body) if media_type == "application/gzip" else ""
    name = name or (file_name(source.url) or "").removesuffix(_SUFFIXES[media_type]) or "its contents"
    return Entry(name=name, size=None)


def _gzip_name(body: bytes) -> str:
    flags = body[3] if len(body) > 3 else 0
    if not flags & _GZIP_NAME:
        return ""
    start = 10
    if flags & _GZIP_EXTRA:
        start += 2 + int.from_bytes(body[10:12], "little")
    return body[start : start + _MAX_GZIP_NAME].partition(b"\x00")[0].decode("latin-1")


def _ar_entries(body: bytes) -> Listing:
    """List an `ar` archive, of which Debian packages are made."""
    found: list[Entry] = []
    position = 8
    while position + _AR_HEADER <= len(body):
        header = body[position : position + _AR_HEADER]
        size = header[48:58].strip()
        if header[58:] != b"`\n" or not size.isdigit():
            return Listing(entries=tuple(found), more=True)
        if len(found) == MAX_ENTRIES:
            return Listing(entries=tuple(found), more=True)
        name = header[:16].decode("utf-8", "replace").rstrip()
        if name not in ("/", "//", "/SYM64/"):  # tables of symbols and of long names
            found.append(Entry(name=name.removesuffix("/"), size=int(size)))
        position += _AR_HEADER + int(size) + int(size) % 2
    return Listing(entries=tuple(found))


def _summary(listing: Listing, more: bool) -> str:
    count, known = len(listing.entries), [entry.size for entry in listing.entries if entry.size is not None]
    text = f"{'At least ' if more else ''}{count:,} file{'' if count == 1 else 's'}"
    if known:
        text += f", {_bytes(sum(known))} unpacked"
    encrypted = sum(entry.encrypted for entry in listing.entries)
    return text + (f", {encrypted:,} encrypted." if encrypted else ".")


def _item(entry: Entry) -> str:
    facts = [literal(as_title(entry.name) or "(no name)")]
    if entry.size is not None:
        facts.append(_bytes(entry.size))
    if entry.encrypted:
        facts.append("encrypted")
    return ", ".join(facts)


def _bytes(count: int) -> str:
    return f"{count:,} byte{'' if count == 1 else 's'}"
