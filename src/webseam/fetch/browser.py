"""Reads a page in a browser of this machine: for pages that are an empty shell until their scripts have run.

A browser goes where a page tells it to, so it may reach the network in one way only: through our gate
(`webseam.net.gate`), which judges every host it names. What would go around a proxy (UDP, QUIC, WebRTC, look-ups of its
own) is switched off. It starts with an empty profile and environment, and ends, with all its processes, when the page
has been read, at the deadline and on cancellation.

It says what it is: its own User-Agent and ours behind it. A page that wants to see a person gets none; what it shows
instead is the caller's to recognise.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from webseam.errors import EgressDenied, FetchError, Outcome
from webseam.fetch.browser_process import Running, find_browser
from webseam.net.gate import MARK, Gate
from webseam.net.policy import EgressPolicy
from webseam.net.redact import redact_url
from webseam.net.url import URL, UrlRefused, parse
from webseam.tasks import end
from webseam.text import quote
from webseam.version import VERSION

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Request, Response, Route

    from webseam.net.resolve import Resolver

__all__ = ["BrowserPage", "find_browser", "read_in_browser"]

TOKEN: Final = f"webseam/{VERSION}"  # what we add to the browser's own User-Agent
RESERVE: Final = 1.0  # seconds before the deadline at which the page is taken as it stands
POLL: Final = 0.2  # seconds between two looks at a page that is still changing
QUIET: Final = 0.5  # seconds without a request under way, after which nothing more is expected
STREAMING: Final = 2.0  # seconds after its head that an answer is waited for: some have no end, some nobody reads
STEADY: Final = 3  # looks without a change once it is quiet
STEADY_BUSY: Final = 10  # the same while it is not: analytics and chats never stop talking
STEADY_EMPTY: Final = 30  # and while there is next to nothing to read: it may be what the network is busy with
LITTLE_TEXT: Final = 500  # characters

_Result = TypeVar("_Result")
_SKIPPED: Final = frozenset({"image", "media", "font"})

# Run in a world of their own, where a page's scripts have changed nothing. Open shadow roots become ordinary elements:
# that is where components keep their text, and a page's outerHTML leaves them out.
_LOOK: Final = """(() => {
  const body = document.body;
  return [document.readyState, body ? body.innerText.length : 0, document.getElementsByTagName('*').length].join();
})()"""
_TAKE: Final = """((limit) => {
  const inert = document.implementation.createHTMLDocument('');
  const flat = (node) => {
    const copy = inert.importNode(node, false);
    if (node.localName === 'template') return inert.importNode(node, true);
    const slotted = node.localName === 'slot' && node.getRootNode() instanceof ShadowRoot ? node.assignedNodes() : [];
    const inside = slotted.length ? slotted : (node.shadowRoot || node).childNodes;
    for (const child of inside) copy.appendChild(flat(child));
    return copy;
  };
  const root = document.documentElement;
  let html = '';
  const shadows = [...document.querySelectorAll('*')].some((element) => element.shadowRoot);
  try { html = root ? (shadows ? flat(root) : root).outerHTML : ''; } catch { html = root.outerHTML; }
  return [document.compatMode === 'CSS1Compat' ? '<!DOCTYPE html>' + html : html].map((text) =>
    [text.slice(0, limit), text.length > limit])[0];
})(%d)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserPage:
    """A page as it stood when its text had come to rest.

    Attributes:
        html: its DOM as UTF-8, whatever its own declarations say.
        final_url: where it stands, after redirects and what its scripts did, with the fragment.
        status: of the answer its document came with; 0 when none did.
        media_type: what that answer called itself, without parameters; the browser has made HTML of it all the same.
        refused: how often each rule of the egress policy kept the page from something.
        truncated: the DOM was larger than `max_bytes`.
        settled: False when the deadline came before the text stopped changing.
        notes: what a person should know about how it was read.
    """

    html: bytes = field(repr=False)
    final_url: str
    status: int
    media_type: str = ""
    refused: dict[str, int] = field(default_factory=dict)
    truncated: bool = False
    settled: bool = True
    notes: tuple[str, ...] = ()


