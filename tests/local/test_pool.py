from __future__ import annotations

import threading
import time
from pathlib import Path

from webseam.local.pool import MUCH, Pool
from webseam.local.worker import Job


def pages(folder: Path, count: int) -> list[Job]:
    jobs: list[Job] = []
    for number in range(count):
        place = folder / f"page{number}.txt"
        place.write_text(f"Page {number}.")
        jobs.append(("folder", [str(place)]))
    return jobs


def test_every_job_is_answered_once_also_by_two_children(tmp_path: Path) -> None:
    jobs = pages(tmp_path, MUCH + 5)
    with Pool(jobs, stopped=threading.Event()) as pool:
        answers = [item for item in pool.answers(None) if item is not None]
    assert sorted(number for number, _ in answers) == list(range(len(jobs)))
    assert {answer[0][0] for _, answer in answers if answer} == {job[1][0] for job in jobs}


def test_a_job_that_fails_as_a_whole_is_answered_with_nothing_and_the_next_is_done(tmp_path: Path) -> None:
    (good,) = pages(tmp_path, 1)
    with Pool([("folder", 7), good], stopped=threading.Event()) as pool:
        answers = dict(item for item in pool.answers(None) if item is not None)
    assert (answers[0], len(answers[1] or ())) == (None, 1)


def test_answers_end_when_the_time_is_up_or_somebody_stops_them(tmp_path: Path) -> None:
    stopped = threading.Event()
    with Pool(pages(tmp_path, 3), stopped=stopped) as pool:
        assert list(pool.answers(time.monotonic())) == []
        stopped.set()
        assert list(pool.answers(None)) == []


def test_nothing_to_do_starts_nothing() -> None:
    with Pool([], stopped=threading.Event()) as pool:
        assert list(pool.answers(None)) == []
