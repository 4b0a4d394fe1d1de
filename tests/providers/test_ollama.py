"""Ollama: the user's own server first and without any key, then ollama.com with one."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, Answer, Fake, Told, search
from tests.wire.write import JSON, results
from tests.world import World
from webseam import providers
from webseam.config import Settings
from webseam.errors import Outcome
from webseam.providers.setup import places
from webseam.secrets import SavedKeys
from webseam.web import AsyncWeb

FOUND = results("ollama", [{"url": "https://example.org/", "title": "Home"}])
NOTHING = results("ollama", [])


def error(status: int, words: str) -> Answer:
    return status, JSON, json.dumps({"error": words}).encode()


def asked_at(**variables: str) -> list[tuple[str, str]]:
    """Where a search would go with these variables set: (route, base URL)."""
    found = places(providers.get("ollama"), Settings(variables), SavedKeys({"WEBSEAM_CONFIG_DIR": "/nonexistent"}))
    return [(one.route, one.base_url) for one in found]


async def both(local: Answer, hosted: Answer = FOUND, **settings: Any) -> tuple[Told, Fake, Fake]:
    """Search with a server of one's own and a key."""
    async with World() as world:
        own, cloud = Fake(world, local), Fake(world, hosted)
        told = await search("ollama", cloud.url, settings={"local_url": own.url, **settings})
    return told, own, cloud


async def test_the_own_server_is_asked_first_and_gets_no_key() -> None:
    told, own, cloud = await both(FOUND)
    assert ([hit.url for hit in told.hits], told.attempt.cost) == (["https://example.org/"], 0.0)
    (request,) = own.requests
    assert (request.method, request.path, request.json()) == (
        "POST",
        "/api/experimental/web_search",
        {"query": QUERY, "max_results": 10},
    )
    assert "authorization" not in request.headers
    assert KEY not in f"{request.fields} {request.target} {request.body!r}"
    assert cloud.requests == []


async def test_an_answer_without_hits_goes_on_to_the_hosted_search_with_the_key() -> None:
    told, own, cloud = await both(NOTHING)
    assert ([hit.url for hit in told.hits], len(own.requests)) == (["https://example.org/"], 1)
    (request,) = cloud.requests
    assert (request.path, request.headers["authorization"]) == ("/api/web_search", f"Bearer {KEY}")
    assert [attempt.outcome for attempt in told.attempts] == [Outcome.EMPTY, Outcome.OK]


@pytest.mark.parametrize(
    "local, outcome, detail",
    [
        pytest.param(
            error(404, "404 page not found"), Outcome.UNAVAILABLE, "HTTP 404: 404 page not found", id="old-version"
        ),
        pytest.param(error(401, "unauthorized"), Outcome.AUTH, "HTTP 401: unauthorized", id="401"),
        pytest.param(error(400, "please sign in first"), Outcome.AUTH, "HTTP 400: please sign in first", id="sign-in"),
        pytest.param(
            error(403, "ollama cloud is disabled: web search is unavailable"),
            Outcome.UNAVAILABLE,
            "HTTP 403: ollama cloud is disabled: web search is unavailable",
            id="cloud-disabled",
        ),
        pytest.param(error(429, "slow down"), Outcome.RATE_LIMITED, "HTTP 429: slow down", id="429"),
        pytest.param(
            (200, JSON, b"{}"), Outcome.BAD_RESPONSE, "the answer has no results (it holds: )", id="another-program"
        ),
    ],
)
async def test_what_the_own_server_refuses_the_hosted_search_is_asked(
    local: Answer, outcome: Outcome, detail: str
) -> None:
    told, _, cloud = await both(local)
    assert (told.outcome, len(cloud.requests)) == (Outcome.OK, 1)
    assert [(attempt.provider, attempt.outcome, attempt.detail) for attempt in told.attempts] == [
        ("ollama", outcome, f"local route: {detail}"),
        ("ollama", Outcome.OK, "hosted route"),
    ]


@pytest.mark.parametrize(
    "local, hint",
    [
        pytest.param(error(404, "not found"), "this Ollama has no web search: update it", id="old-version"),
        pytest.param(error(401, "unauthorized"), "run: ollama signin", id="signed-out"),
    ],
)
async def test_what_to_do_about_the_own_server_is_said(local: Answer, hint: str) -> None:
    told, _, cloud = await both(local, route="local")
    assert (told.hint, cloud.requests) == (hint, [])