async def read_in_browser(
    url: str,
    *,
    policy: EgressPolicy,
    expires_at: float,
    max_bytes: int,
    executable: str | None = None,
    resolver: Resolver | None = None,
    proxy: str | None = None,
    ca_bundle: str | None = None,
) -> BrowserPage:
    """Open `url` in a browser of its own and return its DOM.

    Args:
        policy: judges each request of the browser, whatever caused it.
        expires_at: an instant of `time.monotonic`; from `RESERVE` before it the page is taken as it stands.
        max_bytes: of the DOM's HTML.
        executable: the browser to start; found by `find_browser` when None.
        resolver, proxy, ca_bundle: as for `Client`. The certificates of pages are checked by the browser, against those
            it and the system trust.

    Raises:
        EgressDenied: the policy refuses the page, or where it leads.
        FetchError: `unavailable` without playwright or a browser that starts, `timeout` when there was no document at
            the deadline, `network` when it could not be had, `unsupported` when it is a download.
        TransportError: the gate could not reach the page's host.
    """
    target = parse(url)
    verdict = policy.judge_literally(target.href)
    if not verdict.allowed:  # before half a second is spent on starting a browser
        raise EgressDenied(verdict.rule, verdict.detail, url=redact_url(target.href))
    visit = _Visit(target, expires_at - RESERVE, max_bytes)
    try:
        async with (
            asyncio.timeout(expires_at - time.monotonic()),
            Gate(policy, expires_at=expires_at, resolver=resolver, proxy=proxy, ca_bundle=ca_bundle) as gate,
            Running(executable) as running,
        ):
            browser = await running.start(gate)
            _, mark, fragment = url.strip().partition("#")  # it never travels, but scripts find their page by it
            return await visit.read(browser, gate, target.href + mark + fragment, running.notes)
    except TimeoutError:
        raise FetchError(visit.late(), outcome=Outcome.TIMEOUT) from None


class _Crashed(Exception):
    """A page's process has ended."""


