"""Changing one entry of a JSON file as text: everything outside it stays as it is, byte for byte.

A file that was read and written back by a library would lose its comments, its indentation and the way its numbers are
written. So the file is only read to find out where things are, and changed there.

Comments and commas too many are made spaces before it is parsed, which keeps every place where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from webseam.setup.malformed import Malformed, Unfit, place

_STRING: Final = r'"(?:[^"\\\r\n]|\\.)*+"'
_COMMENT: Final = re.compile(rf"{_STRING}|(?P<comment>//[^\r\n]*|/\*[\s\S]*?\*/)")
_COMMA: Final = re.compile(rf"{_STRING}|(?P<comma>(?<=[^\s\[{{,:]),(?=\s*[}}\]]))|(?P<space>(?<=\s),(?=\s*[}}\]]))")
_CLOSING_COMMA: Final = re.compile(r",\s*[}\]]")
_TOKEN: Final = re.compile(rf"(?P<string>{_STRING})(?P<colon>\s*:)?|(?P<number>-?\d[\d.eE+-]{{5,}})")
_SAME_LINE: Final = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")  # comments behind a value
_SPACE: Final = " \t\r\n"


def load(text: str, *, strict: bool = False) -> dict[str, Any]:
    """Return what a file says; of an empty one, nothing.

    Args:
        strict: no comments and no commas too many, because its client refuses the whole file for them.

    Raises:
        Malformed: it is not JSON, or not an object; says where.
    """
    plain = text if strict else _plain(text)
    if not plain.strip(_SPACE):
        return {}
    try:
        value = json.loads(plain, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        problem = (error.msg[:1].lower() + error.msg[1:]).removesuffix(" at")
        at = error.pos
        if strict and _is_lenient(text):
            problem = "has a comment or a comma too many, which its client does not read"
            at = next(index for index, (one, other) in enumerate(zip(text, _plain(text), strict=True)) if one != other)
        raise Malformed(problem, *place(text, at)) from None
    except (ValueError, RecursionError):
        raise Malformed("holds a number that is too large, or is nested too deeply") from None
    if not isinstance(value, dict):
        raise Malformed("is no object", *place(text, len(plain) - len(plain.lstrip(_SPACE))))
    return value


def _is_lenient(text: str) -> bool:
    try:
        load(text)
    except Malformed:
        return False
    return True


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _bare(text: str) -> str:
    """Return the text with its comments made spaces."""
    if "//" not in text and "/*" not in text:  # nearly every file, some of them of several megabytes
        return text
    return _COMMENT.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]) if found["comment"] else found[0], text)


def _plain(text: str) -> str:
    """Return the text with its comments and its commas too many made spaces: the same length, and JSON."""
    bare = _bare(text)
    if _CLOSING_COMMA.search(bare) is None:
        return bare

    def blank(found: re.Match[str]) -> str:
        if found["comma"]:
            return " "
        if found["space"]:
            before = bare[: found.start()].rstrip(_SPACE)
            return "," if before.endswith(("[", "{", ",", ":")) else " "
        return found[0]

    return _COMMA.sub(blank, bare)


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    key: int  # where its name begins
    start: int  # where its value begins
    end: int  # and ends


@dataclass(frozen=True, slots=True)
class _Object:
    start: int  # at its {
    close: int  # at its }
    members: tuple[_Member, ...]

    def last(self, name: str) -> _Member | None:
        """Return the member of this name; of several, the last one counts for every reader."""
        return next((member for member in reversed(self.members) if member.name == name), None)


class _Text:
    """A text with the places in it, and one change of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bare = _bare(text)
        self.plain = _plain(text)
        self._decoder = json.JSONDecoder()

    def object(self, start: int) -> _Object:
        """Return the object that begins at or after a place."""
        plain, at = self.plain, self._skip(start)
        if plain[at] != "{":
            raise Unfit("is no object")
        first, members = at, []
        at = self._skip(at + 1)
        while plain[at] != "}":
            name, end = self._decoder.raw_decode(plain, at)
            begin = self._skip(self._skip(end) + 1)
            _, stop = self._decoder.raw_decode(plain, begin)
            members.append(_Member(name, at, begin, stop))
            at = self._skip(stop)
            if plain[at] == ",":
                at = self._skip(at + 1)
        return _Object(first, at, tuple(members))

    def chain(self, names: Sequence[str]) -> list[_Object]:
        """Return the root, and each object below it as far as the names lead."""
        found = [self.object(0)]
        for name in names:
            member = found[-1].last(name)
            if member is None:
                break
            found.append(self.object(member.start))
        return found

    def _skip(self, at: int) -> int:
        while at < len(self.plain) and self.plain[at] in _SPACE:
            at += 1
        return at

    def joined(self, at: int, rest: str) -> str:
        """Return the text up to a place, and the rest on a line of its own if a comment would swallow it."""
        space = ""
        if self.bare is not self.text and rest.partition("\n")[0].strip(_SPACE):
            found = (one for one in _COMMENT.finditer(self.text) if one["comment"] and one.end() == at)
            space = "\n" if any(one[0].startswith("//") for one in found) else ""
        return self.text[:at] + space + rest

    def line_indent(self, at: int) -> str | None:
        """Return the white space before a place when nothing else stands before it on its line."""
        line = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        before = self.text[line:at]
        return before if not before.strip(" \t") and line else None

    def indent_of_line(self, at: int) -> str:
        """Return the white space that the line of a place begins with."""
        line = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        return self.text[line:at][: len(self.text[line:at]) - len(self.text[line:at].lstrip(" \t"))]

    def unit(self) -> str:
        """Return one step of indentation as this file has it; two spaces when it has none."""
        root = self.object(0)
        first = self.line_indent(root.members[0].key) if root.members else None
        return first or "  "

    def is_spread(self, target: _Object) -> bool:
        """True when an object is written over several lines, or would be if it had members."""
        if target.members:
            return "\n" in self.text[target.start : target.members[0].key]
        root = self.object(0)
        return not root.members or "\n" in self.text[root.start : root.close]


