"""Public names of made-up distributions: where people look for them, not where they are defined."""

from __future__ import annotations

from pathlib import Path

from tests.local.trees import install, site_of
from webseam.local.reading import read_distribution
from webseam.local.rows import Row, unpack
from webseam.local.worker import perform


def rows_of(site: Path, info: Path, *, brief: bool = False) -> dict[str, Row]:
    reading = read_distribution(str(site), info.name.partition("-")[0], info.name, brief)
    return {row.name: row for row in reading.rows if row.kind in ("module", "class", "function")}


def test_a_function_of_a_private_module_is_found_under_its_public_name(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg/__init__.py": '"""Package."""\nfrom ._impl import shown, Thing\n__all__ = ["shown", "Thing"]\n',
        "pkg/_impl.py": "def shown(a):\n    'Shown.'\ndef hidden(): ...\n"
        "class Thing:\n    def go(self):\n        'Goes.'\n",
    }
    info = install(site, "pkg", "1.0", files)
    found = rows_of(site, info)
    assert sorted(found) == ["pkg", "pkg.Thing", "pkg.Thing.go", "pkg.shown"]
    shown = found["pkg.shown"]
    assert (shown.kind, shown.split, shown.line, shown.signature, shown.summary) == ("function", 3, 1, "(a)", "Shown.")
    assert shown.file == str(site / "pkg/_impl.py")


def test_the_shortest_public_name_is_the_title_and_the_others_lead_to_it(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg/__init__.py": "from .core import run as run\n",
        "pkg/core.py": "def run():\n    'Runs.'\n",
    }
    found = rows_of(site, install(site, "pkg", "1.0", files))
    assert "pkg.core.run" not in found
    assert found["pkg.run"].aliases == ("pkg.core.run",)


def test_star_imports_aliases_and_bound_methods_are_followed(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg/__init__.py": "from ._all import *\n",
        "pkg/_all.py": "class _Dice:\n    def throw(self, sides):\n        'Throw it.'\n"
        "_dice = _Dice()\nthrow = _dice.throw\ndef _old():\n    'Kept.'\nkept = _old\n",
    }
    found = rows_of(site, install(site, "pkg", "1.0", files))
    assert (found["pkg.throw"].signature, found["pkg.throw"].summary) == ("(sides)", "Throw it.")
    assert found["pkg.kept"].summary == "Kept."


def test_a_name_loaded_on_first_use_is_found_in_the_submodule_that_defines_it(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg/__init__.py": "__all__ = ['Pool']\ndef __getattr__(name): ...\n",
        "pkg/pools.py": "class Pool:\n    'Holds workers.'\n",
    }
    assert rows_of(site, install(site, "pkg", "1.0", files))["pkg.Pool"].summary == "Holds workers."


def test_private_names_tests_and_vendored_copies_are_left_out(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    code = "def f():\n    'F.'\n"
    files = {
        "pkg/__init__.py": code,
        "pkg/_private.py": code,
        "pkg/tests/test_f.py": code,
        "pkg/test_g.py": code,
        "pkg/_vendor/other.py": code,
        "pkg/vendor/other.py": code,
        "docs/conf.py": code,
        "pkg/testing.py": code,
    }
    assert sorted(rows_of(site, install(site, "pkg", "1.0", files))) == ["pkg", "pkg.f", "pkg.testing", "pkg.testing.f"]


def test_methods_of_a_private_base_are_the_class_s_own(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg.py": "class _Base:\n    def close(self):\n        'Close it.'\n    def bare(self): ...\n"
        "class File(_Base):\n    def read(self):\n        'Read it.'\n"
    }
    assert sorted(rows_of(site, install(site, "pkg", "1.0", files))) == [
        "pkg",
        "pkg.File",
        "pkg.File.close",
        "pkg.File.read",
    ]


def test_import_cycles_end(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {
        "pkg/__init__.py": "from .a import *\n",
        "pkg/a.py": "from .b import *\n",
        "pkg/b.py": "from .a import *\ndef f(): ...\n",
    }
    assert "pkg.b.f" in {
        name for row in rows_of(site, install(site, "pkg", "1.0", files)).values() for name in (row.name, *row.aliases)
    }


def test_a_file_that_cannot_be_parsed_is_counted_and_the_others_stay(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    info = install(site, "pkg", "1.0", {"pkg/__init__.py": "def good():\n    'Good.'\n", "pkg/bad.py": "def (:\n"})
    reading = read_distribution(str(site), "pkg", info.name, False)
    assert reading.skipped == 1
    assert "pkg.good" in {row.name for row in reading.rows}


def test_a_brief_reading_lists_undocumented_methods_with_their_class(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    files = {"pkg.py": "class C:\n    'See.'\n    def told(self):\n        'Told.'\n    def bare(self, x): ...\n"}
    found = rows_of(site, install(site, "pkg", "1.0", files), brief=True)
    assert sorted(found) == ["pkg", "pkg.C", "pkg.C.told"]
    assert unpack(found["pkg.C"].doc) == "Methods:\nbare(x)"


def test_the_long_description_becomes_sections_with_their_lines(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    info = install(site, "pkg", "1.0", {}, readme="Intro.\n\n# Install\n\nUse pip.\n", summary="A package.")
    rows = read_distribution(str(site), "pkg", info.name, False).rows
    assert [(row.kind, row.name, row.line, row.summary, unpack(row.doc)) for row in rows] == [
        ("readme", "pkg", 1, "A package.", ""),
        ("readme", "pkg", 7, "", "Intro."),
        ("readme", "Install", 9, "", "Use pip."),
    ]
    assert rows[2].file == str(info / "METADATA")


def test_which_names_of_others_are_used_is_counted_by_file(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    code = "import os\nfrom json import loads\nfrom pkg import own\nprint(os.path.join('a'), loads, own)\n"
    info = install(site, "pkg", "1.0", {"pkg/__init__.py": code, "pkg/two.py": "import os\n"})
    assert read_distribution(str(site), "pkg", info.name, False).uses == {
        "os": 2,
        "os.path": 1,
        "os.path.join": 1,
        "json": 1,
        "json.loads": 1,
        "builtins.print": 1,
    }


def test_a_manual_page_that_cannot_be_unpacked_is_counted(tmp_path: Path) -> None:
    bad = tmp_path / "bad.1.gz"
    bad.write_bytes(b"\x1f\x8b\x08\x00 torn")
    good = tmp_path / "good.1"
    good.write_text(".SH NAME\ngood \\- be good\n.SH DESCRIPTION\nIt is.\n")
    torn, read = perform(("manual", [str(bad), str(good)], False))
    assert torn == (str(bad), 1, [], {})
    assert [Row(*row)[:8] for row, _ in read[2]] == [("man", "good(1)", 0, "", str(good), 0, "", "be good")]
