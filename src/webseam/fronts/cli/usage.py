"""`webseam usage`: how many calls were made, what they cost, and how far the budgets are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import print_json, session, table
from webseam.model import as_json
from webseam.resilience.budget import Budget
from webseam.resilience.ledger import Spent, Usage
from webseam.web import AsyncWeb


@click.command()
@click.option("--json", "as_object", is_flag=True, help="Print the counts as an object.")
def usage(as_object: bool) -> None:
    """Show the calls of today and this month (UTC) by provider, what they cost, and budgets."""

    async def examine(web: AsyncWeb) -> tuple[Usage, list[Budget], bool]:
        return *web.usage(), web.settings().get("state", "enabled")

    found, budgets, kept = session(examine)
    if as_object:
        print_json({**as_json(found), "budgets": [budget.as_object() for budget in budgets]})
    else:
        for line in shown(found, budgets):
            click.echo(line)
    if not found.complete:
        say("webseam: part of this month's counts could not be read; they may be too low")
    if not kept:
        say("webseam: state.enabled is off, so each process counts for itself and forgets it")


def shown(found: Usage, budgets: list[Budget]) -> Iterator[str]:
    """Yield what is printed: the calls, the budgets that are set, and the months before."""
    yield from _calls(found)
    yield from _budgets(budgets)
    yield from _earlier(found)


def _calls(found: Usage) -> Iterator[str]:
    if not found.this_month:
        yield f"no calls in {found.month} (UTC)"
        return
    none = Spent(0, 0.0, 0)
    rows = [
        (name, *_row(found.today.get(name, none)), *_row(month)) for name, month in sorted(found.this_month.items())
    ]
    if len(rows) > 1:
        rows.append(("all", *_row(_sum(found.today)), *_row(_sum(found.this_month))))
    yield table(("provider", found.day, "cost", found.month, "cost"), rows)


def _row(spent: Spent) -> tuple[str, str]:
    return (f"{spent.calls} call{'s' * (spent.calls != 1)}", spent.cost)


def _sum(counts: Mapping[str, Spent]) -> Spent:
    every = counts.values()
    return Spent(sum(one.calls for one in every), sum(one.dollars for one in every), sum(one.unpriced for one in every))


def _budgets(budgets: list[Budget]) -> Iterator[str]:
    if budgets:
        yield ""
        rows = [
            (
                one.who,
                f"{one.fill} a {one.span}",
                f"{one.percent} %",
                one.reset,
                f"{one.provider or 'budget'}.{one.setting}",
            )
            for one in budgets
        ]
        yield table(("budget of", "used", "", "starts again", "set by"), rows)


def _earlier(found: Usage) -> Iterator[str]:
    if found.earlier:
        yield ""
        yield table(("earlier", "calls", "cost"), [(month, *_row(_sum(all_))) for month, all_ in found.earlier.items()])
