"""Row 85: a key never shows, whatever the other side does with it.

Two canaries stand in every secret setting of every provider there is, and services send them back in every spelling: in
the words of their errors, in names, pages, results, headers and redirects. They must not be in anything that leaves the
library or the command line, in what is logged, or in what stays on the disk. No provider is named: the registry says
which settings are secret.
"""

from __future__ import annotations

import asyncio
import base64
import html
import json
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from tests.cli.world import webseam_command
from tests.wire import AUTHENTICATION, NETWORKED, Answer, captured, has_captured, shape
from tests.wire.fake import Fake, environment, without_pauses
from tests.wire.write import HTML, JSON, results, stated
from tests.world import Connection, Recorded, World, repeat, reply
from webseam import AsyncWeb, SearchRequest, WebSeamError, providers
from webseam.config import environment_name
from webseam.model import as_json
from webseam.net.message import Headers, Response
from webseam.providers import section_of
from webseam.providers.base import ProviderConfig, Reply

PLAIN = "Zq7vX2mL9pT4tR8wB3nH6cJ5dF1gY0sAkE3uV8xM"  # 40 letters and digits, as most keys are
ODD = "kQ7&vX2-m\"Z9_pL4+tR8/wB3%nH6~c<5=dF1\\Y0'"  # 40 characters, of which every other spelling differs
KEYS = (PLAIN, ODD)
USER = "operator"
KEYED = [name for name in NETWORKED if providers.get(name).key != "none"]
PART = 8  # characters; that many in a row are no accident


def spellings(text: str) -> Iterator[str]:
    """Yield what a text looks like on its way: as it is, percent-encoded, in JSON, in HTML, and inside base64."""
    yield text
    yield quote(text, safe="")
    yield re.sub("%..", lambda escape: escape[0].lower(), quote(text, safe=""))
    yield quote(quote(text, safe=""), safe="")
    yield json.dumps(text)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    yield html.escape(text)
    for before in ("", ":", f"{USER}:", "xy"):
        yield base64.b64encode(f"{before}{text}".encode()).decode()
        yield base64.urlsafe_b64encode(f"{before}{text}".encode()).decode()


def parts(text: str) -> Iterator[str]:
    """Yield the text in pieces, of which any part twice as long holds one whole; the last piece overlaps."""
    return (text[min(at, len(text) - PART) :][:PART] for at in range(0, len(text), PART))


# Without what the base64 of the user name alone looks like, which is no secret.
MARKS = {part for key in KEYS for spelling in spellings(key) for part in parts(spelling)}
MARKS = {mark for mark in MARKS if mark not in base64.b64encode(f"{USER}:".encode()).decode()}


def leaks(*texts: str) -> list[str]:
    """Return every piece of a canary, in any spelling, that the texts hold."""
    whole = "\n".join(set(texts))
    return sorted(mark for mark in MARKS if mark in whole)


@cache
def canaries(key: str) -> dict[str, str]:
    """Return variables that put a canary into every secret setting of every provider."""
    found = {}
    for name in providers.ids():
        for setting, value in secret_settings(name, key).items():
            found[environment_name(section_of(name), setting)] = value
        found |= dict.fromkeys(providers.get(name).key_env, key)
    return found


def secret_settings(name: str, key: str) -> dict[str, str]:
    """Return a provider's secret settings with a canary in each, and the user name a password belongs to."""
    forms = shape(name).secrets if name in NETWORKED else {}
    settings = providers.get(name).schema()
    spelt = {"{key}": key, "{json}": json.dumps(key)[1:-1]}
    found = {
        one.name: re.sub(r"\{key\}|\{json\}", lambda form: spelt[form[0]], forms.get(one.name, "{key}"))
        for one in settings
        if one.secret
    }
    return found | {one.name: USER for one in settings if one.name == "username"}


def set_up(name: str, url: str, key: str) -> dict[str, str]:
    """Return the environment of a user of one provider who has keys of all."""
    return {**canaries(key), **environment(name, url, secret_settings(name, key)), "WEBSEAM_STATE_ENABLED": "on"}


# What the services do with it.


def echo(key: str) -> str:
    return " ; ".join(spellings(key))


def page(text: str) -> Answer:
    return 200, HTML, f"<html><title>{text}</title><body>{text} captcha</body></html>".encode()


def document(status: int, value: Any, **headers: str) -> Answer:
    return status, {**JSON, **headers}, json.dumps(value).encode()


