"""Changing one entry of a YAML file as text: everything outside it stays as it is, byte for byte.

The file is read to find out where its nodes begin and end, and changed there, in block style and by whole lines. What
is written in another way, such as a section on one line, is refused: nothing is guessed about indentation that means
something. Whoever calls compares what the file says before and after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from webseam.setup.malformed import Malformed, Unfit

_PLAIN: Final = re.compile(r"[A-Za-z/][\w./@+-]*(?: [\w./@+-]+)*", re.ASCII)  # text that needs no quotes
_RESERVED: Final = frozenset("true false null yes no on off y n".split())
_HARMLESS: Final = re.compile(r"true|false|null|~|\d{1,5}|")


def load(text: str) -> dict[str, Any]:
    """Return what a file says, every plain value as text with its tag: enough to compare, and nothing is run.

    Raises:
        Malformed: it is not YAML, or no mapping; says where.
    """
    node = _root(text)
    value = None if node is None else _value(node)
    if value is None or (isinstance(value, tuple) and value[0] == "null"):
        return {}
    if not isinstance(value, dict):
        raise Malformed("is no mapping", node.start_mark.line + 1, node.start_mark.column + 1)
    return value


def _root(text: str) -> Any:
    import yaml  # type: ignore[import-untyped]

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise Unfit("has aliases, whose places cannot be told")
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise Malformed(error.problem or error.context or "cannot be read", line, column) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Malformed("has a character that YAML does not allow", line) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise Malformed("cannot be read") from None


def _value(node: Any) -> Any:
    """Return a node as plain values: mappings, lists, text, and pairs of tag and text for everything else."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        pairs = ((_value(key), _value(value)) for key, value in node.value)
        return {key if isinstance(key, str) else json.dumps(key): value for key, value in pairs}
    if isinstance(node, yaml.SequenceNode):
        return [_value(one) for one in node.value]
    tag = node.tag.rpartition(":")[2]
    return node.value if tag == "str" else (tag, node.value)


def as_loaded(value: Any) -> Any:
    """Return a value in the way `load` gives values."""
    if isinstance(value, Mapping):
        return {key: as_loaded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_loaded(one) for one in value]
    if isinstance(value, bool):
        return ("bool", str(value).lower())
    return value if isinstance(value, str) else ("int", str(value))


