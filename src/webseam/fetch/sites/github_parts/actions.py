"""Runs of GitHub Actions: which steps failed, what was annotated and, with a token, the end of the failed log."""

from __future__ import annotations

import re
from typing import Final

from webseam.fetch.sites.base import Api, Asked
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_JOBS: Final = 100
LOG_LINES: Final = 200  # of a failed job, from its end: the error is there, set-up is at the beginning
MAX_LOG: Final = 8 * 1024 * 1024  # bytes
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_FAILED: Final = ("failure", "timed_out", "startup_failure")


def run(api: Api, owner: str, name: str, key: str, job: str | None = None) -> Asked[Reading]:
    """Read a run, or one job of it."""
    place = ("repos", owner, name, "actions")
    found = yield from api.object(*place, "runs", key, holds="id")
    if job is None:
        answer = yield from api.object(*place, "runs", key, "jobs", query={"per_page": MAX_JOBS})
        jobs = list(answer["jobs"])
        total = answer["total_count"].number or len(jobs)
    else:
        jobs = [(yield from api.object(*place, "jobs", job))]
        total = 1
    document = api.document(f"{found['name'].line} #{found['run_number'].line} ({owner}/{name})")
    document.facts(
        ("State", joined([found["status"].line, found["conclusion"].line])),
        ("Event", found["event"].line),
        ("Branch", found["head_branch"].line),
        ("Commit", joined([found["head_sha"].line, found["display_title"].line])),
        ("Started", found["run_started_at"].date),
        ("Attempt", found["run_attempt"].number),
        ("Actor", found["actor"]["login"].line),
    )
    for one in jobs:
        document.heading(2, f"{one['name'].line}: {_state(one)}")
        document.entries([f"{step['name'].line}: {_state(step)}" for step in one["steps"]])
    document.more(total - len(jobs), "job")
    failed = next((one for one in jobs if one["conclusion"].line in _FAILED), None)
    wanted = jobs[0] if job is not None and jobs else failed
    if wanted is not None and wanted["id"].line:
        asked = api.array("repos", owner, name, "check-runs", wanted["id"].line, "annotations")
        notes = yield from api.optional(asked, "annotations")
        if notes:
            document.heading(2, f"Annotations of {wanted['name'].line}")
            document.entries([_annotation(one) for one in notes][:MAX_JOBS])
        log = yield from _log(api, (*place, "jobs", wanted["id"].line, "logs"))
        if log:
            lines = _COLOUR.sub("", _STAMP.sub("", log)).rstrip("\n").split("\n")
            shown = f"the last {min(len(lines), LOG_LINES)} of {len(lines):,} lines"
            document.heading(2, f"Log of {wanted['name'].line}, {shown}")
            document.code("\n".join(lines[-LOG_LINES:]), "text")
            document.truncated = document.truncated or len(lines) > LOG_LINES
    return document.reading(author=found["actor"]["login"].line, published=found["run_started_at"].date)


def _log(api: Api, place: tuple[str, ...]) -> Asked[str | None]:
    if not api.config.token:  # asking would be refused: GitHub shows logs to signed-in people only
        api.notes.append("without the log: GitHub gives logs with a token only")
        return None
    return (yield from api.optional(api.text(*place, elsewhere=True, max_bytes=MAX_LOG), "the log"))


def _state(one: Value) -> str:
    return one["conclusion"].line or one["status"].line or "unknown"


def _annotation(one: Value) -> str:
    place = f"{one['path'].line}:{one['start_line'].line}"
    return f"{one['annotation_level'].line} {place}: {joined([one['title'].line, one['message'].line])}"
