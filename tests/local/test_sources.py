from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.local.trees import install, site_of
from webseam.local.sources import TIER_ENVIRONMENT, discover, page_of, parts_of, standard_library


def test_each_distribution_of_an_environment_is_a_source_with_name_and_version(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    install(site, "my_pkg", "1.2.3", {"my_pkg.py": ""})
    (site / "old-0.5-py3.11.egg-info").mkdir()
    (site / "old-0.5-py3.11.egg-info" / "PKG-INFO").write_text("Name: old\n\nText.\n")
    (site / "loose.py").write_text("")
    found = discover((), [site])
    assert [(source.kind, source.name, source.version, source.tier) for source in found] == [
        ("distribution", "my-pkg", "1.2.3", TIER_ENVIRONMENT),
        ("distribution", "old", "0.5", TIER_ENVIRONMENT),
    ]


def test_a_virtual_environment_is_named_by_its_folder(tmp_path: Path) -> None:
    site = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    install(site, "pkg", "1.0", {})
    assert [source.root for source in discover((), [tmp_path / "venv"])] == [str(site)]


def test_of_two_copies_the_first_on_the_path_counts(tmp_path: Path) -> None:
    for folder, version in (("first", "1.0"), ("second", "2.0")):
        install(tmp_path / folder / "site-packages", "pkg", version, {})
    environments = [tmp_path / "first" / "site-packages", tmp_path / "second" / "site-packages"]
    assert [source.version for source in discover((), environments)] == ["1.0"]


def test_the_fingerprint_of_a_distribution_changes_when_it_is_installed_again(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    info = install(site, "pkg", "1.0", {})
    (before,) = discover((), [site])
    os.utime(info / "RECORD", ns=(1, 1))
    (after,) = discover((), [site])
    assert (before.key, before.fingerprint != after.fingerprint) == (after.key, True)


def test_a_folder_has_its_pages_as_parts_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.rst", "c.TXT", ".hidden.md", ".git/x.md", "node_modules/y.md", "image.png", "md"):
        place = tmp_path / "docs" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("text")
    (source,) = discover([tmp_path / "docs"], ())
    root = (tmp_path / "docs").resolve()
    assert [Path(part).relative_to(root).as_posix() for part in parts_of(source)] == ["a.md", "c.TXT", "sub/b.rst"]


def test_a_folder_that_is_gone_is_no_source(tmp_path: Path) -> None:
    assert discover([tmp_path / "gone"], ()) == []


def test_without_a_choice_this_interpreter_and_its_library_are_indexed() -> None:
    found = discover((), None)
    library = next(source for source in found if source.kind == "stdlib")
    assert (library.name, library.version) == ("python", ".".join(map(str, sys.version_info[:3])))
    assert "pytest" in {source.name for source in found if source.kind == "distribution"}


def test_the_public_top_of_the_standard_library_is_its_parts() -> None:
    parts = parts_of(standard_library())
    assert {"os", "json", "urllib", "asyncio", "(built in)"} <= parts.keys()
    assert not {"test", "idlelib", "site-packages", "_pyio"} & parts.keys()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("ls.1.gz", ("ls", "1"), id="packed"),
        pytest.param("open.2", ("open", "2"), id="plain"),
        pytest.param("Digest::SHA.3perl.gz", ("Digest::SHA", "3perl"), id="section-with-a-suffix"),
        pytest.param("README", None, id="no-page"),
        pytest.param("x.9.gz", None, id="no-such-section"),
    ],
)
def test_the_name_of_a_manual_page_s_file_says_what_it_is(name: str, expected: tuple[str, str] | None) -> None:
    assert page_of(name) == expected
