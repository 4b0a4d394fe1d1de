"""`webseam test` and `webseam doctor`: one search step by step, and every configured provider over the real lane."""

from __future__ import annotations

import asyncio

import click

from webseam.errors import Outcome, ProviderError, WebSeamError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import print_json, session, table
from webseam.model import Attempt, SearchResponse
from webseam.search.diagnose import Diagnosis
from webseam.web import AsyncWeb

_STEPS = ("dns", "connect", "tls", "first_byte", "total")


@click.command()
@click.argument("query", required=False, default="parse a url query string")
@click.option("-p", "--provider", help="As for search.")
def test(query: str, provider: str | None) -> int:
    """Run one search without the cache and show what each provider did."""
    try:
        response = session(lambda web: web.search(query, provider=provider, cache=False, count=3))
    except WebSeamError as error:
        response = SearchResponse(query=query, outcome=error.outcome, attempts=error.attempts)
        say(f"webseam: {error.outcome}: {error.detail}" + (f"\n  {error.hint}" if error.hint else ""))
    click.echo(table(("provider", "outcome", "seconds", "hits", "detail"), [_row(one) for one in response.attempts]))
    first = f": {response.hits[0].url}" if response.hits else ""
    click.echo(f"{response.outcome} in {response.took:.2f} s{first}")
    return response.outcome.exit_code


def _row(attempt: Attempt) -> tuple[str, ...]:
    return (attempt.provider, attempt.outcome, f"{attempt.took:.2f}", str(attempt.hits), attempt.detail or "")


@click.command()
@click.argument("provider", nargs=-1)
@click.option("--json", "as_object", is_flag=True, help="Print the checks as objects.")
def doctor(provider: tuple[str, ...], as_object: bool) -> int:
    """Check each configured provider (or those named) with one real call: DNS, TLS, auth, parse, latency.

    One that cools down is checked too: that is when somebody wants to know why.
    """

    async def examine(web: AsyncWeb) -> list[Diagnosis]:
        names = provider or tuple(one.id for one in web.provider_states() if one.set_up and one.receives)
        return list(await asyncio.gather(*(_diagnose(web, name) for name in names)))

    found = session(examine)
    if as_object:
        print_json(found)
    elif found:
        head = ("provider", "outcome", *(f"{step} ms" for step in _STEPS), "failed at", "detail")
        click.echo(table(head, [_diagnosis_row(one) for one in found]))
        for one in found:
            if one.hint and not one.outcome.answered:
                click.echo(f"{one.provider}: {one.hint}")
            if one.remark:
                click.echo(f"{one.provider}: {one.remark}")
    else:
        click.echo("no provider that sends anything is set up")
    return next((one.outcome.exit_code for one in found if not one.outcome.answered), Outcome.OK.exit_code)


async def _diagnose(web: AsyncWeb, name: str) -> Diagnosis:
    """Check one provider; one that is not set up is a finding and must not hide what the others said."""
    try:
        return await web.diagnose(name)
    except ProviderError as error:
        return Diagnosis(provider=name, outcome=error.outcome, failed_at="setup", detail=error.detail, hint=error.hint)


def _diagnosis_row(one: Diagnosis) -> tuple[str, ...]:
    times = (f"{1000 * one.timings[step]:.0f}" if step in one.timings else "-" for step in _STEPS)
    return (one.provider, one.outcome, *times, one.failed_at or "-", one.detail or f"{one.hits} hits")
