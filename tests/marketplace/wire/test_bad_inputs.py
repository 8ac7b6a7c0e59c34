"""Inputs that the model allows, or that boto3 lets through, and that the marketplace refuses."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from marketplace.models import HitType
from marketplace.rules.questions.html import HtmlQuestion, html_question_xml
from tests.marketplace.conftest import QUESTION
from tests.marketplace.wire.test_contract import call

TYPE = {"Title": "T", "Description": "D", "Reward": "0.05", "AssignmentDurationInSeconds": 600}
HIT = TYPE | {"LifetimeInSeconds": 3600, "Question": QUESTION}
V, P, R = "ValidationException", "ParameterValidationError", "RequestError"
XMLNS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def question(inner: str, namespace: str = XMLNS, root: str = "ExternalQuestion", head: str = "") -> str:
    return f'{head}<{root} xmlns="{namespace}">{inner}</{root}>'


def external(url: str, height: str = "600", head: str = "") -> str:
    return question(f"<ExternalURL>{url}</ExternalURL><FrameHeight>{height}</FrameHeight>", head=head)


def html(page: str) -> str:
    return html_question_xml(HtmlQuestion(page, 0))


def requirement(**values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": "00000000000000000040", "Comparator": "EqualTo", "IntegerValues": [1]} | values


def locale(comparator: str, countries: list[str]) -> dict[str, Any]:
    return {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": comparator,
        "LocaleValues": [{"Country": country} for country in countries],
    }


CA_IN_FRANCE = locale("EqualTo", []) | {
    "IntegerValues": None,
    "LocaleValues": [{"Country": "FR", "Subdivision": "CA"}],
}
ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

CASES = [
    ("a reward of three decimals", {"Reward": "1.234"}, V, "regular expression"),
    ("a negative reward", {"Reward": "-1"}, V, "regular expression"),
    ("a reward in words", {"Reward": "abc"}, V, "regular expression"),
    ("an empty reward", {"Reward": ""}, V, "regular expression"),
    ("a reward beyond all measure", {"Reward": "9" * 40}, P, "out of range"),
    ("a title of 129 characters", {"Title": "t" * 129}, P, "at most 128"),
    ("an empty title", {"Title": ""}, P, "blank"),
    ("a blank title", {"Title": "  "}, P, "blank"),
    ("a description of 2001 characters", {"Description": "d" * 2001}, P, "at most 2000"),
    ("keywords of 1001 characters", {"Keywords": "k" * 1001}, P, "at most 1000"),
    ("a question that is not XML", {"Question": "what?"}, P, "error parsing the XML"),
    ("an empty question", {"Question": ""}, P, "error parsing the XML"),
    ("a question in another namespace", {"Question": question("", "urn:x")}, P, "namespace"),
    ("a question without a frame height", {"Question": question("<ExternalURL>https://a.b</ExternalURL>")}, P, "Frame"),
    ("a frame height in words", {"Question": external("https://a.b/", "tall")}, P, "pixels"),
    ("a question of one kind in the namespace of another", {"Question": question("", root="HTMLQuestion")}, P, "HTMLQ"),
    ("an HTML question with invalid HTML5", {"Question": html("<div><span>x</div></span>")}, P, "Errors: [1,18]"),
    ("an HTML question with another element", {"Question": html("<crowd-line></crowd-line>")}, P, "line"),
    ("a question of 65,536 bytes", {"Question": external("https://a.b/" + "x" * 65_400)}, P, "at most 65535"),
    ("a question of many wide characters", {"Question": external("https://a.b/" + "é" * 33_000)}, P, "at most 65535"),
    ("neither question nor layout", {"Question": None}, P, "either Question or HITLayoutId"),
    ("question and layout", {"HITLayoutId": "3ABC"}, P, "not both"),
    ("an unknown layout", {"Question": None, "HITLayoutId": "3ABC"}, R, "HITLayoutDoesNotExist"),
    ("plain http", {"Question": external("http://tasks.example.org/")}, P, "https"),
    ("a script address", {"Question": external("javascript:alert(1)")}, P, "whole address"),
    ("an external entity", {"Question": external("https://a.b/&e;", head=ENTITY)}, P, "not allowed"),
    ("an entity bomb", {"Question": external("https://a.b/&b;", head=BOMB)}, P, "not allowed"),
    ("no assignments", {"MaxAssignments": 0}, P, "out of range"),
    ("minus one assignments", {"MaxAssignments": -1}, P, "out of range"),
    ("more than a thousand million assignments", {"MaxAssignments": 1_000_000_001}, P, "out of range"),
    ("a life of 29 seconds", {"LifetimeInSeconds": 29}, P, "out of range"),
    ("a life of more than a year", {"LifetimeInSeconds": 31_536_001}, P, "out of range"),
    ("a duration of 29 seconds", {"AssignmentDurationInSeconds": 29}, P, "out of range"),
    ("a duration of more than a year", {"AssignmentDurationInSeconds": 31_536_001}, P, "out of range"),
    ("approval before submission", {"AutoApprovalDelayInSeconds": -1}, P, "out of range"),
    ("approval after more than 30 days", {"AutoApprovalDelayInSeconds": 2_592_001}, P, "out of range"),
    ("an annotation of 256 characters", {"RequesterAnnotation": "a" * 256}, P, "at most 255"),
    ("a token of 65 characters", {"UniqueRequestToken": "t" * 65}, V, "less than or equal to 64"),
    ("an empty token", {"UniqueRequestToken": ""}, V, "greater than or equal to 1"),
    ("an empty policy", {"HITReviewPolicy": {"PolicyName": "SimplePlurality/2011-09-01"}}, P, "QuestionIds is missing"),
    ("more than the account holds", {"Reward": "9000", "MaxAssignments": 2}, R, "InsufficientFunds"),
]
REQUIREMENTS = [
    ("an unknown type", [requirement(QualificationTypeId="3UNKNOWN")], R, "QualificationTypeDoesNotExist"),
    ("Exists with values", [requirement(Comparator="Exists")], P, "no values"),
    ("EqualTo without a value", [requirement(IntegerValues=None)], P, "exactly one"),
    ("EqualTo with two values", [requirement(IntegerValues=[1, 2])], P, "exactly one"),
    ("In with 16 numbers", [requirement(Comparator="In", IntegerValues=list(range(16)))], P, "1 to 15"),
    ("In with 31 places", [locale("In", ["US"] * 31)], P, "1 to 30"),
    ("a place that is greater", [locale("GreaterThan", ["US"])], P, "no order"),
    ("a place by number", [requirement(QualificationTypeId="00000000000000000071")], P, "use LocaleValues"),
    ("a number by place", [locale("In", ["US"]) | {"QualificationTypeId": "00000000000000000040"}], P, "use IntegerV"),
    ("a country that does not exist", [locale("In", ["US", "XX"])], P, "'XX'"),
    ("a country in small letters", [locale("EqualTo", ["us"])], P, "not a code of ISO 3166"),
    ("a state of another country", [requirement(**CA_IN_FRANCE)], P, "for FR"),
    ("a country of three letters", [locale("In", ["USA"])], V, "countr"),
    ("a comparator of fancy", [requirement(Comparator="Fuzzy")], V, "enum value set"),
    ("eleven requirements", [requirement(IntegerValues=[i]) for i in range(11)], P, "at most 10"),
    ("guards that disagree", [requirement(RequiredToPreview=True, ActionsGuarded="Accept")], P, "contradict"),
]


@pytest.fixture(autouse=True)
def alice(requester: Any) -> Any:
    return requester


@pytest.mark.parametrize(("change", "code", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_bad_value_is_refused_by_its_code(client: Client, change: dict[str, Any], code: str, words: str) -> None:
    status, body = call(client, "CreateHIT", HIT | change)
    assert (status, body["__type"]) == (400, code)
    assert words in body["Message"] or words in body["TurkErrorCode"]
    assert call(client, "ListHITs", {})[1]["NumResults"] == 0


@pytest.mark.parametrize(
    ("requirements", "code", "words"), [c[1:] for c in REQUIREMENTS], ids=[c[0] for c in REQUIREMENTS]
)
def test_it_refuses_the_requirement(client: Client, requirements: Any, code: str, words: str) -> None:
    status, body = call(client, "CreateHITType", TYPE | {"QualificationRequirements": requirements})
    assert (status, body["__type"]) == (400, code)
    assert words in body["Message"] or words in body["TurkErrorCode"]
    assert not HitType.objects.exists()


@pytest.mark.parametrize("guard", [{}, {"RequiredToPreview": True}, {"ActionsGuarded": "DiscoverPreviewAndAccept"}])
def test_a_hit_is_made_again_from_its_own_answer(client: Client, guard: dict[str, Any]) -> None:
    asked = [requirement(**guard), locale("In", ["US", "CA"])]
    made = call(client, "CreateHIT", HIT | {"QualificationRequirements": asked})[1]["HIT"]
    again = call(client, "CreateHIT", HIT | {"QualificationRequirements": made["QualificationRequirements"]})[1]["HIT"]
    assert again["HITTypeId"] == made["HITTypeId"]


@pytest.mark.parametrize("reward", ["0", "0.00", "0.", "000.5"])
def test_it_takes_an_unusual_reward(client: Client, reward: str) -> None:
    status, body = call(client, "CreateHIT", HIT | {"Reward": reward})
    assert status == 200
    assert Decimal(body["HIT"]["Reward"]) == Decimal(reward)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_it_takes_plain_http_on_this_machine(client: Client, host: str) -> None:
    assert call(client, "CreateHIT", HIT | {"Question": external(f"http://{host}/task")})[0] == 200


def test_limits_themselves_are_taken(client: Client) -> None:
    at_the_limit = {
        "Title": "t" * 128,
        "Description": "d" * 2000,
        "Keywords": "k" * 1000,
        "RequesterAnnotation": "a" * 255,
        "UniqueRequestToken": "t" * 64,
        "LifetimeInSeconds": 30,
        "AssignmentDurationInSeconds": 31_536_000,
        "AutoApprovalDelayInSeconds": 0,
        "QualificationRequirements": [requirement(IntegerValues=[i]) for i in range(10)],
    }
    assert call(client, "CreateHIT", HIT | at_the_limit)[0] == 200


def test_texts_come_back_as_they_were_sent(client: Client) -> None:
    text = "Zoë’s “quote” \U0001f600 <b>&amp;"
    created = call(client, "CreateHIT", HIT | {"Title": text, "RequesterAnnotation": text})[1]["HIT"]
    found = call(client, "GetHIT", {"HITId": created["HITId"]})[1]["HIT"]
    assert (found["Title"], found["RequesterAnnotation"]) == (text, text)


@pytest.mark.parametrize(
    ("operation", "parameters", "code", "words"),
    [
        ("GetHIT", {"HITId": "3NONE"}, R, "Hit 3NONE does not exist."),
        ("GetHIT", {"HITId": "a-b"}, V, "regular expression"),
        ("DeleteHIT", {"HITId": "3NONE"}, R, "HITDoesNotExist"),
        ("ListReviewableHITs", {"HITTypeId": "3NONE"}, R, "HITTypeDoesNotExist"),
        ("ListHITs", {"MaxResults": 101}, V, "less than or equal to 100"),
        ("ListHITs", {"MaxResults": 0}, V, "greater than or equal to 1"),
        ("ListHITs", {"NextToken": "foreign"}, R, "InvalidParameterValue"),
        ("ListAssignmentsForHIT", {"HITId": "3A", "AssignmentStatuses": ["Bogus"]}, V, "enum value set"),
        ("ApproveAssignment", {"AssignmentId": "3NONE"}, R, "AssignmentDoesNotExist"),
        ("RejectAssignment", {"AssignmentId": "3A", "RequesterFeedback": None}, V, "must not be null"),
        ("RejectAssignment", {"AssignmentId": "3A", "RequesterFeedback": "x" * 1025}, P, "at most 1024"),
        ("GetAssignment", {"AssignmentId": "3NONE"}, R, "Assignment 3NONE does not exist."),
        ("UpdateExpirationForHIT", {"HITId": "3NONE", "ExpireAt": 0}, R, "HITDoesNotExist"),
        ("UpdateExpirationForHIT", {"HITId": "3NONE", "ExpireAt": 9e9}, P, "out of range"),
        ("UpdateExpirationForHIT", {"HITId": "3NONE", "ExpireAt": 1e300}, "SerializationException", "out of range"),
        ("CreateAdditionalAssignmentsForHIT", {"HITId": "3A", "NumberOfAdditionalAssignments": 0}, P, "out of range"),
        ("GetQualificationType", {"QualificationTypeId": "3NONE"}, R, "QualificationTypeDoesNotExist"),
        ("GetQualificationScore", {"QualificationTypeId": "3A", "WorkerId": "B1"}, V, "^A[A-Z0-9]+$"),
    ],
)
def test_it_refuses_the_call(client: Client, operation: str, parameters: Any, code: str, words: str) -> None:
    status, body = call(client, operation, parameters)
    assert (status, body["__type"]) == (400, code)
    assert words in body["Message"] or words in body["TurkErrorCode"]


def test_messages_of_refusals_end_with_the_time(client: Client, settings: Any) -> None:
    assert call(client, "GetHIT", {"HITId": "3NONE"})[1]["Message"].endswith(" s)")
    settings.MARKETPLACE_SANDBOX = False
    message = call(client, "GetHIT", {"HITId": "3NONE"})[1]["Message"]
    assert message.rpartition(" (")[2].removesuffix(")").isdigit()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Test": "<x/>"}, "TestDurationInSeconds"),
        ({"Test": "<x/>", "TestDurationInSeconds": 60, "AutoGranted": True}, "cannot be AutoGranted"),
        ({"Test": "<x/>", "TestDurationInSeconds": 60}, "error parsing the XML"),
        ({"Name": ""}, "blank"),
        ({"AnswerKey": "<x/>"}, "needs the Test"),
        ({"TestDurationInSeconds": 0}, "out of range"),
        ({"RetryDelayInSeconds": -1}, "out of range"),
    ],
)
def test_it_refuses_the_qualification_type(client: Client, change: dict[str, Any], words: str) -> None:
    values = {"Name": "Q", "Description": "d", "QualificationTypeStatus": "Active"}
    status, body = call(client, "CreateQualificationType", values | change)
    assert (status, body["__type"]) == (400, P)
    assert words in body["Message"]


def test_a_stranger_grants_and_reads_nothing(client: Client, worker: Any) -> None:
    for type_id in ("00000000000000000040", "3NONE"):
        about = {"QualificationTypeId": type_id, "WorkerId": worker.worker_id}
        for operation in (
            "AssociateQualificationWithWorker",
            "DisassociateQualificationFromWorker",
            "GetQualificationScore",
        ):
            status, body = call(client, operation, about)
            assert body["TurkErrorCode"] == "AWS.MechanicalTurk.QualificationTypeDoesNotExist"
