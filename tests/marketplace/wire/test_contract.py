"""Every offered operation against the service model: each constraint broken once, each answer in its shape."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.model import Shape
from django.test import Client
from django.utils import timezone

from marketplace import operations
from marketplace.models import HitType
from marketplace.rules.errors import WireError
from marketplace.verbs import assignments
from marketplace.wire import contract
from tests.marketplace.conftest import QUESTION
from tests.marketplace.wire import tally
from tests.marketplace.wire.model import mismatches

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=alice/20261121/us-east-1/mturk-requester/aws4_request, "
    f"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={'0' * 64}"
)
OPERATIONS = sorted(contract.service_model().operation_names)
WRONG_TYPES: dict[str, tuple[Any, ...]] = {
    "string": (0.05, True, [], {}),
    "integer": ("1", 1.5, True, [], 2**31),
    "long": ("1", 1.5, True, {}, 2**63),
    "boolean": ("true", 1, []),
    "timestamp": ("now", True, {}, 1e300),
    "list": ({}, "A1", 1),
    "structure": ([], "A1", 1),
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
    for value in WRONG_TYPES[shape.type_name]:
        text = "out of range" if value == 1e300 else "can not be converted"
        changed = replaced(whole, steps, value) if steps else value
        yield f"{where}: not {value!r}", changed, "SerializationException", text
    for words, value in wrong_values(shape):
        text = f"at '{where}' failed to satisfy"
        yield f"{where}: {words}", replaced(whole, steps, value), "ValidationException", text
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            if name in shape.required_members:
                path = f"{where}.{contract.lower_camel(name)}" if where else contract.lower_camel(name)
                text = f"Value null at '{path}' failed to satisfy constraint: Member must not be null"
                yield f"{path}: left out", without(whole, (*steps, name)), "ValidationException", text
                yield f"{path}: null", replaced(whole, (*steps, name), None), "ValidationException", text
            yield from violations(member, whole, (*steps, name))
    if shape.type_name == "list":
        yield f"{where}: a null", replaced(whole, (*steps, 0), None), "SerializationException", "holds a null"
        yield from violations(shape.member, whole, (*steps, 0))


def spoken(step: Any) -> str:
    return f"{step + 1}.member" if isinstance(step, int) else contract.lower_camel(step)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (True, "TRUE_VALUE"),
        (False, "FALSE_VALUE"),
        (1, "NUMBER_VALUE"),
        (0.5, "NUMBER_VALUE"),
        ([], "START_ARRAY"),
        ({}, "START_OBJECT"),
    ],
)
def test_a_value_of_another_type_is_named_as_mechanical_turk_does(value: Any, word: str) -> None:
    with pytest.raises(WireError, match=f"^{word} can not be converted to a String"):
        contract.operation("GetHIT").read({"HITId": value})


def test_what_is_missing_is_named_as_mechanical_turk_spells_it() -> None:
    with pytest.raises(WireError, match="Value null at 'hITId' failed"):
        contract.operation("GetHIT").read({})


def test_a_time_is_in_seconds_since_1970_with_a_fraction() -> None:
    read = contract.operation("UpdateExpirationForHIT").read({"HITId": "A1", "ExpireAt": 86_400.5})
    assert read["ExpireAt"] == datetime(1970, 1, 2, 0, 0, 0, 500_000, UTC)


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


def without(whole: Any, steps: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(whole)
    inner = changed
    for step in steps[:-1]:
        inner = inner[step]
    del inner[steps[-1]]
    return changed


def constraints(shape: Any, path: str = "") -> Iterator[str]:
    """Every constraint that the model states below `shape`, read in another way than violations() does."""
    for kind in ("min", "max", "pattern"):
        if kind in shape.metadata:
            yield f"{path}: {kind}"
    if getattr(shape, "enum", None):
        yield f"{path}: enum"
    for name, member in getattr(shape, "members", {}).items():
        below = f"{path}.{name}".strip(".")
        yield f"{below}: type"
        if name in shape.required_members:
            yield f"{below}: required"
        yield from constraints(member, below)
    if shape.type_name == "list":
        yield f"{path}.member: type"
        yield from constraints(shape.member, f"{path}.member")


def input_shape(name: str) -> Any:
    return contract.service_model().operation_model(name).input_shape


def call(client: Client, name: str, body: Any) -> tuple[int, dict[str, Any]]:
    response = client.post(
        "/",
        body if isinstance(body, bytes) else json.dumps(body),
        content_type="application/x-amz-json-1.1",
        headers={"X-Amz-Target": f"MTurkRequesterServiceV20170117.{name}", "Authorization": AUTHORIZATION},
    )
    answer = json.loads(response.content)
    if response.status_code == 200:
        tally.count(name, mismatches(answer, contract.service_model().operation_model(name).output_shape))
    return response.status_code, answer


@pytest.mark.django_db
@pytest.mark.parametrize("name", OPERATIONS)
def test_it_refuses_whatever_breaks_the_model(client: Client, name: str) -> None:
    """Over the wire: each member left out, of another type, out of its range, pattern or enum, at every depth."""
    shape = input_shape(name)
    tried = list(violations(shape, valid(shape)))
    assert len({what for what, *_ in tried}) == len(tried) >= len(set(constraints(shape)))
    for what, parameters, code, words in tried:
        status, body = call(client, name, parameters)
        assert (status, body.get("__type")) == (400, code), f"{name} {what}: {body}"
        assert words in body["Message"], f"{name} {what}"
        tally.violations[name] += 1


def test_the_api_has_39_operations_and_all_are_offered() -> None:
    assert len(OPERATIONS) == 39
    assert operations.offered().keys() == set(OPERATIONS)


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


def test_answers_about_a_hit_and_its_workers_are_in_their_shapes(mturk: Any, worker: Any) -> None:
    """The client's own hook checks each answer; tests/marketplace/acceptance/test_boto3.py calls all 39 operations."""
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
