"""Calls as programs written for Mechanical Turk send them: psiTurk, oTree, amti, Dallinger, simple-amt.

Each was once refused by a check that was stricter than the service. Sent by unmodified boto3, to a running marketplace.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.models import Assignment, HitType, Requester, Worker
from marketplace.verbs import layouts
from tests.marketplace.acceptance.test_boto3 import FORM, TYPE
from tests.marketplace.conftest import QUESTION, boto3_client

ABOUT = TYPE | {"LifetimeInSeconds": 3600}
KIND = {"Name": "Read", "Description": "An example.", "QualificationTypeStatus": "Active"}
KEY = (
    '<AnswerKey xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/AnswerKey.xsd">'
    "<Question><QuestionIdentifier>q</QuestionIdentifier><AnswerOption><SelectionIdentifier>a</SelectionIdentifier>"
    "<AnswerScore>1</AnswerScore></AnswerOption></Question></AnswerKey>"
)
CHOICE = FORM.replace(
    "<FreeTextAnswer/>",
    "<SelectionAnswer><Selections><Selection><SelectionIdentifier>a</SelectionIdentifier><Text>A</Text></Selection>"
    "</Selections></SelectionAnswer>",
)
BOARD = FORM.replace(
    "<Text>Why?</Text>",
    "<Text>Why?</Text><Binary><MimeType><Type>image</Type><SubType>gif</SubType></MimeType>"
    "<DataURL>http://tictactoe.example.org/game/01523/board.gif</DataURL><AltText>The board</AltText></Binary>"
    "<FormattedContent><![CDATA[<p><img src='http://a.example.org/x.gif' alt='x'/></p>]]></FormattedContent>",
)


@pytest.fixture
def mturk(market: str, requester: Requester) -> Any:
    return boto3_client(market)


@pytest.fixture
def submitted(mturk: Any, answered: Any, worker: Worker) -> dict[str, str]:
    """AssignmentId of an answer that waits."""
    hit = mturk.create_hit(**ABOUT, Question=QUESTION)["HIT"]
    answer: Assignment = answered(HitType.objects.get(hit_type_id=hit["HITTypeId"]), worker)
    return {"AssignmentId": answer.assignment_id}


def code_of(call: Callable[..., Any], **parameters: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return str(caught.value.response["Error"]["Code"])


@pytest.mark.parametrize("feedback", ["", " "])
def test_a_rejection_may_say_nothing(mturk: Any, submitted: dict[str, str], feedback: str) -> None:
    """psiTurk and oTree reject so, always."""
    mturk.reject_assignment(**submitted, RequesterFeedback=feedback)
    answer = mturk.get_assignment(**submitted)["Assignment"]
    assert (answer["AssignmentStatus"], answer.get("RequesterFeedback", "").strip()) == ("Rejected", "")


def test_the_duration_of_a_test_is_taken_where_there_is_none(mturk: Any) -> None:
    """amti's example without a test."""
    made = mturk.create_qualification_type(**KIND, RetryDelayInSeconds=86_400, TestDurationInSeconds=3600)
    kind = made["QualificationType"]
    assert "Test" not in kind and "TestDurationInSeconds" not in kind
    about = {"QualificationTypeId": kind["QualificationTypeId"]}
    assert "Test" not in mturk.update_qualification_type(**about, TestDurationInSeconds=60)["QualificationType"]
    assert code_of(mturk.update_qualification_type, **about, TestDurationInSeconds=0) == "ParameterValidationError"
    assert code_of(mturk.update_qualification_type, **about, AnswerKey=KEY) == "ParameterValidationError"


def test_the_duration_or_the_key_of_a_test_can_be_changed_alone(mturk: Any) -> None:
    made = mturk.create_qualification_type(**KIND, Test=CHOICE, TestDurationInSeconds=600)["QualificationType"]
    about = {"QualificationTypeId": made["QualificationTypeId"]}
    with_key = mturk.update_qualification_type(**about, AnswerKey=KEY)["QualificationType"]
    assert (with_key["Test"], with_key["TestDurationInSeconds"], with_key["AnswerKey"]) == (CHOICE, 600, KEY)
    longer = mturk.update_qualification_type(**about, TestDurationInSeconds=900)["QualificationType"]
    assert (longer["Test"], longer["TestDurationInSeconds"], longer["AnswerKey"]) == (CHOICE, 900, KEY)
    assert mturk.get_qualification_type(**about)["QualificationType"]["TestDurationInSeconds"] == 900
    other = KEY.replace(">q<", ">other<")
    assert code_of(mturk.update_qualification_type, **about, AnswerKey=other) == "ParameterValidationError"
    assert code_of(mturk.update_qualification_type, **about, TestDurationInSeconds=0) == "ParameterValidationError"


