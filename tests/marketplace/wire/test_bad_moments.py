"""Calls that are well formed and come at the wrong time, twice, or about the wrong thing."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.verbs import assignments, layouts
from tests.fuzz.values import ANSWER_KEY, FORM
from tests.marketplace.conftest import QUESTION
from tests.marketplace.wire.test_contract import call

V, P, R = "ValidationException", "ParameterValidationError", "RequestError"
NEW = {"LifetimeInSeconds": 3600, "Question": QUESTION}
QUALIFICATION = {"Name": "Q", "Description": "d", "QualificationTypeStatus": "Active"}


@pytest.fixture
def refuses(client: Client, requester: Requester) -> Callable[..., str]:
    """The message of a refusal of the kind expected; `code` ends the TurkErrorCode when given."""

    def check(name: str, parameters: dict[str, Any], kind: str, code: str = "") -> str:
        status, body = call(client, name, parameters)
        assert (status, body["__type"]) == (400, kind), body
        assert body.get("TurkErrorCode", "").endswith(code)
        message: str = body["Message"]
        return message

    return check


@pytest.fixture
def submitted(hit: Hit, hit_type: HitType, worker: Worker, now: datetime) -> dict[str, str]:
    held = assignments.accept(hit_type, worker, now)
    assignments.submit(held.assignment_id, {"a": ["1"]}, now)
    return {"AssignmentId": held.assignment_id}


def test_a_used_token_names_its_hit_whatever_else_is_sent(refuses: Any, client: Client, hit_type: HitType) -> None:
    new = NEW | {"HITTypeId": hit_type.hit_type_id, "UniqueRequestToken": "t"}
    hit_id = call(client, "CreateHITWithHITType", new)[1]["HIT"]["HITId"]
    for change in (
        {},
        {"MaxAssignments": 7, "RequesterAnnotation": "other"},
        {"LifetimeInSeconds": 1, "Question": "x"},
    ):
        message = refuses("CreateHITWithHITType", new | change, R, "HITAlreadyExists")
        assert message.startswith(f'The HIT with ID "{hit_id}" already exists.')
    assert Hit.objects.count() == 1


def test_a_used_token_extends_and_pays_once(
    refuses: Any, client: Client, hit: Hit, submitted: Any, worker: Any
) -> None:
    more = {"HITId": hit.hit_id, "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "t"}
    bonus = submitted | {"WorkerId": worker.worker_id, "BonusAmount": "1", "Reason": "r", "UniqueRequestToken": "t"}
    for name, parameters in (("CreateAdditionalAssignmentsForHIT", more), ("SendBonus", bonus)):
        assert call(client, name, parameters)[0] == 200
        assert 'The idempotency token "t" has already been processed.' in refuses(name, parameters, R)


def test_an_unknown_hit_type_publishes_nothing(refuses: Any) -> None:
    refuses("CreateHITWithHITType", NEW | {"HITTypeId": "3NONE"}, R, "HITTypeDoesNotExist")
    assert not Hit.objects.exists()


def test_a_layout_without_all_its_values_is_refused(refuses: Any, requester: Any, hit_type: Any, now: datetime) -> None:
    layout = layouts.register(requester, "L", "<!doctype html><title>t</title><p>${text}</p>", now)
    about = {"HITTypeId": hit_type.hit_type_id, "LifetimeInSeconds": 60, "HITLayoutId": layout.layout_id}
    refuses("CreateHITWithHITType", about, P)
    assert not Hit.objects.exists()


def test_judging_twice_is_refused_in_every_order(refuses: Any, client: Client, submitted: dict[str, str]) -> None:
    reason = {"RequesterFeedback": "no"}
    assert call(client, "RejectAssignment", submitted | reason)[0] == 200
    for name, parameters in (("ApproveAssignment", submitted), ("RejectAssignment", submitted | reason)):
        assert "status of: Submitted" in refuses(name, parameters, R, "InvalidAssignmentState")
    assert call(client, "ApproveAssignment", submitted | {"OverrideRejection": True})[0] == 200
    for name, parameters in (("ApproveAssignment", submitted), ("RejectAssignment", submitted | reason)):
        assert "status of: Submitted" in refuses(name, parameters, R, "InvalidAssignmentState")


@pytest.mark.parametrize("too_late", ["after 30 days", "after deletion"])
def test_a_rejection_becomes_final(refuses: Any, client: Client, submitted: Any, hit: Hit, too_late: str) -> None:
    call(client, "RejectAssignment", submitted | {"RequesterFeedback": "no"})
    if too_late == "after deletion":
        assert call(client, "DeleteHIT", {"HITId": hit.hit_id})[0] == 200
    else:
        row = Assignment.objects.get()
        Assignment.objects.update(submitted_at=row.submitted_at - timedelta(days=31))  # type: ignore[operator]
    refuses("ApproveAssignment", submitted | {"OverrideRejection": True}, R, "InvalidAssignmentState")


def test_what_is_only_accepted_is_not_there_yet(refuses: Any, hit: Hit, hit_type: Any, worker: Any, now: Any) -> None:
    about = {"AssignmentId": assignments.accept(hit_type, worker, now).assignment_id}
    said = "This operation can be called with a status of: Reviewable,Approved,Rejected"
    assert said in refuses("GetAssignment", about, R, "InvalidAssignmentState")
    bonus = about | {"WorkerId": worker.worker_id, "BonusAmount": "1.00", "Reason": "r"}
    assert said in refuses("SendBonus", bonus, R, "InvalidAssignmentState")


def test_a_bonus_goes_to_the_worker_of_the_assignment(refuses: Any, submitted: Any, make_worker: Any) -> None:
    other = make_worker("olga")
    bonus = submitted | {"BonusAmount": "1.00", "Reason": "r"}
    refuses("SendBonus", bonus | {"WorkerId": other.worker_id}, P)
    refuses("SendBonus", bonus | {"WorkerId": other.worker_id, "AssignmentId": "3NONE"}, R, "AssignmentDoesNotExist")
    refuses("SendBonus", bonus | {"WorkerId": other.worker_id, "BonusAmount": "0.9752"}, V)
    other.refresh_from_db()
    assert other.earned == 0


def test_a_bonus_beyond_the_balance_is_refused(refuses: Any, submitted: Any, worker: Worker) -> None:
    bonus = submitted | {"WorkerId": worker.worker_id, "BonusAmount": "9000.00", "Reason": "r"}
    refuses("SendBonus", bonus, R, "InsufficientFunds")


def test_nine_never_become_ten(refuses: Any, make_hit: Any, hit_type: HitType) -> None:
    hit = make_hit(hit_type, max_assignments=9)
    more = {"HITId": hit.hit_id, "NumberOfAdditionalAssignments": 1}
    refuses("CreateAdditionalAssignmentsForHIT", more, R, "InvalidMaximumAssignmentsIncrease")


def test_a_hit_in_use_is_not_deleted_and_a_deleted_one_not_extended(refuses: Any, client: Client, hit: Hit) -> None:
    about = {"HITId": hit.hit_id}
    said = "This HIT is currently in the state 'Assignable'.  This operation can be called with a status of: Reviewing"
    assert said in refuses("DeleteHIT", about, R, "InvalidHITState")
    call(client, "UpdateExpirationForHIT", about | {"ExpireAt": 0})
    assert call(client, "DeleteHIT", about)[0] == 200
    assert "in the state 'Disposed'" in refuses("DeleteHIT", about, R, "InvalidHITState")
    refuses("CreateAdditionalAssignmentsForHIT", about | {"NumberOfAdditionalAssignments": 1}, R, "InvalidHITState")


def test_a_qualification_name_is_used_once(refuses: Any, client: Client) -> None:
    call(client, "CreateQualificationType", QUALIFICATION)
    said = refuses("CreateQualificationType", QUALIFICATION, R, "QualificationTypeAlreadyExists")
    assert said.startswith("You have already created a QualificationType with this name.")


@pytest.mark.parametrize(
    "change",
    [
        {"Test": FORM},
        {"Test": FORM, "TestDurationInSeconds": 60, "AutoGranted": True},
        {"Test": FORM, "TestDurationInSeconds": 60, "AnswerKey": "<AnswerKey/>"},
        {"Test": FORM, "TestDurationInSeconds": 60, "AnswerKey": ANSWER_KEY.replace(">q<", ">other<")},
    ],
    ids=["no duration", "granted by itself", "no answer key", "a key for another question"],
)
def test_a_qualification_test_must_fit_together(refuses: Any, change: dict[str, Any]) -> None:
    refuses("CreateQualificationType", QUALIFICATION | change, P)


def test_a_score_that_was_never_given_or_taken_away_is_not_there(refuses: Any, client: Client, worker: Worker) -> None:
    kind = call(client, "CreateQualificationType", QUALIFICATION)[1]["QualificationType"]["QualificationTypeId"]
    about = {"QualificationTypeId": kind, "WorkerId": worker.worker_id}
    assert "does not exist" in refuses("GetQualificationScore", about, R)
    call(client, "AssociateQualificationWithWorker", about)
    call(client, "DisassociateQualificationFromWorker", about)
    assert "operation can be called with a status of: Granted" in refuses("GetQualificationScore", about, R)


def test_a_token_of_another_list_continues_nothing(refuses: Any, client: Client) -> None:
    call(client, "CreateQualificationType", QUALIFICATION)
    token = call(client, "ListQualificationTypes", {"MustBeRequestable": True})[1]["NextToken"]
    refuses("ListHITs", {"NextToken": token}, R, "InvalidParameterValue")
    refuses("ListQualificationTypes", {"MustBeRequestable": False, "NextToken": token}, R, "InvalidParameterValue")


def test_a_letter_goes_to_a_hundred_workers_at_most(refuses: Any) -> None:
    letter = {"Subject": "s", "MessageText": "m", "WorkerIds": [f"A{n}" for n in range(101)]}
    refuses("NotifyWorkers", letter, P)
    refuses("NotifyWorkers", letter | {"WorkerIds": ["B1"]}, V)
    refuses("NotifyWorkers", letter | {"WorkerIds": ["A1"], "Subject": "s" * 201}, P)
    refuses("NotifyWorkers", letter | {"WorkerIds": ["A1"], "MessageText": "m" * 4097}, P)
