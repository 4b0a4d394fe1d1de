"""Makes a provider's wire cases from its live service: asks it, sanitises, checks, and only then writes.

A case is kept when replaying it comes to the same as the live answer did. If the checker finds anything in any of them,
none is written. See docs/recording.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.wire import FOLDER, QUERY, SHAPE, WRITER
from tests.wire.leaks import Checker, own_domains
from tests.wire.studio import NotTheSame, Studio
from tests.wire.tape import Taken, name_of_option, questions, take
from webseam import providers
from webseam.errors import WebSeamError
from webseam.model import SearchRequest

MADE: Final = ("ok", "empty", "auth", "broken")  # what can be had on purpose; limits are recorded when they are met
_LISTS, _NUMBERS = ("include_domains", "exclude_domains"), ("count", "page")
_SHOWN_WORDS = 40

Say = Callable[[str], None]


async def record(options: argparse.Namespace, *, say: Say = print, confirm: Callable[[str], bool]) -> int:
    """Record cases; return the exit code: 0 = written, 1 = not."""
    provider, folder = providers.get(options.provider), options.into or FOLDER / options.provider

    def is_free(name: str) -> bool:
        taken = (folder / f"{name}.json").exists() and not options.force
        if taken:
            say(f"{name}.json is there already; --force replaces it")
        return not taken

    names = [name for name in options.case or MADE if is_free(name)]
    more = [one for one in options.option if is_free(name_of_option(*one))]
    asked = await questions(provider, names, more, options.query)
    price = f", for about ${provider.price * len(asked):g}" if provider.price else ""
    say(f"{provider.label} is asked at most {len(asked)} times{price}.")
    taken = await take(provider, asked, say)
    studio = Studio(provider, taken, hide=options.hide, keep=options.keep)
    cases = await _cases(studio, taken, names, say)
    cases = {name: case for name, case in cases.items() if name in names or is_free(name)}
    checker = Checker(
        own=own_domains(provider.id),
        secrets=studio.secrets,
        words=[*options.hide, *({options.query} - {QUERY})],
        allowed=options.allow,
    )
    leaks = [f"{name}.json: {leak}" for name, case in cases.items() for leak in checker.document(case)]
    if leaks:
        for line in [*leaks, "Nothing was written: the cases still hold what should not be public."]:
            say(line)
        return 1
    if cases:
        _summarise(studio, cases, say)
    files = ", ".join(f"{name}.json" for name in cases)
    if not cases or not (options.yes or confirm(f"Write {files} to {folder}? [y/N] ")):
        say("Nothing was written.")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in cases.items():
        document = {**case, "allowed": list(options.allow)} if options.allow else case
        (folder / f"{name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    say(f"Wrote {files} to {folder}.")
    return 0


async def _cases(
    studio: Studio, taken: Mapping[str, Taken], names: Sequence[str], say: Say
) -> dict[str, dict[str, Any]]:
    """Return the cases by name; of those that cannot be made, say why."""
    cases: dict[str, dict[str, Any]] = {}
    for name, one in taken.items():
        try:
            case = await studio.case(one)
            if name != "ok" or "ok" in names:
                cases[name] = case
            if name == "ok" and "broken" in names:
                cases["broken"] = await studio.broken(case)
        except NotTheSame as error:
            say(f"{name}: {error}")
    return cases


def _summarise(studio: Studio, cases: Mapping[str, dict[str, Any]], say: Callable[[str], None]) -> None:
    """Say what was kept, so that a person can see that it is nobody's."""
    for name, case in cases.items():
        outcome, hits, size = case["expect"]["outcome"], len(case["expect"]["hits"]), len(json.dumps(case["answer"]))
        say(f"{name}.json: {outcome}, {hits} hits, {size:,} characters")
    replaced = ", ".join(f"{times} × {sort}" for sort, times in sorted(studio.sanitiser.replaced.items()))
    say(f"Replaced, beside the words of pages: {replaced or 'nothing'}.")
    kept = list(studio.sanitiser.kept)
    say("Words of the service that stay as they are:")
    for words in kept[:_SHOWN_WORDS]:
        say(f"  {words}")
    if len(kept) > _SHOWN_WORDS:
        say(f"  … and {len(kept) - _SHOWN_WORDS} more")


# The command.


def option_of(text: str) -> tuple[str, Any]:
    """Read one `--option key=value`.

    Raises:
        ArgumentTypeError: it is no option of a search.
    """
    name, equals, value = text.partition("=")
    known = set(SearchRequest.__dataclass_fields__) - {"query"}
    if not equals or name not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(sorted(known))} with =VALUE")
    if name == "freshness":
        raise argparse.ArgumentTypeError("freshness counts from today, so the case would not last; use after=DAY")
    if name in _LISTS:
        return name, [one for one in value.split(",") if one]
    return name, int(value) if name in _NUMBERS and value.isdecimal() else value


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("scripts/record", description="Make a provider's wire cases from its live service.")
    made.add_argument("provider", metavar="NAME", help="id of a provider that is set up here")
    made.add_argument("--case", action="append", choices=MADE, help="only this one; may be repeated")
    made.add_argument("--query", default=QUERY, help="what to search for; it is not kept")
    made.add_argument("--option", action="append", default=[], type=option_of, help="one more case, e.g. kind=news")
    made.add_argument("--hide", action="append", default=[], help="a name or number that must not be kept")
    made.add_argument("--keep", action="append", default=[], metavar="FIELD", help="a field whose words stay")
    made.add_argument(
        "--allow", action="append", default=[], metavar="TEXT", help="a finding of the checker that is none"
    )
    made.add_argument("--into", type=Path, help="another folder than tests/wire/NAME")
    made.add_argument("--force", action="store_true", help="replace cases that are there")
    made.add_argument("--yes", action="store_true", help="write without asking")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 = written, 1 = not, 2 = not asked for properly."""
    options = parser().parse_args(arguments)
    try:
        declared = providers.get(options.provider)
        if declared.means != "network":
            print(f"{options.provider} is not asked over the network.", file=sys.stderr)
            return 2
        if not any((FOLDER / options.provider / name).exists() for name in (f"{SHAPE}.json", WRITER)):
            print(f"tests/wire/{options.provider}/{SHAPE}.json comes first: a replay needs it.", file=sys.stderr)
            return 2
        return asyncio.run(record(options, confirm=_ask_person))
    except WebSeamError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Nothing was written.", file=sys.stderr)
        return 130


def _ask_person(question: str) -> bool:
    if not sys.stdin.isatty():
        print("Say --yes to write without being asked.")
        return False
    return input(question).strip().lower() in ("y", "yes")


if __name__ == "__main__":
    sys.exit(main())