async def test_a_server_that_is_not_running_is_an_attempt_of_its_own() -> None:
    async with World() as world:
        cloud = Fake(world, FOUND)
        told = await search("ollama", cloud.url, settings={"local_url": world.closed_port()})
    assert [attempt.outcome for attempt in told.attempts] == [Outcome.NETWORK, Outcome.OK]
    assert str(told.attempts[0].detail).startswith("local route: ")


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("http://", id="no-host"),
        pytest.param("ftp://gpu.example", id="scheme"),
        pytest.param("http://gpu.example:99999", id="port"),
        pytest.param("http://[::1", id="bracket"),
        pytest.param("http://user:planted-password@gpu.example", id="credentials"),
        pytest.param("http://gpu.example/?q=1", id="query"),
        pytest.param("gpu example", id="space"),
    ],
)
async def test_a_malformed_address_is_an_attempt_of_its_own_too(address: str) -> None:
    async with World() as world:
        cloud = Fake(world, FOUND)
        told = await search("ollama", cloud.url, settings={"local_url": address})
        alone = await search("ollama", cloud.url, settings={"local_url": address, "api_key": None})
    detail = "local route: the address of your server (ollama.local_url, OLLAMA_HOST) is not an http or https URL"
    assert {attempt.detail: attempt.outcome for attempt in told.attempts} == {
        detail: Outcome.UNAVAILABLE,
        "hosted route": "ok",
    }
    assert (alone.outcome, alone.attempt.detail) == (Outcome.UNAVAILABLE, detail)
    assert len(cloud.requests) == 1


@pytest.mark.parametrize("route, asked", [("auto", (1, 1)), ("local", (1, 0)), ("hosted", (0, 1))])
async def test_the_route_can_be_set(route: str, asked: tuple[int, int]) -> None:
    _, own, cloud = await both(NOTHING, route=route)
    assert (len(own.requests), len(cloud.requests)) == asked


async def test_without_a_key_the_own_server_is_asked_alone() -> None:
    told, own, cloud = await both(NOTHING, api_key=None)
    assert (told.outcome, len(told.attempts), len(own.requests), cloud.requests) == (Outcome.EMPTY, 1, 1, [])


async def test_with_neither_key_nor_server_nothing_is_sent() -> None:
    async with World() as world:
        cloud = Fake(world, FOUND)
        told = await search("ollama", cloud.url, settings={"api_key": None})
    assert (told.outcome, cloud.requests) == (Outcome.UNAVAILABLE, [])
    assert told.attempt.detail == "no key (OLLAMA_API_KEY), and no server of your own (OLLAMA_HOST)"


LOCAL_ALONE = [("local", "http://127.0.0.1:11434")]
HOSTED_ALONE = [("", "https://ollama.com")]
BOTH = [("local", "http://127.0.0.1:11434"), ("hosted", "https://ollama.com")]


