"""Review policies at work: what is approved, rejected, extended and written down, and that it happens once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from marketplace.models import Assignment, Hit, HitType, Requester, ReviewLine
from marketplace.verbs import accounts, assignments, bonuses, hits, messages, reviews
from tests.marketplace.conftest import QUESTION
from tests.marketplace.rules.test_review_policies import known, plurality
from tests.marketplace.verbs.test_concurrency import at_once

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def answer(make_worker: Callable[..., Any], hit_type: HitType, now: datetime) -> Callable[..., Assignment]:
    """Submit an answer to a HIT by a new worker; returns the assignment as it is afterwards."""

    def make(hit: Hit, text: str, at: datetime = now) -> Assignment:
        worker = make_worker(f"w{Assignment.objects.count()}")
        held = assignments.accept(hit.hit_type, worker, at, hit)
        assignments.submit(held.assignment_id, {"q1": [text]}, at)
        held.refresh_from_db()
        return held

    return make


def lines(hit: Hit, **wanted: Any) -> list[tuple[str, str]]:
    return list(ReviewLine.objects.filter(hit=hit, **wanted).order_by("pk").values_list("name", "value"))


def actions(hit: Hit) -> list[tuple[str, str, str]]:
    rows = ReviewLine.objects.filter(hit=hit, kind="action").order_by("pk")
    return list(rows.values_list("name", "status", "error_code"))


def fresh(hit: Hit) -> Hit:
    return Hit.objects.select_related("hit_type").get(pk=hit.pk)


SCORED = known(
    ApproveIfKnownAnswerScoreIsAtLeast=100,
    ApproveReason="Right",
    RejectIfKnownAnswerScoreIsLessThan=100,
    RejectReason="Read again",
    ExtendIfKnownAnswerScoreIsLessThan=100,
    ExtendMaximumAssignments=3,
    ExtendMinimumTimeInSeconds=7200,
)


def test_a_right_answer_is_approved_at_once(make_hit: Any, hit_type: HitType, answer: Any, requester: Any) -> None:
    hit = make_hit(hit_type, assignment_review_policy=SCORED)
    done = answer(hit, " B ")
    assert (done.status, done.requester_feedback) == ("Approved", "Right")
    assert lines(hit) == [
        ("KnownAnswerCorrect", "1"),
        ("KnownAnswerScore", "100"),
        ("review", "Reviewed 1 known answer; 1/1 correct"),
        ("approve", "Approved"),
    ]
    requester.refresh_from_db()
    assert (requester.charged, requester.held) == (Decimal("0.60"), 0)


def test_a_wrong_answer_is_rejected_and_the_hit_offered_once_more(
    make_hit: Any, hit_type: HitType, answer: Any, requester: Requester, now: datetime
) -> None:
    hit = make_hit(hit_type, assignment_review_policy=SCORED)
    done = answer(hit, "A")
    assert (done.status, done.requester_feedback) == ("Rejected", "Read again")
    assert actions(hit)[1:] == [("reject", "Succeeded", ""), ("extend", "Succeeded", "")]
    hit = fresh(hit)
    assert (hit.max_assignments, hit.available, hit.state) == (2, 1, "Assignable")
    assert hit.expires_at == now + timedelta(seconds=7200)
    requester.refresh_from_db()
    assert (requester.charged, requester.held) == (0, Decimal("0.60"))


def test_a_hit_is_extended_no_further_than_asked(make_hit: Any, hit_type: HitType, answer: Any) -> None:
    hit = make_hit(hit_type, max_assignments=2, assignment_review_policy=SCORED)
    for _ in range(3):
        answer(hit, "A")
    assert fresh(hit).max_assignments == 3
    assert lines(hit, name="extend")[-1] == ("extend", "Already at the maximum of 3 assignments")


def test_what_cannot_be_paid_or_done_is_a_failed_action_and_the_answer_is_kept(
    make_hit_type: Any, answer: Any, now: datetime
) -> None:
    poor = accounts.create_requester("Poor", Decimal("0.60"), now).requester
    policy = known(ExtendIfKnownAnswerScoreIsLessThan=101)
    kind = make_hit_type(requester=poor)
    hit = hits.create(
        poor, kind, question=QUESTION, max_assignments=1, lifetime_seconds=60, now=now, assignment_review_policy=policy
    )
    assert answer(hit, "A").status == "Submitted"
    assert actions(hit)[1:] == [("extend", "Failed", "AWS.MechanicalTurk.InsufficientFunds")]
    assert fresh(hit).max_assignments == 1
    poor.refresh_from_db()
    assert poor.held == Decimal("0.60")


def test_nine_assignments_never_become_ten(make_hit: Any, hit_type: HitType, answer: Any) -> None:
    policy = known(ExtendIfKnownAnswerScoreIsLessThan=101, ExtendMaximumAssignments=25)
    hit = make_hit(hit_type, max_assignments=9, assignment_review_policy=policy)
    answer(hit, "A")
    assert actions(hit)[1:] == [("extend", "Failed", "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease")]


def test_a_policy_comes_before_approval_without_delay(make_hit: Any, make_hit_type: Any, answer: Any) -> None:
    kind = make_hit_type(auto_approval_delay_seconds=0)
    hit = make_hit(kind, max_assignments=3, assignment_review_policy=SCORED)
    assert answer(hit, "A").status == "Rejected"
    neutral = make_hit(kind, assignment_review_policy=known())
    assert answer(neutral, "A").status == "Approved"


AGREED = plurality(ApproveIfWorkerAgreementScoreIsAtLeast=100, RejectIfWorkerAgreementScoreIsLessThan=100)


def test_the_majority_is_approved_and_the_rest_rejected(make_hit: Any, hit_type: HitType, answer: Any) -> None:
    hit = make_hit(hit_type, max_assignments=3, hit_review_policy=AGREED)
    done = [answer(hit, text) for text in ("a", "b")]
    assert not ReviewLine.objects.exists()
    done.append(answer(hit, "a"))
    assert [Assignment.objects.get(pk=row.pk).status for row in done] == ["Approved", "Rejected", "Approved"]
    assert lines(hit, subject_type="HIT") == [
        ("AgreedAnswerFound", "true"),
        ("AgreedAnswer", "a"),
        ("AnswerAgreementScore", "66"),
        ("HitAgreementScore", "100"),
        ("review", "Compared 3 answers; agreed on 1 of 1 questions"),
    ]
    assert lines(hit, subject_id=done[1].assignment_id, kind="result") == [
        ("WorkerAgreementScore", "0"),
        ("PluralityAnswersCorrect", "0"),
        ("PluralityAnswersIncorrect", "1"),
    ]
    assert fresh(hit).review_due is False


def test_without_agreement_one_more_worker_is_asked_and_then_all_are_compared_again(
    make_hit: Any, hit_type: HitType, answer: Any, requester: Requester
) -> None:
    extend = {"ExtendMaximumAssignments": 3, "ExtendMinimumTimeInSeconds": 60}
    policy = plurality(ExtendIfHITAgreementScoreIsLessThan=100, ApproveIfWorkerAgreementScoreIsAtLeast=100, **extend)
    hit = make_hit(hit_type, max_assignments=2, hit_review_policy=policy)
    for text in ("a", "b"):
        answer(hit, text)
    assert (fresh(hit).max_assignments, fresh(hit).state) == (3, "Assignable")
    answer(hit, "b")
    assert [value for _, value in lines(hit, name="HitAgreementScore")] == ["0", "100"]
    states = Assignment.objects.filter(hit=hit).order_by("pk").values_list("status", flat=True)
    assert list(states) == ["Submitted", "Approved", "Approved"]
    requester.refresh_from_db()
    assert (requester.charged, requester.held) == (Decimal("1.20"), Decimal("0.60"))


def test_expiry_brings_the_policy_about_once(make_hit: Any, hit_type: HitType, answer: Any, now: datetime) -> None:
    hit = make_hit(hit_type, max_assignments=3, hit_review_policy=AGREED)
    done = answer(hit, "a")
    late = hit.expires_at + timedelta(seconds=1)
    for _ in range(2):
        assignments.sweep(late)
    done.refresh_from_db()
    assert done.status == "Approved"
    assert len(lines(hit, name="review")) == 1


def test_ending_a_hit_by_hand_brings_it_about_too(mturk: Any, make_hit: Any, hit_type: HitType, answer: Any) -> None:
    hit = make_hit(hit_type, max_assignments=3, hit_review_policy=AGREED)
    done = answer(hit, "a")
    mturk.update_expiration_for_hit(HITId=hit.hit_id, ExpireAt=0)
    done.refresh_from_db()
    assert done.status == "Approved"


def test_without_an_answer_nothing_is_compared(make_hit: Any, hit_type: HitType) -> None:
    hit = make_hit(hit_type, hit_review_policy=AGREED)
    assignments.sweep(hit.expires_at)
    assert not ReviewLine.objects.exists() and fresh(hit).review_due is False


def test_what_was_judged_before_is_reported_as_it_is(
    make_hit: Any, hit_type: HitType, answer: Any, requester: Requester, now: datetime
) -> None:
    hit = make_hit(hit_type, max_assignments=3, hit_review_policy=AGREED)
    approved, rejected = answer(hit, "a"), answer(hit, "a")
    assignments.approve(requester, approved.assignment_id, now)
    assignments.reject(requester, rejected.assignment_id, now, "no")
    answer(hit, "b")
    assert lines(hit, name="approve") == [
        ("approve", "Already approved"),
        ("approve", "This operation can be called with a status of: Submitted"),
    ]
    failed = ReviewLine.objects.get(hit=hit, status="Failed")
    assert (failed.subject_id, failed.error_code) == (
        rejected.assignment_id,
        "AWS.MechanicalTurk.InvalidAssignmentState",
    )


def test_disregarded_answers_are_neither_counted_nor_judged(
    make_hit: Any, hit_type: HitType, answer: Any, requester: Requester, now: datetime
) -> None:
    policy = plurality(
        DisregardAssignmentIfRejected="T",
        DisregardAssignmentIfKnownAnswerScoreIsLessThan=100,
        ApproveIfWorkerAgreementScoreIsAtLeast=100,
    )
    key = known(AnswerKey={"q1": ["a"]})
    hit = make_hit(hit_type, max_assignments=3, hit_review_policy=policy, assignment_review_policy=key)
    rejected = answer(hit, "a")
    assignments.reject(requester, rejected.assignment_id, now, "no")
    wrong, right = answer(hit, "b"), answer(hit, "a")
    wrong.refresh_from_db()
    assert (wrong.status, Assignment.objects.get(pk=right.pk).status) == ("Submitted", "Approved")
    assert lines(hit, level="HIT", name="review") == [("review", "Compared 1 answers; agreed on 1 of 1 questions")]


def test_the_clock_finishes_a_review_that_a_crash_has_left(
    make_hit: Any, hit_type: HitType, answer: Any, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = make_hit(hit_type, hit_review_policy=AGREED)
    monkeypatch.setattr(reviews, "run_if_due", lambda *args: None)
    done = answer(hit, "a")
    assert fresh(hit).review_due and done.status == "Submitted"
    assert (reviews.run_due(now), reviews.run_due(now)) == (1, 0)
    done.refresh_from_db()
    assert done.status == "Approved"


@pytest.mark.django_db(transaction=True)
def test_many_who_come_to_review_do_it_once(
    make_hit: Any, hit_type: HitType, answer: Any, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = make_hit(hit_type, max_assignments=2, hit_review_policy=AGREED)
    with monkeypatch.context() as patch:
        patch.setattr(reviews, "run_if_due", lambda *args: None)
        for _ in range(2):
            answer(hit, "a")
    assert sum(at_once([lambda: reviews.run(hit.pk, now) for _ in range(6)])) == 1
    assert len(lines(hit, name="review")) == 1


@pytest.mark.django_db(transaction=True)
def test_reviews_bonuses_and_messages_about_the_same_workers_never_wait_in_a_circle(
    make_hit: Any, hit_type: HitType, make_worker: Any, requester: Requester, now: datetime
) -> None:
    policy = plurality(ApproveIfWorkerAgreementScoreIsAtLeast=100, RejectIfWorkerAgreementScoreIsLessThan=100)
    crowd = [make_worker(f"w{number}") for number in range(3)]
    made = [make_hit(hit_type, max_assignments=4, hit_review_policy=policy) for _ in range(3)]
    done = []
    for turn, hit in enumerate(made):
        for worker in crowd[turn:] + crowd[:turn]:
            held = assignments.accept(hit_type, worker, now, hit)
            done.append((worker, assignments.submit(held.assignment_id, {"q1": ["a"]}, now)))
    Hit.objects.update(expires_at=now, state="Reviewable", review_due=True)
    ids = [worker.worker_id for worker in crowd]
    works: list[Callable[[], Any]] = [lambda hit=hit: reviews.run(hit.pk, now) for hit in made]
    works += [lambda: messages.notify(requester, list(reversed(ids)), "s", "t", now)] * 2
    for worker, row in done:
        key = (worker.worker_id, row.assignment_id)
        works.append(lambda key=key: bonuses.pay(requester, *key, Decimal("0.01"), "r", now, key[1]))
    assert sum(result is True for result in at_once(works)) == 3
    requester.refresh_from_db()
    assert requester.charged == 9 * Decimal("0.60") + 9 * Decimal("0.02")
