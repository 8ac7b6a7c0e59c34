"""Every operation with the ids of another requester: as if they did not exist, and nothing of theirs comes back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Assignment, Hit, Requester, Worker
from marketplace.wire import contract
from tests.marketplace.security.conftest import changed, tables
from tests.marketplace.wire.test_contract import AUTHORIZATION, OPERATIONS, input_shape, valid

# A qualification type may be required and looked up by everybody; its test and answer key are its owner's.
PUBLIC = {"GetQualificationType", "ListHITsForQualificationType"}
OF_NOBODY = {"CreateHITType", "CreateQualificationType", "GetAccountBalance", "NotifyWorkers", "CreateHIT"}
OF_NOBODY |= {"CreateWorkerBlock", "DeleteWorkerBlock", "SendTestEventNotification"}


def as_bob(client: Client, name: str, body: Any) -> tuple[int, Any]:
    response = client.post(
        "/",
        json.dumps(body),
        content_type="application/x-amz-json-1.1",
        headers={
            "X-Amz-Target": f"MTurkRequesterServiceV20170117.{name}",
            "Authorization": AUTHORIZATION.replace("alice", "bob"),
        },
    )
    return response.status_code, json.loads(response.content)


@pytest.fixture
def of_alice(world: dict[str, Any], worker: Worker) -> dict[str, str]:
    """Ids of Alice's, by the name of the member that takes them."""
    hit = Hit.objects.get(assignments__pk=world["done"])
    return {
        "HITId": hit.hit_id,
        "HITTypeId": hit.hit_type.hit_type_id,
        "AssignmentId": Assignment.objects.get(pk=world["done"]).assignment_id,
        "QualificationTypeId": world["kind"],
        "QualificationRequestId": world["request"],
        "HITLayoutId": world["layout"],
        "WorkerId": worker.worker_id,
    }


def ids_in(shape: Any) -> Iterator[str]:
    """The members of an input that name something with an owner."""
    wanted = ("HITId", "HITTypeId", "AssignmentId", "QualificationTypeId", "QualificationRequestId", "HITLayoutId")
    return (name for name in shape.members if name in wanted)


def test_what_is_anothers_does_not_exist(client: Client, bob: Requester, of_alice: dict[str, str]) -> None:
    for name in OPERATIONS:
        check_what_is_anothers_does_not_exist(client, of_alice, name)


def check_what_is_anothers_does_not_exist(client: Client, of_alice: dict[str, str], name: str) -> None:
    shape = input_shape(name)
    asked = list(ids_in(shape))
    if name in OF_NOBODY:
        return
    required = {member: valid(shape.members[member]) for member in shape.required_members}
    bodies = [required | {member: of_alice[member]} for member in asked] or [required]
    bodies = [body | {key: of_alice[key] for key in body.keys() & of_alice.keys()} for body in bodies]
    before = tables()
    for body in bodies:
        status, answer = as_bob(client, name, body)
        text = json.dumps(answer)
        assert "secret of walter" not in text
        if asked and name not in PUBLIC:
            assert status == 400, f"{name} {body}: {answer}"
            assert answer["__type"] in ("RequestError", "ParameterValidationError")
            assert "DoesNotExist" in answer["TurkErrorCode"] or answer["__type"] == "ParameterValidationError", answer
        elif status == 200 and name.startswith("List"):
            lists = [value for value in answer.values() if isinstance(value, list)]
            assert name == "ListQualificationTypes" or not any(lists)
    assert changed(before) == []


def test_a_public_type_shows_neither_test_nor_key(client: Client, bob: Requester, of_alice: dict[str, str]) -> None:
    about = {"QualificationTypeId": of_alice["QualificationTypeId"]}
    found = as_bob(client, "GetQualificationType", about)[1]["QualificationType"]
    assert found.keys().isdisjoint({"Test", "AnswerKey"})
    listed = as_bob(client, "ListQualificationTypes", {"MustBeRequestable": True})[1]["QualificationTypes"]
    assert all(kind.keys().isdisjoint({"Test", "AnswerKey"}) for kind in listed)


def test_all_operations_are_looked_at() -> None:
    assert set(OPERATIONS) == set(contract.service_model().operation_names)
