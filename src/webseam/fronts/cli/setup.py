"""`webseam setup`: the tools given to the agents installed here, with a look at every change before it is made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from webseam.config import nearest
from webseam.errors import Outcome, RequestError, WebSeamError
from webseam.fronts.cli.app import say
from webseam.fronts.cli.output import print_json
from webseam.setup.clients import BY_ID, CLIENTS, Client
from webseam.setup.entry import Entry, Server, any_client, entry_for, server_at
from webseam.setup.files import read, write
from webseam.setup.machine import Machine, this_machine
from webseam.setup.plan import Change, plan_entry, plan_removal, section_name, snippet
from webseam.setup.skill import (
    plan_skill,
    plan_skill_removal,
    skill_file,
    skill_files,
    skill_text,
)
from webseam.setup.start import running, start_line

SKILL = "skill"  # stands where a client does
_DONE = {  # what became of a file
    "add": "is in",
    "update": "is in",
    "remove": "is taken out of",
    "restore": "is taken out of",
    "delete": "is gone, and with it",
}


def complete_client(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the clients that start like this, for the shell."""
    return [name for name in (*BY_ID, SKILL) if name.startswith(incomplete)]


@dataclass(slots=True)
class _Step:
    """One file and what becomes of it."""

    who: str  # as people know it
    client: str  # its id
    plan: Callable[[], Change]
    reload: str = ""
    note: str | None = None
    change: Change | None = None
    error: WebSeamError | None = None
    written: bool = False
    backup: str | None = None

    def prepare(self) -> None:
        try:
            self.change = self.plan()
        except WebSeamError as error:
            self.error = error

    def apply(self) -> None:
        if self.change is None:
            return
        try:
            backup = write(self.change)
        except WebSeamError as error:
            self.error = error
            return
        self.written, self.backup = True, str(backup) if backup else None

    @property
    def is_open(self) -> bool:
        """True when there is something to write that is not written."""
        return self.error is None and self.change is not None and self.change.kind != "nothing" and not self.written

    @property
    def outcome(self) -> Outcome:
        if self.error is not None:
            return self.error.outcome
        return Outcome.EMPTY if self.is_open else Outcome.OK

    def as_object(self) -> dict[str, Any]:
        change = self.change
        return {
            "client": self.client,
            "label": self.who,
            "path": change.path if change else None,
            "change": change.kind if change else None,
            "diff": change.diff if change else None,
            "written": self.written,
            "backup": self.backup,
            "note": self.note,
            "outcome": self.outcome,
            "detail": self.error.detail if self.error else None,
            "hint": self.error.hint if self.error else None,
        }


@click.command(epilog=f"Clients: {', '.join(BY_ID)}.")
@click.argument("clients", nargs=-1, metavar="[CLIENT]…", shell_complete=complete_client)
@click.option("-y", "--yes", is_flag=True, help="Write without asking.")
@click.option("--remove", is_flag=True, help="Take webseam out again.")
@click.option("--print", "only_print", is_flag=True, help="Print what to write by hand; also for any other client.")
@click.option("--http", "url", metavar="URL", help="Let the client call a server that runs, instead of starting one.")
@click.option("--key-env", metavar="NAME", help="The variable in which the client finds the key of that server.")
@click.option("--into", metavar="DIR", help="With `skill`: the folder of skills to write it into.")
@click.option("--json", "as_object", is_flag=True, help="Print what would change, or did, as objects; never asks.")
def setup(
    clients: tuple[str, ...],
    yes: bool,
    remove: bool,
    only_print: bool,
    url: str | None,
    key_env: str | None,
    into: str | None,
    as_object: bool,
) -> int:
    """Give webseam to the agents installed here, or to CLIENT. `skill` writes an agent skill for those with a shell.

    Shows what would change in which file and asks. The file of before is kept beside it.
    """
    machine = this_machine()
    if into is not None and SKILL not in clients:
        raise RequestError("into", "belongs to the skill", hint="webseam setup skill --into DIR")
    if key_env is not None and url is None:
        raise RequestError("key-env", "belongs to --http")
    if only_print:
        return _print(clients, lambda: _server(url, key_env), machine, as_object)
    steps = list(_steps(clients, _server(url, key_env) if not remove else Server(), machine, remove, into))
    if not steps:
        return _nobody(as_object)
    for step in steps:
        step.prepare()
        if not as_object:
            _show(step)
        if step.is_open and (yes or (not as_object and _agreed(step))):
            step.apply()
            if not as_object:
                _tell(step)
    if as_object:
        print_json([step.as_object() for step in steps])
    elif any(step.is_open for step in steps):
        say("webseam: nothing was written" + ("" if any(step.written for step in steps) else "; --yes writes it"))
    return max(step.outcome.exit_code for step in steps)


def _server(url: str | None, key_env: str | None) -> Server:
    return Server(start_line(running())) if url is None else server_at(url, key_env)


