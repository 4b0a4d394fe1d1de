"""The real standard library: what people look for first has to be first."""

from __future__ import annotations

import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

from webseam.local import LocalIndex
from webseam.local.fame import settle
from webseam.local.schema import connect
from webseam.local.sources import BUILT_IN
from webseam.local.tables import write_part
from webseam.local.worker import perform

TOPS = [
    BUILT_IN,
    "asyncio",
    "collections",
    "hashlib",
    "json",
    "os",
    "pathlib",
    "posixpath",
    "random",
    "shutil",
    "urllib",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> LocalIndex:
    """Some of the standard library, as a build would write it; all of it would take five seconds."""
    path = tmp_path_factory.mktemp("library") / "index.sqlite3"
    root = sysconfig.get_path("stdlib")
    with closing(connect(path, write=True)) as db:
        db.execute("INSERT INTO sources VALUES (1, 'stdlib', 'stdlib', 'python', '3', 1.0, 'x', NULL)")
        db.execute("BEGIN")
        for key, skipped, rows, uses in perform(("stdlib", root, TOPS)):
            write_part(db, 1, key, "x", skipped, rows, uses)
        settle(db)
        db.execute("COMMIT")
    return LocalIndex(path, environments=())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("os.getcwd", "os.getcwd", id="written-in-c-behind-a-star-import"),
        pytest.param("os.path.join", "os.path.join", id="a-module-under-another-name"),
        pytest.param("posixpath.join", "os.path.join", id="and-under-its-own"),
        pytest.param("math.gcd", "math.gcd", id="a-module-without-source"),
        pytest.param("str.split", "builtins.str.split", id="a-method-of-a-builtin"),
        pytest.param("open", "builtins.open", id="a-builtin"),
        pytest.param("random.choice", "random.choice", id="a-bound-method"),
        pytest.param("deque", "collections.deque", id="imported-from-c"),
        pytest.param("asyncio.gather", "asyncio.gather", id="computed-exports"),
        pytest.param("hashlib.sha256", "hashlib.sha256", id="made-in-a-loop"),
        pytest.param("Path.read_text", "pathlib.Path.read_text", id="a-method-by-its-class"),
    ],
)
def test_a_name_leads_to_its_public_definition(library: LocalIndex, query: str, expected: str) -> None:
    assert library.search(query)[0].title == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(
            "parse a url query string",
            {"urllib.parse.parse_qs", "urllib.parse.parse_qsl", "urllib.parse.urlparse"},
            id="query-string",
        ),
        pytest.param("get the current working directory", {"os.getcwd", "pathlib.Path.cwd"}, id="working-directory"),
        pytest.param("how do I copy a file", {"shutil.copy", "shutil.copyfile", "shutil.copy2"}, id="copy"),
        pytest.param("greatest common divisor", {"math.gcd"}, id="gcd"),
        pytest.param("delete a directory tree", {"shutil.rmtree"}, id="delete-a-tree"),
    ],
)
def test_a_question_finds_its_answer_among_the_first_three(library: LocalIndex, query: str, expected: set[str]) -> None:
    assert {hit.title for hit in library.search(query)[:3]} & expected


def test_a_hit_says_version_and_place(library: LocalIndex) -> None:
    hit = library.search("json.loads")[0]
    assert (hit.url, hit.package, hit.version, hit.kind) == ("python://python/json#loads", "python", "3", "function")
    assert hit.location is not None
    assert hit.location.startswith(Path(sysconfig.get_path("stdlib"), "json", "__init__.py").as_uri() + "#L")
    assert library.search("math.gcd")[0].location is None
