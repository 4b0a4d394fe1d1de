"""Row 85: a key never shows, whatever the other side does with it.

A canary stands in every key setting of every provider, and services send it back in every spelling: in the words of
their errors, in names, pages, headers and redirects. It must not be in anything that leaves the library, the command
line, or stays in the shared state.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.world import webseam_command
from tests.search.world import Fakes, fakes, found
from tests.world import Connection, Recorded, World
from webseam import AsyncWeb, WebSeamError, providers
from webseam.model import as_json
from webseam.providers import section_of

CANARY = "kQ7vX2-mZ9_pL4+tR8/wB3.nH6~cJ5=dF1gY0sA"
USER = "operator"
PART = 12  # characters; that many in a row are no accident

KEYED = [name for name in providers.ids() if providers.get(name).key != "none"]


def spellings(text: str) -> Iterator[str]:
    """Yield what a text looks like on its way: as it is, percent-encoded, in JSON, and inside base64."""
    yield text
    yield quote(text, safe="")
    yield re.sub("%..", lambda escape: escape[0].lower(), quote(text, safe=""))
    yield quote(quote(text, safe=""), safe="")
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    for before in ("", ":", f"{USER}:", "xy"):
        yield base64.b64encode(f"{before}{text}".encode()).decode()
        yield base64.urlsafe_b64encode(f"{before}{text}".encode()).decode()


ECHO = " ; ".join(spellings(CANARY))


def windows(text: str) -> Iterator[str]:
    return (text[at : at + PART] for at in range(len(text) - PART + 1))


# Without what the base64 of the user name alone looks like, which is no secret.
MARKS = {window for spelling in spellings(CANARY) for window in windows(spelling)}
MARKS -= set(windows(base64.b64encode(f"{USER}:".encode()).decode()))


def leaks(*texts: str) -> list[str]:
    """Return every part of the canary, in any spelling, that the texts hold."""
    return sorted({window for text in texts for window in windows(text) if window in MARKS})


def canaries() -> dict[str, str]:
    """Return variables that put the canary into every secret setting of every provider."""
    found = {}
    for name in providers.ids():
        provider = providers.get(name)
        for setting in provider.schema():
            if setting.secret:
                found[f"WEBSEAM_{section_of(name)}_{setting.name}".upper()] = CANARY
        for variable in provider.key_env:
            found[variable] = CANARY
    found["SEARXNG_USERNAME"] = USER
    return found


def environment(services: Fakes, name: str) -> dict[str, str]:
    return {**os.environ, **services.environment(name, keys=False), **canaries(), "WEBSEAM_STATE_ENABLED": "true"}


def state_holds() -> str:
    folder = Path(os.environ["WEBSEAM_STATE_DIR"])
    return "\n".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def page(text: str) -> tuple[int, dict[str, str], str]:
    return 200, {"Content-Type": "text/html"}, f"<html><title>{text}</title><body>{text} captcha</body></html>"


ANSWERS: dict[str, Any] = {
    "ok": found("x"),
    "empty": (200, {}, {"results": []}),
    "filtered": (200, {}, {"results": [{"url": f"javascript:{CANARY}"}]}),
    "auth": (401, {}, {"error": f"invalid api key {ECHO}"}),
    "auth, in a list": (401, {}, {"detail": [{"msg": f"header x-api-key was {ECHO}"}]}),
    "quota": (403, {}, {"error": {"message": f"out of credits for {ECHO}"}}),
    "rate_limited": (429, {"Retry-After": ECHO[:200]}, {"message": f"rate limit of {ECHO}"}),
    "blocked": page(ECHO),
    "upstream": (500, {"X-Debug": CANARY}, f"Traceback: headers = {{'x-api-key': '{CANARY}'}} {ECHO}"),
    "unsupported": (400, {}, {"detail": {"error": f"unsupported parameter {ECHO}"}, "error": f"unsupported {ECHO}"}),
    "a web page": (200, {"Content-Type": "text/html"}, f"<title>{ECHO}</title>welcome {ECHO}"),
    "not JSON": (200, {}, f"{ECHO} is not JSON"),
    "half of it": (200, {}, '{"results": [{"url": "' + CANARY),
    "wrong shape": (200, {}, {CANARY: 1, quote(CANARY, safe=""): 2, "key": CANARY}),
    "error in 200": (200, {}, {"error": {"message": ECHO, "code": CANARY}}),
    "redirect": (302, {"Location": f"https://elsewhere.example/?api_key={CANARY}"}, ""),
    "redirect to a name": (302, {"Location": f"https://{CANARY[:6]}.example/{quote(CANARY)}"}, ""),
    "strange status": (418, {}, f"teapot {ECHO}"),
}


async def hang(connection: Connection) -> None:
    await connection.request()
    await connection.until_gone()


def status_line(text: str) -> Callable[[Connection], Any]:
    async def play(connection: Connection) -> None:
        await connection.request()
        await connection.send(f"HTTP/1.1 abc {text}\r\nX {text}\r\n\r\n".encode())

    return play


def told_by(value: Any) -> list[str]:
    """Return everything a program or a log could make of a response or an error."""
    if not isinstance(value, WebSeamError):
        return [repr(value), str(as_json(value))]
    spoken = [repr(value), str(value), repr(value.args), value.detail, value.hint or "", repr(value.attempts)]
    return [*spoken, repr(vars(value)), "".join(traceback.format_exception(value))]


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("what", ANSWERS)
async def test_no_answer_makes_a_key_show_in_the_library(name: str, what: str) -> None:
    async with World() as world:
        services = fakes(world, **{name: ANSWERS[what]})
        told: list[str] = []
        async with AsyncWeb(environment=environment(services, name), warn=told.append) as web:
            for words in ("words", "other words"):  # the second may be refused because of the first
                try:
                    told += told_by(await web.search(words, provider=name, after="2024-01-01"))
                except WebSeamError as error:
                    told += told_by(error)
            told += [repr(web.plan(name)), repr(web.provider_states()), repr(web.settings())]
            told += [repr(vars(web)), repr(await web.diagnose(name))]
        assert CANARY in "".join(map(sent, services.site.requests)) or USER in "".join(
            map(sent, services.site.requests)
        )
    assert leaks(*told, state_holds()) == []


def sent(request: Recorded) -> str:
    decoded = [base64.b64decode(value[6:]).decode() for value in request.headers.values() if value.startswith("Basic ")]
    return " ".join([*request.headers.values(), *decoded])


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("what", ["hangs", "is closed", "speaks nonsense", "is refused"])
async def test_no_broken_connection_makes_a_key_show(name: str, what: str) -> None:
    async with World() as world:
        services = fakes(world)
        places: dict[str, Callable[[], str]] = {
            "hangs": lambda: world.serve(hang),
            "is closed": world.closed_port,
            "speaks nonsense": lambda: world.serve(status_line(ECHO)),
            "is refused": lambda: "http://169.254.169.254",
        }
        variables = environment(services, name)
        variables[f"WEBSEAM_{section_of(name).upper()}_BASE_URL"] = places[what]()
        told: list[str] = []
        async with AsyncWeb(environment=variables, warn=told.append) as web:
            try:
                told += told_by(await web.search("words", provider=name, timeout=1.0))
            except WebSeamError as error:
                told += told_by(error)
    assert leaks(*told, state_holds()) == []


async def commands(services: Fakes, *lines: list[str], variables: dict[str, str]) -> list[str]:
    runs = await asyncio.gather(*(webseam_command(*line, env=variables) for line in lines))
    assert not [run.err for run in runs if "Traceback (most" in run.err]
    return [text for run in runs for text in (run.out, run.err)]


@pytest.mark.parametrize(
    "what", ["ok", "auth", "quota", "rate_limited", "blocked", "upstream", "unsupported", "wrong shape", "redirect"]
)
async def test_no_answer_makes_a_key_show_on_the_command_line(what: str) -> None:
    name = "tavily"
    async with World() as world:
        services = fakes(world, **{name: ANSWERS[what]})
        variables = environment(services, name)
        told = await commands(
            services,
            ["search", "q", "-p", name],
            ["search", "q2", "-p", name, "--json"],
            ["doctor", name],
            variables=variables,
        )
        told += await commands(services, ["status", "--json"], variables=variables)
    assert leaks(*told, state_holds()) == []


async def test_no_command_that_speaks_of_keys_shows_one() -> None:
    variables = {**os.environ, **canaries()}
    async with World() as world:
        told = await commands(
            fakes(world),
            ["key", "list"],
            ["config", "get"],
            ["config", "get", "exa.api_key"],
            ["config", "get", "searxng.password"],
            ["config", "set", "exa.api_key", CANARY],
            ["config", "set", "searxng.password", CANARY],
            ["key", "set", "exa", CANARY],
            ["providers", "--json"],
            ["status", "--json"],
            ["use"],
            variables=variables,
        )
    assert leaks(*told) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'[exa]\napi_key = "{CANARY} with words"\n', id="with spaces"),
        pytest.param(f'[exa]\napi_key = ["{CANARY}"]\n', id="a list"),
        pytest.param(f'[searxng]\npassword = {{ "{CANARY}" = 1 }}\n', id="a table"),
        pytest.param(f"[exa]\napi_key = {CANARY}\n", id="without quotation marks"),
        pytest.param(f'[exa]\napikey = "{CANARY}"\n', id="under a misspelt name"),
        pytest.param(f'[exxa]\napi_key = "{CANARY}"\n', id="in a misspelt section"),
        pytest.param(f'[exa]\nbase_url = "https://user:{quote(CANARY, safe="")}@example.org"\n', id="in an address"),
        pytest.param(f'[net]\nproxy = "socks4://user:{quote(CANARY, safe="")}@example.org"\n', id="in a proxy"),
    ],
)
async def test_a_key_that_stands_in_the_wrong_place_does_not_show(text: str) -> None:
    write_settings(text)
    async with World() as world:
        told = await commands(
            fakes(world),
            ["search", "q", "-p", "exa", "--json"],
            ["doctor", "exa"],
            ["config", "get"],
            variables=dict(os.environ),
        )
        assert world.connections == []
    assert leaks(*told) == []


def write_settings(text: str) -> None:
    path = Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_canary_is_found_where_it_is() -> None:
    for spelling in spellings(CANARY):
        assert leaks(f"before {spelling} after") != []
    assert leaks("nothing to see", base64.b64encode(b"operator:another").decode()) == []
