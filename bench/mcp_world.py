"""The web that the MCP servers are measured against: a process of its own on loopback that plays every other side.

Each server is pointed at it by settings of its own; ddgs, whose hosts are written into it, by the proxy that it can be
given, since this is a proxy too. As the ambient proxy of every server it also keeps the run on this machine: whatever
else they ask for is refused and counted. Every search service gives the same ten hits, every page is the same article.
Run as `python bench/mcp_world.py FOLDER`: writes FOLDER/ca.pem, prints its port, serves until its standard input
closes, then prints which other hosts were asked for. `bench/provider.py` is the smaller one for a single service.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import ssl
import sys
from pathlib import Path

import trustme
from provider import BODY, HITS

PLAYED = "html.duckduckgo.com"  # the one host that is played over TLS
SENTENCE = "The keeper of the seventh lighthouse counted the ships that came home before the fog did."
HIT = "example.org/docs/0/page"  # in every answer to a search
LINES = [(hit["url"], hit["title"], hit["content"]) for hit in HITS]

ARTICLE = (
    '<!doctype html><html lang="en"><head><title>The seventh lighthouse</title></head><body>'
    "<nav>" + "".join(f'<a href="/menu/{n}">Menu {n}</a> ' for n in range(30)) + "</nav><main><article>"
    f"<h1>The seventh lighthouse</h1><p>{SENTENCE}</p>"
    + "".join(
        f"<h2>Chapter {number}</h2><p>"
        + f'{SENTENCE} It is told in <a href="/told/{number}">chapter {number}</a> what he did then, and why. ' * 6
        + f"</p><ul><li>a lamp</li><li>a log book of {number} pages</li></ul>"
        for number in range(1, 13)
    )
    + "</article></main><footer>Made on loopback.</footer></body></html>"
).encode()
RESULTS = (
    "<!doctype html><html><body>"
    + "".join(
        f'<article class="result"><h3><a href="{url}">{title}</a></h3><p class="content">{text}</p></article>'
        for url, title, text in LINES
    )
    + "</body></html>"
).encode()
BODIES = (
    "<!doctype html><html><body>"
    + "".join(
        f'<div class="result__body"><h2>{title}</h2><a href="{url}">{text}</a></div>' for url, title, text in LINES
    )
    + "</body></html>"
).encode()
TEXT = "\n\n---\n\n".join(f"Title: {title}\nURL: {url}\nHighlights:\n{text}" for url, title, text in LINES)
EXA = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": TEXT}]}}).encode()

ANSWERS = {  # by how a path begins
    "/page/": ("text/html; charset=utf-8", ARTICLE),
    "/searx/": ("text/html; charset=utf-8", RESULTS),
    "/html/": ("text/html; charset=utf-8", BODIES),
    "/exa": ("application/json", EXA),
    "/search": ("application/json", BODY),
}


def answer_to(path: str) -> bytes:
    """Return the bytes of the whole answer; 404 for what nobody should ask for, which includes robots.txt."""
    for start, (media_type, body) in ANSWERS.items():
        if path.startswith(start):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
            return head.encode() + body
    return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class World:
    def __init__(self, authority: trustme.CA) -> None:
        self.refused: collections.Counter[str] = collections.Counter()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.set_alpn_protocols(["http/1.1"])
        authority.issue_cert(PLAYED).configure_cert(self._tls)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A client that breaks a connection off, even inside its TLS handshake, is a client's right.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether another may follow."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        await reader.readexactly(int(fields.get("content-length", 0)))
        if method == "CONNECT":
            host = target.rpartition(":")[0]
            if host != PLAYED:
                self.refused[host] += 1
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                return False
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            await writer.drain()
            await writer.start_tls(self._tls)
            return True
        if target.startswith("http://"):  # asked as a proxy: the page is here all the same
            target = "/" + target.split("/", 3)[-1]
        writer.write(answer_to(target))
        await writer.drain()
        return True


async def serve(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    world = World(authority)
    server = await asyncio.start_server(world.connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(world.refused), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
