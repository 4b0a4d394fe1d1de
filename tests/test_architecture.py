"""The rules of the source tree that no type checker knows: who may import whom, who may open a connection, who may
name a provider, and how large things may grow. Everything is read from the syntax trees, so an import inside a
function counts like one at the top.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
ROOT = "webseam"

MAX_PUBLIC = 25  # names in webseam.__all__: what one person can hold in the head
MAX_MODULE = 400  # lines
MAX_FUNCTION = (
    60  # lines from `def` on; decorators and docstring not counted: they declare and explain, they do nothing
)

# An import goes to the same layer or to one further down this list, for types too.
LAYERS = (
    ("__init__", "__main__"),  # the public names and `python -m`: both only point at what is below
    ("fronts", "adapters"),
    ("tools", "setup"),
    ("blocking",),
    ("web",),
    ("search", "fetch", "answer", "vision"),
    ("providers",),
    ("local",),  # below the providers: one of them is made of it
    ("resilience",),
    ("net", "process"),
    (
        "config",
        "settings_file",
        "schema",
        "secrets",
        "model",
        "errors",
        "text",
        "domains",
        "links",
        "version",
        "shared_file",
        "tasks",
    ),
)
RANKS = {name: len(LAYERS) - row for row, names in enumerate(LAYERS) for name in names}

DIALS = frozenset(
    "socket _socket ssl _ssl select selectors http.client http.server urllib.request socketserver ftplib imaplib"
    " nntplib poplib smtplib telnetlib xmlrpc asyncio.streams httpcore httpcore2 httpx httpx2 h11 h2 socksio anyio trio"
    " aiohttp requests urllib3 niquests curl_cffi pycurl primp pyreqwest wreq grpc websocket websockets".split()
)
DIALLING_CALLS = frozenset(
    "open_connection open_unix_connection create_connection create_unix_connection create_datagram_endpoint"
    " create_server create_unix_server start_server start_unix_server start_tls sock_connect sock_connect_ex"
    " getaddrinfo getnameinfo gethostbyname".split()
)
# What listens: an agent over MCP or HTTP is answered by a front, and by nothing below one. Of the SDK of MCP only the
# side that answers; its client would be a second way out.
LISTENS = frozenset("mcp mcp_types uvicorn starlette sse_starlette".split())
MAY_LISTEN = frozenset({"webseam.fronts.mcp"})
BINDS = {"webseam.fronts.mcp.http": "socket"}  # the address is taken before the server starts, so that it is known
CONNECTS = frozenset("connect connect_ex sendto sendmsg create_connection open_connection sock_connect".split())
ANSWERS = frozenset({"mcp.server", "mcp.types", "mcp.shared"})
STARTS = frozenset("subprocess multiprocessing concurrent.futures.process pty webbrowser".split())
STARTING_CALLS = re.compile(
    r"os\.(system|popen|fork|forkpty|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile)"
    r"|(.+\.)?(create_subprocess_(exec|shell)|subprocess_(exec|shell)|ProcessPoolExecutor)"
)
# Modules that may start a process, and why.
MAY_START = {
    "webseam.local": "a build takes all of a core for seconds: in this process it would stall the event loop",
    "webseam.fetch.worker": "readers of hostile formats run where they can be killed",
    "webseam.process": "a program can be a search provider; this is where it is bounded and killed with its children",
}

# Ids that are ordinary words too: in a module that names no provider they mean something else, so they only count where
# the expression around them speaks of a provider.
ORDINARY = frozenset({"local", "custom", "command", "you"})


@dataclass(frozen=True)
class Module:
    """One file of the source tree, under its dotted name."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def layer(self) -> str:
        return layer_of(self.name)


def layer_of(name: str) -> str:
    return "__init__" if name == ROOT else name.split(".")[1]


@cache
def modules() -> tuple[Module, ...]:
    return tuple(read(path) for path in sorted((SOURCE / ROOT).rglob("*.py")))


def read(path: Path) -> Module:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    text = path.read_text(encoding="utf-8")
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, text, ast.parse(text, str(path)))


def imported(tree: ast.AST, package: str = "") -> Iterator[tuple[int, str]]:
    """Yield line and absolute dotted name of everything imported: `from a import b` gives `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                (node.lineno, argument.value)
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def is_in(name: str, packages: frozenset[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def what_dials(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each import and each call by which code can reach a network or listen on one."""
    for line, name in imported(tree):
        if is_in(name, DIALS) or (name.startswith("asyncio.") and name.rpartition(".")[2] in DIALLING_CALLS):
            yield line, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in DIALLING_CALLS:
            yield node.lineno, ast.unparse(node)


