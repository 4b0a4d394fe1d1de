"""A custom provider: what each setting sends, what is refused before anything is sent, and what is tried again."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.wire import QUERY, captured
from tests.wire.fake import FORGETFUL, KEY, Fake, search, sent, successive, told
from tests.wire.write import JSON, results
from tests.world import Connection, World, answer_bytes, soon
from webseam import providers
from webseam.config import PROVIDER_COMMON
from webseam.errors import EgressDenied, Outcome, SettingsError
from webseam.model import SearchRequest
from webseam.net.policy import EgressPolicy
from webseam.providers.base import OPTIONS
from webseam.web import AsyncWeb

NOTHING = results("custom", [])
FOUND = results("custom", [{"url": "https://example.org/", "title": "Found"}])
LIFTED = {"allow_http": "true", "allow_private": "true"}
PLAIN: dict[str, Any] = {"url_template": None, "api_key": None}
SPACED = QUERY.replace(" ", "%20")


@pytest.mark.parametrize(
    "settings, target",
    [
        pytest.param({"url": "{url}/find"}, f"/find?q={SPACED}", id="url"),
        pytest.param({"url": "{url}"}, f"/?q={SPACED}", id="host-alone"),
        pytest.param({}, f"/?q={SPACED}", id="base-url"),
        pytest.param({"url": "{url}/a", "url_template": "{url}/b/{query}"}, f"/b/{SPACED}", id="template-wins"),
        pytest.param({"url": "{url}/{{query}}/{count}-{page}"}, f"/{SPACED}/10-1", id="placeholders-in-the-path"),
        pytest.param({"url": "{url}/?a={b}&x={query}"}, f"/?a={{b}}&x={SPACED}", id="other-braces"),
        pytest.param({"url": "{url}/?q=typed&x=1"}, f"/?x=1&q={SPACED}", id="a-query-typed-before"),
        pytest.param({"url": "{url}/", "query_param": "search for"}, f"/?search%20for={SPACED}", id="other-parameter"),
        pytest.param(
            {"url": "{url}/?lang=de&x=1", "params": '{"lang": "en", "n": 5, "t": "{query}&"}'},
            f"/?x=1&lang=en&n=5&t=%7Bquery%7D%26&q={SPACED}",
            id="further-parameters",
        ),
        pytest.param({"url": "{url}", "preset": "searxng"}, f"/search?format=json&q={SPACED}", id="preset-and-host"),
        pytest.param(
            {"url": "{url}/own?format=html", "preset": "searxng"}, f"/own?format=json&q={SPACED}", id="preset-and-path"
        ),
        pytest.param({"preset": "searxng"}, f"/search?format=json&q={SPACED}", id="preset-and-base-url"),
    ],
)
async def test_the_url_says_where_the_query_goes(settings: dict[str, Any], target: str) -> None:
    request = await sent("custom", {}, NOTHING, settings={**PLAIN, **settings})
    assert (request.method, request.target, request.body) == ("GET", target, b"")


@pytest.mark.parametrize(
    "settings, target, kind, body",
    [
        pytest.param({}, "/x", "application/json", b'{"q":"%s"}', id="no-template"),
        pytest.param({"query_param": 'a"b'}, "/x", "application/json", b'{"a\\"b":"%s"}', id="other-parameter"),
        pytest.param(
            {"body_template": '{"find": ["{{query}}", {count}, {page}]}'},
            "/x",
            "application/json",
            b'{"find": ["%s", 10, 1]}',
            id="json",
        ),
        pytest.param(
            {"headers": "content-type: application/vnd.example+json; charset=utf-8"},
            "/x",
            "application/vnd.example+json; charset=utf-8",
            b'{"q":"%s"}',
            id="a-kind-of-json",
        ),
        pytest.param(
            {"headers": "Content-Type: application/x-www-form-urlencoded", "body_template": "n={count}&w={query}"},
            "/x",
            "application/x-www-form-urlencoded",
            b"n=10&w=" + QUERY.replace(" ", "+").encode(),
            id="form",
        ),
        pytest.param(
            {"headers": "Content-Type: application/x-www-form-urlencoded", "query_param": "{w}"},
            "/x",
            "application/x-www-form-urlencoded",
            b"%7Bw%7D=" + QUERY.replace(" ", "+").encode(),
            id="form-without-a-template",
        ),
        pytest.param(
            {"body_template": '{"always": true}'},
            f"/x?q={SPACED}",
            "application/json",
            b'{"always": true}',
            id="a-body-without-the-query",
        ),
    ],
)
async def test_a_post_carries_the_query_in_its_body(
    settings: dict[str, Any], target: str, kind: str, body: bytes
) -> None:
    wanted = {**PLAIN, "url": "{url}/x", "method": "POST", **settings}
    request = await sent("custom", {}, NOTHING, settings=wanted)
    assert (request.method, request.target, request.headers["content-type"]) == ("POST", target, kind)
    assert request.body == body.replace(b"%s", QUERY.encode())


@pytest.mark.parametrize(
    "settings, header, value",
    [
        pytest.param({}, "authorization", f"Bearer {KEY}", id="bearer"),
        pytest.param({"auth_scheme": "Token"}, "authorization", f"Token {KEY}", id="another-scheme"),
        pytest.param({"auth_scheme": ""}, "authorization", KEY, id="bare"),
        pytest.param({"auth_header": "X-API-Key", "auth_scheme": ""}, "x-api-key", KEY, id="another-header"),
        pytest.param({"auth_header": ""}, "authorization", None, id="no-header"),
        pytest.param({"api_key": None}, "authorization", None, id="no-key"),
        pytest.param({"headers": "authorization: Basic eDp5"}, "authorization", "Basic eDp5", id="replaced"),
        pytest.param({"preset": "brave"}, "x-subscription-token", KEY, id="of-a-preset"),
        pytest.param({"preset": "brave", "auth_header": "Authorization"}, "authorization", KEY, id="preset-changed"),
        pytest.param({"preset": "serpapi"}, "authorization", None, id="preset-without"),
    ],
)
async def test_the_key_goes_into_this_header(settings: dict[str, Any], header: str, value: str | None) -> None:
    request = await sent("custom", {}, NOTHING, settings={"url_template": None, "url": "{url}/x", **settings})
    assert request.headers.get(header) == value


async def test_headers_of_ones_own_are_merged_last() -> None:
    own = "Accept: application/json; q=0.9; X-Tenant-Id: 42 ; user-agent: mine"
    request = await sent("custom", {}, NOTHING, settings={"headers": own})
    names = ("accept", "x-tenant-id", "user-agent")
    assert [request.headers[name] for name in names] == ["application/json; q=0.9", "42", "mine"]


async def test_every_variable_and_the_key_of_the_same_name_in_a_file_ask_for_the_same() -> None:
    """The variables of other tools, and a table in the user's file."""
    values = {
        "url_template": ("WEB_URL_TEMPLATE", "{url}/t?n={count}"),
        "params": ("WEB_PARAMS", '{"lang": "en"}'),
        "method": ("WEB_METHOD", "POST"),
        "body_template": ("WEB_BODY_TEMPLATE", '{"find": "{query}"}'),
        "api_key": ("WEB_KEY", KEY),
        "auth_header": ("WEB_AUTH_HEADER", "X-Odd-Key"),
        "auth_scheme": ("WEB_AUTH_SCHEME", "Key"),
        "headers": ("WEB_HEADERS", "X-Tenant-Id: 42"),
        "json_path": ("WEB_JSON_PATH", "results"),
        "allow_http": ("WEB_CUSTOM_ALLOW_HTTP", "true"),
        "allow_private": ("WEB_CUSTOM_ALLOW_PRIVATE", "true"),
        "allow_arbitrary_headers": ("WEB_CUSTOM_ALLOW_ARBITRARY_HEADERS", "true"),
    }
    async with World() as world:
        fake = Fake(world, FOUND)
        given = {name: (variable, value.replace("{url}", fake.url)) for name, (variable, value) in values.items()}
        async with AsyncWeb(environment={**os.environ, **FORGETFUL, **dict(given.values())}) as web:
            first = await told(web, "custom", {"count": 1})
        _write_settings("custom", {name: value for name, (_, value) in given.items()})
        async with AsyncWeb(environment={**os.environ, **FORGETFUL}) as web:
            second = await told(web, "custom", {"count": 1})
    assert [one.outcome for one in (first, second)] == [Outcome.OK, Outcome.OK]
    one, other = fake.requests
    assert (one.method, one.target, one.body) == ("POST", "/t?n=1&lang=en", b'{"find": "%s"}' % QUERY.encode())
    assert (one.headers["x-odd-key"], one.headers["x-tenant-id"]) == (f"Key {KEY}", "42")
    assert (other.method, other.target, other.fields, other.body) == (one.method, one.target, one.fields, one.body)


