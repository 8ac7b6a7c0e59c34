"""The main job over the wire with an unmodified boto3 client; the worker's part goes through the verbs."""

from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from botocore.exceptions import ClientError
from django.utils import timezone

from marketplace.models import HitType
from marketplace.verbs import assignments
from tests.marketplace.conftest import QUESTION

pytestmark = pytest.mark.on_postgresql

TYPE = {
    "Title": "Pick the entity",
    "Description": "Click what fits",
    "Reward": "0.50",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 3600,
}


@pytest.fixture
def type_id(mturk: Any) -> str:
    return mturk.create_hit_type(**TYPE)["HITTypeId"]


@pytest.fixture
def publish(mturk: Any, type_id: str) -> Any:
    def make(**values: Any) -> dict[str, Any]:
        defaults = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION}
        return mturk.create_hit_with_hit_type(**(defaults | values))["HIT"]

    return make


@pytest.fixture
def answer(type_id: str) -> Any:
    def make(worker: Any, text: str = "yes") -> str:
        kind = HitType.objects.get(hit_type_id=type_id)
        now = timezone.now()
        held = assignments.accept(kind, worker, now)
        return assignments.submit(held.assignment_id, {"answer": [text]}, now).assignment_id

    return make


def refused(code: str) -> Any:
    return pytest.raises(ClientError, match=code)


def turk_code(caught: Any) -> str:
    return caught.value.response["TurkErrorCode"].removeprefix("AWS.MechanicalTurk.")


def test_the_same_values_give_the_same_hit_type(mturk: Any, type_id: str) -> None:
    assert mturk.create_hit_type(**TYPE)["HITTypeId"] == type_id
    assert mturk.create_hit_type(**TYPE | {"Reward": "0.51"})["HITTypeId"] != type_id
    assert mturk.create_hit_type(**TYPE | {"Reward": "0.5"})["HITTypeId"] == type_id
    assert len(type_id) == 30 and type_id.startswith("3")


def test_a_new_hit_is_assignable_and_holds_its_cost(mturk: Any, publish: Any) -> None:
    hit = publish(MaxAssignments=3, RequesterAnnotation="item 7")
    assert hit["HITStatus"] == "Assignable"
    assert hit["NumberOfAssignmentsAvailable"] == 3
    assert hit["CreationTime"].tzinfo is not None
    assert hit["RequesterAnnotation"] == "item 7"
    balance = mturk.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("9998.20", "1.80")


def test_create_hit_uses_the_hit_type_of_its_values(mturk: Any, type_id: str) -> None:
    hit = mturk.create_hit(**TYPE, LifetimeInSeconds=60, Question=QUESTION)["HIT"]
    assert hit["HITTypeId"] == type_id


def test_a_repeated_token_names_the_hit_that_it_made(mturk: Any, publish: Any) -> None:
    first = publish(UniqueRequestToken="item-7")
    with refused("RequestError") as caught:
        publish(UniqueRequestToken="item-7", MaxAssignments=2)
    assert turk_code(caught) == "HITAlreadyExists"
    assert f'The HIT with ID "{first["HITId"]}" already exists.' in caught.value.response["Error"]["Message"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert len(mturk.list_hits()["HITs"]) == 1
    assert mturk.get_account_balance()["OnHoldBalance"] == "0.60"


def test_answers_are_listed_approved_and_charged(mturk: Any, publish: Any, answer: Any, make_worker: Any) -> None:
    hit_id = publish(MaxAssignments=2)["HITId"]
    ids = [answer(make_worker(name), f"é & {name}") for name in ("walter", "wilma")]
    listed = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert [row["AssignmentId"] for row in listed] == ids
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Reviewable"
    form = ElementTree.fromstring(listed[0]["Answer"].encode())
    assert [node.text for node in form.iter() if node.tag.endswith("FreeText")] == ["é & walter"]
    approved = mturk.approve_assignment(AssignmentId=ids[0], RequesterFeedback="good")
    assert list(approved) == ["ResponseMetadata"]
    mturk.reject_assignment(AssignmentId=ids[1], RequesterFeedback="blank")
    balance = mturk.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("9999.40", "0.00")
    found = mturk.get_assignment(AssignmentId=ids[0])
    assert found["Assignment"]["AssignmentStatus"] == "Approved"
    assert found["HIT"]["NumberOfAssignmentsCompleted"] == 2


def test_a_judged_answer_is_not_judged_again(mturk: Any, publish: Any, answer: Any, worker: Any) -> None:
    publish()
    done = answer(worker)
    mturk.reject_assignment(AssignmentId=done, RequesterFeedback="blank")
    for call in (
        lambda: mturk.approve_assignment(AssignmentId=done),
        lambda: mturk.reject_assignment(AssignmentId=done, RequesterFeedback="blank"),
    ):
        with refused("status of: Submitted") as caught:
            call()
        assert turk_code(caught) == "InvalidAssignmentState"
    mturk.approve_assignment(AssignmentId=done, OverrideRejection=True)
    assert mturk.get_assignment(AssignmentId=done)["Assignment"]["AssignmentStatus"] == "Approved"


def test_an_accepted_assignment_is_not_shown(mturk: Any, publish: Any, worker: Any, type_id: str, now: Any) -> None:
    hit_id = publish()["HITId"]
    held = assignments.accept(HitType.objects.get(hit_type_id=type_id), worker, now)
    with refused("status of: Reviewable,Approved,Rejected") as caught:
        mturk.get_assignment(AssignmentId=held.assignment_id)
    assert turk_code(caught) == "InvalidAssignmentState"
    assert mturk.list_assignments_for_hit(HITId=hit_id)["NumResults"] == 0
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Unassignable"


def test_statuses_filter_the_assignments(mturk: Any, publish: Any, answer: Any, worker: Any) -> None:
    hit_id = publish()["HITId"]
    answer(worker)
    listed = mturk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=["Approved", "Rejected"])
    assert listed["Assignments"] == [] and "NextToken" not in listed


