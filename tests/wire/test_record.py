"""Recording, against services on loopback that behave as live ones do: they repeat the key, set cookies, name names."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

import tests.wire
from tests.wire import FOLDER, QUERY, Answer, case, names
from tests.wire.fake import FORGETFUL, Fake, play
from tests.wire.leaks import in_folder
from tests.wire.record import main, parser, record
from tests.wire.tape import NOTHING, made_up
from tests.world import Recorded, World
from webseam import providers
from webseam.config import environment_name
from webseam.providers import section_of

KEY = "tvly-Zq7Rk2Vx9/Lm4+Tn8Wb3Yc6Pd5Hs1Gf0"
COOKIE = "c0f3a9b27d5e4816"
REQUEST_ID, TRACE = "9b2f0c1e-5a77-4c1d-8f3e-2a6b9d0c4e51", "4bf92f3577b34da6a3ce929d0e0e4736"
ACCOUNT, ORGANISATION, NUMBER = "Wintermute Instruments", "org_9fK2mQx7Lp", 482133771
EMAIL, PHONE, V4, V6 = "jane.doe@wintermute.io", "+49 30 90182015", "81.2.69.142", "2a02:8108:9c0:1f2e::7"
SIGNATURE = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
SIGNED = f"https://cdn.real-pictures.com/x.png?X-Amz-Credential=AKIAQ7RK2VX9LM4TN8WB&X-Amz-Signature={SIGNATURE}"
QUESTION = "wintermute quarterly numbers"
PRIVATE = (
    *(KEY, COOKIE, REQUEST_ID, TRACE, ACCOUNT, ORGANISATION, str(NUMBER), EMAIL, PHONE, V4, V6, SIGNATURE, QUESTION),
    *(
        "Wintermute",
        "wintermute",
        "jane.doe",
        "AKIAQ7RK2VX9LM4TN8WB",
        "real-pictures",
        "python.org",
        "Learning",
        "Ada Byron",
    ),
)
HEADERS = {
    "Content-Type": "application/json",
    "Date": "Tue, 03 Feb 2026 10:00:00 GMT",
    "Set-Cookie": f"sid={COOKIE}; Path=/; HttpOnly",
    "X-Request-Id": REQUEST_ID,
    "Traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
    "X-Client-Ip": V4,
    "X-Key": KEY,
    "X-RateLimit-Remaining": "14",
}
# What a service may say of the person who asks, in every spelling it may choose.
ABOUT = {
    "request_id": REQUEST_ID,
    "message": f"Key {KEY} of {ACCOUNT} ({EMAIL}, {PHONE}), session {COOKIE}, from {V4} / {V6}, trace {TRACE}",
    "account": {"name": ACCOUNT, "id": NUMBER, "organization": ORGANISATION},
    "spelled": [quote(KEY, safe=""), quote_plus(f"/search?key={KEY}&q={QUESTION}"), json.dumps({"key": KEY})],
    "encoded": base64.b64encode(f"{EMAIL}:{KEY}".encode()).decode(),
    "image": SIGNED,
}
PAGES = [
    {"url": f"https://docs.python.org/3/{name}.html", "title": f"Learning <b>{name}</b>", "by": "Ada Byron"}
    for name in ("json", "re", "shutil")
]


def _answer(document: Any, status: int = 200, **headers: str) -> Answer:
    # Escaped as some services do, so that the bytes hold the key in yet another spelling.
    body = json.dumps(document).replace("/", "\\/").replace("+", "\\u002b")
    return status, {**HEADERS, **headers}, body.encode()


def exa_service(request: Recorded) -> Answer:
    if request.headers["x-api-key"] != KEY:
        return _answer(
            {**ABOUT, "error": f"The key {request.headers['x-api-key']} is invalid", "tag": "INVALID_API_KEY"}, 401
        )
    found = [] if request.json()["query"] == NOTHING else PAGES
    results = [
        {
            "id": one["url"], "url": one["url"], "title": one["title"], "author": one["by"],
            "publishedDate": "2026-02-03T00:00:00.000Z", "highlights": [f"Learning {one['title']}, by {one['by']}"],
        }
        for one in found
    ]  # fmt: skip
    return _answer({"requestId": REQUEST_ID, "results": results, "costDollars": {"total": 0.005}, "debug": ABOUT})


def brave_service(request: Recorded) -> Answer:
    key, query = request.headers["x-subscription-token"], request.query["q"][0]
    if key != KEY:
        error = {
            "code": "SUBSCRIPTION_TOKEN_INVALID",
            "detail": f"The token {key} is invalid",
            "status": 422,
            "meta": ABOUT,
        }
        return _answer({"type": "ErrorResponse", "error": error}, 422)
    results = [
        {"title": one["title"], "url": one["url"], "description": one["by"], "age": "3 days ago"} for one in PAGES
    ]
    found = {} if query == NOTHING else {"web": {"type": "search", "results": results}}
    return _answer({"type": "search", "query": {"original": query, "user": ABOUT}, **found})


def serpapi_service(request: Recorded) -> Answer:
    key, query = request.query["api_key"][0], request.query["q"][0]
    if key != KEY:
        return _answer(
            {"error": f"Invalid API key: {key}. Your API key should be here: https://serpapi.com/manage-api-key"}, 401
        )
    archive = f"https://serpapi.com/searches/{TRACE}/{TRACE}.json?api_key={quote_plus(KEY)}"
    document: dict[str, Any] = {
        "search_metadata": {"id": TRACE, "status": "Success", "json_endpoint": archive, "about": ABOUT},
        "search_parameters": {"engine": "google", "q": query},
    }
    if query == NOTHING:
        document["search_information"] = {"organic_results_state": "Fully empty"}
        return _answer({**document, "error": "Google hasn't returned any results for this query."})
    results = [{"position": 1, "title": one["title"], "link": one["url"], "snippet": one["by"]} for one in PAGES]
    return _answer({**document, "organic_results": results})


SERVICES = {"exa": exa_service, "brave": brave_service, "serpapi": serpapi_service}


async def recorded(
    provider: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str, service: Callable[[Recorded], Answer]
) -> tuple[int, str, Fake]:
    """Record against a service; return the exit code, what was said, and the service."""
    async with World() as world:
        fake = Fake(world, service)
        for name, value in _set_up(provider, fake.url).items():
            monkeypatch.setenv(name, value)
        said: list[str] = []
        options = parser().parse_args([provider, "--into", str(folder), *arguments])
        code = await record(options, say=said.append, confirm=lambda _: False)
        return code, "\n".join(said), fake


def _set_up(provider: str, url: str) -> dict[str, str]:
    section = section_of(provider)
    return {environment_name(section, "api_key"): KEY, environment_name(section, "base_url"): url, **FORGETFUL}


def _files(folder: Path) -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in folder.iterdir()}


def _spellings(text: str) -> set[bytes]:
    cores = {base64.b64encode(b"\0" * shift + text.encode())[4 * (shift > 0) : -4].strip(b"=") for shift in range(3)}
    forms = {text, quote(text, safe=""), quote_plus(text)}
    forms |= {form.replace("/", "\\/").replace("+", "\\u002b") for form in forms}
    return {form.encode() for form in forms} | {core for core in cores if len(core) > 10}


@pytest.mark.parametrize("provider", SERVICES)
async def test_nothing_private_is_left_in_cases_recorded_from_a_service_that_tells_all_it_knows(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[Answer] = []

    def service(request: Recorded) -> Answer:
        answered.append(SERVICES[provider](request))
        return answered[-1]

    folder = tmp_path / provider
    asked = ("--query", QUESTION, "--option", "safe=strict")
    code, said, fake = await recorded(provider, folder, monkeypatch, "--yes", *asked, service=service)
    assert code == 0, said
    files = _files(folder)
    assert set(files) == {"ok", "ok_safe", "empty", "auth", "broken"}
    assert [str(leak) for leak in in_folder(folder, provider)] == []
    written = "".join([*files.values(), said]).encode()
    assert "EXAMPLE-KEY" in files["ok"]
    told_all = b"".join(str(headers).encode() + body for _, headers, body in answered)
    assert [text for text in PRIVATE if not any(form in told_all for form in _spellings(text))] == []
    assert [text for text in PRIVATE if any(form in written for form in _spellings(text))] == []
    assert any(
        KEY in value
        for request in fake.requests
        for value in (*request.headers.values(), *request.query.get("api_key", ()))
    )

    shutil.copy(FOLDER / provider / "shape.json", folder)
    monkeypatch.setattr(tests.wire, "FOLDER", tmp_path)
    wanted = {"ok": "ok", "ok_safe": "ok", "empty": "empty", "auth": "auth", "broken": "bad_response"}
    for name in names(provider):
        wire = case(provider, name)
        told, requests = await play(wire)
        assert told.as_expected() == wire.expect
        assert (told.outcome.value, len(requests)) == (wanted[name], wire.requests)
        if name == "ok":
            assert len(told.hits) == len(PAGES)


async def test_a_case_keeps_the_form_of_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await recorded("exa", tmp_path, monkeypatch, "--yes", "--case", "ok", service=exa_service)
    answer = json.loads((tmp_path / "ok.json").read_text("utf-8"))["answer"]
    assert answer["headers"] == {"Content-Type": "application/json", "X-Ratelimit-Remaining": "14"}
    first = answer["json"]["results"][0]
    assert first["id"] == first["url"]
    assert first["url"].endswith(".html") is False
    assert first["publishedDate"] == "2026-02-03T00:00:00.000Z"
    assert (first["title"].count("<b>"), first["title"].count("</b>")) == (1, 1)
    assert answer["json"]["costDollars"] == {"total": 0.005}
    assert answer["json"]["requestId"] == "00000000-0000-4000-8000-000000000001"
    assert isinstance(answer["json"]["debug"]["account"]["id"], int)
    assert answer["json"]["debug"]["spelled"][0] == answer["json"]["debug"]["encoded"] == "EXAMPLE-KEY"


async def test_a_made_up_key_is_tried_and_the_real_one_is_never_sent_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, fake = await recorded("exa", tmp_path, monkeypatch, "--yes", "--case", "auth", service=exa_service)
    (request,) = fake.requests
    assert code == 0
    assert request.headers["x-api-key"].startswith("tvly-")
    assert KEY not in str(request)


def test_a_made_up_key_has_the_form_of_the_real_one_and_nothing_else_of_it() -> None:
    drawn = made_up(KEY)
    assert [one.isdigit() for one in drawn] == [one.isdigit() for one in KEY]
    assert [one for one in drawn if not one.isalnum()] == [one for one in KEY if not one.isalnum()]
    assert drawn[5:] != KEY[5:]


# What the sanitiser cannot know: a key that a service shows in groups, as bank cards are shown.
_GROUPED = " ".join(KEY[at : at + 3] for at in range(0, len(KEY), 3))


async def test_a_secret_the_sanitiser_does_not_recognise_stops_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def service(request: Recorded) -> Answer:
        if request.json()["query"] == NOTHING:
            return _answer({"results": [], "notice": f"Asked with {_GROUPED}"})
        return exa_service(request)

    folder = tmp_path / "cases"
    code, said, _ = await recorded("exa", folder, monkeypatch, "--yes", service=service)
    assert code == 1
    assert "empty.json: answer.json.notice: a part of a secret: ***" in said
    assert not folder.exists()
    assert KEY not in said
    assert _GROUPED[:11] not in said


async def test_nothing_is_written_without_consent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cases"
    code, said, _ = await recorded("exa", folder, monkeypatch, "--case", "ok", service=exa_service)
    assert (code, folder.exists()) == (1, False)
    assert "ok.json: ok, 3 hits" in said
    assert said.endswith("Nothing was written.")


async def test_cases_that_are_there_are_neither_asked_for_again_nor_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ok", "broken", "empty"):
        (tmp_path / f"{name}.json").write_text("{}")
    code, said, fake = await recorded("exa", tmp_path, monkeypatch, "--yes", service=exa_service)
    assert code == 0
    assert "ok.json is there already; --force replaces it" in said
    assert [name for name, text in _files(tmp_path).items() if text != "{}"] == ["auth"]
    assert len(fake.requests) == 1
    code, _, _ = await recorded(
        "exa", tmp_path, monkeypatch, "--yes", "--force", "--case", "empty", service=exa_service
    )
    assert (code, json.loads((tmp_path / "empty.json").read_text())["expect"]["outcome"]) == (0, "empty")


async def test_a_limit_that_is_met_becomes_a_case_and_ends_the_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def service(request: Recorded) -> Answer:
        if request.json()["query"] == NOTHING:
            late = {"Retry-After": "Fri, 31 Dec 2100 10:00:00 GMT"}  # longer than the hour that is believed
            return _answer({"error": f"Rate limit exceeded for {ACCOUNT}", "account": ABOUT["account"]}, 429, **late)
        return exa_service(request)

    code, said, fake = await recorded("exa", tmp_path, monkeypatch, "--yes", service=service)
    limited = json.loads((tmp_path / "rate_limited.json").read_text())
    assert code == 0
    assert "the service wants to be left alone (rate_limited); nothing more is asked" in said
    assert set(_files(tmp_path)) == {"ok", "broken", "rate_limited"}
    assert len(fake.requests) == 2
    assert limited["answer"]["headers"]["Retry-After"] == "3600"
    assert limited["expect"]["attempt"]["retry_after"] == 3600.0


async def test_an_answer_that_only_its_words_make_an_answer_is_not_kept_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def service(_: Recorded) -> Answer:
        return _answer({"results": [{"url": f"{scheme}://python.org/", "title": "x"} for scheme in ("https", "HTTPS")]})

    code, said, _ = await recorded("exa", tmp_path / "cases", monkeypatch, "--yes", "--case", "empty", service=service)
    assert (code, (tmp_path / "cases").exists()) == (1, False)
    assert "empty: it came out as ok" in said


async def test_the_command_records_as_a_program_of_its_own(tmp_path: Path) -> None:
    async with World() as world:
        fake = Fake(world, exa_service)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.wire.record", "exa", "--case", "ok", "--option", "kind=news"),
            *("--into", str(tmp_path), "--yes"),
            cwd=FOLDER.parents[1],
            env={**os.environ, **_set_up("exa", fake.url), "PYTHONPATH": str(Path(providers.__file__).parents[2])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    assert f"Wrote ok.json, ok_news.json to {tmp_path}." in out.decode()
    assert json.loads((tmp_path / "ok_news.json").read_text())["search"] == {"count": 3, "kind": "news"}


@pytest.mark.parametrize("provider", ["exa", "brave", "local", "nobody"])
def test_a_provider_that_is_not_set_up_is_not_asked_and_no_other_in_its_place(
    provider: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([provider, "--into", str(tmp_path), "--yes"]) == 2
    assert provider in capsys.readouterr().err
    assert _files(tmp_path) == {}


@pytest.mark.parametrize("option", ["freshness=week", "query=x", "kind", "nothing=1"])
def test_options_that_make_no_lasting_case_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        parser().parse_args(["exa", "--option", option])
    assert refused.value.code == 2
    assert "--option" in capsys.readouterr().err


def test_the_query_of_a_case_is_the_one_of_all_cases() -> None:
    assert parser().parse_args(["exa"]).query == QUERY
