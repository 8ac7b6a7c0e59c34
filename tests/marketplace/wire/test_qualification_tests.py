"""The operations on qualification types, tests and requests, called by an unmodified boto3."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.models import Message, Requester, Worker
from marketplace.verbs import accounts, hits, qualification_requests
from tests.marketplace.rules.test_answer_key import form, key, percent, question

pytestmark = pytest.mark.on_postgresql

TEST = form(move="CD", fruit="AB")
KEY = key(question("move", {"D": 1}), mapping=percent(1))
TYPE = {"Name": "Chess", "Description": "Knows the moves", "QualificationTypeStatus": "Active"}


@pytest.fixture
def mallory(connect: Callable[..., Any], requester: Requester, now: datetime) -> Any:
    """Another requester's client."""
    accounts.create_requester("Mallory", Decimal("10.00"), now, "mallory", "secret-of-mallory")
    return connect("mallory", "secret-of-mallory")


def made(mturk: Any, **values: Any) -> str:
    type_id: str = mturk.create_qualification_type(**(TYPE | values))["QualificationType"]["QualificationTypeId"]
    return type_id


def refused(call: Callable[..., Any], **parameters: Any) -> str:
    with pytest.raises(ClientError) as refusal:
        call(**parameters)
    answer: Any = refusal.value.response
    code: str = answer.get("TurkErrorCode") or answer["Error"]["Code"]
    return code.removeprefix("AWS.MechanicalTurk.")


def test_a_test_is_for_its_owner_to_read(mturk: Any, mallory: Any) -> None:
    type_id = made(mturk, Test=TEST, AnswerKey=KEY, TestDurationInSeconds=600, RetryDelayInSeconds=60)
    own = mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert (own["Test"], own["AnswerKey"], own["TestDurationInSeconds"]) == (TEST, KEY, 600)
    assert (own["RetryDelayInSeconds"], own["AutoGranted"], own["IsRequestable"]) == (60, False, True)
    foreign = mallory.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert foreign.keys() & {"Test", "AnswerKey"} == set()
    listed = mallory.list_qualification_types(Query="chess", MustBeRequestable=True)["QualificationTypes"]
    assert [kind.keys() & {"Test", "AnswerKey"} for kind in listed] == [set()]


def test_an_update_changes_what_it_names(mturk: Any, mallory: Any) -> None:
    type_id = made(mturk, AutoGranted=True, AutoGrantedValue=5)
    update = {"QualificationTypeId": type_id, "Description": "New", "AutoGranted": False, "RetryDelayInSeconds": 9}
    changed = mturk.update_qualification_type(**update)["QualificationType"]
    assert (changed["Description"], changed["AutoGranted"], changed["RetryDelayInSeconds"]) == ("New", False, 9)
    assert "AutoGrantedValue" not in changed and changed["QualificationTypeStatus"] == "Active"
    with_test = {"QualificationTypeId": type_id, "Test": TEST, "TestDurationInSeconds": 60}
    assert "AnswerKey" not in mturk.update_qualification_type(**with_test)["QualificationType"]
    assert refused(mallory.update_qualification_type, **update) == "QualificationTypeDoesNotExist"


CONTRADICTIONS: list[dict[str, Any]] = [
    {"AnswerKey": KEY},
    {"TestDurationInSeconds": 0},
    {"Test": TEST},
    {"Test": TEST, "TestDurationInSeconds": 0},
    {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True},
    {"Test": TEST, "TestDurationInSeconds": 60, "AnswerKey": "<AnswerKey/>"},
    {"Test": form(move="AB"), "TestDurationInSeconds": 60, "AnswerKey": KEY},
    {"Test": f"<!DOCTYPE x>{TEST}", "TestDurationInSeconds": 60},
    {"Test": TEST + " " * 65_536, "TestDurationInSeconds": 60},
    {"RetryDelayInSeconds": 2**62},
]


def test_it_refuses_halves_and_contradictions(mturk: Any) -> None:
    type_id = made(mturk, Name="There")
    for change in CONTRADICTIONS:
        assert refused(mturk.create_qualification_type, **TYPE, **change) == "ParameterValidationError", change
        update = {"QualificationTypeId": type_id, **change}
        assert refused(mturk.update_qualification_type, **update) == "ParameterValidationError", change
    assert mturk.list_qualification_types(MustBeRequestable=True)["NumResults"] == 1