def test_review_moves_between_reviewable_and_reviewing(
    mturk: Any, publish: Any, answer: Any, worker: Any, type_id: str
) -> None:
    hit_id = publish()["HITId"]
    with refused("InvalidHITState|Assignable"):
        mturk.update_hit_review_status(HITId=hit_id)
    answer(worker)

    def listed(status: str) -> list[str]:
        rows = mturk.list_reviewable_hits(HITTypeId=type_id, Status=status, MaxResults=100)["HITs"]
        return [row["HITId"] for row in rows]

    assert (listed("Reviewable"), listed("Reviewing")) == ([hit_id], [])
    mturk.update_hit_review_status(HITId=hit_id)
    assert (listed("Reviewable"), listed("Reviewing")) == ([], [hit_id])
    mturk.update_hit_review_status(HITId=hit_id, Revert=True)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Reviewable"


def test_a_hit_is_deleted_only_when_nothing_waits(mturk: Any, publish: Any, answer: Any, worker: Any) -> None:
    hit_id = publish(MaxAssignments=2)["HITId"]
    done = answer(worker)
    with refused("in the state 'Assignable'"):
        mturk.delete_hit(HITId=hit_id)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    with refused("in the state 'Reviewable'.*status of: Reviewing, Reviewable") as caught:
        mturk.delete_hit(HITId=hit_id)
    assert turk_code(caught) == "InvalidHITState"
    mturk.approve_assignment(AssignmentId=done)
    mturk.delete_hit(HITId=hit_id)
    with refused("in the state 'Disposed'"):
        mturk.delete_hit(HITId=hit_id)
    assert mturk.list_hits()["HITs"] == []
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Disposed"
    assert mturk.get_account_balance()["OnHoldBalance"] == "0.00"


def test_expiring_makes_a_hit_reviewable_and_extending_brings_it_back(mturk: Any, publish: Any) -> None:
    hit_id = publish()["HITId"]
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    assert mturk.list_reviewable_hits()["HITs"][0]["HITStatus"] == "Reviewable"
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=later)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"
    with refused("has already been processed"):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=later)


def test_more_assignments_cost_more_and_a_token_adds_them_once(mturk: Any, publish: Any) -> None:
    hit_id = publish()["HITId"]
    more = {"HITId": hit_id, "NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "top-up"}
    mturk.create_additional_assignments_for_hit(**more)
    with refused('The idempotency token "top-up" has already been processed.'):
        mturk.create_additional_assignments_for_hit(**more)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] == 3
    assert mturk.get_account_balance()["OnHoldBalance"] == "1.80"
    with refused("fewer than 10") as caught:
        mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=7)
    assert turk_code(caught) == "InvalidMaximumAssignmentsIncrease"


def test_a_hit_that_cannot_be_paid_is_refused_and_leaves_nothing(mturk: Any, publish: Any) -> None:
    with refused("InsufficientFunds|needs") as caught:
        publish(MaxAssignments=1_000_000, UniqueRequestToken="big")
    assert turk_code(caught) == "InsufficientFunds"
    assert mturk.list_hits()["HITs"] == []
    assert mturk.get_account_balance()["AvailableBalance"] == "10000.00"
    publish(UniqueRequestToken="big")


