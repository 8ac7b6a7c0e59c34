"""Bonuses, blocks, messages and review reports over the wire, with an unmodified client."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace import operations
from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.operations import paging
from marketplace.verbs import assignments, blocks, bonuses, clock
from tests.marketplace.conftest import QUESTION
from tests.marketplace.rules.test_review_policies import known, plurality

pytestmark = pytest.mark.on_postgresql


@pytest.fixture
def answer(mturk: Any, make_worker: Callable[..., Worker]) -> Callable[..., tuple[str, str]]:
    """A new worker submits an answer to a HIT: worker id and assignment id."""

    def make(hit: Hit, text: str = "a") -> tuple[str, str]:
        worker = make_worker(f"w{Worker.objects.count()}")
        held = assignments.accept(hit.hit_type, worker, clock.now(), hit)
        assignments.submit(held.assignment_id, {"Q1": [text]}, clock.now())
        return worker.worker_id, held.assignment_id

    return make


def refused(code: str, call: Callable[..., Any], **parameters: Any) -> str:
    """`code` is the kind of the refusal, or of a RequestError its TurkErrorCode; returns the message."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    response = caught.value.response
    kind = response["Error"]["Code"]
    assert code == (response["TurkErrorCode"].removeprefix("AWS.MechanicalTurk.") if kind == "RequestError" else kind)
    return str(response["Error"]["Message"])


def pages(call: Callable[..., Any], member: str, **parameters: Any) -> list[Any]:
    """All rows of a list, two at a time, to the empty page without a token."""
    found: list[Any] = []
    while True:
        page = call(MaxResults=2, **parameters)
        found += page[member]
        if "NextToken" not in page:
            assert page["NumResults"] == 0
            return found
        parameters["NextToken"] = page["NextToken"]


