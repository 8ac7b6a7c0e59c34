from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import ADULT
from marketplace.verbs import assignments, qualifications


@pytest.fixture
def three_answers(
    requester: Requester,
    worker: Worker,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    answer_hits: Any,
    now: datetime,
) -> list[Assignment]:
    """One approved, one rejected with a reason, one waiting."""
    for _ in range(4):
        make_hit(hit_type)
    approved, rejected, waiting = answer_hits(hit_type, worker, 3)
    assignments.approve(requester, approved.assignment_id, now, "Well done")
    assignments.reject(requester, rejected.assignment_id, now, "The text was not read")
    return [approved, rejected, waiting]


@pytest.mark.on_postgresql
def test_my_work_lists_every_answer_with_what_became_of_it(client: Client, three_answers: list[Assignment]) -> None:
    page = client.get("/worker/")
    for part in ("approved", "rejected", "waiting", "The text was not read", "Well done", "pays by"):
        assert part in page.text
    assert page.context["totals"] == {"submitted": 3, "approved": 1, "rejected": 1, "waiting": 1, "approval": 50}


@pytest.mark.parametrize(
    ("state", "statuses"),
    [
        ("", ["Submitted", "Rejected", "Approved"]),
        ("waiting", ["Submitted"]),
        ("approved", ["Approved"]),
        ("rejected", ["Rejected"]),
        ("nonsense", ["Submitted", "Rejected", "Approved"]),
    ],
)
def test_the_history_is_narrowed_to_a_state(
    client: Client, three_answers: list[Assignment], state: str, statuses: list[str]
) -> None:
    page = client.get(f"/worker/?state={state}")
    assert [row.status for row in page.context["page"].object_list] == statuses


def test_my_work_leads_back_to_a_hit_in_hand(client: Client, held: Assignment) -> None:
    page = client.get("/worker/").text
    assert f'href="/mturk/work/{held.pk}/"' in page
    assert f'action="/mturk/work/{held.pk}/return/"' in page


def test_my_work_shows_nothing_of_others(other_client: Client, three_answers: list[Assignment]) -> None:
    assert "Nothing submitted yet" in other_client.get("/worker/").text


def test_my_work_settles_what_has_become_due(client: Client, three_answers: list[Assignment], now: datetime) -> None:
    Assignment.objects.filter(pk=three_answers[2].pk).update(auto_approval_at=now - timedelta(seconds=1))
    assert client.get("/worker/").context["totals"]["waiting"] == 0


@pytest.mark.on_postgresql
def test_my_work_is_paged(
    client: Client, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit], answer_hits: Callable[..., Any]
) -> None:
    for _ in range(27):
        make_hit(hit_type)
    answer_hits(hit_type, worker, 27)
    assert len(client.get("/worker/?page=2").context["page"].object_list) == 2


@pytest.mark.on_postgresql
def test_earnings_add_up(client: Client, three_answers: list[Assignment]) -> None:
    page = client.get("/worker/earnings/")
    totals = page.context["totals"]
    assert (totals["approved"], totals["waiting"], totals["hourly"]) == (Decimal("0.50"), Decimal("0.50"), Decimal(50))
    assert totals["pays_first"] == three_answers[2].auto_approval_at
    (day,) = page.context["page"].object_list
    assert (day["count"], day["approved"], day["rejected"]) == (3, Decimal("0.50"), Decimal("0.50"))


def test_a_day_is_a_day_where_the_worker_lives(client: Client, three_answers: list[Assignment]) -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    Assignment.objects.update(submitted_at=late, accepted_at=late - timedelta(minutes=1))
    for zone, day in (("UTC", "Sun 1 Mar 2026"), ("Asia%2FTokyo", "Mon 2 Mar 2026")):
        client.cookies["tz"] = zone
        assert day in client.get("/worker/earnings/").text


def test_nothing_earned_is_said_calmly(client: Client) -> None:
    assert "Nothing earned yet" in client.get("/worker/earnings/").text


def test_qualifications_show_what_is_held_and_not_what_was_taken_away(
    client: Client, requester: Requester, worker: Worker, now: datetime
) -> None:
    for name in ("Trained", "Former"):
        kind = qualifications.create_type(requester, name=name, description="After a test", status="Active", now=now)
        qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now, value=88)
    qualifications.revoke(requester, kind.qualification_type_id, worker.worker_id, now)
    page = client.get("/worker/qualifications/").text
    assert "Trained" in page and "88" in page
    assert "Former" not in page
    assert "Counts as 100 %" in page


PROFILE = {
    "country": "US",
    "subdivision": "ca",
    "percent_approved_override": "97",
    "number_approved_override": "1200",
    "adult": "on",
    "masters": "on",
}


def test_in_a_sandbox_workers_set_what_requesters_ask_for(client: Client, worker: Worker) -> None:
    assert "Saved" in client.post("/worker/profile/", PROFILE, follow=True).text
    worker.refresh_from_db()
    assert (worker.country, worker.subdivision, worker.percent_approved, worker.number_approved) == (
        "US",
        "CA",
        97,
        1200,
    )
    assert worker.adult and worker.masters


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("percent_approved_override", "101"),
        ("country", "XX"),
        ("subdivision", "C-"),
        ("number_approved_override", "-1"),
    ],
)
def test_a_wrong_profile_changes_nothing(client: Client, worker: Worker, field: str, value: str) -> None:
    answer = client.post("/worker/profile/", PROFILE | {field: value})
    assert answer.status_code == 400
    assert answer.context["form"].errors.keys() == {field}
    worker.refresh_from_db()
    assert (worker.country, worker.percent_approved_override) == ("", None)


def test_a_worker_agrees_to_content_for_adults_and_takes_it_back(client: Client, worker: Worker, settings: Any) -> None:
    settings.MARKETPLACE_SANDBOX = False
    for shown, agreed, adult in (("I am an adult and agree", "yes", True), ("Show me none", "no", False)):
        assert shown in client.get("/worker/profile/").text
        assert client.post("/worker/profile/adult/", {"agreed": agreed}).headers["Location"] == "/worker/profile/"
        worker.refresh_from_db()
        assert (worker.adult, worker.system_standing(ADULT)) == (adult, int(adult))


def test_outside_a_sandbox_the_profile_is_only_read(client: Client, worker: Worker, settings: Any) -> None:
    settings.MARKETPLACE_SANDBOX = False
    assert "pretend" not in client.get("/worker/profile/").text
    assert client.post("/worker/profile/", PROFILE).status_code == 404
    worker.refresh_from_db()
    assert worker.country == ""
