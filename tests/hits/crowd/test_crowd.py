"""Serving many workers on a few threads."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any, cast

import pytest

from hits.crowd.browser import OutOfRequestsError
from hits.crowd.crowd import Crowd
from hits.crowd.people import Person
from hits.crowd.worker import SiteError, Tally, Worker


class Busy:
    """A worker who answers at once, `wants` times, and then finds nothing more."""

    def __init__(self, wants: int, error: Exception | None = None) -> None:
        self.person = Person("anna", "careful", 7, 0.9, 1.0, 0.0)
        self.tally = Tally()
        self.worker_id = "AANNA"
        self.error = error
        self.holds = True
        self._wants = wants
        self._lock = threading.Lock()

    def step(self) -> float:
        assert self._lock.acquire(blocking=False), "one worker was served by two threads"
        try:
            time.sleep(0.002)
            if self.tally.answers < self._wants:
                self.tally.answers += 1
                return 0.0
            if self.error:
                raise self.error
            return 0.1
        finally:
            self._lock.release()

    def put_down(self) -> None:
        self.holds = False


def crowd_of(*workers: Busy, **options: Any) -> Crowd:
    defaults: dict[str, Any] = {"until_idle": 60, "max_answers": None, "threads": 3, "say": lambda line: None}
    return Crowd([cast(Worker, worker) for worker in workers], **{**defaults, **options})


def test_it_ends_when_nobody_finds_anything_any_more() -> None:
    crowd = crowd_of(Busy(5), Busy(20), Busy(0), until_idle=2)
    crowd.run()
    assert crowd.answers == 25
    assert crowd.ended == "nothing to do for 2 seconds"


class Late(Busy):
    """A worker who takes half a second to sign up."""

    def __init__(self, wants: int) -> None:
        super().__init__(wants)
        self.worker_id = ""

    def step(self) -> float:
        if self.worker_id:
            return super().step()
        time.sleep(0.5)
        self.worker_id = "AANNA"
        return 0.0


def test_who_takes_long_to_sign_up_is_waited_for() -> None:
    """All arrive before the first one answers, on a busy machine more slowly than anybody would wait for an answer."""
    crowd = crowd_of(*(Late(1) for _ in range(4)), until_idle=1, threads=1)
    crowd.run()
    assert crowd.answers == 4


def test_it_ends_with_the_answers_that_were_wanted() -> None:
    crowd = crowd_of(Busy(1000), max_answers=10, threads=1)
    crowd.run()
    assert crowd.answers == 10
    assert crowd.ended == "10 answers given"


def test_it_ends_when_the_requests_are_used_up() -> None:
    crowd = crowd_of(Busy(3, OutOfRequestsError()))
    crowd.run()
    assert crowd.ended == "the requests are used up"


def test_a_worker_that_fails_ends_it_with_the_error() -> None:
    crowd = crowd_of(Busy(1, SiteError("no button")), Busy(1000))
    with pytest.raises(SiteError, match="no button"):
        crowd.run()
    assert crowd.ended == "anna failed"


def test_stopping_from_outside_lets_steps_end() -> None:
    crowd = crowd_of(Busy(10_000), until_idle=60)
    threading.Timer(0.2, crowd.stop, ["enough"]).start()
    crowd.run()
    assert crowd.ended == "enough"


@pytest.mark.parametrize("error", [None, OutOfRequestsError(), SiteError("no button")])
def test_at_the_end_everybody_returns_what_they_hold(error: Exception | None) -> None:
    workers = Busy(3, error), Busy(2)
    with suppress(SiteError):
        crowd_of(*workers, until_idle=1).run()
    assert not any(worker.holds for worker in workers)
