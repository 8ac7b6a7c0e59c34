"""Marking money as paid: what the page shows, once, whatever is pressed and whoever presses it."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marketplace.models import OperatorAction, Payout, PayoutLine, Worker
from marketplace.rules.errors import AlreadyDone, MarketplaceError, RequestError
from marketplace.verbs import accounts, payouts

pytestmark = pytest.mark.on_postgresql

TWO, FIVE = Decimal("2.00"), Decimal("5.00")


@pytest.fixture
def operator(db: None) -> User:
    return accounts.create_operator("olive", "a-long-password")


@pytest.fixture
def earners(make_worker: Callable[..., Worker]) -> list[Worker]:
    """Walter has earned $5.00, Wilma $2.00, Will nothing."""
    return [make_worker(name, earned=earned) for name, earned in (("walter", FIVE), ("wilma", TWO), ("will", 0))]


def paid(worker: Worker) -> Decimal:
    worker.refresh_from_db()
    return worker.paid


def test_a_run_pays_each_worker_what_the_draft_showed(operator: User, earners: list[Worker], now: datetime) -> None:
    draft = payouts.draft(operator, payouts.owing(), "everybody", now)
    assert (draft.workers, draft.total, paid(earners[0])) == (2, Decimal("7.00"), 0)
    Worker.objects.filter(pk=earners[0].pk).update(earned=Decimal("9.00"))
    payouts.pay(operator, draft.pk, now)
    assert [paid(worker) for worker in earners] == [FIVE, TWO, 0]
    assert earners[0].owed == Decimal("4.00")
    assert [action.about for action in OperatorAction.objects.order_by("pk")] == [
        f"Prepared payout run {draft.pk}: 2 workers, $7.00",
        f"Marked payout run {draft.pk} as paid: 2 workers, $7.00",
    ]


def test_a_minimum_leaves_small_amounts_for_later(operator: User, earners: list[Worker], now: datetime) -> None:
    draft = payouts.draft(operator, payouts.owing(Decimal("2.01")), "at least $2.01", now)
    assert [line.worker for line in draft.lines.all()] == [earners[0]]
    with pytest.raises(RequestError, match="Nobody"):
        payouts.draft(operator, payouts.owing(Decimal("5.01")), "at least $5.01", now)
    assert Payout.objects.count() == 1


def test_a_run_is_marked_once(operator: User, earners: list[Worker], now: datetime) -> None:
    draft = payouts.draft(operator, payouts.owing(), "everybody", now)
    payouts.pay(operator, draft.pk, now)
    for repetition in (payouts.pay, payouts.drop):
        with pytest.raises(AlreadyDone, match="before, by olive"):
            repetition(operator, draft.pk, now)
    assert paid(earners[0]) == FIVE
    assert OperatorAction.objects.count() == 2


def test_one_form_makes_one_draft(operator: User, earners: list[Worker], now: datetime) -> None:
    payouts.draft(operator, payouts.owing(), "everybody", now, token="same")
    with pytest.raises(AlreadyDone):
        payouts.draft(operator, payouts.owing(), "everybody", now, token="same")
    assert Payout.objects.count() == 1


def test_money_that_another_run_paid_is_not_paid_again(operator: User, earners: list[Worker], now: datetime) -> None:
    first = payouts.draft(operator, payouts.owing(FIVE), "walter", now)
    second = payouts.draft(operator, payouts.owing(), "both", now)
    payouts.pay(operator, first.pk, now)
    with pytest.raises(RequestError, match="1 of these 2 workers"):
        payouts.pay(operator, second.pk, now)
    assert [paid(worker) for worker in earners] == [FIVE, 0, 0]
    second.refresh_from_db()
    assert second.state == Payout.State.DRAFT
    payouts.drop(operator, second.pk, now)
    with pytest.raises(RequestError, match="dropped"):
        payouts.pay(operator, second.pk, now)


def test_a_run_is_taken_back_by_a_run_with_a_reason(operator: User, earners: list[Worker], now: datetime) -> None:
    run = payouts.pay(operator, payouts.draft(operator, payouts.owing(), "everybody", now).pk, now)
    bounced = run.lines.get(worker=earners[1])
    with pytest.raises(RequestError, match="why"):
        payouts.undo(operator, run.pk, " ", now)
    one = payouts.undo(operator, run.pk, "account closed", now, line_id=bounced.pk)
    assert (one.workers, one.total, paid(earners[1]), earners[1].owed) == (1, -TWO, 0, TWO)
    rest = payouts.undo(operator, run.pk, "wrong month", now)
    assert (rest.workers, rest.total, paid(earners[0])) == (1, -FIVE, 0)
    with pytest.raises(AlreadyDone):
        payouts.undo(operator, run.pk, "again", now)
    with pytest.raises(RequestError, match="not a paid run"):
        payouts.undo(operator, rest.pk, "back and forth", now)


AMOUNTS = st.integers(1, 500).map(lambda cents: Decimal(cents) / 100)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("earn"), st.integers(0, 2), AMOUNTS),
        st.tuples(st.just("draft"), AMOUNTS),
        st.tuples(st.sampled_from(["pay", "drop", "undo"]), st.integers(0, 5)),
        st.tuples(st.just("undo one"), st.integers(0, 5), st.integers(0, 2)),
    ),
    max_size=14,
)


def step(operator: User, crowd: list[Worker], runs: list[Payout], now: datetime, name: str, *given: Any) -> None:
    if name == "earn":
        worker = Worker.objects.get(pk=crowd[given[0]].pk)
        Worker.objects.filter(pk=worker.pk).update(earned=worker.earned + given[1])
    elif name == "draft":
        runs.append(payouts.draft(operator, payouts.owing(given[0]), "drawn", now))
    elif runs:
        run = runs[given[0] % len(runs)]
        if name == "undo one":
            line = run.lines.order_by("pk")[given[1] : given[1] + 1].first()
            payouts.undo(operator, run.pk, "drawn", now, line_id=line.pk if line else 0)
        elif name == "undo":
            payouts.undo(operator, run.pk, "drawn", now)
        else:
            {"pay": payouts.pay, "drop": payouts.drop}[name](operator, run.pk, now)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_what_is_paid_is_what_the_runs_say(
    operator: User, make_worker: Callable[..., Worker], now: datetime, steps: list[tuple[Any, ...]]
) -> None:
    PayoutLine.objects.filter(undoes__isnull=False).delete()
    for model in (PayoutLine, Worker):
        model.objects.all().delete()
    User.objects.filter(is_staff=False).delete()
    crowd, runs = [make_worker(f"w{number}") for number in range(3)], []
    for name, *values in steps:
        shown = {run.pk: (run.workers, run.total, list(run.lines.values_list("worker", "amount"))) for run in runs}
        with suppress(MarketplaceError):
            step(operator, crowd, runs, now, name, *values)
        for run in Payout.objects.filter(pk__in=shown):
            assert (run.workers, run.total, list(run.lines.values_list("worker", "amount"))) == shown[run.pk]
        for worker in Worker.objects.all():
            lines = worker.payout_lines.filter(payout__state=Payout.State.PAID)
            assert worker.paid == (lines.aggregate(sum=Sum("amount"))["sum"] or 0)
            assert 0 <= worker.paid <= worker.earned
