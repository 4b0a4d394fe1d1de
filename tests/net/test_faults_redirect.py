"""Where redirects may lead, and what goes along: rows 50 to 56."""

from __future__ import annotations

import pytest

from tests.world import Recorded, World, answer_bytes, reply
from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.net.policy import EgressPolicy


def to(location: str, status: int = 302) -> tuple[int, dict[str, str], str]:
    return status, {"Location": location}, "moved"


def endless(request: Recorded) -> tuple[int, dict[str, str], str]:
    return to(f"/on?{int(request.target.partition('?')[2] or 0) + 1}")


async def refused(world: World, url: str, **options: object) -> tuple[Outcome, str, str]:
    error = await world.fail("GET", url, **options)
    assert isinstance(error, TransportError), error
    return error.outcome, error.kind, error.phase


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_get_is_sent_on_and_the_answer_says_where_it_came_from(status: int) -> None:
    async with World() as world:
        url = world.route("GET", "/old?q=1", (404, {}, ""))
        world.route("GET", "/old", to("new#part", status))
        new = world.route("GET", "/new", (200, {}, "here"))
        response = await world.send("GET", url)
        assert (response.status, response.body, response.url) == (200, b"here", new)
        assert [request.target for request in world.requests] == ["/old?q=1", "/new"]
        assert len(world.connections) == 1


async def test_row_50_a_redirect_to_itself_is_ended_at_the_first_repeat() -> None:
    async with World() as world:
        url = world.route("GET", "/loop", to("/loop"))
        assert await refused(world, url) == (Outcome.BAD_RESPONSE, "redirects", "parse")
        assert len(world.requests) == 1


async def test_row_50_a_circle_of_two_is_ended_at_the_first_repeat() -> None:
    async with World() as world:
        url = world.route("GET", "/a", to("/b"))
        world.route("GET", "/b", to("/a"))
        assert await refused(world, url) == (Outcome.BAD_RESPONSE, "redirects", "parse")
        assert [request.path for request in world.requests] == ["/a", "/b"]


async def test_row_51_redirects_without_end_are_ended_at_ten() -> None:
    async with World() as world:
        url = world.route("GET", "/on", endless)
        assert await refused(world, url) == (Outcome.BAD_RESPONSE, "redirects", "parse")
        assert len(world.requests) == 11


async def test_ten_redirects_are_followed() -> None:
    async with World() as world:
        url = world.route("GET", "/on", lambda request: (200, {}, "ok") if "10" in request.query else endless(request))
        assert (await world.send("GET", url)).url == url + "?10"


@pytest.mark.parametrize(
    "fields, words",
    [
        pytest.param([], "without saying where to", id="row-52-no-location"),
        pytest.param([("Location", "/a"), ("Location", "/b")], "to 2 places at once", id="row-54-two"),
        pytest.param([("Location", "/a"), ("location", "/a")], "to 2 places at once", id="row-54-twice-the-same"),
        pytest.param([("Location", "/" + "a" * 80_000)], "to a URL of 80,001 bytes", id="row-55-80-KB"),
        pytest.param([("Location", "/caf\xe9")], "with bytes that no URL has", id="row-55-not-UTF-8"),
    ],
)
async def test_a_redirect_that_does_not_say_where_to_is_a_bad_response(
    fields: list[tuple[str, str]], words: str
) -> None:
    async with World() as world:
        url = world.route("GET", "/", (302, fields, ""))
        error = await world.fail("GET", url)
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "location", "parse")
        assert words in error.detail
        assert len(world.requests) == 1


@pytest.mark.parametrize(
    "location, inner",
    [
        pytest.param("file:///etc/passwd", "url.scheme", id="row-53-file"),
        pytest.param("javascript:alert(1)", "url.scheme", id="row-53-javascript"),
        pytest.param("http://10.0.0.1/", "address.private", id="row-53-private"),
        pytest.param("http://169.254.169.254/latest/", "address.metadata", id="row-53-metadata"),
        pytest.param("http://inside.example.com/", "address.private", id="row-53-name-of-a-private-address"),
        pytest.param("http://half.example.com/", "dns.mixed_answers", id="row-53-name-with-mixed-answers"),
        pytest.param("//user:pass@example.com/", "url.userinfo", id="userinfo"),
    ],
)
async def test_row_53_a_redirect_to_what_may_not_be_dialled_is_unsafe(location: str, inner: str) -> None:
    async with World() as world:
        world.names.set("inside.example.com", ["10.0.0.1"])
        world.names.set("half.example.com", ["127.0.0.1", "10.0.0.1"])
        url = world.route("GET", "/", to(location))
        error = await world.fail("GET", url)
        assert isinstance(error, EgressDenied)
        assert (error.outcome, error.rule) == (Outcome.UNSAFE, "redirect.blocked")
        assert inner in error.detail
        assert "pass@" not in str(error) + error.url


