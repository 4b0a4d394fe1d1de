"""A resolver whose answers are scripted, for tests that must know how often and in what order names were looked up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

NEVER = "never"  # an answer that does not come

Answer = Sequence[str] | OSError | str


class Names:
    """Maps names to successive answers; the last one repeats. A name that was not set does not exist.

    Attributes:
        lookups: every name asked for, in order.
    """

    def __init__(self) -> None:
        self.lookups: list[str] = []
        self._answers: dict[str, list[Answer]] = {}

    def set(self, name: str, *answers: Answer) -> None:
        """Script a name: each answer is a list of addresses, an `OSError` to raise, or `NEVER`."""
        self._answers[name] = list(answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.lookups.append(host)
        answers = self._answers.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, OSError):
            raise answer
        if answer == NEVER:
            await asyncio.Event().wait()
        return answer
