"""Decoders and the collector by themselves: cut anywhere, bounded everywhere. And bytes to text."""

from __future__ import annotations

import builtins
import gzip
import itertools
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.net.test_faults_encoding import CODINGS, zstd
from webseam.net import body as module
from webseam.net.body import STEP, Body, BodyError, decode_text, decoders, offered

PACKED = {name: pack(b"The quick brown fox. " * 40) for name, (_, pack) in CODINGS.items()}


def unpack(coding: str, pieces: list[bytes], *, limit: int = 10**6) -> tuple[str, bytes]:
    """Return how reading ended ("whole", "capped" or the kind of the error) and what had come until then."""
    collector = Body(decoders([coding]), limit=limit)
    try:
        for piece in pieces:
            if not collector.feed(piece):
                return "capped", collector.content()
        collector.finish()
    except BodyError as error:
        return error.kind, b""
    return "whole", collector.content()


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(place, len(data)) for place in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@pytest.mark.parametrize("name", CODINGS)
@given(text=st.binary(max_size=400), cuts=st.lists(st.integers(0, 500), max_size=8))
def test_cutting_a_coded_body_anywhere_changes_nothing(name: str, text: bytes, cuts: list[int]) -> None:
    coding, pack = CODINGS[name]
    assert unpack(coding, cut(pack(text), cuts)) == ("whole", text)


@pytest.mark.parametrize("name", CODINGS)
@given(data=st.data())
def test_a_damaged_body_ends_in_the_same_way_however_it_is_cut(name: str, data: st.DataObject) -> None:
    coding, _ = CODINGS[name]
    damaged = bytearray(PACKED[name])
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=3)):
        damaged[place] = data.draw(st.integers(0, 255))
    cuts = data.draw(st.lists(st.integers(0, len(damaged)), max_size=6))
    assert unpack(coding, cut(bytes(damaged), cuts)) == unpack(coding, [bytes(damaged)])


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@given(junk=st.binary(min_size=1, max_size=60))
def test_bytes_that_are_no_coding_end_in_an_error_or_in_text_and_never_in_a_crash(coding: str, junk: bytes) -> None:
    assert unpack(coding, [junk])[0] in ("whole", "encoding", "truncated")


@given(parts=st.lists(st.binary(max_size=50), min_size=1, max_size=5), padding=st.integers(0, 20))
def test_members_and_frames_are_joined(parts: list[bytes], padding: int) -> None:
    members = b"".join(gzip.compress(part) + bytes(padding) for part in parts)
    assert unpack("gzip", cut(members, list(range(0, 300, 7)))) == ("whole", b"".join(parts))
    assert unpack("zstd", [b"".join(zstd(part) for part in parts)]) == ("whole", b"".join(parts))


@pytest.mark.parametrize("name", CODINGS)
def test_no_step_gives_much_more_than_its_bound_and_the_cap_is_exact(name: str) -> None:
    coding, pack = CODINGS[name]
    packed = pack(bytes(20 * STEP))
    (decoder,) = decoders([coding])
    sizes = [len(piece) for piece in decoder.feed(packed)]
    decoder.finish()
    assert (sum(sizes), max(sizes) <= 2 * STEP) == (20 * STEP, True)
    assert unpack(coding, [packed], limit=3 * STEP + 1) == ("capped", bytes(3 * STEP + 1))
    assert unpack(coding, [packed], limit=20 * STEP) == ("whole", bytes(20 * STEP))


@pytest.mark.parametrize("step", [STEP - 1, STEP, STEP + 1, 2 * STEP])
@pytest.mark.parametrize("name", CODINGS)
def test_a_body_of_whole_steps_is_not_cut_at_its_edge(name: str, step: int) -> None:
    coding, pack = CODINGS[name]
    packed = pack(bytes(step))
    assert unpack(coding, [packed]) == ("whole", bytes(step))
    assert unpack(coding, [packed[:1], packed[1:2], packed[2:]]) == ("whole", bytes(step))


def test_an_inner_layer_that_unpacks_to_nothing_is_bounded_too() -> None:
    nothing = gzip.compress(gzip.compress(b"") * 500_000)
    collector = Body(decoders(["gzip, gzip"]), limit=1_000_000)
    assert collector.feed(nothing) is False
    assert (collector.truncated, collector.content()) == (True, b"")


