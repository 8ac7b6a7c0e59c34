"""Several HITs in hand: up to a limit, each with its time left, returned one by one or all at once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.verbs import assignments
from tests.marketplace.refusals import refused

pytestmark = pytest.mark.on_postgresql

Status = Assignment.Status


@pytest.fixture
def two_held(
    settings: Any, hit_type: HitType, make_hit: Callable[..., Hit], worker: Worker, now: datetime
) -> list[Assignment]:
    """Two of four HITs in Walter's hand, where two is the most."""
    settings.MARKETPLACE_QUEUE_LIMIT = 2
    for _ in range(4):
        make_hit(hit_type)
    return [assignments.accept(hit_type, worker, now) for _ in range(2)]


def start(client: Client, hit_type: HitType) -> Any:
    return client.post("/mturk/accept", {"groupId": hit_type.hit_group_id})


def test_one_more_than_the_limit_is_refused_with_what_to_do(
    client: Client, hit_type: HitType, two_held: list[Assignment]
) -> None:
    refused = start(client, hit_type)
    assert refused.status_code == 409
    assert "Submit or return one of yours" in refused.text
    assert Assignment.objects.count() == 2


def test_a_place_is_free_again_after_a_submit_and_after_a_return(
    client: Client, hit_type: HitType, two_held: list[Assignment], now: datetime
) -> None:
    assignments.submit(two_held[0].assignment_id, {"answer": ["x"]}, now)
    assert "/mturk/work/" in start(client, hit_type).headers["Location"]
    client.post(f"/mturk/work/{two_held[1].pk}/return/")
    assert "/mturk/work/" in start(client, hit_type).headers["Location"]


def test_overdue_work_takes_no_place(hit_type: HitType, worker: Worker, two_held: list[Assignment]) -> None:
    late = two_held[0].deadline + timedelta(seconds=1)
    assert assignments.accept(hit_type, worker, late).status == Status.ACCEPTED


def test_others_have_places_of_their_own(
    hit_type: HitType, two_held: list[Assignment], worker: Worker, other_worker: Worker, now: datetime
) -> None:
    assert assignments.accept(hit_type, other_worker, now).worker == other_worker
    with refused("ExceedsMaxAssignmentsPerWorker"):
        assignments.accept(hit_type, worker, now)


def test_a_hit_in_hand_is_opened_again_also_with_full_hands(
    client: Client, hit_type: HitType, two_held: list[Assignment]
) -> None:
    hit_id = two_held[0].hit.hit_id
    again = client.post("/mturk/accept", {"groupId": hit_type.hit_group_id, "hitId": hit_id})
    assert again.headers["Location"] == f"/mturk/work/{two_held[0].pk}/"


def test_my_work_tells_the_time_left_and_how_many_fit(client: Client, two_held: list[Assignment]) -> None:
    page = client.get("/worker/").text
    assert "2 of at most 2" in page
    assert page.count('data-warn-at="120"') == 2
    left = int(page.split('data-seconds-left="')[1].split('"')[0])
    assert 590 < left <= 600


def test_returning_all_asks_first_and_tells_how_many(client: Client, two_held: list[Assignment]) -> None:
    assert "Return 2 HITs?" in client.get("/worker/return-all/").text
    assert set(Assignment.objects.values_list("status", flat=True)) == {Status.ACCEPTED}
    assert "2 HITs returned" in client.post("/worker/return-all/", follow=True).text
    assert set(Assignment.objects.values_list("status", flat=True)) == {Status.RETURNED}
    assert client.get("/worker/return-all/").headers["Location"] == "/worker/"


def test_returning_all_returns_nobody_elses(other_client: Client, two_held: list[Assignment]) -> None:
    other_client.post("/worker/return-all/")
    assert set(Assignment.objects.values_list("status", flat=True)) == {Status.ACCEPTED}


def test_a_suspended_worker_finishes_but_takes_nothing_new(
    client: Client, hit_type: HitType, worker: Worker, two_held: list[Assignment], now: datetime
) -> None:
    Worker.objects.update(suspended_at=now)
    assert assignments.submit(two_held[0].assignment_id, {"answer": ["x"]}, now).status == Status.SUBMITTED
    refused = start(client, hit_type)
    assert refused.status_code == 403
    assert "What you have in hand you may finish" in refused.text
    listed = client.get("/").text
    assert "Your account is suspended" in listed and "/mturk/accept" not in listed
    assert client.get(f"/mturk/work/{two_held[1].pk}/").status_code == 200
