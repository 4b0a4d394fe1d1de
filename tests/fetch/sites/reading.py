"""Reading of one page through a site handler, against a server of the test's world."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.world import World
from tests.world.site import Handler
from webseam.errors import TransportError
from webseam.fetch.sites import find
from webseam.fetch.sites.base import SiteConfig
from webseam.fetch.types import Reading
from webseam.net.message import Headers, Request, Response

# Every handler and a page that it knows.
EXAMPLES = {
    "arxiv": "https://arxiv.org/abs/2401.01234v2",
    "bluesky": "https://bsky.app/profile/ada.example/post/3kabcdefghi2x",
    "crates": "https://crates.io/crates/lantern",
    "discourse": "https://discuss.example.org/t/how-to-light-a-lantern/1234",
    "docker-hub": "https://hub.docker.com/r/acme/lantern",
    "docs-rs": "https://docs.rs/lantern/latest/lantern/struct.Wick.html",
    "doi": "https://doi.org/10.5555/lantern.2024.7",
    "github": "https://github.com/acme/lantern",
    "gitlab": "https://gitlab.com/acme/tools/lantern",
    "go-packages": "https://pkg.go.dev/github.com/Acme/lantern?tab=versions",
    "hacker-news": "https://news.ycombinator.com/item?id=4100",
    "hugging-face": "https://huggingface.co/acme/lantern-small",
    "lemmy": "https://lemmy.example.org/post/77",
    "lobsters": "https://lobste.rs/s/abc123/lanterns",
    "mastodon": "https://social.example.org/@ada/112233445566778899",
    "maven-central": "https://central.sonatype.com/artifact/org.acme/lantern",
    "mdn": "https://developer.mozilla.org/en-US/docs/Web/API/Lantern",
    "npm": "https://www.npmjs.com/package/@acme/lantern",
    "nuget": "https://www.nuget.org/packages/Acme.Lantern",
    "nvd": "https://nvd.nist.gov/vuln/detail/CVE-2024-0007",
    "openreview": "https://openreview.net/forum?id=Ab3_xYz9",
    "osv": "https://osv.dev/vulnerability/GHSA-aaaa-bbbb-cccc",
    "packagist": "https://packagist.org/packages/acme/lantern",
    "pubmed": "https://pubmed.ncbi.nlm.nih.gov/31234567/",
    "pypi": "https://pypi.org/project/lantern/",
    "read-the-docs": "https://readthedocs.org/projects/lantern/",
    "reddit": "https://www.reddit.com/r/lanterns/comments/1abcde/how_to_light/",
    "rfc-editor": "https://www.rfc-editor.org/rfc/rfc9999.html",
    "rubygems": "https://rubygems.org/gems/lantern",
    "stack-exchange": "https://stackoverflow.com/questions/5100/how-to-light-a-lantern",
    "wikipedia": "https://en.wikipedia.org/wiki/Oil_lamp",
    "youtube": "https://www.youtube.com/watch?v=abcdefghijk",
}


def to_markdown(fragment: str, base: str) -> str:
    """Stand in for the HTML reader: code blocks are fenced, paragraphs parted, every other tag is dropped."""
    fragment = re.sub(r"<pre[^<>]*><code>(.*?)</code></pre>", r"\n\n```\n\1```\n\n", fragment, flags=re.DOTALL)
    fragment = re.sub(r"<h([1-6])\b[^<>]*>", lambda level: "\n\n" + "#" * int(level[1]) + " ", fragment)
    fragment = re.sub(r"</?(?:p|h[1-6]|li|ul)>", "\n\n", fragment)
    text = html.unescape(re.sub(r"<[^<>]*>", "", fragment))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def config(base_url: str, **options: Any) -> SiteConfig:
    """Return the configuration of a site whose every address is `base_url`."""
    addresses = dict.fromkeys(("raw_url", "static_url", "registry_url", "old_url", "compat_url"), base_url)
    values = {**addresses, **options.pop("values", {})}
    return SiteConfig(**{"html_to_markdown": to_markdown, "base_url": base_url, "values": values, **options})


async def read(
    world: World, url: str, answers: Mapping[str, Handler] = {}, *, base_url: str = "", **options: Any
) -> Reading:
    """Read `url` with the site handler that knows it; `answers` are those of the world's own site, by path."""
    for path, handler in answers.items():
        world.route("GET", path, handler)
    site = find(url)
    assert site is not None, f"no site knows {url}"
    conversation = site.read(url, config(base_url or world.url, **options))
    try:
        request = next(conversation)
        while True:
            try:
                response = await world.send(request.method, request.url, headers=request.headers, body=request.body)
            except TransportError as error:
                request = conversation.throw(error)
            else:
                request = conversation.send(response)
    except StopIteration as end:
        reading = end.value
    assert isinstance(reading, Reading)
    return reading


def answer(status: int = 200, body: bytes = b"", **headers: str) -> Response:
    """Return a response as it would come from somewhere."""
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Response(status=status, headers=Headers(fields), url="https://api.example/", body=body)


def drive(site: Any, url: str, given: SiteConfig, reply: Any) -> tuple[Reading | None, list[Request]]:
    """Hold a whole conversation without a network: `reply(request)` gives each answer. Return it and what was sent."""
    sent: list[Request] = []
    conversation = site.read(url, given)
    try:
        request = next(conversation)
        while True:
            sent.append(request)
            request = conversation.send(reply(request))
    except StopIteration as end:
        return end.value, sent


def page(name: str) -> str:
    """Return the Markdown that a case must give, from `pages/`."""
    return (Path(__file__).parent / "pages" / f"{name}.md").read_text(encoding="utf-8")


def around(reading: Reading) -> tuple[object, ...]:
    """Return what a reading says beside its Markdown: title, author, published, language, notes, truncated."""
    return (reading.title, reading.author, reading.published, reading.language, reading.notes, reading.truncated)
