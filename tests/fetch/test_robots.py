"""What robots.txt says about a page, as RFC 9309 reads it, and what counts when it cannot be read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.world import World, soon
from webseam.errors import EgressDenied, Outcome, TransportError
from webseam.fetch import robots as module
from webseam.fetch.robots import MAX_SIZE, Get, Robots, RobotsVerdict, read_rules
from webseam.net import Headers, Request, Response

HOST = "https://site.example"
DAY = 86_400


def decided(text: str | bytes, target: str) -> bool:
    content = text.encode() if isinstance(text, str) else text
    return read_rules(content).deciding(target)[0]


@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        pytest.param("", "/a", True, id="nothing"),
        pytest.param("User-agent: *\nDisallow: /", "/a", False, id="everything refused"),
        pytest.param("User-agent: *\nDisallow:", "/a", True, id="an empty rule means nothing"),
        pytest.param("User-agent: *\nDisallow: /a", "/ab/c", False, id="a rule is a prefix"),
        pytest.param("User-agent: *\nDisallow: /a/", "/a", True, id="a longer prefix than the path"),
        pytest.param("User-agent: *\nDisallow: /A", "/a", True, id="paths have case"),
        pytest.param("user-AGENT: *\ndisALLOW: /a", "/a", False, id="keys have none"),
        pytest.param("User-agent: *\nDisallow: /", "/robots.txt", True, id="robots.txt itself"),
        pytest.param("User-agent: *\nDisallow: /", "/robots.txt?x", False, id="robots.txt with a query is a page"),
        # Which group.
        pytest.param("User-agent: WebSeam\nDisallow: /", "/a", False, id="our name in any case"),
        pytest.param("User-agent: webseam/1.0\nDisallow: /", "/a", False, id="our name with a version"),
        pytest.param("User-agent: webseam*\nDisallow: /", "/a", False, id="our name with an asterisk"),
        pytest.param("User-agent: web\nDisallow: /", "/a", True, id="the beginning of our name is another's"),
        pytest.param("User-agent: webseamer\nDisallow: /", "/a", True, id="our name with more is another's"),
        pytest.param("User-agent: seam\nDisallow: /", "/a", True, id="the end of our name is another's"),
        pytest.param(
            "User-agent: *\nDisallow: /\n\nUser-agent: webseam\nDisallow: /b", "/a", True, id="our group alone counts"
        ),
        pytest.param(
            "User-agent: webseam\nDisallow:\n\nUser-agent: *\nDisallow: /", "/a", True, id="our empty group counts"
        ),
        pytest.param("User-agent: *\nDisallow: /\n\nUser-agent: webseam", "/a", True, id="our group without rules"),
        pytest.param(
            "User-agent: webseam\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n\nUser-agent: WEBSEAM\nDisallow: /c",
            "/c",
            False,
            id="several groups of ours are one",
        ),
        pytest.param(
            "User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /c", "/a", False, id="several groups of everyone's"
        ),
        pytest.param("User-agent: x\nUser-agent: webseam\nDisallow: /a", "/a", False, id="two agents, one group"),
        pytest.param("User-agent: x\n\nUser-agent: webseam\n\nDisallow: /a", "/a", False, id="blank lines end nothing"),
        pytest.param("User-agent: x\nDisallow: /b\nUser-agent: y\nDisallow: /a", "/a", True, id="groups of others"),
        pytest.param(
            "User-agent: webseam\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a", "/a", False, id="a delay ends nothing"
        ),
        pytest.param(
            "User-agent: webseam\nNoise: 5\nSitemap: /s\nUser-agent: x\nDisallow: /a",
            "/a",
            False,
            id="unknown lines end nothing",
        ),
        pytest.param("Disallow: /\nUser-agent: x\nDisallow: /", "/a", True, id="rules before any agent"),
        pytest.param("User-agent:\nDisallow: /", "/a", True, id="an agent without a name"),
        # Which rule.
        pytest.param("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/bc", True, id="the longer one"),
        pytest.param("User-agent: *\nDisallow: /a/b\nAllow: /a", "/a/bc", False, id="the longer one refuses"),
        pytest.param("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True, id="of two as long the allowing one"),
        pytest.param("User-agent: *\nAllow: /index.html\nDisallow: /", "/", False, id="an index page is only itself"),
        pytest.param("User-agent: *\nDisallow: /*/b\nAllow: /a/", "/a/b", False, id="asterisks count as octets"),
        # Patterns.
        pytest.param("User-agent: *\nDisallow: *.gif$", "/a/b.gif", False, id="asterisk and end"),
        pytest.param("User-agent: *\nDisallow: *.gif$", "/a/b.gif?x", True, id="not at the end"),
        pytest.param("User-agent: *\nDisallow: /*.gif", "/a/b.gif?x", False, id="asterisk alone"),
        pytest.param("User-agent: *\nDisallow: /a*b*c", "/aXbYcZ", False, id="two asterisks"),
        pytest.param("User-agent: *\nDisallow: /a*b*c", "/aXcYb", True, id="in that order only"),
        pytest.param("User-agent: *\nDisallow: /a*bb$", "/abb", False, id="an asterisk may be nothing"),
        pytest.param("User-agent: *\nDisallow: /ab*b$", "/ab", True, id="the end does not overlap"),
        pytest.param("User-agent: *\nDisallow: /***$", "/a", False, id="many asterisks"),
        pytest.param("User-agent: *\nDisallow: /a$", "/a", False, id="end"),
        pytest.param("User-agent: *\nDisallow: /a$", "/ab", True, id="beyond the end"),
        pytest.param("User-agent: *\nDisallow: /a$", "/a$b", True, id="an end is not a dollar"),
        pytest.param("User-agent: *\nDisallow: /a%24", "/a$b", False, id="an escaped dollar is"),
        pytest.param("User-agent: *\nDisallow: /a$b", "/a$bc", False, id="a dollar in the middle is one"),
        pytest.param("User-agent: *\nDisallow: /a%2Ab", "/a*b", False, id="an escaped asterisk is one"),
        pytest.param("User-agent: *\nDisallow: /a%2Ab", "/axb", True, id="an escaped asterisk is nothing else"),
        pytest.param("User-agent: *\nDisallow: /?", "/?q=1", False, id="query"),
        pytest.param("User-agent: *\nDisallow: /a?x", "/a%3Fx", True, id="an escaped question mark begins no query"),
        pytest.param("User-agent: *\nDisallow: a", "/a", True, id="no slash, no path"),
        pytest.param("User-agent: *\nDisallow: https://site.example/a", "/a", True, id="no URLs"),
        # Escapes.
        pytest.param("User-agent: *\nDisallow: /%62%61%7A", "/baz", False, id="needless escapes in a rule"),
        pytest.param("User-agent: *\nDisallow: /baz", "/%62a%7a", False, id="needless escapes in a path"),
        pytest.param("User-agent: *\nDisallow: /ツ", "/%E3%83%84", False, id="characters in a rule"),
        pytest.param("User-agent: *\nDisallow: /%e3%83%84", "/ツ", False, id="characters in a path"),
        pytest.param("User-agent: *\nDisallow: /a b", "/a%20b", False, id="a blank"),
        pytest.param("User-agent: *\nDisallow: /a%2Fb", "/a/b", True, id="an escaped slash is another"),
        pytest.param("User-agent: *\nDisallow: /a%2fb", "/a%2Fb", False, id="but equal to itself"),
        pytest.param("User-agent: *\nDisallow: /a?u=https://b.c", "/a?u=https%3A%2F%2Fb.c", False, id="in a query"),
        pytest.param("User-agent: *\nDisallow: /a%zz", "/a%zzb", False, id="an escape that is none"),
        pytest.param("User-agent: *\nDisallow: /a%25", "/a%", True, id="a percent sign is not an escaped one"),
        pytest.param(b"User-agent: *\nDisallow: /\xff", "/%FF", False, id="octets that are not utf-8"),
        pytest.param(b"User-agent: *\nDisallow: /%FF", "/%FE", True, id="two octets that are not utf-8 differ"),
        # Forms of the file.
        pytest.param(b"\xef\xbb\xbfUser-agent: *\nDisallow: /a", "/a", False, id="utf-8 mark"),
        pytest.param("User-agent: *\nDisallow: /a".encode("utf-16"), "/a", False, id="utf-16 with its mark"),
        pytest.param("User-agent: *\rDisallow: /a\rDisallow: /b", "/b", False, id="carriage returns"),
        pytest.param("User-agent: *\r\nDisallow: /a\r\n", "/a", False, id="both"),
        pytest.param("User-agent: *\nDisallow: /a\u2028Disallow: /b", "/b", True, id="no other ends of lines"),
        pytest.param("User-agent: *\nDisallow: /a\x0bx", "/a%0Bx", False, id="nor control characters"),
        pytest.param("User-agent: * # all\nDisallow: /a # this\n#Disallow: /b", "/b", True, id="comments"),
        pytest.param("User-agent: *\nDisallow: /a#b", "/ac", False, id="a comment without a blank before it"),
        pytest.param("  User-agent :  *  \n\tDisallow\t:\t/a\t", "/a", False, id="blanks everywhere"),
        pytest.param("User-agent *\nDisallow /a", "/a", False, id="colons forgotten"),
        pytest.param("Useragent: *\nDissallow: /a", "/a", False, id="misspelt"),
        pytest.param("User-agent: *\nDisallow: /a: b", "/a:%20b", False, id="a colon in a path"),
        pytest.param(
            "<!DOCTYPE html>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>", "/a", True, id="a page about robots.txt"
        ),
        pytest.param("<h1>Not found</h1>", "/a", True, id="a page"),
        pytest.param(b"\x00\x01PNG: \xff\nUser-agent\x00: *\nDisallow: /", "/a", True, id="bytes of something else"),
    ],
)
def test_a_robots_txt_is_read_as_the_standard_says(text: str | bytes, target: str, allowed: bool) -> None:
    assert decided(text, target) == allowed


def test_only_the_first_500_kib_are_read_and_no_half_line() -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    filler = b"#" * (MAX_SIZE - len(head) - len(b"\nDisallow: /"))
    content = head + filler + b"\nDisallow: /private\nDisallow: /last\n"
    assert len(head + filler + b"\nDisallow: /") == MAX_SIZE
    assert [decided(content, target) for target in ("/first", "/other", "/last")] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        pytest.param("User-agent: *\nCrawl-delay: 10", 10.0, id="whole"),
        pytest.param("User-agent: *\nCrawl-delay: 1.5", 1.5, id="broken"),
        pytest.param("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 1", 2.0, id="the longer of two"),
        pytest.param("User-agent: x\nCrawl-delay: 2", None, id="another's"),
        pytest.param(
            "User-agent: *\nCrawl-delay: 2\n\nUser-agent: webseam\nDisallow: /a", None, id="ours says nothing"
        ),
        pytest.param("User-agent: *\nCrawl-delay: -1", None, id="negative"),
        pytest.param("User-agent: *\nCrawl-delay: nan", None, id="no number"),
        pytest.param("User-agent: *\nCrawl-delay: 9999999999", None, id="for ever"),
        pytest.param("Crawl-delay: 9", None, id="nobody's"),
    ],
)
def test_a_delay_is_that_of_our_group(text: str, delay: float | None) -> None:
    assert read_rules(text.encode()).crawl_delay == delay


WORDS = st.sampled_from(
    [
        *b"User-agent: Disallow: Allow: Crawl-delay: * $ / webseam % %2F %2a # a ? : <html> 5".split(),
        *(b" ", b"\n", b"\r", b"\xff", b"\xef\xbb\xbf"),
    ]
)
FILES = st.one_of(st.binary(max_size=300), st.lists(WORDS, max_size=60).map(b"".join))


@settings(max_examples=500)
@given(FILES, st.text(max_size=40))
def test_any_bytes_are_read_and_every_path_is_decided(content: bytes, path: str) -> None:
    rules = read_rules(content)
    allowed, line = rules.deciding("/" + path.encode("utf-8", "replace").decode())
    assert allowed or line is not None
    assert rules.deciding("/robots.txt") == (True, None)


@given(st.text(alphabet="ab/*$?%", max_size=12), st.text(alphabet="ab/?", max_size=12))
def test_patterns_match_as_the_expressions_they_stand_for(pattern: str, path: str) -> None:
    anchored = pattern.endswith("$")
    body = pattern[:-1] if anchored else pattern
    expression = ".*".join(re.escape(part) for part in body.split("*")) + ("$" if anchored else "")
    expected = re.match("/" + expression, "/" + path) is None
    assert decided(f"User-agent: *\nDisallow: /{pattern}", "/" + path) == expected


# Asking for the file.


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Site:
    """Answers with what it holds, or raises it, and remembers what was asked for."""

    def __init__(self, answer: tuple[int, str] | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, url: str) -> Response:
        self.asked.append(url)
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        status, text = self.answer
        return Response(status, Headers(), url, text.encode())


def failure(kind: str, detail: str = "site.example reset the connection") -> TransportError:
    return TransportError(detail, outcome=Outcome.NETWORK, host="site.example", phase="connect", kind=kind)


FILE = f"{HOST}/robots.txt"
RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 3"


@pytest.mark.parametrize(
    ("answer", "path", "expected"),
    [
        pytest.param(
            (200, RULES),
            "/private/a",
            RobotsVerdict(
                False,
                "Disallow: /private",
                3.0,
                f"{FILE} was read, and the line 'Disallow: /private' decides for webseam",
            ),
            id="refused by a rule",
        ),
        pytest.param(
            (200, RULES),
            "/a",
            RobotsVerdict(True, None, 3.0, f"{FILE} was read, and no line of it speaks of this page"),
            id="no rule",
        ),
        pytest.param(
            (200, "<html>"), "/a", RobotsVerdict(True, None, None, f"{FILE} has no rules for webseam"), id="a page"
        ),
        pytest.param(
            (404, RULES),
            "/private",
            RobotsVerdict(True, None, None, f"{FILE} answered 404, so there is none"),
            id="not there",
        ),
        pytest.param(
            (403, RULES),
            "/private",
            RobotsVerdict(True, None, None, f"{FILE} answered 403, so there is none"),
            id="4xx allows",
        ),
        pytest.param(
            (503, ""),
            "/a",
            RobotsVerdict(False, None, None, f"{FILE} answered 503, which RFC 9309 counts as a refusal of everything"),
            id="5xx refuses",
        ),
        pytest.param(
            failure("reset"),
            "/a",
            RobotsVerdict(
                False,
                None,
                None,
                f"{FILE} could not be read (site.example reset the connection),"
                " which RFC 9309 counts as a refusal of everything",
            ),
            id="out of reach",
        ),
        pytest.param(
            failure("redirects"), "/a", RobotsVerdict(True, None, None, f"{FILE} only redirects"), id="on and on"
        ),
        pytest.param(
            EgressDenied("redirect.blocked", "address.private", url="http://10.0.0.1/"),
            "/a",
            RobotsVerdict(
                False,
                None,
                None,
                f"{FILE} leads to where we may not go, which RFC 9309 counts as a refusal of everything",
            ),
            id="leads to the inside",
        ),
    ],
)
async def test_a_verdict_says_what_it_rests_on(
    answer: tuple[int, str] | Exception, path: str, expected: RobotsVerdict
) -> None:
    assert await Robots().verdict(HOST + path, get=Site(answer)) == expected


async def test_a_site_that_may_not_be_asked_is_refused_as_such() -> None:
    site = Site(EgressDenied("address.private", "site.example has the address 10.0.0.1", url=FILE))
    with pytest.raises(EgressDenied):
        await Robots().verdict(HOST + "/a", get=site)


async def test_robots_txt_itself_needs_no_leave() -> None:
    site = Site((200, "User-agent: *\nDisallow: /"))
    verdict = await Robots().verdict(HOST + "/robots.txt#y", get=site)
    assert (verdict.allowed, site.asked) == (True, [])


async def test_a_file_is_asked_for_once_a_day_and_origin() -> None:
    clock = Clock()
    robots, site = Robots(clock=clock), Site((200, RULES))
    for url in (
        "https://site.example/a",
        "https://SITE.example:443/b?c",
        "https://site.example:8443/",
        "http://site.example/",
    ):
        await robots.verdict(url, get=site)
    assert site.asked == [FILE, "https://site.example:8443/robots.txt", "http://site.example/robots.txt"]
    clock.now += DAY - 1
    await robots.verdict(HOST + "/a", get=site)
    assert len(site.asked) == 3
    clock.now += 1
    await robots.verdict(HOST + "/a", get=site)
    assert len(site.asked) == 4


@pytest.mark.parametrize("fault", [(500, ""), failure("reset")], ids=["5xx", "out of reach"])
async def test_a_copy_stands_in_for_a_server_that_fails_for_thirty_days(fault: tuple[int, str] | Exception) -> None:
    clock = Clock()
    robots, site = Robots(clock=clock), Site((200, RULES))
    await robots.verdict(HOST + "/a", get=site)
    site.answer = fault
    for days, allowed in ((2, [True, False]), (29, [True, False]), (30, [False, False])):
        clock.now = 1000.0 + days * DAY
        verdicts = [await robots.verdict(HOST + path, get=site) for path in ("/a", "/private")]
        assert [verdict.allowed for verdict in verdicts] == allowed
        assert ("its last copy was taken" in verdicts[0].reason) == allowed[0]
    site.answer = (404, "")
    clock.now += 60
    assert (await robots.verdict(HOST + "/private", get=site)).allowed


async def test_a_fault_is_remembered_for_a_minute_but_one_callers_bad_luck_is_not() -> None:
    clock = Clock()
    robots, site = Robots(clock=clock), Site((503, ""))
    for wait in (0, 59, 1):
        clock.now += wait
        await robots.verdict(HOST + "/a", get=site)
    assert len(site.asked) == 2
    clock.now += 60
    site.answer = failure("deadline")
    for _ in range(2):
        await robots.verdict(HOST + "/a", get=site)
    assert len(site.asked) == 4


async def test_many_at_once_ask_once_and_one_that_goes_away_leaves_the_question_to_the_next() -> None:
    started = asyncio.Event()

    async def never(url: str) -> Response:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError(url)

    robots, site = Robots(), Site((200, RULES))
    leader = asyncio.create_task(robots.verdict(HOST + "/a", get=never))
    await started.wait()
    others = [asyncio.create_task(robots.verdict(f"{HOST}/private/{number}", get=site)) for number in range(20)]
    await asyncio.sleep(0)
    leader.cancel()
    verdicts = await asyncio.gather(*others)
    assert (len(site.asked), {verdict.allowed for verdict in verdicts}) == (1, {False})
    assert leader.cancelled()
    assert robots._asking == {}


@pytest.mark.parametrize("bound", ["MAX_ORIGINS", "MAX_WEIGHT"])
async def test_the_files_that_were_not_used_for_longest_are_forgotten(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    weight = read_rules(RULES.encode()).weight
    monkeypatch.setattr(module, bound, 3 if bound == "MAX_ORIGINS" else 3 * weight)
    robots, site = Robots(), Site((200, RULES))
    for name in ("a", "b", "c", "a", "d", "a", "b"):
        await robots.verdict(f"https://{name}.example/", get=site)
    assert [url.split("/")[2][0] for url in site.asked] == ["a", "b", "c", "d", "b"]
    assert robots._weight == 3 * weight


async def test_a_hostile_file_is_read_beside_the_event_loop() -> None:
    lines = b"".join(b"Allow: *a%d\n" % number for number in range(30_000))
    robots, site = Robots(), Site((200, "User-agent: *\nDisallow: /\n" + lines.decode()))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    verdict = await robots.verdict(f"{HOST}/{'a' * 500}", get=site)
    counting.cancel()
    assert (verdict.allowed, verdict.rule) == (False, "Disallow: /")
    assert turns > 100


def through(world: World) -> Get:
    """Return a `get` over real connections."""
    client = world.client()

    async def get(url: str) -> Response:
        return await client.send(Request("GET", url, overflow="truncate"), expires_at=soon())

    return get


def moved(to: str) -> Callable[[object], tuple[int, dict[str, str], str]]:
    return lambda _: (301, {"Location": to}, "")


async def test_five_redirects_lead_to_the_rules_and_a_circle_to_none() -> None:
    async with World() as world:
        for number in range(5):
            world.route("GET", "/robots.txt" if number == 0 else f"/{number}", moved(f"/{number + 1}"))
        world.route("GET", "/5", (200, {}, RULES))
        verdict = await Robots().verdict(world.url + "/private", get=through(world))
        assert (verdict.allowed, verdict.rule) == (False, "Disallow: /private")
        world.route("GET", "/5", moved("/robots.txt"))
        assert (await Robots().verdict(world.url + "/private", get=through(world))).allowed


async def test_a_server_that_is_not_there_refuses_everything() -> None:
    async with World() as world:
        verdict = await Robots().verdict(world.closed_port() + "/a", get=through(world))
        assert (verdict.allowed, verdict.rule) == (False, None)
