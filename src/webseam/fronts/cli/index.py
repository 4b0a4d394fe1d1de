"""`webseam index`: the documentation of what is installed here, and folders added to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from webseam import providers
from webseam.fronts.cli.output import colour, print_json, session, table, width
from webseam.model import SearchResponse
from webseam.search.render import for_model, for_person, summary
from webseam.web import AsyncWeb


@click.group()
def index() -> None:
    """The documentation of what is installed here: packages, the standard library, man pages, your folders."""


@index.command("add")
@click.argument("path", type=click.Path(path_type=Path))
def add(path: Path) -> None:
    """Index a folder of Markdown, reStructuredText, text or HTML, now and whenever it changes."""

    async def work(web: AsyncWeb) -> tuple[bool, str]:
        added = web.library.open().add_folder(path)
        return added, _told(await web.library.update())

    added, told = session(work)
    click.echo(f"{'added' if added else 'already there:'} {path.expanduser().resolve()}; {told}")


@index.command("remove")
@click.argument("path", type=click.Path(path_type=Path))
def remove(path: Path) -> None:
    """Take a folder out of the index; the folder itself stays."""

    async def work(web: AsyncWeb) -> tuple[bool, str]:
        removed = web.library.open().remove_folder(path)
        return removed, _told(await web.library.update())

    removed, told = session(work)
    click.echo(f"{'removed' if removed else 'was not in the index:'} {path.expanduser().resolve()}; {told}")


@index.command("update")
def update() -> None:
    """Read what changed since the last time; searches do this by themselves."""

    async def work(web: AsyncWeb) -> str:
        return _told(await web.library.update())

    click.echo(session(work))


@index.command("list")
@click.option("--json", "as_object", is_flag=True, help="Print the sources as objects.")
def list_sources(as_object: bool) -> None:
    """List what is in the index."""

    async def work(web: AsyncWeb) -> list[Any]:
        return web.library.open().list_sources()

    sources = session(work)
    if as_object:
        print_json(sources)
        return
    rows = [(one.kind, one.name, one.version or "-", str(one.entries), one.place) for one in sources]
    click.echo(table(("kind", "name", "version", "entries", "place"), rows) if rows else "the index is empty")


@index.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--count", type=int, help="Hits wanted, 1 to 100.")
@click.option("--json", "form", flag_value="json", help="Print the response object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print what a model is given.")
def search(query: tuple[str, ...], count: int | None, form: str | None) -> int:
    """Search the index alone; the same as `webseam search -p local`."""
    response: SearchResponse = session(
        lambda web: web.search(" ".join(query), count=count, provider=providers.on_this_machine())
    )
    if form == "json":
        print_json(response)
    elif form == "markdown":
        click.echo(for_model(response), nl=False)
    else:
        click.echo(for_person(response, width=width(), colour=colour()), nl=False)
        click.echo(" ".join(summary(response)))
    return response.outcome.exit_code


def _told(refreshed: Any) -> str:
    words = f"{refreshed.entries} entries in the index ({refreshed.read} sources read, {refreshed.removed} removed)"
    return "; ".join([words, *refreshed.warnings])
