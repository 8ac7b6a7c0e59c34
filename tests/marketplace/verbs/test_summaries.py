"""What the list of work says about groups is measured now and then, once for everybody."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from marketplace.models import GroupSummary, Hit, HitType, Requester, RequesterSummary, Worker
from marketplace.verbs import assignments, summaries

pytestmark = pytest.mark.on_postgresql

AGE = timedelta(seconds=30)


def test_it_measures_again_only_when_it_is_old(hit: Hit, now: datetime) -> None:
    assert summaries.refresh_when_older(AGE, now)
    assert not summaries.refresh_when_older(AGE, now + AGE)
    assert summaries.refresh_when_older(AGE, now + AGE + timedelta(seconds=1))
    # The clock was put back.
    assert summaries.refresh_when_older(AGE, now - timedelta(hours=1))


def test_open_hits_are_counted_down_to_none(hit: Hit, hit_type: HitType, worker: Worker, now: datetime) -> None:
    summaries.refresh()
    assert GroupSummary.objects.get(hit_type=hit_type).open_hits == 1
    assignments.accept(hit_type, worker, now)
    summaries.refresh()
    assert GroupSummary.objects.get(hit_type=hit_type).open_hits == 0


def test_a_quiet_group_keeps_its_times(
    hit: Hit,
    hit_type: HitType,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    worker: Worker,
    monkeypatch: Any,
    now: datetime,
) -> None:
    monkeypatch.setattr(summaries, "SAMPLE", 1)
    busy = make_hit_type(title="Busy")
    make_hit(busy)
    for kind, took in ((hit_type, 40), (busy, 7)):
        held = assignments.accept(kind, worker, now - timedelta(seconds=took))
        assignments.submit(held.assignment_id, {"a": ["x"]}, now)
        summaries.refresh()
    assert dict(GroupSummary.objects.values_list("hit_type", "seconds")) == {hit_type.pk: 40, busy.pk: 7}


@pytest.mark.parametrize(("took", "told"), [(2, None), (3, 3)])
def test_times_in_which_nobody_can_answer_are_not_told(
    took: int, told: float | None, hit: Hit, hit_type: HitType, worker: Worker, now: datetime
) -> None:
    held = assignments.accept(hit_type, worker, now - timedelta(seconds=took))
    assignments.submit(held.assignment_id, {"a": ["x"]}, now)
    summaries.refresh()
    assert GroupSummary.objects.get(hit_type=hit_type).seconds == told


def test_a_requester_is_measured_by_judged_answers_only(
    requester: Requester, hit_type: HitType, make_hit: Callable[..., Hit], worker: Worker, now: datetime
) -> None:
    ids = []
    for _ in range(4):
        make_hit(hit_type)
        held = assignments.accept(hit_type, worker, now)
        ids.append(assignments.submit(held.assignment_id, {"a": ["x"]}, now).assignment_id)
    summaries.refresh()
    assert not RequesterSummary.objects.exists()
    assignments.approve(requester, ids[0], now + timedelta(seconds=30))
    assignments.approve(requester, ids[1], now + timedelta(seconds=60))
    assignments.reject(requester, ids[2], now + timedelta(seconds=90), "no")
    summaries.refresh()
    (row,) = RequesterSummary.objects.values_list("approval", "seconds")
    assert row == (66, 60)