def in_headers(key: str) -> dict[str, str]:
    return {"X-Debug": key, "Set-Cookie": f"session={quote(key)}", "X-Request-Authorization": f"Bearer {key}"}


def spoilt(key: str) -> list[dict[str, str]]:
    """Return results with a key in each of their fields."""
    return [
        {"url": f"https://example.org/?q={quote(key, safe='')}", "title": f"A page about {key}", "snippet": "Words."},
        {"url": "https://example.org/two", "title": "Two", "snippet": echo(key), "published": key},
    ]


RESULT = {"url": "https://example.org/one", "title": "One", "snippet": "About one."}
ANSWERS: dict[str, Callable[[str, str], Answer]] = {
    "ok": lambda name, key: results(name, [RESULT]),
    "ok, in its headers": lambda name, key: _with(results(name, [RESULT]), in_headers(key)),
    "ok, in its results": lambda name, key: results(name, [RESULT, *spoilt(key)]),
    "empty": lambda name, key: results(name, []),
    "filtered": lambda name, key: results(name, [{"url": f"javascript:{key}", "title": "One"}]),
    "auth": lambda name, key: document(401, {"error": f"invalid api key {echo(key)}"}, **in_headers(key)),
    "auth, in a list": lambda name, key: document(401, {"detail": [{"msg": f"header x-api-key was {echo(key)}"}]}),
    "quota": lambda name, key: document(402, {"message": f"payment required for {echo(key)}"}),
    "quota, forbidden": lambda name, key: document(403, {"error": {"message": f"out of credits for {echo(key)}"}}),
    "rate_limited": lambda name, key: document(
        429, {"message": f"rate limit {key}"}, **{"Retry-After": echo(key)[:200]}
    ),
    "blocked": lambda name, key: page(echo(key)),
    "upstream": lambda name, key: (500, in_headers(key), f"Traceback: {{'x-api-key': '{key}'}} {echo(key)}".encode()),
    "unsupported": lambda name, key: document(400, {"error": f"unsupported parameter {echo(key)}", key: key}),
    "a web page": lambda name, key: (200, HTML, f"<title>{html.escape(key)}</title>welcome {echo(key)}".encode()),
    "not JSON": lambda name, key: (200, JSON, f"{echo(key)} is not JSON".encode()),
    "half of it": lambda name, key: (200, JSON, f'{{"results": [{{"url": "{key}'.encode()),
    "wrong shape": lambda name, key: document(200, {key: 1, quote(key, safe=""): 2, "key": key}),
    "error in 200": lambda name, key: stated(name, {"message": echo(key), "code": key}),
    "redirect": lambda name, key: (302, {"Location": f"https://elsewhere.example/?api_key={quote(key)}"}, b""),
    "redirect to a name": lambda name, key: (307, {"Location": f"https://{key[:3]}.example/{quote(key)}"}, b""),
    "strange status": lambda name, key: (418, {}, f"teapot {echo(key)}".encode()),
}


def _with(answer: Answer, headers: dict[str, str]) -> Answer:
    return answer[0], {**answer[1], **headers}, answer[2]


async def hang(connection: Connection) -> None:
    await connection.request()
    await connection.until_gone()


def broken(key: str) -> dict[str, Callable[[World], str]]:
    """Return places where no answer comes, or half of one."""
    head = f"HTTP/1.1 200 OK\r\nX-Debug: {key}\r\nContent-Length: 9000\r\n\r\n".encode()
    nonsense = f"HTTP/1.1 abc {key}\r\nX {key}\r\n\r\n".encode()
    return {
        "hangs": lambda world: world.serve(hang),
        "trickles": lambda world: world.serve(repeat(head, b" ", pause=0.05)),
        "resets": lambda world: world.serve(reply(then="reset")),
        "resets half-way": lambda world: world.serve(reply(head + key.encode(), then="reset")),
        "speaks nonsense": lambda world: world.serve(reply(nonsense)),
        "is closed": lambda world: world.closed_port(),
        "is refused": lambda world: "http://169.254.169.254",
    }


# Where it must not be.


def told_by(value: Any) -> list[str]:
    """Return everything a program or a log could make of a response or an error."""
    if not isinstance(value, WebSeamError):
        return [repr(value), json.dumps(as_json(value)), json.dumps(as_json(value), ensure_ascii=False)]
    spoken = [repr(value), str(value), repr(value.args), value.detail, value.hint or "", repr(value.attempts)]
    return [*spoken, repr(vars(value)), "".join(traceback.format_exception(value))]


