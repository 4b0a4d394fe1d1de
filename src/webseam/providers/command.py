"""Any program as a search provider: a template is filled with the query, run without a shell, and its output is read.

For what has a command line and no API worth the name: ddgs, a company's own tool, a script of ten lines. The template
is split into arguments before anything is put into it, so that no query, whatever it holds, becomes another argument or
another option. Only a user's own settings may name a program: a project's file that could would run anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from webseam.config import Settings
from webseam.errors import Outcome, ProviderError, SettingsError
from webseam.model import SearchRequest
from webseam.process import Printed, Program, find, values_of
from webseam.providers.answers import QUOTED_FROM, Hits, Parsed
from webseam.providers.base import EMULATED, NATIVE, Option, Provider, ProviderConfig, Setting, Support
from webseam.providers.command_output import Unreadable, rows_in
from webseam.providers.options import hosts
from webseam.providers.verdicts import by_words
from webseam.secrets import fingerprint
from webseam.text import quote

if TYPE_CHECKING:
    from webseam.providers.base import Conversation, Memory

DEFAULT: Final = "ddgs text -q {{query}} -m {{count}} -nc"
NOT_FOUND: Final = 127  # how a shell script, or `env`, says that there is no such program
_SECRET_FROM: Final = 6  # characters; a passed variable shorter than that is a switch or a number

_OPTIONAL: Final[tuple[Option, ...]] = ("page", "language", "region")  # met where the template has a place for them
_PLACEHOLDER = re.compile(r"\{\{(query|count|page|language|region|site)\}\}")
_PIECE = re.compile(r"""([ \t\r\n]+)|'([^']*)'|"([^"]*)"|([^ \t\r\n'"]+)""")
_BLOCKED = re.compile(r"captcha|challenge|unusual traffic|anomaly|\bblocked\b|\bbanned\b|forbidden", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Template:
    """A command line, split into its arguments, and the names of the placeholders it has."""

    arguments: tuple[str, ...]
    placeholders: frozenset[str]

    @property
    def program(self) -> str:
        return self.arguments[0]

    @property
    def label(self) -> str:
        """The program's name without its folders."""
        name = re.split(r"[/\\]", self.program)[-1]
        return name[:-4] if name.lower().endswith(".exe") and len(name) > 4 else name

    def filled(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the arguments with `values` in their places. What came from a value is never looked at again."""
        return tuple(_filled(argument, values) for argument in self.arguments)


def _filled(argument: str, values: Mapping[str, str]) -> str:
    text = _PLACEHOLDER.sub(lambda found: values[found[1]], argument)
    # An argument that begins with the caller's words must not become an option; search engines ignore the space.
    return f" {text}" if text.startswith("-") and _PLACEHOLDER.match(argument) else text


@lru_cache(maxsize=64)
def parse_template(words: str) -> Template:
    """Split a template at spaces. Quotes group; there are no escapes, variables, patterns or operators.

    Raises:
        ValueError: saying what is wrong with it.
    """
    words = words.strip() or DEFAULT
    arguments: list[str] = []
    current: str | None = None
    at = 0
    while at < len(words):
        piece = _PIECE.match(words, at)
        if piece is None:
            raise ValueError(f"has a {words[at]} without its partner")
        if piece[1]:
            arguments += [current] if current is not None else []
            current = None
        else:
            current = (current or "") + (piece[2] or piece[3] or piece[4] or "")
        at = piece.end()
    arguments += [current] if current is not None else []
    placeholders = frozenset(name for argument in arguments for name in _PLACEHOLDER.findall(argument))
    if "query" not in placeholders:
        raise ValueError("has no {{query}}")
    if not arguments[0].strip() or _PLACEHOLDER.search(arguments[0]):
        raise ValueError("must begin with the name of a program")
    if re.search("[\x00\ud800-\udfff]", words):
        raise ValueError("has a NUL or half of a surrogate pair")
    return Template(tuple(arguments), placeholders)


class Command(Provider):
    id = "command"
    label = "Command"
    receives = "the program of command.template"
    means = "program"
    several = True
    key = "none"
    settings = (
        Setting(name="template", default=DEFAULT, guarded=True, help="the program and its arguments, with {{query}}"),
        Setting(name="env", kind="list", default=(), guarded=True, help="variables the program may see"),
        Setting(name="private", kind="switch", default=False, guarded=True, help="its queries stay on this network"),
    )
    options = {  # of the default template; `fitted` has those of the user's
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
        "page": EMULATED,
    }
    max_count = 50
    timeout = 30.0  # one that asks several engines in turn takes longer than one service
    hint = "set command.template to a program that is installed; for ddgs: pipx install ddgs"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        """Check the template, and tell programs apart in what is remembered: another one is another service."""
        identity = fingerprint("\0".join(self._template(config).arguments))
        passed = (value for value in values_of(config.values["env"]) if len(value) >= _SECRET_FROM)
        return (replace(config, key_identity=identity, secrets=(*config.secrets, *passed)),)

    def fitted(self, config: ProviderConfig) -> Provider:
        """Return this provider as its template makes it: which options it has, and the name it goes by."""
        template = self._template(config)
        native: dict[Option, Support] = {name: NATIVE for name in _OPTIONAL if name in template.placeholders}
        options = {**type(self).options, **native}
        if not template.placeholders & {"page", "count"}:
            del options["page"]  # neither asked for, nor reached by asking for the hits before it too
        label = template.label if self.label == Command.label else self.label  # one set up under a name keeps that
        return self.copied(options=options, label=label)

    def is_private(self, values: Mapping[str, Any]) -> bool:
        return bool(values.get("private"))

    def unavailable(self, config: ProviderConfig) -> str | None:
        program = self._template(config).program
        if find(program) is not None:
            return None
        batch = " (batch files are not run)" if program.lower().endswith((".bat", ".cmd")) else ""
        return f"there is no program {program} on the path{batch}"

    def converse(self, search: SearchRequest, config: ProviderConfig, memory: Memory) -> Conversation:
        template = self._template(config)
        printed: Printed = yield Program(
            argv=template.filled(_values(search)),
            env=config.values["env"],
            timeout=config.timeout,
            proxy=config.proxy or "",
            secrets=config.secrets,
        )
        return self._read(printed, template.label, search, config)

    def _template(self, config: ProviderConfig) -> Template:
        try:
            return parse_template(config.values["template"])
        except ValueError as error:
            field = f"{self.id.replace('-', '_')}.template"
            hint = "write it like: my-search --json {{query}} {{count}}"
            raise SettingsError(field, str(error), hint=hint) from None

    def _read(self, printed: Printed, name: str, search: SearchRequest, config: ProviderConfig) -> Parsed:
        """Return the hits a program printed.

        Raises:
            ProviderError: it failed, whatever it printed, or what it printed is no list of results.
        """
        if printed.code:
            raise _failed(printed, name, search, config)
        if printed.truncated:
            raise _error(f"{name} printed too much ({len(printed.stdout):,} characters and more)", "", config)
        try:
            rows = rows_in(printed.stdout)
        except Unreadable as error:
            outcome = _outcome(error.stated, search)
            if outcome is Outcome.EMPTY:
                return Parsed()  # ddgs says so in an error message, and exits with 0
            said = printed.stdout if printed.stdout.strip() else printed.stderr
            raise _error(f"{name}: {error}", said, config, outcome) from None
        hits = Hits(self.id)
        for row in rows:
            hits.add(**{"url": None, **row})
        return hits.parsed()


def _values(search: SearchRequest) -> dict[str, str]:
    """Return what stands for each placeholder; "" where the search does not say."""
    return {
        "query": search.query,
        "count": str(search.count),
        "page": str(search.page),
        "language": search.language or "",
        "region": search.region or "",
        "site": " ".join(hosts(search.include_domains) or ()),
    }


def _failed(printed: Printed, name: str, search: SearchRequest, config: ProviderConfig) -> ProviderError:
    said = printed.stderr if printed.stderr.strip() else printed.stdout
    if printed.code == NOT_FOUND:
        return _error(f"{name} ended with {NOT_FOUND}, there is no such program", said, config, Outcome.UNAVAILABLE)
    how = f"was ended by signal {-printed.code}" if printed.code < 0 else f"failed with exit code {printed.code}"
    outcome = _outcome(printed.stderr, search)
    return _error(f"{name} {how}", said, config, Outcome.BAD_RESPONSE if outcome is Outcome.EMPTY else outcome)


def _outcome(words: str, search: SearchRequest) -> Outcome:
    """Return what a program's own words mean, those of the query aside."""
    words = words.replace(search.query, "").replace("_", " ")
    outcome = by_words(words)
    if outcome in (Outcome.QUOTA, Outcome.RATE_LIMITED):
        return outcome
    if _BLOCKED.search(words):
        return Outcome.BLOCKED
    # Not auth: that is remembered until the key changes, and nobody here sees the program's key change.
    return outcome if outcome is Outcome.EMPTY else Outcome.BAD_RESPONSE


def _error(problem: str, said: str, config: ProviderConfig, outcome: Outcome = Outcome.BAD_RESPONSE) -> ProviderError:
    """Return an error with a glimpse of what the program printed, without secrets."""
    from webseam.net.redact import Redactor

    glimpse = quote(Redactor(config.secrets)(said[:QUOTED_FROM]))
    return ProviderError(f"{problem}: {glimpse}" if glimpse else problem, outcome=outcome)
