"""Many at once, each on a database connection of its own, as processes are."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from marketplace.models import Assignment, Hit, MoneyEntry, Requester
from marketplace.rules.errors import (
    AssignmentRefused,
    InsufficientFunds,
    MarketplaceError,
    NoHitsAvailable,
)
from marketplace.verbs import assignments, hits
from tests.marketplace.conftest import QUESTION

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
CROWD = 8
RUSH = 50


def at_once(works: list[Callable[[], Any]]) -> list[Any]:
    """Run all works at the same moment; a refusal counts as a result, any other error is raised."""
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return work()
        except MarketplaceError as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def publish(requester: Requester, hit_type: Any, token: str) -> Any:
    return lambda: hits.create(
        requester,
        hit_type,
        question=QUESTION,
        max_assignments=1,
        lifetime_seconds=60,
        token=token,
        now=timezone.now(),
    )


def test_one_token_makes_one_hit(requester: Requester, hit_type: Any) -> None:
    results = at_once([publish(requester, hit_type, "same") for _ in range(CROWD)])
    made = [result for result in results if isinstance(result, Hit)]
    assert len(made) == Hit.objects.count() == 1
    refusals = [result for result in results if getattr(result, "turk_code", "") == "HITAlreadyExists"]
    assert {str(refusal) for refusal in refusals} == {f'The HIT with ID "{made[0].hit_id}" already exists.'}
    assert len(refusals) == CROWD - 1
    assert MoneyEntry.objects.filter(kind="hold").count() == 1


def test_the_last_money_is_spent_once(requester: Requester, make_hit_type: Any) -> None:
    dear = make_hit_type(reward=Decimal("2000.00"))
    results = at_once([publish(requester, dear, str(number)) for number in range(CROWD)])
    kinds = Counter(type(result) for result in results)
    assert kinds == {Hit: 4, InsufficientFunds: CROWD - 4}
    requester.refresh_from_db()
    assert requester.available == 400


def test_each_slot_is_taken_once(requester: Requester, make_worker: Any, make_hit: Any, hit_type: Any) -> None:
    for _ in range(2):
        make_hit(hit_type, max_assignments=3)
    crowd = [make_worker(f"w{number}") for number in range(CROWD)]
    results = at_once([lambda w=w: assignments.accept(hit_type, w, timezone.now()) for w in crowd])
    kinds = Counter(type(result) for result in results)
    assert kinds == {Assignment: 6, NoHitsAvailable: 2}
    assert {hit.pending for hit in Hit.objects.all()} == {3}
    assert len({result.assignment_id for result in results if isinstance(result, Assignment)}) == 6


def test_clicks_at_once_on_one_hit_hold_one_assignment(worker: Any, make_hit: Any, hit_type: Any) -> None:
    hit = make_hit(hit_type, max_assignments=CROWD)
    results = at_once([lambda: assignments.accept(hit_type, worker, timezone.now(), hit)] * CROWD)
    assert {getattr(result, "pk", result) for result in results} == {Assignment.objects.get().pk}
    hit.refresh_from_db()
    assert hit.pending == 1


@pytest.mark.parametrize("free", [1, 3])
def test_fifty_at_once_get_as_many_assignments_as_are_free(
    make_worker: Any, make_hit: Any, hit_type: Any, free: int
) -> None:
    hit = make_hit(hit_type, max_assignments=free)
    crowd = [make_worker(f"w{number}") for number in range(RUSH)]
    results = at_once([lambda w=w: assignments.accept(hit_type, w, timezone.now()) for w in crowd])
    assert Counter(type(result) for result in results) == {Assignment: free, NoHitsAvailable: RUSH - free}
    held = Assignment.objects.values_list("assignment_id", "worker")
    assert len({name for name, _ in held}) == len({holder for _, holder in held}) == len(held) == free
    hit.refresh_from_db()
    assert (hit.pending, hit.available) == (free, 0)


def test_fifty_submits_of_one_assignment_leave_one_answer(worker: Any, hit: Hit, hit_type: Any) -> None:
    held = assignments.accept(hit_type, worker, timezone.now())

    def submit(number: int) -> Callable[[], Any]:
        return lambda: assignments.submit(held.assignment_id, {"a": [str(number)]}, timezone.now())

    results = at_once([submit(number) for number in range(RUSH)])
    assert Counter(type(result) for result in results) == {Assignment: 1, AssignmentRefused: RUSH - 1}
    (winner,) = [result for result in results if isinstance(result, Assignment)]
    hit.refresh_from_db()
    worker.refresh_from_db()
    assert (hit.pending, hit.submitted, worker.submitted_count) == (0, 1, 1)
    assert Assignment.objects.get().answer == winner.answer


def test_an_answer_is_taken_and_paid_once(requester: Requester, worker: Any, hit: Hit, hit_type: Any) -> None:
    held = assignments.accept(hit_type, worker, timezone.now())
    submitted = at_once(
        [lambda: assignments.submit(held.assignment_id, {"a": ["1"]}, timezone.now()) for _ in range(CROWD)]
    )
    assert sum(isinstance(result, Assignment) for result in submitted) == 1
    judged = at_once(
        [lambda: assignments.approve(requester, held.assignment_id, timezone.now()) for _ in range(CROWD // 2)]
        + [lambda: assignments.reject(requester, held.assignment_id, timezone.now(), "no") for _ in range(CROWD // 2)]
    )
    assert sum(isinstance(result, Assignment) for result in judged) == 1
    requester.refresh_from_db()
    worker.refresh_from_db()
    assert requester.held == 0
    assert worker.approved_count + worker.rejected_count == 1


def test_sweeps_at_once_free_a_slot_once(requester: Requester, worker: Any, hit: Hit, hit_type: Any) -> None:
    held = assignments.accept(hit_type, worker, timezone.now())
    Assignment.objects.filter(pk=held.pk).update(deadline=held.accepted_at)
    at_once([lambda: assignments.sweep(timezone.now()) for _ in range(CROWD)])
    hit.refresh_from_db()
    assert (hit.pending, hit.available) == (0, 1)
