"""The names that programs may rely on, and what they promise."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import webseam
from tests.search.world import fakes, found
from tests.world import World
from webseam.model import as_json

SOURCE = Path(webseam.__file__).parents[1]

PUBLIC = {
    "AllProvidersFailed", "AsyncWeb", "Attempt", "EgressDenied", "FetchError", "Outcome", "Page", "ProviderError",
    "RequestError", "SearchHit", "SearchRequest", "SearchResponse", "SettingsError", "TransportError", "Web",
    "WebSeamError", "__version__", "fetch", "read", "search", "tools",
}  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert set(webseam.__all__) == PUBLIC
    assert PUBLIC - {"__version__"} <= set(dir(webseam))
    for name in PUBLIC:
        assert getattr(webseam, name) is not None


def test_shortcuts_can_be_called_after_the_packages_of_their_names_were_imported() -> None:
    program = (
        "import webseam, webseam.search.run, webseam.fetch.pipeline\n"
        "for shortcut in (webseam.search, webseam.fetch):\n"
        "    try:\n"
        "        shortcut('')\n"
        "    except webseam.WebSeamError as error:\n"
        "        print(error.outcome, error.detail)\n"
        "print(webseam.search.run.__name__, webseam.fetch.pipeline.__name__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.splitlines() == [
        "invalid query: is empty",
        "invalid url.not_absolute: is no absolute URL",
        "webseam.search.run webseam.fetch.pipeline",
    ]


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'webseam' has no attribute 'nothing'"):
        webseam.nothing  # noqa: B018


def test_what_is_public_is_documented() -> None:
    for name in PUBLIC - {"__version__"}:
        assert inspect.getdoc(getattr(webseam, name)), name
    for kind in (webseam.AsyncWeb, webseam.Web):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"


def test_every_error_is_one_of_ours() -> None:
    for name in (
        "AllProvidersFailed",
        "EgressDenied",
        "ProviderError",
        "RequestError",
        "SettingsError",
        "TransportError",
    ):
        assert issubclass(getattr(webseam, name), webseam.WebSeamError)
    assert issubclass(webseam.SettingsError, webseam.RequestError)


def test_options_of_a_search_are_named_never_positional() -> None:
    kinds = [one.kind for one in inspect.signature(webseam.AsyncWeb.search).parameters.values()]
    assert kinds[:2] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 2
    assert set(kinds[2:]) == {inspect.Parameter.KEYWORD_ONLY}


ONCE = """
import json, webseam
from webseam.model import as_json
print(json.dumps(as_json(webseam.search("parse a url", count=2, provider="tavily"))))
"""


async def test_one_call_searches_and_leaves_nothing_behind() -> None:
    import asyncio

    async with World() as world:
        services = fakes(world, tavily=found("one", "two", "three"))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", ONCE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **services.environment("tavily"), "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        out, errors = await process.communicate()
        assert errors.decode() == ""
        response = json.loads(out)
    assert [hit["url"] for hit in response["hits"]] == ["https://example.org/one", "https://example.org/two"]
    assert list(response) == [
        "query", "hits", "outcome", "attempts", "answer", "notes", "dropped", "cached", "sent_to", "pages", "took",
        "detail", "hint",
    ]  # fmt: skip
    assert list(response["hits"][0]) == [
        "url", "title", "snippet", "published", "author", "site", "score", "providers", "passages",
    ]  # fmt: skip
    assert list(response["attempts"][0]) == [
        "provider", "outcome", "took", "detail", "http_status", "retry_after", "cost", "hits",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(webseam.SearchRequest(query="q"), id="request"),
        pytest.param(webseam.SearchHit(url="https://example.org/"), id="hit"),
        pytest.param(webseam.Attempt(provider="exa", outcome=webseam.Outcome.OK), id="attempt"),
        pytest.param(webseam.SearchResponse(query="q"), id="response"),
    ],
)
def test_values_are_frozen_comparable_and_travel_between_processes(value: Any) -> None:
    with pytest.raises(AttributeError):
        setattr(value, fields(value)[0].name, "other")
    assert pickle.loads(pickle.dumps(value)) == value
    json.dumps(as_json(value))


def test_an_error_says_what_happened_and_what_to_do() -> None:
    error = webseam.ProviderError("exa: HTTP 401", outcome=webseam.Outcome.AUTH, hint="get a key")
    assert str(error) == "auth: exa: HTTP 401 (get a key)"
    assert (error.outcome.exit_code, error.outcome.http_status) == (6, 401)
