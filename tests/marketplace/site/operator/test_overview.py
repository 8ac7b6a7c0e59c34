from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.management.commands.tick import tick
from marketplace.models import Assignment, Hit, HitType, Notification, Requester, Worker
from marketplace.site.operator import queries
from marketplace.verbs import accounts, assignments, concerns, operators, payouts
from tests.marketplace.site.operator.conftest import text_of


def test_the_counts_are_those_of_this_moment(
    desk: Client, hit_type: HitType, make_hit: Callable[..., Hit], make_worker: Callable[..., Worker], now: datetime
) -> None:
    for _ in range(3):
        make_hit(hit_type)
    make_hit(hit_type, lifetime_seconds=30, now=now - timedelta(hours=1))
    first, second = make_worker("w1"), make_worker("w2")
    for worker in (first, second):
        held = assignments.accept(hit_type, worker, now)
    assignments.submit(held.assignment_id, {"answer": ["x"]}, now)
    said = text_of(desk.get("/operator/"))
    for words in (
        "HITs open 1",
        "Being worked on 1",
        "Waiting for review 1",
        "Workers active today 1",
        "1 in 24 hours",
    ):
        assert words in said
    assert text_of(desk.get("/operator/live/")).count("HITs open") == 1


def test_each_submission_falls_into_its_hour(
    hit_type: HitType, make_hit: Callable[..., Hit], worker: Worker, now: datetime
) -> None:
    at = now.replace(minute=30)
    for hours_ago in (0, 0, 5, 23, 24):
        held = assignments.accept(hit_type, worker, now, make_hit(hit_type))
        Assignment.objects.filter(pk=held.pk).update(status="Submitted", submitted_at=at - timedelta(hours=hours_ago))
    found = queries.hours(at)
    assert {23 - n: hour.submissions for n, hour in enumerate(found) if hour.submissions} == {0: 2, 5: 1, 23: 1}
    assert [hour.bar for hour in found if hour.submissions] == [50, 50, 100]


def test_what_needs_somebody_is_listed_and_nothing_else(
    desk: Client, requester: Requester, worker: Worker, hit: Hit, now: datetime
) -> None:
    tick()
    assert "Nothing waits for you" in text_of(desk.get("/operator/"))
    operators.beat("tick", now - timedelta(minutes=2))
    concerns.report(worker, hit, "broken", "", now)
    poor = accounts.create_requester("Bob", Decimal("0.50"), now).requester
    Notification.objects.create(
        requester=poor, transport="SNS", destination="x", body="{}", created_at=now, due_at=now, done_at=now
    )
    said = text_of(desk.get("/operator/"))
    for words in ("The clock stands still", "1 open report", "Out of funds: Bob", "could not be delivered: 1"):
        assert words in said
    assert "Alice" not in said


def test_a_notification_that_was_given_up_is_sent_again(desk: Client, requester: Requester, now: datetime) -> None:
    given_up = Notification.objects.create(
        requester=requester, transport="SNS", destination="arn:x", body="{}", created_at=now, due_at=now, done_at=now
    )
    assert "arn:x" in text_of(desk.get("/operator/notifications/"))
    again = f"/operator/notifications/{given_up.pk}/again/"
    assert "sent again within moments" in text_of(desk.post(again, follow=True))
    assert desk.post(again).status_code == 409
    assert "arn:x" in text_of(desk.get("/operator/notifications/?state=waiting"))


# Session, user and whether the user has a second factor are three of each.
PAGES = {
    "/operator/": 14,
    "/operator/requesters/": 5,
    "/operator/requesters/{requester}/": 12,
    "/operator/requesters/{requester}/money/": 5,
    "/operator/workers/?q=w": 5,
    "/operator/workers/{worker}/": 10,
    "/operator/owed/": 7,
    "/operator/payouts/": 5,
    "/operator/payouts/{payout}/": 7,
    "/operator/concerns/": 5,
    "/operator/log/": 5,
}


@pytest.fixture
def grow(
    operator: Any,
    requester: Requester,
    make_worker: Callable[..., Worker],
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    now: datetime,
) -> Callable[[int], dict[str, Any]]:
    def make(size: int) -> dict[str, Any]:
        for number in range(size):
            worker = make_worker(f"w{size}-{number}", earned=Decimal("3.00"))
            held = assignments.accept(hit_type, worker, now, make_hit(hit_type))
            assignments.submit(held.assignment_id, {"answer": ["x"]}, now)
            concerns.report(worker, held.hit, "broken", "", now)
            accounts.add_key(requester)
            with operators.act(operator, "Looked", now, requester=requester, worker=worker):
                pass
        payout = payouts.draft(operator, payouts.owing(), "all", now)
        return {"requester": requester.customer_id, "worker": worker.worker_id, "payout": payout.pk}

    return make


@pytest.mark.parametrize("path", PAGES)
def test_the_number_of_queries_does_not_grow(
    desk: Client, grow: Callable[[int], dict[str, Any]], django_assert_num_queries: Any, path: str
) -> None:
    for size in (1, 8):
        address = path.format(**grow(size))
        with django_assert_num_queries(PAGES[path]):
            assert desk.get(address).status_code == 200
