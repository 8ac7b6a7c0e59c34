"""The books against the real marketplace: each difference is found, named, and told apart from what is under way."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import boto3
import pytest
from django.conf import settings as configured
from django.utils import timezone

from hits.answers.verbs import reviewing
from hits.core.jobs.leases import lease
from hits.models import Account, Assignment, Bonus, Compensation, Hit, Item, LedgerCheck, LedgerEntry, Stage
from hits.mturk.question import external_question
from hits.payments.rules.ledger import settle
from hits.payments.rules.ledger_differences import KINDS
from hits.payments.verbs import checking_ledger
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import publishing, sending
from tests.hits import factories as make
from tests.hits.record_project import fields

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = timedelta(days=2)


def compare(stage: Stage, **how: Any) -> LedgerCheck:
    found = checking_ledger.check(stage.project, None, **how)
    assert found.state == LedgerCheck.State.DONE, found.message
    return found


def faults(stage: Stage, **how: Any) -> list[tuple[str, str]]:
    """What differs for good, as (kind, subject)."""
    return [(one["kind"], one["subject"]) for one in compare(stage, **how).faults]


def in_flight(stage: Stage) -> list[str]:
    return [one["kind"] for one in compare(stage).in_flight if one["kind"] != "on_hold"]


def wire() -> Any:
    """The same account, used by another program."""
    return boto3.client("mturk", endpoint_url=configured.MTURK_ENDPOINT_URL, region_name="us-east-1")


@pytest.fixture
def live(market, bring, stage, publish) -> Stage:
    """Three published items, one answer wanted of each, approved by a lead."""
    Stage.objects.filter(pk=stage.pk).update(approval=Stage.Approval.REVIEW, auto_approval_seconds=86_400)
    stage.refresh_from_db()
    bring(3)
    publish(stage)
    # What has just been sent may differ for a while; these HITs are older.
    Hit.objects.update(attempted_at=timezone.now() - LONG_AGO)
    return stage


@pytest.fixture
def first(live) -> Hit:
    return live.hits.order_by("id").first()


def fetch(market: Any, hit: Hit, worker_id: str = "") -> Assignment:
    """Somebody answers the HIT, and its answer becomes a row; the HIT is closed with it."""
    held = market.answer(worker_id or market.sign_up_worker(), hit.hit_id, **fields(hit, "Linden"))
    remote = gateway().assignment(held.assignment_id)
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.CLOSED, harvested=1)
    return make.assignment(
        hit,
        make.worker(remote.worker_id),
        assignment_id=remote.assignment_id,
        state=remote.status,
        submitted_at=remote.submitted_at - LONG_AGO,
        auto_approval_at=remote.auto_approval_at,
    )


def test_books_that_agree_say_so_with_the_sums_of_both_sides(live):
    found = compare(live)
    assert (found.differences, found.total, found.done) == ([], 3, 3)
    assert found.finished_at is not None
    assert ["Held for open places: books, marketplace", "0.15", "0.15"] in found.figures
    assert ["On hold: all projects here, marketplace account", "0.15", "0.15"] in found.figures


def test_what_is_held_is_for_the_answers_that_are_not_paid_yet(live, first, market):
    answer = fetch(market, first)
    gateway().approve(answer.assignment_id)
    Assignment.objects.update(state=Assignment.State.APPROVED)
    assert ["Held for open places: books, marketplace", "0.10", "0.10"] in compare(live).figures


def test_an_answer_that_time_has_just_approved_is_in_flight_and_a_difference_later(live, first, market):
    answer = fetch(market, first)
    gateway().approve(answer.assignment_id)
    Assignment.objects.update(auto_approval_at=timezone.now() - timedelta(seconds=1))
    assert (in_flight(live), faults(live)) == (["deciding"], [])
    Assignment.objects.update(auto_approval_at=timezone.now() - LONG_AGO)
    assert faults(live) == [("state_differs", f"answer {answer.assignment_id}")]


def test_a_hit_that_is_listed_under_another_token_is_not_missing(live, first):
    Hit.objects.filter(pk=first.pk).update(token="another")
    assert faults(live) == [("unknown_hit", f"HIT {first.hit_id}")]


def test_hits_in_order_are_listed_and_not_read_one_by_one(live, monkeypatch):
    monkeypatch.setattr("hits.mturk.gateway.Gateway.hit", lambda *_: pytest.fail("read one by one"))
    monkeypatch.setattr("hits.mturk.gateway.Gateway.assignments", lambda *_: pytest.fail("read one by one"))
    assert faults(live) == []


def test_an_answer_that_waits_is_in_flight_and_forgotten_answers_are_a_difference(live, first, market, monkeypatch):
    market.answer(market.sign_up_worker(), first.hit_id, **fields(first, "Linden"))
    assert (in_flight(live), faults(live)) == (["answers_coming"], [])
    monkeypatch.setattr(checking_ledger, "PATIENCE", timedelta(0))
    assert faults(live) == [("answers_not_fetched", f"HIT {first.hit_id}")]


def test_an_answer_that_the_marketplace_does_not_know_is_named(live, first):
    stranger = make.assignment(first, state=Assignment.State.SUBMITTED)
    assert faults(live) == [("unknown_answer", f"answer {stranger.assignment_id}")]
    Assignment.objects.update(submitted_at=timezone.now())
    assert (in_flight(live), faults(live)) == (["unknown_answer"], [])


def test_an_answer_that_another_program_approved_is_named(live, first, market):
    answer = fetch(market, first)
    assert faults(live) == []
    wire().approve_assignment(AssignmentId=answer.assignment_id)
    found = compare(live)
    assert [(one["kind"], one["books"], one["marketplace"]) for one in found.faults] == [
        ("state_differs", "Submitted", "Approved")
    ]
    assert [one["kind"] for one in found.in_flight] == ["on_hold"]


def test_a_decision_that_is_about_to_be_sent_is_in_flight(live, first, market):
    answer = fetch(market, first)
    reviewing.approve(live, [answer.pk], None)
    wire().approve_assignment(AssignmentId=answer.assignment_id)
    assert (in_flight(live), faults(live)) == (["deciding"], [])


def test_an_approval_here_of_a_rejection_there_is_found_by_looking_at_every_answer(live, first, market):
    answer = fetch(market, first)
    wire().reject_assignment(AssignmentId=answer.assignment_id, RequesterFeedback="No.")
    answer.state = Assignment.State.APPROVED
    answer.save()
    live.project.account.post([settle(answer)])
    LedgerEntry.objects.update(created_at=timezone.now() - LONG_AGO)
    assert faults(live) == []
    assert faults(live, deep=True) == [("state_differs", f"answer {answer.assignment_id}")]


def _create_at_the_marketplace(stage: Stage, token: str, unique: str) -> str:
    made = wire().create_hit_with_hit_type(
        HITTypeId=stage.hit_type_id,
        Question=external_question("https://example.org/task"),
        MaxAssignments=1,
        LifetimeInSeconds=3600,
        RequesterAnnotation=token,
        UniqueRequestToken=unique,
    )
    return str(made["HIT"]["HITId"])


def test_a_second_hit_and_one_that_no_row_knows_are_named(live, first):
    second = _create_at_the_marketplace(live, first.token, "again")
    stranger = _create_at_the_marketplace(live, f"{live.project.namespace}.999999.1", "stranger")
    _create_at_the_marketplace(live, "another-program.1", "other")
    assert sorted(faults(live)) == [("second_hit", f"HIT {second}"), ("unknown_hit", f"HIT {stranger}")]


def test_a_hit_whose_row_does_not_know_yet_is_being_published(live, first):
    Hit.objects.filter(pk=first.pk).update(hit_id=None, state=Hit.State.SENT)
    assert (in_flight(live), faults(live)) == (["publishing"], [])
    Hit.objects.filter(pk=first.pk).update(state=Hit.State.REFUSED)
    assert ("unknown_hit", f"HIT {first.hit_id}") in faults(live)


def test_a_hit_that_is_not_there_is_named_and_waited_for_when_it_is_new(live, first):
    Hit.objects.filter(pk=first.pk).update(hit_id="3NOTTHERE")
    assert ("missing_hit", "HIT 3NOTTHERE") not in faults(live), "the mark is there, under another id"
    Hit.objects.filter(pk=first.pk).update(token="moved")
    assert ("missing_hit", "HIT 3NOTTHERE") in faults(live)
    Hit.objects.filter(pk=first.pk).update(attempted_at=timezone.now())
    assert "missing_hit" in in_flight(live)


def test_a_hit_that_another_program_deleted_is_named_and_one_cleared_away_is_not(live, first):
    sending.send(publishing.expire(live, None).pk)
    wire().delete_hit(HITId=first.hit_id)
    assert faults(live) == [("missing_hit", f"HIT {first.hit_id}")]
    Hit.objects.filter(pk=first.pk).update(deleted_at=timezone.now() - LONG_AGO)
    assert faults(live) == []
    kept = live.hits.order_by("id").last()
    Hit.objects.filter(pk=kept.pk).update(deleted_at=timezone.now() - LONG_AGO)
    assert faults(live) == [("cleared_hit", f"HIT {kept.hit_id}")]


def test_another_number_of_places_is_named(live, first):
    wire().create_additional_assignments_for_hit(HITId=first.hit_id, NumberOfAdditionalAssignments=2)
    found = compare(live)
    [places] = found.faults
    assert (places["kind"], places["books"], places["marketplace"]) == ("places", "1 place", "3 places")
    assert (places["stage"], places["item"]) == (live.key, first.item_id)


@pytest.fixture
def bonus(live, first, market) -> Bonus:
    """Paid on both sides, days ago."""
    answer = fetch(market, first)
    order = live.project.bonus_orders.create(confirmation="page", total=1, cost=Decimal("1.20"))
    row = order.bonuses.create(
        project=live.project,
        assignment=answer,
        worker=answer.worker,
        amount=Decimal("1.00"),
        fee=Decimal("0.20"),
        reason="Thank you",
        state=Bonus.State.PAID,
        paid_at=timezone.now() - LONG_AGO,
    )
    entry = LedgerEntry(kind=LedgerEntry.Kind.BONUS, paid=Decimal("1.20"), fee=Decimal("0.20"), bonus=row)
    live.project.account.post([entry])
    _pay(row)
    return row


def _pay(row: Bonus) -> None:
    gateway().send_bonus(row.worker.worker_id, row.assignment.assignment_id, row.amount, row.reason, row.token)


def test_a_bonus_paid_once_agrees_and_twice_is_named(live, bonus):
    assert ["Bonuses without fees: books, marketplace", "1.00", "1.00"] in compare(live).figures
    assert faults(live) == []
    wire().send_bonus(
        WorkerId=bonus.worker.worker_id,
        AssignmentId=bonus.assignment.assignment_id,
        BonusAmount="1.00",
        Reason="Thank you",
    )
    subject = f"bonus of $1.00 for answer {bonus.assignment.assignment_id}"
    assert faults(live) == [("bonus_twice", subject)]
    assert checking_ledger._bonus_kind(paid=1, coming=1, there=2) == "paying_bonus"


def test_a_bonus_that_another_program_paid_is_found_by_looking_at_every_hit(live, first, market):
    answer = fetch(market, first)
    wire().send_bonus(
        WorkerId=answer.worker.worker_id, AssignmentId=answer.assignment_id, BonusAmount="0.50", Reason="Well done"
    )
    assert faults(live) == []
    assert faults(live, deep=True) == [("bonus_unknown_here", f"bonus of $0.50 for answer {answer.assignment_id}")]


def test_a_bonus_that_is_not_there_is_named_unless_it_was_just_paid(live, bonus):
    Bonus.objects.update(amount=Decimal("0.70"), fee=Decimal("0.50"))
    assert {kind for kind, _ in faults(live)} == {"bonus_missing_there", "bonus_unknown_here"}
    Bonus.objects.update(paid_at=timezone.now())
    assert in_flight(live) == ["bonus_missing_there"]


def test_a_compensation_is_compared_with_its_hit(live):
    offer = Compensation.objects.create(
        project=live.project, worker_id="AWORKER", amount=Decimal("1.00"), fee=Decimal("0.20"), confirmation="page"
    )
    entry = LedgerEntry(kind=LedgerEntry.Kind.RESERVE, reserved=Decimal("1.20"), compensation=offer)
    live.project.account.post([entry])
    hit_id = _create_at_the_marketplace(live, offer.token, "offer")
    assert (in_flight(live), faults(live)) == (["compensating"], [])
    Compensation.objects.update(state=Compensation.State.OFFERED, hit_id=hit_id)
    assert (in_flight(live), faults(live)) == ([], [])
    Compensation.objects.update(state=Compensation.State.PAID, paid_at=timezone.now() - LONG_AGO)
    assert ("compensation_differs", f"compensation {offer.pk}") in faults(live)


def test_the_own_books_are_compared_when_the_marketplace_is_silent(live, settings):
    settings.MTURK_ENDPOINT_URL = "http://127.0.0.1:9"
    gateway.cache_clear()
    Account.objects.update(paid=Decimal("0.01"))
    found = checking_ledger.check(live.project, None)
    assert found.state == LedgerCheck.State.FAILED
    assert "Only the project's own books were compared" in found.message
    assert [one["kind"] for one in found.faults] == ["account_sums"]


def test_asking_while_one_is_under_way_gives_the_same(live):
    first = checking_ledger.begin(live.project, None)
    assert checking_ledger.begin(live.project, None).pk == first.pk
    assert checking_ledger.unfinished() == [first.pk]
    with lease(f"audit:{first.pk}"):
        assert checking_ledger.run(first.pk).state == LedgerCheck.State.RUNNING
    assert checking_ledger.run(first.pk).state == LedgerCheck.State.DONE
    assert checking_ledger.unfinished() == []
    assert checking_ledger.begin(live.project, None).pk != first.pk


def test_only_the_newest_checks_are_kept(live, monkeypatch):
    monkeypatch.setattr(checking_ledger, "KEPT", 3)
    pks = [compare(live).pk for _ in range(5)]
    assert list(live.project.ledger_checks.values_list("pk", flat=True)) == pks[:1:-1]


def test_at_most_so_many_differences_are_kept_and_the_rest_is_said(live, monkeypatch):
    monkeypatch.setattr(checking_ledger, "MOST", 1)
    LedgerEntry.objects.all().delete()
    found = compare(live)
    assert len(found.differences) == 1
    assert "there are more" in found.message


def test_a_check_changes_nothing_but_its_own_row(live, first, market):
    fetch(market, first)
    before = [list(model.objects.order_by("pk").values()) for model in (Hit, Assignment, LedgerEntry, Account, Item)]
    compare(live, deep=True)
    after = [list(model.objects.order_by("pk").values()) for model in (Hit, Assignment, LedgerEntry, Account, Item)]
    assert before == after


def test_every_kind_says_what_differs_and_what_to_do():
    for kind in KINDS.values():
        assert kind.title.endswith(".") and kind.remedy.endswith(".")
