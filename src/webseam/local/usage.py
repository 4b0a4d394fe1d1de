"""What a source file uses of other libraries: the measure of how well known a name is on this machine.

`os.getenv` and `wsgiref.handlers.read_environ` both read the environment; that three hundred installed files use the
first and none the second tells them apart. Counted while the file is parsed anyway; names only, no code is kept.
"""

from __future__ import annotations

import builtins
import re

from webseam.local.pysource import Module

MAX_FILES = 100  # of one distribution that are looked at; one large library must not decide for all
MAX_TEXT = 200_000  # characters of a file; longer ones are tables

_DOTTED = re.compile(r"\w+\.[\w.]+")
_CALL = re.compile(r"(?<![\w.])[a-z]\w+\(")
_BUILTINS = {f"{name}(": f"builtins.{name}" for name in dir(builtins) if not name.startswith("_")}


def names_used(module: Module, data: bytes) -> set[str]:
    """Return the dotted names of other libraries that a module imports or refers to, prefixes included."""
    own = module.name.partition(".")[0]
    known: dict[str, str] = {}
    used: set[str] = set()
    for local, (source, name) in module.imports.items():
        if source and source.partition(".")[0] not in (own, f"_{own}"):
            known[local] = f"{source}.{name}" if name else source
            used.add(known[local])
            used.add(source)
    text = data[:MAX_TEXT].decode("utf-8", "replace")
    for reference in set(_DOTTED.findall(text)):
        first, *rest = reference.rstrip(".").split(".")
        dotted = known.get(first)
        if dotted is None:
            continue
        for name in rest[:3]:
            dotted = f"{dotted}.{name}"
            used.add(dotted)
    used.update(_BUILTINS[call] for call in set(_CALL.findall(text)) if call in _BUILTINS)
    return used
