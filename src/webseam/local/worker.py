"""The child process that reads sources, and the frames it talks in.

A program of its own rather than `multiprocessing`: spawning would run the caller's main script a second time, which a
library must not ask of a ten-line script, and forking a process that has threads can hang. The child sees the standard
library and this package, nothing else: what it reads is never importable from it.
Frames are a length and a `marshal` dump: both ends are the same interpreter, and nobody else holds the pipes.
"""

from __future__ import annotations

import gc
import marshal
import signal
import struct
import sys
import warnings
import zlib
from typing import Any, BinaryIO

GARBAGE = 50_000  # objects that may lie about before they are looked for; after each job that took a seventh of a build

_LENGTH = struct.Struct(">I")

# What a child is asked: ("stdlib", root, tops), ("distribution", site, name, info, brief), ("manual", paths, many)
# or ("folder", paths).
Job = tuple[Any, ...]
# What it answers: for each part its key, how many files it could not read, its rows each with its indexed texts, and
# how many of its files use which name of another library.
Answer = list[tuple[str, int, list[tuple[tuple[Any, ...], tuple[str, str, str, str]]], dict[str, int]]]


def send(pipe: BinaryIO, value: Any) -> None:
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
    return marshal.loads(data)  # noqa: S302 - from a child this process started, over a pipe only it holds


def perform(job: Job) -> Answer:
    """Read what a job names. A file that cannot be read is counted and left out."""
    from webseam.local import reading
    from webseam.local.rows import searched

    def answered(package: str, key: str, read: reading.Reading) -> Any:
        return key, read.skipped, [(tuple(row), searched(package, row)) for row in read.rows], read.uses

    kind = job[0]
    if kind == "stdlib":
        return [answered("python", key, read) for key, read in reading.read_standard_library(job[1], job[2])]
    if kind == "distribution":
        return [answered(job[2], "", reading.read_distribution(*job[1:]))]
    answers: Answer = []
    for path in job[1]:
        try:
            rows = reading.read_manual_page(path, many=job[2]) if kind == "manual" else reading.read_folder_file(path)
        except (OSError, ValueError, RecursionError, zlib.error):
            answers.append((path, 1, [], {}))
        else:
            answers.append(answered("", path, reading.Reading(rows)))
    return answers


def main() -> None:
    """Answer jobs until the parent closes the pipe. A job that fails as a whole is answered with None."""
    warnings.simplefilter("ignore")  # a bad escape in somebody's source is not our user's concern
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this process
    gc.disable()  # a syntax tree has no cycles, and looking for them takes a third of the parsing time
    sys.stdout = sys.stderr  # nothing but frames may reach the pipe
    while True:
        try:
            job = receive(asked)
        except EOFError:
            return
        try:
            answer = perform(job)
        except Exception:  # noqa: BLE001 - a source may be strange in ways nobody thought of; others still count
            answer = None
        send(answers, answer)
        del answer
        if gc.get_count()[0] > GARBAGE:
            gc.collect()
