"""Real answers that an official client ships in its wheel, read whole. They are used from there and not copied."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from tests.contract.pair import Reader
from tests.contract.sdks import brave
from tests.wire.fake import Fake, search
from tests.wire.write import JSON
from tests.world import World
from webseam.errors import Outcome
from webseam.text import plain


def _shipped(name: str) -> bytes:
    return files("brave_search_python_client").joinpath(f"responses/mock_data/{name}.json").read_bytes()


@pytest.mark.parametrize(
    "name, reader, kind",
    [pytest.param("web", brave.web, "web", id="web"), pytest.param("news", brave.news, "news", id="news")],
)
async def test_real_answers_of_brave_are_read_whole(name: str, reader: Reader, kind: str) -> None:
    body = _shipped(name)
    document = json.loads(body)
    rows = document["web"]["results"] if name == "web" else document["results"]
    async with World() as world:
        fake = Fake(world, (200, JSON, body))
        theirs = await reader(fake.url)
        ours = await search("brave", fake.url, {"kind": kind, "count": 20})
    assert (ours.outcome, ours.dropped, ours.attempt.hits) == (Outcome.OK, {}, len(rows))
    assert [(hit.url, hit.title, hit.published) for hit in ours.hits] == [
        (read.url, read.title, read.published) for read in theirs
    ]
    assert [hit.snippet for hit in ours.hits] == [plain(row["description"]) for row in rows]
    assert [hit.site for hit in ours.hits] == [row["meta_url"]["hostname"] for row in rows]
    assert [hit.passages for hit in ours.hits] == [tuple(row.get("extra_snippets") or ()) for row in rows]
