"""The Wayback Machine's copy of a page that is gone, against a server that answers as its documentation says."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.fake import Fake, successive
from tests.wire.write import HTML as HTML_TYPE
from tests.wire.write import JSON
from tests.world import Recorded, World
from webseam.errors import EgressDenied, FetchError, Outcome, RequestError, SettingsError
from webseam.fetch.archive import ARCHIVE, Copy, archived_copy
from webseam.net.message import Headers, Request, Response

PAGE = "https://gone.example.org/guide?part=1&name=a%20b"
STAMP = "20130919044612"
CLOSEST = {"available": True, "url": f"http://web.archive.org/web/{STAMP}/{PAGE}", "timestamp": STAMP, "status": "200"}
BODY = b"<html><title>Guide</title><p>As it was.</html>"
OLD = (200, HTML_TYPE, BODY)


def listed(closest: Any) -> Any:
    return (
        200,
        JSON,
        json.dumps({"url": PAGE, "archived_snapshots": {} if closest is None else {"closest": closest}}).encode(),
    )


async def ask(
    answer: Any, *copies: Any, url: str = PAGE, at: str = "", **more: Any
) -> tuple[Copy | FetchError | None, list[str], str]:
    """Return what came of asking an archive that answers so, what it was asked for, and its address."""
    copy = successive(copies or (OLD,))

    def play(request: Recorded) -> Any:
        return answer if request.path.endswith("/wayback/available") else copy(request)

    async with World() as world:
        fake = Fake(world, play)
        client = world.client()

        async def get(address: str) -> Response:
            return await client.send(Request("GET", address), expires_at=time.monotonic() + 15.0)

        try:
            came: Copy | FetchError | None = await archived_copy(url, base_url=fake.url + at, get=get, **more)
        except FetchError as error:
            came = error
        finally:
            await client.aclose()
        return came, [request.target for request in fake.requests], fake.url


async def test_a_page_that_is_gone_is_read_as_it_was_with_its_date() -> None:
    copy, asked, base = await ask(listed(CLOSEST))
    assert isinstance(copy, Copy)
    assert asked == [
        "/wayback/available?url=https%3A%2F%2Fgone.example.org%2Fguide%3Fpart%3D1%26name%3Da%2520b",
        f"/web/{STAMP}id_/{PAGE}",
    ]
    assert (copy.url, copy.archived_at) == (PAGE, "2013-09-19T04:46:12Z")
    assert (copy.response.body, copy.response.headers.get("content-type")) == (BODY, "text/html; charset=UTF-8")
    assert copy.view_url == f"{base}/web/{STAMP}/{PAGE}"
    assert copy.note == f"the page is gone; this is the web archive's copy of 2013-09-19 ({copy.view_url})"


async def test_an_archive_may_stand_below_a_path_and_a_slash_is_not_doubled() -> None:
    for at in ("/", "/archive", "/archive/"):
        copy, asked, _ = await ask(listed(CLOSEST), at=at)
        assert isinstance(copy, Copy)
        start = at.rstrip("/")
        assert [target.split("?")[0] for target in asked] == [
            f"{start}/wayback/available",
            f"{start}/web/{STAMP}id_/https://gone.example.org/guide",
        ]


@pytest.mark.parametrize(
    "near, timestamp",
    [
        pytest.param("2019", "2019", id="year"),
        pytest.param("2019-05", "201905", id="month"),
        pytest.param("2019-05-04", "20190504", id="day"),
    ],
)
async def test_the_copy_nearest_to_a_day_can_be_asked_for(near: str, timestamp: str) -> None:
    _, asked, _ = await ask(listed(None), near=near)
    assert [target.partition("&")[2] for target in asked] == [f"timestamp={timestamp}"]


@pytest.mark.parametrize("near", ["soon", "2019-5-4", "2019&output=x", ""])
async def test_a_day_that_is_none_is_not_sent(near: str) -> None:
    with pytest.raises(RequestError, match="is not a year, month or day"):
        await ask(listed(None), near=near)


_NONE = [
    pytest.param(listed(None), id="no-copy"),
    pytest.param(listed({**CLOSEST, "available": False}), id="kept-back"),
    pytest.param(listed({"available": None}), id="no-word-of-it"),
    pytest.param(listed({**CLOSEST, "status": "404"}), id="a-copy-of-a-404"),
    pytest.param(listed({**CLOSEST, "status": "503"}), id="a-copy-of-a-503"),
]


@pytest.mark.parametrize("answer", _NONE)
async def test_without_a_copy_there_is_none_and_nothing_more_is_asked(answer: Any) -> None:
    copy, asked, _ = await ask(answer)
    assert (copy, len(asked)) == (None, 1)


@pytest.mark.parametrize("status", [404, 410])
async def test_a_copy_that_is_listed_and_not_there_is_none(status: int) -> None:
    copy, asked, _ = await ask(listed(CLOSEST), (status, HTML_TYPE, b"<html>Wayback: not in archive</html>"))
    assert (copy, len(asked)) == (None, 2)


async def test_a_copy_without_a_status_and_one_of_a_redirect_are_taken() -> None:
    for status in (None, "301", "200"):
        closest = {name: value for name, value in {**CLOSEST, "status": status}.items() if value is not None}
        copy, _, _ = await ask(listed(closest))
        assert isinstance(copy, Copy)


async def test_a_redirect_within_the_archive_leads_to_the_copy_and_its_own_date() -> None:
    other = f"/web/20140102030405id_/{PAGE}"
    copy, asked, _ = await ask(listed(CLOSEST), (302, {"Location": other}, b""), OLD)
    assert isinstance(copy, Copy)
    assert (copy.archived_at, asked[-1], copy.response.body) == ("2014-01-02T03:04:05Z", other, BODY)


async def test_a_redirect_out_of_the_archive_is_no_copy() -> None:
    came, _, _ = await ask(listed(CLOSEST), (302, {"Location": "/elsewhere"}, b""), OLD)
    assert isinstance(came, FetchError)
    assert came.outcome is Outcome.BAD_RESPONSE
    assert came.detail.startswith("the web archive sent us elsewhere: http://127.0.0.1:")


_ODD = [
    pytest.param((200, JSON, b"{"), "is not JSON: ", id="truncated"),
    pytest.param((200, JSON, b""), "is not JSON: ", id="nothing"),
    pytest.param((200, HTML_TYPE, b"<html>Sorry</html>"), "is not JSON: ", id="page"),
    pytest.param((200, JSON, b"null"), "has no archived_snapshots", id="null"),
    pytest.param((200, JSON, b"[]"), "has no archived_snapshots", id="list"),
    pytest.param((200, JSON, b"{}"), "has no archived_snapshots", id="empty"),
    pytest.param((200, JSON, b'{"archived_snapshots": null}'), "has no archived_snapshots", id="null-snapshots"),
    pytest.param((200, JSON, b'{"archived_snapshots": []}'), "has no archived_snapshots", id="list-of-snapshots"),
    pytest.param(listed("yes"), "has a copy that is no object", id="words"),
    pytest.param(listed([CLOSEST]), "has a copy that is no object", id="several"),
    pytest.param(listed({**CLOSEST, "timestamp": None}), "has a copy without its time", id="no-time"),
    pytest.param(listed({**CLOSEST, "timestamp": 20130919044612}), "has a copy without its time", id="number"),
    pytest.param(listed({**CLOSEST, "timestamp": "2013"}), "has a copy without its time", id="year-alone"),
    pytest.param(listed({**CLOSEST, "timestamp": "../../../etc/pw"}), "has a copy without its time", id="path"),
    pytest.param(
        listed({**CLOSEST, "timestamp": "20131341044612"}), "has a copy of no day there is: 20131341044612", id="no-day"
    ),
    pytest.param(
        listed({**CLOSEST, "timestamp": "٢٠١٣٠٩١٩٠٤٤٦١٢"}), "has a copy without its time", id="digits-of-another-script"
    ),
]


@pytest.mark.parametrize("answer, problem", _ODD)
async def test_an_answer_that_is_not_what_is_documented_says_so_and_leads_nowhere(answer: Any, problem: str) -> None:
    came, asked, _ = await ask(answer)
    assert isinstance(came, FetchError)
    assert (came.outcome, len(asked)) == (Outcome.BAD_RESPONSE, 1)
    assert came.detail.startswith(f"the web archive's answer {problem}")


_REFUSALS = [
    pytest.param((429, {"Retry-After": "60"}, b""), Outcome.RATE_LIMITED, 60.0, id="429"),
    pytest.param((503, {}, b"Service Unavailable"), Outcome.UPSTREAM, None, id="503"),
    pytest.param((500, HTML_TYPE, b"<html>Oops</html>"), Outcome.UPSTREAM, None, id="500"),
    pytest.param((504, {}, b""), Outcome.TIMEOUT, None, id="504"),
    pytest.param((403, HTML_TYPE, b"<html>Blocked Site Error</html>"), Outcome.BLOCKED, None, id="403"),
    pytest.param((401, {}, b""), Outcome.BLOCKED, None, id="401"),
    pytest.param((400, JSON, b'{"error": "no such url"}'), Outcome.BAD_RESPONSE, None, id="400"),
]


@pytest.mark.parametrize("refusal, outcome, retry_after", _REFUSALS)
@pytest.mark.parametrize("where", ["list", "copy"])
async def test_a_refusal_of_the_archive_is_what_it_says(
    where: str, refusal: Any, outcome: Outcome, retry_after: float | None
) -> None:
    came, _, _ = await (ask(refusal) if where == "list" else ask(listed(CLOSEST), refusal))
    assert isinstance(came, FetchError)
    assert (came.outcome, came.http_status, came.retry_after) == (outcome, refusal[0], retry_after)
    assert came.detail.startswith(f"the web archive: HTTP {refusal[0]}")


@pytest.mark.parametrize(
    "url, rule",
    [
        pytest.param("http://10.0.0.1/plans", "address.private", id="private"),
        pytest.param("https://wiki/plans", "host.single_label", id="single-label"),
        pytest.param("https://wiki.internal/plans", "host.special_use", id="internal"),
        pytest.param("https://jane:pass@example.org/", "url.userinfo", id="credentials"),
        pytest.param("file:///etc/passwd", "url.scheme", id="file"),
    ],
)
async def test_an_address_that_is_not_public_is_not_shown_to_the_archive(url: str, rule: str) -> None:
    async def get(address: str) -> Response:
        raise AssertionError(address)

    with pytest.raises(EgressDenied) as raised:
        await archived_copy(url, get=get)
    assert raised.value.rule == rule
    assert "pass@" not in f"{raised.value} {raised.value.url}"


async def test_the_public_archive_lists_at_one_host_and_keeps_copies_at_another() -> None:
    asked = []

    async def get(address: str) -> Response:
        asked.append(address.split("?")[0])
        body = listed(CLOSEST)[2] if "/wayback/" in address else BODY
        return Response(200, Headers(), address, body)

    copy = await archived_copy("https://example.org/a#part", base_url=f"{ARCHIVE}/", get=get)
    assert copy is not None
    assert asked == [
        "https://archive.org/wayback/available",
        f"https://web.archive.org/web/{STAMP}id_/https://example.org/a",
    ]
    assert copy.view_url == f"https://web.archive.org/web/{STAMP}/https://example.org/a"


async def test_an_archive_is_known_by_its_canonical_address_and_may_lead_to_https() -> None:
    async def get(address: str) -> Response:
        body = listed(CLOSEST)[2] if "/wayback/" in address else BODY
        return Response(200, Headers(), address.replace("http://", "https://", 1), body)

    copy = await archived_copy("https://example.org/", base_url="HTTP://Archive.Example.ORG:80/", get=get)
    assert copy is not None
    assert copy.view_url == f"http://archive.example.org/web/{STAMP}/https://example.org/"


@pytest.mark.parametrize("base_url", ["", "archive.org", "file:///srv", "https://a b/"])
async def test_an_archive_without_an_address_is_a_wrong_setting(base_url: str) -> None:
    async def get(address: str) -> Response:
        raise AssertionError(address)

    with pytest.raises(SettingsError, match=r"fetch\.archive_url: is not an http or https URL"):
        await archived_copy(PAGE, base_url=base_url, get=get)


async def test_what_sending_raises_is_passed_on() -> None:
    async def get(_address: str) -> Response:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await archived_copy(PAGE, get=get)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=15) | st.from_regex(r"[0-9]{14}", fullmatch=True),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["archived_snapshots", "closest", "available", "timestamp", "status", "url"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(closest=_JSON, whole=st.booleans())
def test_whatever_the_archive_lists_is_a_copy_none_or_an_odd_answer(closest: Any, whole: bool) -> None:
    answer = json.dumps(closest).encode() if whole else listed(closest)[2]

    async def get(address: str) -> Response:
        return Response(200, Headers(), address, answer if "/wayback/" in address else BODY)

    try:
        copy = asyncio.run(archived_copy(PAGE, get=get))
    except FetchError as error:
        problem: FetchError | None = error
    else:
        problem = None
    if problem is not None:
        assert problem.outcome is Outcome.BAD_RESPONSE
    elif copy is not None:
        assert copy.response.url.startswith("https://web.archive.org/web/")
        assert copy.archived_at.endswith("Z")
