"""The documentation of this machine asked by itself: by package, in outcomes, and nothing sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.test_library import Shelf
from webseam import AsyncWeb, Web
from webseam.errors import Outcome, ProviderError, RequestError
from webseam.search.library import FROM_HERE


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Frobnicating\n\nHow to frobnicate a widget of one's own.\n")
    return Shelf(tmp_path)


async def test_hits_come_from_here_and_nobody_is_told(shelf: Shelf) -> None:
    async with AsyncWeb() as web:
        web.library = shelf
        response = await web.search_docs("frobnicate widget", count=3)
    assert [(hit.title, hit.site, hit.providers) for hit in response.hits] == [
        ("page.md > Frobnicating", "docs", ("local",))
    ]
    assert (response.outcome, response.sent_to, response.notes) == (Outcome.OK, (), (FROM_HERE,))


@pytest.mark.parametrize(
    ("package", "outcome", "notes"),
    [
        pytest.param("docs", Outcome.OK, (FROM_HERE,), id="its name"),
        pytest.param(" Docs ", Outcome.OK, (FROM_HERE,), id="letter case and spaces"),
        pytest.param("dogs", Outcome.EMPTY, ("'dogs' is not installed here; 'docs' is",), id="nearly its name"),
        pytest.param("zzz", Outcome.EMPTY, ("'zzz' is not installed here",), id="another"),
    ],
)
async def test_a_package_can_be_named(shelf: Shelf, package: str, outcome: Outcome, notes: tuple[str, ...]) -> None:
    async with AsyncWeb() as web:
        web.library = shelf
        response = await web.search_docs("frobnicate widget", package=package)
    assert (response.outcome, response.notes) == (outcome, notes)


@pytest.mark.parametrize(
    "package", [pytest.param("", id="empty"), pytest.param("x" * 201, id="long"), pytest.param(7, id="no text")]
)
async def test_what_cannot_be_a_package_is_refused(shelf: Shelf, package: object) -> None:
    async with AsyncWeb() as web:
        web.library = shelf
        with pytest.raises(RequestError, match="package: must be the name of a package"):
            await web.search_docs("frobnicate", package=package)  # type: ignore[arg-type]


async def test_an_index_that_cannot_be_read_is_an_error(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise OSError("no disk")

    async with AsyncWeb() as web:
        web.library = shelf
        monkeypatch.setattr(shelf, "open", broken)
        with pytest.raises(ProviderError) as raised:
            await web.search_docs("frobnicate")
        monkeypatch.undo()
    assert (raised.value.outcome, raised.value.provider) == (Outcome.BAD_RESPONSE, "local")
    assert "no disk" in raised.value.detail


async def test_without_time_the_error_says_to_ask_again(shelf: Shelf) -> None:
    async with AsyncWeb() as web:
        web.library = shelf
        with pytest.raises(ProviderError) as raised:
            await web.search_docs("frobnicate widget", timeout=1e-9)
    assert (raised.value.outcome, raised.value.hint) == (Outcome.TIMEOUT, "ask again; what was read so far is kept")


async def test_who_forbids_the_index_gets_nothing_from_it(shelf: Shelf) -> None:
    async with AsyncWeb({"local.enabled": False}) as web:
        web.library = shelf
        with pytest.raises(ProviderError) as raised:
            await web.search_docs("frobnicate widget")
    assert raised.value.outcome is Outcome.UNAVAILABLE


def test_the_twin_without_await_has_it_too(shelf: Shelf) -> None:
    with Web() as web:
        web._web.library = shelf
        assert web.search_docs("frobnicate widget").hits[0].site == "docs"