def test_the_value_of_a_type_that_grants_nothing_by_itself_is_taken(mturk: Any) -> None:
    kind = mturk.create_qualification_type(**KIND, AutoGranted=False, AutoGrantedValue=3)["QualificationType"]
    assert kind["AutoGranted"] is False and "AutoGrantedValue" not in kind
    about = {"QualificationTypeId": kind["QualificationTypeId"]}
    mturk.update_qualification_type(**about, AutoGrantedValue=4)
    granting = mturk.update_qualification_type(**about, AutoGranted=True)["QualificationType"]
    assert (granting["AutoGranted"], granting["AutoGrantedValue"]) == (True, 1)
    assert "AutoGrantedValue" not in mturk.create_qualification_type(**KIND | {"Name": "B"}, AutoGrantedValue=3)


@pytest.mark.parametrize(
    ("older", "newer", "both"),
    [
        (None, None, (False, "Accept")),
        (True, None, (True, "PreviewAndAccept")),
        (False, "Accept", (False, "Accept")),
        (True, "PreviewAndAccept", (True, "PreviewAndAccept")),
        (True, "DiscoverPreviewAndAccept", (True, "DiscoverPreviewAndAccept")),
        (None, "DiscoverPreviewAndAccept", (True, "DiscoverPreviewAndAccept")),
        (True, "Accept", None),
        (False, "PreviewAndAccept", None),
        (False, "DiscoverPreviewAndAccept", None),
    ],
)
def test_a_guard_may_be_said_in_both_ways_and_is_answered_in_both(
    mturk: Any, older: bool | None, newer: str | None, both: tuple[bool, str] | None
) -> None:
    """psiTurk passes on what its user wrote, often copied from an answer of the service."""
    given = {"RequiredToPreview": older, "ActionsGuarded": newer}
    asked = {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [5]}
    asked |= {name: value for name, value in given.items() if value is not None}
    hit = ABOUT | {"Question": QUESTION, "QualificationRequirements": [asked]}
    if both is None:
        assert code_of(mturk.create_hit, **hit) == "ParameterValidationError"
        return
    made = mturk.create_hit(**hit)["HIT"]
    for answer in (made, mturk.get_hit(HITId=made["HITId"])["HIT"], mturk.list_hits()["HITs"][0]):
        found = answer["QualificationRequirements"][0]
        assert (found["RequiredToPreview"], found["ActionsGuarded"]) == both
    again = hit | {"QualificationRequirements": made["QualificationRequirements"]}
    assert mturk.create_hit(**again)["HIT"]["HITTypeId"] == made["HITTypeId"]


def test_the_end_of_a_deleted_hit_can_be_moved_and_nothing_happens(mturk: Any) -> None:
    """Dallinger ends a HIT before it deletes it, and does both again when it is told to twice."""
    about = {"HITId": mturk.create_hit(**ABOUT, Question=QUESTION)["HIT"]["HITId"]}
    mturk.update_expiration_for_hit(**about, ExpireAt=0)
    mturk.delete_hit(**about)
    before = mturk.get_hit(**about)["HIT"]
    later = before["Expiration"].replace(year=before["Expiration"].year + 1, month=1, day=1)
    for moment in (0, datetime(2015, 1, 1, tzinfo=UTC), later, later):
        assert list(mturk.update_expiration_for_hit(**about, ExpireAt=moment)) == ["ResponseMetadata"]
    assert mturk.get_hit(**about)["HIT"] == before
    assert before["HITStatus"] == "Disposed"
    with pytest.raises(ClientError, match="currently in the state 'Disposed'"):
        mturk.delete_hit(**about)


def test_a_form_may_show_pictures_by_http(mturk: Any) -> None:
    """The sample in Amazon's own documentation does."""
    assert mturk.create_hit(**ABOUT, Question=BOARD)["HIT"]["Question"] == BOARD
    odd = BOARD.replace("http://tictactoe", "javascript://tictactoe")
    assert code_of(mturk.create_hit, **ABOUT, Question=odd) == "ParameterValidationError"


def test_a_layout_takes_values_that_it_has_no_place_for(mturk: Any, requester: Requester, now: datetime) -> None:
    """Scripts pass every column of their file."""
    layout = layouts.register(requester, "L", "<form><p>${text}</p></form>", now)
    row = {"text": "one", "id": "17", "notes": "\x01 not even a character"}
    given = [{"Name": name, "Value": value} for name, value in row.items()]
    made = mturk.create_hit(**ABOUT, HITLayoutId=layout.layout_id, HITLayoutParameters=given)["HIT"]
    assert "<form><p>one</p></form>" in made["Question"]
