"""Documentation of the standard library's modules that have no Python source: `math`, `itertools`, `builtins` …

Only these are imported, and in a child of the same interpreter that sees nothing but the standard library: a module
that fails to load, or takes the process with it, costs its own documentation and nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from webseam.local.pysource import Module, Symbol

CHILD_TIMEOUT = 20.0  # seconds; it takes 0.3 where nothing is wrong

_ASK = r"""
import importlib, inspect, json, os, sys, sysconfig

def signature(thing):
    try:
        return str(inspect.signature(thing))
    except Exception:
        return ""

def doc(thing):
    try:
        text = thing.__doc__
        return inspect.cleandoc(text) if isinstance(text, str) else ""
    except Exception:
        return ""

def member(owner, name):
    raw = owner.__dict__.get(name)
    thing = getattr(owner, name, None)
    kind = "class" if isinstance(thing, type) else "function"
    if kind == "class" or not (callable(thing) or inspect.isdatadescriptor(raw)):
        return None
    return [kind, signature(thing) if callable(thing) else "", doc(thing if callable(thing) else raw), {}]

def describe(module):
    found = {}
    for name, thing in list(vars(module).items()):
        if name.startswith("__"):
            continue
        if isinstance(thing, type):
            members = {m: member(thing, m) for m in list(vars(thing)) if not m.startswith("_")}
            found[name] = ["class", signature(thing), doc(thing), {m: v for m, v in members.items() if v}]
        elif callable(thing):
            found[name] = ["function", signature(thing), doc(thing), {}]
    return {"doc": doc(module), "names": found}

names = set(sys.builtin_module_names)
for folder in {sysconfig.get_path("platstdlib"), os.path.join(sys.base_exec_prefix, "DLLs"), *sys.path}:
    for place in (folder, os.path.join(folder, "lib-dynload")):
        if os.path.isdir(place):
            names.update(f.split(".")[0] for f in os.listdir(place) if f.endswith((".so", ".pyd", ".dylib")))
names &= set(sys.stdlib_module_names)
names.add("hashlib")  # fills its namespace in a loop
out = {}
for name in sorted(names):
    if name.startswith(("_test", "_xx", "xx")) or name in ("__main__", "_tkinter", "readline", "idlelib"):
        continue
    try:
        out[name] = describe(importlib.import_module(name))
    except BaseException:
        continue
json.dump({"modules": out, "path": os.path.__name__}, sys.stdout)
"""


def builtin_modules() -> tuple[dict[str, Module], str]:
    """Return the modules without source, by name, and the name of the module that `os.path` is. Empty on failure."""
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-W", "ignore", "-c", _ASK]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=CHILD_TIMEOUT
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}, "posixpath"
    modules = {name: _module(name, described) for name, described in found["modules"].items()}
    return modules, str(found["path"])


def _module(name: str, described: dict[str, Any]) -> Module:
    module = Module(name, "", is_package=False, doc=described["doc"])
    for symbol, (kind, signature, doc, members) in described["names"].items():
        made = module.symbols[symbol] = _symbol(symbol, kind, signature, doc)
        for member, (member_kind, member_signature, member_doc, _) in members.items():
            made.members[member] = _symbol(f"{symbol}.{member}", member_kind, member_signature, member_doc)
    return module


def _symbol(name: str, kind: str, signature: str, doc: str) -> Symbol:
    bare = signature.replace("($self, /, ", "(").replace("($self, /)", "()").replace("(self, /, ", "(")
    return Symbol(name, kind, 0, bare.replace("(self, /)", "()").replace("(self, ", "("), doc)