class _Visit:
    """One page in a browser, from its address to its DOM."""

    def __init__(self, target: URL, until: float, max_bytes: int) -> None:
        self._target = target
        self._until = until
        self._max_bytes = max_bytes
        self._answer: Response | None = None
        self._loading: dict[Request, float] = {}  # what is under way, and when it will no longer be waited for
        self._moved = time.monotonic()
        self._failed = target.href
        self._phase = "the browser had not started"

    def late(self) -> str:
        """Return what the deadline found undone."""
        return f"{self._phase} at the deadline"

    async def read(self, browser: Browser, gate: Gate, url: str, notes: tuple[str, ...]) -> BrowserPage:
        """Return the page at `url` once it has settled."""
        from playwright.async_api import Error

        try:
            page, evaluate = await self._open(browser)
            self._phase = f"{self._target.host} had sent no document to the browser"
            settled, html, truncated = await _unless_crashed(page, self._work(page, evaluate, url))
            final_url = page.url
        except (Error, _Crashed) as error:
            raise self._problem(gate, str(error)) from None
        answer = self._answer
        if final_url.startswith("chrome-error:") or (answer and answer.headers.get(MARK.lower()) == gate.mark):
            raise self._problem(gate, "")
        body = html.encode("utf-8", "replace")
        if gate.exhausted:
            notes = (*notes, "the page loaded more than it may, and was cut off from the network then")
        if not settled:
            notes = (*notes, "the page was still changing at the deadline")
        return BrowserPage(
            html=body[: self._max_bytes],
            final_url=final_url if _is_web(final_url) else self._target.href,
            status=answer.status if answer else 0,
            media_type=answer.headers.get("content-type", "").partition(";")[0].strip().lower() if answer else "",
            refused=dict(gate.refused),
            truncated=truncated or len(body) > self._max_bytes,
            settled=settled,
            notes=notes,
        )

    async def _open(self, browser: Browser) -> tuple[Page, Callable[[str], Awaitable[Any]]]:
        """Return an empty page and a function that evaluates in it, in a world its scripts cannot see."""
        session = await browser.new_browser_cdp_session()
        own = (await session.send("Browser.getVersion"))["userAgent"]
        context = await browser.new_context(
            user_agent=f"{own} {TOKEN}", service_workers="block", accept_downloads=False, permissions=[]
        )
        page = await context.new_page()
        page.on("request", self._note_request)
        page.on("response", self._note_answer)
        page.on("requestfinished", self._note_end)
        page.on("requestfailed", self._note_failure)
        await page.route("**/*", _skip)
        wire = await context.new_cdp_session(page)

        async def evaluate(expression: str) -> Any:
            tree = await wire.send("Page.getFrameTree")
            frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "webseam"}
            world = (await wire.send("Page.createIsolatedWorld", frame))["executionContextId"]
            asked = {"expression": expression, "contextId": world, "returnByValue": True}
            return (await wire.send("Runtime.evaluate", asked))["result"].get("value")

        return page, evaluate

    async def _work(self, page: Page, evaluate: Callable[[str], Awaitable[Any]], url: str) -> tuple[bool, str, bool]:
        """Return whether the page settled, its HTML, and whether that is not all of it."""
        await page.goto(url, wait_until="commit", timeout=0)
        settled = await self._settle(page, evaluate)
        html, truncated = await evaluate(_TAKE % self._max_bytes) or ("", False)
        return settled, html, truncated

    async def _settle(self, page: Page, evaluate: Callable[[str], Awaitable[Any]]) -> bool:
        """Wait until the page's text has stopped changing; False when the time for it was over first."""
        from playwright.async_api import Error

        before, steady = "", 0
        while (left := self._until - time.monotonic()) > 0:
            try:
                now = str(await evaluate(_LOOK))
            except Error:  # it is on its way to another document
                if page.is_closed():
                    raise
                now = ""
            steady = steady + 1 if now == before and now.partition(",")[0] in ("interactive", "complete") else 0
            before = now
            if steady and steady >= _looks_needed(now, quiet=self._is_quiet()):
                return True
            await asyncio.sleep(min(POLL, left))
        return False

    def _note_answer(self, response: Response) -> None:
        if response.request in self._loading:
            self._loading[response.request] = time.monotonic() + STREAMING
        if _is_main(response.request):
            self._answer = response
            self._phase = f"the scripts of {self._target.host} still kept the browser busy"

    def _is_quiet(self) -> bool:
        now = time.monotonic()
        return now - self._moved >= QUIET and all(until <= now for until in self._loading.values())

    def _note_request(self, request: Request) -> None:
        self._loading[request] = math.inf

    def _note_end(self, request: Request) -> None:
        self._loading.pop(request, None)
        self._moved = time.monotonic()

    def _note_failure(self, request: Request) -> None:
        self._note_end(request)
        if _is_main(request):
            self._failed = request.url

    def _problem(self, gate: Gate, message: str) -> Exception:
        """Return the error for a document that did not come: the gate's, where it was the gate that stopped it."""
        answer = self._answer
        ours = answer is not None and answer.headers.get(MARK.lower()) == gate.mark
        stopped = gate.problem_of(answer.url if answer is not None and ours else self._failed)
        host = self._target.host
        if stopped is not None and (ours or not message or "net::ERR_" in message):
            return stopped
        if "Download is starting" in message or "ERR_ABORTED" in message:
            detail = f"{host} sends a download, which is no page for a browser"
            return FetchError(detail, outcome=Outcome.UNSUPPORTED)
        code = next((word for word in message.split() if word.startswith("net::ERR_")), "").removeprefix("net::")
        if code:
            return FetchError(f"the browser could not open {host}: {quote(code)}", outcome=Outcome.NETWORK)
        said = quote(message.partition("\n")[0]) or "it shows an error of its own"
        return FetchError(f"the browser gave {host} up: {said}", outcome=Outcome.BAD_RESPONSE)


async def _unless_crashed(page: Page, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Do `work` with a page. A question to one that has crashed would never be answered.

    Raises:
        _Crashed: it did.
    """
    crash = asyncio.Event()
    page.on("crash", lambda _: crash.set())
    working, crashing = asyncio.ensure_future(work), asyncio.ensure_future(crash.wait())
    try:
        await asyncio.wait([working, crashing], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end([working, crashing])
    if working.cancelled():
        raise _Crashed("it crashed, or wanted more memory than a page may have")
    return working.result()


def _looks_needed(look: str, *, quiet: bool) -> int:
    if quiet:
        return STEADY
    return STEADY_BUSY if int(look.split(",")[1]) >= LITTLE_TEXT else STEADY_EMPTY


def _is_main(request: Request) -> bool:
    """True when a request is for the document of the page itself."""
    from playwright.async_api import Error

    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except Error:  # a worker's, or of a frame that is gone
        return False


def _is_web(url: str) -> bool:
    try:
        parse(url)
    except UrlRefused:
        return False
    return True


async def _skip(route: Route) -> None:
    """Leave out what has no text in it."""
    from playwright.async_api import Error

    with suppress(Error):  # the page, or the whole browser, is gone
        if route.request.resource_type in _SKIPPED:
            await route.abort()
        else:
            await route.continue_()
