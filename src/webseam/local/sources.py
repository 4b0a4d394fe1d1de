"""What there is to index on this machine, and a cheap stamp of each that changes when its content does.

Everything here runs before each search, so it may list folders and look at dates, never open a file: a few milliseconds
for hundreds of distributions. Reading a changed source is left to `reading`, in another process.
"""

from __future__ import annotations

import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

SourceKind = Literal["stdlib", "distribution", "manual", "folder"]

# How likely a source is what somebody asks about; the ranking multiplies with it.
TIER_FOLDER = 1.0  # asked for by name
TIER_STDLIB = 1.0
TIER_ENVIRONMENT = 0.9
TIER_BASE = 0.6  # below a virtual environment: installed, but not importable from it
TIER_MANUAL = 0.6

BUILT_IN = "(built in)"  # the part of the standard library that has no source
SUFFIXES = {  # of pages in added folders, and how they are written
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".rst": "rst", ".txt": "text", ".text": "text",
    ".html": "html", ".htm": "html", ".xhtml": "html",
}  # fmt: skip
MAX_FOLDER_FILES = 20_000  # of one added folder; more is somebody's home directory
_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "site-packages", "venv"))
_MANUAL = re.compile(r"(?P<name>.+)\.(?P<section>[1-8][a-z0-9]*)(?:\.gz)?$")
_NOT_DOCUMENTED = frozenset(
    ("antigravity", "this", "test", "idlelib", "lib2to3", "turtledemo", "site-packages", "pydoc_data", "ensurepip")
)


@dataclass(frozen=True, slots=True)
class Source:
    """Something to index as a whole: its `key` names it for good, its `fingerprint` changes with its content.

    Attributes:
        name, version: of the package that its hits are from.
        root: the folder it is in. info: for distributions, the name of the metadata folder.
    """

    key: str
    kind: SourceKind
    name: str
    version: str
    root: str
    fingerprint: str
    tier: float
    info: str = ""


def discover(folders: Sequence[Path], environments: Sequence[Path] | None) -> list[Source]:
    """Return every source of this machine, the most wanted first."""
    found = [source for folder in folders if (source := _folder(folder)) is not None]
    if environments is None:
        found.append(standard_library())
    seen: set[str] = set()
    for place, tier in _sites(environments):
        for source in sorted(_distributions(place, tier), key=lambda source: source.key):
            name = source.name.lower()
            if name not in seen:  # the first on the path is the one that is imported
                seen.add(name)
                found.append(source)
    if environments is None:
        found += _manuals()
    return found