@pytest.mark.parametrize(
    "variables, asked",
    [
        pytest.param({}, HOSTED_ALONE, id="nothing"),
        pytest.param({"WEBSEAM_OLLAMA_ROUTE": "local"}, LOCAL_ALONE, id="local-without-an-address"),
        pytest.param({"OLLAMA_HOST": "0.0.0.0", "OLLAMA_API_KEY": "k"}, BOTH, id="host-and-key"),
        pytest.param({"OLLAMA_HOST": "undefined"}, HOSTED_ALONE, id="undefined"),
        pytest.param(
            {"WEBSEAM_OLLAMA_LOCAL_URL": "a", "OLLAMA_BASE_URL": "b", "OLLAMA_HOST": "c"},
            [("local", "http://a:11434")],
            id="ours-first",
        ),
        pytest.param({"OLLAMA_BASE_URL": "b", "OLLAMA_HOST": "c"}, [("local", "http://b:11434")], id="base-url-first"),
        pytest.param({"OLLAMA_HOST": "https://ollama.com"}, HOSTED_ALONE, id="ollama-com-is-no-own-server"),
        pytest.param({"OLLAMA_HOST": "api.ollama.com:443"}, HOSTED_ALONE, id="nor-a-name-below-it"),
        pytest.param({"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}, LOCAL_ALONE, id="openai-with-the-port"),
        pytest.param({"OPENAI_API_BASE": "http://ollama/v1"}, [("local", "http://ollama")], id="openai-with-the-name"),
        pytest.param(
            {"OPENAI_BASE_URL": "https://ollama.lan.example"}, [("local", "https://ollama.lan.example")], id="label"
        ),
        pytest.param({"OPENAI_BASE_URL": "https://api.openai.com/v1"}, HOSTED_ALONE, id="openai-itself"),
        pytest.param({"OPENAI_BASE_URL": "https://notollama.example/v1"}, HOSTED_ALONE, id="part-of-a-label"),
        pytest.param({"OPENAI_BASE_URL": "http://[::1:11434"}, HOSTED_ALONE, id="malformed-and-not-ours"),
        pytest.param(
            {"OPENAI_BASE_URL": "https://api.openai.com/v1", "OPENAI_API_BASE": "http://127.0.0.1:11434"},
            LOCAL_ALONE,
            id="the-second-of-the-two",
        ),
    ],
)
def test_where_a_search_goes_is_read_from_what_users_of_ollama_set(
    variables: dict[str, str], asked: list[tuple[str, str]]
) -> None:
    assert asked_at(**variables) == asked


@pytest.mark.parametrize(
    "written, base_url",
    [
        pytest.param("gpu.example", "http://gpu.example:11434", id="name"),
        pytest.param("gpu.example:8080", "http://gpu.example:8080", id="port"),
        pytest.param(":8080", "http://127.0.0.1:8080", id="port-alone"),
        pytest.param("http://gpu.example", "http://gpu.example", id="http"),
        pytest.param("https://gpu.example/", "https://gpu.example", id="https"),
        pytest.param("https://gpu.example:8443/ollama", "https://gpu.example:8443/ollama", id="path"),
        pytest.param("[fd00::1]:8080", "http://[fd00::1]:8080", id="ipv6"),
    ],
)
def test_an_address_is_read_as_ollama_s_own_client_reads_it(written: str, base_url: str) -> None:
    from ollama import Client

    with Client(host=written) as client:
        theirs = urlsplit(str(client._client.base_url).rstrip("/"))
    ours = urlsplit(base_url)
    usual = {"http": 80, "https": 443}[ours.scheme]
    assert (theirs.scheme, theirs.hostname, theirs.port or usual, theirs.path) == (
        ours.scheme,
        ours.hostname,
        ours.port or usual,
        ours.path,
    )
    assert asked_at(OLLAMA_HOST=written) == [("local", base_url)]


@pytest.mark.parametrize(
    "written, base_url",
    [
        pytest.param("0.0.0.0:8080", "http://127.0.0.1:8080", id="everywhere"),
        pytest.param("http://[::]:8080", "http://[::1]:8080", id="everywhere-ipv6"),
        pytest.param("http://gpu.example:8080/v1/", "http://gpu.example:8080", id="openai-path"),
        pytest.param("http://gpu.example/ollama/v1", "http://gpu.example/ollama", id="openai-path-below-another"),
    ],
)
def test_what_a_server_listens_on_and_its_openai_path_are_no_address_to_search_at(written: str, base_url: str) -> None:
    assert asked_at(OLLAMA_HOST=written) == [("local", base_url)]


async def test_who_receives_a_query_depends_on_the_place() -> None:
    variables = {"OLLAMA_API_KEY": KEY, "WEBSEAM_OLLAMA_LOCAL_URL": "http://127.0.0.1:11434"}
    async with AsyncWeb(environment={**os.environ, **variables}) as web:
        found = web.plan("ollama").candidates
    assert [(one.config.route, one.provider.receives) for one in found] == [
        ("local", "your Ollama server, and Ollama (ollama.com), to which it relays"),
        ("hosted", "Ollama (ollama.com)"),
    ]


async def test_with_a_key_alone_nobody_s_own_server_is_named() -> None:
    async with AsyncWeb(environment={**os.environ, "OLLAMA_API_KEY": KEY}) as web:
        (only,) = web.plan("ollama").candidates
    assert (only.config.route, only.provider.receives) == ("", "Ollama (ollama.com)")


def test_both_who_may_receive_a_query_are_named_and_it_never_counts_as_private() -> None:
    ollama = providers.get("ollama")
    assert ollama.receives == "your Ollama server, and Ollama (ollama.com), to which it relays"
    assert ollama.is_private({"route": "local", "local_url": "http://127.0.0.1:11434"}) is False
