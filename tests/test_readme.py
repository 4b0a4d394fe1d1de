"""The README says what is true: its table of providers is the registry's, its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def test_the_tables_of_providers_are_what_the_registry_makes() -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "provider_table.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.stdout.strip(), checked.stderr) == ("the tables are current", "")


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(f"docs/{path.name}" for path in DOCS.glob("*.md"))]
)
def test_every_relative_link_of_a_page_leads_to_a_file(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]

    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_every_script_the_readme_names_exists() -> None:
    named = set(re.findall(r"scripts/[a-z_-]+(?:\.py)?", (ROOT / "README.md").read_text("utf-8")))

    assert sorted(name for name in named if not (ROOT / name).exists()) == []