def test_empty_members_are_bounded_by_the_bytes_received() -> None:
    collector = Body(decoders(["gzip"]), limit=1_000)
    fed = 0
    while collector.feed(gzip.compress(b"") * 100):
        fed += 1
    assert (collector.truncated, fed * 2_000 < 1_000 * 9 // 8 + 2 * STEP) == (True, True)


def test_a_watch_sees_every_piece_and_ends_the_body() -> None:
    seen: list[bytes] = []

    def watch(piece: bytes) -> int | None:
        seen.append(piece)
        return 4 if len(seen) == 3 else None

    collector = Body([], limit=100, watch=watch)
    assert [collector.feed(piece) for piece in (b"ab", b"cd", b"ef")] == [True, True, False]
    assert (collector.content(), collector.truncated, seen) == (b"abcd", False, [b"ab", b"cd", b"ef"])


def test_pieces_without_a_coding_are_kept_as_they_come() -> None:
    collector = Body(decoders([]), limit=5)
    assert [collector.feed(piece) for piece in (b"ab", b"cd", b"ef")] == [True, True, False]
    assert (collector.content(), collector.truncated, collector.received) == (b"abcde", True, 6)


def test_only_what_is_installed_is_offered() -> None:
    assert offered() == "gzip, deflate, br, zstd"


def test_without_the_libraries_only_what_python_has_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = {"brotli", "backports", "compression"}
    real = builtins.__import__

    def without(name: str, *arguments: object, **options: object) -> object:
        if name.partition(".")[0] in absent:
            raise ImportError(name)
        return real(name, *arguments, **options)  # type: ignore[arg-type]

    caches: list[Callable[[], object]] = [module._brotli, module._zstd, module._makers, module.offered]
    for cached in caches:
        cached.cache_clear()  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(builtins, "__import__", without)
        assert offered() == "gzip, deflate"
        with pytest.raises(BodyError):
            decoders(["br"])
    for cached in caches:
        cached.cache_clear()  # type: ignore[attr-defined]


def test_a_brotli_library_that_cannot_stop_in_the_middle_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Decompressor:
        """As before brotli 1.2."""

    module._brotli.cache_clear()
    monkeypatch.setattr(brotli, "Decompressor", Decompressor)
    assert module._brotli() is None
    module._brotli.cache_clear()


def test_a_zstd_window_larger_than_the_web_allows_is_refused() -> None:
    window_of_64_mib = bytes([0x28, 0xB5, 0x2F, 0xFD, 0x00, (26 - 10) << 3]) + b"\x01\x00\x00"
    assert unpack("zstd", [window_of_64_mib])[0] == "encoding"


@pytest.mark.parametrize(
    "content, content_type, text, charset",
    [
        pytest.param("grün".encode(), None, "grün", "utf-8", id="UTF-8-by-default"),
        pytest.param("grün".encode("latin-1"), "text/html; charset=ISO-8859-1", "grün", "cp1252", id="Latin-1"),
        pytest.param(b"\x80", "text/html; charset=us-ascii", "€", "cp1252", id="ASCII-is-windows-1252"),
        pytest.param("日本".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本", "shift_jis", id="quoted"),
        pytest.param(
            "日本".encode("euc-jp"), "text/html;x=y; CHARSET=euc-jp ", "日本", "euc_jp", id="other-parameters"
        ),
        pytest.param("\ufeffgrün".encode(), "text/html; charset=latin-1", "grün", "utf-8", id="mark-of-UTF-8-wins"),
        pytest.param(b"\xff\xfea\0", None, "a", "utf-16-le", id="mark-of-UTF-16-LE"),
        pytest.param(b"\xfe\xff\0a", None, "a", "utf-16-be", id="mark-of-UTF-16-BE"),
        pytest.param(b"\xff\xfe\0\0a\0\0\0", None, "a", "utf-32-le", id="mark-of-UTF-32-LE"),
        pytest.param(b"\0\0\xfe\xff\0\0\0a", None, "a", "utf-32-be", id="mark-of-UTF-32-BE"),
        pytest.param(b"6869", "text/html; charset=hex", "6869", "utf-8", id="row-48-hex"),
        pytest.param(zlib.compress(b"x"), "text/html; charset=zlib_codec", None, "utf-8", id="row-48-zlib"),
        pytest.param(b"a", "text/html; charset=nope-9", "a", "utf-8", id="row-49-unknown"),
        pytest.param(b"+AGEAYg-", "text/html; charset=utf-7", "+AGEAYg-", "utf-8", id="row-49-UTF-7"),
        pytest.param(b"\\u0061", "text/html; charset=unicode_escape", "\\u0061", "utf-8", id="escapes"),
        pytest.param(b"a\xff", "text/html; charset=utf-8", "a\ufffd", "utf-8", id="row-49-wrong"),
        pytest.param("ab".encode("utf-16-le"), "text/html; charset=utf-16", None, "utf-16", id="row-49-UTF-16-bare"),
        pytest.param(b"a", "text/html; charset=a\0b", "a", "utf-8", id="NUL-in-the-name"),
        pytest.param(b"a", "text/html; charset=\u0661", "a", "utf-8", id="not-ASCII-in-the-name"),
        pytest.param(b"a", "text/html; charset=", "a", "utf-8", id="empty"),
        pytest.param(b"a", "text/html; charset", "a", "utf-8", id="no-value"),
    ],
)
def test_bytes_become_text(content: bytes, content_type: str | None, text: str | None, charset: str) -> None:
    decoded, name = decode_text(content, content_type)
    assert name == charset
    assert text is None or decoded == text


@given(content=st.binary(max_size=100), name=st.text(max_size=20))
def test_any_bytes_under_any_charset_become_some_text(content: bytes, name: str) -> None:
    decoded, _ = decode_text(content, f"text/html; charset={name}")
    assert isinstance(decoded, str)