def _sites(environments: Sequence[Path] | None) -> Iterator[tuple[Path, float]]:
    """The folders that distributions are installed in, with their tier, each once."""
    places: dict[Path, float] = {}
    if environments is not None:
        for environment in environments:
            for place in _within(environment):
                places.setdefault(place, TIER_ENVIRONMENT)
    else:
        own = [_path("purelib"), _path("platlib")]
        own += [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
        for entry in own:
            places.setdefault(Path(entry), TIER_ENVIRONMENT)
        active = os.environ.get("VIRTUAL_ENV")
        if active:
            for place in _within(Path(active)):
                places.setdefault(place, TIER_ENVIRONMENT)
        for entry in _base_sites():
            places.setdefault(Path(entry), TIER_BASE)
    for place, tier in places.items():
        if place.is_dir():
            yield place, tier


@cache
def _path(name: str) -> str:
    return sysconfig.get_path(name)  # the same for the whole process; asked anew, three took a quarter of all this


def _within(environment: Path) -> list[Path]:
    """The site folders of an environment, or the folder itself when it is one."""
    if environment.name in ("site-packages", "dist-packages"):
        return [environment]
    found = [environment / "Lib" / "site-packages", *sorted(environment.glob("lib/python3*/site-packages"))]
    return [place for place in found if place.is_dir()] or [environment]


def _base_sites() -> list[str]:
    found = site.getsitepackages([sys.base_prefix])
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found += [f"{sys.base_prefix}/lib/{version}/site-packages", f"{sys.base_prefix}/lib/python3/dist-packages"]
    return found if sys.prefix != sys.base_prefix else [entry for entry in found if entry in sys.path]


def _distributions(place: Path, tier: float) -> Iterator[Source]:
    try:
        entries = list(os.scandir(place))
    except OSError:
        return
    for entry in entries:
        if not entry.name.endswith((".dist-info", ".egg-info")):
            continue
        name, version, *_ = [*entry.name.rpartition(".")[0].split("-"), ""]
        stamp = _first_stamp(entry.path)
        if version and stamp is not None and _is_text(entry.path):
            shown, key = name.replace("_", "-"), f"distribution:{entry.path}"
            yield Source(key, "distribution", shown, version, str(place), stamp, tier, info=entry.name)


def _is_text(path: str) -> bool:
    """False for file names in no known encoding: they can be opened, but not written down."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def _first_stamp(info: str) -> str | None:
    """Date and size of the list of installed files, else of the metadata: both are written anew by an installer."""
    for place in (f"{info}/RECORD", f"{info}/METADATA", f"{info}/PKG-INFO", info):
        try:
            return _stamp(os.stat(place))
        except OSError:
            continue
    return None


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns:x}:{status.st_size:x}"


def standard_library() -> Source:
    root = _path("stdlib")
    version = ".".join(map(str, sys.version_info[:3]))
    return Source(
        f"stdlib:{root}", "stdlib", "python", version, root, f"{version}:{sys.implementation.name}", TIER_STDLIB
    )


def _manuals() -> Iterator[Source]:
    roots = ["/usr/local/share/man", "/usr/share/man", "/opt/homebrew/share/man", f"{sys.prefix}/share/man"]
    roots += [entry for entry in os.environ.get("MANPATH", "").split(os.pathsep) if entry]
    for root in dict.fromkeys(roots):
        for section in range(1, 9):
            place = f"{root}/man{section}"
            try:
                status = os.stat(place)
            except OSError:
                continue
            # The folder's date changes when a page is added, removed or replaced, as package managers do.
            yield Source(f"manual:{place}", "manual", f"man{section}", "", place, _stamp(status), TIER_MANUAL)


def _folder(folder: Path) -> Source | None:
    place = Path(folder).expanduser().resolve()
    if not place.is_dir():
        return None
    root = str(place)
    known = hash_of(f"{path}={stamp}" for path, stamp in _folder_files(root))
    return Source(f"folder:{root}", "folder", place.name or root, "", root, known, TIER_FOLDER)


def hash_of(lines: Iterable[str]) -> str:
    from hashlib import blake2b  # only folders need it; the import costs more than the rest of this module

    mixed = blake2b(digest_size=12)
    for line in lines:
        mixed.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return mixed.hexdigest()


def _folder_files(root: str) -> Iterator[tuple[str, str]]:
    """Path and stamp of each readable page below a folder; links to folders are not followed."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in sorted(files):
            path = f"{folder}{os.sep}{name}"
            if not _is_text(path):
                continue
            if name[name.rfind(".") :].lower() not in SUFFIXES or name.startswith("."):
                continue
            try:
                yield path, _stamp(os.stat(path))
            except OSError:
                continue
            count += 1
            if count == MAX_FOLDER_FILES:
                return


def parts_of(source: Source) -> dict[str, str]:
    """Return the parts of a source that are read and replaced on their own, with their stamps."""
    if source.kind == "distribution":
        return {"": source.fingerprint}
    if source.kind == "folder":
        return dict(_folder_files(source.root))
    if source.kind == "manual":
        return dict(_manual_files(source.root))
    return dict.fromkeys([BUILT_IN, *_library_tops(source.root)], source.fingerprint)


def page_of(name: str) -> tuple[str, str] | None:
    """Return (name, section) of a manual page's file, or None: `ls.1.gz` -> ls, 1."""
    found = _MANUAL.fullmatch(name)
    return (found["name"], found["section"]) if found else None


def _manual_files(root: str) -> Iterator[tuple[str, str]]:
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        # A link is another name of a page that is read anyway.
        if page_of(entry.name) is None or entry.is_symlink() or not _is_text(entry.path):
            continue
        try:
            yield entry.path, _stamp(entry.stat())
        except OSError:
            continue


def _library_tops(root: str) -> Iterator[str]:
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        name = entry.name.removesuffix(".py")
        if name in _NOT_DOCUMENTED or name.startswith("_") or not name.isidentifier():
            continue
        if entry.name.endswith(".py") or Path(entry.path, "__init__.py").is_file():
            yield name
