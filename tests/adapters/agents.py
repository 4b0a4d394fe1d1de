"""Agents of the frameworks that adapters are for, each over the scripted model: the way a program would start them.

The frameworks are imported where they are used: this module is also read where none is installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tests.adapters.world import KEY, MODEL, Call, Model, Turn

QUESTION = "How is a widget frobnicated?"
TURNS = 10  # more than any script has


class Failed(str):
    """The text of a call that failed."""


@dataclass(frozen=True)
class Agent:
    """A way to run an agent of a framework.

    Attributes:
        adapter: the module below `webseam.adapters`.
        run: `await run(model, tools)` asks the question and returns the answer.
        needs: modules of the framework that are imported by running it, which takes seconds.
        waits: the agent runs in a thread of its own, with or without an event loop there.
        fails: how the text of a failed call stands in the request.
    """

    adapter: str
    run: Callable[[Model, list[Any]], Awaitable[str]]
    needs: tuple[str, ...]
    waits: bool = False
    fails: Callable[[str], str] = str

    def prepare(self) -> Agent:
        """Import what running takes, before a clock runs."""
        for name in (*self.needs, f"webseam.adapters.{self.adapter}"):
            import_module(name)
        return self

    def hears(self, *turns: list[str]) -> list[str]:
        """Return the results of the calls of these turns as they stand in a request. Failures are `Failed`."""
        if self.adapter == "smolagents":  # one observation a turn
            return ["\n".join(text.strip() for text in turn) + "\n" for turn in turns]
        return [self.fails(text) if isinstance(text, Failed) else text for turn in turns for text in turn]

    def answers(self, text: str) -> Turn:
        """Return the turn by which a model ends the run with an answer."""
        return (Call("final_answer", {"answer": text}),) if self.adapter == "smolagents" else text

    def tools(self, *arguments: Any, **options: Any) -> Any:
        """Return what the adapter's `tools` returns."""
        return import_module(f"webseam.adapters.{self.adapter}").tools(*arguments, **options)


def pydantic_agent(model: Model, tools: list[Any]) -> Any:
    """Return an agent of Pydantic AI over the model's chat completions."""
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{model.url}/v1", api_key=KEY)
    return PydanticAgent(OpenAIChatModel(MODEL, provider=provider), tools=tools)


async def pydantic_ai(model: Model, tools: list[Any]) -> str:
    return str((await pydantic_agent(model, tools).run(QUESTION)).output)


async def pydantic_ai_in_a_thread(model: Model, tools: list[Any]) -> str:
    result = await asyncio.to_thread(_in_a_loop_of_its_own, lambda: pydantic_agent(model, tools).run(QUESTION))
    return str(result.output)


def _in_a_loop_of_its_own(start: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await start()

    return asyncio.run(main())


async def pydantic_ai_anthropic(model: Model, tools: list[Any]) -> str:
    from pydantic_ai import Agent as PydanticAgent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=model.url, api_key=KEY)
    agent = PydanticAgent(AnthropicModel(MODEL, provider=provider), tools=tools)
    return str((await agent.run(QUESTION)).output)


def _openai_agent(model: Model, tools: list[Any], client: Any) -> Any:
    from agents import Agent as OpenAIAgent
    from agents import OpenAIResponsesModel

    return OpenAIAgent(name="asker", model=OpenAIResponsesModel(MODEL, client), tools=tools)


async def openai_agents(model: Model, tools: list[Any]) -> str:
    from agents import RunConfig, Runner
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=f"{model.url}/v1", api_key=KEY, max_retries=0) as client:
        agent = _openai_agent(model, tools, client)
        result = await Runner.run(agent, QUESTION, run_config=RunConfig(tracing_disabled=True))
    return str(result.final_output)


async def openai_agents_in_a_thread(model: Model, tools: list[Any]) -> str:
    return str(await asyncio.to_thread(_in_a_loop_of_its_own, lambda: openai_agents(model, tools)))


