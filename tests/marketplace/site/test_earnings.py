"""What a worker has earned, is owed and was paid."""

import csv
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, BonusPayment, Hit, HitType, Payout, PayoutLine, Requester, Worker
from marketplace.verbs import assignments, bonuses

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def bonus(
    requester: Requester,
    worker: Worker,
    make_hit_type: Callable[..., HitType],
    make_hit: Callable[..., Hit],
    answer_hits: Callable[..., Any],
    now: datetime,
) -> BonusPayment:
    """One approved answer of 50 cents, and 25 cents on top."""
    kind = make_hit_type(title="=1+1")
    make_hit(kind)
    (done,) = answer_hits(kind, worker, 1)
    assignments.approve(requester, done.assignment_id, now, "Thank you")
    return bonuses.pay(requester, worker.worker_id, done.assignment_id, Decimal("0.25"), "Very careful", now)


@pytest.fixture
def payment(worker: Worker, bonus: BonusPayment, now: datetime) -> PayoutLine:
    """60 of the 75 cents are paid out; a draft of a second payment is not."""
    run = Payout.objects.create(state=Payout.State.PAID, workers=1, total="0.60", created_at=now, paid_at=now)
    draft = Payout.objects.create(workers=1, total="0.15", created_at=now)
    PayoutLine.objects.create(payout=draft, worker=worker, amount=Decimal("0.15"))
    Worker.objects.filter(pk=worker.pk).update(paid=Decimal("0.60"))
    return PayoutLine.objects.create(payout=run, worker=worker, amount=Decimal("0.60"))


def test_a_bonus_counts_beside_the_reward(client: Client, bonus: BonusPayment) -> None:
    page = client.get("/worker/earnings/")
    totals = page.context["totals"]
    assert (totals["approved"], totals["bonus"], totals["hourly"]) == (Decimal("0.50"), Decimal("0.25"), Decimal(75))
    (day,) = page.context["page"].object_list
    assert (day["approved"], day["bonus"]) == (Decimal("0.50"), Decimal("0.25"))
    for address in ("/worker/earnings/?view=bonuses", "/worker/"):
        text = client.get(address).text
        assert "Very careful" in text and "$0.25" in text


def test_a_day_with_nothing_but_a_bonus_is_a_day(client: Client, bonus: BonusPayment) -> None:
    earlier = datetime(2026, 3, 1, 12, tzinfo=UTC)
    Assignment.objects.update(submitted_at=earlier, accepted_at=earlier - timedelta(minutes=1))
    days = client.get("/worker/earnings/").context["page"].object_list
    assert [(day["count"], day["bonus"]) for day in days] == [(0, Decimal("0.25")), (1, Decimal("0.00"))]


def test_what_is_owed_is_what_was_earned_and_not_paid(client: Client, payment: PayoutLine) -> None:
    page = client.get("/worker/earnings/?view=payments").text
    assert 'Owed to you</dt><dd class="num">$0.15' in page
    assert page.count('<td class="n">$0.60') == 1


def test_nothing_of_others_is_shown(other_client: Client, payment: PayoutLine) -> None:
    assert "No bonuses yet" in other_client.get("/worker/earnings/?view=bonuses").text
    assert "Nothing paid out yet" in other_client.get("/worker/earnings/?view=payments").text
    assert len(table(other_client)) == 1


def table(client: Client) -> list[list[str]]:
    answer = client.get("/worker/earnings/csv/")
    assert answer.headers["Content-Type"].startswith("text/csv")
    content = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    return list(csv.reader(StringIO(content)))


def test_the_file_has_every_movement_and_no_formula(client: Client, payment: PayoutLine) -> None:
    columns, *rows = table(client)
    amount = columns.index("Amount (USD)")
    assert [(row[1], row[amount]) for row in rows] == [("answer", "0.50"), ("bonus", "0.25"), ("payment", "0.60")]
    assert rows[0][columns.index("HIT")] == "'=1+1"


@pytest.mark.parametrize("view", ["days", "bonuses", "payments", "nonsense"])
def test_every_view_is_empty_calmly(client: Client, view: str) -> None:
    page = client.get(f"/worker/earnings/?view={view}")
    assert page.status_code == 200
    assert "yet" in page.text
