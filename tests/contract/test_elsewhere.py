"""A client with a fixed address reaches the fake, unchanged."""

from __future__ import annotations

import re

import pytest

from tests.contract.elsewhere import elsewhere
from tests.wire import QUERY
from tests.wire.fake import KEY, Fake
from tests.wire.write import JSON
from tests.world import World

_SCRIPT = """
import json, sys, urllib.request
request = urllib.request.Request("https://api.example.org/search?q=1", data=sys.argv[1].encode())
request.add_header("X-Api-Key", sys.argv[2])
with urllib.request.urlopen(request) as answer:
    print(json.dumps({"status": answer.status, "answer": json.load(answer)}))
"""


async def test_what_a_script_sends_to_a_name_arrives_at_the_fake_and_its_output_comes_back() -> None:
    async with World() as world:
        fake = Fake(world, (200, JSON, b'{"found": 1}'))
        printed = await elsewhere(fake.url, "api.example.org", _SCRIPT)
    assert printed == {"status": 200, "answer": {"found": 1}}
    (request,) = fake.requests
    assert (request.method, request.target, request.body) == ("POST", "/search?q=1", QUERY.encode())
    assert (request.headers["host"], request.headers["x-api-key"]) == ("api.example.org", KEY)


@pytest.mark.parametrize(
    "host, script, words",
    [
        pytest.param("api.example.org", "raise SystemExit('no such option')", "no such option", id="it-fails"),
        pytest.param("other.example.org", _SCRIPT, "CERTIFICATE_VERIFY_FAILED", id="another-name"),
    ],
)
async def test_a_script_that_fails_or_speaks_to_somebody_else_fails_the_test(
    host: str, script: str, words: str
) -> None:
    async with World() as world:
        fake = Fake(world, (200, JSON, b"{}"))
        with pytest.raises(AssertionError, match=re.escape(words)):
            await elsewhere(fake.url, host, script)
    assert fake.requests == []
