from __future__ import annotations

import pytest

from webseam.local.pysource import MAX_SOURCE, Module, merge_stub, parse_module


def parsed(text: str, *, name: str = "pkg.mod", is_package: bool = False) -> Module:
    return parse_module(text.encode(), name=name, path=f"{name}.py", is_package=is_package)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def f(a, *, b=1): ...", "(a, *, b=1)", id="one-line"),
        pytest.param(
            "def f(\n    a: int,  # first\n    b: str = 'x#y',\n) -> str:\n    return b",
            "(a: int, b: str = 'x#y') -> str",
            id="comments-go-text-stays",
        ),
        pytest.param("async def f(a):\n    'Doc.'", "(a)", id="async"),
        pytest.param("@wraps(g)\ndef f(): # don't\n    pass", "()", id="decorated-with-an-apostrophe-behind"),
        pytest.param("def f(ä='ü'): return 1", "(ä='ü')", id="beyond-ascii-on-one-line"),
    ],
)
def test_a_signature_is_cut_out_of_the_source(source: str, expected: str) -> None:
    assert parsed(source).symbols["f"].signature == expected


def test_a_class_has_the_signature_and_text_of_its_constructor_and_its_public_methods() -> None:
    module = parsed(
        'class Thing(Base):\n    """A thing."""\n'
        '    def __init__(self, size, *, deep=False) -> None:\n        """Make it."""\n    def grow(self, by): ...\n'
        "    @property\n    def size(self): 'How large.'\n    @size.setter\n    def size(self, v): ...\n"
        "    def _hidden(self): ...\n    class Inner: ...\n"
    )
    thing = module.symbols["Thing"]
    assert (thing.kind, thing.signature, thing.doc, thing.bases) == (
        "class",
        "(size, *, deep=False)",
        "A thing.\n\nMake it.",
        ("Base",),
    )
    assert {name: (member.kind, member.signature, member.doc) for name, member in thing.members.items()} == {
        "grow": ("function", "(by)", ""),
        "size": ("function", "()", "How large."),
        "Inner": ("class", "", ""),
    }


def test_a_dataclass_shows_its_fields() -> None:
    assert parsed("@dataclass(frozen=True)\nclass P:\n    x: int\n    y: int = 0\n").symbols["P"].signature == "(x, y)"


def test_of_overloads_and_branches_the_documented_definition_counts() -> None:
    module = parsed(
        "import sys\nif sys.platform == 'win32':\n    def f(a): ...\nelse:\n    def f(b):\n        'Here.'\n"
        "try:\n    from fast import g\nexcept ImportError:\n    def g():\n        'Slow.'\n"
    )
    assert [(name, symbol.signature, symbol.doc) for name, symbol in module.symbols.items()] == [
        ("f", "(b)", "Here."),
        ("g", "()", "Slow."),
    ]


@pytest.mark.parametrize(
    ("source", "exports", "computed"),
    [
        pytest.param("__all__ = ['a', 'b']", ("a", "b"), False, id="list"),
        pytest.param(
            "__all__ = ('a',)\n__all__ += ['b']\n__all__.append('c')\n__all__.extend(['d'])",
            ("a", "b", "c", "d"),
            False,
            id="added-to",
        ),
        pytest.param("__all__ = ['a']\n__all__.extend(names(x))", ("a",), True, id="partly-computed"),
        pytest.param("__all__ = base.__all__ + more.__all__", None, True, id="computed"),
        pytest.param("x = 1", None, False, id="none"),
    ],
)
def test_the_list_of_exports_is_read(source: str, exports: tuple[str, ...] | None, computed: bool) -> None:
    module = parsed(source)
    assert (module.exports, module.computed) == (exports, computed)


def test_relative_imports_become_absolute() -> None:
    inside = parsed(
        "from ._impl import f as g\nfrom .. import up\nfrom .sub import *\nimport os.path\nimport re as regex"
    )
    assert inside.imports == {"g": ("pkg._impl", "f"), "up": ("", "up"), "os": ("os", None), "regex": ("re", None)}
    assert inside.stars == ["pkg.sub"]
    package = parsed("from ._impl import f", name="pkg", is_package=True)
    assert package.imports == {"f": ("pkg._impl", "f")}


def test_a_stub_gives_signatures_and_missing_names_the_source_gives_text() -> None:
    source = parsed("def f(a):\n    'Does f.'\n\nclass C:\n    def m(self, x):\n        'Does m.'\n")
    stub = parsed(
        "def f(a: int) -> str: ...\ndef only(b: bytes) -> None: ...\nclass C:\n    def m(self, x: float) -> None: ...\n"
    )
    merged = merge_stub(source, stub)
    assert {name: (symbol.signature, symbol.doc) for name, symbol in merged.symbols.items()} == {
        "f": ("(a: int) -> str", "Does f."),
        "C": ("", ""),
        "only": ("(b: bytes) -> None", ""),
    }
    method = merged.symbols["C"].members["m"]
    assert (method.signature, method.doc) == ("(x: float) -> None", "Does m.")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"def broken(:\n", id="no-syntax"),
        pytest.param(b"x = '" + b"a" * MAX_SOURCE + b"'", id="too-large"),
        pytest.param(b"a\x00b", id="nul"),
    ],
)
def test_what_cannot_be_parsed_is_refused(data: bytes) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        parse_module(data, name="bad", path="bad.py", is_package=False)


def test_the_declared_encoding_is_used() -> None:
    data = "# -*- coding: latin-1 -*-\ndef f():\n    'Grüße.'\n".encode("latin-1")
    assert parse_module(data, name="m", path="m.py", is_package=False).symbols["f"].doc == "Grüße."
