"""One page from URL to Markdown: what is asked of its server, what is tried when it gives no text, what is final."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.fetch.world import PAGE, PARAGRAPH, SHELL, html, tried, web
from tests.world import Recorded, Site, World
from webseam.errors import EgressDenied, FetchError, Outcome, RequestError, TransportError
from webseam.model import Page

AGENT = "webseam/0.1.0 (+https://pypi.org/project/webseam/)"
CHALLENGE = (403, {"Content-Type": "text/html", "cf-mitigated": "challenge"}, "<title>Just a moment...</title>")


async def failing(work: Any) -> FetchError | TransportError | EgressDenied:
    with pytest.raises((FetchError, TransportError, EgressDenied)) as raised:
        await work
    return raised.value  # type: ignore[return-value]


def public(world: World, name: str, address: str) -> Site:
    """Start a site under a public name on a port that public sites have."""
    site = Site()
    world.serve(site, host=address, port=8080)
    world.names.set(name, [address])
    site.url = f"http://{name}:8080"
    return site


def paths(world: World) -> list[str]:
    return [request.path for request in world.requests]


async def test_a_page_is_read_with_what_is_known_about_it() -> None:
    async with World() as world, web(world) as own:
        url = world.route("GET", "/page", PAGE)
        page = await own.fetch(url)
    assert page == Page(
        url=url,
        final_url=url,
        status=200,
        media_type="text/html",
        title="Widgets",
        markdown=f"# Widgets\n\n{PARAGRAPH}\n",
        reader=page.reader,
        tokens=55,
        removed=page.removed,
        fetched_at=page.fetched_at,
        attempts=page.attempts,
        took=page.took,
    )
    assert page.reader is not None
    assert page.reader.startswith("html")
    assert tried(page) == [("html", "ok")]
    assert page.took > 0


async def test_markdown_is_asked_for_first_and_the_agent_says_who_it_is() -> None:
    async with World() as world, web(world) as own:
        await own.fetch(world.route("GET", "/page", PAGE))
        headers = world.requests[0].headers
    assert headers["accept"].startswith("text/markdown, text/html;q=0.9")
    assert headers["user-agent"] == AGENT
    assert "cookie" not in headers
    assert "referer" not in headers


async def test_markdown_that_a_server_gives_is_taken_as_it_is() -> None:
    def negotiate(request: Recorded) -> Any:
        if "text/markdown" in request.headers["accept"]:
            return 200, {"Content-Type": "text/markdown; charset=utf-8", "Vary": "Accept"}, "# Widgets\n\nIn *short*.\n"
        return PAGE

    async with World() as world, web(world) as own:
        page = await own.fetch(world.route("GET", "/page", negotiate))
    assert (page.markdown, page.media_type, page.title) == ("# Widgets\n\nIn *short*.\n", "text/markdown", "Widgets")
    assert len(world.requests) == 1


async def test_redirects_are_followed_and_said() -> None:
    async with World() as world, web(world) as own:
        end = world.route("GET", "/new", PAGE)
        start = world.route("GET", "/old", (301, {"Location": "/new"}, ""))
        page = await own.fetch(start)
    assert (page.url, page.final_url, page.outcome) == (start, end, Outcome.OK)


@pytest.mark.parametrize(
    ("answer", "outcome", "says"),
    [
        pytest.param((404, {}, "no such page"), Outcome.NOT_FOUND, "answered 404: no such page", id="404"),
        pytest.param((410, {}, ""), Outcome.NOT_FOUND, "answered 410", id="410"),
        pytest.param((401, {}, ""), Outcome.AUTH, "answered 401", id="401"),
        pytest.param((402, {}, ""), Outcome.QUOTA, "answered 402", id="402"),
        pytest.param((403, {}, "Forbidden"), Outcome.BLOCKED, "answered 403: Forbidden", id="403"),
        pytest.param((418, {}, "teapot"), Outcome.BAD_RESPONSE, "answered 418: teapot", id="418"),
        pytest.param((429, {"Retry-After": "7"}, ""), Outcome.RATE_LIMITED, "answered 429", id="429"),
        pytest.param((451, {}, ""), Outcome.BLOCKED, "answered 451", id="451"),
        pytest.param((500, {}, ""), Outcome.UPSTREAM, "answered 500", id="500"),
        pytest.param((503, {"Retry-After": "9"}, ""), Outcome.UPSTREAM, "answered 503", id="503"),
        pytest.param((599, {}, ""), Outcome.UPSTREAM, "answered 599", id="599"),
        pytest.param((999, {}, "Request denied"), Outcome.BLOCKED, "answered 999: Request denied", id="999"),
        pytest.param(
            (404, {"Content-Type": "text/html"}, "<html><title>Lost &amp; found</title>" + "x" * 9_000),
            Outcome.NOT_FOUND,
            "answered 404: Lost & found",
            id="the title of its page",
        ),
    ],
)
async def test_a_status_is_said_as_what_it_means(answer: Any, outcome: Outcome, says: str) -> None:
    async with World() as world, web(world) as own:
        error = await failing(own.fetch(world.route("GET", "/page", answer)))
        assert isinstance(error, FetchError)
        assert (error.outcome, error.http_status) == (outcome, answer[0])
        assert error.detail.endswith(says)
        assert error.detail.startswith("127.0.0.1:")
        assert [(attempt.provider, attempt.http_status) for attempt in error.attempts] == [("page", answer[0])]
        assert error.retry_after == ({429: 7.0, 503: 9.0}.get(answer[0]))
        assert len(world.requests) == 1


async def test_a_challenge_is_answered_once_as_a_browser_and_then_left_alone() -> None:
    async with World() as world, web(world) as own:
        error = await failing(own.fetch(world.route("GET", "/page", CHALLENGE)))
    assert error.outcome is Outcome.BLOCKED
    agents = [request.headers["user-agent"] for request in world.requests]
    assert agents[0] == AGENT
    assert [agent.startswith("Mozilla/5.0") for agent in agents] == [False, True]


async def test_a_page_that_only_refuses_unknown_programs_is_read_at_the_second_try() -> None:
    def choosy(request: Recorded) -> Any:
        return PAGE if request.headers["user-agent"].startswith("Mozilla") else CHALLENGE

    async with World() as world, web(world) as own:
        page = await own.fetch(world.route("GET", "/page", choosy))
    assert page.markdown.startswith("# Widgets")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((403, {"Content-Type": "text/html"}, "<title>Attention Required! | Cloudflare</title>"), id="403"),
        pytest.param((200, {"Content-Type": "text/html"}, html('<div class="anomaly-modal">Bots?</div>')), id="at 200"),
        pytest.param(
            (200, {"Content-Type": "text/html"}, "<title>Human Verification</title><script src=a.js></script>"),
            id="without a text",
        ),
    ],
)
async def test_a_challenge_without_the_header_is_blocked_and_asked_once(answer: Any) -> None:
    async with World() as world, web(world) as own:
        error = await failing(own.fetch(world.route("GET", "/page", answer)))
    assert (error.outcome, len(world.requests)) == (Outcome.BLOCKED, 1)


async def test_an_article_about_challenges_is_an_article() -> None:
    words = "How __cf_chl_ and anomaly-modal work. " + PARAGRAPH * 8
    async with World() as world, web(world) as own:
        page = await own.fetch(world.route("GET", "/page", (200, {"Content-Type": "text/html"}, html(words))))
    assert page.outcome is Outcome.OK


# A page that is empty without its scripts.


@pytest.mark.parametrize(
    ("routes", "asked"),
    [
        pytest.param({"/text": "# T\n\nwords\n"}, ["/app", "/text"], id="its own link"),
        pytest.param({"/app.md": "# T\n\nwords\n"}, ["/app", "/text", "/app.md"], id="its twin"),
        pytest.param(
            {"/llms.txt": "# Site\n\n- [App](/deep/../app.txt)\n- [Other](/other.md)\n", "/app.txt": "# T\n\nwords\n"},
            ["/app", "/text", "/app.md", "/llms.txt", "/app.txt"],
            id="the site's list",
        ),
    ],
)
async def test_a_shell_is_read_where_its_site_offers_it_as_text(routes: dict[str, str], asked: list[str]) -> None:
    link = '<link rel="alternate" type="text/markdown" href="/text">'
    async with World() as world, web(world) as own:
        url = world.route("GET", "/app", (200, {"Content-Type": "text/html"}, SHELL.format(head=link)))
        for path, text in routes.items():
            world.route("GET", path, (200, {"Content-Type": "text/markdown"}, text))
        page = await own.fetch(url)
        assert paths(world) == asked
        assert (page.markdown, page.url, page.final_url) == ("# T\n\nwords\n", url, world.url + asked[-1])
    assert tried(page) == [("page", "js_required"), ("alternate", "ok")]
    assert page.notes[0].startswith("the page itself could not be read: the page has no text without JavaScript")


async def test_a_shell_without_any_other_form_is_said_to_need_a_browser_after_few_requests() -> None:
    async with World() as world, web(world) as own:
        error = await failing(
            own.fetch(world.route("GET", "/app", (200, {"Content-Type": "text/html"}, SHELL.format(head=""))))
        )
    assert error.outcome is Outcome.JS_REQUIRED
    assert [attempt.outcome for attempt in error.attempts] == [Outcome.JS_REQUIRED, Outcome.NOT_FOUND]
    assert paths(world) == ["/app", "/app.md", "/llms.txt"]


async def test_a_twin_that_is_the_same_shell_again_is_no_text() -> None:
    shell = (200, {"Content-Type": "text/html"}, SHELL.format(head=""))
    async with World() as world, web(world) as own:
        for path in ("/app", "/app.md", "/llms.txt"):
            world.route("GET", path, shell)
        error = await failing(own.fetch(world.url + "/app"))
    assert error.outcome is Outcome.JS_REQUIRED


async def test_a_good_page_costs_its_server_one_request() -> None:
    head = '<link rel="alternate" type="text/markdown" href="/text">'
    async with World() as world, web(world) as own:
        await own.fetch(
            world.route("GET", "/page", (200, {"Content-Type": "text/html"}, html(PARAGRAPH * 3, head=head)))
        )
    assert paths(world) == ["/page"]


# Final refusals.


@pytest.mark.parametrize(
    "link",
    ["http://169.254.169.254/latest/meta-data", "http://10.1.2.3/a.md", "http://localhost.localdomain/a.md"],
)
async def test_a_text_form_in_the_users_network_ends_the_fetch(link: str) -> None:
    head = f'<link rel="alternate" type="text/markdown" href="{link}">'
    async with World() as world, web(world) as own:
        url = world.route("GET", "/app", (200, {"Content-Type": "text/html"}, SHELL.format(head=head)))
        error = await failing(own.fetch(url))
    assert error.outcome is Outcome.UNSAFE
    assert paths(world) == ["/app"]


async def test_a_refused_redirect_leads_to_no_other_way_of_reading() -> None:
    async with World() as world, web(world, fetch__archive=True) as own:
        url = world.route("GET", "/page", (302, {"Location": "http://10.0.0.1/"}, ""))
        error = await failing(own.fetch(url))
    assert (error.outcome, [attempt.provider for attempt in error.attempts]) == (Outcome.UNSAFE, ["page"])


# Kept pages.


async def test_a_kept_page_is_said_to_be_one_and_keeps_the_time_it_came() -> None:
    fresh = (200, {"Content-Type": "text/plain", "Cache-Control": "max-age=600"}, "words\n")
    async with World() as world:
        url = world.route("GET", "/page", fresh)
        async with web(world) as own:
            first = await own.fetch(url)
        async with web(world) as own:
            second = await own.fetch(url)
            third = await own.fetch(url, cache=False)
        async with web(world, fetch__cache=False) as own:
            fourth = await own.fetch(url)
    assert [page.cached for page in (first, second, third, fourth)] == [False, True, False, False]
    assert second.fetched_at == first.fetched_at
    assert len(world.requests) == 3


# Robots.


@pytest.mark.parametrize(
    ("wish", "outcome", "asked", "notes"),
    [
        pytest.param("off", "ok", ["/private"], 0, id="off"),
        pytest.param("warn", "ok", ["/robots.txt", "/private"], 1, id="warn"),
        pytest.param("obey", "blocked", ["/robots.txt"], 0, id="obey"),
    ],
)
async def test_robots_txt_means_what_the_setting_says(wish: str, outcome: str, asked: list[str], notes: int) -> None:
    async with World() as world, web(world, fetch__robots=wish) as own:
        world.route("GET", "/robots.txt", (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private\n"))
        url = world.route("GET", "/private", PAGE)
        (page,) = await own.fetch([url])
    assert (page.outcome.value, len(page.notes), paths(world)) == (outcome, notes, asked)


# Readers by name.


async def test_a_named_form_reads_what_the_server_calls_something_else() -> None:
    async with World() as world, web(world) as own:
        url = world.route("GET", "/page", (200, {"Content-Type": "application/octet-stream"}, "a,b\n1,2\n"))
        page = await own.fetch(url, reader="csv")
    assert page.markdown == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("reader", "hint"),
    [
        pytest.param("htm", "did you mean html?", id="a slip"),
        pytest.param("githu", "did you mean github?", id="a site"),
        pytest.param("github", "leave reader out", id="not that site"),
    ],
)
async def test_a_reader_that_cannot_be_is_invalid_and_nothing_is_sent(reader: str, hint: str) -> None:
    async with World() as world, web(world) as own:
        with pytest.raises(RequestError) as raised:
            await own.fetch(world.route("GET", "/page", PAGE), reader=reader)
        assert (raised.value.field, raised.value.hint, world.requests) == ("reader", hint, [])


async def test_raw_is_the_text_as_it_came() -> None:
    body = html("One ![x](y) two.", "<script>1 < 2</script>")
    async with World() as world, web(world) as own:
        page = await own.fetch(
            world.route("GET", "/page", (200, {"Content-Type": "text/html; charset=latin-1"}, body)), raw=True
        )
    assert (page.markdown, page.reader, page.media_type) == (body, "raw", "text/html")


async def test_raw_of_what_is_no_text_is_refused_with_its_size() -> None:
    async with World() as world, web(world) as own:
        url = world.route("GET", "/a.bin", (200, {"Content-Type": "application/octet-stream"}, bytes(range(256)) * 4))
        error = await failing(own.fetch(url, raw=True))
    assert (error.outcome, "1,024 bytes" in error.detail) == (Outcome.UNSUPPORTED, True)


# Several.


async def test_several_pages_each_have_an_outcome_in_the_order_asked_for() -> None:
    async with World() as world, web(world) as own:
        good, gone = world.route("GET", "/good", PAGE), world.url + "/gone"
        pages = await own.fetch([good, "no url", gone, "http://10.0.0.1/", good])
    assert [page.outcome.value for page in pages] == ["ok", "invalid", "not_found", "unsafe", "ok"]
    assert [page.url for page in pages] == [good, "no url", gone, "http://10.0.0.1/", good]
    assert pages[2].status == 404
    assert pages[1].hint == "start it with https://"


async def test_no_host_gets_more_requests_at_a_time_than_its_places() -> None:
    here: set[str] = set()
    most = 0
    full = asyncio.Event()

    async def wait(request: Recorded) -> Any:
        nonlocal most
        here.add(request.path)
        most = max(most, len(here))
        if len(here) == 3:
            full.set()
        await full.wait()
        here.discard(request.path)
        return 200, {"Content-Type": "text/plain"}, "words\n"

    async with World() as world, web(world, fetch__per_host=3) as own:
        urls = [world.route("GET", f"/{number}", wait) for number in range(9)]
        pages = await own.fetch(urls)
    assert ([page.outcome for page in pages], most) == ([Outcome.OK] * 9, 3)


async def test_a_wrong_option_is_wrong_for_all_pages_and_nothing_is_sent() -> None:
    async with World() as world, web(world) as own:
        with pytest.raises(RequestError, match="focus"):
            await own.fetch([world.route("GET", "/page", PAGE)], focus=" ")
        with pytest.raises(RequestError, match="too many at once"):
            await own.fetch(["https://example.org/"] * 101)
        with pytest.raises(TypeError, match="focuss"):
            await own.fetch("https://example.org/", focuss="x")  # type: ignore[call-overload]
    assert world.requests == []


# Searching and reading in one call.


async def test_a_search_that_reads_has_the_passages_of_its_first_hits_within_one_budget() -> None:
    async with World() as world:
        pages = public(world, "hits.example", "127.77.3.1")
        long = html("<h1>Other</h1>", *["Nothing of interest stands here, whatever one looks for."] * 60, PARAGRAPH)
        one = pages.route("GET", "/one", (200, {"Content-Type": "text/html"}, long))
        urls = [one, f"{pages.url}/gone", f"{pages.url}/third"]
        world.route("POST", "/search", (200, {}, {"results": [{"url": url, "title": "T"} for url in urls]}))
        settings: dict[str, Any] = {"search__provider": "tavily", "tavily__base_url": world.url}
        settings |= {"tavily__api_key": "tvly-test-key-of-no-use", "fetch__allow": ["hits.example"]}
        async with web(world, **settings) as own:
            response = await own.search("frobnicated handle", read=2, max_tokens=200)
    assert [hit.url for hit in response.hits] == urls
    assert [(page.url, page.outcome.value) for page in response.pages] == [(one, "ok"), (urls[1], "not_found")]
    assert PARAGRAPH in response.pages[0].markdown
    assert len(response.pages[0].markdown) <= 100 * 4
    assert sorted(request.path for request in pages.requests) == ["/gone", "/one"]


@pytest.mark.parametrize("options", [{"read": -1}, {"read": 21}, {"read": True}, {"read": 1, "max_tokens": 0}])
async def test_how_much_to_read_is_checked_before_anything_is_sent(options: dict[str, Any]) -> None:
    async with World() as world, web(world) as own:
        with pytest.raises(RequestError):
            await own.search("words", **options)


# Sites.


async def test_a_site_is_asked_through_its_api_with_its_token_and_not_its_page() -> None:
    info = {"info": {"name": "widget", "version": "2.1", "summary": "Frobnicates.", "description": "# Use it\n"}}
    async with World() as world:
        world.route("GET", "/pypi/widget/json", (200, {}, info))
        async with web(world, **{"sites.pypi__base_url": world.url}) as own:
            page = await own.fetch("https://pypi.org/project/widget/")
    assert (page.site, page.reader, page.final_url) == ("pypi", "pypi", "https://pypi.org/project/widget/")
    assert "2.1" in page.markdown
    assert "Use it" in page.markdown
    assert tried(page) == [("pypi", "ok")]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param((500, {}, "oops"), "PyPI answered 500", id="an error"),
        pytest.param((200, {"Content-Type": "text/html"}, "<html>"), "is not JSON", id="a page"),
        pytest.param((200, {}, {"nothing": 1}), "JSON of another shape", id="another shape"),
    ],
)
async def test_where_a_sites_api_fails_the_page_is_read_and_that_is_said(answer: Any, says: str) -> None:
    async with World() as world:
        world.route("GET", "/pypi/widget/json", answer)
        front = world.site(host="pypi.org")
        front.route("GET", "/project/widget/", PAGE)
        url = f"{front.url}/project/widget/"
        settings = {"sites.pypi__base_url": world.url, "fetch__allow": ["127.0.0.0/8", "pypi.org"]}
        async with web(world, **settings) as own:
            page = await own.fetch(url)
    assert page.markdown.startswith("# Widgets")
    assert page.notes[0].startswith("PyPI's API did not give the page, so the page itself was read: ")
    assert says in page.notes[0]
    assert [name for name, _ in tried(page)] == ["pypi", "html"]


async def test_a_site_that_is_turned_off_is_a_page_like_any_other() -> None:
    async with World() as world:
        front = world.site(host="pypi.org")
        front.route("GET", "/project/widget/", PAGE)
        settings = {"sites.pypi__enabled": False, "fetch__allow": ["127.0.0.0/8", "pypi.org"]}
        async with web(world, **settings) as own:
            page = await own.fetch(f"{front.url}/project/widget/")
    assert tried(page) == [("html", "ok")]


# Services and the archive.

READ = {"code": 200, "status": 20000, "data": {"title": "T", "url": "https://e.org/", "content": "# T\n\nwords"}}


async def test_a_service_reads_what_is_blocked_here_only_when_the_user_allows_it() -> None:
    async with World() as world:
        front = public(world, "blocked.example", "127.77.3.2")
        url = front.route("GET", "/page", (403, {}, "no"))
        service = world.site()
        for method in ("GET", "POST"):
            service.route(method, "/", (200, {}, READ))
        common = {"fetch__allow": ["blocked.example"], "jina__reader_url": service.url, "jina__api_key": "jina_test"}
        async with web(world, **common) as own:
            error = await failing(own.fetch(url))
        assert (error.outcome, service.requests) == (Outcome.BLOCKED, [])
        world.names.set("blocked.example", ["127.77.3.2"], ["93.184.215.14"])
        async with web(world, **common, fetch__remote_readers=["jina"]) as own:
            page = await own.fetch(url)
    assert (page.markdown, page.reader, page.sent_to) == ("# T\n\nwords\n", "jina", ("jina",))
    assert [name for name, _ in tried(page)] == ["page", "jina"]
    assert any("which received the URL" in note for note in page.notes)
    assert len(service.requests) == 1


async def test_an_address_of_this_network_is_shown_to_no_service() -> None:
    async with World() as world:
        service = world.site()
        settings = {"jina__reader_url": service.url, "jina__api_key": "jina_test_key"}
        async with web(world, **settings, fetch__remote_readers=["jina"]) as own:
            error = await failing(own.fetch(world.route("GET", "/page", (403, {}, "no"))))
    assert (error.outcome, service.requests) == (Outcome.UNSAFE, [])


async def test_a_dead_hosts_page_is_read_from_the_archive_when_asked_for_and_dated() -> None:
    url = "http://gone.example:8080/page"
    async with World() as world:
        snapshot = {"available": True, "status": "200", "timestamp": "20240131120000", "url": "http://x"}
        world.route("GET", "/wayback/available", (200, {}, {"archived_snapshots": {"closest": snapshot}}))
        world.route("GET", f"/web/20240131120000id_/{url}", PAGE)
        world.names.set("gone.example", ["127.77.3.3"])
        settings = {"fetch__archive_url": world.url, "fetch__allow": ["127.0.0.0/8", "gone.example"]}
        async with web(world, **settings) as own:
            error = await failing(own.fetch(url))
            assert (error.outcome, world.requests) == (Outcome.NETWORK, [])
            world.names.set("gone.example", ["127.77.3.3"], ["93.184.215.14"])
            page = await own.fetch(url, archived=True)
    assert page.markdown.startswith("# Widgets")
    assert (page.url, page.final_url) == (url, f"{world.url}/web/20240131120000/{url}")
    assert tried(page) == [("page", "network"), ("archive", "ok")]
    assert any("copy of 2024-01-31" in note for note in page.notes)
    assert page.sent_to == ("archive",)


async def test_a_page_that_is_there_is_never_asked_of_the_archive() -> None:
    async with World() as world, web(world, fetch__archive=True, fetch__archive_url=world.url) as own:
        await own.fetch(world.route("GET", "/page", PAGE))
        assert paths(world) == ["/page"]
