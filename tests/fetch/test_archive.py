import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome
from webseam.fetch.readers.archive import read
from webseam.fetch.tarred import MAX_UNPACKED
from webseam.fetch.types import Reading, Source, Unreadable
from webseam.fetch.zipped import MAX_ENTRIES, Entry, zip_entries

FILES = {"README.md": 12, "src/a.py": 1_234, "é" * 150 + ".txt": 5_000}
LISTED = (
    "3 files, 6,246 bytes unpacked.\n\n"
    f"- README.md, 12 bytes\n- src/a.py, 1,234 bytes\n- {'é' * 150}.txt, 5,000 bytes\n"
)
UNSURE = ["Not all files of the archive are listed."]


def tar(files: dict[str, int] | None = None, *, style: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=style) as archive:
        folder = tarfile.TarInfo("src")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, size in (FILES if files is None else files).items():
            entry = tarfile.TarInfo(name)
            entry.size = size
            archive.addfile(entry, io.BytesIO(b"x" * size))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "README.md"
        archive.addfile(link)
    return buffer.getvalue()


def zipped(files: dict[str, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("src/", "")
        for name, size in (FILES if files is None else files).items():
            archive.writestr(name, "x" * size)
    return buffer.getvalue()


def listing(body: bytes, *, name: str = "a.bin", truncated: bool = False) -> Reading:
    return read(Source(body=body, url=f"https://example.org/files/{name}", truncated=truncated))


@pytest.mark.parametrize(
    ("body", "label"),
    [
        pytest.param(zipped(), "zip", id="zip"),
        pytest.param(tar(), "tar", id="tar"),
        pytest.param(tar(style=tarfile.GNU_FORMAT), "tar", id="tar with long names of GNU"),
        pytest.param(gzip.compress(tar()), "tar, gzip", id="tar in gzip"),
        pytest.param(
            gzip.compress(tar()[:1_000]) + gzip.compress(tar()[1_000:]) + bytes(9), "tar, gzip", id="two members"
        ),
        pytest.param(bz2.compress(tar()), "tar, bzip2", id="tar in bzip2"),
        pytest.param(lzma.compress(tar()), "tar, xz", id="tar in xz"),
    ],
)
def test_an_archive_is_read_as_the_list_of_its_files(body: bytes, label: str) -> None:
    assert listing(body) == Reading(
        markdown=f"[archive: a.bin, {label}, {len(body):,} bytes]\n\n{LISTED}", title="a.bin", reader="archive"
    )


def test_an_encrypted_file_is_marked() -> None:
    body = bytearray(zipped({"secret.txt": 1, "open.txt": 2}))
    central = body.index(b"PK\x01\x02", body.index(b"PK\x01\x02") + 1)  # behind the folder's
    body[central + 8] |= 1
    assert listing(bytes(body)).markdown.partition("\n\n")[2] == (
        "2 files, 3 bytes unpacked, 1 encrypted.\n\n- secret.txt, 1 byte, encrypted\n- open.txt, 2 bytes\n"
    )


def test_a_debian_package_lists_its_parts() -> None:
    body = b"!<arch>\n"
    for name, contents in (("debian-binary", b"2.0\n"), ("control.tar.xz/", b"xyz")):
        body += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(contents):<10}`\n".encode() + contents
        body += b"\n" * (len(contents) % 2)
    assert listing(body).markdown == (
        f"[archive: a.bin, ar, {len(body)} bytes]\n\n2 files, 7 bytes unpacked.\n\n"
        "- debian-binary, 4 bytes\n- control.tar.xz, 3 bytes\n"
    )


@pytest.mark.parametrize(
    ("body", "name", "item"),
    [
        pytest.param(gzip.compress(b"text"), "notes.txt.gz", "notes.txt", id="named by the URL"),
        pytest.param(
            b"\x1f\x8b\x08\x08" + bytes(6) + b"inner.txt\x00" + zlib.compress(b"text")[2:],
            "a.gz",
            "inner.txt",
            id="named inside",
        ),
        pytest.param(bz2.compress(b"text"), "a.sql.bz2", "a.sql", id="bzip2"),
        pytest.param(lzma.compress(b"text"), "a.sql.xz", "a.sql", id="xz"),
        pytest.param(b"\x1f\x8b\x08" + b"damaged" * 9, "a.gz", "a", id="damaged"),
    ],
)
def test_a_single_packed_file_is_named_and_not_unpacked(body: bytes, name: str, item: str) -> None:
    assert listing(body, name=name).markdown.partition("\n\n")[2] == f"1 file.\n\n- {item}\n"


def test_formats_that_cannot_be_listed_are_named() -> None:
    assert listing(b"7z\xbc\xaf\x27\x1c" + bytes(26), name="a.7z") == Reading(
        markdown="[archive: a.7z, 7z, 32 bytes]\n",
        title="a.7z",
        reader="archive",
        notes=["The names in it cannot be listed without unpacking it."],
        truncated=True,
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(zipped()[:-40], id="zip without its end"),
        pytest.param(tar()[:-9_000], id="tar without its end"),
        pytest.param(gzip.compress(tar())[:-8], id="gzip without its end"),
    ],
)
def test_what_is_left_of_an_archive_is_listed(body: bytes) -> None:
    found = listing(body, truncated=True)
    assert found.markdown.startswith(f"[archive: a.bin, {found.markdown.split(', ')[1]}")
    assert "README.md, 12 bytes\n- src/a.py, 1,234 bytes\n" in found.markdown
    assert f"at least {len(body):,} bytes]\n\nAt least " in found.markdown
    assert (found.notes, found.truncated) == (UNSURE, True)


def test_a_long_listing_is_cut_and_says_so() -> None:
    files = {f"{number}.txt": 0 for number in range(MAX_ENTRIES + 5)}
    for body in (zipped(files), tar(files), gzip.compress(tar(files))):
        found = listing(body)
        assert found.markdown.count("\n- ") == MAX_ENTRIES
        assert (found.notes, found.truncated) == (UNSURE, True)


def test_names_are_text_and_nothing_else() -> None:
    files = {"![a](http:/e.com)": 1, "<script>": 1, "a\n- b\x1b[31m\u202e": 1, "x" * 500: 1}
    assert listing(tar(files)).markdown.partition("\n\n")[2] == (
        "4 files, 4 bytes unpacked.\n\n"
        "- \\![a]\\(http:/e.com), 1 byte\n- \\<script>, 1 byte\n- a - b, 1 byte\n- " + "x" * 199 + "…, 1 byte\n"
    )


def test_a_program_before_a_zip_does_not_hide_its_list() -> None:
    body = zipped({"a": 1})
    moved = zip_entries(b"MZ" + bytes(500) + body)
    assert moved.entries == zip_entries(body).entries == (Entry(name="a", size=1),)


def test_sizes_over_four_gigabytes_are_read() -> None:
    header = tarfile.TarInfo("big")
    header.size = 10**12
    for body in (header.tobuf(tarfile.PAX_FORMAT), header.tobuf(tarfile.GNU_FORMAT)):
        assert "- big, 1,000,000,000,000 bytes\n" in listing(body).markdown
    name, extra = b"big", struct.pack("<HHQ", 1, 8, 10**12)
    central = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 8, 0, 0, 0, 9, 2**32 - 1, 3, 12, 0, 0, 0, 0, 0)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(central) + 15, 0, 0)
    assert zip_entries(central + name + extra + end).entries == (Entry(name="big", size=10**12),)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_a_bomb_is_unpacked_to_a_limit_and_never_kept(compress: Callable[[bytes], bytes]) -> None:
    header = tarfile.TarInfo("big")
    header.size = 10**12
    body = compress(header.tobuf()) + compress(bytes(1_048_576)) * (2 * MAX_UNPACKED // 1_048_576)
    tracemalloc.start()
    try:
        found = listing(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "At least 1 file, 1,000,000,000,000 bytes unpacked.\n\n- big, " in found.markdown
    assert peak < 16 * 1_048_576  # of the 128 MiB it unpacks to; xz keeps 8 MiB to look back at


def test_an_xz_header_that_asks_for_gigabytes_of_memory_gets_none() -> None:
    stream = bytearray(lzma.compress(tar()))
    length = 4 * (stream[12] + 1)  # of the block's header: its size, flags, LZMA2, one byte of options, a checksum
    stream[16] = 38  # a dictionary of 2 GiB
    stream[12 + length - 4 : 12 + length] = zlib.crc32(stream[12 : 12 + length - 4]).to_bytes(4, "little")
    body = bytes(stream)
    assert listing(body, name="a.tar.xz").markdown.partition("\n\n")[2] == "1 file.\n\n- a.tar\n"


def test_what_is_no_archive_is_refused_with_its_kind_and_size() -> None:
    with pytest.raises(Unreadable) as refused:
        listing(b"%PDF-1.7")
    assert refused.value.outcome is Outcome.UNSUPPORTED
    assert refused.value.detail == "no archive but application/pdf (8 bytes)"


@given(
    st.sampled_from([zipped(), tar(), tar(style=tarfile.GNU_FORMAT), gzip.compress(tar()), b"!<arch>\n" + b" " * 200]),
    st.integers(4, 12_000),
    st.binary(max_size=20),
    st.integers(0, 12_000),
)
def test_a_damaged_archive_lists_what_it_can(body: bytes, at: int, noise: bytes, end: int) -> None:
    damaged = (body[:at] + noise + body[at + len(noise) :])[: len(body) - end if end < len(body) else None]
    try:
        found = listing(damaged)
    except Unreadable:
        return
    assert found.markdown.startswith("[archive: a.bin, ")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(zipped({}) + b"PK\x05\x06" * 1_000_000, id="ends of a zip"),
        pytest.param(b"PK\x03\x04" + bytes(26) + (b"PK\x03\x04" + bytes(26)) * 150_000, id="headers of a zip"),
        pytest.param(tarfile.TarInfo("d/").tobuf() * 9_000, id="folders of a tar"),
        pytest.param(gzip.compress(b"")[:-1] * 100, id="damaged members"),
    ],
)
def test_an_archive_made_to_be_slow_is_listed(body: bytes) -> None:
    assert listing(body).markdown.startswith("[archive: a.bin, ")