def _steps(names: tuple[str, ...], server: Server, machine: Machine, remove: bool, into: str | None) -> Iterator[_Step]:
    for client in _chosen(names, machine):
        yield _client_step(client, server, machine, remove)
    if SKILL not in names:
        return
    places: dict[str, list[Client]] = skill_files(_installed(machine), machine)
    if into is not None:
        places = {skill_file(into, machine): []}
    if not places:
        raise RequestError(SKILL, "no agent that reads skills was found here", hint="webseam setup skill --into DIR")
    for path, readers in places.items():
        who = "the skill" + (f" for {', '.join(client.label for client in readers)}" if readers else "")
        yield _Step(who, SKILL, partial(_plan_skill, path, remove))


def _plan_skill(path: str, remove: bool) -> Change:
    return plan_skill_removal(read(path)) if remove else plan_skill(read(path))


def _client_step(client: Client, server: Server, machine: Machine, remove: bool) -> _Step:
    path = client.file(machine)
    if remove:
        return _Step(client.label, client.id, lambda: plan_removal(client, read(path)))

    def plan() -> Change:
        entry = entry_for(client, server)
        absent = None if client.is_installed(machine) else f"{client.label} was not found here"
        step.note = "; ".join(filter(None, (absent, entry.note))) or None
        return plan_entry(client, entry, read(path))

    step = _Step(client.label, client.id, plan, client.reload)
    return step


def _chosen(names: tuple[str, ...], machine: Machine) -> list[Client]:
    """Return the clients that are named, or all that are installed when nothing is.

    Raises:
        RequestError: one is not known.
    """
    unknown = next((name for name in names if name not in BY_ID and name != SKILL), None)
    if unknown is not None:
        close = nearest(unknown, [*BY_ID, SKILL])
        hint = f"did you mean {close}? " if close else ""
        raise RequestError(
            "client", f"{unknown!r} is not known", hint=f"{hint}webseam setup --print shows what to write"
        )
    return [BY_ID[name] for name in dict.fromkeys(names) if name != SKILL] if names else _installed(machine)


def _installed(machine: Machine) -> list[Client]:
    return [client for client in CLIENTS if client.is_installed(machine)]


def _nobody(as_object: bool) -> int:
    if as_object:
        print_json([])
    else:
        say("webseam: no agent was found here\n  webseam setup --print shows what to write for any")
    return Outcome.EMPTY.exit_code


def _show(step: _Step) -> None:
    change = step.change
    if step.error is not None or change is None:
        _complain(step)
    elif change.kind == "nothing":
        click.echo(f"{step.who}: nothing to change in {change.path}")
    else:
        click.echo(f"{step.who}: {change.path}\n{change.diff}")
    if step.note and step.error is None:
        say(f"webseam: {step.note}")


def _complain(step: _Step) -> None:
    if step.error is not None:
        say(f"webseam: {step.who}: {step.error.detail}" + (f"\n  {step.error.hint}" if step.error.hint else ""))


def _agreed(step: _Step) -> bool:
    """Ask, where there is somebody to ask."""
    if not sys.stdin.isatty():
        return False
    return click.confirm(f"Write this for {step.who}?", default=False, err=True)


def _tell(step: _Step) -> None:
    if step.error is not None or step.change is None:
        _complain(step)
        return
    kept = f"; the file of before is {step.backup}" if step.backup else ""
    again = f"; {step.reload}" if step.reload and step.change.kind in ("add", "update") else ""
    click.echo(f"{step.who}: webseam {_DONE[step.change.kind]} {step.change.path}{kept}{again}")


def _print(names: tuple[str, ...], server: Callable[[], Server], machine: Machine, as_object: bool) -> int:
    """Print what to write by hand: for the clients named, in the shape most clients read for anybody else."""
    printed: list[dict[str, Any]] = []
    for name in dict.fromkeys(names):
        client = BY_ID.get(name)
        if name == SKILL:
            printed.append({"client": name, "path": None, "where": None, "snippet": skill_text()})
        elif client is not None:
            entry: Entry = entry_for(client, server())
            place = {"path": client.file(machine), "where": section_name(client.section)}
            printed.append({"client": name, **place, "snippet": snippet(client, entry), "note": entry.note})
        else:
            printed.append(_for_anybody(name, server()))
    if not names:
        printed.append(_for_anybody("any client", server()))
    if as_object:
        print_json(printed)
        return 0
    for one in printed:
        if one["path"]:
            say(f"webseam: for {one['client']}, in {one['path']}")
        if one.get("note"):
            say(f"webseam: {one['note']}")
        click.echo(one["snippet"], nl=False)
    return 0


def _for_anybody(name: str, server: Server) -> dict[str, Any]:
    from webseam.setup.json_text import add

    text = add("", ("mcpServers",), "webseam", any_client(server))
    return {"client": name, "path": None, "where": "mcpServers.webseam", "snippet": text}
