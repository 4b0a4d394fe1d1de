"""Pages that are made by their scripts, read in a real Chromium, which reaches nothing that the policy refuses."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.world import Connection, Recorded, Site, World, answer_bytes, soon
from tests.world.proxies import HttpProxy
from webseam.errors import EgressDenied, FetchError, Outcome, TransportError, WebSeamError
from webseam.fetch.browser import BrowserPage, read_in_browser
from webseam.fetch.browser_process import Running, find_browser
from webseam.net.gate import Gate
from webseam.net.policy import EgressPolicy
from webseam.version import VERSION

ENOUGH = 18.0  # seconds; a page takes about two, and more on a machine that is busy
HTML = {"Content-Type": "text/html; charset=utf-8"}

# Tries to reach {target} (host:port) and {udp} in each way a page has, and says when it is done.
TRIES = """<!doctype html><title>tries</title><p id=said>trying</p><p>{text}</p><script>
const http = 'http://{target}/', late = () => new Promise((end) => setTimeout(end, 2000));
const element = (name, fields) => new Promise((end) => {{
  const made = Object.assign(document.createElement(name), fields);
  made.onload = made.onerror = end;
  document.body.append(made);
}});
const event = (made) => new Promise((end) => {{ made.onopen = made.onerror = made.onclose = end; }});
const worker = (code) => new Worker(URL.createObjectURL(new Blob([code])));
const frame = (html) => element('iframe', {{srcdoc: html}});
const rtc = async (urls) => {{
  const peer = new RTCPeerConnection({{iceServers: [{{urls, username: 'u', credential: 'p'}}]}});
  peer.createDataChannel('x');
  await peer.setLocalDescription(await peer.createOffer());
  await new Promise((end) => {{ peer.onicegatheringstatechange = () => peer.iceGatheringState[0] == 'c' && end(); }});
}};
const said = document.getElementById('said'), ticking = setInterval(() => said.append('.'), 50);
const tries = [
  () => fetch(http + 'fetch', {{mode: 'no-cors'}}),
  () => fetch('/away?to=' + encodeURIComponent(http + 'redirect'), {{mode: 'no-cors'}}),
  () => new Promise((end) => {{
    const asked = new XMLHttpRequest(); asked.onloadend = end; asked.open('GET', http + 'xhr'); asked.send(); }}),
  () => navigator.sendBeacon(http + 'beacon'),
  () => event(new WebSocket('ws://{target}/socket')),
  () => event(new EventSource(http + 'events')),
  () => element('iframe', {{src: http + 'frame'}}),
  () => element('img', {{src: http + 'image'}}),
  () => element('script', {{src: http + 'script'}}),
  () => element('link', {{rel: 'stylesheet', href: http + 'style'}}),
  () => element('link', {{rel: 'prefetch', href: http + 'prefetch'}}),
  () => element('link', {{rel: 'preconnect', href: http}}),
  () => element('link', {{rel: 'dns-prefetch', href: '//secret.example.com'}}),
  () => element('object', {{data: http + 'object'}}),
  () => frame(`<meta http-equiv=refresh content="0;url=${{http}}refresh">`),
  () => frame(`<form method=post action=${{http}}form></form><script>document.forms[0].submit()<` + `/script>`),
  () => new Promise((end) => {{ worker(`fetch('${{http}}worker', {{mode: 'no-cors'}}).finally(() => postMessage(0))`)
    .onmessage = end; }}),
  () => open(http + 'popup'),
  () => rtc('stun:{udp}'),
  () => rtc('turn:{udp}?transport=udp'),
  () => rtc('turn:{target}?transport=tcp'),
  () => new WebTransport('https://{udp}/').ready,
  () => fetch('https://{target}/tls', {{mode: 'no-cors'}}),
];
Promise.allSettled(tries.map(async (attempt) => Promise.race([attempt(), late()]))).then(() => {{
  clearInterval(ticking);
  said.textContent = 'tried ' + tries.length;
}});
</script>"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files: what a browser has on its command line, so that its processes are found by it."""
    if find_browser() is None:
        pytest.fail("there is no Chromium here; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="browser-test-") as name:
        Path(name).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", name)  # ours
        monkeypatch.setenv("TMPDIR", name)  # the driver's
        yield Path(name)
        assert list(Path(name).iterdir()) == []


def processes(folder: Path) -> list[str]:
    """Return what runs of a browser or its driver, zombies that nobody reaps here left out."""
    found = []
    ours = {child.pid for child in psutil.Process().children()}
    for process in psutil.process_iter():
        try:
            words = " ".join(process.cmdline())
            if process.status() != psutil.STATUS_ZOMBIE and (str(folder) in words or process.pid in ours):
                found.append(words)
        except psutil.NoSuchProcess:
            continue
    return found


async def gone(folder: Path) -> bool:
    """True once nothing runs any more: what the kernel was told to kill takes some milliseconds."""
    until = soon(5)
    while (left := processes(folder)) and time.monotonic() < until:  # noqa: ASYNC110 - nobody tells when they have ended
        await asyncio.sleep(0.05)
    assert left == []
    return True


async def read(
    world: World,
    url: str,
    *,
    allow: tuple[str, ...] = (),
    ports: tuple[int, ...] = (80, 443),
    within: float = ENOUGH,
    **options: object,
) -> BrowserPage:
    """Read `url` with the world's names; its own origin is allowed, and `allow`."""
    own = url.partition("://")[2].partition("/")[0]
    settings: dict[str, object] = {
        "max_bytes": 1_000_000,
        "expires_at": soon(within),
        "resolver": world.names,
        **options,
    }
    return await read_in_browser(url, policy=EgressPolicy(allow=(own, *allow), ports=ports), **settings)  # type: ignore[arg-type]


async def failed(world: World, url: str, **options: object) -> WebSeamError:
    try:
        page = await read(world, url, **options)  # type: ignore[arg-type]
    except WebSeamError as error:
        return error
    raise AssertionError(f"it was read: {page!r} {page.html!r}")


def site_with(world: World, page: str) -> Site:
    site = world.site()
    site.route("GET", "/", (200, HTML, page))
    return site


async def test_a_page_that_its_scripts_make_is_read_as_it_stands(folder: Path) -> None:
    async with World() as world:
        site = site_with(
            world,
            "<!doctype html><title>Shell</title><div id=app></div><script>"
            "fetch('/data').then((answer) => answer.text()).then((text) => {"
            "document.getElementById('app').textContent = text + location.hash; })</script>",
        )
        site.route("GET", "/data", (200, {}, "Ünïcode from a script "))
        page = await read(world, f"{site.url}/#/route")
        assert page == BrowserPage(html=page.html, final_url=f"{site.url}/#/route", status=200, media_type="text/html")
        text = page.html.decode()
        assert text.startswith("<!DOCTYPE html><html><head><title>Shell</title>")
        assert '<div id="app">Ünïcode from a script #/route</div>' in text
        assert [request.target for request in site.requests] == ["/", "/data"]
        assert world.names.lookups == []
        assert await gone(folder)


async def test_it_says_what_it_is() -> None:
    async with World() as world:
        site = site_with(world, "<p>text")
        await read(world, site.url)
        [agent] = {request.headers["user-agent"] for request in site.requests}
        assert agent.startswith("Mozilla/5.0 ")
        assert "Chrome/" in agent
        assert agent.endswith(f" webseam/{VERSION}")


async def test_text_in_shadow_roots_is_part_of_the_page() -> None:
    async with World() as world:
        site = site_with(
            world,
            "<x-x>slotted</x-x><script>customElements.define('x-x', class extends HTMLElement { constructor() {"
            "super(); this.attachShadow({mode: 'open'}).innerHTML = '<p>shadow <slot>none</slot></p>'; }})</script>",
        )
        page = await read(world, site.url)
        assert "<x-x><p>shadow <slot>slotted</slot></p></x-x>" in page.html.decode()


async def test_pictures_films_and_fonts_are_not_loaded() -> None:
    async with World() as world:
        site = site_with(
            world,
            "<style>@font-face { font-family: f; src: url(/font) } p { font-family: f; background: url(/background) }"
            "</style><p>text</p><img src=/image><video src=/film autoplay></video><link rel=icon href=/icon>",
        )
        await read(world, site.url)
        assert [request.target for request in site.requests] == ["/"]


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        yield listener


class Targets:
    """What a page must not reach: an HTTP server, and a socket for datagrams."""

    def __init__(self, world: World, datagrams: socket.socket) -> None:
        self.paths: set[str] = set()
        self.connections = 0
        self.address = world.serve(self._play).removeprefix("http://")
        self.datagrams = datagrams
        self.udp = f"127.0.0.1:{datagrams.getsockname()[1]}"

    async def _play(self, connection: Connection) -> None:
        self.connections += 1
        first = await connection.reader.read(1)
        if not first.isalpha():  # TLS, or TURN
            self.paths.add("TLS" if first == b"\x16" else "TURN" if first else "nothing")
            return
        try:
            line = first + await connection.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        self.paths.add(line.split(b" ")[1].decode().strip("/"))
        await connection.send(answer_bytes(200, HTML, ""))

    def heard_datagrams(self) -> bool:
        try:
            self.datagrams.recv(1)
        except BlockingIOError:
            return False
        return True


EACH_WAY = set(
    "fetch redirect xhr beacon socket events frame script style prefetch object refresh form worker TLS".split()
)


@pytest.mark.parametrize("allowed", [False, True], ids=["refused", "allowed"])
async def test_a_page_reaches_what_the_policy_allows_and_nothing_else(
    folder: Path, datagrams: socket.socket, allowed: bool
) -> None:
    async with World() as world:
        targets = Targets(world, datagrams)
        site = site_with(world, TRIES.format(target=targets.address, udp=targets.udp, text="text " * 100))

        def away(request: Recorded) -> tuple[int, dict[str, str], str]:
            return 302, {"Location": request.query["to"][0]}, ""

        site.route("GET", "/away", away)
        ports = (80, int(targets.address.rpartition(":")[2]))
        page = await read(world, site.url, allow=(targets.address,) if allowed else (), ports=ports)
        assert "tried 23" in page.html.decode()
        if allowed:  # each try is one that works
            assert targets.paths - {"nothing", "TURN"} == EACH_WAY
            assert page.refused == {}
        else:
            assert (targets.connections, targets.paths) == (0, set())
            assert set(page.refused) == {"address.loopback"}
            assert page.refused["address.loopback"] >= len(EACH_WAY)
        assert not targets.heard_datagrams()
        assert world.names.lookups == []
        assert await gone(folder)


async def test_metadata_addresses_are_refused_in_every_spelling() -> None:
    hosts = ["169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "0xa9fea9fe", "metadata.google.internal"]
    async with World() as world:
        site = site_with(
            world,
            f"<p id=said></p><script>const hosts = {hosts};"
            "Promise.allSettled(hosts.map((host) => fetch(`http://${host}/`, {mode: 'no-cors'})"
            ".then((answer) => answer.type))).then((all) => said.textContent = 'tried ' + all.length)</script>",
        )
        page = await read(world, site.url, allow=("169.254.0.0/16",))
        assert b"tried 5" in page.html
        assert page.refused == {"address.metadata": 4, "host.special_use": 1}
        assert world.names.lookups == []


@pytest.mark.parametrize(
    "page",
    [
        pytest.param((302, {"Location": "{}"}, ""), id="redirect"),
        pytest.param((200, HTML, "<meta http-equiv=refresh content='0;url={}'>"), id="refresh"),
        pytest.param((200, HTML, "<script>location = '{}'</script>"), id="script"),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_page_that_leads_to_a_private_address_is_refused_with_the_rule(
    page: tuple[int, dict[str, str], str], scheme: str
) -> None:
    async with World() as world:
        status, headers, body = page
        target = f"{scheme}://10.0.0.1/secret"
        site = world.site()
        fields = {name: value.format(target) for name, value in headers.items()}
        site.route("GET", "/", (status, fields, body.format(target)))
        error = await failed(world, site.url)
        assert isinstance(error, EgressDenied)
        assert (error.rule, error.outcome) == ("address.private", Outcome.UNSAFE)


async def test_a_name_that_turns_private_between_two_requests_is_refused_then() -> None:
    async with World() as world:
        url = world.serve(site := Site(), host="turns.example.com")
        site.route(
            "GET",
            "/",
            (200, HTML, "<p id=said>x<script>fetch('/more').then(a => said.textContent = a.status)</script>"),
        )
        site.route("GET", "/more", (200, {}, "more"))
        world.names.set("turns.example.com", ["127.0.0.1"], ["169.254.169.254"])
        page = await read(world, url, allow=("127.0.0.1",))
        assert page.refused == {"address.metadata": 1}
        assert b"403" in page.html
        assert [request.target for request in site.requests] == ["/"]


async def test_what_is_refused_by_its_text_starts_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Running, "start", None)
    async with World() as world:
        error = await failed(world, "http://metadata.google.internal/")
        assert isinstance(error, EgressDenied)
        assert error.rule == "address.metadata"


async def test_a_proxy_of_the_settings_carries_all_of_it() -> None:
    async with World() as world:
        site = site_with(world, "<p id=said>x<script>fetch('/more').then(a => said.textContent = a.status)</script>")
        site.route("GET", "/more", (200, {}, "more"))
        proxy = HttpProxy(int(site.url.rpartition(":")[2]))
        page = await read(world, "http://docs.example.com/", proxy=world.serve(proxy))
        assert b"200" in page.html
        assert proxy.asked == [("GET", "http://docs.example.com/"), ("GET", "http://docs.example.com/more")]
        assert world.names.lookups == []


@pytest.mark.parametrize(
    "answer, outcome, words",
    [
        pytest.param(
            (200, {"Content-Type": "application/zip", "Content-Disposition": "attachment"}, b"PK"),
            Outcome.UNSUPPORTED,
            "sends a download",
            id="download",
        ),
    ],
)
async def test_what_is_no_page_is_named(
    answer: tuple[int, dict[str, str], bytes], outcome: Outcome, words: str
) -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", answer)
        error = await failed(world, site.url)
        assert (type(error), error.outcome) == (FetchError, outcome)
        assert words in error.detail


async def test_the_status_and_the_type_of_the_document_are_told() -> None:
    async with World() as world:
        site = world.site()
        site.route("GET", "/", (404, {"Content-Type": "text/plain"}, "nothing <b>here</b>"))
        page = await read(world, site.url)
        assert (page.status, page.media_type) == (404, "text/plain")
        assert b"nothing &lt;b&gt;here&lt;/b&gt;" in page.html


@pytest.mark.parametrize("kind", ["refused", "dns"])
async def test_a_host_that_cannot_be_reached_is_the_gates_error(kind: str) -> None:
    async with World() as world:
        error = await failed(world, world.closed_port() if kind == "refused" else "https://lost.example.com/")
        assert isinstance(error, TransportError)
        assert (error.outcome, error.kind) == (Outcome.NETWORK, kind)


async def test_a_certificate_that_nobody_signed_is_refused_by_the_browser() -> None:
    async with World() as world:
        url = world.serve(Site(), host="shop.example.com", tls=world.self_signed())
        error = await failed(world, url, allow=("127.0.0.1",))
        assert (type(error), error.outcome) == (FetchError, Outcome.NETWORK)
        assert "ERR_CERT_AUTHORITY_INVALID" in error.detail


async def test_a_dom_that_is_too_large_is_cut() -> None:
    async with World() as world:
        site = site_with(world, "<body><script>document.body.append('ü'.repeat(3_000_000))</script>")
        page = await read(world, site.url, max_bytes=100_000)
        assert (len(page.html), page.truncated) == (100_000, True)


async def test_a_page_that_never_stops_changing_is_taken_as_it_stands() -> None:
    async with World() as world:
        site = site_with(
            world, "<p id=p>0</p><script>setInterval(() => p.textContent = p.textContent + 'x', 50)</script>"
        )
        page = await read(world, site.url, within=9)
        assert (page.settled, page.status) == (False, 200)
        assert page.notes == ("the page was still changing at the deadline",)
        assert b'<p id="p">0x' in page.html


async def test_a_page_that_eats_its_memory_is_given_up(folder: Path) -> None:
    async with World() as world:
        eats = "setTimeout(() => { const all = []; for (;;) all.push(Array(1e6).fill(all.length + 0.5)); }, 100)"
        error = await failed(world, site_with(world, f"<p>text<script>{eats}</script>").url)
        assert (type(error), error.outcome) == (FetchError, Outcome.BAD_RESPONSE)
        assert error.detail.startswith("the browser gave 127.0.0.1 up: ")
        assert "crash" in error.detail
        assert await gone(folder)


# However it ends, nothing is left.

STUCK = "<p>text<script>setTimeout(() => { for (;;); }, 0)</script>"


@pytest.mark.parametrize("answers", [True, False], ids=["its-scripts-never-end", "it-never-answers"])
async def test_the_deadline_kills_it_all(folder: Path, answers: bool) -> None:
    async with World() as world:
        url = site_with(world, STUCK).url if answers else world.serve(Connection.until_gone)
        error = await failed(world, url, within=10)
        assert (type(error), error.outcome) == (FetchError, Outcome.TIMEOUT)
        assert ("kept the browser busy" if answers else "had sent no document") in error.detail
        assert await gone(folder)


@pytest.mark.parametrize("when", ["driver", "browser", "page"])
async def test_cancelling_kills_it_all(folder: Path, when: str) -> None:
    async with World() as world:
        asked = asyncio.Event()

        async def play(connection: Connection) -> None:
            await connection.request()
            await connection.send(answer_bytes(200, HTML, STUCK))
            asked.set()
            await connection.until_gone()

        reading = asyncio.create_task(read(world, world.serve(play)))
        if when == "page":
            await asked.wait()
        else:
            words = {"driver": "run-driver", "browser": "--user-data-dir"}[when]
            while not any(words in line for line in processes(folder)):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        reading.cancel()
        await asyncio.sleep(0)
        reading.cancel()  # an impatient caller must not leave anything behind either
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await gone(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_the_browser_has_no_rights_no_secrets_and_its_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXA_API_KEY", "s3cret")
    async with World() as world, Gate(EgressPolicy(), expires_at=soon()) as gate, Running(None) as running:
        await running.start(gate)
        [browser] = [
            process
            for process in psutil.Process().children(recursive=True)
            if "--remote-debugging-pipe" in process.cmdline()
        ]
        assert running.notes == ()
        assert "--no-sandbox" not in browser.cmdline()
        assert browser.uids().real == (os.getuid() or 65_534)
        assert "s3cret" not in str(browser.environ())
        assert gate.password not in str(browser.cmdline()) + str(browser.environ())
        assert world.connections == []


@pytest.mark.skipif(sys.platform == "win32", reason="the browser here is a shell script")
async def test_where_the_system_allows_no_sandbox_only_root_goes_on_and_says_so(folder: Path) -> None:
    real = find_browser()
    script = folder / "chromium"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *--no-sandbox*) ;; *) echo "FATAL: No usable sandbox!" >&2; exit 1;; esac\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    try:
        async with World() as world, Gate(EgressPolicy(), expires_at=soon()) as gate:
            async with Running(str(script)) as running:
                if os.geteuid() == 0:
                    await running.start(gate)
                    [note] = running.notes
                    assert note.startswith("the browser ran without its sandbox, as a user without rights")
                else:
                    with pytest.raises(FetchError, match="No usable sandbox") as caught:
                        await running.start(gate)
                    assert caught.value.outcome is Outcome.UNAVAILABLE
            assert world.connections == []
    finally:
        script.unlink()


# What is missing.


async def test_without_playwright_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    async with World() as world:
        error = await failed(world, "http://docs.example.com/")
        assert (type(error), error.outcome) == (FetchError, Outcome.UNAVAILABLE)
        assert error.hint is not None
        assert error.hint.startswith("install webseam[browser]")


@pytest.mark.parametrize(
    "executable, words",
    [
        pytest.param("/nowhere/chromium", "there is no browser at /nowhere/chromium", id="missing"),
        pytest.param("/bin/false", "the browser does not start", id="fails"),
    ],
)
async def test_a_browser_that_does_not_start_is_named(folder: Path, executable: str, words: str) -> None:
    async with World() as world:
        error = await failed(world, "http://docs.example.com/", executable=executable)
        assert (type(error), error.outcome) == (FetchError, Outcome.UNAVAILABLE)
        assert words in error.detail
        assert await gone(folder)
