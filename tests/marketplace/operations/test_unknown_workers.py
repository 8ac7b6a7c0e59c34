"""A requester does not learn which worker ids there are: every operation that takes one, with two ids."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.models import Hit, HitType, Message, Qualification, Requester, Worker
from marketplace.verbs import accounts, assignments, blocks, messages, qualifications
from tests.marketplace.refusals import refused

pytestmark = pytest.mark.on_postgresql
NOBODY = "A0000000000000"


@pytest.fixture
def stranger(make_worker: Callable[..., Worker]) -> str:
    """Of somebody who never worked for Alice."""
    return make_worker("stranger").worker_id


@pytest.fixture
def type_id(requester: Requester, now: Any) -> str:
    kind = qualifications.create_type(requester, name="Q", description="d", status="Active", now=now)
    return kind.qualification_type_id


@pytest.fixture
def done(make_worker: Callable[..., Worker], hit: Hit, hit_type: HitType, now: Any) -> str:
    """The id of an assignment of somebody else's."""
    held = assignments.accept(hit_type, make_worker("known"), now)
    return assignments.submit(held.assignment_id, {"a": ["1"]}, now).assignment_id


def test_all_answers_are_the_same_for_an_id_that_nobody_has_and_for_a_stranger_s(
    mturk: Any, stranger: str, type_id: str, done: str
) -> None:
    told = {worker_id: list(_answers(mturk, worker_id, type_id, done)) for worker_id in (NOBODY, stranger)}
    assert told[NOBODY] == told[stranger]
    assert [words[0] for words in told[NOBODY]] == [
        *("taken", "taken", "taken", "taken", "taken", "taken"),
        *("RequestError", "RequestError", "taken", "taken", "taken", "taken", "RequestError", "RequestError"),
        *("ParameterValidationError", "taken"),
    ]


def _answers(mturk: Any, worker_id: str, type_id: str, done: str) -> Any:
    who: dict[str, Any] = {"WorkerId": worker_id}
    held = {**who, "QualificationTypeId": type_id}
    for call, given in (
        (mturk.create_worker_block, {**who, "Reason": "r"}),
        (mturk.create_worker_block, {**who, "Reason": "another"}),
        (mturk.list_worker_blocks, {}),
        (mturk.delete_worker_block, who),
        (mturk.delete_worker_block, who),
        (mturk.list_worker_blocks, {}),
        (mturk.get_qualification_score, held),
        (mturk.disassociate_qualification_from_worker, held),
        (mturk.associate_qualification_with_worker, {**held, "IntegerValue": 7}),
        (mturk.get_qualification_score, held),
        (mturk.list_workers_with_qualification_type, {"QualificationTypeId": type_id, "Status": "Granted"}),
        (mturk.disassociate_qualification_from_worker, {**held, "Reason": "r"}),
        (mturk.disassociate_qualification_from_worker, held),
        (mturk.get_qualification_score, held),
        (mturk.send_bonus, {**who, "AssignmentId": done, "BonusAmount": "1", "Reason": "r"}),
        (mturk.notify_workers, {"WorkerIds": [worker_id], "Subject": "s", "MessageText": "m"}),
    ):
        try:
            words, body = "taken", call(**given)
        except ClientError as error:
            words, body = error.response["Error"]["Code"], error.response
        # A sealed place in the list, other than the one before.
        body.pop("NextToken", None)
        body.pop("ResponseMetadata")
        for row in (body.get("Qualification", {}), *body.get("Qualifications", ())):
            row.pop("GrantTime", None)
        yield words, _without_time(json.dumps(body, sort_keys=True)).replace(worker_id, "ID")


def _without_time(text: str) -> str:
    """Sentences end with the time in milliseconds."""
    return " ".join("TIME" if word.strip('()",s}').isdigit() else word for word in text.split())


def test_blocks_and_refusals_ask_the_database_the_same(
    requester: Requester, stranger: str, type_id: str, now: Any
) -> None:
    def asked(do: Callable[[str], Any], worker_id: str) -> list[list[str]]:
        with CaptureQueriesContext(connection) as queries:
            do(worker_id)
        # The names of savepoints are counted on.
        return [query["sql"].split('"')[:3] for query in queries if "SAVEPOINT" not in query["sql"]]

    for do in (
        lambda name: blocks.block(requester, name, "r", now),
        lambda name: blocks.unblock(requester, name),
        lambda name: messages.notify(requester, [name], "s", "m", now),
        lambda name: qualifications.grant(requester, type_id, name, now),
        lambda name: qualifications.score(requester, type_id, name),
        lambda name: qualifications.revoke(requester, type_id, name, now),
    ):
        assert asked(do, NOBODY) == asked(do, stranger)


def test_a_grant_to_an_id_that_nobody_has_holds_once_somebody_has_it(
    requester: Requester, type_id: str, now: Any
) -> None:
    qualifications.grant(requester, type_id, NOBODY, now, 5, notify=True)
    assert not Message.objects.exists()
    late = accounts.create_worker("late", "worker", worker_id=NOBODY)
    assert qualifications.held_values(late) == {type_id: 5}
    assert Qualification.objects.get().worker == late
    assert qualifications.score(requester, type_id, NOBODY).integer_value == 5


def test_grants_to_ids_that_nobody_has_have_a_limit_which_does_not_say_who_there_is(
    requester: Requester, stranger: str, type_id: str, now: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qualifications, "MOST_UNKNOWN", 2)
    for name in ("A0FIRST", "A0SECOND"):
        qualifications.grant(requester, type_id, name, now)
    for name in ("A0THIRD", stranger):
        with refused("InvalidParameterValue", match="kept for 2 IDs"):
            qualifications.grant(requester, type_id, name, now)
    qualifications.grant(requester, type_id, "A0FIRST", now, 7)
    accounts.create_worker("late", "worker", worker_id="A0SECOND")
    qualifications.grant(requester, type_id, stranger, now)
