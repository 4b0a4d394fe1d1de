"""What each framework does with our tools in its own way: schemas on the wire, marks of failure, what programs get."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import webseam
from tests.adapters.agents import AGENTS, pydantic_agent, smolagents_code
from tests.adapters.world import Call, Scene, Turn, scene, without_nonces
from tests.fetch.world import PARAGRAPH, html, web
from tests.world import World
from webseam.blocking import Web
from webseam.errors import ProviderError
from webseam.tools.definitions import BY_NAME, TOOLS

# LlamaIndex looks at every attribute of an agent, deprecated ones of Pydantic's included.
pytestmark = [
    pytest.mark.filterwarnings(r"ignore:(The `\w+`|Accessing the 'model_\w+') attribute"),
    pytest.mark.usefixtures("frameworks"),
]

ANSWER = "By turning its handle."


@pytest.fixture
def frameworks() -> None:
    """Import them before a test's clock runs: that takes seconds."""
    for agent in AGENTS.values():
        agent.prepare()


def settle(stage: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in stage.environment.items():
        monkeypatch.setenv(name, value)


async def offered(name: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the tools as the model was offered them by an agent of this kind."""
    agent = AGENTS[name]
    async with World() as world:
        stage = scene(world, agent.answers(ANSWER))
        settle(stage, monkeypatch)
        async with agent.tools() as tools:
            await agent.run(stage.model, tools)
    return list(stage.model.asked[0]["tools"])


# Which part of our schema each framework passes on: LlamaIndex drops `additionalProperties`, smolagents as well, and
# says `nullable` of what is not required.


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "additionalProperties"}


@pytest.mark.parametrize("name", ["pydantic-ai", "langchain", "llama-index"])
async def test_the_model_is_offered_our_schemas(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = await offered(name, monkeypatch)
    assert [plain(one["function"].pop("parameters")) for one in shown] == [plain(one.parameters) for one in TOOLS]
    assert [{key: one["function"][key] for key in ("name", "description")} for one in shown] == [
        {"name": one.name, "description": one.description} for one in TOOLS
    ]
    assert not any(one["function"].get("strict") for one in shown)


async def test_openai_agents_offers_exactly_the_schemas_of_the_responses_api(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await offered("openai-agents", monkeypatch) == webseam.tools.schemas("openai-responses")


async def test_anthropic_is_offered_exactly_its_schemas_by_pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await offered("pydantic-ai-anthropic", monkeypatch) == webseam.tools.schemas("anthropic")


async def test_smolagents_says_which_arguments_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = await offered("smolagents", monkeypatch)
    (docs,) = [one["function"]["parameters"] for one in shown if one["function"]["name"] == "docs_search"]
    query, package = BY_NAME["docs_search"].parameters["properties"].values()
    assert docs == {
        "type": "object",
        "properties": {"query": query, "package": {**package, "nullable": True}},
        "required": ["query"],
    }


# Pydantic AI.


async def test_pydantic_ai_has_the_outcome_and_the_response_beside_the_text() -> None:
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ToolReturnPart

    async with World() as world:
        stage = scene(world)
        stage.model.turns = [(Call("web_fetch", {"url": stage.hit}), Call("web_fetch", {})), ANSWER]
        async with web(world) as given:
            tools = AGENTS["pydantic-ai"].tools(given)
            result = await pydantic_agent(stage.model, tools).run("How is a widget frobnicated?")
    returned = [
        part
        for message in result.all_messages()
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert [part.outcome for part in returned] == ["success", "failed"]
    assert (returned[0].metadata["outcome"], returned[0].metadata["value"]["final_url"]) == ("ok", stage.hit)
    assert returned[1].content == "invalid: url: is missing. Next: give url, or urls for several."
    saved = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(result.all_messages()))
    assert len(saved) == len(result.all_messages())


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param("[1]", id="list"),
        pytest.param('"words"', id="text"),
        pytest.param('{"self": 1}', id="self"),
        pytest.param('{"ctx": 1}', id="ctx"),
        pytest.param('{"name": 1}', id="name"),
    ],
)
@pytest.mark.parametrize("name", ["pydantic-ai", "openai-agents"])
async def test_arguments_that_are_no_arguments_do_not_end_a_run(
    name: str, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = AGENTS[name]
    async with World() as world:
        stage = scene(world, (Call("docs_search", sent),), agent.answers(ANSWER))
        settle(stage, monkeypatch)
        async with agent.tools() as tools:
            assert await agent.run(stage.model, tools) == ANSWER
    (heard,) = stage.model.heard()
    text = json.loads(heard)["error"] if name == "pydantic-ai" else heard
    wanted = "invalid: query: is missing. Next: call docs_search again with query."
    if name == "openai-agents" and sent[0] != "{":
        wanted = f"invalid: arguments: must be a JSON object, not {'a list' if sent[0] == '[' else 'text'}."
    assert text == wanted


async def test_openai_agents_tells_the_model_of_broken_json(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = AGENTS["openai-agents"]
    async with World() as world:
        stage = scene(world, (Call("docs_search", '{"query": "js'),), ANSWER)
        settle(stage, monkeypatch)
        async with agent.tools() as tools:
            assert await agent.run(stage.model, tools) == ANSWER
    assert stage.model.heard() == ["invalid: arguments: are not JSON."]


# LangChain.


def tool_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


async def test_langchain_marks_a_failure_and_has_the_response_as_the_artifact() -> None:
    from webseam.adapters import langchain

    async with World() as world:
        stage = scene(world)
        async with web(world) as given:
            (tool,) = langchain.tools(given, "web_fetch")
            good = await tool.ainvoke(tool_call("web_fetch", {"url": stage.hit}))
            more = await tool.ainvoke(tool_call("web_fetch", {"url": stage.hit, "run_manager": 1, "config": 2}))
            bad = await tool.ainvoke(tool_call("web_fetch", {"self": 1}))
    assert (good.status, good.artifact["outcome"], good.artifact["value"]["title"]) == ("success", "ok", "Widgets")
    assert PARAGRAPH in good.content
    assert (more.status, more.content.splitlines()[-1]) == (
        "success",
        "Left out, being no arguments of web_fetch: run_manager, config.",
    )
    assert (bad.status, bad.artifact, bad.content) == (
        "error",
        None,
        "invalid: url: is missing. Next: give url, or urls for several.",
    )
    json.dumps(good.artifact)


LONG = html(
    *(f"<h2>Part {number}</h2><p>Of part {number}: {PARAGRAPH * 3}</p>" for number in range(30)),
    "<h2>Handles</h2><p>A zither handle is made of brass, and it is turned with two fingers.</p>",
)


def hits(stage: Scene) -> list[dict[str, str]]:
    return [
        {"url": f"{stage.pages.url}/long", "title": "Long", "content": "A long page.", "publishedDate": "2026-02-03"},
        {"url": f"{stage.pages.url}/gone", "title": "Gone", "content": "A page that is not there."},
        {"url": f"{stage.hit}", "title": "Widgets", "content": "On frobnicating them."},
    ]


async def test_the_langchain_retriever_gives_a_document_a_hit_with_passages_of_what_it_read() -> None:
    from webseam.adapters.langchain import WebRetriever

    async with World() as world:
        stage = scene(world)
        stage.pages.route("GET", "/long", (200, {"Content-Type": "text/html"}, LONG))
        stage.engine.route("GET", "/search", (200, {}, {"query": "", "results": hits(stage)}))
        settings = {"search__provider": "searxng", "searxng__base_url": stage.engine.url}
        async with web(world, **settings) as given:
            retriever = WebRetriever(given, count=3, read=2, max_tokens=400)
            documents = await retriever.ainvoke("zither handle brass")
            again = await asyncio.to_thread(retriever.invoke, "zither handle brass")
            await retriever.aclose()
    assert again == documents
    long, gone, widgets = documents
    assert "A zither handle is made of brass" in long.page_content
    assert len(long.page_content) < 1_200
    assert long.metadata == {
        "source": f"{stage.pages.url}/long",
        "title": "Long",
        "published": "2026-02-03",
        "providers": ["searxng"],
        "read": True,
    }
    assert (gone.page_content, gone.metadata["read"]) == ("A page that is not there.", False)
    assert (widgets.page_content, widgets.metadata["read"]) == ("On frobnicating them.", False)


async def test_the_langchain_retriever_raises_what_a_search_raises() -> None:
    from webseam.adapters.langchain import WebRetriever

    async with World() as world:
        stage = scene(world)
        stage.engine.route("GET", "/search", (500, {}, "out of order"))
        settings = {"search.provider": "searxng", "searxng.base_url": stage.engine.url}
        with Web(settings) as given:
            retriever = WebRetriever(given, read=0, options={"include_domains": ["example.org"]})
            with pytest.raises(ProviderError, match="HTTP 500: out of order"):
                await asyncio.to_thread(retriever.invoke, "widgets")
            with pytest.raises(ProviderError, match="HTTP 500: out of order"):
                await retriever.ainvoke("other widgets")


# LlamaIndex.


async def test_llama_index_marks_a_failure_and_has_the_response_as_raw_output() -> None:
    from webseam.adapters import llama_index

    async with World() as world:
        stage = scene(world)
        async with web(world) as given:
            (tool,) = llama_index.tools(given, ["web_fetch"])
            good = await tool.acall(stage.hit)  # type: ignore[arg-type]
            bad = await asyncio.to_thread(tool.call, url="")
    assert (good.is_error, good.raw_output["outcome"], good.raw_output["value"]["title"]) == (False, "ok", "Widgets")
    assert PARAGRAPH in good.content
    assert (bad.is_error, bad.content) == (True, "invalid: url: is missing. Next: give url, or urls for several.")
    good.model_dump_json()


def test_llama_index_knows_the_arguments_by_their_schema() -> None:
    from webseam.adapters import llama_index

    with llama_index.tools() as tools:
        for tool, one in zip(tools, TOOLS, strict=True):
            assert tool.metadata.fn_schema is not None
            assert tool.metadata.fn_schema.model_json_schema() == one.parameters
            assert json.loads(tool.metadata.fn_schema_str) == plain(one.parameters)
            assert tool.metadata.to_openai_tool()["function"]["name"] == one.name


# smolagents.

CODE = """<code>
print(web_search("widgets", 1))
print(web_fetch(url={page!r}, max_tokens=None))
print(web_fetch({page!r}, count=1))
</code>"""


async def test_a_smolagent_that_writes_code_calls_the_tools_as_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    async with World() as world:
        stage = scene(world)
        settle(stage, monkeypatch)
        ends: Turn = f"<code>\nfinal_answer({ANSWER!r})\n</code>"
        stage.model.turns = [CODE.format(page=stage.page), ends]
        async with AGENTS["smolagents"].tools() as tools:
            assert await smolagents_code(stage.model, tools) == ANSWER
    heard = without_nonces(json.dumps(stage.model.asked[-1]["messages"][-1]["content"]))
    assert [
        words in heard
        for words in (f"[1] Widgets\\n    {stage.hit}", PARAGRAPH, "Left out, being no arguments of web_fetch: count.")
    ] == [True] * 3


async def test_smolagents_keeps_the_other_results_when_one_of_several_calls_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = AGENTS["smolagents"]
    async with World() as world:
        stage = scene(world)
        settle(stage, monkeypatch)
        both = (Call("web_fetch", {}), Call("web_fetch", {"url": stage.page}))
        stage.model.turns = [both, agent.answers(ANSWER)]
        async with agent.tools() as tools:
            await agent.run(stage.model, tools)
    (heard,) = stage.model.heard()
    assert heard.startswith("invalid: url: is missing. Next: give url, or urls for several.\nURL: ")
    assert PARAGRAPH in heard
