"""The index as a whole, over made-up environments: what is found, what is read again, what happens in bad worlds."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.trees import install, site_of
from webseam.errors import Cancelled, Outcome, RequestError, WebSeamError
from webseam.local import LocalHit, LocalIndex, Progress, Refresh
from webseam.local.build import LEASE
from webseam.local.schema import VERSION

CORE = '''
def draw_circle(radius, *, fill=None):
    """Paint a round figure.

    The radius is in pixels.
    Negative radii are refused.
    """


class Canvas:
    """A surface to paint on."""

    def save(self, path):
        """Write the picture to a file."""
'''
INIT = '''
"""Shapes and what to do with them."""
from ._core import draw_circle, Canvas
__all__ = ["draw_circle", "Canvas"]
'''
SHAPES = {"shapes/__init__.py": INIT.lstrip(), "shapes/_core.py": CORE.lstrip()}
README = "Draws.\n\n# Installing\n\nRun the frobnicate installer.\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = site_of(tmp_path)
    install(site, "shapes", "2.1", SHAPES, readme=README, summary="Shapes for everybody.")
    return site


@pytest.fixture
def index(tmp_path: Path, site: Path) -> LocalIndex:
    return LocalIndex(tmp_path / "index.sqlite3", environments=[site])


@pytest.fixture
def built(index: LocalIndex) -> LocalIndex:
    assert index.refresh().complete
    return index


def titles(hits: list[LocalHit]) -> list[str]:
    return [hit.title for hit in hits]


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_a_function_is_found_by_what_it_does_and_the_hit_says_where_it_is_from(built: LocalIndex, site: Path) -> None:
    hit = built.search("how do I paint a round figure")[0]
    assert replace(hit, score=0.0) == LocalHit(
        title="shapes.draw_circle",
        url="python://shapes/shapes#draw_circle",
        package="shapes",
        version="2.1",
        kind="function",
        snippet="draw_circle(radius, *, fill=None): Paint a round figure.",
        passages=(),
        score=0.0,
        location=(site / "shapes/_core.py").as_uri() + "#L1",
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("draw_circle", "shapes.draw_circle", id="bare"),
        pytest.param("DRAW_CIRCLE", "shapes.draw_circle", id="any-case"),
        pytest.param("shapes.draw_circle()", "shapes.draw_circle", id="dotted-call"),
        pytest.param("shapes._core.draw_circle", "shapes.draw_circle", id="where-it-is-defined"),
        pytest.param("Canvas.save", "shapes.Canvas.save", id="method"),
        pytest.param("drawing circles", "shapes.draw_circle", id="other-forms-of-its-words"),
        pytest.param("shapes", "shapes", id="module"),
        pytest.param("how does Canvas.save work", "shapes.Canvas.save", id="a-name-inside-a-question"),
    ],
)
def test_an_identifier_finds_its_definition_first(built: LocalIndex, query: str, expected: str) -> None:
    assert titles(built.search(query))[0] == expected


def test_the_passages_are_the_lines_that_match(built: LocalIndex) -> None:
    hit = built.search("draw circle negative radii")[0]
    assert hit.passages == ("The radius is in pixels.\nNegative radii are refused.",)


def test_a_section_of_the_readme_is_a_file_url_with_its_line(built: LocalIndex, site: Path) -> None:
    hit = built.search("frobnicate installer")[0]
    metadata = (site / "shapes-2.1.dist-info" / "METADATA").as_uri()
    assert (hit.kind, hit.title, hit.url, hit.package) == ("readme", "shapes > Installing", f"{metadata}#L9", "shapes")
    assert hit.passages == ("Run the frobnicate installer.",)


def test_what_is_nowhere_is_not_found(built: LocalIndex) -> None:
    assert built.search("xylophone quantum") == []


def test_words_that_are_not_everywhere_may_be_missing(built: LocalIndex) -> None:
    assert titles(built.search("paint a figure with xylophones"))[0] == "shapes.draw_circle"


def test_a_search_can_be_kept_to_one_package(tmp_path: Path, site: Path) -> None:
    install(site, "other_pkg", "1.0", {"other.py": "def draw_circle():\n    'Paint a round figure, too.'\n"})
    index = LocalIndex(tmp_path / "index.sqlite3", environments=[site])
    index.refresh()
    assert titles(index.search("draw_circle", package="Other_Pkg")) == ["other.draw_circle"]
    assert titles(index.search("paint a round figure", package="other-pkg")) == ["other.draw_circle"]


def test_count_bounds_the_hits(built: LocalIndex) -> None:
    assert len(built.search("shapes", count=2)) == 2


@pytest.mark.parametrize(
    ("query", "count", "field"),
    [
        pytest.param("  ", 10, "query", id="empty-query"),
        pytest.param("x", 0, "count", id="no-hits"),
        pytest.param("x", 101, "count", id="too-many-hits"),
    ],
)
def test_bad_input_names_its_field(built: LocalIndex, query: str, count: int, field: str) -> None:
    with pytest.raises(RequestError) as caught:
        built.search(query, count=count)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "query",
    [
        pytest.param('"', id="a-quote"),
        pytest.param("a AND OR NOT (b", id="operators"),
        pytest.param("name:*^ -x", id="syntax-of-the-engine"),
        pytest.param("\ud800 \x00 x", id="no-text"),
        pytest.param("²³ ́", id="marks-that-are-no-words"),
        pytest.param("word " * 400, id="a-long-text"),
        pytest.param("日本語 поиск", id="other-scripts"),
        pytest.param("how do I", id="only-question-words"),
        pytest.param("..", id="dots"),
    ],
)
def test_no_query_breaks_the_search(built: LocalIndex, query: str) -> None:
    assert isinstance(built.search(query), list)


# keeping up to date


def test_a_build_reports_what_it_did_and_a_second_one_has_nothing_to_do(index: LocalIndex) -> None:
    seen: list[Progress] = []
    first = index.refresh(progress=seen.append)
    assert replace(first, took=0.0) == Refresh(complete=True, read=1, entries=7)
    assert seen == [Progress(done=0, total=1, name=""), Progress(done=1, total=1, name="shapes")]
    assert index.fresh()
    assert replace(index.refresh(), took=0.0) == Refresh(complete=True, read=0, entries=7)


def test_without_an_index_nothing_is_fresh_and_nothing_is_found(index: LocalIndex) -> None:
    assert (index.fresh(), index.search("shapes"), index.list_sources()) == (False, [], [])


def test_only_what_changed_is_read_again(built: LocalIndex, site: Path) -> None:
    install(site, "second", "1.0", {"second.py": "def added():\n    'Added.'\n"})
    assert not built.fresh()
    refresh = built.refresh()
    assert (refresh.read, refresh.removed, refresh.complete) == (1, 0, True)
    assert titles(built.search("added")) == ["second.added"]


def test_an_upgrade_replaces_the_old_version(built: LocalIndex, site: Path) -> None:
    shutil.rmtree(site / "shapes-2.1.dist-info")
    files = {"shapes/__init__.py": "def draw_circle(r):\n    'Paint a square instead.'\n"}
    install(site, "shapes", "3.0", files)
    refresh = built.refresh()
    assert (refresh.read, refresh.removed, refresh.entries) == (1, 1, 2)
    hit = built.search("draw_circle")[0]
    assert (hit.title, hit.version, hit.snippet) == (
        "shapes.draw_circle",
        "3.0",
        "draw_circle(r): Paint a square instead.",
    )
    assert built.search("frobnicate") == []


def test_what_is_removed_leaves_no_trace(built: LocalIndex, site: Path) -> None:
    shutil.rmtree(site / "shapes-2.1.dist-info")
    assert replace(built.refresh(), took=0.0) == Refresh(complete=True, removed=1)
    for table in ("entries", "names", "stems", "parts", "files", "uses", "sources"):
        assert rows(built.path, f"SELECT count(*) FROM {table}") == [(0,)], table
    for words in ("titles", "texts"):
        assert rows(built.path, f"SELECT count(*) FROM {words} WHERE {words} MATCH 'paint OR draw OR shapes'") == [(0,)]


def test_another_environment_keeps_what_the_first_one_read(built: LocalIndex, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "site-packages"
    install(elsewhere, "tool", "1.0", {"tool.py": "def hammer():\n    'Hit it.'\n"})
    other = LocalIndex(built.path, environments=[elsewhere])
    assert other.refresh().read == 1
    assert (titles(other.search("hammer")), other.search("draw_circle")) == (["tool.hammer"], [])
    assert not built.fresh()
    assert built.refresh().read == 0
    assert titles(built.search("draw_circle"))[0] == "shapes.draw_circle"
    assert [source.name for source in built.list_sources()] == ["shapes"]


def test_a_file_that_cannot_be_parsed_is_skipped_and_counted(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    install(site, "pkg", "1.0", {"pkg/__init__.py": "def good():\n    'Good.'\n", "pkg/bad.py": "def (:\n"})
    index = LocalIndex(tmp_path / "index.sqlite3", environments=[site])
    assert (index.refresh().skipped, titles(index.search("good"))) == (1, ["pkg.good"])


def test_what_the_index_reads_is_never_imported(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    mark = tmp_path / "imported"
    code = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\ndef f():\n    'Documented.'\n"
    install(site, "evil", "1.0", {"evil/__init__.py": code, "json.py": code, "sitecustomize.py": code})
    index = LocalIndex(tmp_path / "index.sqlite3", environments=[site])
    index.refresh()
    assert (titles(index.search("evil.f"))[0], mark.exists()) == ("evil.f", False)


# folders


def test_a_folder_is_indexed_file_by_file(index: LocalIndex, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Deploying\n\nPush the zeppelin button.\n")
    (docs / "page.html").write_text("<h1>Rollback</h1><p>Pull the zeppelin lever.</p>")
    assert index.add_folder(docs)
    assert not index.add_folder(docs)
    index.refresh()
    hits = index.search("zeppelin button")
    assert (hits[0].title, hits[0].kind, hits[0].url) == (
        "guide.md > Deploying",
        "page",
        (docs.resolve() / "guide.md").as_uri() + "#L1",
    )
    (docs / "guide.md").write_text("# Deploying\n\nPush the airship button twice.\n")
    (docs / "page.html").unlink()
    assert not index.fresh()
    assert index.refresh().read == 1
    assert index.search("zeppelin") == []
    assert titles(index.search("airship")) == ["guide.md > Deploying"]
    assert index.remove_folder(docs)
    assert not index.remove_folder(docs)
    index.refresh()
    assert index.search("airship") == []


def test_added_folders_outlive_a_damaged_index(built: LocalIndex, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    built.add_folder(docs)
    built.path.write_bytes(b"no database")
    assert LocalIndex(built.path).folders() == [docs.resolve()]


def test_what_is_no_folder_cannot_be_added(index: LocalIndex, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is not a folder"):
        index.add_folder(tmp_path / "missing")


def test_a_folder_with_a_binary_and_a_broken_link_is_read_as_far_as_possible(index: LocalIndex, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.txt").write_text("Zeppelins fly.")
    (docs / "binary.txt").write_bytes(b"\x00\x01" * 100)
    (docs / "gone.md").symlink_to(docs / "nowhere.md")
    index.add_folder(docs)
    refresh = index.refresh()
    assert (refresh.complete, refresh.skipped) == (True, 1)
    assert titles(index.search("zeppelins")) == ["good.txt > Zeppelins fly."]


def test_the_sources_are_listed_with_what_they_hold(built: LocalIndex, site: Path) -> None:
    (source,) = built.list_sources()
    assert (source.kind, source.name, source.version, source.entries, source.skipped, source.complete) == (
        "distribution",
        "shapes",
        "2.1",
        7,
        0,
        True,
    )
    assert source.place == str(site / "shapes-2.1.dist-info")


# bad worlds


def test_a_build_that_runs_out_of_time_leaves_what_it_has_and_says_so(tmp_path: Path, site: Path) -> None:
    install(site, "second", "1.0", {"second.py": "def added():\n    'Added.'\n"})
    index = LocalIndex(tmp_path / "index.sqlite3", environments=[site])
    assert index.refresh(expires_at=time.monotonic()).complete is False
    assert index.fresh() is False
    assert index.refresh().complete is True
    assert titles(index.search("added")) == ["second.added"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"this is no database, whatever its name says" * 100, id="not-a-database"),
        pytest.param(b"", id="empty"),
        pytest.param(b"SQLite format 3\x00" + b"\xff" * 4096, id="torn-header"),
    ],
)
def test_a_damaged_file_is_made_again(index: LocalIndex, content: bytes) -> None:
    index.path.write_bytes(content)
    assert index.fresh() is False
    refresh = index.refresh()
    assert (refresh.complete, len(refresh.warnings)) == (True, 1 if content else 0)
    assert titles(index.search("draw_circle"))[0] == "shapes.draw_circle"


def test_damage_behind_a_good_header_is_noticed_and_made_good(built: LocalIndex) -> None:
    data = bytearray(built.path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    built.path.write_bytes(data)
    with pytest.raises(WebSeamError) as caught:
        built.search("draw_circle")
    assert caught.value.outcome == Outcome.BAD_RESPONSE
    assert built.fresh() is False
    assert built.refresh().complete is True
    assert titles(built.search("draw_circle"))[0] == "shapes.draw_circle"


def test_damage_found_while_building_is_made_good_at_once(built: LocalIndex, site: Path) -> None:
    install(site, "second", "1.0", {"second.py": "def added():\n    'Added.'\n"})
    data = bytearray(built.path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    built.path.write_bytes(data)
    refresh = built.refresh()
    assert (refresh.complete, refresh.read, len(refresh.warnings)) == (True, 2, 1)


def test_an_index_of_a_newer_version_is_replaced_with_a_warning(built: LocalIndex) -> None:
    with closing(sqlite3.connect(built.path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    assert built.search("draw_circle") == []
    refresh = built.refresh()
    assert refresh.complete
    assert refresh.warnings == (
        f"the index was made by a newer webseam (version {VERSION + 1}, this one knows {VERSION}); it is made again",
    )


def test_where_nothing_can_be_written_the_index_is_kept_in_memory(tmp_path: Path, site: Path) -> None:
    (tmp_path / "file").write_text("where the folder should be")
    index = LocalIndex(tmp_path / "file" / "index.sqlite3", environments=[site])
    refresh = index.refresh()
    assert (refresh.complete, len(refresh.warnings)) == (True, 1)
    assert "cannot be written" in refresh.warnings[0]
    assert titles(index.search("draw_circle"))[0] == "shapes.draw_circle"
    assert index.fresh()
    index.close()


def test_a_lease_that_ran_out_is_taken_over(index: LocalIndex) -> None:
    index.refresh()
    with closing(sqlite3.connect(index.path)) as connection, connection:
        connection.execute("UPDATE sources SET fingerprint = NULL")
        connection.execute("INSERT INTO lease VALUES (1, 'crashed', ?)", (time.time() - 1,))
    assert index.refresh().complete


def test_a_build_waits_for_the_one_that_holds_the_lease_only_as_long_as_it_may(index: LocalIndex) -> None:
    index.refresh()
    with closing(sqlite3.connect(index.path)) as connection, connection:
        connection.execute("UPDATE sources SET fingerprint = NULL")
        connection.execute("INSERT INTO lease VALUES (1, 'somebody', ?)", (time.time() + LEASE,))
    assert index.refresh(expires_at=time.monotonic() + 0.05).complete is False
    assert titles(index.search("draw_circle"))[0] == "shapes.draw_circle"


_BUILD = """
import sys
from pathlib import Path
from webseam.local import LocalIndex
index = LocalIndex(Path(sys.argv[1]), environments=[Path(sys.argv[2])])
print(index.refresh().complete, [hit.title for hit in index.search("common", count=100)] == sorted(sys.argv[3:]))
"""


def test_several_processes_that_build_at_once_make_one_index(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    names = [f"pkg{number:02}" for number in range(12)]
    for name in names:
        install(site, name, "1.0", {f"{name}.py": "def common():\n    'Everywhere the same.'\n"})
    expected = [f"{name}.common" for name in names]
    command = [sys.executable, "-c", _BUILD, str(tmp_path / "index.sqlite3"), str(site), *expected]
    root = Path(__file__).resolve().parents[2] / "src"
    builders = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(root)}) for _ in range(3)
    ]
    assert [builder.communicate()[0].strip() for builder in builders] == ["True True"] * 3
    assert rows(
        tmp_path / "index.sqlite3", "SELECT count(*), count(DISTINCT name) FROM entries WHERE kind = 'function'"
    ) == [(12, 12)]
    assert rows(tmp_path / "index.sqlite3", "SELECT count(*) FROM lease") == [(0,)]


@pytest.fixture
def large(tmp_path: Path) -> LocalIndex:
    """An index whose build takes seconds, for tests that stop it."""
    site = site_of(tmp_path)
    code = "\n".join(f"def function_{number}(a, b):\n    'Does thing {number} with words.'\n" for number in range(1500))
    for number in range(30):
        install(site, f"big{number}", "1.0", {f"big{number}.py": code})
    return LocalIndex(tmp_path / "index.sqlite3", environments=[site])


def test_a_build_is_interrupted_from_another_thread_and_finished_by_the_next(large: LocalIndex) -> None:
    under_way = threading.Event()
    results: list[Refresh] = []
    worker = threading.Thread(target=lambda: results.append(large.refresh(progress=lambda _: under_way.set())))
    worker.start()
    assert under_way.wait(20)
    large.interrupt()
    worker.join(20)
    assert not worker.is_alive()
    assert (results[0].complete, results[0].warnings) == (False, ())
    assert rows(large.path, "SELECT count(*) FROM lease") == [(0,)]
    assert large.refresh().entries == 30 * 1501
    assert large.fresh()


def test_an_interrupted_search_says_so(built: LocalIndex) -> None:
    outcomes: list[Outcome] = []

    def search_until_stopped() -> None:
        while not outcomes:
            try:
                built.search("how do I paint a round figure on a surface")
            except Cancelled as stopped:
                outcomes.append(stopped.outcome)

    worker = threading.Thread(target=search_until_stopped)
    worker.start()
    ends = time.monotonic() + 20
    while worker.is_alive() and time.monotonic() < ends:
        built.interrupt()
    outcomes.append(Outcome.TIMEOUT)  # ends the thread where no search was ever stopped
    worker.join()
    assert outcomes[0] == Outcome.CANCELLED


def test_an_interruption_does_not_reach_later_calls(built: LocalIndex) -> None:
    built.interrupt()
    assert titles(built.search("draw_circle"))[0] == "shapes.draw_circle"
