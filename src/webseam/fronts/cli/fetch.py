"""`webseam fetch`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from webseam.errors import RequestError, WebSeamError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import as_text, as_typed, colour, session
from webseam.model import Page


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--focus", metavar="TEXT", help="Only the passages that matter to this question.")
@click.option("--max-tokens", type=int, metavar="N", help="Most tokens of text, about 4 characters each.")
@click.option("--cursor", metavar="C", help="Go on where an earlier call stopped.")
@click.option("--outline", is_flag=True, help="Only the headings, with the size of their sections.")
@click.option("--reader", metavar="R", help="Only this reader: html, pdf, a site, a service, or browser.")
@click.option("--raw", is_flag=True, help="The text as it came, without a reader.")
@click.option("--pages", metavar="RANGE", help="Pages of a PDF, e.g. 3, 2-5 or 1,4-6.")
@click.option("--archived", is_flag=True, help="Ask the web archive when the page is gone.")
@click.option("--robots", type=click.Choice(["off", "warn", "obey"]), help="What robots.txt means here.")
@click.option("--timeout", type=float, metavar="S", help="Seconds for everything.")
@click.option("--no-cache", "cache", is_flag=True, flag_value=False, default=True, help="Ask the server every time.")
@click.option("--json", "form", flag_value="json", help="Print the page object.")
@click.option("--markdown", "form", flag_value="markdown", help="Print what a model is given.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def fetch(urls: tuple[str, ...], form: str | None, output: Path | None, robots: str | None, **options: Any) -> int:
    """Read pages as Markdown: documentation, articles, discussions, PDFs and other files."""
    urls = tuple(map(as_typed, urls))
    if options["focus"] is not None:
        options["focus"] = as_typed(options["focus"])
    flags = {"fetch.robots": robots} if robots is not None else {}
    try:
        pages = session(lambda web: web.fetch(list(urls), **options), flags=flags)
    except WebSeamError as error:  # an option is wrong
        pages = tuple(
            Page(url=url, outcome=error.outcome, detail=error.detail, hint=error.hint, attempts=error.attempts)
            for url in urls
        )
    _show(pages, form, output)
    return max((page.outcome.exit_code for page in pages), default=0)


def _show(pages: tuple[Page, ...], form: str | None, output: Path | None) -> None:
    """Print or write pages; on standard error what there is to say about them."""
    from webseam.fetch.render import for_model, for_person

    if form == "json":
        text = as_text(pages[0] if len(pages) == 1 else list(pages)) + "\n"
    elif form == "markdown":
        text = for_model(pages)
    else:
        shown = [for_person(page, colour=colour() and output is None) for page in pages]
        text = "\n".join(part for part in shown if part)
    if output is not None:
        _write(output, text)
    elif text:
        click.echo(text, nl=False)
    sys.stdout.flush()
    if form is None:
        for page in pages:
            _comment(page, of_many=len(pages) > 1)


def _comment(page: Page, *, of_many: bool) -> None:
    """Say what a person should know beside the text, or why there is none."""
    from webseam.fetch.render import failure
    from webseam.net.redact import redact_url

    place = f"{redact_url(page.url)}: " if of_many else ""
    if not page.markdown:
        say(f"webseam: {place}{failure(page)}")
    for note in page.notes:
        say(f"webseam: {place}{note}")
    if page.next_cursor:
        say(f"webseam: {place}more with --cursor {page.next_cursor}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError("output", f"{path} cannot be written: {error.strerror}") from None
    say(f"webseam: {len(text):,} characters are in {path}")