def _langchain_agent(model: Model, tools: list[Any]) -> Any:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI

    return create_agent(ChatOpenAI(model=MODEL, base_url=f"{model.url}/v1", api_key=KEY, max_retries=0), tools)


_ASKED = {"messages": [{"role": "user", "content": QUESTION}]}


async def langchain(model: Model, tools: list[Any]) -> str:
    state = await _langchain_agent(model, tools).ainvoke(_ASKED)
    return str(state["messages"][-1].content)


async def langchain_invoke(model: Model, tools: list[Any]) -> str:
    state = await asyncio.to_thread(_langchain_agent(model, tools).invoke, _ASKED)
    return str(state["messages"][-1].content)


async def llama_index(model: Model, tools: list[Any]) -> str:
    from llama_index.core.agent.workflow import FunctionAgent

    agent = FunctionAgent(tools=tools, llm=llama_model(model))
    return str(await agent.run(user_msg=QUESTION, max_iterations=TURNS))


def llama_model(model: Model) -> Any:
    """Return LlamaIndex's own scripted model, with the turns of ours: its OpenAI client lags a major version behind.

    What it is asked is noted in the form of a chat completion.
    """
    from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    def answer(messages: Any, **options: Any) -> ChatMessage:
        model.asked.append(
            {
                "messages": [{"role": one.role.value, "content": one.content} for one in messages],
                "tools": [one.metadata.to_openai_tool() for one in options["tools"]],
            }
        )
        text, calls = model.next_turn()
        blocks = [
            ToolCallBlock(tool_call_id=f"call_{number}", tool_name=call.name, tool_kwargs=call.arguments)
            for number, call in enumerate(calls)
        ]
        return ChatMessage(role="assistant", blocks=blocks) if calls else ChatMessage(role="assistant", content=text)

    return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)


def _smolagent(kind: str, model: Model, tools: list[Any]) -> str:
    import smolagents

    client = smolagents.OpenAIModel(
        MODEL, api_base=f"{model.url}/v1", api_key=KEY, client_kwargs={"max_retries": 0}, retry=False
    )
    agent = getattr(smolagents, kind)(tools=tools, model=client, verbosity_level=0, max_steps=TURNS)
    try:
        return str(agent.run(QUESTION))
    finally:
        client.client.close()


async def smolagents(model: Model, tools: list[Any]) -> str:
    return await asyncio.to_thread(_smolagent, "ToolCallingAgent", model, tools)


async def smolagents_code(model: Model, tools: list[Any]) -> str:
    return await asyncio.to_thread(_smolagent, "CodeAgent", model, tools)


def _as_error(text: str) -> str:
    """Return how Pydantic AI marks a failed call where the API has no mark for it."""
    return json.dumps({"error": text}, separators=(",", ":"))


_PYDANTIC = ("pydantic_ai.models.openai", "pydantic_ai.providers.openai")
_OPENAI = ("agents", "openai.resources.responses")
_LANGCHAIN = ("langchain.agents", "langchain_openai")

AGENTS = {
    "pydantic-ai": Agent("pydantic_ai", pydantic_ai, _PYDANTIC, fails=_as_error),
    "pydantic-ai-in-a-thread": Agent("pydantic_ai", pydantic_ai_in_a_thread, _PYDANTIC, waits=True, fails=_as_error),
    "pydantic-ai-anthropic": Agent(
        "pydantic_ai", pydantic_ai_anthropic, ("pydantic_ai.models.anthropic", "pydantic_ai.providers.anthropic")
    ),
    "openai-agents": Agent("openai_agents", openai_agents, _OPENAI),
    "openai-agents-in-a-thread": Agent("openai_agents", openai_agents_in_a_thread, _OPENAI, waits=True),
    "langchain": Agent("langchain", langchain, _LANGCHAIN),
    "langchain-invoke": Agent("langchain", langchain_invoke, _LANGCHAIN, waits=True),
    "llama-index": Agent("llama_index", llama_index, ("llama_index.core.agent.workflow", "llama_index.core.llms.mock")),
    "smolagents": Agent("smolagents", smolagents, ("smolagents", "openai"), waits=True),
}
