"""Remote readers: who may be asked, what may be shown to them, and what is held against them.

What each service sends and gets is a matter of tests/providers/test_reading.py; here it only has to be one.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire import PAGE_URL, READING
from tests.wire.fake import FORGETFUL, KEY, Answer, Fake, environment, successive
from tests.wire.pages import Got, got, read, readers_of, written
from tests.wire.write import JSON
from tests.world import Connection, World
from webseam import providers
from webseam.config import Settings
from webseam.errors import EgressDenied, Outcome, ProviderError, RequestError, SettingsError
from webseam.fetch.remote import PageUnread, RemoteReaders, RemoteReading, _reading, readers
from webseam.net.message import Headers, Response
from webseam.providers.base import ReadPage, Reply, read_url
from webseam.providers.setup import configure
from webseam.resilience.deadline import Deadline
from webseam.secrets import SavedKeys
from webseam.web import AsyncWeb

REFUSED = (401, JSON, b'{"error": "Unauthorized"}')
SETTINGS = Settings(
    {"WEBSEAM_CONFIG_DIR": "/nonexistent", **{f"WEBSEAM_{one.upper()}_API_KEY": KEY for one in READING}}
)
BROKEN = (500, JSON, b'{"error": "Internal server error"}')


def web_of(**variables: str) -> AsyncWeb:
    """Return a facade whose user set these variables and nothing else."""
    return AsyncWeb(environment={**os.environ, **FORGETFUL, **variables})


def exa_at(url: str, **variables: str) -> dict[str, str]:
    """Return the environment of somebody who set Exa up, at `url`; its standing is kept, as it is for users."""
    return {**environment("exa", url), **variables}


# Who may be asked.


async def test_nobody_is_asked_unless_the_user_says_so() -> None:
    async with web_of(EXA_API_KEY=KEY) as web:
        here = readers_of(web)
        assert (here.names(web.settings()), here.configured(web.settings())) == ([], [])


async def test_the_services_are_those_of_the_setting_in_its_order_and_the_usable_ones_are_told_apart() -> None:
    wanted = {"WEBSEAM_FETCH_REMOTE_READERS": "tavily, Jina,exa,jina,linkup"}
    async with web_of(EXA_API_KEY=KEY, LINKUP_API_KEY=KEY, WEBSEAM_SEARCH_DENY="linkup", **wanted) as web:
        here = readers_of(web)
        assert here.names(web.settings()) == ["tavily", "jina", "exa", "linkup"]
        assert here.configured(web.settings()) == ["jina", "exa"]  # Jina's needs no key once it is named


def test_every_provider_that_says_so_can_read_and_no_other() -> None:
    assert sorted(readers()) == sorted(READING)
    assert {"firecrawl", "jina", "exa", "tavily", "parallel", "linkup", "ollama"} == set(READING)


@pytest.mark.parametrize(
    "value, words, hint",
    [
        pytest.param("exxa", "'exxa' is not known", "did you mean exa?", id="misspelt"),
        pytest.param(
            "exa,brave", "brave searches, it cannot read a page", f"these can: {', '.join(readers())}", id="no-reader"
        ),
    ],
)
async def test_a_setting_with_a_name_that_cannot_read_is_an_error(value: str, words: str, hint: str) -> None:
    async with web_of(WEBSEAM_FETCH_REMOTE_READERS=value) as web:
        for ask in (readers_of(web).names, readers_of(web).configured):
            with pytest.raises(SettingsError) as raised:
                ask(web.settings())
            assert (raised.value.detail, raised.value.hint) == (f"fetch.remote_readers: {words}", hint)


@pytest.mark.parametrize(
    "name, detail, hint",
    [
        pytest.param("tavly", "reader: 'tavly' is not known", "did you mean tavily?", id="misspelt"),
        pytest.param("zzzzzz", "reader: 'zzzzzz' is not known", None, id="like-nothing"),
        pytest.param(
            "searxng",
            "reader: searxng searches, it cannot read a page",
            f"these can: {', '.join(readers())}",
            id="only-searches",
        ),
    ],
)
async def test_a_reader_that_there_is_not_is_the_caller_s_mistake(name: str, detail: str, hint: str | None) -> None:
    async with web_of() as web:
        came = await got(web, readers_of(web), name)
    assert isinstance(came.error, RequestError)
    assert (came.outcome, came.error.detail, came.error.hint) == (Outcome.INVALID, detail, hint)


_NAMED = [
    pytest.param("exa", "no key (EXA_API_KEY)", id="exa"),
    pytest.param("tavily", "no key (TAVILY_API_KEY)", id="tavily"),
    pytest.param("firecrawl", "no key (FIRECRAWL_API_KEY)", id="firecrawl"),
    pytest.param("ollama", "no key (OLLAMA_API_KEY), and no server of your own (OLLAMA_HOST)", id="ollama"),
]


@pytest.mark.parametrize("name, reason", _NAMED)
async def test_a_named_reader_that_is_not_set_up_says_which_variable_it_wants(name: str, reason: str) -> None:
    async with web_of() as web:
        came = await got(web, readers_of(web), name, pinned=True)
    assert came.error is not None
    assert (came.outcome, came.error.detail) == (Outcome.UNAVAILABLE, f"{name} cannot be used: {reason}")
    assert came.error.hint == providers.get(name).hint
    assert [(one.provider, one.outcome, one.detail) for one in came.attempts] == [(name, Outcome.UNAVAILABLE, reason)]


_RULES = [
    pytest.param({"WEBSEAM_SEARCH_DENY": "exa"}, "in search.deny", id="deny"),
    pytest.param({"WEBSEAM_SEARCH_ALLOW": "tavily"}, "not in search.allow", id="allow"),
    pytest.param({"WEBSEAM_EXA_ENABLED": "off"}, "switched off in the settings", id="off"),
    pytest.param(
        {"WEBSEAM_SEARCH_LOCAL_ONLY": "on"}, "sends the query off this network (local-only is on)", id="local-only"
    ),
]


@pytest.mark.parametrize("rule, reason", _RULES)
async def test_the_rules_that_bind_searches_bind_whoever_names_a_reader(rule: dict[str, str], reason: str) -> None:
    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url, **rule)) as web:
            came = await got(web, readers_of(web), "exa", pinned=True)
    assert (came.outcome, came.attempt.detail, fake.requests) == (Outcome.UNAVAILABLE, reason, [])


async def test_a_misspelt_rule_is_an_error_before_anything_is_sent() -> None:
    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url, WEBSEAM_SEARCH_DENY="exxa")) as web:
            came = await got(web, readers_of(web), "exa")
    assert isinstance(came.error, SettingsError)
    assert (came.error.hint, fake.requests) == ("did you mean exa?", [])


# What may be shown to them.

_PRIVATE = [
    pytest.param("http://192.168.0.1/admin", "address.private", id="private"),
    pytest.param("http://127.0.0.1:8080/", "address.loopback", id="loopback"),
    pytest.param("http://[::1]/", "address.loopback", id="loopback-v6"),
    pytest.param("http://169.254.169.254/latest/meta-data/", "address.metadata", id="metadata"),
    pytest.param("https://wiki/page", "host.single_label", id="single-label"),
    pytest.param("https://wiki.corp.internal/page", "host.special_use", id="internal"),
    pytest.param("https://printer.local/", "host.special_use", id="local"),
    pytest.param("https://example.org:5432/", "port.denied", id="port"),
    pytest.param("https://jane:pass@example.org/", "url.userinfo", id="credentials"),
    pytest.param("file:///etc/passwd", "url.scheme", id="file"),
    pytest.param("not a url", "url.not_absolute", id="no-url"),
]


@pytest.mark.parametrize("url, rule", _PRIVATE)
async def test_an_address_that_is_not_public_is_shown_to_nobody_whatever_is_allowed_here(url: str, rule: str) -> None:
    asked: list[str] = []

    async def judge(page: str) -> None:
        asked.append(page)

    own = {"WEBSEAM_FETCH_ALLOW": "192.168.0.0/16,127.0.0.1,::1,wiki,*.internal,*.local,example.org:5432"}
    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url, **own)) as web:
            came = await got(web, readers_of(web, judge), "exa", url, pinned=True)
    assert isinstance(came.error, EgressDenied)
    assert (came.outcome, came.error.rule, fake.requests, asked) == (Outcome.UNSAFE, rule, [], [])
    assert "pass@" not in f"{came.error} {came.error.url}"


async def test_a_host_whose_addresses_are_not_public_is_shown_to_nobody() -> None:
    async def judge(page: str) -> None:
        raise EgressDenied("address.private", "it resolves to 10.0.0.1", url=page)

    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            came = await got(web, readers_of(web, judge), "exa")
    assert (came.outcome, fake.requests, came.sent_to) == (Outcome.UNSAFE, [], ())


async def test_a_look_up_that_does_not_end_takes_no_longer_than_the_deadline() -> None:
    async def judge(_page: str) -> None:
        await asyncio.Event().wait()

    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            with pytest.raises(ProviderError, match="timeout: the deadline passed before"):
                await readers_of(web, judge).read("exa", PAGE_URL, web.settings(), Deadline.after(0.05))
    assert fake.requests == []


async def test_the_one_canonical_form_without_a_fragment_is_what_is_sent() -> None:
    async with World() as world:
        fake = Fake(world, written("exa"))
        came = await read("exa", fake.url, "HTTPS://Example.ORG:443/a/../guide?q=a%20b#secret-part")
    assert fake.requests[0].json()["urls"] == ["https://example.org/guide?q=a%20b"]
    assert came.sent_to == ("exa",)


@pytest.mark.parametrize(
    "url",
    [
        "https://files.example.org/report?X-Amz-Signature=0123456789abcdef&X-Amz-Credential=AKIA",
        "https://example.org/share?token=Zq7vX2mL9pT4",
        "https://example.org/?api_key=Zq7vX2mL9pT4",
    ],
)
async def test_an_address_with_a_secret_in_it_is_shown_only_to_a_service_that_the_call_names(url: str) -> None:
    async with World() as world:
        fake = Fake(world, written("exa"))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            unnamed = await got(web, readers_of(web), "exa", url)
            before = len(fake.requests)
            named = await got(web, readers_of(web), "exa", url, pinned=True)
    assert (unnamed.outcome, before, unnamed.sent_to) == (Outcome.UNAVAILABLE, 0, ())
    assert "Zq7" not in f"{unnamed.error}"
    assert (named.outcome, fake.requests[0].json()["urls"]) == (Outcome.OK, [url])


# What is held against them.


async def test_a_reader_that_refused_the_key_is_asked_again_only_by_name() -> None:
    async with World() as world:
        fake = Fake(world, successive([REFUSED, written("exa")]))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            here = readers_of(web)
            came = [await got(web, here, "exa", pinned=pinned) for pinned in (False, False, True, False)]
    assert [one.outcome for one in came] == [Outcome.AUTH, Outcome.UNAVAILABLE, Outcome.OK, Outcome.OK]
    assert [one.sent_to for one in came] == [("exa",), (), ("exa",), ("exa",)]
    assert (came[1].error, len(fake.requests)) != (None, 4)
    assert str(came[1].attempt.detail).startswith("cooling down after auth: HTTP 401: Unauthorized until ")


async def test_a_page_that_cannot_be_read_ends_a_row_of_failures() -> None:
    gone = (
        200,
        JSON,
        json.dumps({"results": [], "statuses": [{"status": "error", "error": {"tag": "CRAWL_NOT_FOUND"}}]}),
    )
    answers: list[Answer] = [BROKEN, BROKEN, (gone[0], gone[1], gone[2].encode()), BROKEN, BROKEN, written("exa")]
    async with World() as world:
        fake = Fake(world, successive(answers))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            here = readers_of(web)
            came = [(await got(web, here, "exa")).outcome for _ in answers]
    failed = [Outcome.UPSTREAM, Outcome.UPSTREAM]
    assert came == [*failed, Outcome.NOT_FOUND, *failed, Outcome.OK]


async def test_what_a_search_learnt_about_the_key_holds_for_reading_at_the_same_place() -> None:
    async with World() as world:
        fake = Fake(world, (402, JSON, b'{"error": "You have run out of credits"}'))
        async with AsyncWeb(environment=exa_at(fake.url)) as web:
            with pytest.raises(ProviderError):
                await web.search("anything", provider="exa")
            came = await got(web, readers_of(web), "exa")
    assert (came.outcome, len(fake.requests)) == (Outcome.UNAVAILABLE, 1)
    assert str(came.attempt.detail).startswith("cooling down after quota")


async def silent(connection: Connection) -> None:
    if await connection.request() is not None:
        await connection.until_gone()


async def test_a_service_that_had_no_fair_time_is_not_to_blame() -> None:
    async with World() as world, AsyncWeb(environment=environment("linkup", world.serve(silent))) as web:
        for _ in range(4):
            with pytest.raises(ProviderError, match="timeout: linkup: "):
                await readers_of(web).read("linkup", PAGE_URL, web.settings(), Deadline.after(0.2))
        standing = {one.id: one for one in web.provider_states()}["linkup"]
    assert (standing.usable, standing.state) == (True, "ready")


async def test_a_read_that_is_given_up_ends_at_once_and_says_nothing_about_the_service() -> None:
    async with World() as world:
        arrived = asyncio.Event()

        async def hold(connection: Connection) -> None:
            if await connection.request() is not None:
                arrived.set()
                await connection.until_gone()

        async with AsyncWeb(environment=exa_at(world.serve(hold))) as web:
            task = asyncio.ensure_future(got(web, readers_of(web), "exa"))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            standing = {one.id: one for one in web.provider_states()}["exa"]
    assert (standing.usable, standing.state) == (True, "ready")


async def test_code_of_a_provider_that_fails_over_an_answer_is_a_bad_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(*_: Any) -> ReadPage:
        raise KeyError(f"no {KEY} there")

    monkeypatch.setattr(type(providers.get("exa")), "read_answer", careless)
    async with World() as world:
        fake = Fake(world, written("exa"))
        came = await read("exa", fake.url)
    assert (came.outcome, came.attempt.detail) == (
        Outcome.BAD_RESPONSE,
        "its answer could not be read (KeyError: 'no *** there')",
    )


# A service with two places.


async def both(local: Answer, hosted: Answer) -> tuple[Got, int, int]:
    async with World() as world:
        own, cloud = Fake(world, local), Fake(world, hosted)
        came = await read("ollama", cloud.url, settings={"local_url": own.url})
        return came, len(own.requests), len(cloud.requests)


async def test_the_next_place_is_asked_where_one_fails_but_not_where_the_page_does() -> None:
    page = written("ollama")
    failed, *counts = await both((404, {}, b"404 page not found"), page)
    assert (failed.outcome, counts) == (Outcome.OK, [1, 1])
    assert [(one.outcome, one.detail) for one in failed.attempts] == [
        (Outcome.UNAVAILABLE, "local route: HTTP 404: 404 page not found"),
        (Outcome.OK, "hosted route"),
    ]
    unread, *counts = await both((400, JSON, b'{"error": "could not fetch the page: 403"}'), page)
    assert (unread.outcome, counts) == (Outcome.BLOCKED, [1, 0])
    assert isinstance(unread.error, PageUnread)


# What it means that a page could not be read.


@pytest.mark.parametrize(
    "status, outcome",
    [
        pytest.param(404, Outcome.NOT_FOUND, id="404"),
        pytest.param(410, Outcome.NOT_FOUND, id="410"),
        pytest.param(401, Outcome.BLOCKED, id="401"),
        pytest.param(403, Outcome.BLOCKED, id="403"),
        pytest.param(429, Outcome.BLOCKED, id="429"),
        pytest.param(451, Outcome.BLOCKED, id="451"),
        pytest.param(408, Outcome.TIMEOUT, id="408"),
        pytest.param(504, Outcome.TIMEOUT, id="504"),
        pytest.param(500, Outcome.UPSTREAM, id="500"),
        pytest.param(503, Outcome.UPSTREAM, id="503"),
        pytest.param(418, Outcome.BAD_RESPONSE, id="418"),
        pytest.param(200, None, id="200"),
        pytest.param(304, None, id="304"),
        pytest.param("404", None, id="words"),
        pytest.param(True, None, id="switch"),
        pytest.param(None, None, id="null"),
    ],
)
def test_the_status_of_the_page_itself_says_whether_its_text_is_the_page(
    status: object, outcome: Outcome | None
) -> None:
    page = ReadPage(markdown="# Something", status=status)
    if outcome is None:
        assert _reading(providers.get("exa"), page).markdown == "# Something\n"
        return
    with pytest.raises(PageUnread) as raised:
        _reading(providers.get("exa"), page)
    assert (raised.value.outcome, raised.value.http_status) == (outcome, status)
    assert raised.value.detail == f"it could not read the page: the page answered {status}"


@pytest.mark.parametrize(
    "words, outcome",
    [
        pytest.param("404 Client Error: Not Found for url", Outcome.NOT_FOUND, id="not-found"),
        pytest.param("CRAWL_NOT_FOUND", Outcome.NOT_FOUND, id="a-tag"),
        pytest.param("Request timed out", Outcome.TIMEOUT, id="timed-out"),
        pytest.param("CRAWL_TIMEOUT", Outcome.TIMEOUT, id="timeout-tag"),
        pytest.param("403 Forbidden", Outcome.BLOCKED, id="forbidden"),
        pytest.param("Blocked by robots.txt", Outcome.BLOCKED, id="robots"),
        pytest.param("a CAPTCHA is in the way", Outcome.BLOCKED, id="captcha"),
        pytest.param("content type is not supported", Outcome.UNSUPPORTED, id="type"),
        pytest.param("Failed to fetch url", Outcome.BAD_RESPONSE, id="no-reason"),
        pytest.param("port 4040 is odd", Outcome.BAD_RESPONSE, id="digits"),
    ],
)
def test_the_words_of_a_service_say_what_was_wrong_with_the_page(words: str, outcome: Outcome) -> None:
    with pytest.raises(PageUnread) as raised:
        _reading(providers.get("exa"), ReadPage(problem=words, markdown="left over"))
    assert (raised.value.outcome, raised.value.detail) == (outcome, f"it could not read the page: {words}")


# Whatever comes.

_NAMES = st.sampled_from(
    "results data success code name error message status statuses markdown content title url text metadata warning"
    " statusCode errors error_type http_status_code failed_results full_content excerpts costDollars usage".split()
)
_VALUES = st.none() | st.booleans() | st.integers(-10, 600) | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    _VALUES | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("provider", READING)
@given(document=_JSON, status=st.sampled_from([200, 400, 403, 404, 408, 422, 451, 500]))
def test_whatever_json_a_service_sends_is_a_page_or_a_failure_with_a_reason(
    provider: str, document: Any, status: int
) -> None:
    came = _read_out(provider, status, json.dumps(document).encode())
    if isinstance(came, ProviderError):
        assert came.detail
        assert came.outcome is not Outcome.OK
    else:
        assert came.reader == provider
        assert came.markdown.strip()
        assert came.markdown.endswith("\n")


def _read_out(provider: str, status: int, body: bytes) -> RemoteReading | ProviderError:
    """Return what comes of one answer, without a network."""
    one = providers.get(provider)
    config = configure(one, SETTINGS, SavedKeys(SETTINGS.environment))
    conversation = read_url(one, PAGE_URL, config)
    request = next(conversation)
    try:
        conversation.send(Reply(Response(status, Headers(), request.url, body), str, request))
    except StopIteration as done:
        page: ReadPage = done.value
    except ProviderError as error:
        return error
    try:
        return _reading(one, page)
    except PageUnread as error:
        return error


def test_a_remote_reader_cannot_be_made_without_a_judge() -> None:
    with pytest.raises(TypeError, match="judge"):
        RemoteReaders(None, None, None)  # type: ignore[arg-type,call-arg]
