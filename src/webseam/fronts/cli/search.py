"""`webseam search`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from webseam.errors import WebSeamError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import as_typed, colour, print_json, session, width
from webseam.model import Page, SearchResponse
from webseam.search.render import for_model, for_person, summary, urls


def complete_provider(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the provider names that start like this, for the shell."""
    from webseam import providers

    return [name for name in ("auto", "fuse", *providers.ids(_named())) if name.startswith(incomplete)]


def _named() -> Mapping[str, str]:
    """Return the providers of the user's own by name; none when the settings cannot be read."""
    from webseam.config import SettingsSource
    from webseam.fetch.sections import schema_of, sections

    try:
        return SettingsSource(schema_of, sections=sections).current().named
    except Exception:  # noqa: BLE001 - whatever it is, the next command says it; a shell that completes must not
        return {}


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-p", "--provider", shell_complete=complete_provider, help="auto, a name, a list a,b,c, or fuse[:a,b,c].")
@click.option("-n", "--count", type=int, help="Hits wanted, 1 to 100.")
@click.option(
    "--site", "include_domains", multiple=True, metavar="DOMAIN", help="Only this host or host/path; repeatable."
)
@click.option("--not-site", "exclude_domains", multiple=True, metavar="DOMAIN", help="Never this host; repeatable.")
@click.option("--fresh", "freshness", type=click.Choice(["day", "week", "month", "year"]), help="Published within.")
@click.option("--after", metavar="YYYY-MM-DD", help="Published on or after.")
@click.option("--before", metavar="YYYY-MM-DD", help="Published on or before.")
@click.option("--lang", "language", metavar="TAG", help="Language, e.g. en or pt-BR.")
@click.option("--region", metavar="CC", help="Country, e.g. DE.")
@click.option("--safe", type=click.Choice(["off", "moderate", "strict"]), help="Adult-content filter.")
@click.option("--kind", type=click.Choice(["web", "news", "code", "paper"]), default="web", help="What sort of source.")
@click.option("--page", type=int, default=1, help="Which page of hits.")
@click.option("--local-only", is_flag=True, default=None, help="Send the query to nobody outside this network.")
@click.option("--strict", is_flag=True, default=None, help="An option a provider lacks is an error.")
@click.option("--hedge", type=float, metavar="S", help="Start the next provider after S seconds of silence.")
@click.option("--timeout", type=float, metavar="S", help="Seconds for everything.")
@click.option("--no-cache", "cache", is_flag=True, flag_value=False, default=True, help="Do not answer from the cache.")
@click.option("--read", type=int, default=0, metavar="N", help="Read the first N hits for what matters to the query.")
@click.option("--max-tokens", type=int, metavar="N", help="Most tokens of what is read, all pages together.")
@click.option("--json", "form", flag_value="json", help="Print the response object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print what a model is given.")
@click.option("--urls", "form", flag_value="urls", help="Print one URL a line.")
def search(query: tuple[str, ...], form: str | None, hedge: float | None, **options: Any) -> int:
    """Search the web. Works without a key, and without a network from the documentation installed here."""
    words = as_typed(" ".join(query))
    flags = {"search.hedge": hedge} if hedge is not None else {}
    try:
        response = session(lambda web: web.search(words, **options), flags=flags)
    except WebSeamError as error:
        response = SearchResponse(
            query=words,
            outcome=error.outcome,
            attempts=error.attempts,
            sent_to=error.sent_to,
            detail=error.detail,
            hint=error.hint,
        )
    _show(response, form)
    return response.outcome.exit_code


def _show(response: SearchResponse, form: str | None) -> None:
    if form == "json":
        print_json(response)
    elif form == "markdown":
        click.echo(for_model(response), nl=False)
        _show_pages(response.pages, for_a_model=True)
    elif form == "urls":
        click.echo(urls(response), nl=False)
        _complain(response)
    else:
        click.echo(for_person(response, width=width(), colour=colour()), nl=False)
        if response.outcome.answered:
            click.echo("\n" + " ".join(summary(response)) if response.hits else " ".join(summary(response)))
        _show_pages(response.pages)
        _complain(response)
    sys.stdout.flush()


def _show_pages(pages: tuple[Page, ...], *, for_a_model: bool = False) -> None:
    """Print the hits that were read."""
    if not pages:
        return
    from webseam.fetch import render

    if for_a_model:
        click.echo("\n" + render.for_model(pages), nl=False)
        return
    for page in pages:
        shown = render.for_person(page, colour=colour()) or f"{page.url}\n{render.failure(page)}\n"
        click.echo("\n" + shown, nl=False)


def _complain(response: SearchResponse) -> None:
    """Say on standard error why there is nothing: standard output holds results only."""
    if response.outcome.answered:
        return
    say(f"webseam: {response.outcome}: {response.detail}")
    if response.hint:
        say(f"  {response.hint}")
