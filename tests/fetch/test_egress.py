"""The egress policy through whole fetches: every shared case, and every URL that a page can offer.

What is checked is what is dialled, not only what is said: see `dialled`. tests/clients has the same with real sockets
and the real program.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from tests.fetch.dialled import Dialled, by_path, page_behind
from tests.fetch.world import PARAGRAPH, SHELL, html
from tests.world import Connection, Recorded, World, answer_bytes
from webseam.errors import EgressDenied, Outcome, TransportError, WebSeamError
from webseam.fetch.request import FetchRequest
from webseam.fetch.service import Fetching
from webseam.model import Page
from webseam.resilience.deadline import Deadline
from webseam.web import AsyncWeb

CASES = json.loads((Path(__file__).parents[1] / "net" / "cases" / "egress_cases.json").read_text("utf-8"))["cases"]
PUBLIC = "93.184.215.14"
TEXT = (200, {"Content-Type": "text/plain"}, "words of the page\n")
OF_OPERATOR = "provider_base_url"  # what a user sets for a service, not a page; here a site's API stands for it
AS_INVALID = ("url.not_absolute", "url.userinfo")  # a caller's slip, see fetch/request.py
AS_FAILURE = {  # what is no danger but a network or a server that does not work
    "dns.no_answers": Outcome.NETWORK,
    "proxy.env_ignored": Outcome.NETWORK,
    "redirect.loop": Outcome.BAD_RESPONSE,
    "redirect.too_many": Outcome.BAD_RESPONSE,
}
BEHIND = {  # the rule behind each `redirect.blocked`, which its detail names
    "rebind-04": "address.loopback",
    "redirect-01": "address.loopback",
    "redirect-02": "address.metadata",
    "redirect-03": "address.metadata",
    "redirect-05": "address.loopback",
    "redirect-06": "url.scheme",
    "redirect-07": "url.scheme",
    "redirect-09": "url.userinfo",
    "redirect-10": "address.private",
    "redirect-11": "address.private",
    "redirect-13": "url.backslash",
    "redirect-14": "url.not_absolute",
    "redirect-15": "port.denied",
}
FETCHED = [case for case in CASES if case.get("context") != OF_OPERATOR]


def context_of(case: dict[str, Any]) -> tuple[str, str]:
    kind, _, value = case.get("context", "").partition(":")
    return kind, value


def web(world: World, **settings: Any) -> AsyncWeb:
    """Return a web as a user has it: nothing of his network is allowed, and no browser is started."""
    given = {name.replace("__", "."): value for name, value in settings.items()}
    given.setdefault("fetch.browser", False)
    return AsyncWeb(given, environment=dict(os.environ), resolver=world.names)


def script(world: World, case: dict[str, Any]) -> None:
    for host, answers in case.get("dns", {}).items():
        world.names.set(host, *answers)


@asynccontextmanager
async def opened(own: AsyncWeb, case: dict[str, Any], world: World) -> Any:
    """Give what fetches for a case: the web, or one that listens where the case says."""
    kind, value = context_of(case)
    async with own:
        if kind != "listen":
            yield own.fetch
            return
        fetching = Fetching(own._services, own.health, own.saved_keys, warn=print, resolver=world.names, own=(value,))

        async def fetch(url: str) -> Page:
            return await fetching.fetch(FetchRequest(url=url), own.settings(), Deadline.after(10))

        yield fetch
        await fetching.aclose()


async def outcome_of(work: Any) -> Page | WebSeamError:
    try:
        page: Page = await work
    except WebSeamError as error:
        return error
    return page


def visited(case: dict[str, Any]) -> Iterator[str]:
    """Yield the URLs of a case that are asked for, as they are dialled: the hop that is refused is not among them."""
    url = case["url"].strip()
    yield url
    for hop in case.get("hops", ())[: None if case["verdict"] == "allow" else -1]:
        url = urljoin(url, hop)
        yield url


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in FETCHED])
async def test_each_case_is_refused_before_anything_is_dialled_or_dials_only_its_address(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, value = context_of(case)
    if kind == "env":
        monkeypatch.setenv(*value.split("=", 1))
    tls = "https:" in case["url"]
    settings = {"net__proxy": value.partition("=")[2]} if kind == "config" else {}
    async with World() as world:
        if tls:
            settings["net__ca_bundle"] = world.ca_bundle
        script(world, case)
        dialled = Dialled(monkeypatch, page_behind(case.get("hops", []), TEXT))
        dialled.open(world, *case.get("dns", {}), tls=tls)
        async with opened(web(world, **settings), case, world) as fetch:
            told = await outcome_of(fetch(case["url"]))
    assert dialled.strays == []
    assert len(world.names.lookups) <= case.get("max_lookups", 1 + len(case.get("hops", ())))
    if case["verdict"] == "allow":
        if "pin" in case:
            assert dialled.addresses[0][0] == case["pin"]
        if "_" in case["url"]:  # no certificate can be made for such a name; that it is dialled is what the case says
            assert isinstance(told, TransportError)
            assert told.phase == "tls"
        else:
            assert isinstance(told, Page), told
            assert (told.outcome, told.markdown) == (Outcome.OK, "words of the page\n")
        if "expect_sni" in case:
            assert isinstance(told, Page)
            assert urlsplit(told.final_url or "").hostname == case["expect_sni"]
    else:
        check_refusal(told, case["rule"])
        if case["rule"] == "redirect.blocked":
            assert isinstance(told, EgressDenied)
            assert f"{BEHIND[case['id']]}: " in told.detail
    first = {host: answers[0] for host, answers in case.get("dns", {}).items()}
    allowed = {address for answers in first.values() for address in answers} | {case.get("pin")}
    if "hops" not in case and case["verdict"] == "block":
        assert dialled.addresses == []
        assert told.attempts == () or [one.outcome for one in told.attempts] == [told.outcome]
    else:
        assert {address for address, _ in dialled.addresses} <= allowed
        assert len(dialled.addresses) <= len(list(visited(case)))


def check_refusal(told: Page | WebSeamError, rule: str) -> None:
    """Assert that a fetch ended as the rule of its case says."""
    if rule in AS_FAILURE:
        assert isinstance(told, TransportError)
        assert told.outcome is AS_FAILURE[rule]
        return
    assert isinstance(told, EgressDenied), told
    assert told.rule == rule
    assert told.outcome is (Outcome.INVALID if rule in AS_INVALID else Outcome.UNSAFE)


def test_all_cases_but_those_of_services_are_fetched_here() -> None:
    assert (len(CASES), len(FETCHED), len(OFFERED)) == (308, 304, 231)


# What a site's API address in the settings may be: the cases of a service's base URL.


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in CASES if case.get("context") == OF_OPERATOR]
)
async def test_an_api_address_of_the_users_own_may_be_private_and_never_metadata(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    info = {"info": {"name": "widget", "version": "2.1", "summary": "Frobnicates.", "description": "# Use it\n"}}
    base = urlsplit(case["url"])
    settings = {"sites.pypi__base_url": case["url"]}
    async with World() as world:
        script(world, case)
        world.names.set("pypi.org", [PUBLIC])
        world.names.set("files.pythonhosted.org", [PUBLIC])
        asked: list[Recorded] = []
        routes = {f"{base.path.rstrip('/')}/pypi/widget/json": (200, {}, info), "/project/widget/": TEXT}
        dialled = Dialled(monkeypatch, by_path(routes, asked))
        dialled.open(world)
        async with web(world, **settings) as own:
            told = await outcome_of(own.fetch("http://pypi.org/project/widget/"))
    assert dialled.strays == []
    private = {address for address, _ in dialled.addresses} - {PUBLIC}
    if case["verdict"] == "allow":
        assert isinstance(told, Page), told
        (address,) = private
        assert (told.site, address) == ("pypi", case["dns"][base.hostname][0][0] if "dns" in case else base.hostname)
    else:
        assert private == set()
        assert not isinstance(told, Page) or told.site is None


# What a page offers.

OFFERED = [
    case
    for case in FETCHED
    if case["verdict"] == "block" and "hops" not in case and context_of(case)[0] not in ("listen", "config", "env")
]
GROUPS = sorted({case["group"] for case in OFFERED})
in_groups = pytest.mark.parametrize("group", GROUPS)


def offers(group: str) -> list[dict[str, Any]]:
    return [case for case in OFFERED if case["group"] == group]


async def offering(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, routes: dict[str, Any]) -> Any:
    """Fetch a page of a public site with these routes; return what came of it, what was dialled and asked."""
    asked: list[Recorded] = []
    with monkeypatch.context() as patched:
        async with World() as world:
            script(world, case)
            world.names.set("page.example.com", [PUBLIC])
            dialled = Dialled(patched, by_path(routes, asked))
            dialled.open(world)
            async with web(world, fetch__cache=False) as own:
                told = await outcome_of(own.fetch("http://page.example.com/app"))
    assert dialled.strays == []
    assert {address for address, _ in dialled.addresses} == {PUBLIC}, case["id"]
    return told, [request.path for request in asked]


@in_groups
async def test_a_link_to_a_text_form_is_judged_like_any_other_url(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in offers(group):
        link = f'<link rel="alternate" type="text/markdown" href="{escape(case["url"])}">'
        shell = (200, {"Content-Type": "text/html; charset=utf-8"}, SHELL.format(head=link))
        told, asked = await offering(case, monkeypatch, {"/app": shell})
        assert isinstance(told, WebSeamError), case["id"]
        assert told.outcome in (Outcome.UNSAFE, Outcome.JS_REQUIRED), case["id"]  # the caller's input is right
        if told.outcome is not Outcome.JS_REQUIRED:
            assert asked == ["/app"], case["id"]
            assert isinstance(told, EgressDenied)


@in_groups
async def test_an_entry_of_the_list_of_texts_is_judged_too(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = (200, {"Content-Type": "text/html"}, SHELL.format(head=""))
    listed = "".join(f"- [App](<{case['url']}>)\n- [App]({case['url']}app.md)\n" for case in offers(group))
    index = (200, {"Content-Type": "text/plain; charset=utf-8"}, f"# Site\n\n{listed}")
    told, asked = await offering(offers(group)[0], monkeypatch, {"/app": shell, "/llms.txt": index})
    assert told.outcome is Outcome.JS_REQUIRED
    assert asked[:3] == ["/app", "/app.md", "/llms.txt"]
    assert set(asked[3:]) <= {"/app.md"}  # of the entries only what is relative is of this site


@pytest.mark.parametrize("where", ["/app.md", "/llms.txt", "/app"])
@in_groups
async def test_a_redirect_of_any_request_of_a_fetch_is_judged(
    group: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = (200, {"Content-Type": "text/html"}, SHELL.format(head=""))
    for case in offers(group):
        location = case["url"].encode("utf-8", "replace").decode("latin-1")
        if not location.isprintable() or location != location.strip():
            continue  # no header can hold it
        moved = (302, {"Location": location}, "")
        told, asked = await offering(case, monkeypatch, {"/app": shell, where: moved})
        assert isinstance(told, WebSeamError), case["id"]
        if isinstance(told, EgressDenied):
            assert told.rule == "redirect.blocked"
            assert asked[-1] == where
        else:  # a relative reference, or a name without an address: it leads to the page's own site or nowhere
            assert told.outcome in (Outcome.JS_REQUIRED, Outcome.NETWORK, Outcome.BAD_RESPONSE, Outcome.NOT_FOUND)


FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title><link>{url}</link>
<image><url>{url}</url></image><item><title>Item</title><link>{url}</link><enclosure url="{url}" type="audio/mpeg"/>
<description>Words &lt;img src="{url}"&gt;</description></item></channel></rss>"""
ENTITY = """<?xml version="1.0"?><!DOCTYPE note SYSTEM "{url}" [<!ENTITY % more SYSTEM "{url}">
<!ENTITY text SYSTEM "{url}">]><?xml-stylesheet href="{url}"?><note xmlns:xi="http://www.w3.org/2001/XInclude">
<xi:include href="{url}"/>&text; words</note>"""
HEAD = """<base href="{url}"><meta http-equiv="refresh" content="0; url={url}"><link rel="stylesheet" href="{url}">
<link rel="alternate" type="text/markdown" href="{url}">
<link rel="alternate" type="application/json+oembed" href="{url}">
<link rel="canonical" href="{url}"><link rel="preload" href="{url}"><meta property="og:image" content="{url}">"""
BODY = """<img src="{url}"><iframe src="{url}"></iframe><object data="{url}"></object><embed src="{url}">
<a href="{url}">link</a><script src="{url}"></script><video src="{url}" poster="{url}"></video><form action="{url}">
</form><svg><image href="{url}"/><use href="{url}"/></svg>"""
PASSIVE = {
    "a page": (
        "text/html",
        html(PARAGRAPH * 3, "{body}", head="{head}").replace("{body}", BODY).replace("{head}", HEAD),
    ),
    "a feed": ("application/rss+xml", FEED),
    "XML with entities": ("application/xml", ENTITY),
    "Markdown": ("text/markdown", "# Words\n\n![x]({url}) [y]({url}) <{url}>\n"),
    "an image of vectors": ("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"><image href="{url}"/></svg>'),
    "a notebook": (
        "application/x-ipynb+json",
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "markdown", "metadata": {},'
        ' "source": ["![x]({url})"]}]}',
    ),
}


@pytest.mark.parametrize("kind", PASSIVE)
@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "http://169.254.169.254/x", "http://other.example.com/x"])
async def test_what_a_good_document_names_is_not_asked_for(
    kind: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    media_type, text = PASSIVE[kind]
    headers = {
        "Content-Type": media_type,
        "Refresh": f"0; url={url}",
        "Link": f"<{url}>; rel=alternate; type=text/markdown",
    }
    case = {"id": kind, "dns": {"other.example.com": [[PUBLIC]]}}
    told, asked = await offering(case, monkeypatch, {"/app": (200, headers, text.replace("{url}", url))})
    assert asked == ["/app"]
    assert isinstance(told, Page) or (kind, told.outcome) == ("XML with entities", Outcome.UNSUPPORTED), told


REMOTE = {"jina.api_key": "jina_key-for-tests-only", "fetch.remote_readers": ["jina"], "fetch.browser": False}


@in_groups
async def test_no_service_is_shown_a_url_that_is_not_public(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in offers(group):
        with monkeypatch.context() as patched:
            async with World() as world:
                service = world.site()
                script(world, case)
                settings = {**REMOTE, "jina.reader_url": service.url, "fetch.allow": ["0.0.0.0/0", "::/0"]}
                dialled = Dialled(patched, by_path({}, service.requests))
                dialled.open(world)
                async with AsyncWeb(settings, environment=dict(os.environ), resolver=world.names) as own:
                    told = await outcome_of(own.fetch(case["url"], reader="jina"))
        assert isinstance(told, WebSeamError), case["id"]
        assert told.outcome in (Outcome.UNSAFE, Outcome.INVALID), case["id"]
        assert (dialled.addresses, service.requests, told.sent_to) == ([], [], ()), case["id"]


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:8080/x", "http://wiki:8080/x", "http://printer.local:8080/x", "http://127.0.0.1:8080/x"]
)
async def test_the_archive_is_not_shown_a_page_of_the_users_network(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Recorded] = []
    async with World() as world:
        for host in ("wiki", "printer.local"):
            world.names.set(host, ["10.0.0.1"])
        dialled = Dialled(monkeypatch, by_path({}, asked))  # which answers 404: the page is gone
        dialled.open(world)
        settings = {"fetch__allow": ["10.0.0.0/8", "127.0.0.1", "wiki", "printer.local"], "fetch__archive": True}
        async with web(world, fetch__archive_url="http://archive.example.com", **settings) as own:
            told = await outcome_of(own.fetch(url))
    assert isinstance(told, WebSeamError)
    assert (told.outcome, told.sent_to) == (Outcome.NOT_FOUND, ())  # of the page itself
    assert [request.path for request in asked] == ["/x"]
    assert "archive.example.com" not in world.names.lookups


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param((302, {"Location": "http://10.0.0.1/"}, ""), "redirect.blocked", id="a redirect"),
        pytest.param(
            (200, {}, {"archived_snapshots": {"closest": {
                "available": True, "status": "200", "timestamp": "20240131120000", "url": "http://10.0.0.1/copy",
            }}}), None, id="the address in its answer",
        ),
    ],
)  # fmt: skip
async def test_where_an_archive_leads_is_judged(answer: Any, says: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Recorded] = []
    async with World() as world:
        for host in ("gone.example.com", "archive.example.com"):
            world.names.set(host, [PUBLIC])
        dialled = Dialled(monkeypatch, by_path({"/wayback/available": answer}, asked))
        dialled.open(world)
        async with web(world, fetch__archive=True, fetch__archive_url="http://archive.example.com") as own:
            told = await outcome_of(own.fetch("http://gone.example.com/page"))
    assert {address for address, _ in dialled.addresses} == {PUBLIC}
    assert isinstance(told, WebSeamError)
    if says is not None:
        assert isinstance(told, EgressDenied)
        assert told.rule == says
    else:
        assert told.outcome is Outcome.NOT_FOUND


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        pytest.param(["127.0.0.1"], "address.loopback", id="loopback"),
        pytest.param(["169.254.169.254"], "address.metadata", id="metadata"),
        pytest.param([PUBLIC, "10.0.0.1"], "dns.mixed_answers", id="mixed"),
        pytest.param(["::ffff:10.0.0.1"], "address.private", id="mapped"),
    ],
)
async def test_a_kept_page_is_not_given_when_its_host_may_no_longer_be_asked(
    answers: list[str], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (200, {"Content-Type": "text/plain", "Cache-Control": "max-age=600"}, "words\n")
    async with World() as world:
        world.names.set("page.example.com", [PUBLIC])
        dialled = Dialled(monkeypatch, by_path({"/app": kept}, []))
        dialled.open(world)
        async with web(world) as own:
            assert isinstance(await own.fetch("http://page.example.com/app"), Page)
        async with web(world) as own:
            again = await own.fetch("http://page.example.com/app")
            assert isinstance(again, Page)
            assert again.cached
        world.names.set("page.example.com", answers)
        async with web(world) as own:
            told = await outcome_of(own.fetch("http://page.example.com/app"))
    assert isinstance(told, EgressDenied)
    assert (told.rule, len(dialled.addresses)) == (rule, 1)


async def test_a_kept_redirect_is_judged_as_a_new_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = (301, {"Location": "http://next.example.com/end", "Cache-Control": "max-age=600"}, "")
    end = (200, {"Content-Type": "text/plain", "Cache-Control": "max-age=600"}, "words\n")
    async with World() as world:
        for host in ("page.example.com", "next.example.com"):
            world.names.set(host, [PUBLIC])
        dialled = Dialled(monkeypatch, by_path({"/app": moved, "/end": end}, []))
        dialled.open(world)
        async with web(world) as own:
            assert isinstance(await own.fetch("http://page.example.com/app"), Page)
            world.names.set("next.example.com", ["192.168.1.1"])
            told = await outcome_of(own.fetch("http://page.example.com/app"))
    assert isinstance(told, EgressDenied)
    assert told.rule == "redirect.blocked"
    assert {address for address, _ in dialled.addresses} == {PUBLIC}


async def test_a_page_of_the_users_network_that_was_kept_is_gone_with_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = (200, {"Content-Type": "text/plain", "Cache-Control": "max-age=600"}, "words\n")
    async with World() as world:
        dialled = Dialled(monkeypatch, by_path({"/app": kept}, []))
        dialled.open(world)
        async with web(world, fetch__allow=["10.0.0.1"]) as own:
            assert isinstance(await own.fetch("http://10.0.0.1/app"), Page)
        async with web(world) as own:
            told = await outcome_of(own.fetch("http://10.0.0.1/app"))
    assert isinstance(told, EgressDenied)
    assert told.rule == "address.private"


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://inside.example.com/", "http://169.254.169.254/latest"])
@pytest.mark.parametrize("where", ["/t/words/7.json", "/site.json"])
async def test_a_sites_api_on_the_pages_own_host_leads_nowhere_private(
    target: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Recorded] = []
    async with World() as world:
        world.names.set("forum.example.com", [PUBLIC])
        world.names.set("inside.example.com", ["10.0.0.1"])
        routes = {path: (302, {"Location": target}, "") for path in (where, "/t/7.json")}
        dialled = Dialled(monkeypatch, by_path(routes, asked))
        dialled.open(world)
        async with web(world, **{"sites.discourse__hosts": ["forum.example.com"]}) as own:
            told = await outcome_of(own.fetch("http://forum.example.com/t/words/7"))
    assert isinstance(told, WebSeamError)
    assert {address for address, _ in dialled.addresses} == {PUBLIC}
    assert told.outcome in (Outcome.UNSAFE, Outcome.NOT_FOUND)
    assert told.attempts[0].provider == "discourse"


async def test_a_host_that_turns_private_between_two_requests_of_one_fetch_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with World() as world:
        world.names.set("page.example.com", [PUBLIC], ["127.0.0.1"])
        shell = (200, {"Content-Type": "text/html", "Connection": "close"}, SHELL.format(head=""))

        async def once(connection: Connection) -> None:
            await connection.request()
            await connection.send(answer_bytes(*shell))

        dialled = Dialled(monkeypatch, once)
        dialled.open(world)
        async with web(world) as own:
            told = await outcome_of(own.fetch("http://page.example.com/app"))
    assert isinstance(told, EgressDenied)
    assert (told.rule, dialled.addresses) == ("address.loopback", [(PUBLIC, 80)])
    assert [one.outcome for one in told.attempts] == [Outcome.JS_REQUIRED, Outcome.UNSAFE]