async def test_a_redirect_to_a_name_without_an_address_is_a_network_failure() -> None:
    async with World() as world:
        url = world.route("GET", "/", to("http://gone.example.com/"))
        assert await refused(world, url) == (Outcome.NETWORK, "dns", "dns")


async def test_the_name_a_redirect_leads_to_is_looked_up_once_and_what_was_judged_is_dialled() -> None:
    async with World() as world:
        site = world.site(host="next.example.com")
        site.route("GET", "/", (200, {}, "there"))
        world.names.set("next.example.com", ["127.0.0.1"], ["10.0.0.1"])
        url = world.route("GET", "/", to(site.url + "/"))
        response = await world.send("GET", url)
        assert (response.body, world.names.lookups) == (b"there", ["next.example.com"])


CREDENTIALS = (
    ("Authorization", "Bearer abcdef-123456"),
    ("Cookie", "a=b"),
    ("X-Custom-Key", "abcdef-123456"),
    ("X-Plain", "stays"),
)


async def test_credentials_do_not_leave_their_origin_and_do_not_come_back() -> None:
    async with World() as world:
        other = world.site()
        other.route("GET", "/there", to(world.url + "/back"))
        world.route("GET", "/", to("/same"))
        world.route("GET", "/same", to(other.url + "/there"))
        world.route("GET", "/back", (200, {}, "ok"))
        await world.send("GET", world.url + "/", headers=CREDENTIALS, secrets=("abcdef-123456",))
        carried = [
            [name for name, _ in request.fields[3:]]
            for request in (*world.requests[:2], *other.requests, world.requests[2])
        ]
        everything, little = [name for name, _ in CREDENTIALS], ["X-Plain"]
        assert carried == [everything, everything, little, little]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_row_56_a_post_is_never_sent_on(status: int) -> None:
    async with World() as world:
        other = world.site()
        url = world.route("POST", "/search", to(other.url + "/search", status))
        for client in (world.client(), world.client(EgressPolicy.operator(world.url))):
            error = await world.fail("POST", url, client=client, headers=CREDENTIALS, body=b"{}")
            assert isinstance(error, TransportError)
            assert (error.outcome, error.kind, error.phase) == (Outcome.BAD_RESPONSE, "redirect", "parse")
            assert "redirect refused" in error.detail
        assert other.requests == []


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308, 399])
async def test_a_configured_service_may_not_redirect_at_all(status: int) -> None:
    async with World() as world:
        url = world.route("GET", "/", to("/elsewhere", status))
        client = world.client(EgressPolicy.operator(world.url))
        assert await refused(world, url, client=client) == (Outcome.BAD_RESPONSE, "redirect", "parse")
        assert len(world.requests) == 1


@pytest.mark.parametrize("status", [300, 304, 305])
async def test_a_status_between_300_and_399_that_leads_nowhere_is_handed_on(status: int) -> None:
    async with World() as world:
        url = world.route("GET", "/", (status, {}, ""))
        assert (await world.send("GET", url)).status == status


async def test_a_redirect_whose_body_has_not_come_is_followed_on_a_new_connection() -> None:
    async with World() as world:
        here = world.route("GET", "/", (200, {}, "ok"))
        slow = world.serve(
            reply(f"HTTP/1.1 302 Found\r\nLocation: {here}\r\nContent-Length: 9\r\n\r\n".encode(), then="hold")
        )
        client = world.client()
        assert (await world.send("GET", slow + "/", client=client)).body == b"ok"
        assert client.open_connections == 1


async def test_a_policy_without_redirects_follows_none() -> None:
    async with World() as world:
        url = world.route("GET", "/", to("/next"))
        client = world.client(EgressPolicy(allow=("127.0.0.1",), max_redirects=0))
        assert await refused(world, url, client=client) == (Outcome.BAD_RESPONSE, "redirects", "parse")


async def test_a_redirect_from_https_to_http_drops_credentials() -> None:
    async with World() as world:
        plain = world.serve(reply(answer_bytes(200, {}, "ok")))
        site = world.site(host="safe.example.com", tls=True)
        site.route("GET", "/", to(plain + "/"))
        response = await world.send("GET", site.url + "/", headers=CREDENTIALS)
        assert (response.body, site.requests[0].headers["cookie"], response.url) == (b"ok", "a=b", plain + "/")
