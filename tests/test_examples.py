"""What strangers are told works: the provider of docs/adding-a-provider.md, and the package in examples/.

The page's example is put into a copy of the tree as it stands there, and goes through the tables that all providers go
through. The package is built and installed with the installer that is there, without an index, and is asked by the real
command. What the page says of names and tests is held against the names and tests there are.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import get_annotations
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import SOURCE, Run, webseam_command
from tests.wire import Shape
from tests.world import Site, World
from webseam import providers
from webseam.providers.base import Aside, Parsed, Provider

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "adding-a-provider.md").read_text("utf-8")
PACKAGE = ROOT / "examples" / "webseam-acme"
GENEROUS = 300.0  # seconds for a process that hangs only when something is wrong
LEAST = 80  # tests that a provider with a key goes through; they are about ninety

# The page's example.


def files_of_the_page() -> dict[str, str]:
    """Return the files whose contents stand on the page, by their paths; a folder's stand one after the other."""
    files: dict[str, str] = {}
    for path, contents in re.findall(r"^`([\w./-]+)`[^\n]*\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        if not path.endswith("/"):
            files[path] = contents
            continue
        _, *pieces = re.split(r"^([\w.]+\.json)\n", contents, flags=re.MULTILINE)
        files |= {path + name: text for name, text in zip(pieces[::2], pieces[1::2], strict=True)}
    return files


def test_the_provider_of_the_page_is_one_source_file_and_its_cases_and_passes_the_tables(tmp_path: Path) -> None:
    for folder in ("src/webseam", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    written = files_of_the_page()
    for path, text in written.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    run = pytest_in(
        tmp_path,
        "tests/providers/test_contract.py",
        "tests/providers/test_capabilities.py",
        "tests/providers/test_registry.py",
        "tests/test_architecture.py",
        "-k",
        "heron or every_folder or test_architecture",
        path=[tmp_path / "src"],
    )
    cases = ("auth", "broken", "empty", "ok", "quota", "rate_limited", "shape")
    assert sorted(written) == ["src/webseam/providers/heron.py", *(f"tests/wire/heron/{name}.json" for name in cases)]
    assert run.code == 0, run.out
    assert passed(run) > LEAST


def pytest_in(folder: Path, *arguments: str, path: list[Path]) -> Run:
    """Run pytest in `folder`, with `path` before everything else that can be imported, and write nothing there."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def passed(run: Run) -> int:
    (count,) = re.findall(r"^(\d+) passed", run.out, re.MULTILINE)
    return int(count)


# What the page says.

OFFERED = PAGE.partition("What it may import: ")[2]


@cache
def names_of_tests() -> frozenset[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return frozenset(name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8")))


def test_every_word_of_the_page_that_selects_tests_selects_some() -> None:
    words = [word for row in re.findall(r"\| `([\w ]+)`(?: \*)? \|$", PAGE, re.MULTILINE) for word in row.split(" or ")]
    assert len(words) > len("declarations")
    assert [word for word in words if not any(word in name for name in names_of_tests())] == []


def test_the_page_names_every_declaration_and_every_part_of_a_shape() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert sorted(get_annotations(Provider).keys() - named) == []
    assert sorted({field.name for field in fields(Shape)} - named) == []


@cache
def offered() -> dict[str, set[str]]:
    """Return what another package may import: the names of each module, none where the module is offered whole."""
    found: dict[str, set[str]] = {}
    for names, modules in re.findall(r"((?:`\w+`,?\s)*)(?:from|the modules) ((?:`[\w.]+`(?: and )?)+)", OFFERED):
        for module in re.findall(r"`([\w.]+)`", modules):
            found[module] = set(re.findall(r"`(\w+)`", names))
    return found


def test_every_name_the_page_offers_is_there() -> None:
    assert len(offered()) == OFFERED.count("`webseam.")
    missing = [
        f"{module}.{name}"
        for module, names in offered().items()
        for name in names
        if not hasattr(import_module(module), name)
    ]
    assert missing == []


def test_the_package_imports_only_what_the_page_offers() -> None:
    tree = ast.parse((PACKAGE / "webseam_acme.py").read_text("utf-8"))
    imported = [
        (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    ]
    assert [node for node in ast.walk(tree) if isinstance(node, ast.Import)] == []
    whole = {module for module, names in offered().items() if not names}
    assert whole == {"webseam.providers.options", "webseam.providers.verdicts"}
    assert [
        place for place in imported if place[0] not in whole and place[1] not in offered().get(place[0], set())
    ] == []


class Kept(dict[str, Any]):
    """A memory that lasts as long as the test."""

    def set(self, name: str, value: dict[str, Any], *, ttl: float) -> None:
        self[name] = value


class Said:
    """A reply, as much of one as the page's conversation looks at."""

    def __init__(self, status: int, document: Any) -> None:
        self.status = status
        self._document = document

    def json(self) -> Any:
        return self._document


def test_the_conversation_of_the_page_opens_a_session_once_and_then_asks() -> None:
    names: dict[str, Any] = {"Parsed": Parsed}
    exec(
        "from __future__ import annotations\n"
        "from webseam.providers import verdicts\n"
        "from webseam.providers.base import *\n"
        "from webseam.model import SearchRequest\n"
        "class Stepwise(Provider):\n"
        "    id = label = 'stepwise'\n"
        "    def parse(self, reply, search, config): return Parsed(answer=reply.json())\n"
        + re.sub("^", "    ", code_with("Aside(post_json"), flags=re.MULTILINE),
        names,
    )
    provider, memory = names["Stepwise"](), Kept()
    search = names["SearchRequest"](query="parse a url")
    config = names["ProviderConfig"](provider="stepwise", base_url="https://api.example.org")

    first = provider.converse(search, config, memory)
    opening = next(first)
    assert isinstance(opening, Aside)
    asking = first.send(Said(200, {"id": "s1"}))
    assert asking.url == "https://api.example.org/search?q=parse+a+url&session=s1"
    with pytest.raises(StopIteration) as ended:
        first.send(Said(200, "words"))
    assert ended.value.value == Parsed(answer="words")
    assert next(provider.converse(search, config, memory)).url == asking.url


def code_with(words: str) -> str:
    """Return the one block of code on the page that has these words."""
    (block,) = (code for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if words in code)
    return str(block)


# The package.

KEY = "a-key-of-acme-0123456789"
TODAY = datetime.now(UTC).date()
HEADERS = {"Content-Type": "application/json"}


def row(name: str, host: str = "example.org", age: int = 1) -> dict[str, str]:
    published = (TODAY - timedelta(days=age)).isoformat()
    return {"url": f"https://{host}/{name}", "name": f"About {name}", "text": f"On {name}.", "published": published}


def installer() -> list[str]:
    """Return the command that installs: the pip of this environment, or what environments without one are made with."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--isolated", "install"]
    if shutil.which("uv") is not None:
        return ["uv", "pip", "install", "--no-config", "--no-cache", "--offline", "--python", sys.executable]
    return [sys._base_executable, "-m", "pip", "--isolated", "--python", sys.executable, "install"]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the package was installed from a copy of its source, with no index to ask."""
    folder = tmp_path_factory.mktemp("acme")
    source, target = folder / "source", folder / "target"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    done = subprocess.run(
        [*installer(), "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target), str(source)],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target


class Acme:
    """Acme's server on loopback, and the command of somebody who installed the package."""

    def __init__(self, world: World, folder: Path, *rows: dict[str, str]) -> None:
        self.site = world.site()
        self.site.route("POST", "/v2/search", (200, HEADERS, {"results": list(rows), "dollars": 0.003}))
        self.environment = {
            "PYTHONPATH": os.pathsep.join([str(SOURCE), str(folder)]),
            "WEBSEAM_ACME_BASE_URL": self.site.url,
        }

    async def run(self, *arguments: str, stdin: bytes | None = None, **variables: Any) -> Run:
        return await webseam_command(*arguments, env={**self.environment, **variables}, stdin=stdin)

    def bodies(self) -> list[Any]:
        return [request.json() for request in self.site.requests]

    def keys(self) -> list[str]:
        return [request.headers["authorization"].removeprefix("Bearer ") for request in self.site.requests]


def test_it_installs_one_module_and_one_line_that_registers_it(installed: Path) -> None:
    modules = [path.name for path in installed.iterdir() if path.suffix == ".py"]
    (info,) = installed.glob("*.dist-info")
    registered = re.sub(r"\s", "", (info / "entry_points.txt").read_text("utf-8"))
    assert (modules, registered) == (["webseam_acme.py"], "[webseam.providers]acme=webseam_acme:Acme")


def test_its_own_tests_pass_with_nothing_but_public_names(installed: Path) -> None:
    tests = installed.parent / "source" / "tests"
    imported = re.findall(r"^(?:from|import) (webseam\S*)", (tests / "test_acme.py").read_text("utf-8"), re.MULTILINE)
    run = pytest_in(tests.parent, path=[SOURCE, installed])
    assert imported == ["webseam"]
    assert (run.code, passed(run)) == (0, 4), run.out


async def test_it_is_listed_like_any_other_in_its_place(installed: Path) -> None:
    async with World() as world:
        acme = Acme(world, installed)
        listed = (await acme.run("providers", "--json")).json()
    ours = next(one for one in listed if one["id"] == "acme")
    ranked = {one.id: one.rank for one in providers.every() if one.rank is not None} | {"acme": 45}
    assert [one["id"] for one in listed if one["auto"]] == sorted(ranked, key=lambda name: ranked[name])
    wanted = {
        "label": "Acme Search",
        "state": "no key (ACME_SEARCH_KEY)",
        "usable": False,
        "receives": "Acme (acme.example)",
        "key_from": None,
        "key": "required",
        "key_env": ["ACME_SEARCH_KEY"],
        "base_url": "https://api.acme.example",
        "max_count": 25,
        "price": 0.004,
    }
    assert {name: ours[name] for name in wanted} == wanted
    assert ours["settings"][-1] == "collection"
    assert {name for name, support in ours["options"].items() if support == "native"} == {
        "freshness",
        "language",
        "page",
    }


async def test_it_searches_with_its_options_and_the_core_does_the_rest(installed: Path) -> None:
    async with World() as world:
        acme = Acme(world, installed, row("one"), row("two", host="example.com"), row("three", age=400))
        run = await acme.run(
            "search", "parse", "a", "url", "-p", "acme", "-n", "3", "--json", "--lang", "en", "--fresh", "week",
            "--site", "example.org", "--region", "DE",
            WEBSEAM_ACME_API_KEY=KEY,
        )  # fmt: skip
    told = run.json()
    assert (run.code, run.err, told["outcome"], told["sent_to"]) == (0, "", "ok", ["acme"])
    assert [(hit["url"], hit["title"], hit["snippet"], hit["providers"]) for hit in told["hits"]] == [
        ("https://example.org/one", "About one", "On one.", ["acme"])
    ]
    assert told["dropped"] == {"other domain": 1, "outside the dates": 1}
    assert told["notes"] == ["Acme Search cannot filter by region; that was not applied"]
    assert told["attempts"][0]["cost"] == 0.003
    assert acme.bodies() == [
        {
            "query": "parse a url",
            "size": 8,  # more than three: some may be filtered out here
            "page": 1,
            "collection": "all",
            "language": "en",
            "newest": "week",
        }
    ]
    assert acme.keys() == [KEY]
    assert KEY not in run.out


async def test_its_own_setting_and_a_page_reach_it(installed: Path) -> None:
    async with World() as world:
        acme = Acme(world, installed, row("one"))
        written = await acme.run("config", "set", "acme.collection", "docs")
        refused = await acme.run("config", "set", "acme.collection", "nothing")
        run = await acme.run("search", "q", "-p", "acme", "--page", "2", "--urls", WEBSEAM_ACME_API_KEY=KEY)
    assert (written.code, refused.code, run.code) == (0, 2, 0)
    assert "is not one of all, docs" in refused.err
    assert acme.bodies() == [{"query": "q", "size": 10, "page": 2, "collection": "docs"}]


async def test_its_key_is_saved_from_a_pipe_and_a_variable_wins_over_it(installed: Path) -> None:
    wanted = ("search", "q", "-p", "acme", "--urls", "--no-cache")
    async with World() as world:
        acme = Acme(world, installed, row("one"))
        without = await acme.run(*wanted)
        saved = await acme.run("key", "set", "acme", "--no-verify", stdin=f"{KEY}\n".encode())
        by_saved = await acme.run(*wanted)
        by_users = await acme.run(*wanted, ACME_SEARCH_KEY="by-the-name-its-users-know")
        by_ours = await acme.run(*wanted, ACME_SEARCH_KEY="not-this-one", WEBSEAM_ACME_API_KEY="by-our-name")
        listed = await acme.run("key", "list")
    assert without.code == 6
    assert "no key (ACME_SEARCH_KEY)" in without.err
    assert "get a key at acme.example, then: webseam key set acme" in without.err
    assert [run.code for run in (saved, by_saved, by_users, by_ours)] == [0, 0, 0, 0]
    assert acme.keys() == [KEY, "by-the-name-its-users-know", "by-our-name"]
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == ["acme"]
    assert KEY not in saved.out + saved.err + by_saved.out + by_saved.err + listed.out + listed.err


async def test_auto_asks_it_at_its_rank_and_goes_on_after_it_fails(installed: Path) -> None:
    async with World() as world:
        acme = Acme(world, installed, row("one"))
        other = tavily(acme.site)
        before = (await acme.run("status", "--json", WEBSEAM_ACME_API_KEY=KEY, **other)).json()
        answered = (await acme.run("search", "q", "--json", WEBSEAM_ACME_API_KEY=KEY, **other)).json()
        acme.site.route("POST", "/v2/search", (423, HEADERS, {"error": "locked"}))
        failing = await acme.run("search", "q2", "--json", WEBSEAM_ACME_API_KEY=KEY, **other)
        after = (await acme.run("status", "--json", WEBSEAM_ACME_API_KEY=KEY, **other)).json()
    state = {one["id"]: one for one in before["providers"]}["acme"]
    assert (before["next"], after["next"]) == (["acme"], ["tavily"])
    assert (state["state"], state["key_from"]) == ("ready", "WEBSEAM_ACME_API_KEY")
    assert before["receives"] == ["Acme (acme.example)"]
    assert [hit["url"] for hit in answered["hits"]] == ["https://example.org/one"]
    assert failing.json()["sent_to"] == ["acme", "tavily"]
    assert tried(failing) == [("acme", "quota", "the account is locked until it is topped up"), ("tavily", "ok", None)]


def tavily(site: Site) -> dict[str, Any]:
    """Return the variables of one more provider that is set up, at the same server."""
    site.route("POST", "/search", (200, HEADERS, json.dumps({"results": [{"url": "https://example.org/other"}]})))
    return {"WEBSEAM_TAVILY_BASE_URL": site.url, "TAVILY_API_KEY": "another-key-0123456789"}


def tried(run: Run) -> list[tuple[Any, ...]]:
    """Return provider, outcome and detail of each attempt that was made."""
    return list(_tried(run.json()["attempts"]))


def _tried(attempts: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for attempt in attempts:
        if attempt["outcome"] != "unavailable":
            yield attempt["provider"], attempt["outcome"], attempt["detail"]
