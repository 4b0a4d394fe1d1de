"""What a site handler does when its API does not give the page: it says why, and the page itself is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.fetch.sites.reading import EXAMPLES, answer, config, drive, read
from tests.world import Connection, World, answer_bytes
from webseam.errors import Outcome
from webseam.fetch.sites import every, get
from webseam.fetch.sites.base import MAX_REQUESTS, SiteFailed
from webseam.fetch.types import Reading

PAGE = b"<!doctype html><title>Sign in</title>"
LIMITED = {"X-RateLimit-Remaining": "0", "Content-Type": "application/json"}


def test_every_handler_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(site.id for site in every())


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        pytest.param((404, {}, {"message": "Not Found"}), Outcome.NOT_FOUND, id="404"),
        pytest.param((403, LIMITED, {"message": "API rate limit exceeded"}), Outcome.RATE_LIMITED, id="rate limit"),
        pytest.param((429, {}, "slow down"), Outcome.RATE_LIMITED, id="429"),
        pytest.param((401, {}, {"message": "Bad credentials"}), Outcome.AUTH, id="401"),
        pytest.param((503, {}, "down"), Outcome.UPSTREAM, id="503"),
    ],
)
async def test_a_refusal_of_the_api_is_a_failure_of_the_site(name: str, reply: Any, outcome: Outcome) -> None:
    async with World() as world:

        async def refuse(connection: Connection) -> None:
            while await connection.request() is not None:
                await connection.send(answer_bytes(*reply))

        with pytest.raises(SiteFailed) as failed:
            await read(world, EXAMPLES[name], base_url=world.serve(refuse))
        assert failed.value.outcome is outcome
        assert failed.value.http_status in (reply[0], None)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "rfc-editor"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PAGE, id="a web page"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"title": "cut', id="cut JSON"),
        pytest.param(b"[" * 200_000, id="deep JSON"),
        pytest.param(b"17", id="a number"),
        pytest.param(b"{}", id="an empty object"),
        pytest.param(b"[]", id="an empty array"),
        pytest.param(b'{"message": "welcome"}', id="another object"),
    ],
)
def test_something_else_than_the_api_sends_is_a_failure_of_the_site(name: str, body: bytes) -> None:
    site = get(name)
    with pytest.raises(SiteFailed):
        drive(site, EXAMPLES[name], config("https://api.example"), lambda request: answer(200, body))


def test_a_web_page_in_place_of_a_text_is_a_failure_of_the_site() -> None:
    page = answer(200, PAGE, content_type="text/html; charset=utf-8")
    with pytest.raises(SiteFailed) as failed:
        drive(get("rfc-editor"), EXAMPLES["rfc-editor"], config("https://api.example"), lambda request: page)
    assert failed.value.detail == "RFC Editor answered with a web page"


@pytest.mark.parametrize("name", EXAMPLES)
def test_any_json_is_read_or_a_failure_of_the_site(name: str) -> None:
    site = get(name)
    words = some.sampled_from(
        "data message title items versions version body content user author login name html doc post thread number "
        "results children vulnerabilities cve urls info response docs crate catalogEntry".split()
    )
    leaves = some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8) | words
    values = some.recursive(
        leaves, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(words, inner, max_size=6), max_leaves=12
    )

    @settings(max_examples=10)
    @given(some.lists(values, min_size=1, max_size=4))
    def check(answers: list[Any]) -> None:
        bodies = iter([json.dumps(one).encode("utf-8", "replace") for one in answers] * (MAX_REQUESTS + 1))
        try:
            reading, sent = drive(
                site, EXAMPLES[name], config("https://api.example"), lambda request: answer(200, next(bodies))
            )
        except SiteFailed:
            return
        assert isinstance(reading, Reading)
        assert reading.markdown.endswith("\n")
        assert len(sent) <= MAX_REQUESTS
        reading.markdown.encode()

    check()
