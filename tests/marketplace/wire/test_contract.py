"""Every offered operation against the service model: each constraint broken once, each answer in its shape."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.model import Shape
from django.test import Client
from django.utils import timezone

from marketplace import operations
from marketplace.models import HitType
from marketplace.verbs import assignments
from marketplace.wire import contract
from tests.marketplace.conftest import QUESTION

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=alice/20261121/us-east-1/mturk-requester/aws4_request, "
    f"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={'0' * 64}"
)
WRONG_TYPES = {
    "string": 0.05,
    "integer": "1",
    "long": True,
    "boolean": "true",
    "timestamp": "now",
    "list": {},
    "structure": [],
}


def valid(shape: Shape) -> Any:
    """A value that fits, every optional member filled in."""
    kind = shape.type_name
    if kind == "structure":
        return {name: valid(member) for name, member in shape.members.items()}
    if kind == "list":
        return [valid(shape.member)]
    if kind == "string":
        if getattr(shape, "enum", None):
            return shape.enum[0]
        return {"CurrencyAmount": "1.00", "CountryParameters": "US"}.get(shape.name, "A1")
    return {"integer": 1, "long": 1, "boolean": True, "timestamp": 0}[kind]


Broken = tuple[str, dict[str, Any], str, str]


def violations(shape: Shape, whole: Any, steps: tuple[Any, ...] = ()) -> Iterator[Broken]:
    """(what, parameters, error type, words of the message) for every constraint below `shape`."""
    where = ".".join(spoken(step) for step in steps)
    if steps:
        changed = replaced(whole, steps, WRONG_TYPES[shape.type_name])
        yield f"{where}: wrong type", changed, "SerializationException", "can not be converted"
    for words, value in wrong_values(shape):
        text = f"at '{where}' failed to satisfy"
        yield f"{where}: {words}", replaced(whole, steps, value), "ValidationException", text
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            if name in shape.required_members:
                path = f"{where}.{contract.lower_camel(name)}" if where else contract.lower_camel(name)
                text = f"Value null at '{path}' failed to satisfy constraint: Member must not be null"
                yield f"{path}: left out", replaced(whole, (*steps, name), None), "ValidationException", text
            yield from violations(member, whole, (*steps, name))
    if shape.type_name == "list":
        yield from violations(shape.member, whole, (*steps, 0))


def spoken(step: Any) -> str:
    return f"{step + 1}.member" if isinstance(step, int) else contract.lower_camel(step)


def wrong_values(shape: Shape) -> Iterator[tuple[str, Any]]:
    metadata = shape.metadata
    text = shape.type_name == "string"
    if "max" in metadata:
        yield "too large", "A" * (metadata["max"] + 1) if text else metadata["max"] + 1
    if "min" in metadata:
        yield "too small", "A" * (metadata["min"] - 1) if text else metadata["min"] - 1
    if "pattern" in metadata:
        yield "against the pattern", "a-1"
        yield "trailing line feed", "1\n" if shape.name == "CurrencyAmount" else "A1\n"
    if getattr(shape, "enum", None):
        yield "not in the enum", "Fuzzy"


def replaced(whole: Any, steps: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(whole)
    inner = changed
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    return changed


def all_violations() -> list[Any]:
    cases = []
    for name in sorted(contract.service_model().operation_names):
        shape = contract.service_model().operation_model(name).input_shape
        for what, parameters, code, words in violations(shape, valid(shape)):
            cases.append(pytest.param(name, parameters, code, words, id=f"{name} {what}"))
    return cases


def call(client: Client, name: str, body: Any) -> tuple[int, dict[str, Any]]:
    response = client.post(
        "/",
        body if isinstance(body, bytes) else json.dumps(body),
        content_type="application/x-amz-json-1.1",
        headers={"X-Amz-Target": f"MTurkRequesterServiceV20170117.{name}", "Authorization": AUTHORIZATION},
    )
    return response.status_code, json.loads(response.content)


@pytest.mark.parametrize(("name", "parameters", "code", "words"), all_violations())
def test_it_refuses_what_breaks_the_model(name: str, parameters: Any, code: str, words: str) -> None:
    with pytest.raises(Exception) as caught:
        contract.operation(name).read(parameters)
    assert type(caught.value).__name__ == code
    assert words in str(caught.value)


@pytest.mark.django_db
def test_broken_constraints_reach_the_client_all_at_once(client: Client) -> None:
    status, body = call(client, "CreateHITType", {"Reward": "1.234", "Description": "d", "Title": None})
    assert status == 400
    assert body == {
        "__type": "ValidationException",
        "Message": "3 validation errors detected: "
        "Value null at 'assignmentDurationInSeconds' failed to satisfy constraint: Member must not be null; "
        "Value '1.234' at 'reward' failed to satisfy constraint: "
        r"Member must satisfy regular expression pattern: ^[0-9]+(\.)?[0-9]{0,2}$; "
        "Value null at 'title' failed to satisfy constraint: Member must not be null",
    }


@pytest.mark.django_db
def test_an_operation_that_is_not_offered_says_so(client: Client) -> None:
    for name in set(contract.service_model().operation_names) - operations.offered().keys():
        status, body = call(client, name, {})
        assert (status, body["__type"]) == (400, "UnknownOperationException")
        assert body["Message"] == f"{name} is part of the API, but this marketplace does not offer it."


def test_only_operations_of_the_api_are_registered() -> None:
    assert operations.offered().keys() <= set(contract.service_model().operation_names)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "not JSON"),
        (b"[]", "structure"),
        (b"null", "structure"),
        (b'{"MaxResults": NaN}', "NaN"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"NextToken": "a\\u0000b"}', "NUL"),
        (b'{"NextToken": "\\ud800"}', "surrogate"),
        (b'{"MaxResults": 99999999999999}', "Integer"),
        (b'{"MaxResults": 1.5}', "Integer"),
        (b" " * 3_000_000, "too large"),
    ],
)
def test_a_body_that_cannot_be_read_is_a_serialization_error(client: Client, body: bytes, words: str) -> None:
    status, answer = call(client, "ListHITs", body)
    assert (status, answer["__type"]) == (400, "SerializationException")
    assert words in answer["Message"]


@pytest.mark.django_db
def test_an_empty_body_and_null_members_count_as_not_given(client: Client) -> None:
    assert call(client, "GetAccountBalance", b"")[0] == 200
    assert call(client, "ListHITs", {"NextToken": None, "Unknown": 1})[1] == {"NumResults": 0, "HITs": []}


@pytest.mark.parametrize("target", ["", "ListHITs", "MTurkRequesterServiceV20170117.", "Other.ListHITs"])
@pytest.mark.django_db
def test_an_unknown_target_is_an_unknown_operation(client: Client, target: str) -> None:
    response = client.post("/", "{}", content_type="application/json", headers={"X-Amz-Target": target})
    assert (response.status_code, json.loads(response.content)["__type"]) == (400, "UnknownOperationException")


@pytest.mark.django_db
def test_a_crash_is_a_service_fault(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setitem(operations.offered(), "GetAccountBalance", crash)
    status, body = call(client, "GetAccountBalance", {})
    assert (status, body["__type"]) == (500, "ServiceFault")
    assert "secret" not in json.dumps(body)


def test_every_offered_operation_answers_in_its_shape(mturk: Any, worker: Any) -> None:
    """The client's own hook checks each answer against the model; here every operation gets its turn."""
    seen: set[str] = set()
    mturk.meta.events.register("before-call.mturk", lambda model, **kwargs: seen.add(model.name))
    kind = mturk.create_qualification_type(Name="Q", Description="d", QualificationTypeStatus="Active")
    held = {"QualificationTypeId": kind["QualificationType"]["QualificationTypeId"], "WorkerId": worker.worker_id}
    only = {"QualificationTypeId": held["QualificationTypeId"]}
    mturk.associate_qualification_with_worker(**held)
    mturk.get_qualification_score(**held)
    mturk.get_qualification_type(**only)
    mturk.list_qualification_types(MustBeRequestable=False)
    mturk.list_workers_with_qualification_type(**only)
    values = {"Title": "t", "Description": "d", "Reward": "1", "AssignmentDurationInSeconds": 60}
    requirement = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "NotIn",
        "LocaleValues": [{"Country": "US", "Subdivision": "CA"}],
        "RequiredToPreview": True,
    }
    type_id = mturk.create_hit_type(**values, QualificationRequirements=[requirement])["HITTypeId"]
    worker.country = "FR"
    worker.save()
    made = {"LifetimeInSeconds": 60, "Question": QUESTION}
    mturk.create_hit(**values, **made)
    hit_id = mturk.create_hit_with_hit_type(HITTypeId=type_id, **made)["HIT"]["HITId"]
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    kind = HitType.objects.get(hit_type_id=type_id)
    answered = assignments.accept(kind, worker, timezone.now())
    assignments.submit(answered.assignment_id, {"a": ["1"]}, timezone.now())
    about = {"AssignmentId": answered.assignment_id}
    mturk.list_assignments_for_hit(HITId=hit_id)
    mturk.reject_assignment(**about, RequesterFeedback="no")
    mturk.approve_assignment(**about, OverrideRejection=True)
    mturk.get_assignment(**about)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    mturk.list_reviewable_hits()
    mturk.update_hit_review_status(HITId=hit_id)
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    assert hit["QualificationRequirements"] == [requirement | {"ActionsGuarded": "PreviewAndAccept"}]
    mturk.list_hits()
    mturk.delete_hit(HITId=hit_id)
    mturk.disassociate_qualification_from_worker(**held)
    mturk.get_account_balance()
    assert seen == operations.offered().keys()