def test_qualifications_are_granted_scored_and_revoked(mturk: Any, worker: Any) -> None:
    made = mturk.create_qualification_type(
        Name="Poor quality", Description="Below average", QualificationTypeStatus="Active"
    )["QualificationType"]
    type_id = made["QualificationTypeId"]
    about = {"QualificationTypeId": type_id, "WorkerId": worker.worker_id}
    with refused("does not exist"):
        mturk.get_qualification_score(**about)
    mturk.associate_qualification_with_worker(**about, IntegerValue=7, SendNotification=False)
    assert mturk.get_qualification_score(**about)["Qualification"]["IntegerValue"] == 7
    mturk.associate_qualification_with_worker(**about)
    assert mturk.get_qualification_score(**about)["Qualification"]["IntegerValue"] == 1
    listed = mturk.list_workers_with_qualification_type(QualificationTypeId=type_id, Status="Granted")
    assert [row["WorkerId"] for row in listed["Qualifications"]] == [worker.worker_id]
    mturk.disassociate_qualification_from_worker(**about, Reason="better now")
    with refused("operation can be called with a status of: Granted"):
        mturk.get_qualification_score(**about)
    assert mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]["Name"] == "Poor quality"
    with pytest.raises(ClientError) as caught:
        mturk.create_qualification_type(Name="Poor quality", Description="x", QualificationTypeStatus="Active")
    message = caught.value.response["Error"]["Message"]
    assert message.startswith("You have already created a QualificationType with this name.")


def test_qualification_types_are_found_by_their_words(mturk: Any) -> None:
    for name in ("Reading test", "Writing test"):
        mturk.create_qualification_type(Name=name, Description="d", QualificationTypeStatus="Active")
    found = mturk.list_qualification_types(Query="reading", MustBeRequestable=False, MustBeOwnedByCaller=True)
    assert [row["Name"] for row in found["QualificationTypes"]] == ["Reading test"]
    system = mturk.list_qualification_types(Query="location", MustBeRequestable=False)
    assert system["QualificationTypes"][0]["QualificationTypeId"] == "00000000000000000071"


def test_a_qualification_type_of_exactly_the_name_is_found_first(mturk: Any) -> None:
    names = [f"allow list {number}" for number in range(5)] + ["Allow list", "allow list, old"]
    for name in names:
        mturk.create_qualification_type(Name=name, Description="d", QualificationTypeStatus="Active")
    search = {"Query": " allow list", "MustBeRequestable": True, "PaginationConfig": {"PageSize": 3}}
    pages = mturk.get_paginator("list_qualification_types").paginate(**search)
    found = [row["Name"] for page in pages for row in page["QualificationTypes"]]
    assert found == ["Allow list", *names[:5], "allow list, old"]


def test_pages_are_walked_to_an_empty_last_one(mturk: Any, publish: Any) -> None:
    ids = {publish()["HITId"] for _ in range(5)}
    pages = list(mturk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 2}))
    assert [page["NumResults"] for page in pages] == [2, 2, 1, 0]
    assert ["NextToken" in page for page in pages] == [True, True, True, False]
    assert {hit["HITId"] for page in pages for hit in page["HITs"]} == ids


def test_a_token_continues_only_its_own_list(mturk: Any, publish: Any, connect: Any) -> None:
    publish()
    token = mturk.list_hits()["NextToken"]
    for call in (
        lambda: mturk.list_reviewable_hits(NextToken=token),
        lambda: mturk.list_hits(NextToken=token[:-4] + "AAAA"),
        lambda: mturk.list_hits(NextToken="é"),
        lambda: connect("bob").list_hits(NextToken=token),
    ):
        with refused("NextToken") as caught:
            call()
        assert turk_code(caught) == "InvalidParameterValue"


def test_a_stranger_sees_nothing_of_a_hit(mturk: Any, publish: Any, answer: Any, worker: Any, connect: Any) -> None:
    hit_id = publish()["HITId"]
    done = answer(worker)
    bob = connect("bob")
    for call in (
        lambda: bob.get_hit(HITId=hit_id),
        lambda: bob.delete_hit(HITId=hit_id),
        lambda: bob.list_assignments_for_hit(HITId=hit_id),
        lambda: bob.get_assignment(AssignmentId=done),
        lambda: bob.approve_assignment(AssignmentId=done),
    ):
        with refused("does not exist"):
            call()
    assert bob.get_account_balance()["AvailableBalance"] == "10000.00"