def test_requests_are_listed_granted_and_rejected(
    mturk: Any, mallory: Any, make_worker: Callable[..., Worker], now: datetime
) -> None:
    type_id, other_id = made(mturk, Test=TEST, TestDurationInSeconds=600), made(mturk, Name="Go")
    people = [make_worker(f"w{number}") for number in range(3)]
    for worker in people:
        begun = qualification_requests.ask(worker, type_id, now)
        qualification_requests.answer_test(begun, {"move": ["C"]}, now)
    qualification_requests.ask(people[0], other_id, now)
    pages = mturk.get_paginator("list_qualification_requests").paginate(PaginationConfig={"PageSize": 2})
    assert sum(len(page["QualificationRequests"]) for page in pages) == 4
    listed = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    assert [row["WorkerId"] for row in listed] == [worker.worker_id for worker in people]
    assert listed[0]["Test"] == TEST and "<SelectionIdentifier>C</SelectionIdentifier>" in listed[0]["Answer"]
    first, second = (row["QualificationRequestId"] for row in listed[:2])
    assert mallory.list_qualification_requests()["NumResults"] == 0
    for call in (mallory.accept_qualification_request, mallory.reject_qualification_request):
        assert refused(call, QualificationRequestId=first) == "QualificationRequestDoesNotExist"
    mturk.accept_qualification_request(QualificationRequestId=first, IntegerValue=80)
    mturk.reject_qualification_request(QualificationRequestId=second, Reason="Too few right")
    for call in (mturk.accept_qualification_request, mturk.reject_qualification_request):
        assert refused(call, QualificationRequestId=first) == "InvalidQualificationRequestState"
    assert refused(mturk.accept_qualification_request, QualificationRequestId="no such") == (
        "QualificationRequestDoesNotExist"
    )
    score = mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=people[0].worker_id)
    assert score["Qualification"]["IntegerValue"] == 80
    assert mturk.list_qualification_requests(QualificationTypeId=type_id)["NumResults"] == 1
    assert [message.text.split("\n")[-1] for message in Message.objects.filter(worker=people[1])] == ["Too few right"]


def test_a_grant_is_announced_unless_told_not_to(mturk: Any, worker: Worker) -> None:
    about = {"QualificationTypeId": made(mturk), "WorkerId": worker.worker_id}
    mturk.associate_qualification_with_worker(**about, SendNotification=False)
    assert not Message.objects.exists()
    mturk.associate_qualification_with_worker(**about, IntegerValue=3)
    mturk.disassociate_qualification_from_worker(**about)
    assert Message.objects.count() == 1
    mturk.associate_qualification_with_worker(**about, SendNotification=False)
    mturk.disassociate_qualification_from_worker(**about, Reason="Season over")
    worker.refresh_from_db()
    assert worker.unread_messages == Message.objects.count() == 2


def test_hits_are_found_by_what_they_require(
    mturk: Any, mallory: Any, make_hit_type: Any, make_hit: Any, requester: Requester, now: datetime
) -> None:
    type_id = made(mturk)
    need = {"QualificationTypeId": type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}
    wanted = [make_hit(make_hit_type(title=f"T{number}", requirements=[need])) for number in range(3)]
    make_hit(make_hit_type())
    hits.set_expiration(requester, wanted[0].hit_id, now, now)
    hits.dispose(requester, wanted[0].hit_id, now)
    found = mturk.list_hits_for_qualification_type(QualificationTypeId=type_id, MaxResults=2)
    assert {hit["HITId"] for hit in found["HITs"]} == {wanted[1].hit_id, wanted[2].hit_id}
    assert mallory.list_hits_for_qualification_type(QualificationTypeId=type_id)["NumResults"] == 0
    assert refused(mturk.list_hits_for_qualification_type, QualificationTypeId="3X") == "QualificationTypeDoesNotExist"


def test_a_deleted_type_is_gone_and_its_name_is_free(mturk: Any, mallory: Any, worker: Worker) -> None:
    type_id = made(mturk)
    mturk.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    assert refused(mallory.delete_qualification_type, QualificationTypeId=type_id) == "QualificationTypeDoesNotExist"
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    for call in (mturk.get_qualification_type, mturk.delete_qualification_type, mturk.list_qualification_requests):
        assert refused(call, QualificationTypeId=type_id) == "QualificationTypeDoesNotExist"
    need = [{"QualificationTypeId": type_id, "Comparator": "Exists"}]
    values = {"Title": "T", "Description": "D", "Reward": "0.10", "AssignmentDurationInSeconds": 60}
    assert refused(mturk.create_hit_type, **values, QualificationRequirements=need) == "QualificationTypeDoesNotExist"
    assert made(mturk) != type_id


def test_searching_leaves_out_what_cannot_be_asked_for(mturk: Any, mallory: Any) -> None:
    made(mturk)
    made(mturk, Name="Chess, asleep", QualificationTypeStatus="Inactive")

    def names(client: Any, **filters: Any) -> list[str]:
        return [kind["Name"] for kind in client.list_qualification_types(**filters)["QualificationTypes"]]

    assert names(mturk, MustBeRequestable=True, Query="chess") == ["Chess"]
    assert names(mturk, MustBeRequestable=False, Query="chess") == ["Chess", "Chess, asleep"]
    assert names(mallory, MustBeRequestable=False, Query="moves the") == ["Chess"]
    assert names(mallory, MustBeRequestable=False, MustBeOwnedByCaller=True) == []
    assert len(names(mturk, MustBeRequestable=False)) == 8
    assert names(mturk, MustBeRequestable=True, Query="word " * 5000) == []
    assert names(mturk, MustBeRequestable=True, Query="chess " * 15_000) == ["Chess"]
    assert names(mturk, MustBeRequestable=True, Query="x" * 60_000) == []