def test_a_page_of_long_answers_is_shorter(
    mturk: Any, make_hit: Any, hit_type: HitType, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = make_hit(hit_type, max_assignments=5)
    done = [answer(hit, text)[1] for text in ("a", "b" * 4000, "c", "d" * 4000, "e")]
    monkeypatch.setattr(paging, "MOST_ANSWER_BYTES", 4000)
    monkeypatch.setattr(paging, "ROWS_AT_ONCE", 2)
    first = mturk.list_assignments_for_hit(HITId=hit.hit_id, MaxResults=100)
    assert ([one["AssignmentId"] for one in first["Assignments"]], first["NumResults"]) == (done[:2], 2)
    listed = pages(mturk.list_assignments_for_hit, "Assignments", HITId=hit.hit_id)
    assert [one["AssignmentId"] for one in listed] == done


def test_bonuses_are_sent_and_listed(mturk: Any, make_hit: Any, hit_type: HitType, answer: Any) -> None:
    hit = make_hit(hit_type, max_assignments=2)
    (walter, first), (wilma, second) = answer(hit), answer(hit)
    for worker, done, amount in ((walter, first, "0.5"), (wilma, second, "0.01"), (walter, first, "2")):
        bonus = {"WorkerId": worker, "AssignmentId": done, "BonusAmount": amount, "Reason": f"for {amount}"}
        assert list(mturk.send_bonus(**bonus)) == ["ResponseMetadata"]
    listed = pages(mturk.list_bonus_payments, "BonusPayments", HITId=hit.hit_id)
    assert [(row["WorkerId"], row["BonusAmount"], row["Reason"]) for row in listed] == [
        (walter, "0.50", "for 0.5"),
        (wilma, "0.01", "for 0.01"),
        (walter, "2.00", "for 2"),
    ]
    listed = pages(mturk.list_bonus_payments, "BonusPayments", AssignmentId=second)
    assert [row["AssignmentId"] for row in listed] == [second]
    assert mturk.get_account_balance()["AvailableBalance"] == "9995.78"


def test_a_repeated_bonus_is_paid_once(mturk: Any, make_hit: Any, hit_type: HitType, answer: Any) -> None:
    worker, done = answer(make_hit(hit_type))
    bonus = {"WorkerId": worker, "AssignmentId": done, "BonusAmount": "1", "Reason": "r", "UniqueRequestToken": "b-1"}
    mturk.send_bonus(**bonus)
    text = refused("RequestAlreadyProcessed", mturk.send_bonus, **bonus)
    assert text.startswith('The idempotency token "b-1" has already been processed. (')


def test_a_wrong_bonus_is_refused(mturk: Any, make_hit: Any, hit_type: HitType, answer: Any) -> None:
    worker, done = answer(make_hit(hit_type))
    other, _ = answer(make_hit(hit_type))
    good = {"WorkerId": worker, "AssignmentId": done, "BonusAmount": "1", "Reason": "r"}
    for change, code in (
        ({"BonusAmount": "0.9752"}, "ValidationException"),
        ({"BonusAmount": "0.00"}, "ParameterValidationError"),
        ({"BonusAmount": "10000.01"}, "ParameterValidationError"),
        ({"Reason": ""}, "ParameterValidationError"),
        ({"WorkerId": other}, "ParameterValidationError"),
        ({"WorkerId": "A0"}, "ParameterValidationError"),
        ({"AssignmentId": "3NONE"}, "AssignmentDoesNotExist"),
        ({"BonusAmount": "9999"}, "InsufficientFunds"),
    ):
        refused(code, mturk.send_bonus, **(good | change))
    assert mturk.list_bonus_payments(AssignmentId=done)["BonusPayments"] == []


def test_a_list_of_bonuses_is_of_one_hit_or_of_one_assignment(mturk: Any, hit: Hit, connect: Any) -> None:
    call = mturk.list_bonus_payments
    refused("ParameterValidationError", call)
    refused("ParameterValidationError", call, HITId=hit.hit_id, AssignmentId="3A")
    refused("HITDoesNotExist", call, HITId="3NONE")
    refused("AssignmentDoesNotExist", call, AssignmentId="3NONE")
    refused("HITDoesNotExist", connect("bob").list_bonus_payments, HITId=hit.hit_id)


def test_bonuses_of_a_deleted_hit_are_still_listed(
    mturk: Any, make_hit: Any, hit_type: HitType, answer: Any, requester: Requester
) -> None:
    hit = make_hit(hit_type)
    worker, done = answer(hit)
    mturk.approve_assignment(AssignmentId=done)
    mturk.delete_hit(HITId=hit.hit_id)
    mturk.send_bonus(WorkerId=worker, AssignmentId=done, BonusAmount="1", Reason="late")
    assert len(mturk.list_bonus_payments(HITId=hit.hit_id)["BonusPayments"]) == 1


def test_blocks_are_made_listed_and_lifted(mturk: Any, make_worker: Any, connect: Any) -> None:
    ids = [make_worker(name).worker_id for name in "abc"]
    for worker_id in ids:
        mturk.create_worker_block(WorkerId=worker_id, Reason=f"about {worker_id}")
    listed = pages(mturk.list_worker_blocks, "WorkerBlocks")
    assert listed == [{"WorkerId": worker_id, "Reason": f"about {worker_id}"} for worker_id in ids]
    assert connect("bob").list_worker_blocks()["WorkerBlocks"] == []
    for _ in range(2):
        mturk.delete_worker_block(WorkerId=ids[0], Reason="better now")
    assert mturk.list_worker_blocks()["NumResults"] == 2


def test_who_cannot_be_written_to_is_named(mturk: Any, make_hit: Any, hit_type: HitType, answer: Any) -> None:
    worker, done = answer(make_hit(hit_type))
    stranger, _ = answer(make_hit(hit_type))
    mturk.approve_assignment(AssignmentId=done)
    told = {"Subject": "s", "MessageText": "m"}
    assert mturk.notify_workers(WorkerIds=[worker], **told)["NotifyWorkersFailureStatuses"] == []
    failed = mturk.notify_workers(WorkerIds=[worker, "A1", stranger, "A1"], **told)["NotifyWorkersFailureStatuses"]
    assert [(row["NotifyWorkersFailureCode"], row["WorkerId"]) for row in failed] == [
        ("HardFailure", "A1"),
        ("HardFailure", stranger),
    ]
    assert Worker.objects.get(worker_id=worker).unread_messages == 2
    many = {"WorkerIds": ["A1"] * 101} | told
    refused("ParameterValidationError", mturk.notify_workers, **many)


def test_a_review_is_reported_page_by_page(mturk: Any, hit_type: HitType, answer: Any) -> None:
    made = mturk.create_hit_with_hit_type(
        HITTypeId=hit_type.hit_type_id,
        LifetimeInSeconds=600,
        Question=QUESTION,
        MaxAssignments=2,
        AssignmentReviewPolicy=known(AnswerKey={"Q1": ["a"]}, RejectIfKnownAnswerScoreIsLessThan=50),
        HITReviewPolicy=plurality(QuestionIds=["Q1"], ApproveIfWorkerAgreementScoreIsAtLeast=100),
    )["HIT"]
    assert made["HITReviewStatus"] == "NotReviewed"
    hit = Hit.objects.select_related("hit_type").get(hit_id=made["HITId"])
    done = [answer(hit, "a")[1] for _ in range(2)]
    whole = mturk.list_review_policy_results_for_hit(HITId=hit.hit_id, MaxResults=100)
    assert whole["AssignmentReviewPolicy"] == {"PolicyName": "ScoreMyKnownAnswers/2011-09-01"}
    assert whole["HITReviewPolicy"] == {"PolicyName": "SimplePlurality/2011-09-01"}
    scores = [(r["SubjectId"], r["Key"], r["Value"]) for r in whole["AssignmentReviewReport"]["ReviewResults"]]
    assert scores[:2] == [(done[0], "KnownAnswerCorrect", "1"), (done[0], "KnownAnswerScore", "100")]
    took = [(r["ActionName"], r["TargetType"], r["Status"]) for r in whole["HITReviewReport"]["ReviewActions"]]
    assert took == [("review", "HIT", "Succeeded")] + [("approve", "Assignment", "Succeeded")] * 2
    assert {r.get("QuestionId") for r in whole["HITReviewReport"]["ReviewResults"]} == {"Q1", None}
    piecewise: dict[str, list[Any]] = {}
    parameters = {"HITId": hit.hit_id, "MaxResults": 3}
    while "NextToken" in (page := mturk.list_review_policy_results_for_hit(**parameters)):
        parameters["NextToken"] = page["NextToken"]
        for level in ("AssignmentReviewReport", "HITReviewReport"):
            for kind, rows in page[level].items():
                piecewise.setdefault(level + kind, []).extend(rows)
    assert piecewise == {
        level + kind: rows
        for level in ("AssignmentReviewReport", "HITReviewReport")
        for kind, rows in whole[level].items()
    }
    only = mturk.list_review_policy_results_for_hit(HITId=hit.hit_id, PolicyLevels=["HIT"], RetrieveActions=False)
    assert "AssignmentReviewReport" not in only
    assert only["HITReviewReport"]["ReviewActions"] == [] and only["HITReviewReport"]["ReviewResults"]


def test_a_hit_without_policies_has_an_empty_report(mturk: Any, hit: Hit, connect: Any) -> None:
    report = mturk.list_review_policy_results_for_hit(HITId=hit.hit_id)
    assert report["HITReviewReport"] == {"ReviewResults": [], "ReviewActions": []}
    assert "HITReviewPolicy" not in report and "NextToken" not in report
    call = connect("bob").list_review_policy_results_for_hit
    refused("HITDoesNotExist", call, HITId=hit.hit_id)


def test_a_faulty_policy_makes_no_hit(mturk: Any, hit_type: HitType) -> None:
    values = {"HITTypeId": hit_type.hit_type_id, "LifetimeInSeconds": 600, "Question": QUESTION}
    for policy in ({"HITReviewPolicy": known()}, {"AssignmentReviewPolicy": plurality()}):
        refused("ParameterValidationError", mturk.create_hit_with_hit_type, **values, **policy)
    assert mturk.list_hits()["HITs"] == []


def test_lists_cost_the_same_whatever_their_length(
    requester: Requester, make_hit: Any, hit_type: HitType, make_worker: Any, django_assert_num_queries: Any
) -> None:
    hit = make_hit(hit_type, max_assignments=9)
    for size in (1, 4):
        for _ in range(size):
            worker = make_worker(f"w{Worker.objects.count()}")
            held = assignments.accept(hit_type, worker, clock.now(), hit)
            assignments.submit(held.assignment_id, {"Q1": ["a"]}, clock.now())
            bonuses.pay(requester, worker.worker_id, held.assignment_id, Decimal(1), "r", clock.now())
            blocks.block(requester, worker.worker_id, "r", clock.now())
        for name, parameters, cost in (
            ("ListBonusPayments", {"HITId": hit.hit_id}, 2),
            ("ListWorkerBlocks", {}, 1),
            ("ListReviewPolicyResultsForHIT", {"HITId": hit.hit_id}, 5),
        ):
            with django_assert_num_queries(cost):
                operations.find(name)(operations.Call(name, requester, clock.now()), parameters)
