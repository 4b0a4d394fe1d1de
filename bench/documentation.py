"""Whether every code block of real documentation arrives as its author wrote it.

    python bench/documentation.py --docs DIR [--pages N] [--verbose]

DIR is where the Debian packages python3-doc and postgresql-doc put their pages: `/usr/share/doc` once installed, or the
same folder below the one that `dpkg -x` unpacked them to. N pages (200; 0 for all), half of each, chosen by a fixed
seed, are served on loopback under the names they have in the world, docs.python.org and www.postgresql.org, and read
through the egress policy. Each `pre` of a page must be in its Markdown, as often as it is in the page, letter by
letter: as a fenced block, or as code in the cell of a table when it is one line. Three things are not compared: a
space that does not break is a space, as in what a browser copies; spaces without width, which postgresql-doc puts into
long rules so that they can break, are gone, as from every page; and the newline before `</pre>` is none.

Exit 1 when a block is missing; each is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import turbohtml

from webseam import AsyncWeb

SEED = 20  # of the choice of pages; any other is as good
DEADLINE = 30.0  # seconds for one page
SHOWN = 400  # characters of a missing block

_AS_COPIED = str.maketrans({"\xa0": " ", "\u200b": None})
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_FENCE = re.compile(r"^(?P<before>(?:[ ]|> ?|(?:[-*]|[0-9]{1,9}\.) |\[\^[^\]]+\]: )*)(?P<mark>`{3,})[^`]*$")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")

Read = Callable[[str], Awaitable[str]]  # the address of a page: its Markdown


@dataclass(frozen=True)
class Package:
    """Documentation as Debian ships it: the folders it may be in, and where the world reads it."""

    name: str
    folders: str
    host: str
    path: str


PACKAGES = (
    Package("python3-doc", "python3*/html", "docs.python.org", "/{version}/"),
    Package("postgresql-doc", "postgresql-doc*/html", "www.postgresql.org", "/docs/{version}/"),
)


@dataclass(frozen=True)
class Page:
    package: str
    host: str
    path: str
    file: Path


# The pages, and the server that stands in for the world.


def find_pages(docs: Path, limit: int) -> list[Page]:
    """Return the pages to read: the same ones for everyone who has the same packages."""
    chosen: list[Page] = []
    for package in PACKAGES:
        folder = next((found.resolve() for found in sorted(docs.glob(package.folders))), None)
        if folder is None:
            raise SystemExit(f"no {package.folders} in {docs}: install {package.name}, or unpack it with dpkg -x")
        version = _VERSION.search(folder.parent.name)
        root = package.path.format(version=version[0] if version else "current")
        pages = [
            Page(package.name, package.host, root + file.relative_to(folder).as_posix(), file)
            for file in sorted(folder.rglob("*.html"))
        ]
        share = limit // len(PACKAGES)
        chosen += random.Random(SEED).sample(pages, share) if 0 < share < len(pages) else pages
    return chosen


@contextlib.contextmanager
def serve(pages: Sequence[Page]) -> Iterator[int]:
    """Serve the pages to whoever asks for them by their real host and path; yields the port."""
    files = {(page.host, page.path): page.file for page in pages}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            file = files.get((self.headers.get("Host", "").partition(":")[0], urlsplit(self.path).path))
            body = file.read_bytes() if file else b"not found"
            self.send_response(200 if file else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: the report is the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


# The reader under test.


async def resolve(host: str, port: int) -> Sequence[str]:
    """Answer for the names of the packages, and for nobody else."""
    if host not in {package.host for package in PACKAGES}:
        raise OSError(f"{host} is not of this world")
    return ["127.0.0.1"]


@contextlib.asynccontextmanager
async def open_reader(port: int) -> AsyncIterator[Read]:
    """Yield what reads a page. The one place that knows how webseam is called.

    Nothing of this machine matters: no settings, no cache of an earlier run.
    """
    allow = [f"127.0.0.1:{port}", *(f"{package.host}:{port}" for package in PACKAGES)]
    with tempfile.TemporaryDirectory() as folder:
        names = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME")
        environment = {**os.environ, **dict.fromkeys(names, folder)}
        settings = {"fetch.allow": allow, "fetch.cache": False}
        async with AsyncWeb(settings, environment=environment, folder=Path(folder), resolver=resolve) as web:

            async def read(url: str) -> str:
                page = await web.fetch(url, timeout=DEADLINE)
                if page.truncated:
                    print(f"cut: {url}")
                return page.markdown

            yield read


# What must be there, and what is.


def blocks_of_page(source: str) -> list[str]:
    """Return the text of every `pre` of a page."""
    return [text for block in turbohtml.parse(source).select("pre") if (text := _normal(block.text)).strip()]


def blocks_of_markdown(markdown: str) -> Counter[str]:
    """Return the code of Markdown: fenced blocks without the marks of what they stand in, and spans in tables."""
    found: Counter[str] = Counter()
    lines: list[str] = []
    fence: re.Match[str] | None = None
    for line in markdown.split("\n"):
        if fence is None:
            fence = _FENCE.match(line)
            lines = []
            if fence is None and line.lstrip(" >").startswith("|"):
                found.update(span.replace("\\|", "|").strip() for _, span in _SPAN.findall(line))
            continue
        inner = _without(line, fence["before"])
        if inner.rstrip() == fence["mark"]:
            found["\n".join(lines)] += 1
            fence = None
        else:
            lines.append(inner)
    return found


def _without(line: str, before: str) -> str:
    """Return a line without the marks of its containers: as many columns as stand before the fence."""
    marks = len(before)
    head, rest = line[:marks], line[marks:]
    return rest if not head.strip(" >") else line.lstrip(" >")


def _normal(text: str) -> str:
    return text.translate(_AS_COPIED).removesuffix("\n")


async def run(docs: Path, limit: int, *, verbose: bool) -> int:
    pages = find_pages(docs, limit)
    blocks: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    took = time.perf_counter()
    with serve(pages) as port:
        async with open_reader(port) as read:
            for page in pages:
                found = blocks_of_markdown(await read(f"http://{page.host}:{port}{page.path}"))
                wanted = Counter(blocks_of_page(page.file.read_text("utf-8", "replace")))
                blocks[page.package] += wanted.total()
                lost = wanted - found
                missing[page.package] += lost.total()
                for block, times in lost.items():
                    print(f"missing ({times}x) in {page.host}{page.path}:\n{block[: None if verbose else SHOWN]}\n")
    took = time.perf_counter() - took
    for package in PACKAGES:
        count = sum(page.package == package.name for page in pages)
        kept = blocks[package.name] - missing[package.name]
        print(f"{package.name}: {kept} of {blocks[package.name]} code blocks verbatim on {count} pages")
    print(f"{1000 * took / len(pages):.1f} ms a page, with the server in the same process")
    return 1 if missing.total() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, required=True, help="the folder of both packages' documentation")
    parser.add_argument("--pages", type=int, default=200, help="how many, half of each package; 0 for all")
    parser.add_argument("--verbose", action="store_true", help="print missing blocks whole")
    options = parser.parse_args()
    raise SystemExit(asyncio.run(run(options.docs, options.pages, verbose=options.verbose)))


if __name__ == "__main__":
    main()
