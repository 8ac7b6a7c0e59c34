"""What requesters' programs do with boto3, against a running marketplace that checks their signatures."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from lxml import etree

from marketplace.models import Assignment, HitType, Requester, Worker
from marketplace.verbs import accounts, qualification_requests
from marketplace.wire import contract
from tests.marketplace.conftest import QUESTION, boto3_client

pytestmark = pytest.mark.on_postgresql

TYPE = {"Title": "T", "Description": "D", "Keywords": "a,b", "Reward": "0.05", "AssignmentDurationInSeconds": 600}
FORM = (
    '<QuestionForm xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2017-11-06/'
    'QuestionForm.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier><QuestionContent><Text>Why?</Text>'
    "</QuestionContent><AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question></QuestionForm>"
)
NOTIFICATION = {
    "Destination": "https://sqs.us-east-1.amazonaws.com/123456789012/answers",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
}
seen: set[str] = set()


@pytest.fixture
def mturk(market: str, requester: Requester) -> Any:
    client = boto3_client(market)
    client.meta.events.register("before-call.mturk", lambda model, **kwargs: seen.add(model.name))
    return client


@pytest.fixture
def publish(mturk: Any) -> Callable[..., dict[str, Any]]:
    def make(**values: Any) -> dict[str, Any]:
        return mturk.create_hit(**TYPE | {"LifetimeInSeconds": 3600, "Question": QUESTION} | values)["HIT"]

    return make


@pytest.fixture
def work(answered: Any, make_worker: Callable[..., Worker]) -> Callable[..., list[Assignment]]:
    """As many new workers as asked for answer the HITs of a type."""

    def make(hit: dict[str, Any], count: int = 1) -> list[Assignment]:
        kind = HitType.objects.get(hit_type_id=hit["HITTypeId"])
        first = Worker.objects.count()
        return [answered(kind, make_worker(f"w{first + n}"), f"é {n}") for n in range(count)]

    return make


def refusal(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """TurkErrorCode without its prefix, and message, of a call that must be refused."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    response = caught.value.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return response["TurkErrorCode"].removeprefix("AWS.MechanicalTurk."), response["Error"]["Message"]


def only_metadata(answer: dict[str, Any]) -> bool:
    return list(answer) == ["ResponseMetadata"]


def test_a_type_is_made_once_and_hits_are_published(mturk: Any, publish: Any) -> None:
    assert mturk.get_account_balance()["AvailableBalance"] == "10000.00"
    type_id = mturk.create_hit_type(**TYPE)["HITTypeId"]
    assert mturk.create_hit_type(**TYPE)["HITTypeId"] == type_id
    assert mturk.create_hit_type(**TYPE | {"Reward": "0.06"})["HITTypeId"] != type_id
    made = {"HITTypeId": type_id, "LifetimeInSeconds": 60, "Question": QUESTION, "UniqueRequestToken": "t"}
    hit = mturk.create_hit_with_hit_type(**made, MaxAssignments=2)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"], hit["MaxAssignments"]) == ("Assignable", 2, 2)
    assert hit["CreationTime"].tzinfo is not None
    with pytest.raises(mturk.exceptions.RequestError) as caught:
        mturk.create_hit_with_hit_type(**made)
    assert caught.value.response["TurkErrorCode"].endswith("HITAlreadyExists")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert refusal(mturk.get_hit, HITId="3UNKNOWN")[0] == "HITDoesNotExist"
    assert publish()["HITTypeId"] == type_id
    assert len({hit["HITId"] for page in mturk.get_paginator("list_hits").paginate() for hit in page["HITs"]}) == 2


def test_answers_are_listed_judged_and_paid(mturk: Any, publish: Any, work: Any) -> None:
    hit = publish(MaxAssignments=3)
    about = {"HITId": hit["HITId"]}
    work(hit, 3)
    assert mturk.get_hit(**about)["HIT"]["HITStatus"] == "Reviewable"
    found = mturk.list_reviewable_hits(HITTypeId=hit["HITTypeId"], Status="Reviewable", MaxResults=100)["HITs"]
    assert [row["HITId"] for row in found] == [hit["HITId"]]
    pages = mturk.get_paginator("list_assignments_for_hit").paginate(**about, PaginationConfig={"PageSize": 2})
    rows = [row for page in pages for row in page["Assignments"]]
    assert len(rows) == 3
    form = etree.fromstring(rows[0]["Answer"].encode())
    assert [node.text for node in form.iter("{*}FreeText")] == ["é 0"]
    assert mturk.list_assignments_for_hit(**about, AssignmentStatuses=["Approved"])["NumResults"] == 0
    assert mturk.get_assignment(AssignmentId=rows[0]["AssignmentId"])["HIT"]["HITId"] == hit["HITId"]


