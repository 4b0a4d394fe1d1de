"""A network in which every address is this machine, and what webseam dials there.

Run inside a network and mount namespace of its own, as its superuser; prints one JSON document. All of IPv4 and IPv6 is
routed to loopback, so that a connection to any address is accepted here and counted under the address it was meant
for: that of a public site, of the metadata service, of a database next door. Names come from a name server of our own
that the system's resolver asks, with answers that change from one look-up to the next.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import trustme

from webseam.errors import WebSeamError
from webseam.fetch.request import FetchRequest
from webseam.fetch.service import Fetching
from webseam.model import Page
from webseam.resilience.deadline import Deadline
from webseam.web import AsyncWeb

ROOT = Path(__file__).parents[2]
CASES: list[dict[str, Any]] = json.loads((ROOT / "tests/net/cases/egress_cases.json").read_text("utf-8"))["cases"]
SITE = "93.184.216.34"  # a public site
NEARBY = ("169.254.169.254", "10.0.0.5", "127.0.0.1")  # metadata, a machine next door, this one
PORTS = (
    *(22, 23, 25, 80, 110, 143, 443, 445, 2375, 2379, 3000, 3128, 3306, 5432, 6379),
    *(8000, 8080, 8443, 9200, 9222, 10250, 11211),
)
PARAGRAPH = "A widget is frobnicated by turning its handle to the left until it clicks, and then once more. " * 3
SHELL = (
    "<!doctype html><html><head><title>App</title>{head}</head>"
    '<body><div id="root"></div><script src="/app.js"></script>'
)

_A, _AAAA = 1, 28


def prepare() -> None:
    """Bring loopback up, route everything to it, and have names asked of it."""
    commands = ["link set lo up", *(f"addr add {address}/32 dev lo" for address in (SITE, *NEARBY[:2]))]
    commands += ["route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"]
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)
    folder = Path(tempfile.mkdtemp())
    for path, text in (("/etc/resolv.conf", "nameserver 127.0.0.1\n"), ("/etc/nsswitch.conf", "hosts: dns\n")):
        if Path(path).exists():
            own = folder / Path(path).name
            own.write_text(text)
            subprocess.run(["mount", "--bind", str(own), path], check=True, capture_output=True)
    if Path("/run/nscd").is_dir():  # a cache of the machine's own would answer in place of our name server
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/nscd"], check=True, capture_output=True)


class NameServer:
    """Answers A and AAAA over UDP from a table of successive answers; the last one repeats.

    Attributes:
        table: host to answers, each a list of addresses. lookups: the hosts whose A record was asked for.
    """

    def __init__(self) -> None:
        self.table: dict[str, list[list[str]]] = {}
        self.lookups: list[str] = []
        self._given: dict[tuple[str, int], int] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def script(self, table: dict[str, list[list[str]]]) -> None:
        """Begin anew with these answers."""
        self.table, self.lookups, self._given = dict(table), [], {}

    def _serve(self) -> None:
        while True:
            question, sender = self._socket.recvfrom(4_096)
            self._socket.sendto(self._answer(question), sender)

    def _answer(self, question: bytes) -> bytes:
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length].decode("ascii", "replace"))
            at += 1 + length
        kind = struct.unpack_from("!H", question, at + 1)[0]
        host = ".".join(labels).lower()
        records = [
            self._record(kind, address)
            for address in self._addresses(host, kind)
            if (":" in address) == (kind == _AAAA)
        ]
        code = 0 if host in self.table else 3
        head = question[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(records), 0, 0)
        return head + question[12 : at + 5] + b"".join(records)

    def _addresses(self, host: str, kind: int) -> list[str]:
        answers = self.table.get(host) or [[]]
        turn = self._given.get((host, kind), 0)
        self._given[host, kind] = turn + 1
        if kind == _A:
            self.lookups.append(host)
        return answers[min(turn, len(answers) - 1)]

    @staticmethod
    def _record(kind: int, address: str) -> bytes:
        packed = socket.inet_pton(socket.AF_INET6 if kind == _AAAA else socket.AF_INET, address)
        return b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed


Answer = tuple[int, dict[str, str], str]
TEXT: Answer = (200, {"Content-Type": "text/plain"}, "words of the page\n")


class Everywhere:
    """Listens on every address, and answers whatever is asked with what `answer` gives for the path.

    Attributes:
        accepted: the address and port that each accepted connection was opened to.
    """

    def __init__(self) -> None:
        self.accepted: list[tuple[str, int]] = []
        self.answer: Callable[[str], Answer] = lambda path: TEXT
        self.tls: ssl.SSLContext | None = None
        for port in PORTS:
            listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
            threading.Thread(target=self._listen, args=(listener,), daemon=True).start()

    def _listen(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            address, port = connection.getsockname()[:2]
            self.accepted.append((address.removeprefix("::ffff:"), port))
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            if connection.recv(1, socket.MSG_PEEK) == b"\x16" and self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65_536) or b"\r\n\r\n"
            path = received.split(b" ")[1].decode("ascii")
            status, fields, body = self.answer(path)
            payload = body.encode()
            lines = {**fields, "Content-Length": str(len(payload)), "Connection": "close"}
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode()
            connection.sendall(b"HTTP/1.1 %d X\r\n" % status + head + b"\r\n" + payload)
            connection.close()


class Stage:
    """One network, on which cases are played one after the other."""

    def __init__(self) -> None:
        prepare()
        self.names = NameServer()
        self.net = Everywhere()
        self._authority = trustme.CA()
        self.ca_bundle = Path(tempfile.mkdtemp()) / "authority.pem"
        self._authority.cert_pem.write_to_path(str(self.ca_bundle))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        over_tls = [case for case in CASES if case["url"].strip().startswith("https:")]
        hosts = {host for case in over_tls for host in case.get("dns", {}) if host.isascii() and "_" not in host}
        self._authority.issue_cert(*sorted(hosts)).configure_cert(context)
        self.net.tls = context

    def set(self, names: dict[str, list[list[str]]], answer: Callable[[str], Answer]) -> None:
        """Begin a case: its names, and what every site answers for a path."""
        self.names.script(names)
        self.net.answer = answer
        self.net.accepted.clear()

    def seen(self, told: Any) -> dict[str, Any]:
        """Return what a case came to."""
        return {"told": told, "dialled": list(self.net.accepted), "lookups": list(self.names.lookups)}


def in_turn(hops: list[str]) -> Callable[[str], Answer]:
    """Return an answer that redirects once for each of `hops` and then gives a page."""
    waiting = list(hops)
    return lambda path: (302, {"Location": waiting.pop(0)}, "") if waiting else TEXT


def told_of(result: Page | WebSeamError) -> dict[str, Any]:
    """Return what a fetch said."""
    rule = getattr(result, "rule", None)
    return {"outcome": result.outcome.value, "rule": rule, "detail": result.detail, "tried": len(result.attempts)}


async def fetched(web: AsyncWeb, url: str, **options: Any) -> dict[str, Any]:
    """Fetch and return what was said."""
    try:
        return told_of(await web.fetch(url, **options))
    except WebSeamError as error:
        return told_of(error)


async def play_cases(stage: Stage) -> dict[str, Any]:
    """Play every case of the egress policy that is about fetching."""
    results: dict[str, Any] = {}
    for case in CASES:
        kind, _, value = case.get("context", "").partition(":")
        if kind == "provider_base_url":
            continue
        settings: dict[str, Any] = {"fetch.browser": False, "fetch.cache": False, "net.ca_bundle": str(stage.ca_bundle)}
        environment = {}
        if kind == "config":
            settings["net.proxy"] = value.partition("=")[2]
        elif kind == "env":
            environment = dict([value.split("=", 1)])
        stage.set(case.get("dns", {}), in_turn(case.get("hops", [])))
        async with AsyncWeb(settings, environment={**_environment(), **environment}) as web:
            if kind == "listen":
                told = await _fetched_while_listening(web, case["url"], value)
            else:
                told = await fetched(web, case["url"])
        results[case["id"]] = stage.seen(told)
    return results


async def _fetched_while_listening(web: AsyncWeb, url: str, own: str) -> dict[str, Any]:
    fetching = Fetching(web._services, web.health, web.saved_keys, warn=print, own=(own,))
    try:
        return told_of(await fetching.fetch(FetchRequest(url=url), web.settings(), Deadline.after(10)))
    except WebSeamError as error:
        return told_of(error)
    finally:
        await fetching.aclose()


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


# Pages of one public site that lead elsewhere.


def spellings() -> list[str]:
    """Return the URLs that are refused by their text alone, in every spelling there is a case of."""
    return [
        case["url"]
        for case in CASES
        if case["verdict"] == "block" and not {"dns", "hops", "context"} & case.keys() and case["url"].isprintable()
    ]


def leading_to(urls: list[str], how: str) -> Callable[[str], Answer]:
    """Return a site whose page /7 leads to the seventh of `urls`."""

    def answer(path: str) -> Answer:
        number = path.strip("/")
        if not number.isdigit():
            return 404, {}, ""
        url = urls[int(number)]
        if how == "redirect":
            return 302, {"Location": url.encode("utf-8", "replace").decode("latin-1")}, ""
        if how == "alternate":
            head = f'<link rel="alternate" type="text/markdown" href="{escape(url)}">'
            return 200, {"Content-Type": "text/html; charset=utf-8"}, SHELL.format(head=head)
        head = f'<meta http-equiv="refresh" content="0; url={escape(url)}"><base href="{escape(url)}">'
        body = f"<main><p>{PARAGRAPH}</p><img src='{escape(url)}'><iframe src='{escape(url)}'></iframe></main>"
        page = f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}</body></html>"
        return 200, {"Content-Type": "text/html; charset=utf-8", "Refresh": "0; url=http://127.0.0.1/"}, page

    return answer


async def play_offers(stage: Stage) -> dict[str, Any]:
    """Play a public site whose pages lead, in one way after the other, to every spelling of what is refused."""
    urls, results = spellings(), {}
    settings = {"fetch.browser": False, "fetch.cache": False}
    for how in ("redirect", "alternate", "refresh"):
        for number, url in enumerate(urls):
            stage.set({"public.example.com": [[SITE]]}, leading_to(urls, how))
            async with AsyncWeb(settings) as web:
                told = await fetched(web, f"http://public.example.com/{number}")
            results[f"{how} {url}"] = stage.seen(told)
    return results


# The real program.


def program(*arguments: str) -> dict[str, Any]:
    """Run `webseam fetch … --json` and return how it ended."""
    command = [sys.executable, "-m", "webseam", "fetch", *arguments, "--no-cache", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    pages = json.loads(done.stdout)
    return {
        "code": done.returncode,
        "outcomes": [page["outcome"] for page in (pages if isinstance(pages, list) else [pages])],
        "texts": [page["markdown"] for page in (pages if isinstance(pages, list) else [pages])],
        "err": done.stderr,
    }


def play_program(stage: Stage) -> dict[str, Any]:
    """Run the real program against a site that plays each trick once."""
    shell: Answer = (200, {"Content-Type": "text/html"}, SHELL.format(head=""))
    name, site, inside = "public.example.com", [SITE], "http://public.example.com/"
    urls = spellings()
    tricks: dict[str, tuple[dict[str, list[list[str]]], Callable[[str], Answer], list[str]]] = {
        "a public site": ({name: [site]}, lambda path: TEXT, [inside]),
        "rebinding between two requests": (
            {name: [site, ["127.0.0.1"]]}, lambda path: shell, [inside + "app"]),
        "rebinding behind a redirect": (
            {name: [site, ["169.254.169.254"]]}, in_turn([f"http://{name}:8080/b"]), [inside]),
        "rebinding from one page to the next": (
            {name: [site, ["10.0.0.5"]]}, lambda path: TEXT, [f"http://{name}:8000/", f"http://{name}:8080/"]),
        "mixed answers": ({name: [[SITE, "10.0.0.5"]]}, lambda path: TEXT, [inside]),
        "mixed families": ({name: [[SITE, "::1"]]}, lambda path: TEXT, [inside]),
        "a mapped answer": ({name: [["::ffff:10.0.0.5"]]}, lambda path: TEXT, [inside]),
        "the metadata service by name": ({name: [["169.254.169.254"]]}, lambda path: TEXT, [inside]),
        "a redirect to the metadata service": (
            {name: [site]}, in_turn(["http://169.254.169.254/latest/meta-data/"]), [inside]),
        "a text form next door": ({name: [site]}, leading_to(["http://10.0.0.5/x.md"], "alternate"), [inside + "0"]),
        "a page that refreshes to this machine": (
            {name: [site]}, leading_to(["http://127.0.0.1:8080/"], "refresh"), [inside + "0"]),
        "every spelling": ({}, lambda path: TEXT, [url for url in urls if not url.startswith("-")][:100]),
        "every other spelling": ({}, lambda path: TEXT, [url for url in urls if not url.startswith("-")][100:200]),
    }  # fmt: skip
    results = {}
    for title, (names, answer, wanted) in tricks.items():
        stage.set(names, answer)
        results[title] = stage.seen(program(*wanted))
    return results


def main() -> None:
    """Play everything and print what came of it."""
    stage = Stage()
    report = {
        "cases": asyncio.run(play_cases(stage)),
        "offers": asyncio.run(play_offers(stage)),
        "program": play_program(stage),
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
