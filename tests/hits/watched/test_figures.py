"""What /metrics says of the requester's side: the numbers are right, and cost the same for many rows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from prometheus_client.metrics_core import Metric

from annotate import figures
from common.metrics import Part
from hits.models import Account, Assignment, Batch, Bonus, Hit, Item, WaitingJob
from hits.mturk.calls import Calls, Ending
from hits.mturk.shared import Shared
from hits.publishing.rules import stuck_rows
from tests.hits import factories as make
from tests.hits.broker import Broker

pytestmark = pytest.mark.django_db


def values(part: Part) -> dict[str, float]:
    """Each sample by its name and labels."""
    return {_name(sample.name, sample.labels): sample.value for metric in part() for sample in _samples(metric)}


def _samples(metric: Metric) -> list[Any]:
    return list(metric.samples)


def _name(name: str, labels: dict[str, str]) -> str:
    return " ".join([name, *labels.values()])


def test_the_age_of_the_hit_that_waits_longest_to_be_fetched() -> None:
    assert values(figures.harvest) == {"annotate_oldest_due_hit_seconds": 0}
    now = timezone.now()
    for seconds in (20, 600, -50):
        make.hit(state=Hit.State.LIVE, due_at=now - timedelta(seconds=seconds))
    assert values(figures.harvest)["annotate_oldest_due_hit_seconds"] == pytest.approx(600, abs=60)


def test_money_of_all_projects_and_how_many_have_little_left() -> None:
    for spent, imported in (("95.00", 10), ("50.00", 10), ("95.00", 0)):
        stage = make.stage(
            make.project(budget="100.00"), summary={"imported": imported, "items": imported, "waiting": imported}
        )
        Account.objects.filter(project=stage.project).update(reserved=Decimal("5.00"), paid=Decimal(spent) - 5)
    found = values(figures.money)
    assert found["annotate_money_budget_dollars"] == 300
    assert found["annotate_money_reserved_dollars"] == 15
    assert found["annotate_money_paid_dollars"] == 225
    assert found["annotate_projects_low_budget"] == 1


def test_rows_that_have_waited_long_are_counted_by_kind_and_those_of_this_minute_are_not() -> None:
    assert set(stuck_rows.counts().values()) == {0}
    now, then = timezone.now(), timezone.now() - timedelta(hours=1)
    sending = make.batch(state=Batch.State.WAITING)
    Batch.objects.update(created_at=then)
    for at in (now, then):
        make.hit(make.item(sending.stage), batch=sending, state=Hit.State.SENT, attempted_at=at)
        make.bonus(state=Bonus.State.SENT, attempted_at=at)
        make.assignment(submitted_at=at, scored=False)
        make.assignment(submitted_at=then, state=Assignment.State.SUBMITTED, decision="approve", not_before=at)
    Item.objects.filter(pk=make.item().pk).update(stale=True, ballots_at=then)
    WaitingJob.objects.keep("hits.tasks.resume_all", [])
    WaitingJob.objects.update(created_at=then)
    make.ledger_check()
    found = {kind: number for kind, number in stuck_rows.counts().items() if number}
    assert found == {
        "hits": 1,
        "bonuses": 1,
        "batches": 1,
        "answers to score": 1,
        "decisions": 1,
        "items to decide": 1,
        "jobs without a queue": 1,
    }


@pytest.mark.parametrize("part", [figures.harvest, figures.money, figures.stuck], ids=lambda part: part.__name__)
def test_many_rows_cost_no_more_queries(part: Part, django_assert_num_queries: Any) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        list(part())
    for _ in range(5):
        make.hit(due_at=timezone.now(), attempted_at=timezone.now() - timedelta(days=1))
        make.bonus()
        make.block()
    with django_assert_num_queries(len(few)):
        list(part())


def test_calls_are_counted_for_good_and_never_less(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(Shared(broker.url, "account"))
    for _ in range(2):
        calls.count("GetHIT", Ending.DONE, seconds=0.02, again=False, rate=5)
        calls.count("GetHIT", Ending.THROTTLED, seconds=0.001, again=True, rate=5)
    (figures_of_it,) = calls.ever()
    assert (figures_of_it.operation, figures_of_it.calls, figures_of_it.throttled) == ("GetHIT", 4, 2)
    fields = Shared(broker.url, "account").counted(["calls:for-good"])
    assert fields and not [name for name in fields[0] if name.startswith(("at:", "rate:"))]


def test_durations_are_a_histogram_of_seconds() -> None:
    made = figures._durations("seconds", "Time.", "task", {"harvest": 3100}, {"harvest": {0: 2, 22: 1}})
    found = {_name(each.name, each.labels): each.value for each in made.samples}
    assert (found["seconds_bucket harvest 0.002"], found["seconds_bucket harvest 60"]) == (2, 2)
    assert (found["seconds_bucket harvest +Inf"], found["seconds_count harvest"]) == (3, 3)
    assert found["seconds_sum harvest"] == 3.1