def test_judging_and_deleting(mturk: Any, publish: Any, work: Any) -> None:
    hit = publish(MaxAssignments=2)
    first, second = ({"AssignmentId": row.assignment_id} for row in work(hit, 2))
    assert only_metadata(mturk.approve_assignment(**first))
    assert refusal(mturk.approve_assignment, **first)[0] == "InvalidAssignmentState"
    assert refusal(mturk.delete_hit, HITId=hit["HITId"])[0] == "InvalidHITState"
    assert only_metadata(mturk.reject_assignment(**second, RequesterFeedback="no"))
    assert refusal(mturk.approve_assignment, **second)[0] == "InvalidAssignmentState"
    mturk.approve_assignment(**second, OverrideRejection=True)
    assert mturk.get_assignment(**second)["Assignment"]["AssignmentStatus"] == "Approved"
    mturk.update_hit_review_status(HITId=hit["HITId"])
    assert mturk.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewing"
    mturk.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    assert mturk.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    assert only_metadata(mturk.delete_hit(HITId=hit["HITId"]))
    assert [page["HITs"] for page in mturk.get_paginator("list_hits").paginate()] == [[]]


def test_extending_and_ending(mturk: Any, publish: Any) -> None:
    hit = publish()
    about = {"HITId": hit["HITId"]}
    more = {"NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "x"}
    assert only_metadata(mturk.create_additional_assignments_for_hit(**about, **more))
    assert "has already been processed" in refusal(mturk.create_additional_assignments_for_hit, **about, **more)[1]
    assert mturk.get_hit(**about)["HIT"]["MaxAssignments"] == 3
    other = mturk.create_hit_type(**TYPE | {"Title": "Another"})["HITTypeId"]
    assert only_metadata(mturk.update_hit_type_of_hit(**about, HITTypeId=other))
    assert mturk.get_hit(**about)["HIT"]["Title"] == "Another"
    assert only_metadata(mturk.update_expiration_for_hit(**about, ExpireAt=0))
    assert mturk.get_hit(**about)["HIT"]["HITStatus"] == "Reviewable"
    mturk.update_expiration_for_hit(**about, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))


def test_paying_and_writing_to_workers(mturk: Any, publish: Any, work: Any) -> None:
    hit = publish()
    (done,) = work(hit)
    worker_id = done.worker.worker_id
    mturk.approve_assignment(AssignmentId=done.assignment_id)
    bonus = {"WorkerId": worker_id, "AssignmentId": done.assignment_id, "BonusAmount": "0.5", "Reason": "r"}
    assert only_metadata(mturk.send_bonus(**bonus, UniqueRequestToken="b"))
    assert "has already been processed" in refusal(mturk.send_bonus, **bonus, UniqueRequestToken="b")[1]
    (listed,) = mturk.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    assert (listed["BonusAmount"], listed["WorkerId"]) == ("0.50", worker_id)
    said = mturk.notify_workers(Subject="s", MessageText="m", WorkerIds=[worker_id, "A1NOBODY"])
    assert [row["WorkerId"] for row in said["NotifyWorkersFailureStatuses"]] == ["A1NOBODY"]
    assert only_metadata(mturk.create_worker_block(WorkerId=worker_id, Reason="spam"))
    (block,) = mturk.list_worker_blocks()["WorkerBlocks"]
    assert (block["WorkerId"], block["Reason"]) == (worker_id, "spam")
    assert only_metadata(mturk.delete_worker_block(WorkerId=worker_id))
    assert mturk.list_worker_blocks()["WorkerBlocks"] == []