def made_of(config: ProviderConfig, key: str) -> list[str]:
    """Return the reprs of what is made on the way: the configuration, a request, an answer."""
    first = next(providers.get(config.provider).converse(SearchRequest(query="words"), config, Nothing()))
    request = getattr(first, "request", first)
    response = Response(200, Headers([(b"x-debug", key.encode())]), request.url, key.encode())
    return [repr(config), repr(first), repr(request), repr(response), repr(Reply(response, str, request))]


class Nothing:
    """A memory of which nothing is ever read again."""

    def get(self, name: str) -> dict[str, Any] | None:
        return None

    def set(self, name: str, value: dict[str, Any], *, ttl: float) -> None:
        assert leaks(name, json.dumps(value)) == []

    def delete(self, name: str) -> None:
        return None


def kept() -> str:
    """Return the raw bytes of every file that was written."""
    folders = [Path(os.environ[f"WEBSEAM_{kind}_DIR"]) for kind in ("STATE", "CACHE", "CONFIG")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode("latin-1") for path in files)


@pytest.fixture(autouse=True)
def _spoken(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> Iterator[None]:
    """Look at all that was logged, at any level by anybody, and printed in this process; and do not wait for turns."""
    without_pauses(monkeypatch)
    caplog.set_level(logging.DEBUG)
    yield
    printed = capsys.readouterr()
    logged = [f"{record.getMessage()} {record.exc_text}" for record in caplog.get_records("call")]
    assert leaks(printed.out, printed.err, *logged) == []


async def search_and_look(variables: dict[str, str], name: str, key: str, *queries: str, timeout: float) -> list[str]:
    """Search, and return all that the library tells about it."""
    told: list[str] = []
    async with AsyncWeb(environment=variables, warn=told.append) as web:
        for words in queries:
            try:
                told += told_by(await web.search(words, provider=name, after="2024-01-01", timeout=timeout))
            except WebSeamError as error:
                told += told_by(error)
        plan = web.plan(name)
        told += [repr(plan), repr(web.provider_states()), repr(web.settings()), repr(vars(web))]
        told += [text for candidate in plan.candidates for text in made_of(candidate.config, key)]
    return told


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("what", ANSWERS)
async def test_no_answer_makes_a_key_show_in_the_library(name: str, what: str) -> None:
    async def told(world: World, key: str) -> list[str]:
        fake = Fake(world, ANSWERS[what](name, key))
        # The second search may be refused because of the first.
        told = await search_and_look(set_up(name, fake.url, key), name, key, "words", "other words", timeout=5.0)
        assert key in "".join(map(sent, fake.requests))
        return told

    async with World() as world:
        plain, odd = await asyncio.gather(*(told(world, key) for key in KEYS))
    assert leaks(*plain, *odd, kept()) == []


def sent(request: Recorded) -> str:
    """All of a request that may hold a key, as the service reads it."""
    decoded = [base64.b64decode(value[6:]).decode() for value in request.headers.values() if value.startswith("Basic ")]
    return " ".join([*request.headers.values(), *decoded, unquote(request.target), request.body.decode()])


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("what", broken(""))
async def test_no_broken_connection_makes_a_key_show(name: str, what: str) -> None:
    async def told(world: World, key: str) -> list[str]:
        variables = set_up(name, broken(key)[what](world), key)
        return await search_and_look(variables, name, key, "words", timeout=0.3)

    async with World() as world:
        plain, odd = await asyncio.gather(*(told(world, key) for key in KEYS))
    assert leaks(*plain, *odd, kept()) == []


@pytest.mark.parametrize("name", [name for name in NETWORKED if name not in KEYED])
async def test_a_service_that_takes_no_key_is_sent_none_though_there_are_some(name: str) -> None:
    async with World() as world:
        fake = Fake(world, results(name, [RESULT]))
        told = await search_and_look(set_up(name, fake.url, PLAIN), name, "", "words", timeout=5.0)
    assert fake.requests
    assert leaks(*told, *map(sent, [*fake.requests, *fake.handshakes]), kept()) == []


@pytest.mark.parametrize("name", KEYED)
async def test_a_diagnosis_shows_no_key(name: str) -> None:
    async with World() as world:
        fake = Fake(world, ANSWERS["auth"](name, ODD))
        async with AsyncWeb(environment=set_up(name, fake.url, ODD)) as web:
            diagnosis = await web.diagnose(name)
    assert leaks(repr(diagnosis), str(as_json(diagnosis)), kept()) == []


# The command line, in processes of its own: a provider that sends its key in a header, and one in the address.

BY_HEADER = next(name for name in KEYED if not providers.get(name).key_in_url)
BY_ADDRESS = next(name for name in KEYED if providers.get(name).key_in_url)


async def commands(*lines: list[str], variables: dict[str, str]) -> list[str]:
    runs = await asyncio.gather(*(webseam_command(*line, env=variables) for line in lines))
    assert not [run.err for run in runs if "Traceback (most" in run.err]
    return [text for run in runs for text in (run.out, run.err)]


@pytest.mark.parametrize(
    "name, what",
    [
        (BY_HEADER, "auth"),
        (BY_HEADER, "blocked"),
        (BY_HEADER, "redirect"),
        (BY_ADDRESS, "ok"),
        (BY_ADDRESS, "upstream"),
    ],
)
async def test_no_answer_makes_a_key_show_on_the_command_line(name: str, what: str) -> None:
    async with World() as world:
        fake = Fake(world, ANSWERS[what](name, ODD))
        variables = set_up(name, fake.url, ODD)
        told = await commands(["search", "q", "-p", name], ["search", "q2", "-p", name, "--json"], variables=variables)
        told += await commands(["doctor", name], ["status", "--json"], variables=variables)
    assert leaks(*told, kept()) == []


async def test_no_command_that_speaks_of_keys_shows_one() -> None:
    told = await commands(
        ["key", "list"],
        ["config", "get"],
        ["config", "get", "exa.api_key"],
        ["config", "get", "searxng.password"],
        ["config", "set", "exa.api_key", ODD],
        ["config", "set", "searxng.password", ODD],
        ["key", "set", "exa", ODD],
        ["providers", "--json"],
        ["status", "--json"],
        ["use"],
        variables={**os.environ, **canaries(ODD)},
    )
    assert leaks(*told) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'[exa]\napi_key = "{PLAIN} with words"\n', id="with spaces"),
        pytest.param(f'[exa]\napi_key = ["{PLAIN}"]\n', id="a list"),
        pytest.param(f'[searxng]\npassword = {{ "{PLAIN}" = 1 }}\n', id="a table"),
        pytest.param(f"[exa]\napi_key = {PLAIN}\n", id="without quotation marks"),
        pytest.param(f'[exa]\napikey = "{PLAIN}"\n', id="under a misspelt name"),
        pytest.param(f'[exxa]\napi_key = "{PLAIN}"\n', id="in a misspelt section"),
        pytest.param(f'[exa]\nbase_url = "https://user:{quote(ODD, safe="")}@example.org"\n', id="in an address"),
        pytest.param(f'[net]\nproxy = "socks4://user:{quote(ODD, safe="")}@example.org"\n', id="in a proxy"),
    ],
)
async def test_a_key_that_stands_in_the_wrong_place_does_not_show(text: str) -> None:
    write_settings(text)
    async with World() as world:
        told = await commands(
            ["search", "q", "-p", "exa", "--json"], ["doctor", "exa"], ["config", "get"], variables=dict(os.environ)
        )
        assert world.connections == []
    assert leaks(*told) == []