def what_starts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each import and each call by which code can start another process."""
    for line, name in imported(tree):
        if is_in(name, STARTS) or STARTING_CALLS.fullmatch(name):
            yield line, name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and STARTING_CALLS.fullmatch(ast.unparse(node)):
            yield node.lineno, ast.unparse(node)


def provider_ids() -> dict[str, str]:
    """Return each provider's id and its module: a class below providers/ whose body says `id = "..."`."""
    found: dict[str, str] = {}
    for module in modules():
        if module.layer != "providers":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                found.update((name, module.name) for name in declared_ids(node))
    return found


def declared_ids(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        names_id = any(isinstance(target, ast.Name) and target.id == "id" for target in targets)
        if names_id and isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
            yield value.value


def named_providers(tree: ast.AST, ids: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield line and id of each provider that a string literal names: itself, in a list, or by its variables."""
    around = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        for name in ids_in(node.value, ids):
            if name not in ORDINARY or speaks_of_provider(node, around):
                yield node.lineno, name


def ids_in(literal: str, ids: frozenset[str]) -> list[str]:
    spelled = {spelling: name for name in ids for spelling in (name, name.replace("-", "_"))}
    words = [word for word in re.split(r"[,\s]+", literal.casefold()) if word]
    if words and all(word in spelled for word in words):
        return [spelled[word] for word in words]
    variable = re.fullmatch(r"(?:WEBSEAM_)?([A-Z_]+?)_(?:API_KEY|BASE_URL|URL|API_BASE|ENDPOINT|HOST)", literal)
    name = spelled.get(variable[1].casefold()) if variable else None
    return [name] if name else []


def speaks_of_provider(node: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    """True when the expression or the one-line statement around a literal has the word provider in it."""
    while (outer := around.get(node)) is not None and not isinstance(getattr(outer, "body", None), list):
        node = outer
    return "provider" in ast.unparse(node).casefold()


def is_family(module: str, provider: str) -> bool:
    """True when a provider's file may name another: they are routes to one service, such as keyed and keyless."""
    return module.rpartition(".")[2].split("_")[0] == provider.split("-")[0]


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    documentation = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) is not None else 0
    return (node.end_lineno or 0) - node.lineno + 1 - documentation


def at(module: Module, line: int, what: str) -> str:
    return f"{module.path.relative_to(SOURCE.parent)}:{line}: {what}"


def test_every_module_stands_in_a_layer() -> None:
    assert sorted({module.layer for module in modules()} - RANKS.keys()) == []


def test_imports_point_down_the_layers() -> None:
    known = {module.name for module in modules()}
    offenders = []
    for module in modules():
        package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
        for line, name in imported(module.tree, package):
            if name.split(".")[0] != ROOT or module.layer not in RANKS:
                continue
            parent = name.rpartition(".")[0]
            layer = layer_of(ROOT if parent == ROOT and name not in known else name)  # a name of the root, or a module
            if RANKS.get(layer, 0) > RANKS[module.layer]:
                offenders.append(at(module, line, f"{module.layer} imports {name}"))
    assert offenders == []


def test_only_net_can_reach_a_network() -> None:
    offenders = [
        at(module, line, name)
        for module in modules()
        if module.layer != "net"
        for line, name in what_dials(module.tree)
        if BINDS.get(module.name) != name
    ]
    assert offenders == []


def test_what_takes_an_address_connects_to_none() -> None:
    called = {
        (module.name, node.attr)
        for module in modules()
        if module.name in BINDS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr in CONNECTS
    }
    assert called == set()


def test_only_fronts_listen_and_with_no_client_beside() -> None:
    offenders = [
        at(module, line, name)
        for module in modules()
        for line, name in imported(module.tree)
        if is_in(name, LISTENS)
        and not (is_in(module.name, MAY_LISTEN) and (not is_in(name, frozenset({"mcp"})) or is_in(name, ANSWERS)))
    ]
    assert offenders == []


def test_only_listed_modules_start_processes() -> None:
    offenders = [
        at(module, line, name)
        for module in modules()
        if not is_in(module.name, frozenset(MAY_START))
        for line, name in what_starts(module.tree)
    ]
    assert offenders == []


def test_a_provider_lives_in_the_file_of_its_name() -> None:
    misplaced = {
        name: module for name, module in provider_ids().items() if not module.endswith("." + name.replace("-", "_"))
    }
    assert provider_ids() != {}
    assert misplaced == {}


def test_no_module_names_a_provider_but_its_own_file() -> None:
    homes = provider_ids()
    offenders = [
        at(module, line, name)
        for module in modules()
        for line, name in named_providers(module.tree, frozenset(homes))
        if module.name != homes[name] and not (module.layer == "providers" and is_family(module.name, name))
    ]
    assert offenders == []


def test_the_public_names_are_few_and_all_there() -> None:
    import webseam

    assert len(webseam.__all__) <= MAX_PUBLIC
    assert len(set(webseam.__all__)) == len(webseam.__all__)
    assert [name for name in webseam.__all__ if getattr(webseam, name, None) is None] == []


def test_modules_stay_short() -> None:
    offenders = [
        at(module, lines, f"{lines} lines")
        for module in modules()
        if (lines := len(module.text.splitlines())) > MAX_MODULE
    ]
    assert offenders == []


def test_functions_stay_short() -> None:
    offenders = [
        at(module, node.lineno, f"{node.name} has {lines} lines")
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (lines := length(node)) > MAX_FUNCTION
    ]
    assert offenders == []


def test_every_module_says_why_it_is_there() -> None:
    assert [str(module.path) for module in modules() if not ast.get_docstring(module.tree)] == []


@pytest.mark.parametrize(
    ("module", "lazy"),
    [
        pytest.param(
            "webseam", "httpcore2 click sqlite3 asyncio ssl ada_url platformdirs turbohtml idna", id="package"
        ),
        pytest.param("webseam.net", "httpcore2 ssl ada_url truststore", id="net"),
        pytest.param("webseam.fronts.cli", "httpcore2 turbohtml ada_url", id="command line"),
    ],
)
def test_importing_loads_nothing_heavy(module: str, lazy: str) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = run.stdout.split()
    assert module in loaded
    assert [name for name in lazy.split() if name in loaded] == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("import socket", ["socket"], id="import"),
        pytest.param("import urllib.request as r", ["urllib.request"], id="renamed"),
        pytest.param("from urllib import request", ["urllib.request"], id="from package"),
        pytest.param("from http.client import HTTPConnection", ["http.client.HTTPConnection"], id="name of a module"),
        pytest.param("def f():\n    import httpx2", ["httpx2"], id="inside a function"),
        pytest.param("importlib.import_module('ssl')", ["ssl"], id="by name"),
        pytest.param("asyncio.open_connection('h', 1)", ["asyncio.open_connection"], id="asyncio call"),
        pytest.param("from asyncio import open_connection", ["asyncio.open_connection"], id="asyncio name"),
        pytest.param("loop.sock_connect(s, a)", ["loop.sock_connect"], id="event loop call"),
        pytest.param("from urllib.parse import urlsplit\nimport http\nimport socketless", [], id="look-alikes"),
    ],
)
def test_the_walk_sees_what_can_dial(code: str, found: list[str]) -> None:
    assert [name for _, name in what_dials(ast.parse(code))] == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("import subprocess", ["subprocess"], id="subprocess"),
        pytest.param("os.execvp('a', [])", ["os.execvp"], id="exec"),
        pytest.param("from os import system", ["os.system"], id="name of os"),
        pytest.param("asyncio.create_subprocess_exec('a')", ["asyncio.create_subprocess_exec"], id="asyncio"),
        pytest.param(
            "from concurrent.futures import ProcessPoolExecutor",
            ["concurrent.futures.ProcessPoolExecutor"],
            id="process pool",
        ),
        pytest.param("from concurrent.futures import ThreadPoolExecutor\nos.environ", [], id="look-alikes"),
    ],
)
def test_the_walk_sees_what_starts_processes(code: str, found: list[str]) -> None:
    assert [name for _, name in what_starts(ast.parse(code))] == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("x = 'acme'", ["acme"], id="id"),
        pytest.param("x = {'acme_free': 1}", ["acme-free"], id="module spelling"),
        pytest.param("order = 'acme, acme-free'", ["acme", "acme-free"], id="list in a string"),
        pytest.param("env('ACME_API_KEY')", ["acme"], id="its variable"),
        pytest.param("env('WEBSEAM_ACME_FREE_BASE_URL')", ["acme-free"], id="our variable for it"),
        pytest.param("if provider == 'local': pass", ["local"], id="ordinary word as a choice"),
        pytest.param("run(provider='local')", ["local"], id="ordinary word as an argument"),
        pytest.param("zone = 'local'", [], id="ordinary word"),
        pytest.param("x = 'the acme service'\ny = 'acme.example'\n'''acme is prose'''", [], id="prose and hosts"),
    ],
)
def test_the_walk_sees_who_names_a_provider(code: str, found: list[str]) -> None:
    ids = frozenset({"acme", "acme-free", "local"})
    assert [name for _, name in named_providers(ast.parse(code), ids)] == found
