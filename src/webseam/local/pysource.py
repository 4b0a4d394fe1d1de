"""What one Python source file or stub says about itself: names, signatures, docstrings, imports and `__all__`.

The file is parsed, never imported: documentation of a broken or malicious package must be as safe to read as text.
Which of the names are public, and under which dotted name, is decided in `public` from several modules together.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from inspect import cleandoc

MAX_SOURCE = 2_000_000  # bytes of one file; larger ones are tables or generated code
MAX_SIGNATURE = 400  # characters; enough for subprocess.Popen

_COMMENT = re.compile(r"\s#[^'\"\n]*$", re.MULTILINE)
_TAIL = re.compile(r"(\)(?: -> [^:#]+)?):\s*#.*$", re.DOTALL)  # a comment with quotes behind the colon
_SPACE = re.compile(r"\s+")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_RECEIVERS = frozenset(("self", "cls", "mcs", "metacls"))


@dataclass(slots=True)
class Symbol:
    """A class or function. `name` is the one within its module; `members` and `bases` are those of a class."""

    name: str
    kind: str
    line: int
    signature: str = ""
    doc: str = ""
    members: dict[str, Symbol] = field(default_factory=dict)
    bases: tuple[str, ...] = ()


@dataclass(slots=True)
class Module:
    """One module as its source shows it.

    Attributes:
        imports: local name -> (module, name in it, or None for the module itself).
        stars: modules of which everything public is taken.
        exports: `__all__` as far as it is written out, or None.
        computed: part of `__all__` is computed, so what the star imports bring counts too.
        aliases: local name -> dotted local name it was assigned from.
        instances: local name -> class it was made from by a call.
    """

    name: str
    path: str
    is_package: bool
    doc: str = ""
    symbols: dict[str, Symbol] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    exports: tuple[str, ...] | None = None
    computed: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)


def is_private(name: str) -> bool:
    return name.startswith("_")


def parse_module(data: bytes, *, name: str, path: str, is_package: bool) -> Module:
    """Return the module in `data`.

    Raises:
        ValueError, SyntaxError, RecursionError, MemoryError: it cannot be parsed.
    """
    if len(data) > MAX_SOURCE:
        raise ValueError(f"{path} has more than {MAX_SOURCE:,} bytes")
    text = _decode(data)
    tree = ast.parse(text)
    module = Module(name, path, is_package, doc=_docstring(tree))
    _Reader(module, text).read(tree.body)
    return module


def _decode(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        declared = _CODING.match(line)
        if declared:
            try:
                return data.decode(declared[1].decode("ascii"))
            except (LookupError, UnicodeDecodeError):
                break
    return data.decode("utf-8-sig", "replace")


def _docstring(node: ast.AST) -> str:
    body: list[ast.stmt] = getattr(node, "body", [])
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        value = body[0].value.value
        if isinstance(value, str):
            return cleandoc(value).strip()
    return ""


class _Reader:
    """Walks the statements of one module. Bodies of functions are not entered: nothing public is in them."""

    def __init__(self, module: Module, text: str) -> None:
        self.module = module
        self._lines = text.split("\n")

    def read(self, body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                _keep(self.module.symbols, node.name, self._function(node, node.name), node)
            elif isinstance(node, ast.ClassDef):
                _keep(self.module.symbols, node.name, self._class(node, node.name), node)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    self.module.imports.setdefault(alias.asname or top, (alias.name if alias.asname else top, None))
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, ast.AugAssign):
                self._assign(node.target, node.value, adds=True)
            else:
                self._nested(node)

    def _nested(self, node: ast.stmt) -> None:
        if isinstance(node, ast.If):
            self.read(node.body)
            self.read(node.orelse)
        elif isinstance(node, (ast.Try, ast.With)):
            self.read(node.body)
            for handler in getattr(node, "handlers", ()):
                self.read(handler.body)
            self.read(getattr(node, "orelse", []))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func  # __all__.extend([...]), __all__.append("x")
            if isinstance(called, ast.Attribute) and _dotted(called.value) == "__all__" and node.value.args:
                self._exports(node.value.args[0], adds=True)

    def _import_from(self, node: ast.ImportFrom) -> None:
        source = node.module or ""
        if node.level:
            base = self.module.name.split(".")
            cut = node.level - (1 if self.module.is_package else 0)
            base = base[: len(base) - cut] if cut else base
            source = ".".join([*base, source] if source else base)
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(source)
            else:
                self.module.imports.setdefault(alias.asname or alias.name, (source, alias.name))

    def _assign(self, target: ast.expr, value: ast.expr, *, adds: bool = False) -> None:
        if not isinstance(target, ast.Name):
            return
        if target.id == "__all__":
            self._exports(value, adds=adds)
        elif isinstance(value, ast.Call):
            called = _dotted(value.func)
            if called:
                self.module.instances.setdefault(target.id, called)
        else:
            source = _dotted(value)
            if source:
                self.module.aliases.setdefault(target.id, source)

    def _exports(self, value: ast.expr, *, adds: bool) -> None:
        names: list[str] = []
        for piece in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                names.append(piece.value)
            else:
                self.module.computed = True
        before = self.module.exports if adds else None
        if names or before:
            self.module.exports = (*(before or ()), *names)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Symbol:
        return Symbol(name, "function", node.lineno, self._signature(node), _docstring(node))

    def _signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """Cut the signature out of the source: unparsing the tree would cost more than parsing the file."""
        first = node.body[0]
        header = self._lines[node.lineno - 1 : first.lineno]
        if not header:
            return ""
        # A one-line body stands behind the colon; offsets count UTF-8 bytes.
        header[-1] = header[-1].encode()[: first.col_offset].decode("utf-8", "ignore")
        text = "\n".join(header)
        text = text[text.find(node.name, text.find("def ") + len("def ")) + len(node.name) :]
        text = _TAIL.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", text)).strip()).rstrip(": ")
        return text.replace("( ", "(").replace(", )", ")").replace(" )", ")")[:MAX_SIGNATURE]

    def _class(self, node: ast.ClassDef, name: str) -> Symbol:
        bases = tuple(base for base in map(_dotted, node.bases) if base)
        symbol = Symbol(name, "class", node.lineno, "", _docstring(node), bases=bases)
        fields: list[str] = []
        for statement in self._class_statements(node.body):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if statement.name in ("__init__", "__new__"):
                    self._add_constructor(symbol, statement)
                elif not is_private(statement.name) and not _is_setter(statement):
                    method = self._function(statement, f"{name}.{statement.name}")
                    method.signature = _without_receiver(method.signature, statement)
                    _keep(symbol.members, statement.name, method, statement)
            elif isinstance(statement, ast.ClassDef) and not is_private(statement.name):
                symbol.members.setdefault(statement.name, self._class(statement, f"{name}.{statement.name}"))
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                fields.append(statement.target.id)
        if not symbol.signature and fields and any("dataclass" in (_dotted(d) or "") for d in node.decorator_list):
            symbol.signature = f"({', '.join(fields)})"[:MAX_SIGNATURE]
        return symbol

    def _class_statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.If):
                found += [*statement.body, *statement.orelse]
            else:
                found.append(statement)
        return found

    def _add_constructor(self, symbol: Symbol, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if not symbol.signature:
            symbol.signature = _without_receiver(self._signature(node), node)
        doc = _docstring(node)
        if doc and doc not in symbol.doc:
            symbol.doc = f"{symbol.doc}\n\n{doc}".strip()


def _keep(known: dict[str, Symbol], name: str, symbol: Symbol, node: ast.AST) -> None:
    """Add a symbol; of several definitions (overloads, branches) the first documented one counts."""
    before = known.get(name)
    if before is None or (symbol.doc and not before.doc):
        known[name] = symbol
        if before is not None and symbol.kind == "class" and not symbol.members:
            symbol.members = before.members


def _is_setter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Attribute) and mark.attr in ("setter", "deleter") for mark in node.decorator_list)


def _without_receiver(signature: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = node.args.posonlyargs + node.args.args
    if not arguments or arguments[0].arg not in _RECEIVERS:
        return signature
    rest = re.sub(rf"^\(\s*{arguments[0].arg}\s*(?:,\s*/)?(?:,\s*|(?=\)))", "(", signature)
    return re.sub(r"^(\(.*\)) -> None$", r"\1", rest) if node.name == "__init__" else rest


def _dotted(node: ast.expr) -> str | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and not names:
        node = node.func
        return _dotted(node)
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(names)])


def merge_stub(source: Module, stub: Module) -> Module:
    """Return the module of a source and its stub: text from the source, signatures and missing names from the stub."""
    merged = Module(source.name, source.path, source.is_package, source.doc or stub.doc)
    merged.symbols = dict(source.symbols)
    for name, symbol in stub.symbols.items():
        known = merged.symbols.get(name)
        merged.symbols[name] = symbol if known is None else _merge_symbol(known, symbol)
    merged.imports = {**stub.imports, **source.imports}
    merged.stars = list(dict.fromkeys(source.stars + stub.stars))
    merged.exports = source.exports if source.exports is not None else stub.exports
    merged.computed = source.computed
    merged.aliases = {**stub.aliases, **source.aliases}
    merged.instances = {**stub.instances, **source.instances}
    return merged


def _merge_symbol(source: Symbol, stub: Symbol) -> Symbol:
    members = dict(source.members)
    for name, member in stub.members.items():
        members[name] = _merge_symbol(members[name], member) if name in members else member
    signature = stub.signature or source.signature
    return Symbol(source.name, source.kind, source.line, signature, source.doc or stub.doc, members, source.bases)
