"""The core of fetching against its contract: no leak, no wait beside the deadline, nothing said that was not so."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import webseam
from tests.cli.world import webseam_command
from tests.fetch.test_fetch import failing, paths, public
from tests.fetch.world import PAGE, PARAGRAPH, SHELL, html, tried, web
from tests.world import Recorded, World
from webseam.errors import FetchError, Outcome, RequestError, TransportError
from webseam.fetch import present as presenting
from webseam.fetch.conversation import converse
from webseam.fetch.part import Wanted, part_of
from webseam.fetch.present import Found, present
from webseam.fetch.request import FetchRequest
from webseam.fetch.sites.base import SiteConfig, SiteFailed
from webseam.fetch.types import Reading
from webseam.model import Page, as_json
from webseam.resilience.deadline import Deadline
from webseam.web import AsyncWeb

HTML = {"Content-Type": "text/html"}
CANARY = "canary_0123456789abcdef"
HERE = {"fetch.allow": ["127.0.0.0/8"]}
COMMAND = {"WEBSEAM_FETCH_ALLOW": "127.0.0.1", "WEBSEAM_FETCH_BROWSER": "off"}


def said(page: Page) -> str:
    """Return all that a page says in our words, where no secret may stand."""
    return json.dumps([page.detail, page.hint, page.notes, as_json(page.attempts)])


# No secret of a URL is repeated in our words.


@pytest.mark.parametrize(
    "routes",
    [
        pytest.param({"/page": (200, HTML, html('<div class="anomaly-modal">Bots?</div>'))}, id="a challenge"),
        pytest.param(
            {
                "/page": (200, HTML, SHELL.format(head="")),
                "/page.md": (200, {"Content-Type": "text/markdown"}, "# T\n\nwords\n"),
            },
            id="its text form",
        ),
        pytest.param({"/page": PAGE}, id="a fragment that is not there"),
        pytest.param({}, id="no page"),
    ],
)
async def test_a_token_in_a_url_stands_in_nothing_we_say(routes: dict[str, Any]) -> None:
    async with World() as world, web(world) as own:
        for path, answer in routes.items():
            world.route("GET", path, answer)
        (page,) = await own.fetch([f"{world.url}/page?token={CANARY}#access_token={CANARY}"])
    assert page.outcome in (Outcome.OK, Outcome.BLOCKED, Outcome.NOT_FOUND)
    assert CANARY not in said(page)


async def test_the_command_line_repeats_no_token_on_standard_error() -> None:
    async with World() as world:
        url = world.route("GET", "/page", PAGE)
        run = await webseam_command("fetch", url, f"{world.url}/gone?token={CANARY}", env=COMMAND)
    assert (run.code, CANARY in run.err, "/gone?token=***: The page could not be read" in run.err) == (4, False, True)


# What the web archive is told.


@pytest.mark.parametrize(
    ("query", "addresses", "note"),
    [
        pytest.param(f"?token={CANARY}", [["93.184.215.14"]], "the URL seems to hold a secret", id="a secret"),
        pytest.param("", [["127.77.5.1"]], "it is not shown to the web archive", id="one's own network"),
    ],
)
async def test_the_archive_is_not_told_what_is_nobodys_business(
    query: str, addresses: list[list[str]], note: str
) -> None:
    async with World() as world:
        archive = world.site()
        site = public(world, "intranet.example", "127.77.5.1")
        world.names.set("intranet.example", ["127.77.5.1"], *addresses)
        async with web(world, fetch__archive=True, fetch__archive_url=archive.url) as own:
            error = await failing(own.fetch(f"{site.url}/gone{query}"))
    assert (error.outcome, archive.requests) == (Outcome.NOT_FOUND, [])
    assert [(one.provider, one.outcome.value) for one in error.attempts] == [
        ("page", "not_found"),
        ("archive", "unavailable"),
    ]
    assert note in str(error.attempts[1].detail)
    assert error.sent_to == ()


async def test_a_page_that_is_gone_at_a_literal_private_address_is_gone_and_not_unsafe() -> None:
    async with World() as world:
        archive = world.site()
        async with web(world, fetch__archive=True, fetch__archive_url=archive.url) as own:
            error = await failing(own.fetch(world.url + "/gone"))
    assert (error.outcome, archive.requests) == (Outcome.NOT_FOUND, [])


# Attempts say what happened.


@pytest.mark.parametrize("status", [200, 204, 205])
async def test_a_page_with_nothing_to_read_is_an_empty_attempt(status: int) -> None:
    async with World() as world, web(world) as own:
        page = await own.fetch(world.route("GET", "/page", (status, {"Content-Type": "text/plain"}, "")))
    assert (page.outcome, page.status, tried(page)) == (Outcome.EMPTY, status, [("plain", "empty")])


async def test_a_text_form_that_does_not_come_in_time_is_no_missing_one() -> None:
    async with World() as world, web(world) as own:
        ends = asyncio.Event()

        async def hang(_request: Recorded) -> Any:
            await ends.wait()
            return 404, {}, ""

        url = world.route("GET", "/app", (200, HTML, SHELL.format(head="")))
        world.route("GET", "/app.md", hang)
        error = await failing(own.fetch(url, timeout=1.0))
        ends.set()
    assert error.outcome is Outcome.JS_REQUIRED
    assert [(one.provider, one.outcome.value) for one in error.attempts] == [
        ("page", "js_required"),
        ("alternate", "timeout"),
    ]


# robots.txt holds for every way that asks the site itself.


async def test_a_text_form_that_robots_txt_forbids_is_not_asked_for() -> None:
    rules = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /app.md\nDisallow: /llms.txt\n")
    async with World() as world, web(world, fetch__robots="obey") as own:
        world.route("GET", "/robots.txt", rules)
        error = await failing(own.fetch(world.route("GET", "/app", (200, HTML, SHELL.format(head="")))))
    assert (error.outcome, paths(world)) == (Outcome.JS_REQUIRED, ["/robots.txt", "/app"])


async def test_a_browser_by_name_asks_robots_txt_as_well() -> None:
    async with World() as world, web(world, fetch__robots="obey") as own:
        world.route("GET", "/robots.txt", (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /\n"))
        error = await failing(own.fetch(world.route("GET", "/page", PAGE), reader="browser"))
    assert (error.outcome, paths(world)) == (Outcome.BLOCKED, ["/robots.txt"])


# Unusual answers.


@pytest.mark.parametrize(
    "media_type",
    ["text/html, text/html; charset=utf-8", "text/html; charset=utf-8, text/html", "text/html;charset=utf-8,text/html"],
)
async def test_a_media_type_that_was_sent_twice_is_read_as_the_first(media_type: str) -> None:
    async with World() as world, web(world) as own:
        body = html(f"Grüße. {PARAGRAPH}").encode()
        page = await own.fetch(world.route("GET", "/page", (200, {"Content-Type": media_type}, body)))
    assert (page.media_type, page.markdown) == ("text/html", f"# Widgets\n\nGrüße. {PARAGRAPH}\n")


@pytest.mark.parametrize("reader", [5, "", " ", ["html"]])
def test_a_reader_that_is_no_name_is_invalid(reader: Any) -> None:
    with pytest.raises(RequestError) as raised:
        FetchRequest(url="https://example.org/", reader=reader)
    assert raised.value.field == "reader"


def test_a_media_type_that_is_no_text_is_invalid() -> None:
    with pytest.raises(RequestError) as raised:
        webseam.read("words", url="https://example.org/", media_type=5)  # type: ignore[arg-type]
    assert raised.value.field == "media_type"


async def test_a_page_asked_for_at_a_host_called_consent_is_a_page_and_one_it_leads_to_is_not() -> None:
    async with World() as world, web(world) as own:
        site = public(world, "consent.example.com", "127.77.5.3")
        url = site.route("GET", "/page", PAGE)
        start = world.route("GET", "/page", (302, {"Location": url}, ""))
        pages = await own.fetch([url, start])
    assert [page.outcome for page in pages] == [Outcome.OK, Outcome.BLOCKED]


# Nobody else of the event loop waits.


async def test_a_page_is_cut_beside_the_event_loop_and_left_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    cut_in: list[threading.Thread] = []

    def part_of(*_arguments: Any) -> Any:
        cut_in.append(threading.current_thread())
        may_end.wait()

    monkeypatch.setattr(presenting, "part_of", part_of)
    found = Found(reading=Reading(markdown="- a\n" * 2_000, reader="html"), final_url="https://example.org/")
    request = FetchRequest(url="https://example.org/", focus="what is a")
    try:
        with pytest.raises(FetchError) as raised:
            await present(found, request, expires_at=time.monotonic() + 0.05)
    finally:
        may_end.set()
    assert raised.value.outcome is Outcome.TIMEOUT
    assert cut_in != [threading.current_thread()]


async def test_a_page_too_large_to_be_cut_as_a_whole_is_cut_in_part_and_that_is_said() -> None:
    text = "A list of all there is.\n\n" + " ".join(f"w{number:x}" for number in range(800_000))
    found = Found(reading=Reading(markdown=text, reader="plain"), final_url="https://example.org/")
    request = FetchRequest(url="https://example.org/", focus="what is a list of all there is", max_tokens=50)
    page = await present(found, request, expires_at=time.monotonic() + 60)
    assert (page.outcome, page.truncated, "A list of all there is." in page.markdown) == (Outcome.OK, True, True)
    assert [note for note in page.notes if f"this is about its first 400,000 of {len(text):,} characters" in note]


def test_a_cursor_behind_passages_goes_on_with_words() -> None:
    text = "# T\n\n" + "".join(f"## Part {name}\n\n{PARAGRAPH} {name}.\n\n" for name in ("one", "two", "three"))
    first = part_of(text, Wanted(url="https://example.org/", focus="two", limit=70))
    assert first.passages[-1].text.strip().endswith("two.")
    second = part_of(text, Wanted(url="https://example.org/", cursor=first.next_cursor, limit=20))
    assert second.markdown.startswith("## Part three")


async def test_a_step_of_a_site_that_takes_too_long_is_left_at_the_deadline() -> None:
    may_end = threading.Event()

    class Slow:
        id, label = "slow", "Slow"

        def read(self, _url: str, _config: SiteConfig) -> Any:
            may_end.wait()
            yield

    async def send(_request: Any) -> Any:
        raise AssertionError("nothing is sent")

    config = SiteConfig(html_to_markdown=lambda _html, _url: "")
    try:
        with pytest.raises(SiteFailed) as raised:
            await converse(Slow(), config, "https://example.org/", send, deadline=Deadline.after(0.05))  # type: ignore[arg-type]
    finally:
        may_end.set()
    assert (raised.value.outcome, raised.value.detail) == (Outcome.TIMEOUT, "Slow was not read in time")


# Places.


async def test_a_host_with_requests_keeps_its_places_however_many_hosts_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webseam.fetch.service._HOSTS_KEPT", 1)
    here, most = 0, 0
    asked, full, ends = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait(_request: Recorded) -> Any:
        nonlocal here, most
        here += 1
        most = max(most, here)
        asked.set()
        if here == 2:
            full.set()
        await ends.wait()
        here -= 1
        return 200, {"Content-Type": "text/plain"}, "words\n"

    async with World() as world, web(world, fetch__per_host=2) as own:
        other = public(world, "other.example", "127.77.5.2")
        other.route("GET", "/page", PAGE)
        first = asyncio.create_task(own.fetch(world.route("GET", "/0", wait)))
        await asked.wait()
        await own.fetch(f"{other.url}/page")
        rest = asyncio.create_task(own.fetch([world.route("GET", f"/{number}", wait) for number in range(1, 5)]))
        await full.wait()
        await own.fetch(f"{other.url}/page")
        ends.set()
        await asyncio.gather(first, rest)
        assert most == 2


async def test_a_changed_number_of_places_holds_from_then_on() -> None:
    held = []
    async with World() as world, web(world) as own:
        reading = own._reading()
        one, two = (own.settings().override({("fetch", "per_host"): places}, {}) for places in (1, 2))
        async with reading._place("a.example", one, Deadline.after(5.0)):
            held.append(1)
            async with reading._place("a.example", two, Deadline.after(5.0)):
                held.append(2)
            with pytest.raises(TransportError, match="other requests to a"):
                async with reading._place("a.example", one, Deadline.after(0.01)):
                    held.append(3)
    assert held == [1, 2]


# Loops, forks and ends.


def served(use: Callable[[str], None]) -> None:
    """Call `use` with the URL of a page that another thread serves."""
    ready, done = threading.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with World() as world:
            urls.append(world.route("GET", "/page", PAGE))
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        use(urls[0])
    finally:
        done.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_a_web_is_used_in_one_event_loop_after_another() -> None:
    def use(url: str) -> None:
        own = AsyncWeb({**HERE, "fetch.cache": False})
        outcomes = [asyncio.run(own.fetch(url)).outcome for _ in range(3)]
        asyncio.run(own.aclose())
        assert outcomes == [Outcome.OK] * 3

    served(use)
    gc.collect()  # the connections of loops that ended are closed by nobody else


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_reads_through_the_web_of_its_parent() -> None:
    def use(url: str) -> None:
        with webseam.Web(HERE) as own:
            own.fetch(url)
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs must not outlive this test
                os._exit(0 if own.fetch(url).outcome is Outcome.OK else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert own.fetch(url).outcome is Outcome.OK

    served(use)


def test_a_closed_web_says_so() -> None:
    own = webseam.Web()
    own.close()
    with pytest.raises(RuntimeError, match="this Web is closed"):
        own.fetch("https://example.org/")


# The command line where the locale is not UTF-8.


async def test_what_is_typed_is_utf8_whatever_the_locale_says() -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    async with World() as world:
        world.route("GET", "/größe", (200, HTML, html(*[f"{PARAGRAPH}"] * 40, "Die Größe ist zwölf.")))
        url = f"{world.url}/größe"
        run = await webseam_command(
            "fetch", url, "--focus", "welche Größe", "--max-tokens", "60", "--json", env={**COMMAND, **locale}
        )
    page = run.json()
    assert (run.code, page["url"], "Die Größe ist zwölf." in page["markdown"]) == (0, url, True)