def _spread(value: Any, indent: str, unit: str) -> str:
    """Return a value as JSON over several lines; lists of plain values stay on one."""
    if isinstance(value, Mapping) and value:
        inner = indent + unit
        lines = (f"{inner}{_dumped(key)}: {_spread(one, inner, unit)}" for key, one in value.items())
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return _dumped(value)


def _dumped(value: Any, *, tight: bool = False) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if tight else None)


def add(text: str, section: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a new entry as the last of its section, which is made if need be.

    Raises:
        Unfit: what stands where the section should be is no object.
    """
    if not _plain(text).strip(_SPACE):
        whole: Any = {name: entry}
        for outer in reversed(section):
            whole = {outer: whole}
        start = text.rstrip(_SPACE) + "\n" if text.strip(_SPACE) else ""
        return start + _spread(whole, "", "  ") + "\n"
    places = _Text(text)
    chain = places.chain(section)
    value: Any = entry
    missing = [*section, name][len(chain) - 1 :]
    for inner in reversed(missing[1:]):
        value = {inner: value}
    return _insert(places, chain[-1], missing[0], value)


def _insert(places: _Text, target: _Object, key: str, value: Any) -> str:
    """Return the text with one more member at the end of an object."""
    text, unit = places.text, places.unit()
    if not places.is_spread(target):
        return _insert_on_line(places, target, key, value)
    if not target.members:
        outer = places.indent_of_line(target.start)
        indent = outer + unit
        inner = text[target.start + 1 : target.close]
        core = inner.rstrip(_SPACE)  # comments stay before the member
        rest = inner[len(core) :]
        if "\n" not in rest:
            rest = f"\n{outer}"
        member = f"\n{indent}{_dumped(key)}: {_spread(value, indent, unit)}"
        return text[: target.start + 1] + core + member + rest + text[target.close :]
    last = target.members[-1]
    indents = (places.line_indent(member.key) for member in reversed(target.members))
    indent = next((one for one in indents if one is not None), places.indent_of_line(target.start) + unit)
    member = f"\n{indent}{_dumped(key)}: {_spread(value, indent, unit)}"
    comma = places.bare.find(",", last.end, target.close)
    end = comma + 1 if comma >= 0 else last.end
    behind = _SAME_LINE.match(text, end)
    at = behind.end() if behind else end
    if comma >= 0:  # the file ends its lists with a comma, so ours does too
        return text[:at] + member + "," + text[at:]
    return text[: last.end] + "," + text[last.end : at] + member + text[at:]


def _insert_on_line(places: _Text, target: _Object, key: str, value: Any) -> str:
    text = places.text
    root = places.object(0)
    tight = bool(root.members) and text[root.members[0].start - 1] == ":"
    member = f"{_dumped(key)}:{'' if tight else ' '}{_dumped(value, tight=tight)}"
    if not target.members:
        return text[: target.start + 1] + member + text[target.start + 1 :]
    last, space = target.members[-1], "" if tight else " "
    comma = places.bare.find(",", last.end, target.close)
    if comma >= 0:
        return text[: comma + 1] + space + member + "," + text[comma + 1 :]
    return text[: last.end] + "," + space + member + text[last.end :]


def change(text: str, path: Sequence[str], changed: Mapping[str, Any], dropped: Sequence[str]) -> str:
    """Return the text with values of an entry that is there set or taken out.

    Raises:
        Unfit: what stands at the path is no object.
    """
    for key, value in changed.items():
        places = _Text(text)
        entry = places.chain(path)[-1]
        member = entry.last(key)
        if member is None:
            text = _insert(places, entry, key, value)
            continue
        indent = places.line_indent(member.key)
        new = _dumped(value) if indent is None else _spread(value, indent, places.unit())
        text = text[: member.start] + new + text[member.end :]
    for key in dropped:
        text = _cut_all(text, [*path, key])
    return text


def remove(text: str, path: Sequence[str], *, prune: bool) -> str:
    """Return the text without an entry.

    Args:
        prune: without the objects around it too, as far as nothing else is in them.
    """
    text = _cut_all(text, path)
    outer = list(path[:-1])
    while prune and outer:
        places = _Text(text)
        chain = places.chain(outer)
        if len(chain) <= len(outer) or chain[-1].members or places.text[chain[-1].start + 1 : chain[-1].close].strip():
            break
        text = _cut_all(text, outer)
        outer.pop()
    return text


def _cut_all(text: str, path: Sequence[str]) -> str:
    """Cut a member out; of several with its name all, or the one before would count again."""
    while True:
        places = _Text(text)
        chain = places.chain(path[:-1])
        if len(chain) < len(path) or (member := chain[-1].last(path[-1])) is None:
            return text
        text = _cut(places, chain[-1], member)


def _cut(places: _Text, holder: _Object, member: _Member) -> str:
    text, bare = places.text, places.bare
    at = holder.members.index(member)
    follower = holder.members[at + 1].key if at + 1 < len(holder.members) else holder.close
    before = holder.members[at - 1].end if at else holder.start + 1
    comma_before = bare.find(",", before, member.key) if at else -1
    comma_after = bare.find(",", member.end, follower)
    edge = comma_before + 1 if at else before
    start, alone = _lead(text, edge, member.key)
    if len(holder.members) == 1:
        end = comma_after + 1 if comma_after >= 0 else member.end
        rest = text[end : holder.close]
        outer = places.indent_of_line(holder.start)
        if rest == f"\n{outer}" and not text[holder.start + 1 : start].strip():  # as an object is opened for us
            rest = ""
        return places.joined(start, rest + text[holder.close :])
    if comma_after >= 0:
        end = comma_after + 1
        if start == member.key and not alone and at + 1 < len(holder.members):  # on one line with another behind it
            while text[end] in " \t":
                end += 1
        return places.joined(start, text[end:])
    kept = places.joined(start, text[member.end :])
    return kept[:comma_before] + kept[comma_before + 1 :]


def _lead(text: str, edge: int, key: int) -> tuple[int, bool]:
    """Return where the cut before a member begins, and whether it has its line to itself."""
    between = text[edge:key]
    space = len(between) - len(between.rstrip(_SPACE))
    blank = between[len(between) - space :]
    if "\n" in blank:
        line = blank.rindex("\n")
        if line and blank[line - 1] == "\r":
            line -= 1
        return key - space + line, True
    return key - space, False


def private(text: str) -> Iterator[tuple[int, int]]:
    """Yield where there is something that a diff must not show: values, long numbers and comments."""
    for found in _COMMENT.finditer(text):
        if found["comment"]:
            yield found.span()
    for found in _TOKEN.finditer(_bare(text)):
        if not found["colon"]:
            yield found.span()