def add(text: str, section: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with a new entry as the last of its section, which is made if need be.

    Raises:
        Unfit: the section is written on one line, or is no mapping.
    """
    (outer,) = section
    root = _root(text)
    if root is None or (not root.value and root.start_mark.index < root.end_mark.index):  # nothing, or {}
        kept = text if root is None else text[: root.start_mark.index] + text[root.end_mark.index :].lstrip("\n")
        kept += "\n" if kept and not kept.endswith("\n") else ""
        return kept + _lines({outer: {name: entry}}, "")
    _need_block(root)
    indent = " " * root.value[0][0].start_mark.column
    found = _child(root, outer)
    if found is None:
        return _append(text, len(text.rstrip("\n")), _lines({outer: {name: entry}}, indent))
    key, value = found
    if _is_empty(value):
        colon = text.index(":", key.end_mark.index) + 1
        if value.start_mark.index < value.end_mark.index:  # {} or null, written out
            text = text[:colon] + text[value.end_mark.index :]
        return _append(text, colon, _lines({name: entry}, indent + "  "))
    _need_block(value)
    inner = " " * value.value[0][0].start_mark.column
    return _append(text, _end(text, value), _lines({name: entry}, inner))


def change(text: str, path: Sequence[str], changed: Mapping[str, Any], dropped: Sequence[str]) -> str:
    """Return the text with values of an entry that is there set or taken out.

    Raises:
        Unfit: the entry is written on one line.
    """
    for key in (*changed, *dropped):
        entry = _at(text, path)
        _need_block(entry)
        indent = " " * entry.value[0][0].start_mark.column
        lines = _lines({key: changed[key]}, indent) if key in changed else ""
        found = _child(entry, key)
        if found is None:
            text = _append(text, _end(text, entry), lines)
            continue
        start, end = _span(text, *found)
        if end == len(text) and not text.endswith("\n"):
            lines = lines.removesuffix("\n")
        text = text[:start] + lines + text[end:]
    return text


def remove(text: str, path: Sequence[str], *, prune: bool) -> str:
    """Return the text without an entry.

    Args:
        prune: without its section too, when nothing else is in it.
    """
    outer, name = path
    section = _child(_root(text), outer)
    if section is None or (found := _child(section[1], name)) is None:
        return text
    key, value = section
    _need_block(value)
    if len(value.value) > 1:
        return _cut(text, *_span(text, *found))
    if prune:
        return _cut(text, *_span(text, key, value))
    colon = text.index(":", key.end_mark.index) + 1
    return text[:colon] + " {}" + _cut(text, *_span(text, *found))[colon:]


def _at(text: str, path: Sequence[str]) -> Any:
    node = _root(text)
    for name in path:
        found = _child(node, name)
        if found is None:
            raise Unfit("is no mapping")
        node = found[1]
    return node


def _child(node: Any, name: str) -> tuple[Any, Any] | None:
    """Return key and value of a name; of several, the last."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise Unfit("is no mapping")
    return next(((key, value) for key, value in reversed(node.value) if key.value == name), None)


def _is_empty(node: Any) -> bool:
    import yaml

    if isinstance(node, yaml.MappingNode):
        return not node.value
    return isinstance(node, yaml.ScalarNode) and str(node.tag).endswith(":null")


def _need_block(node: Any) -> None:
    """Make sure that a mapping is written in lines."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise Unfit("is no mapping")
    if node.flow_style or not node.value:
        raise Unfit("is written on one line, in braces")


def _end(text: str, node: Any) -> int:
    """Return where the last thing of a node ends; the end of a block is that of what follows it."""
    import yaml

    while isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
        if isinstance(last, tuple) and node.start_mark.index == node.end_mark.index:  # a key without a value
            node = last[0] if last[0].end_mark.index > node.end_mark.index else node
    at = int(node.end_mark.index)
    return at - 1 if at and text[at - 1 : at] == "\n" else at  # a text in lines ends where the next line begins


def _span(text: str, key: Any, value: Any) -> tuple[int, int]:
    """Return where the lines of a key and its value begin and end."""
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    if text[start : key.start_mark.index].strip(" "):
        raise Unfit("shares a line with something else")
    end = _line_end(text, max(_end(text, value), int(key.end_mark.index)))
    return start, min(len(text), end + 1)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _append(text: str, at: int, lines: str) -> str:
    """Return the text with lines behind the line of a place; it ends as it ended before."""
    end = _line_end(text, at)
    return text[:end] + "\n" + lines.removesuffix("\n") + text[end:]


def _cut(text: str, start: int, end: int) -> str:
    if end == len(text) and not text.endswith("\n"):
        return text[:start].removesuffix("\n")
    return text[:start] + text[end:]


def _lines(value: Mapping[str, Any], indent: str) -> str:
    """Return a mapping in block style."""
    written = ""
    for key, one in value.items():
        written += f"{indent}{_scalar(key)}:"
        if isinstance(one, Mapping) and one:
            written += "\n" + _lines(one, indent + "  ")
        elif isinstance(one, list) and one:
            written += "\n" + "".join(f"{indent}- {_scalar(item)}\n" for item in one)
        else:
            written += f" {_scalar(one)}\n"
    return written


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


def private(text: str) -> Iterator[tuple[int, int]]:
    """Yield where there is something that a diff must not show: values and comments."""
    import yaml

    is_key, end = False, 0
    for token in yaml.scan(text):
        start = int(token.start_mark.index)
        yield from _comments(text, end, start)
        end = max(end, int(token.end_mark.index))
        if isinstance(token, yaml.ScalarToken):
            if not is_key and not (token.plain and _HARMLESS.fullmatch(token.value)):
                yield start, end
            is_key = False
        elif isinstance(token, yaml.KeyToken):
            is_key = True
        elif not isinstance(token, (yaml.AnchorToken, yaml.TagToken)):
            is_key = False
    yield from _comments(text, end, len(text))


def _comments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in re.finditer(r"#[^\n]*", text[start:end]):
        yield start + found.start(), start + found.end()
