"""A provider on loopback for the benchmarks: a process of its own that answers every POST with the same ten hits.

Raw asyncio on purpose: it must cost less than any client measured against it.
Run as `python bench/provider.py`; prints its port, serves until its standard input closes.
"""

from __future__ import annotations

import asyncio
import json
import sys

HITS = [
    {
        "url": f"https://www.example.org/docs/{number}/page" + ("?section=2" if number % 5 == 4 else ""),
        "title": f"Result number {number} about the words that were asked for",
        "content": "A paragraph of the usual length that a search service sends back with each of its results. " * 4,
        "score": 0.99 - number / 100,
        "published_date": "2026-02-03",
    }
    for number in range(10)
]
BODY = json.dumps({"query": "words", "results": HITS, "usage": {"credits": 1}}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Provider(asyncio.Protocol):
    """Answers each complete request; pipelined ones too."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.waiting = b""

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while (end := self.waiting.find(b"\r\n\r\n")) >= 0:
            head = self.waiting[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.waiting) < end + 4 + length:
                return
            self.waiting = self.waiting[end + 4 + length :]
            self.transport.write(ANSWER)


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Provider, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
