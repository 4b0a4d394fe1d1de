"""Tool calls against services and pages on loopback: what a model reads, to the letter, whatever happens."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

import webseam
from tests.fetch.test_fetch import public
from tests.fetch.world import PAGE, PARAGRAPH, html, web
from tests.search.test_library import Shelf
from tests.search.world import Gate, fakes, found, numbered
from tests.world import World
from webseam.errors import Outcome
from webseam.tools import Toolbox, ToolResult
from webseam.web import AsyncWeb


def searching(services: Any, *providers: str, **settings: Any) -> AsyncWeb:
    given = {name.replace("__", "."): value for name, value in settings.items()}
    return AsyncWeb(given, environment={**os.environ, **services.environment(*providers)})


async def test_a_search_is_a_numbered_list_with_who_answered() -> None:
    async with World() as world, searching(fakes(world, searxng=found("one", "two")), "searxng") as own:
        result = await Toolbox(own).call("web_search", {"query": "words", "count": 2})
    assert result.text == (
        "[1] Title one\n    https://example.org/one\n    About one\n\n"
        "[2] Title two\n    https://example.org/two\n    About two\n\n"
        "2 results from searxng.\n"
    )
    assert (result.outcome, result.is_error, result.value.query, result.pages) == (Outcome.OK, False, "words", ())


async def test_every_argument_of_a_search_reaches_the_core() -> None:
    async with World() as world:
        services = fakes(world, searxng=numbered(10))
        async with searching(services, "searxng") as own:
            asked = {"query": "q", "count": 3, "sites": ["example.org"], "not_sites": ["a.example"], "kind": "news"}
            result = await Toolbox(own).call("web_search", {**asked, "freshness": "week", "provider": "searxng"})
        assert services.site.requests[0].query["q"] == ["q site:example.org -site:a.example"]
        assert services.site.requests[0].query["categories"] == ["news"]
        assert services.site.requests[0].query["time_range"] == ["week"]
        assert len(result.value.hits) == 3


async def test_a_failure_says_its_outcome_what_happened_who_was_tried_and_what_next() -> None:
    async with World() as world:
        services = fakes(world, searxng=(429, {"Retry-After": "30"}, "slow down"), tavily=(500, {}, "broken"))
        async with searching(services, "searxng", "tavily") as own:
            result = await Toolbox(own).call("web_search", {"query": "words"})
    assert result.is_error
    assert result.text.startswith(f"{result.outcome}: ")
    assert "Tried: searxng: rate_limited; tavily: upstream." in result.text
    assert result.text.endswith(".")
    assert result.value is None


async def test_nothing_found_is_no_error_and_proposes_the_next_step() -> None:
    async with World() as world, searching(fakes(world, searxng=found()), "searxng") as own:
        result = await Toolbox(own).call("web_search", {"query": "words", "freshness": "day"})
    assert (result.outcome, result.is_error) == (Outcome.EMPTY, False)
    assert result.text == "No results: searxng found nothing. Next: call again without freshness.\n"


async def test_what_the_filters_dropped_is_said_with_the_filter_to_leave_out() -> None:
    async with World() as world, searching(fakes(world, searxng=numbered(4)), "searxng") as own:
        result = await Toolbox(own).call("web_search", {"query": "words", "sites": ["elsewhere.example"]})
    assert (result.outcome, result.is_error) == (Outcome.FILTERED, False)
    assert "Next: call web_search again without sites, which left out 4 of the hits." in result.text


async def test_a_repeated_call_is_answered_and_told_of() -> None:
    async with World() as world:
        services = fakes(world, searxng=found("one"))
        async with searching(services, "searxng") as own:
            toolbox = Toolbox(own)
            results = [await toolbox.call("web_search", {"query": "words", "count": 1}) for _ in range(4)]
        assert services.asked == ["searxng"]
    said = "asking again changes nothing"
    assert [said in result.text for result in results] == [False, True, True, True]
    assert results[1].text.endswith("or answer with what you have.\n")
    assert results[3].text.startswith("This same call was made 3 times before")
    assert all("https://example.org/one" in result.text for result in results)


async def test_what_is_no_argument_is_left_out_and_said() -> None:
    async with World() as world, searching(fakes(world, searxng=found("one")), "searxng") as own:
        result = await Toolbox(own).call("web_search", {"query": "words", "zzz": 1, "wait_for_previous": True})
    assert result.text.endswith("\n1 result from searxng.\n\nLeft out, being no arguments of web_search: zzz.\n")


async def test_a_failure_may_be_tried_again_without_a_word_about_it() -> None:
    async with World() as world:
        services = fakes(world, searxng=(500, {}, "broken"))
        async with searching(services, "searxng") as own:
            toolbox = Toolbox(own)
            texts = [(await toolbox.call("web_search", {"query": "words"})).text for _ in range(3)]
    assert [text for text in texts if "same call" in text] == []


async def test_a_search_can_read_its_first_hits_in_the_same_call() -> None:
    async with World() as world:
        pages = public(world, "hits.example", "127.77.4.1")
        url = pages.route("GET", "/widgets", PAGE)
        world.route("POST", "/search", (200, {}, {"results": [{"url": url, "title": "Widgets"}]}))
        settings: dict[str, Any] = {"search__provider": "tavily", "tavily__base_url": world.url}
        settings |= {"tavily__api_key": "tvly-test-key-of-no-use", "fetch__allow": ["hits.example"]}
        async with web(world, **settings) as own:
            result = await Toolbox(own).call("web_search", {"query": "spring under tension", "read": 1, "count": 1})
    assert result.text.startswith(f"[1] Widgets\n    {url}\n")
    assert PARAGRAPH in result.text
    assert (result.outcome, [page.url for page in result.pages]) == (Outcome.OK, [url])


async def test_a_page_is_framed_markdown() -> None:
    async with World() as world:
        url = world.route("GET", "/widgets", PAGE)
        async with web(world) as own:
            result = await Toolbox(own).call("web_fetch", {"url": url})
    assert (result.outcome, result.value.title, [page.url for page in result.pages]) == (Outcome.OK, "Widgets", [url])
    assert PARAGRAPH in result.text
    assert result.text.startswith(f"URL: {url}\n")
    assert "UNTRUSTED" in result.text.upper()


async def test_several_pages_share_the_budget_and_each_has_its_own_fate() -> None:
    long = html("<h1>Long</h1>", *[f"{number}. {PARAGRAPH}" for number in range(200)], title="Long")
    async with World() as world:
        urls = [world.route("GET", f"/long{number}", (200, {"Content-Type": "text/html"}, long)) for number in (1, 2)]
        missing = world.route("GET", "/missing", (404, {}, "no"))
        async with web(world) as own:
            result = await Toolbox(own).call("web_fetch", {"urls": [*urls, missing], "max_tokens": 3_000})
    assert [page.outcome for page in result.value] == [Outcome.OK, Outcome.OK, Outcome.NOT_FOUND]
    assert (result.outcome, [page.url for page in result.pages]) == (Outcome.OK, urls)
    assert all(800 < len(page.markdown) / 4 <= 1_000 and page.next_cursor for page in result.pages)
    assert f"URL: {missing}\nThe page could not be read (not_found)" in result.text


async def test_a_long_page_stays_under_the_clients_caps_and_goes_on_with_its_cursor() -> None:
    long = html("<h1>Long</h1>", *[f"{number}. {PARAGRAPH}" for number in range(600)], title="Long")
    async with World() as world:
        url = world.route("GET", "/long", (200, {"Content-Type": "text/html"}, long))
        async with web(world) as own:
            toolbox = Toolbox(own)
            first = await toolbox.call("web_fetch", {"url": url})
            cursor = first.value.next_cursor
            second = await toolbox.call("web_fetch", {"url": url, "cursor": cursor})
    assert 4_000 < len(first.text.encode()) / 4 < 5_120  # 20,480 bytes: what the strictest client lets through
    assert cursor in first.text
    whole = [int(line.split("\\.")[0].split(".")[0]) for line in _numbered(first) + _numbered(second)]
    assert whole == list(range(len(whole)))


def _numbered(result: ToolResult) -> list[str]:
    return [line for line in result.value.markdown.splitlines() if line[:1].isdigit()]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        pytest.param(
            "web_fetch", {}, "invalid: url: is missing. Next: give url, or urls for several.", id="no address"
        ),
        pytest.param(
            "web_fetch",
            {"urls": ["https://a.example/", "https://b.example/"], "cursor": "c"},
            "invalid: cursor: belongs to one page. Next: give its url alone.",
            id="a cursor for two pages",
        ),
        pytest.param(
            "web_fetch",
            {"url": "http://127.0.0.1:1/"},
            "unsafe: http://127.0.0.1:1/: port.denied: port 1 is not one of 80, 443, 8000, 8080, 8443. Next:"
            " look for the same in another source; this address is not reachable from here on purpose.",
            id="a port of this machine",
        ),
        pytest.param(
            "web_fetch",
            {"url": "python://python/json#dumps"},
            "Next: this is documentation installed here: call docs_search with its name.",
            id="documentation installed here",
        ),
        pytest.param(
            "web_serch",
            {"query": "q"},
            "invalid: tool: there is no 'web_serch'. Next: there are web_search, web_fetch, docs_search.",
            id="an unknown tool",
        ),
        pytest.param(
            "web_search",
            {"query": "q", "provider": "gogle"},
            "Next: did you mean google?",
            id="an unknown provider",
        ),
        pytest.param(
            "web_search", {"query": " "}, "invalid: query: is empty. Next: say what to search for.", id="blank"
        ),
        pytest.param(
            "docs_search",
            {"query": "q", "package": "x" * 300},
            "invalid: package: must be the name of a package, as numpy.",
            id="no package",
        ),
    ],
)
async def test_bad_input_comes_back_as_a_result_that_names_the_fix(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    async with AsyncWeb() as own:
        result = await Toolbox(own).call(name, arguments)
    assert result.is_error
    assert said in result.text


async def test_a_fault_of_ours_is_a_result_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret-detail")

    async with AsyncWeb() as own:
        monkeypatch.setattr(own, "search", broken)
        result = await Toolbox(own).call("web_search", {"query": "q"})
    assert result.is_error
    assert result.text.startswith("bad_response: web_search failed inside webseam (ZeroDivisionError).")
    assert "secret-detail" not in result.text


async def test_cancelling_stops_the_upstream_call() -> None:
    async with World() as world:
        gate = Gate(found("late"))
        services = fakes(world, searxng=gate)
        async with searching(services, "searxng") as own:
            call = asyncio.create_task(Toolbox(own).call("web_search", {"query": "q"}))
            await gate.until(1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert own.open_connections == 0


async def test_progress_is_reported_while_a_call_runs_and_not_after() -> None:
    reported: list[tuple[float, float, str]] = []
    told = asyncio.Event()

    async def report(done: float, total: float, words: str) -> None:
        reported.append((done, total, words))
        told.set()
        raise ConnectionError("the client has gone")  # which is no reason to stop working

    async with World() as world:
        gate = Gate(found("late"))
        async with searching(fakes(world, searxng=gate), "searxng") as own:
            call = asyncio.create_task(Toolbox(own).call("web_search", {"query": "q", "timeout": 20}, progress=report))
            await told.wait()
            gate.opened.set()
            assert (await call).outcome is Outcome.OK
    assert reported[0] == (0.0, 20.0, "Search the web: q")


async def test_documentation_of_one_package_is_searched_with_whole_passages(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(
        "# Frobnicating\n\nHow to frobnicate a widget:\n\n    frobnicate(widget)\n    done()\n"
    )
    async with AsyncWeb() as own:
        own.library = Shelf(tmp_path)
        found_here = await Toolbox(own).call("docs_search", {"query": "frobnicate widget"})
        elsewhere = await Toolbox(own).call("docs_search", {"query": "frobnicate widget", "package": "dogs"})
    assert found_here.outcome is Outcome.OK
    assert "\n```\n" in found_here.text
    assert "    frobnicate(widget)\n    done()\n" in found_here.text
    assert elsewhere.text == (
        "No results: local found nothing. 'dogs' is not installed here; 'docs' is. Next: call docs_search without"
        " package, or web_search for documentation that is not installed here.\n"
    )


async def test_documentation_that_the_user_forbids_is_not_searched() -> None:
    async with AsyncWeb({"search.deny": ["local"]}) as own:
        result = await Toolbox(own).call("docs_search", {"query": "json.dumps"})
    assert (result.is_error, result.outcome) == (True, Outcome.UNAVAILABLE)
    assert "search.deny" in result.text


async def test_a_call_without_a_web_opens_one_and_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with World() as world:
        services = fakes(world, searxng=found("one"))
        for name, value in services.environment("searxng").items():
            monkeypatch.setenv(name, value)
        result = await webseam.tools.call("web_search", {"query": "words"})
    assert "https://example.org/one" in result.text


async def test_settings_that_are_wrong_are_a_result_of_a_call_without_a_web(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSEAM_SEARCH_COUNT", "many")
    result = await webseam.tools.call("web_search", {"query": "words"})
    assert (result.outcome, result.is_error) == (Outcome.INVALID, True)
    assert "search.count" in result.text


def test_the_names_of_the_package_are_there_without_importing_it() -> None:
    assert [tool["name"] for tool in webseam.tools.schemas("anthropic", names=["web_fetch"])] == ["web_fetch"]
    with pytest.raises(webseam.RequestError) as raised:
        webseam.tools.schemas("anthropic", names=["web_find"])
    assert str(raised.value) == (
        "invalid: names: there is no tool 'web_find' (there are web_search, web_fetch, docs_search)"
    )
