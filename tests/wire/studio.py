"""Turns recorded answers into cases: sanitised, replayed, and only kept when the replay comes to the same."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.wire import Case
from tests.wire.fake import Told, play
from tests.wire.leaks import HEADERS, own_domains
from tests.wire.sanitise import Sanitiser
from tests.wire.tape import Taken
from webseam.errors import Outcome
from webseam.net.client import Response
from webseam.providers.base import Provider
from webseam.resilience.retry import parse_retry_after

_KEPT_VARIABLES = re.compile(
    r"PATH|PATHEXT|COMSPEC|SYSTEMROOT|WINDIR|TMPDIR|TEMP|TMP|LANG|LC_\w+|PYTHON\w+|VIRTUAL_ENV"
)


class Studio:
    """Turns what was taken into cases, as files have them.

    Args:
        hide, keep: see `Sanitiser`.

    Attributes:
        secrets: the keys and cookies of all that was taken.
    """

    def __init__(
        self, provider: Provider, taken: Mapping[str, Taken], *, hide: Iterable[str] = (), keep: Iterable[str] = ()
    ) -> None:
        self.provider = provider
        self.secrets = sorted({secret for one in taken.values() for secret in _secrets_of(one)})
        self.sanitiser = Sanitiser(
            secrets=self.secrets,
            own=own_domains(provider.id),
            queries={one.wanted.query for one in taken.values()},
            hide=hide,
            keep=keep,
        )
        for one in taken.values():
            for response in one.answers:
                self._learn(response)

    def _learn(self, response: Response) -> None:
        for name, value in response.headers.items():
            if not HEADERS.fullmatch(name) and re.fullmatch(r"(?=.*[0-9])[\w.:/+=-]{8,}", value):
                self.sanitiser.learn_identifier(value)
        with contextlib.suppress(ValueError, RecursionError):
            self.sanitiser.learn_from(json.loads(response.body))

    async def case(self, taken: Taken) -> dict[str, Any]:
        """Return a sanitised case with what replaying it comes to.

        Raises:
            NotTheSame: the sanitised answer does not come to what the live one did.
        """
        search = {name: self._search_option(value) for name, value in taken.wanted.search.items()}
        settings = {name: self.sanitiser.setting(value) for name, value in taken.tape.settings.items()}
        contents = taken.told.outcome in (Outcome.OK, Outcome.EMPTY)
        answers = [self._answer(response, contents) for response in taken.answers]
        document = _document("Recorded; all contents are invented.", search, settings, answers)
        replayed = await self._replayed(document)
        live = taken.told
        if (live.outcome, len(live.hits)) != (replayed.outcome, len(replayed.hits)):
            raise NotTheSame(
                f"it came to {live.outcome.value} with {len(live.hits)} hits, replayed without its contents to"
                f" {replayed.outcome.value} with {len(replayed.hits)}; --keep FIELD leaves the words of a field"
            )
        return document

    async def broken(self, whole: dict[str, Any]) -> dict[str, Any]:
        """Return the case of an answer that ends in the middle.

        Raises:
            NotTheSame: even half of it reads as an answer.
        """
        answers = whole["answer"] if isinstance(whole["answer"], list) else [whole["answer"]]
        last = answers[-1]
        text = json.dumps(last["json"]) if "json" in last else last["text"]
        cut = text[: len(text) // 2]
        cut = cut[: max(cut.rfind(mark) for mark in ',{[\n>"') + 1] or cut  # not within a host: half of one is another
        half = {name: value for name, value in last.items() if name != "json"} | {"text": cut}
        document = _document(
            "A recorded answer, cut in the middle.", whole.get("search", {}), whole.get("settings", {}), [half]
        )
        if (await self._replayed(document)).outcome in (Outcome.OK, Outcome.EMPTY, Outcome.FILTERED):
            raise NotTheSame("half of the answer reads as an answer")
        return document

    def _search_option(self, value: Any) -> Any:
        return [self.sanitiser.rule(one) for one in value] if isinstance(value, list) else value

    def _answer(self, response: Response, contents: bool) -> dict[str, Any]:
        headers: dict[str, str] = {}
        for name, value in response.headers.items():
            if HEADERS.fullmatch(name):
                shown = _seconds(value) if name == "retry-after" else self.sanitiser.text(value)
                headers.setdefault("-".join(part.capitalize() for part in name.split("-")), shown)
        status = {} if response.status == 200 else {"status": response.status}
        text = response.body.decode("utf-8", "replace")
        return {**status, "headers": headers, **self.sanitiser.body(text, contents=contents)}

    async def _replayed(self, document: dict[str, Any]) -> Told:
        """Replay a case as the tests do, note in it what came of it, and return that."""
        answers = document["answer"] if isinstance(document["answer"], list) else [document["answer"]]
        case = Case(
            provider=self.provider.id,
            name="recorded",
            search=document.get("search", {}),
            settings=document.get("settings", {}),
            answers=tuple((one.get("status", 200), one["headers"], _body(one)) for one in answers),
        )
        with _as_in_tests():
            replayed, requests = await play(case)
        if len(requests) != len(answers):
            document["requests"] = len(requests)
        document["expect"] = replayed.as_expected()
        return replayed


class NotTheSame(Exception):
    """A case would not show what the live answer showed."""


def _document(about: str, search: Any, settings: Any, answers: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "about": about,
        **({"search": search} if search else {}),
        **({"settings": settings} if settings else {}),
        "answer": answers[0] if len(answers) == 1 else answers,
    }


def _body(answer: Mapping[str, Any]) -> bytes:
    return json.dumps(answer["json"]).encode() if "json" in answer else str(answer["text"]).encode()


def _secrets_of(taken: Taken) -> set[str]:
    """The keys that were in use, and the cookies that were set."""
    cookies = (
        line.partition(";")[0].partition("=")[2]
        for one in taken.tape.exchanges
        for line in one.response.headers.get_all("set-cookie")
    )
    return taken.tape.secrets | {cookie for cookie in cookies if len(cookie) > 5}


def _seconds(value: str) -> str:
    """Return `Retry-After` in seconds: a date would be past when the case is replayed."""
    wait = parse_retry_after(value, now=time.time())
    return value if wait is None or value.strip().isdecimal() else str(round(wait))


@contextlib.contextmanager
def _as_in_tests() -> Iterator[None]:
    """Take away what the person who records has set up: a replay must come to the same for everybody."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        for name in before:
            if not _KEPT_VARIABLES.fullmatch(name.upper()):
                del os.environ[name]
        os.environ.update({f"WEBSEAM_{kind}_DIR": f"{folder}/{kind.lower()}" for kind in ("CONFIG", "STATE", "CACHE")})
        os.environ.update(HOME=folder, USERPROFILE=folder)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
