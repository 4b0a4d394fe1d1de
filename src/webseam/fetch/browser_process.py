"""Starts one browser for one page and sees it gone, with all its processes, whatever happens in between.

The browser is started by playwright's driver, a process of its own, so three can be left behind: the driver, the
browser, and what the browser starts. Ending is therefore written down here in one place, and nothing interrupts it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from webseam.errors import FetchError, Outcome
from webseam.net.gate import Gate
from webseam.process import find
from webseam.tasks import end
from webseam.text import quote

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

__all__ = ["Running", "find_browser"]

INSTALL: Final = (
    "install webseam[browser], and Chromium from your system's packages or by `playwright install chromium`"
)
NAMESPACES: Final = (
    "let ordinary users make user namespaces, or install the set-uid helper (on Debian: chromium-sandbox)"
)
STARTED_WITHIN: Final = 30.0  # seconds the driver has to answer; half a second is usual
ENDED_WITHIN: Final = 3.0  # seconds the driver has to end by itself once its browser is gone

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_PLACES: Final = {  # where installers put browsers that are on no path
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}
_NOBODY: Final = 65_534  # the user and group without rights, on every Linux
_FLAGS: Final = (
    # What would go around the proxy. Names are the gate's to resolve: here only its own address still means something.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # What a browser says by itself, and what it would ask a person. The last list of features counts, so it is whole.
    "--disable-features=AsyncDns,AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider"
    ",DnsOverHttps,GlobalMediaControls,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,InterestFeedContentSuggestions"
    ",MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,Translate,WebRtcHideLocalIpsWithMdns",
    "--disable-domain-reliability",
    "--no-pings",
    "--deny-permission-prompts",
    # What text does not need, and what bounds a page that wants to grow.
    "--disable-3d-apis",
    "--disable-gpu",
    "--blink-settings=imagesEnabled=false",
    "--renderer-process-limit=4",
    "--js-flags=--max-old-space-size=512",
)
_UNWANTED: Final = ["--disable-popup-blocking", "--enable-unsafe-swiftshader", "--disable-ipc-flooding-protection"]
_NO_SANDBOX: Final = re.compile("No usable sandbox|SUID sandbox|Failed to move to new namespace")  # as Chromium says it
_UNCONFINED: Final = "the browser ran without its sandbox, as a user without rights: this system does not allow it one"
_UNCONFINED_ROOT: Final = "the browser ran as root and without its sandbox; run webseam as an ordinary user instead"


def find_browser() -> str | None:
    """Return the path of a Chromium of this system, or None. Nothing is run."""
    candidates = (find(name) for name in (*_NAMES, *_PLACES.get(sys.platform, ())))
    return next((path for path in candidates if path is not None), None)


class Running:
    """One browser and the driver between it and us, both gone when the block ends."""

    def __init__(self, executable: str | None) -> None:
        self.notes: tuple[str, ...] = ()
        self._executable = str(Path(executable).expanduser()) if executable else None
        self._folder = TemporaryDirectory(prefix="webseam-", ignore_cleanup_errors=True)
        self._driver: Any = None
        self._starting: asyncio.Future[Any] | None = None
        self._launching: asyncio.Future[Any] | None = None

    async def __aenter__(self) -> Running:
        return self

    async def __aexit__(self, *_: object) -> None:
        ending = asyncio.ensure_future(self._end())
        cancelled = False
        while not ending.done():
            try:
                await asyncio.wait([ending])
            except asyncio.CancelledError:  # a second one would leave processes behind
                cancelled = True
        ending.result()
        if cancelled:
            raise asyncio.CancelledError

    async def start(self, gate: Gate) -> Browser:
        """Return a browser whose only way out is `gate`.

        Raises:
            FetchError: `unavailable`.
        """
        try:
            from playwright.async_api import Error, async_playwright
        except ImportError:
            raise _unavailable("reading in a browser needs playwright, which is not installed") from None
        executable = find(self._executable) if self._executable else find_browser()
        if self._executable and executable is None:
            raise _unavailable(f"there is no browser at {quote(self._executable)}", hint="check fetch.browser_path")
        self._driver = async_playwright()
        self._starting = asyncio.ensure_future(self._driver.start())
        try:
            playwright = await asyncio.shield(self._starting)  # cancelled itself, it would lose the process it started
            command, sandbox = self._command(executable)
        except (Error, OSError) as error:
            raise _unavailable(f"playwright's driver does not start: {quote(str(error))}") from None
        options: dict[str, Any] = {
            "executable_path": command,
            "artifacts_dir": str(Path(self._folder.name) / "artifacts"),
            "env": self._environment(),
            "proxy": {
                "server": f"http://{gate.address}",
                "bypass": "<-loopback>",  # browsers let loopback pass by a proxy unless they are told not to
                "username": gate.username,
                "password": gate.password,
            },
            "args": list(_FLAGS),
            "ignore_default_args": _UNWANTED,
            "timeout": 0,  # the deadline stands over it
            "handle_sigint": False,  # signals are the caller's
            "handle_sigterm": False,
            "handle_sighup": False,
        }
        try:
            try:
                return await self._launch(playwright, chromium_sandbox=sandbox, **options)
            except Error as error:
                if not (_is_root() and sandbox and _NO_SANDBOX.search(error.message)):
                    raise
                self.notes = (_UNCONFINED,)
                return await self._launch(playwright, chromium_sandbox=False, **options)
        except Error as error:
            hint = NAMESPACES if _NO_SANDBOX.search(error.message) else INSTALL
            raise _unavailable(f"the browser does not start: {quote(_reason(error.message))}", hint=hint) from None

    async def _launch(self, playwright: Playwright, **options: Any) -> Browser:
        self._launching = asyncio.ensure_future(playwright.chromium.launch(**options))
        return await asyncio.shield(self._launching)

    def _command(self, executable: str | None) -> tuple[str | None, bool]:
        """Return what to start for `executable`, and whether its sandbox can be asked for.

        A few lines of shell stand before the browser: they note its process, so that it can be ended whatever state it
        and its driver are in, give it the profile in our own folder, and take root's rights away. As root a browser
        refuses to confine its renderers, and a page that breaks out of one would own the machine.
        """
        folder = Path(self._folder.name)
        profile = folder / "profile"
        profile.mkdir()
        reachable = all(parent.stat().st_mode & 0o001 for parent in folder.parents)
        rights = find("setpriv") if _is_root() and reachable else None
        script = folder / "browser"
        if executable is None or sys.platform == "win32":
            return executable, not _is_root()
        lowered = f"{shlex.quote(rights)} --reuid={_NOBODY} --regid={_NOBODY} --clear-groups -- " if rights else ""
        script.write_text(
            f"#!/bin/sh\necho $$ >{shlex.quote(str(folder / 'pid'))}\n"
            f'exec {lowered}{shlex.quote(executable)} "$@" --user-data-dir={shlex.quote(str(profile))}\n',
            encoding="utf-8",
        )
        script.chmod(0o700)
        if rights:
            folder.chmod(0o711)
            os.chown(profile, _NOBODY, _NOBODY)
        if not os.access(script, os.X_OK):  # temporary files may not be run here
            rights, command = None, executable
        else:
            command = str(script)
        if _is_root() and not rights:
            self.notes = (_UNCONFINED_ROOT,)
        return command, rights is not None or not _is_root()

    def _environment(self) -> dict[str, str | float | bool]:
        """Return what the browser sees: no key, proxy or folder of the user."""
        folder = str(Path(self._folder.name) / "profile")
        kept = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "SYSTEMDRIVE", "PROGRAMFILES", "LOCALAPPDATA")
        ours = {name: os.environ[name] for name in kept if name in os.environ}
        return {**ours, "HOME": folder, "TMPDIR": folder, "TEMP": folder, "TMP": folder, "LANG": "C.UTF-8"}

    async def _end(self) -> None:
        try:
            if self._starting is not None:
                await asyncio.wait([self._starting], timeout=STARTED_WITHIN)  # before, there is nothing to hold it by
                await self._kill_launched()
                if self._starting.done() and not self._starting.cancelled() and not self._starting.exception():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(ENDED_WITHIN):
                            await self._driver.__aexit__()  # removes its own temporary folders
                self._kill_browser()
                self._kill_driver()
        finally:
            self._folder.cleanup()

    async def _kill_launched(self) -> None:
        """Kill the browser, as soon as it is there to be killed; its driver then removes what it made for it."""
        until = time.monotonic() + ENDED_WITHIN
        self._kill_browser()
        while self._launching is not None and not self._launching.done() and time.monotonic() < until:
            await asyncio.wait([self._launching], timeout=0.02)
            self._kill_browser()
        if self._launching is not None:
            await end([self._launching])

    def _kill_browser(self) -> None:
        """Kill the browser with all its processes: the driver starts it as the head of a group."""
        note = Path(self._folder.name) / "pid"
        try:
            pid = int(note.read_text(encoding="ascii"))
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
            note.unlink()  # the number may soon be another's
        except (OSError, ValueError):  # not started, or gone
            return

    def _kill_driver(self) -> None:
        """Kill the driver if it did not end. Its process has no public name, so it may go by another one some day."""
        process = getattr(getattr(getattr(self._driver, "_client", None), "_transport", None), "_proc", None)
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _unavailable(detail: str, *, hint: str = INSTALL) -> FetchError:
    return FetchError(detail, outcome=Outcome.UNAVAILABLE, hint=hint)


def _reason(message: str) -> str:
    """Return the line of a browser's last words that says most, without the report around it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    telling = [
        line for line in lines if "sandbox" in line or "ERROR" in line or "FATAL" in line or "rror while" in line
    ]
    return (telling or lines or ["no reason given"])[0]
