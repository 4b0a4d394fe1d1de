"""Made-up site-packages folders: what a test installs, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(
    site: Path, name: str, version: str, files: Mapping[str, str], *, readme: str = "", summary: str = ""
) -> Path:
    """Write a distribution as an installer would: its files, METADATA and RECORD. Returns its metadata folder."""
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    listed = []
    for path, text in files.items():
        place = site / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        listed.append(f"{path},,{len(text)}")
    headers = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    headers += [f"Summary: {summary}"] if summary else []
    headers += ["Description-Content-Type: text/markdown"]
    (info / "METADATA").write_text("\n".join(headers) + f"\n\n{readme}", "utf-8")
    (info / "RECORD").write_text("\n".join([*listed, f"{info.name}/METADATA,,", ""]), "utf-8")
    return info


def site_of(folder: Path) -> Path:
    """Return an empty site-packages folder below `folder`."""
    site = folder / "site-packages"
    site.mkdir(exist_ok=True)
    return site