def _write_settings(table: str, values: dict[str, Any]) -> None:
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items()]
    _write_user_file("".join([f"[{table}]\n", *lines]))


def _write_user_file(text: str) -> None:
    """Add to the user's settings."""
    folder = Path(os.environ["WEBSEAM_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "config.toml").open("a", encoding="utf-8") as file:
        file.write(text)
    (folder / "config.toml").chmod(0o600)


async def test_several_services_are_a_table_each_and_take_no_variable_of_other_tools() -> None:
    variables = {"WEB_SEARCH_API": "https://example.org/", "WEB_KEY": "OTHER-KEY", "WEB_METHOD": "POST"}
    async with World() as world:
        wiki, code = Fake(world, FOUND), Fake(world, FOUND)
        lifted = {"allow_http": True, "allow_private": True}  # as TOML writes it
        _write_settings("providers.custom.wiki", {"url": wiki.url + "/w", "api_key": KEY, **lifted})
        _write_settings("providers.custom.code-base", {"url": code.url + "/c", "query_param": "find", **lifted})
        environment = {**os.environ, **FORGETFUL, **variables, "WEBSEAM_CODE_BASE_PARAMS": '{"in": "main"}'}
        async with AsyncWeb(environment=environment) as web:
            merged = await told(web, "fuse:wiki,code-base", {"count": 2})
    assert [attempt.provider for attempt in merged.attempts] == ["wiki", "code-base"]
    assert [hit.providers for hit in merged.hits] == [("wiki", "code-base")]
    assert [wiki.requests[0].target, code.requests[0].target] == [f"/w?q={SPACED}", f"/c?in=main&find={SPACED}"]
    assert [fake.requests[0].headers.get("authorization") for fake in (wiki, code)] == [f"Bearer {KEY}", None]


@pytest.mark.parametrize(
    "settings, seconds",
    [
        pytest.param({}, 15.0, id="default"),
        pytest.param({"WEB_CUSTOM_TIMEOUT_SEC": "2.5"}, 2.5, id="variable"),
        pytest.param({"WEB_CUSTOM_TIMEOUT_SEC": "2.5", "WEBSEAM_CUSTOM_TIMEOUT": "4"}, 4.0, id="our-own-wins"),
    ],
)
async def test_the_time_of_one_call_can_be_set(settings: dict[str, str], seconds: float) -> None:
    environment = {**os.environ, "WEB_SEARCH_API": "https://example.org/", **settings}
    async with AsyncWeb(environment=environment) as web:
        (candidate,) = web.plan("custom").candidates
    assert candidate.config.timeout == seconds


# What is refused.


@pytest.mark.parametrize(
    "variables, field, problem",
    [
        pytest.param({"WEB_SEARCH_API": "example.org"}, "url", "is not an http or https URL", id="no-scheme"),
        pytest.param({"WEB_SEARCH_API": "ftp://example.org/"}, "url", "ftp: is neither http nor https", id="ftp"),
        pytest.param({"WEB_SEARCH_API": "https://me:pw@example.org/"}, "url", "credentials", id="credentials"),
        pytest.param({"WEB_SEARCH_API": "https://{query}.example.org/"}, "url", "placeholder in the", id="in-the-host"),
        pytest.param({"WEB_SEARCH_API": "https://example.org:{page}/"}, "url", "placeholder in the", id="in-the-port"),
        pytest.param({"WEB_SEARCH_API": "https://example.org/#{query}"}, "url", "has a fragment", id="in-the-fragment"),
        pytest.param({"WEB_SEARCH_API": "https://example.org/a/../b"}, "url", "has . or ..", id="dots"),
        pytest.param({"WEB_URL_TEMPLATE": "https://exa mple.org/"}, "url_template", "label", id="template"),
        pytest.param({"WEB_SEARCH_API": "https://example.org/a\r\nb"}, "url", "line break", id="line-break"),
        pytest.param({"WEB_PROVIDER": "searcher"}, "preset", "names 'searcher', which is not one of", id="preset"),
        pytest.param({"WEB_PARAMS": "lang=en"}, "params", "is not JSON", id="params"),
        pytest.param({"WEB_PARAMS": "[1]"}, "params", "is not a JSON object", id="params-list"),
        pytest.param({"WEB_PARAMS": '{"a": true}'}, "params", "neither text nor a number", id="params-switch"),
        pytest.param({"WEB_PARAMS": '{"a": "1", "a": "2"}'}, "params", "same key twice", id="params-twice"),
        pytest.param({"WEB_PARAMS": '{"q": "x"}'}, "params", "another value anyway", id="params-and-query"),
        pytest.param(
            {"WEB_PARAMS": '{"format": "html"}', "WEB_PROVIDER": "searxng"}, "params", "another", id="params-and-preset"
        ),
        pytest.param(
            {"WEB_SEARCH_API": "https://example.org/?s={query}", "WEB_PARAMS": '{"s": "x"}'},
            "url",
            "fills in 's', which is sent with another value anyway",
            id="params-over-a-placeholder",
        ),
        pytest.param({"WEB_METHOD": "PUT"}, "method", "is not one of GET, POST", id="method"),
        pytest.param({"WEB_BODY_TEMPLATE": '{"q":"{query}"}'}, "body_template", "with POST alone", id="body-of-a-get"),
        pytest.param(
            {"WEB_METHOD": "POST", "WEB_BODY_TEMPLATE": '{"q": {query}}'}, "body_template", "not JSON", id="bare-query"
        ),
        pytest.param(
            {"WEB_METHOD": "POST", "WEB_BODY_TEMPLATE": '{"q": "\\u000{query}"}'},
            "body_template",
            "cannot hold any text",
            id="query-inside-an-escape",
        ),
        pytest.param(
            {"WEB_METHOD": "POST", "WEB_BODY_TEMPLATE": '{"q": "{query}"'}, "body_template", "not JSON", id="cut-json"
        ),
        pytest.param(
            {"WEB_METHOD": "POST", "WEB_BODY_TEMPLATE": '{"q": "%s"}' % ("x" * 1_024), "WEB_CUSTOM_MAX_BODY_KB": "1"},
            "body_template",
            "is larger than 1 KB",
            id="large-body",
        ),
        pytest.param(
            {"WEB_METHOD": "POST", "WEB_HEADERS": "content-type: text/xml"}, "headers", "'text/xml'", id="xml"
        ),
        pytest.param({"WEB_HEADERS": "no header"}, "headers", "no header", id="header"),
        pytest.param({"WEB_HEADERS": "accept: a; Accept: b"}, "headers", "sets Accept twice", id="header-twice"),
        pytest.param({"WEB_HEADERS": "Host: other.example"}, "headers", "set by the client itself", id="host"),
        pytest.param({"WEB_HEADERS": "content-length: 1"}, "headers", "set by the client itself", id="length"),
        pytest.param(
            {"WEB_HEADERS": "transfer-encoding: x"}, "headers", "by the client itself", id="transfer-encoding"
        ),
        pytest.param({"WEB_HEADERS": "connection: close"}, "headers", "by the client itself", id="connection"),
        pytest.param({"WEB_HEADERS": "accept: a\r\nx-y: z"}, "headers", "line break", id="header-line-break"),
        pytest.param({"WEB_HEADERS": "accept: \u20ac"}, "headers", "outside Latin-1", id="header-euro"),
        pytest.param({"WEB_AUTH_HEADER": "X Key"}, "auth_header", "cannot be sent", id="auth-header"),
        pytest.param({"WEB_AUTH_SCHEME": "\u20ac"}, "auth_scheme", "cannot be sent", id="auth-scheme"),
        pytest.param({"WEB_QUERY_PARAM": "{query}"}, "query_param", "has a placeholder", id="query-param"),
        pytest.param({"WEB_JSON_PATH": "a..b"}, "json_path", "from character 2 on", id="json-path"),
        pytest.param({"WEB_JSON_PATH": "a[x]"}, "json_path", "from character 2 on", id="json-path-brackets"),
        pytest.param({"WEB_CUSTOM_TIMEOUT_SEC": "inf"}, "timeout", "is not a number", id="timeout"),
        pytest.param({"WEB_CUSTOM_TIMEOUT_SEC": "-1"}, "timeout", "is not from 0.1", id="negative-timeout"),
        pytest.param({"WEB_CUSTOM_ALLOW_HTTP": "1"}, "allow_http", "not one of true, false", id="allow-http"),
        pytest.param({"WEB_CUSTOM_ALLOW_PRIVATE": "TRUE"}, "allow_private", "not one of true", id="allow-private"),
        pytest.param(
            {"WEB_CUSTOM_ALLOW_ARBITRARY_HEADERS": "yes"}, "allow_arbitrary_headers", "not one of", id="allow-headers"
        ),
    ],
)
async def test_a_mistake_is_an_error_that_names_setting_and_variable(
    variables: dict[str, str], field: str, problem: str
) -> None:
    environment = {**os.environ, "WEB_SEARCH_API": "https://search.example.org/", **variables}
    async with AsyncWeb(environment=environment) as web:
        with pytest.raises(SettingsError) as caught:
            await web.search("words", provider="custom")
        assert web.open_connections == 0
    name = _variable_of(field)
    assert (caught.value.field, caught.value.outcome) == (f"custom.{field}", Outcome.INVALID)
    assert problem in caught.value.detail
    assert name in caught.value.detail


def _variable_of(field: str) -> str:
    known = {setting.name: setting.env[0] for setting in providers.get("custom").settings if setting.env}
    return known.get(field, "WEB_CUSTOM_TIMEOUT_SEC")


@pytest.mark.parametrize(
    "variables, detail",
    [
        pytest.param({}, "no address (WEB_SEARCH_API)", id="nothing"),
        pytest.param({"WEB_PROVIDER": "searxng"}, "no address (WEB_SEARCH_API)", id="preset-without-an-address"),
        pytest.param({"WEB_PROVIDER": "brave"}, "no key (WEB_KEY)", id="preset-without-its-key"),
        pytest.param({"WEB_PROVIDER": "google", "WEB_KEY": KEY}, "no id of the engine (GOOGLE_CSE_ID)", id="engine"),
    ],
)
async def test_what_is_not_set_up_is_unavailable_and_says_what_is_missing(
    variables: dict[str, str], detail: str
) -> None:
    async with AsyncWeb(environment={**os.environ, **variables}) as web:
        result = await told(web, "custom", {})
    assert (result.outcome, result.attempt.detail) == (Outcome.UNAVAILABLE, detail)


@pytest.mark.parametrize(
    "settings, rule",
    [
        pytest.param({"allow_http": None}, "custom.https: the URL is not https", id="http"),
        pytest.param({"allow_http": "false"}, "custom.https: ", id="http-said-no"),
        pytest.param({"allow_private": None}, "address.loopback: ", id="loopback"),
        pytest.param({"allow_private": None, "url": "http://localhost:8/"}, "host.special_use: ", id="localhost"),
        pytest.param({"allow_private": None, "url": "http://198.18.0.1/"}, "address.", id="benchmarking"),
        pytest.param({"allow_private": None, "url": "http://10.0.0.1:9/"}, "address.private: ", id="private"),
        pytest.param({"url": "http://169.254.169.254/latest"}, "address.metadata: ", id="metadata-stays-blocked"),
        pytest.param({"url": "http://224.0.0.1/"}, "address.", id="multicast-stays-blocked"),
        pytest.param({"headers": "Cookie: a=b"}, "custom.headers: Cookie is not one of", id="odd-header"),
        pytest.param({"auth_header": "X-Odd-Key"}, "custom.headers: X-Odd-Key is not", id="odd-auth-header"),
    ],
)
async def test_a_guardrail_refuses_with_its_rule_and_nothing_is_sent(settings: dict[str, Any], rule: str) -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        result = await search("custom", fake.url, settings={"url_template": None, "url": "{url}/x", **settings})
    assert (result.outcome, fake.requests, result.sent_to) == (Outcome.UNSAFE, [], ())
    assert str(result.attempt.detail).startswith(rule)
    lifts = "set allow_private of custom to true if that is a network of your own"
    assert (result.hint == lifts) is ("allow_private" in settings)


@pytest.mark.parametrize(
    "address, rule",
    [
        pytest.param("10.0.0.5", "address.private", id="private"),
        pytest.param("198.18.0.1", "address.reserved", id="benchmarking"),
        pytest.param("2002:a00:1::1", "address.transition", id="6to4"),
        pytest.param("64:ff9b::a00:1", "address.private", id="nat64"),
        pytest.param("169.254.169.254", "address.metadata", id="metadata"),
    ],
)
async def test_a_public_name_is_judged_by_its_addresses(address: str, rule: str) -> None:
    async with (
        World() as world,
        AsyncWeb(environment={**os.environ, **_named({"url": "https://search.example.org/"})}) as web,
    ):
        world.names.set("search.example.org", ["93.184.216.34", address], [address])
        (candidate,) = web.plan("custom").candidates
        request = candidate.provider.request(SearchRequest(query=QUERY), candidate.config)
        public = candidate.config.reach == "public"
        client = world.client(EgressPolicy.operator(candidate.config.base_url, public=public))
        refused = []
        for _ in range(2):
            with pytest.raises(EgressDenied) as caught:
                await client.send(request, expires_at=soon())
            refused.append(caught.value.rule)
    assert (public, refused) == (True, ["dns.mixed_answers", rule])


def _named(settings: dict[str, str]) -> dict[str, str]:
    return {f"WEBSEAM_CUSTOM_{name.upper()}": value for name, value in settings.items()}


async def test_a_redirect_is_refused() -> None:
    async with World() as world:
        elsewhere = Fake(world, FOUND)
        fake = Fake(world, (302, {"Location": elsewhere.url + "/"}, b""))
        result = await search("custom", fake.url)
    assert (result.outcome, elsewhere.requests, len(fake.requests)) == (Outcome.BAD_RESPONSE, [], 1)
    assert "redirect refused" in str(result.attempt.detail)


def test_a_project_file_may_set_none_of_it() -> None:
    declared = providers.get("custom")
    assert [setting.name for setting in declared.settings if not setting.guarded] == []
    assert {setting.name for setting in declared.settings} & {setting.name for setting in PROVIDER_COMMON} == set()


async def test_only_a_service_marked_private_is_used_where_nothing_may_leave() -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        public = await search("custom", fake.url, {"local_only": True})
        private = await search("custom", fake.url, {"local_only": True}, settings={"private": "true"})
    assert (public.outcome, private.outcome, len(fake.requests)) == (Outcome.UNAVAILABLE, Outcome.OK, 1)


async def test_it_is_asked_only_when_it_is_named() -> None:
    environment = {**os.environ, "WEB_SEARCH_API": "https://search.example.org/"}
    async with AsyncWeb(environment=environment) as web:
        automatic = web.plan("auto")
    assert "custom" not in {one.id for one in automatic.candidates} | {one.provider for one in automatic.skipped}


@pytest.mark.parametrize("key", [pytest.param(KEY, id="keyed"), pytest.param(None, id="unkeyed")])
@pytest.mark.parametrize(
    "changed, requests",
    [
        pytest.param({}, 1, id="nothing"),
        pytest.param({"auth_scheme": "Token"}, 2, id="scheme"),
        pytest.param({"auth_header": "X-API-Key"}, 2, id="header-of-the-key"),
        pytest.param({"headers": "X-Tenant-Id: 42"}, 2, id="headers"),
        pytest.param({"params": '{"lang": "en"}'}, 2, id="parameters"),
        pytest.param({"url": "{url}/other"}, 2, id="url"),
    ],
)
async def test_what_is_remembered_of_a_service_is_forgotten_once_it_is_asked_in_another_way(
    changed: dict[str, str], requests: int, key: str | None
) -> None:
    first = {"url_template": None, "url": "{url}/x", "api_key": key}
    async with World() as world:
        fake = Fake(world, (429, {"Retry-After": "600"}, b""))
        for settings in (first, {**first, **changed}):
            await search("custom", fake.url, settings=settings, variables={"WEBSEAM_STATE_ENABLED": "on"})
    assert len(fake.requests) == requests


@pytest.mark.parametrize("template, outcome", [("/?p={page}&q={query}", "ok"), ("/?q={query}", "unsupported")])
async def test_a_further_page_needs_a_place_for_its_number(template: str, outcome: str) -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        result = await search("custom", fake.url, {"page": 3}, settings={"url_template": "{url}" + template})
    assert (result.outcome.value, [request.query["p"] for request in fake.requests]) == (
        outcome,
        [["3"]] if outcome == "ok" else [],
    )


@pytest.mark.parametrize(
    "template, support", [("p={page}&q={query}", "native"), ("n={count}&q={query}", "unsupported")]
)
async def test_pages_are_declared_where_the_template_has_them(template: str, support: str) -> None:
    environment = {**os.environ, "WEB_URL_TEMPLATE": f"https://search.example.org/?{template}"}
    async with AsyncWeb(environment=environment) as web:
        (candidate,) = web.plan("custom").candidates
    assert {option: candidate.provider.support(option).value for option in OPTIONS} == {
        "include_domains": "emulated",
        "exclude_domains": "emulated",
        "freshness": "emulated",
        "date_range": "emulated",
        "language": "unsupported",
        "region": "unsupported",
        "safe": "unsupported",
        "page": support,
    }


@pytest.mark.parametrize(
    "query, template",
    [
        pytest.param("..", "/find/{query}", id="one-up"),
        pytest.param(".", "/find/.{query}/x", id="one-up-in-two-parts"),
        pytest.param("\u4e2d" * 2_000, "/?q={query}", id="too-long-once-encoded"),
    ],
)
async def test_a_query_that_this_url_cannot_carry_is_refused_not_sent_as_another(query: str, template: str) -> None:
    async with World() as world:
        fake = Fake(world, FOUND)
        result = await search("custom", fake.url, {"query": query}, settings={"url_template": "{url}" + template})
    assert (result.outcome, fake.requests) == (Outcome.UNSUPPORTED, [])


# What is tried again.


async def _break_off(connection: Connection, how: str) -> None:
    if how == "reset":
        connection.reset()
    else:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[{")


@pytest.mark.parametrize(
    "first, requests, outcome",
    [
        pytest.param((500, {}, b""), 2, Outcome.OK, id="500"),
        pytest.param((503, {}, b""), 2, Outcome.OK, id="503"),
        pytest.param((599, {}, b""), 2, Outcome.OK, id="599"),
        pytest.param((200, JSON, b'{"results": ['), 2, Outcome.OK, id="cut-json"),
        pytest.param((200, {}, b"<html>soon</html>"), 2, Outcome.OK, id="page"),
        pytest.param("reset", 2, Outcome.OK, id="reset"),
        pytest.param("cut", 2, Outcome.OK, id="cut-answer"),
        pytest.param((200, JSON, b'{"other": 1}'), 1, Outcome.BAD_RESPONSE, id="another-shape"),
        pytest.param((400, JSON, b"{}"), 1, Outcome.BAD_RESPONSE, id="400"),
        pytest.param((404, JSON, b"{}"), 1, Outcome.BAD_RESPONSE, id="404"),
        pytest.param((429, {}, b""), 1, Outcome.RATE_LIMITED, id="429"),
        pytest.param((401, {}, b""), 1, Outcome.AUTH, id="401"),
    ],
)
async def test_what_may_pass_is_tried_once_more(first: Any, requests: int, outcome: Outcome) -> None:
    seen: list[str] = []

    async def play(connection: Connection) -> None:
        while (request := await connection.request()) is not None:
            seen.append(request.target)
            if len(seen) == 1 and isinstance(first, str):
                return await _break_off(connection, first)
            await connection.send(answer_bytes(*(first if len(seen) == 1 else FOUND)))

    async with World() as world:
        result = await search("custom", world.serve(play))
    assert (result.outcome, len(seen), len(set(seen))) == (outcome, requests, 1)


async def test_a_failure_that_stays_is_reported_after_two_calls() -> None:
    async with World() as world:
        fake = Fake(world, (500, {}, b"down"))
        result = await search("custom", fake.url)
    assert (result.outcome, result.attempt.http_status, len(fake.requests)) == (Outcome.UPSTREAM, 500, 2)


async def test_no_second_call_where_the_deadline_leaves_no_time_for_it() -> None:
    async with World() as world:
        fake = Fake(world, (500, {}, b"down"))
        result = await search("custom", fake.url, {"timeout": 0.45})
    assert (result.outcome, len(fake.requests)) == (Outcome.UPSTREAM, 1)


async def test_the_pause_before_a_second_call_can_be_cancelled() -> None:
    arrived = asyncio.Event()
    async with World() as world:

        async def play(connection: Connection) -> None:
            while await connection.request() is not None:
                await connection.send(answer_bytes(500, {}, b"down"))
                arrived.set()

        asked = asyncio.create_task(search("custom", world.serve(play)))
        await arrived.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert soon() > 0


# What nobody may see.


async def test_keys_in_headers_parameters_and_url_show_in_no_error() -> None:
    keys = [f"{place}-0123456789abcdef0123456789" for place in ("head", "params", "url", "body", "key")]
    head, params, url, body, key = keys
    settings = {
        "url_template": None,
        "url": f"{{url}}/x?token={url}",
        "method": "POST",
        "headers": f"x-api-key: Token {head}",
        "params": json.dumps({"appid": params}),
        "body_template": json.dumps({"secret": body, "q": "{query}"}),
        "api_key": key,
    }
    async with World() as world:
        fake = Fake(world, lambda request: (400, {}, " ".join([*request.headers.values(), request.target]).encode()))
        result = await search("custom", fake.url, settings=settings)
        echoed = Fake(world, lambda request: (400, {}, request.body))
        other = await search("custom", echoed.url, settings=settings)
    assert all(each in str(fake.requests[0]) + str(echoed.requests[0]) for each in keys)
    shown = f"{result} {other}"
    assert [each for each in keys if each in shown] == []
    assert "HTTP 400: " in str(result.attempt.detail)


async def test_nothing_that_describes_the_call_shows_a_key() -> None:
    environment = {
        **os.environ,
        "WEB_SEARCH_API": "https://search.example.org/?token=url-0123456789abcdef",
        "WEB_HEADERS": "x-api-key: head-0123456789abcdef",
        "WEB_PARAMS": '{"appid": "params-0123456789abcdef"}',
        "WEB_KEY": "key-0123456789abcdef",
    }
    async with AsyncWeb(environment=environment) as web:
        shown = repr(web.plan("custom")) + repr(web.provider_states())
    assert "0123456789abcdef" not in shown


async def test_who_receives_queries_is_known() -> None:
    async with AsyncWeb(environment={**os.environ, "WEB_SEARCH_API": "https://Search.Example.org:8443/x"}) as web:
        (candidate,) = web.plan("custom").candidates
    assert providers.get("custom").notice(candidate.config) == "custom: queries go to search.example.org"  # type: ignore[attr-defined]


# Presets: the real providers' own answers, read the same.


@pytest.mark.parametrize(
    "preset, settings, theirs",
    [
        pytest.param("searxng", {"api_key": None}, {"format": "json"}, id="searxng"),
        pytest.param("brave", {}, {}, id="brave"),
        pytest.param("serpapi", {}, {"api_key": KEY, "engine": "google"}, id="serpapi"),
        pytest.param("google", {"cse_id": "EXAMPLE-CX"}, {"key": KEY, "cx": "EXAMPLE-CX"}, id="google"),
    ],
)
async def test_a_preset_asks_and_reads_as_the_provider_of_its_name(
    preset: str, settings: dict[str, Any], theirs: dict[str, str]
) -> None:
    wire = captured(preset)
    answer = (200, JSON, json.dumps(wire["response_example"]).encode())
    async with World() as world:
        fake = Fake(world, answer)
        ours = await search("custom", fake.url, settings={**settings, "url_template": None, "preset": preset})
        own = await search(preset, fake.url, {"count": 1}, settings=_own(preset))
    request = fake.requests[0]
    assert (request.method, request.path) == (wire["request"]["method"], wire["request"]["path"])
    assert request.query == {name: [value] for name, value in {**theirs, "q": QUERY}.items()}
    assert {name: value for name, value in wire["request"]["query"].items() if name in theirs} == theirs
    read = [[(hit.url, hit.title, hit.snippet, hit.published) for hit in result.hits] for result in (ours, own)]
    assert read[0] == read[1] != []


def _own(preset: str) -> dict[str, Any]:
    known = {setting.name for setting in providers.get(preset).settings}
    return {
        name: "EXAMPLE-CX" for name in ("cx", "engine_id", "cse_id", "engine") if name in known and preset == "google"
    }


@pytest.mark.parametrize(
    "preset, document, outcome",
    [
        pytest.param("google", {"searchInformation": {"totalResults": "0"}}, Outcome.EMPTY, id="google-nothing"),
        pytest.param("brave", {"type": "search", "query": {"original": "x"}}, Outcome.EMPTY, id="brave-nothing"),
        pytest.param(
            "serpapi",
            {"error": "Google hasn't returned any results for this query."},
            Outcome.EMPTY,
            id="serpapi-nothing",
        ),
        pytest.param(
            "serpapi",
            {"search_metadata": {"status": "Success"}, "search_parameters": {"q": "x"}},
            Outcome.EMPTY,
            id="serpapi-nothing-without-words",
        ),
        pytest.param("google", {"error": {"code": 403, "message": "denied"}}, Outcome.AUTH, id="google-error"),
        pytest.param("google", {"other": 1}, Outcome.BAD_RESPONSE, id="another-service"),
    ],
)
async def test_a_preset_tells_nothing_found_from_an_answer_of_another_kind(
    preset: str, document: dict[str, Any], outcome: Outcome
) -> None:
    settings = {"url_template": None, "preset": preset, "cse_id": "EXAMPLE-CX"}
    async with World() as world:
        fake = Fake(world, successive([(200, JSON, json.dumps(document).encode())]))
        result = await search("custom", fake.url, settings=settings)
    assert result.outcome is outcome


def test_every_preset_leads_to_a_public_https_address_or_wants_one() -> None:
    from webseam.providers.custom_parts.setup import presets

    hosts = {name: urlsplit(preset.origin) for name, preset in presets().items()}
    assert {name: (parts.scheme, bool(parts.hostname)) for name, parts in hosts.items()} == {
        "searxng": ("", False),
        "google": ("https", True),
        "brave": ("https", True),
        "serpapi": ("https", True),
    }


# The documentation.


def _documentation() -> str:
    return (Path(__file__).parents[2] / "docs" / "custom.md").read_text("utf-8")


@pytest.mark.parametrize(
    "name, method, url, header, body",
    [
        pytest.param(
            "wiki",
            "GET",
            "https://search.example.org/api/v2/find?space=ENG&expand=body&text=on-call%20rota",
            ("X-API-Key", KEY),
            b"",
            id="wiki",
        ),
        pytest.param(
            "tickets",
            "GET",
            "http://tickets.corp.example:8080/search/on-call%20rota?size=10&page=1",
            ("Authorization", f"Bearer {KEY}"),
            b"",
            id="tickets",
        ),
        pytest.param(
            "code",
            "POST",
            "https://code.example.org/query",
            ("Authorization", f"Bearer {KEY}"),
            b'{"query": {"match": "on-call rota"}, "size": 10}',
            id="code",
        ),
    ],
)
async def test_the_documentation_s_examples_send_what_it_says(
    name: str, method: str, url: str, header: tuple[str, str], body: bytes
) -> None:
    _write_user_file("\n".join(re.findall(r"```toml\n(.*?)```", _documentation(), re.DOTALL)))
    environment = {**os.environ, f"WEBSEAM_{name.upper()}_API_KEY": KEY}
    async with AsyncWeb(environment=environment) as web:
        (candidate,) = web.plan(name).candidates
    request = candidate.provider.request(SearchRequest(query="on-call rota"), candidate.config)
    assert (request.method, request.url, request.body) == (method, url, body)
    assert header in request.headers


def test_the_documentation_has_every_key_and_its_variable() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:`(\w+)`)? ?\|", _documentation(), re.MULTILINE))
    declared = {setting.name: "".join(setting.env) for setting in providers.get("custom").settings}
    assert rows == {**declared, "base_url": "", "api_key": "WEB_KEY", "timeout": "WEB_CUSTOM_TIMEOUT_SEC"}
