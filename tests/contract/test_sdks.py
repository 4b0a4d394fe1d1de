"""Official clients, unmodified, and our providers against the same fake: both must send the same and read the same.

A fake that an official client accepts is a fair one, and what that client reads out of it is what users of that service
know. Each provider's clients are in a file of `sdks/`; this table finds them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.contract.pair import Pair, Read
from tests.wire import AUTHENTICATION
from tests.wire.fake import KEY, Fake, search
from tests.world import Recorded, World
from webseam import providers
from webseam.errors import Outcome

SDKS = sorted(path.stem for path in (Path(__file__).parent / "sdks").glob("*.py") if path.stem != "__init__")
PAIRS = [pair for name in SDKS for pair in import_module(f"tests.contract.sdks.{name}").PAIRS]


@pytest.mark.parametrize("pair", PAIRS)
async def test_a_client_and_we_send_the_same_and_read_the_same(pair: Pair) -> None:
    async with World() as world:
        fake = Fake(world, pair.answer)
        read = await pair.reader(fake.url)
        (theirs,) = fake.requests
        ours = await search(pair.provider, fake.url, pair.options, settings=pair.settings)
    _assert_sent_the_same(pair, theirs, fake.requests[1])
    assert ours.outcome == Outcome.OK
    assert len(read) >= 2
    assert [
        Read(hit.url, hit.title, hit.published, one.extracts and (hit.passages or (hit.snippet or "",)))
        for hit, one in zip(ours.hits, read, strict=True)
    ] == read


def _assert_sent_the_same(pair: Pair, theirs: Recorded, ours: Recorded) -> None:
    assert (ours.method, ours.path) == (theirs.method, theirs.path)
    if pair.keyed:
        assert _identity(ours) == _identity(theirs)
        assert any(KEY in value for value in _identity(ours)) or providers.get(pair.provider).key != "required"
    if not pair.fields:
        return
    mine, their_own = _fields(ours), _fields(theirs)
    common = mine.keys() & their_own.keys()
    assert {name: mine[name] for name in common} == {**{name: their_own[name] for name in common}, **pair.ours_differs}
    assert len(common) >= pair.least


def _identity(request: Recorded) -> list[str]:
    """What says who somebody is, each with its place: in a header, or as a parameter that holds the key."""
    headers = [f"{name}: {request.headers[name]}" for name in AUTHENTICATION if name in request.headers]
    return headers + [f"?{name}={KEY}" for name, values in request.query.items() if KEY in values]


def _fields(request: Recorded) -> dict[str, Any]:
    """What a request asks for; the values of a query in lower-case words, as booleans are spelt in either case."""
    if request.body.startswith(b"{"):
        return dict(request.json())
    query = parse_qs(request.body.decode()) if request.body else request.query
    return {name: values[0].lower() for name, values in query.items()}
