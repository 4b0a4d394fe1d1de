"""The child process that reads sources, and the frames it talks in.

A program of its own rather than `multiprocessing`: spawning would run the caller's main script a second time, which a
library must not ask of a ten-line script, and forking a process that has threads can hang. The child sees the standard
library and this package, nothing else: what it reads is never importable from it.
Frames are a length and a `marshal` dump: both ends are the same interpreter, and nobody else holds the pipes.
"""

from __future__ import annotations

import gc
import marshal
import struct
import sys
import warnings
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">I")

# What a child is asked: ("stdlib", root, tops), ("distribution", site, name, info, brief), ("manual", paths, many) or ("folder", paths).
Job = tuple[Any, ...]
# What it answers: for each part its key, how many files it could not read, and for each row the row and its indexed texts.
Answer = list[tuple[str, int, list[tuple[tuple[Any, ...], tuple[str, str, str, str]]]]]


def send(pipe: BinaryIO, value: object) -> None:
    data = marshal.dumps(value)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Return the next frame.

    Raises:
        EOFError: the other side is gone.
    """
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    if len(data) < length:
        raise EOFError
    return marshal.loads(data)


def perform(job: Job) -> Answer:
    """Read what a job names. A file that cannot be read is counted and left out."""
    from webseam.local import reading
    from webseam.local.rows import Row, searched

    def answered(package: str, key: str, skipped: int, rows: list[Row]) -> Any:
        return key, skipped, [(tuple(row), searched(package, row)) for row in rows]

    kind = job[0]
    if kind == "stdlib":
        found, skipped = reading.read_standard_library(job[1], job[2])
        return [answered("python", key, skipped if not place else 0, rows) for place, (key, rows) in enumerate(found)]
    if kind == "distribution":
        rows, skipped = reading.read_distribution(*job[1:])
        return [answered(job[2], "", skipped, rows)]
    answers: Answer = []
    for path in job[1]:
        try:
            rows = reading.read_manual_page(path, many=job[2]) if kind == "manual" else reading.read_folder_file(path)
        except (OSError, EOFError, ValueError, RecursionError):
            answers.append((path, 1, []))
        else:
            answers.append(answered("", path, 0, rows))
    return answers


def main() -> None:
    """Answer jobs until the parent closes the pipe. A job that fails as a whole is answered with None."""
    warnings.simplefilter("ignore")  # a bad escape in somebody's source is not our user's concern
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    gc.disable()  # a syntax tree has no cycles, and looking for them takes a third of the parsing time
    sys.stdout = sys.stderr  # nothing but frames may reach the pipe
    while True:
        try:
            job = receive(asked)
        except EOFError:
            return
        try:
            answer = perform(job)
        except Exception:  # any one source may be strange in a way nobody thought of; the others still count
            answer = None
        send(answers, answer)
        del answer
        gc.collect()
