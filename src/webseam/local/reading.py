"""Readings of sources: one distribution, some of the standard library, some manual pages, some files of a folder.

Runs in a child process (`worker`): parsing takes seconds of processor time that the caller's process should keep, and
a file that brings the parser down must not take the caller with it. Nothing here opens the index or imports what it
reads.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path

from webseam.local.builtin import builtin_modules
from webseam.local.manual import MAX_MANUAL, read_manual
from webseam.local.pages import MAX_PAGE, Section, sections
from webseam.local.public import Definition, Library
from webseam.local.pysource import MAX_SIGNATURE, MAX_SOURCE, Module, Symbol, is_private, merge_stub, parse_module
from webseam.local.rows import MAX_DOC, Row, pack, unpack
from webseam.local.sources import BUILT_IN, SUFFIXES, page_of
from webseam.local.usage import MAX_FILES, names_used
from webseam.text import clean, squeeze

OF_FAILURES = 0.6  # of the weight of others: questions are about what to do, and errors share all its words
BRIEF_DEPTH = 2  # components of the modules read where only the surface is
MAX_LISTED = 2_000  # characters of a list of methods
SUMMARY_LIMIT = 300  # characters
MANUAL_ENTRY = 6_000  # characters of one entry of a manual page
MANUAL_ENTRIES = 8  # at most, of one page: bash(1) and gcc(1) are books
SHORT_MANUAL = 1_500  # characters of each page where one section has thousands: a vendor's reference
SHORT_SOURCE = 2_000  # bytes of roff that give as much

# Folders and files of a distribution that are not its interface.
_LEFT_OUT = frozenset(
    "__pycache__ _vendor vendor vendored third_party tests test testsuite node_modules site-packages typeshed"
    " benchmarks idlelib lib2to3 turtledemo pydoc_data ensurepip __phello__".split()
)
_NOT_TOP = frozenset("docs doc examples example scripts samples conftest setup".split())
_TEST_FILE = re.compile(r"(?:test_.*|.*_test|tests?|conftest|setup)\.pyi?$")
_BOILERPLATE = frozenset(
    ("AUTHOR", "AUTHORS", "COPYRIGHT", "REPORTING BUGS", "SEE ALSO", "COLOPHON", "LICENSE", "NOTES")
)
_PARSE_ERRORS = (OSError, ValueError, SyntaxError, RecursionError, MemoryError)
_CALLED = re.compile(r"[\w.]+\([^\n]*\) *-+> ?")  # how documentation of C functions begins
_RETURNS = re.compile(r"^:returns?:\s*(.+(?:\n[ \t]+.+)*)", re.MULTILINE)
_OLD = re.compile(r"\bdeprecated\b|\bobsolete\b", re.IGNORECASE)
_FAILURES = ("Error", "Exception", "Warning")
_INNER = frozenset("backends compat internal internals impl plumbing encodings distutils mock stubs".split())


@dataclass(slots=True)
class Reading:
    """What was read of one part: rows, how many files could not be read, how many use which foreign name."""

    rows: list[Row]
    skipped: int = 0
    uses: dict[str, int] = field(default_factory=dict)


_File = tuple[str, str, bool]  # module name, path, is a package


def read_distribution(site: str, name: str, info: str, brief: bool) -> Reading:
    """Read one installed distribution; `info` is the name of its `.dist-info` or `.egg-info`.

    `brief` stays near the surface: modules at most one below the top, whatever they re-export, and no rows for methods
    without documentation, which are only listed with their class.
    """
    reader = _Modules(_module_files(Path(site), Path(site, info)), brief=brief)
    if brief:
        reader.public = [module for module in reader.public if module.count(".") < BRIEF_DEPTH]
    return Reading(_readme(Path(site, info), name) + reader.rows(), reader.skipped, reader.uses)


def read_standard_library(root: str, tops: Iterable[str]) -> list[tuple[str, Reading]]:
    """Read the named top-level modules, and those without source for the name "(built in)"."""
    found: list[tuple[str, Reading]] = []
    built_in, path_module = _built_in()
    for top in tops:
        files = [] if top == BUILT_IN else list(_walk(Path(root), Path(root, top)))
        reader = _Modules(files, fallback=Path(root), built_in=built_in, renamed={path_module: "os.path"})
        if top == BUILT_IN:
            reader.public = [
                name
                for name in built_in
                if not is_private(name) and not Path(root, f"{name}.py").exists() and name not in _POSIX
            ]
        found.append((top, Reading(reader.rows(), reader.skipped, reader.uses)))
    return found


_POSIX = frozenset(("posix", "nt"))  # the system-specific halves of os, which shows all of them
_built_in = lru_cache(maxsize=1)(builtin_modules)


class _Modules:
    """The public interface of some module files, as rows."""

    def __init__(
        self,
        files: Iterable[_File],
        *,
        fallback: Path | None = None,
        built_in: dict[str, Module] | None = None,
        renamed: dict[str, str] | None = None,
        brief: bool = False,
    ) -> None:
        self._brief = brief
        self._files: dict[str, list[tuple[str, bool]]] = {}
        for name, path, is_package in files:
            self._files.setdefault(name, []).append((path, is_package))
        self.public = sorted(name for name in self._files if not any(map(is_private, name.split("."))))
        self.skipped = 0
        self.uses: dict[str, int] = {}
        self._looked_at = 0
        self._fallback = fallback
        self._built_in = built_in or {}
        inside: dict[str, list[str]] = {}
        for name in self.public:
            inside.setdefault(name.rpartition(".")[0], []).append(name)
        submodules = {name: tuple(members) for name, members in inside.items()}
        self._library = Library(self._load, submodules=submodules, renamed=renamed)

    def _load(self, name: str) -> Module | None:
        files = self._files.get(name)
        if files is None and self._fallback is not None and name:
            place = self._fallback.joinpath(*name.split("."))
            files = [(str(place / "__init__.py"), True), (f"{place}.py", False)]
            files = [(path, is_package) for path, is_package in files if Path(path).is_file()][:1]
        module: Module | None = None
        for path, is_package in sorted(files or (), key=lambda file: file[0].endswith(".pyi")):
            try:
                with Path(path).open("rb") as source:
                    data = source.read(MAX_SOURCE + 1)
                parsed = parse_module(data, name=name, path=path, is_package=is_package)
            except _PARSE_ERRORS:
                self.skipped += 1
                continue
            module = parsed if module is None else merge_stub(module, parsed)
            if name in self._files and self._looked_at < MAX_FILES:
                self._looked_at += 1
                for used in names_used(parsed, data):
                    self.uses[used] = self.uses.get(used, 0) + 1
        built_in = self._built_in.get(name)
        if module is not None and built_in is not None:
            return merge_stub(module, built_in)
        return module or built_in

    def rows(self) -> list[Row]:
        rows = [row for name in self.public if (row := self._module_row(name)) is not None]
        for definition in self._library.definitions(self.public):
            rows += self._definition_rows(definition)
        return rows

    def _module_row(self, name: str) -> Row | None:
        module = self._library.module(name)
        if module is None or not (module.doc or self._library.publics(name)):
            return None
        shown = self._library.shown(name)
        aliases = (name,) if shown != name else ()
        summary, rest = _summary(module.doc, shown)
        weight = _weight(shown, module.doc, is_member=False)
        return Row("module", shown, len(shown), "", module.path, 1, "", summary, pack(rest), aliases, weight)

    def _definition_rows(self, definition: Definition) -> list[Row]:
        symbol, module = definition.symbol, definition.module
        best, others = definition.names[0], tuple(definition.names[1:])
        split = len(best) - len(symbol.name.rpartition(".")[2]) - 1
        rows = [_object_row(symbol, module, best, split, others)]
        bare: list[str] = []
        for member in self._members(definition):
            last = member.name.rpartition(".")[2]
            if not member.doc and self._brief:
                bare.append(f"{last}{member.signature}")
                continue
            rows.append(_object_row(member, module, f"{best}.{last}", split, ()))
            for inner in member.members.values():
                rows.append(_object_row(inner, module, f"{best}.{last}.{inner.name.rpartition('.')[2]}", split, ()))
        if bare:
            listed = "\n".join(bare)[:MAX_LISTED]
            rows[0] = rows[0]._replace(doc=pack(f"{unpack(rows[0].doc)}\n\nMethods:\n{listed}".strip()))
        return rows

    def _members(self, definition: Definition) -> list[Symbol]:
        if definition.symbol.kind != "class":
            return []
        inherited = [member for member in self._library.inherited(definition) if member.doc]
        return [*definition.symbol.members.values(), *inherited]


def _object_row(symbol: Symbol, module: Module, name: str, split: int, aliases: tuple[str, ...]) -> Row:
    short = name[split + 1 :]
    summary, rest = _summary(symbol.doc, short.rpartition(".")[2])
    signature = symbol.signature
    if not signature and _CALLED.match(symbol.doc):
        signature = symbol.doc[symbol.doc.find("(") : symbol.doc.find("\n") + 1 or None].strip()[:MAX_SIGNATURE]
    weight = _weight(name, symbol.doc, is_member="." in short)
    if any(base.endswith(_FAILURES) for base in (name, *symbol.bases)):
        weight = round(weight * OF_FAILURES, 3)
    kind, file = symbol.kind, module.path
    return Row(kind, name, split, "", file, symbol.line, signature, summary, pack(rest), aliases, weight)


def _weight(name: str, doc: str, *, is_member: bool) -> float:
    """How well known an object is, as far as its name and its documentation tell."""
    components = name.split(".")
    weight = 1.0 - min(0.3, 0.06 * max(0, len(components) - 2))
    if is_member:
        weight -= 0.05
    if not doc:
        weight -= 0.25
    elif _OLD.search(doc, 0, 300):
        weight -= 0.2
    if not _INNER.isdisjoint(components):
        weight -= 0.2
    return round(max(0.0, weight), 3)


def _summary(doc: str, name: str) -> tuple[str, str]:
    """Split a docstring into its first sentence or paragraph, and the rest. C functions begin with their signature."""
    if not doc:
        return "", ""
    doc = clean(doc[:MAX_DOC])
    first, _, rest = doc.partition("\n\n")
    if first.startswith(f"{name}(") or _CALLED.match(first):
        line, _, after = first.partition("\n")
        described = re.split(r"\s+--?\s+", line, maxsplit=1)
        if len(described) == 2 and len(described[1]) > 20:
            first, rest = described[1], "\n".join(filter(None, (after, rest)))
        elif after.strip():
            first = after
        else:
            first, _, rest = rest.partition("\n\n")
    if first.startswith((":param", ":arg")):  # what it returns says more than what it takes
        returned = _RETURNS.search(doc)
        first, rest = (returned[1], doc) if returned else (first, rest)
    first = squeeze(first)
    if len(first) > SUMMARY_LIMIT:
        cut = first.rfind(". ", 0, SUMMARY_LIMIT) + 1 or SUMMARY_LIMIT
        first, rest = first[:cut], f"{first[cut:].strip()}\n\n{rest}"
    return first, rest.strip("\n")


def _module_files(site: Path, info: Path) -> Iterable[_File]:
    record = info / "RECORD"
    try:
        with record.open(encoding="utf-8", errors="replace", newline="") as lines:
            listed = [line[0] for line in csv.reader(lines) if line]
    except (OSError, csv.Error):
        for top in _tops(site, info):
            yield from _walk(site, site / top)
        return
    for path in listed:
        if path.endswith((".py", ".pyi")) and not path.startswith(("..", "/")):
            found = _as_module(path.split("/"))
            if found is not None:
                yield found[0], str(site / path), found[1]


def _tops(site: Path, info: Path) -> list[str]:
    for name in ("top_level.txt", "../" + info.name.partition("-")[0].lower()):
        place = info / name
        if place.is_file():
            return [line.strip() for line in place.read_text("utf-8", "replace").splitlines() if line.strip()]
    guess = info.name.partition("-")[0]
    return [
        name
        for name in dict.fromkeys((guess, guess.lower()))
        if (site / name).is_dir() or (site / f"{name}.py").is_file()
    ]


def _walk(root: Path, top: Path) -> Iterable[_File]:
    """The module files of one top-level module or package."""
    for single in (top.with_suffix(".py"), top.with_suffix(".pyi")):
        if single.is_file() and not top.is_dir():
            yield top.name, str(single), False
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT and name.isidentifier())
        inside = Path(folder).relative_to(root).parts
        for name in sorted(files):
            found = _as_module([*inside, name]) if name.endswith((".py", ".pyi")) else None
            if found is not None:
                yield found[0], f"{folder}{os.sep}{name}", found[1]


def _as_module(path: list[str]) -> tuple[str, bool] | None:
    """Return (dotted name, is a package) of a file, or None when it is no part of the interface."""
    *folders, file = path
    top = folders[0] if folders else file.partition(".")[0]
    if _TEST_FILE.match(file) or top in _NOT_TOP or not _LEFT_OUT.isdisjoint(folders) or file.startswith("__main__"):
        return None
    stem = file.rpartition(".")[0]
    folders = [folder.removesuffix("-stubs") for folder in folders]
    names = folders if stem == "__init__" else [*folders, stem]
    if not names or not all(name.isidentifier() for name in names):
        return None
    return ".".join(names), stem == "__init__"


def _readme(info: Path, package: str) -> list[Row]:
    for name in ("METADATA", "PKG-INFO", ""):
        place = info / name if name else info
        if place.is_file():
            break
    else:
        return []
    text = place.read_bytes()[:MAX_PAGE].decode("utf-8", "replace").replace("\r\n", "\n")
    head, _, body = text.partition("\n\n")
    headers = HeaderParser().parsestr(head)
    if not body.strip() and headers["Description"]:
        body = re.sub(r"\n {7}[ |]?", "\n", headers["Description"])
    media = (headers["Description-Content-Type"] or "").lower()
    form = "rst" if "rst" in media else "text" if "plain" in media else "markdown" if media else "rst"
    offset = head.count("\n") + 2
    about = squeeze(clean(headers["Summary"] or ""))
    rows = [
        _page_row("readme", section, str(place), package, offset) for section in sections(body, form, title=package)
    ]
    if about:
        rows.insert(0, Row("readme", package, 0, "", str(place), 1, "", about, "", (), 0.9))
    return rows


def _page_row(kind: str, section: Section, file: str, where: str, offset: int = 0) -> Row:
    trail = " > ".join(dict.fromkeys((where, *section.above)))
    weight = 0.8 if kind == "readme" else 0.9
    return Row(kind, section.title[:200], 0, trail, file, section.line + offset, "", "", pack(section.text), (), weight)


def read_folder_file(path: str) -> list[Row]:
    """Return the rows of one file of a folder the user added.

    Raises:
        OSError, ValueError, RecursionError: it cannot be read.
    """
    place = Path(path)
    data = place.read_bytes()[: MAX_PAGE + 1]
    if len(data) > MAX_PAGE or b"\x00" in data[:1024]:
        raise ValueError(f"{place.name} is too large or not text")
    form = SUFFIXES[place.suffix.lower()]
    found = sections(data.decode("utf-8-sig", "replace"), form, title=place.stem)
    return [_page_row("page", section, path, place.name) for section in found]


def read_manual_page(path: str, *, many: bool) -> list[Row]:
    """Return the rows of one manual page; `many` keeps only how it begins.

    Raises:
        OSError, zlib.error: it cannot be read.
    """
    named = page_of(Path(path).name)
    about, found = read_manual(Path(path), limit=SHORT_SOURCE if many else MAX_MANUAL)
    if named is None or not found:
        return []
    name = f"{named[0]}({named[1]})"
    kept = [
        section for section in found if section.title.upper() not in _BOILERPLATE and section.title.upper() != "NAME"
    ]
    limit, entries = (SHORT_MANUAL, 1) if many else (MANUAL_ENTRY, MANUAL_ENTRIES)
    rows: list[Row] = []
    text, title = "", ""
    for section in kept:
        text += f"{section.title}\n{section.text}\n\n"
        title = title or section.title
        while len(text) > limit and len(rows) < entries - 1:
            edge = text.rfind("\n", limit // 2, limit) + 1 or limit
            rows.append(_manual_row(name, title, path, about, text[:edge], first=not rows))
            text, title = text[edge:], section.title
    if text.strip() and len(rows) < entries:
        rows.append(_manual_row(name, title, path, about, text[:limit], first=not rows))
    return rows


def _manual_row(name: str, title: str, path: str, about: str, text: str, *, first: bool) -> Row:
    shown = name if first else f"{name} {title.capitalize()}"
    weight = 0.9 if first else 0.6
    return Row("man", shown, 0, "", path, 0, "", clean(about) if first else "", pack(clean(text.strip())), (), weight)
