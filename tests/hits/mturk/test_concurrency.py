"""How many calls are in flight, and what becomes of rows that had no turn."""

import threading
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.mturk.concurrency import SILENT, Concurrency, Run
from hits.mturk.errors import CredentialsError, GoneError, ThrottledError, UnreachableError


def _run(work, rows: Sequence[int], most: int = 8, **more) -> list:
    return Run(Concurrency(most), more.get("beat"), more.get("beat_seconds", 5)).outcomes(work, rows)


@given(st.lists(st.integers(), max_size=40))
def test_outcomes_come_in_the_order_of_the_rows(rows):
    def work(row: int) -> int:
        time.sleep(abs(row) % 3 / 10_000)
        return row + 1

    assert _run(work, rows) == [row + 1 for row in rows]


def test_a_refusal_is_an_outcome_like_any_other():
    def work(row: int) -> int:
        if row == 3:
            raise GoneError("HITDoesNotExist", "Hit X does not exist.")
        return row

    found = _run(work, range(6))
    assert isinstance(found.pop(3), GoneError)
    assert found == [0, 1, 2, 4, 5]


def test_a_bug_comes_out_after_the_calls_in_flight_have_ended():
    ended = []

    def work(row: int) -> None:
        if row == 0:
            raise ZeroDivisionError
        time.sleep(0.05)
        ended.append(row)

    with pytest.raises(ZeroDivisionError):
        _run(work, range(1000))
    assert ended and len(ended) < 500


def test_success_adds_and_faults_halve():
    limit = Concurrency(16)
    assert limit.limit == 4
    for _ in range(200):
        limit.succeeded()
    assert limit.limit == 16
    now = time.monotonic()
    limit.faulted(now)
    limit.faulted(now + 0.1)
    assert limit.limit == 8
    for second in range(2, 12):
        limit.faulted(now + second)
    assert limit.limit == 1


def test_no_more_rows_are_in_work_than_the_limit_says():
    limit, lock, now, most = Concurrency(3), threading.Lock(), [0], [0]

    def work(row: int) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        limit.succeeded()
        time.sleep(0.002)
        with lock:
            now[0] -= 1

    Run(limit, None, 5).outcomes(work, range(60))
    assert most == [3]


@pytest.mark.parametrize(
    ("error", "asked"), [(UnreachableError, SILENT), (ThrottledError, SILENT), (CredentialsError, 1)]
)
def test_a_silent_marketplace_is_not_asked_for_every_row(error, asked):
    calls = []

    def work(row: int) -> None:
        calls.append(row)
        raise error("The marketplace does not answer.")

    found = _run(work, range(200), most=1)
    assert len(calls) == asked
    assert [type(outcome) for outcome in found] == [error] * 200


def test_one_row_without_an_answer_stops_nobody():
    def work(row: int) -> int:
        if row % 4 == 0:
            raise UnreachableError("The marketplace has a passing fault.")
        return row

    found = _run(work, range(80), most=1)
    assert [outcome for outcome in found if isinstance(outcome, int)] == [row for row in range(80) if row % 4]


def test_the_lease_is_renewed_in_the_callers_own_thread():
    beats = []
    began = time.monotonic()
    _run(lambda row: time.sleep(0.02), range(12), most=1, beat=lambda: beats.append(threading.current_thread()),
         beat_seconds=0.05)  # fmt: skip
    assert set(beats) == {threading.current_thread()}
    assert 1 <= len(beats) <= (time.monotonic() - began) / 0.05