def test_a_qualification_is_granted_and_revoked(mturk: Any, worker: Worker) -> None:
    values = {"Name": "Reader", "Description": "d", "QualificationTypeStatus": "Active"}
    kind = mturk.create_qualification_type(**values)["QualificationType"]
    code, message = refusal(mturk.create_qualification_type, **values)
    assert code == "QualificationTypeAlreadyExists"
    assert message.startswith("You have already created a QualificationType with this name.")
    about = {"QualificationTypeId": kind["QualificationTypeId"]}
    held = about | {"WorkerId": worker.worker_id}
    assert "does not exist" in refusal(mturk.get_qualification_score, **held)[1]
    assert only_metadata(mturk.associate_qualification_with_worker(**held, IntegerValue=7, SendNotification=False))
    assert mturk.get_qualification_score(**held)["Qualification"]["IntegerValue"] == 7
    granted = mturk.list_workers_with_qualification_type(**about, Status="Granted")["Qualifications"]
    assert [row["WorkerId"] for row in granted] == [worker.worker_id]
    needs = [{**about, "Comparator": "Exists"}]
    hit = mturk.create_hit(**TYPE, LifetimeInSeconds=60, Question=QUESTION, QualificationRequirements=needs)["HIT"]
    found = mturk.list_hits_for_qualification_type(**about)["HITs"]
    assert [row["HITId"] for row in found] == [hit["HITId"]]
    assert only_metadata(mturk.disassociate_qualification_from_worker(**held))
    assert "operation can be called with a status of: Granted" in refusal(mturk.get_qualification_score, **held)[1]
    listed = mturk.list_qualification_types(Query="Reader", MustBeRequestable=False, MustBeOwnedByCaller=True)
    assert [row["Name"] for row in listed["QualificationTypes"]] == ["Reader"]
    assert mturk.update_qualification_type(**about, Description="new")["QualificationType"]["Description"] == "new"
    assert mturk.get_qualification_type(**about)["QualificationType"]["Description"] == "new"
    assert only_metadata(mturk.delete_qualification_type(**about))


def test_requests_for_a_qualification(mturk: Any, make_worker: Any, now: datetime) -> None:
    test = {"Test": FORM, "TestDurationInSeconds": 600, "RetryDelayInSeconds": 0}
    values = {"Name": "Tested", "Description": "d", "QualificationTypeStatus": "Active"}
    type_id = mturk.create_qualification_type(**values, **test)["QualificationType"]["QualificationTypeId"]
    for name in ("walter", "wilma"):
        asked = qualification_requests.ask(make_worker(name), type_id, now)
        qualification_requests.answer_test(asked, {"q": ["because"]}, now)
    first, second = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert "<FreeText>because</FreeText>" in first["Answer"]
    given = {"QualificationRequestId": first["QualificationRequestId"], "IntegerValue": 80}
    assert only_metadata(mturk.accept_qualification_request(**given))
    held = {"QualificationTypeId": type_id, "WorkerId": first["WorkerId"]}
    assert mturk.get_qualification_score(**held)["Qualification"]["IntegerValue"] == 80
    refused = {"QualificationRequestId": second["QualificationRequestId"], "Reason": "no"}
    assert only_metadata(mturk.reject_qualification_request(**refused))
    assert mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"] == []
    assert refusal(mturk.accept_qualification_request, **given)[0] == "InvalidQualificationRequestState"


def test_notifications_reviews_and_files(mturk: Any, publish: Any, work: Any) -> None:
    policy = {
        "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
        "Parameters": [{"Key": "AnswerKey", "MapEntries": [{"Key": "answer", "Values": ["é 0"]}]}],
    }
    hit = publish(AssignmentReviewPolicy=policy)
    about = {"HITTypeId": hit["HITTypeId"], "Notification": NOTIFICATION, "Active": False}
    assert only_metadata(mturk.update_notification_settings(**about))
    ping = {"Notification": NOTIFICATION | {"EventTypes": ["Ping"]}, "TestEventType": "Ping"}
    assert only_metadata(mturk.send_test_event_notification(**ping))
    (done,) = work(hit)
    found = mturk.list_review_policy_results_for_hit(HITId=hit["HITId"])
    assert found["AssignmentReviewPolicy"]["PolicyName"] == policy["PolicyName"]
    scores = found["AssignmentReviewReport"]["ReviewResults"]
    assert [(row["SubjectId"], row["Value"]) for row in scores if row["Key"] == "KnownAnswerScore"] == [
        (done.assignment_id, "100")
    ]
    upload = {"AssignmentId": done.assignment_id, "QuestionIdentifier": "q"}
    assert "file" in refusal(mturk.get_file_upload_url, **upload)[1].lower()


def test_one_requester_never_sees_another(market: str, mturk: Any, publish: Any, now: datetime) -> None:
    hit = publish()
    accounts.create_requester("Bob", 100, now, "bob", "secret-of-bob")
    bob = boto3_client(market, "bob", "secret-of-bob")
    assert bob.list_hits()["HITs"] == []
    assert refusal(bob.get_hit, HITId=hit["HITId"])[0] == "HITDoesNotExist"
    with pytest.raises(ClientError, match="InvalidSignatureException"):
        boto3_client(market, "bob", "secret-of-alice").list_hits()


def test_all_operations_were_called() -> None:
    """Runs last, and counts what the tests above have called."""
    assert set(contract.service_model().operation_names) == seen
