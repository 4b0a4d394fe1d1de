"""Real coding agents, given our tools by `webseam setup`: what reaches the model is what our server said.

Run by scripts/test-agents, which installs the agents. Everything is on loopback: the model is a script, the web two
pages. What each client does to a result, and how much of one it lets through, stands in tests/agents/clients.py; for
people, in docs/agents.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.clients import CLIENTS, ROOT, SERVER, Client, run
from tests.agents.expected import said
from tests.agents.model import DONE
from tests.agents.play import TRANSPORTS, Played, Transport, environment_of, play, set_up, webseam
from tests.agents.table import FIRST, arrived
from tests.agents.web import CODE, GONE, INJECTED, PASSAGE
from webseam.fronts.mcp.words import INSTRUCTIONS
from webseam.tools.definitions import TOOLS

NOWHERE = "http://127.0.0.1:9"
each_client = pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS])
each_transport = pytest.mark.parametrize("transport", TRANSPORTS)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Client, Transport], Played]:
    """The ordinary run of a client, which several tests look at."""
    runs: dict[tuple[str, Transport], Played] = {}

    def once(client: Client, transport: Transport) -> Played:
        if (client.name, transport) not in runs:
            home = tmp_path_factory.mktemp(f"{client.name}-{transport}")
            runs[client.name, transport] = play(client, transport, home, first=FIRST)
        return runs[client.name, transport]

    return once


@each_transport
@each_client
def test_an_agent_searches_then_reads_and_our_markdown_reaches_its_model(
    client: Client, transport: Transport, played: Callable[[Client, Transport], Played]
) -> None:
    run = played(client, transport)
    assert run.ran.code == 0, str(run.ran)
    assert arrived(run, said(FIRST)) == "hits: our Markdown, whole; page: our Markdown, whole", run.texts
    assert all(part in run.texts[1] for part in (PASSAGE, CODE, INJECTED))
    assert [result.is_error for result in run.model.results] == [False, False]
    assert [result.tool for result in run.model.results] == [
        client.calls_it,
        client.calls_it.replace("web_search", "web_fetch"),
    ]
    assert {seen.wire for seen in run.model.seen} == {client.wire}
    assert run.asked == ("/search", "/widgets.html")
    assert DONE in run.ran.out  # the person gets the model's answer


@each_client
def test_the_model_is_offered_our_tools_and_told_what_the_server_says_of_itself(
    client: Client, played: Callable[[Client, Transport], Played]
) -> None:
    model = played(client, "stdio").model
    for tool in TOOLS:
        offered = model.offered(tool.name)
        shown = {**tool.parameters, "properties": client.shown(tool.parameters["properties"])}
        assert (offered.description, offered.parameters) == (tool.description, shown)
    assert model.had_to_look_for_tools is client.looks
    read = json.dumps([seen.body for seen in model.seen])
    words = [INSTRUCTIONS[:length] for length in range(1, len(INSTRUCTIONS) + 1)]
    assert sum(word in read for word in words) >= (len(words) if client.told is None else client.told)


@each_client
def test_a_result_as_long_as_the_client_allows_reaches_the_model_whole(client: Client, tmp_path: Path) -> None:
    _, tokens = client.most
    expected = said("handbook.html", max_tokens=tokens)
    run = play(client, "stdio", tmp_path, first="handbook.html", max_tokens=tokens)
    assert "\nNext cursor: " in expected[1]  # the page is longer than that
    assert arrived(run, expected) == "hits: our Markdown, whole; page: our Markdown, whole", run.texts[1][:1000]


@each_client
def test_a_failure_reaches_the_model_with_its_outcome_and_the_next_step(client: Client, tmp_path: Path) -> None:
    _, failed = said(GONE)
    run = play(client, "stdio", tmp_path, first=GONE)
    assert failed.startswith("not_found: ")
    assert json.dumps(failed.strip())[1:-1] in run.texts[1] or failed.strip() in run.texts[1], run.texts[1]


@pytest.mark.parametrize("client", [pytest.param(client, id=client.name) for client in CLIENTS if client.adds])
def test_an_argument_that_the_client_invents_spoils_no_call(client: Client, tmp_path: Path) -> None:
    run = play(client, "stdio", tmp_path, first=FIRST, **client.adds)
    assert arrived(run, said(FIRST)) == "hits: our Markdown, whole; page: our Markdown, whole", run.texts


@each_client
def test_what_the_object_beside_the_text_does_to_a_result(client: Client, tmp_path: Path) -> None:
    run = play(client, "stdio", tmp_path, structured=True)
    framed = ["UNTRUSTED WEB CONTENT" in run.texts[1], '"markdown":' in run.texts[1]]
    assert framed == {"text": [True, False], "object": [False, True], "both": [True, True]}[client.structured]


@each_client
def test_a_client_lists_what_setup_gave_it_until_it_is_taken_away(client: Client, tmp_path: Path) -> None:
    client.prepare(tmp_path, NOWHERE)
    before = files(tmp_path)
    set_up(client, tmp_path)
    assert files(tmp_path) != before
    listed = client.run(client.listing, home=tmp_path, model=NOWHERE)
    assert re.search(client.listed, listed.out + listed.err), str(listed)
    listing = files(tmp_path)
    set_up(client, tmp_path)
    assert files(tmp_path) == listing
    removed = run(webseam("setup", client.name, "--yes", "--remove"), environment_of(tmp_path), tmp_path)
    assert removed.code == 0, str(removed)
    listed = client.run(client.listing, home=tmp_path, model=NOWHERE)
    assert SERVER not in listed.out + listed.err, str(listed)


def files(home: Path) -> dict[str, bytes]:
    """Return every file below a home but those of caches."""
    every = (path for path in home.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path.relative_to(home)): path.read_bytes() for path in every}


@each_client
def test_the_documentation_tells_the_version_that_is_tested(client: Client) -> None:
    told = (ROOT / "docs" / "agents.md").read_text("utf-8")
    for transport in TRANSPORTS:
        assert f"| {client.label} | {client.version()} | {transport} |" in told
