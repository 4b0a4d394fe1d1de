"""What docs/adapters.md shows works as it stands there, with models on loopback; and what its tables say is so."""

from __future__ import annotations

import asyncio
import re
from importlib import import_module
from pathlib import Path

import pytest

import webseam
from tests.adapters.agents import AGENTS, QUESTION, llama_model
from tests.adapters.world import KEY, Call, Scene, scene
from tests.world import World

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "adapters.md").read_text("utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ANSWER = "By turning its handle."

# LlamaIndex looks at every attribute of an agent, deprecated ones of Pydantic's included.
pytestmark = pytest.mark.filterwarnings(r"ignore:(The `\w+`|Accessing the 'model_\w+') attribute")

# What a snippet imports first tells whose it is; the agent of ours that hears the same.
SHOWN = {
    "import anthropic": None,
    "from pydantic_ai": "pydantic-ai-anthropic",
    "from agents": "openai-agents",
    "from langchain.agents": "langchain",
    "from llama_index": "llama-index",
    "from smolagents": "smolagents",
}


def snippet(words: str) -> str:
    """Return the one snippet that has a line which begins with these words."""
    (found,) = (code for code in SNIPPETS if f"\n{words}" in f"\n{code}")
    return str(found)


@pytest.fixture
def frameworks() -> None:
    """Import them before a test's clock runs: that takes seconds."""
    for name in ("anthropic", "pydantic_ai.models.openai", "openai.resources.responses"):
        import_module(name)
    for agent in AGENTS.values():
        agent.prepare()


def settle(stage: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a snippet opens, webs and clients, come to the scene."""
    clients = {
        "OPENAI_BASE_URL": f"{stage.model.url}/v1",
        "OPENAI_API_KEY": KEY,
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "ANTHROPIC_BASE_URL": stage.model.url,
        "ANTHROPIC_API_KEY": KEY,
    }
    for name, value in {**stage.environment, **clients}.items():
        monkeypatch.setenv(name, value)


def carried_out(code: str) -> None:
    exec(compile(code, "docs/adapters.md", "exec"), {"__name__": "__main__"})


@pytest.mark.usefixtures("frameworks")
@pytest.mark.parametrize("words", SHOWN)
async def test_a_snippet_asks_a_model_that_searches_and_answers(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = AGENTS[SHOWN[words] or "pydantic-ai-anthropic"]
    async with World() as world:
        stage = scene(world)
        settle(stage, monkeypatch)
        stage.model.turns = [(Call("web_search", {"query": "widgets", "count": 1}),), agent.answers(ANSWER)]
        if agent.adapter == "llama_index":
            monkeypatch.setattr("llama_index.core.Settings._llm", llama_model(stage.model))
        await asyncio.to_thread(carried_out, snippet(words))
    assert capsys.readouterr().out.splitlines()[-1] == ANSWER
    found = f"[1] Widgets\n    {stage.hit}\n    On frobnicating them.\n\n1 result from searxng.\n"
    assert stage.model.heard() == agent.hears([found])
    assert QUESTION in str(stage.model.asked[0])


@pytest.mark.usefixtures("frameworks")
async def test_the_retriever_of_the_page_prints_what_it_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with World() as world:
        stage = scene(world)
        settle(stage, monkeypatch)
        await asyncio.to_thread(carried_out, snippet("from webseam.adapters.langchain"))
    assert capsys.readouterr().out == f"{stage.hit} Widgets On frobnicating them.\n"


def test_every_snippet_of_the_page_is_run() -> None:
    assert {snippet(words) for words in [*SHOWN, "from webseam.adapters.langchain"]} == set(SNIPPETS)


def rows(first: str) -> list[list[str]]:
    """Return the rows of the table whose first column has this head."""
    (table,) = re.findall(rf"^\| {first} \|[^\n]*\n\|[-| ]+\|\n((?:\|[^\n]*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip().strip("`") for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]


@pytest.mark.usefixtures("frameworks")
def test_the_tables_list_the_styles_and_the_adapters_there_are() -> None:
    for style, *_ in rows("style"):
        assert webseam.tools.schemas(style) != []
    assert {row[0] for row in rows("module")} == {agent.adapter for agent in AGENTS.values()}


def test_what_the_page_says_to_install_is_what_the_error_says() -> None:
    source = Path(webseam.__file__).parent / "adapters"
    for module, install, _ in rows("module"):
        (wanted,) = re.findall(r'missing\(__name__, "([^"]+)", error\)', (source / f"{module}.py").read_text("utf-8"))
        assert install == f"pip install '{wanted}'"
