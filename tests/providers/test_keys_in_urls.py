"""Keys that a service takes in its URL only: whatever the other side sends back, nothing of them shows.

The providers come from the registry, so that a new one of this sort is covered without a line.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote

import pytest

from tests.wire import NETWORKED, Answer
from tests.wire.fake import Fake, Told, search
from tests.wire.write import HTML, JSON, results
from tests.world import Recorded, World
from webseam import providers

IN_URL = [provider for provider in NETWORKED if providers.get(provider).key_in_url]
KEY = "a+b/c=d%25e&f?g#h:jK0123456789"  # each sign means something else in a URL
_LONG = "x" * 185  # so that what is quoted would be cut in the middle of the key


def _in_lower_case(encoded: str) -> str:
    return re.sub("%..", lambda found: found[0].lower(), encoded)


def _stated(words: Callable[[Recorded], str], status: int = 400) -> Callable[[Recorded], Answer]:
    return lambda request: (status, JSON, json.dumps({"error": {"code": status, "message": words(request)}}).encode())


_REPEATING = [
    pytest.param(_stated(lambda request: f"cannot read {request.target}"), id="target"),
    pytest.param(_stated(lambda request: f"cannot read {unquote(request.target)}"), id="decoded"),
    pytest.param(_stated(lambda request: f"cannot read {quote(request.target)}"), id="encoded-twice"),
    pytest.param(_stated(lambda _: f"no such thing: {KEY}"), id="key"),
    pytest.param(
        _stated(lambda _: f"no such thing: {_in_lower_case(quote(KEY, safe=''))}"), id="encoded-in-lower-case"
    ),
    pytest.param(_stated(lambda _: f"{_LONG} {quote_plus(KEY)} and more"), id="at-the-cut"),
    pytest.param(_stated(lambda request: request.target, 401), id="401"),
    pytest.param(_stated(lambda request: request.target, 200), id="200"),
    pytest.param(lambda request: (200, HTML, f"<title>{request.target}</title>".encode()), id="page"),
    pytest.param(lambda request: (200, JSON, json.dumps({request.target: KEY}).encode()), id="field-names"),
    pytest.param(lambda request: (302, {"Location": f"https://example.org{request.target}"}, b""), id="redirect"),
    pytest.param(lambda request: (200, JSON, b'{"truncated": "' + request.target.encode()), id="truncated"),
]


def _shown(told: Told, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the spellings of the key in anything that a person, a program or a log of ours gets to see."""
    logged = [record.getMessage() for record in caplog.records]
    text = "\n".join([repr(told), json.dumps(told.as_expected()), *logged])
    encoded = [quote(KEY), quote(KEY, safe=""), quote_plus(KEY), quote(quote(KEY, safe=""), safe="")]
    spellings = [KEY, *encoded, *map(_in_lower_case, encoded), "0123456789"]
    return [spelling for spelling in spellings if spelling in text]


@pytest.mark.parametrize("provider", IN_URL)
async def test_the_key_arrives_as_it_is_and_once(provider: str) -> None:
    async with World() as world:
        fake = Fake(world, results(provider, []))
        await search(provider, fake.url, settings={"api_key": KEY})
    (request,) = fake.requests
    assert [values for values in request.query.values() if KEY in values] == [[KEY]]


@pytest.mark.parametrize("provider", IN_URL)
@pytest.mark.parametrize("answer", _REPEATING)
async def test_a_key_that_is_repeated_shows_nowhere(
    provider: str, answer: Callable[[Recorded], Answer], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with World() as world:
        fake = Fake(world, answer)
        told = await search(provider, fake.url, settings={"api_key": KEY})
    assert told.attempt.detail
    assert _shown(told, caplog) == []


@pytest.mark.parametrize("provider", IN_URL)
async def test_a_connection_that_fails_does_not_show_the_url(provider: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with World() as world:
        closed = Fake(world, results(provider, [])).url
    told = await search(provider, closed, settings={"api_key": KEY})
    assert told.attempt.detail
    assert _shown(told, caplog) == []
