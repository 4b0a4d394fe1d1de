"""One way to read and change a file, whatever it is written in, and the proof that a change was only what it should be.

Each editor works on the text; what makes that safe is here: after every change the file is read again and must say what
it said before, with our entry and nothing else different. If it does not, nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from webseam.setup import json_text, toml_text, yaml_text
from webseam.setup.clients import Style
from webseam.setup.malformed import Malformed, Unfit


@dataclass(frozen=True, slots=True)
class Editor:
    """What can be done with a text: see the functions of `json_text`, whose shapes all have."""

    load: Callable[[str], dict[str, Any]]
    add: Callable[[str, Sequence[str], str, Mapping[str, Any]], str]
    change: Callable[[str, Sequence[str], Mapping[str, Any], Sequence[str]], str]
    remove: Callable[..., str]
    private: Callable[[str], Iterator[tuple[int, int]]]
    as_loaded: Callable[[Any], Any] = lambda value: value


_JSON = Editor(json_text.load, json_text.add, json_text.change, json_text.remove, json_text.private)
EDITORS: Mapping[Style, Editor] = {
    "json": Editor(
        partial(json_text.load, strict=True), json_text.add, json_text.change, json_text.remove, json_text.private
    ),
    "jsonc": _JSON,
    "toml": Editor(toml_text.load, toml_text.add, toml_text.change, toml_text.remove, toml_text.private),
    "yaml": Editor(
        yaml_text.load, yaml_text.add, yaml_text.change, yaml_text.remove, yaml_text.private, yaml_text.as_loaded
    ),
}


def entry_in(value: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return what stands at a path, None when nothing does.

    Raises:
        Unfit: something on the way, or the entry, is no object.
    """
    found: Any = value
    for depth, name in enumerate(path):
        if name not in found:
            return None
        found = found[name]
        if depth < len(path) - 1 and isinstance(found, tuple) and found[0] == "null":  # an empty section, in YAML
            return None
        if not isinstance(found, Mapping):
            raise Unfit(f"has something else than an object at {'.'.join(path[: depth + 1])}")
    return found


def with_entry(
    editor: Editor, text: str, path: Sequence[str], new: Mapping[str, Any], changed: Mapping[str, Any],
    dropped: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return the text with an entry: a new one, or the one that is there with some of its values changed.

    Raises:
        Malformed: the text cannot be read. Unfit: it cannot be changed without touching something else.
    """
    before = editor.load(text)
    existing = entry_in(before, path)
    if existing is None:
        after, wanted = editor.add(text, path[:-1], path[-1], new), editor.as_loaded(dict(new))
    elif changed or dropped:
        after = editor.change(text, path, changed, dropped)
        kept = {key: value for key, value in existing.items() if key not in dropped}
        wanted = {**kept, **{key: editor.as_loaded(value) for key, value in changed.items()}}
    else:
        return text
    _prove(editor, after, _put(before, path, wanted))
    return after


def without_entry(editor: Editor, text: str, path: Sequence[str], *, prune: bool) -> str:
    """Return the text without an entry.

    Args:
        prune: without its section too, when nothing else is in it.

    Raises:
        Malformed: the text cannot be read. Unfit: it cannot be changed without touching something else.
    """
    before = editor.load(text)
    after = editor.remove(text, path, prune=prune)
    _prove(editor, after, _take(before, path))
    return after


def _prove(editor: Editor, after: str, wanted: Any) -> None:
    try:
        told = editor.load(after)
    except Malformed:
        raise Unfit("is written in a way that cannot be changed here") from None
    if _canonical(_pruned(told)) != _canonical(_pruned(wanted)):
        raise Unfit("is written in a way that cannot be changed here")


def _put(value: Any, path: Sequence[str], new: Any) -> Any:
    if not path:
        return new
    holder = value if isinstance(value, Mapping) else {}
    return {**holder, path[0]: _put(holder.get(path[0]), path[1:], new)}


def _take(value: Mapping[str, Any], path: Sequence[str]) -> Any:
    rest = {key: one for key, one in value.items() if key != path[0]}
    if len(path) == 1 or path[0] not in value:
        return rest
    return {**rest, path[0]: _take(value[path[0]], path[1:])}


def _pruned(value: Any) -> Any:
    """Return objects without empty ones in them: a section may come and go with what is in it."""
    if not isinstance(value, Mapping):
        return value
    inner = {key: _pruned(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one != {}}


def _canonical(value: Any) -> str:
    """Return a value as text that is the same exactly when it is: True is not 1 in it, and NaN is NaN."""
    return json.dumps(value, sort_keys=True, default=repr)