def write_settings(text: str) -> None:
    path = Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# That this test sees what it looks for.


@pytest.mark.parametrize("key", KEYS, ids=["plain", "odd"])
def test_the_canary_is_found_where_it_is(key: str) -> None:
    assert len(key) == 40
    for spelling in spellings(key):
        assert leaks(f"before {spelling} after") != []
    for spelling in (key, quote(key, safe=""), base64.b64encode(key.encode()).decode()):
        for at in range(len(spelling) - 2 * PART):
            assert leaks(f"…{spelling[at:][: 2 * PART]}…") != []
    assert leaks("nothing to see", base64.b64encode(b"operator:another").decode()) == []


def test_a_canary_stands_in_every_secret_setting_there_is() -> None:
    planted = canaries(PLAIN)
    for name in providers.ids():
        for setting in providers.get(name).schema():
            if setting.secret:
                assert PLAIN in planted[environment_name(section_of(name), setting.name)]


@pytest.mark.parametrize("name", [name for name in NETWORKED if has_captured(name)])
def test_what_was_captured_holds_made_up_keys_only(name: str) -> None:
    request = captured(name)["request"]
    secret = [value for field, value in request["headers"].items() if field.lower() in AUTHENTICATION]
    secret += [value for field, value in request["query"].items() if "key" in field]
    assert [value for value in secret if "EXAMPLE" not in value] == []
