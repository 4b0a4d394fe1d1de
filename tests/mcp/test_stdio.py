"""A session over standard input and output: from the first answer over the hand-over to the SDK to the last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.cli.world import environment_of
from tests.mcp.peer import (
    HANDSHAKE,
    INITIALIZED,
    LISTED,
    MODERN,
    SERVER,
    Message,
    call,
    initialize,
    modern,
    ready,
    request,
    searching,
    served,
    text_of,
    wire,
)
from tests.world import World
from webseam.fronts.mcp.wire import MAX_LINE

TOOLS = ["web_search", "web_fetch", "docs_search"]

# sessions as clients have them


@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
async def test_the_official_client_lists_and_calls(mode: Any) -> None:
    async with World() as world:
        server = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=environment_of(searching(world)))
        async with Client(server, mode=mode) as client:
            tools = await client.list_tools()
            result = await client.call_tool("web_search", {"query": "words", "count": 1})
            version = client.protocol_version
    assert [tool.name for tool in tools.tools] == TOOLS
    assert (result.is_error, "https://example.org/one" in result.content[0].text) == (False, True)  # type: ignore[union-attr]
    assert version == (HANDSHAKE[-1] if mode == "legacy" else MODERN)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [
                initialize(),
                INITIALIZED,
                request(1, "tools/list"),
                call(2, "web_search", query="words", count=1),
                request(3, "ping"),
                request(4, "resources/templates/list"),
            ],
            id="handshake",
        ),
        pytest.param(
            [
                modern(0, "server/discover"),
                modern(1, "tools/list"),
                modern(2, "tools/call", name="web_search", arguments={"query": "words", "count": 1}),
                modern(3, "tools/list"),
                modern(4, "resources/templates/list"),
            ],
            id="modern",
        ),
        pytest.param(
            [
                request(0, "initialize", **initialize("2031-01-01")["params"]),
                INITIALIZED,
                request(1, "tools/list"),
                call(2, "web_search", query="words", count=1),
                request(3, "ping"),
                request(4, "resources/templates/list"),
            ],
            id="nothing early",
        ),
    ],
)
async def test_everything_sent_at_once_is_answered_once(messages: list[Message]) -> None:
    async with World() as world, served(env=searching(world)) as peer:
        await peer.send(*messages)
        answers = [await peer.answer(number) for number in range(5)]
        code = await peer.leave()
    assert sorted(one["id"] for one in peer.messages) == [0, 1, 2, 3, 4]
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == TOOLS
    assert "https://example.org/one" in text_of(answers[2])
    assert (code, peer.err) == (0, "")


async def test_a_client_that_says_one_thing_after_the_other_is_served_the_same() -> None:
    async with World() as world, served(env=searching(world)) as peer:
        assert (await peer.ask(initialize("2025-03-26")))["result"]["protocolVersion"] == "2025-03-26"
        await peer.send(INITIALIZED)
        listed = await peer.ask(request(1, "tools/list"))
        pinged = await peer.ask(request(2, "ping"))
        found = await peer.ask(call(3, "web_search", query="words", count=1))
        again = await peer.ask(request(4, "tools/list"))
        assert await peer.leave() == 0
    assert pinged == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert "https://example.org/one" in text_of(found)
    assert again["result"] == listed["result"]
    assert peer.err == ""


async def test_a_client_may_use_again_the_id_of_what_was_answered_early() -> None:
    async with served() as peer:
        await peer.ask(initialize(number=0))
        await peer.send(INITIALIZED, request(1, "tools/list"), request(0, "prompts/list"))
        while len(peer.messages) < 3:
            await peer.changed()
        assert [sorted(one["result"]) for one in peer.messages if one["id"] == 0][1] == ["prompts"]
        assert await peer.leave() == 0


async def test_a_session_with_a_handshake_refuses_the_other_era_as_the_sdk_does() -> None:
    async with served() as peer:
        await ready(peer)
        assert (await peer.ask(modern(2, "tools/list")))["error"]["code"] == -32600
        assert await peer.leave() == 0


async def test_a_session_without_one_refuses_it_as_the_sdk_does() -> None:
    async with served() as peer:
        await peer.ask(modern(0, "tools/list"))
        assert (await peer.ask(initialize(number=1)))["error"]["code"] == -32022
        assert (await peer.ask(request(2, "prompts/list")))["error"]["code"] == -32602
        assert await peer.leave() == 0


# what is no message


GARBAGE = (
    b"garbage\n",
    b"\n\r\n  \n",
    b"\xff\xfe\x00\n",
    b"[" + wire(request(9, "ping")).strip() + b"]\n",
    b'{"jsonrpc":"2.0","id":9}\n',
    b'{"jsonrpc":"2.0","id":9,"result":{}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/unheard_of"}\n',
    b"[" * 100_000 + b"\n",
)


async def test_what_is_no_message_is_passed_over_at_any_time() -> None:
    async with served() as peer:
        await peer.send(initialize(), INITIALIZED, request(1, "tools/list"))
        assert [tool["name"] for tool in (await peer.answer(1))["result"]["tools"]] == TOOLS
        await peer.send(*GARBAGE, request(2, "prompts/list"))
        assert (await peer.answer(2))["result"]["prompts"] != []
        for number, garbage in enumerate(GARBAGE, 3):
            await peer.send(garbage, request(number, "ping"))
            assert (await peer.answer(number))["result"] == {}
        assert (await peer.leave(), peer.err) == (0, "")
    assert [one["id"] for one in peer.messages] == list(range(3 + len(GARBAGE)))


async def test_what_is_no_message_may_come_first() -> None:
    async with served() as peer:
        await peer.send(*GARBAGE[:4], initialize(), INITIALIZED, request(1, "tools/list"))
        assert [tool["name"] for tool in (await peer.answer(1))["result"]["tools"]] == TOOLS
        assert (await peer.leave(), peer.err) == (0, "")
    assert [one["id"] for one in peer.messages] == [0, 1]


async def test_a_line_that_is_too_long_is_refused_and_the_next_is_read() -> None:
    async with served() as peer:
        await peer.send(initialize(), b"x" * (MAX_LINE + 1) + b"\n", request(1, "tools/list"))
        await peer.answer(1)
        first = [one for one in peer.messages if one["id"] is None]
        await peer.ask(request(2, "prompts/list"))
        await peer.send(b"x" * (MAX_LINE + 1) + b"\n", request(3, "ping"))
        await peer.answer(3)
        assert await peer.leave() == 0
    refused = {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": f"the message is longer than {MAX_LINE} bytes and was not read"},
    }
    assert first == [refused]
    assert [one for one in peer.messages if one["id"] is None] == [refused, refused]
    assert peer.err == ""


async def test_a_long_message_within_the_bound_is_served() -> None:
    async with served() as peer:
        await ready(peer)
        answer = await peer.ask(call(2, "web_search", query="w" * (MAX_LINE - 1000)))
        assert text_of(answer).startswith("invalid: ")
        assert await peer.leave() == 0


async def test_before_a_handshake_the_sdk_says_what_is_wrong() -> None:
    early = {"code": -32602, "message": "Invalid request parameters", "data": ""}
    async with served() as peer:
        assert (await peer.ask(request(1, "tools/list")))["error"] == early
        assert (await peer.ask(call(2, "web_search", query="w")))["error"] == early
        unknown = {"code": -32601, "message": "Method not found", "data": "tools/x"}
        assert (await peer.ask(request(3, "tools/x")))["error"] == unknown
        assert (await peer.ask(request(4, "ping")))["result"] == {}
        assert (await peer.ask(initialize(number=5)))["result"]["serverInfo"]["name"] == "webseam"
        assert len((await peer.ask(request(6, "tools/list")))["result"]["tools"]) == 3
        assert (await peer.leave(), peer.err) == (0, "")


# settings that cannot be read


async def test_broken_settings_are_said_to_who_asks_and_a_repaired_file_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    folder.mkdir()
    file = folder / "config.toml"
    file.write_text("[search]\nordr = 1\n")
    async with World() as world:
        env = searching(world) | {"WEBSEAM_CONFIG_DIR": str(folder)}
        async with served(env=env) as peer:
            await peer.send(*LISTED)
            await peer.answer(1)
            refused = await peer.ask(call(2, "web_search", query="words", count=1))
            file.write_text("[search]\ncount = 1\n")
            answer = await peer.ask(call(3, "web_search", query="words", count=1))
            code = await peer.leave()
    assert refused["error"]["code"] == -32603
    assert refused["error"]["message"].startswith(f"{file}:2: search.ordr: 'ordr' is not known")
    assert "https://example.org/one" in text_of(answer)
    assert code == 0
    assert set(peer.err.splitlines()) == {f"webseam: {refused['error']['message']}"}


async def test_a_client_may_leave_while_settings_are_broken(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[search]\nordr = 1\n")
    async with served(env={"WEBSEAM_CONFIG_DIR": str(tmp_path)}) as peer:
        await peer.send(*LISTED, INITIALIZED)
        assert (await peer.ask(call(2, "web_search", query="words")))["error"]["code"] == -32603
        assert await peer.leave() == 0
