from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ParamValidationError
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hits.mturk import errors
from hits.mturk.question import ANSWERS, external_question, read_answers

STATE = "AWS.MechanicalTurk.InvalidAssignmentState"
NAMESPACE = ANSWERS.strip("{}")


def _document(answers: list[tuple[str, str]]) -> str:
    """QuestionFormAnswers as the service returns it: ASCII, written by another library."""
    root = etree.Element(f"{ANSWERS}QuestionFormAnswers", nsmap={None: NAMESPACE})
    for name, text in answers:
        answer = etree.SubElement(root, f"{ANSWERS}Answer")
        etree.SubElement(answer, f"{ANSWERS}QuestionIdentifier").text = name
        etree.SubElement(answer, f"{ANSWERS}FreeText").text = text
    return etree.tostring(root, encoding="ASCII", xml_declaration=True).decode()


printable = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"), max_size=80)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), printable, max_size=5))
def test_answers_come_back_as_they_were_posted(fields):
    assert read_answers(_document(list(fields.items()))) == fields


def test_a_field_posted_twice_is_joined():
    assert read_answers(_document([("a", "x"), ("a", "y")])) == {"a": "x|y"}


def test_entities_in_an_answer_document_are_refused():
    with pytest.raises(Exception, match="Entit"):
        read_answers('<!DOCTYPE a [<!ENTITY x "boom">]><a>&x;</a>')


def test_the_question_carries_the_address_escaped():
    root = etree.fromstring(external_question("https://x.example/task/?a=1&b=<2>"))
    assert root[0].text == "https://x.example/task/?a=1&b=<2>"
    assert root[1].text == "0"


def _client_error(code: str, message: str, turk: str = "", status: int = 400) -> ClientError:
    reply: dict[str, Any] = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    if turk:
        reply["TurkErrorCode"] = turk
    return ClientError(cast(Any, reply), "CreateHIT")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (_client_error("ThrottlingException", "Rate exceeded"), errors.ThrottledError),
        (_client_error("ServiceFault", "oops", status=500), errors.UnreachableError),
        (_client_error("505", "", status=505), errors.UnreachableError),
        (EndpointConnectionError(endpoint_url="http://x"), errors.UnreachableError),
        (_client_error("RequestError", "Hit X does not exist.", "AWS.X.HITDoesNotExist"), errors.GoneError),
        (_client_error("ParameterValidationError", "bad XML"), errors.RefusedError),
        (_client_error("TooManyRequestsException", "slow", status=429), errors.ThrottledError),
        (_client_error("UnrecognizedClientException", "The token is invalid."), errors.CredentialsError),
        (NoCredentialsError(), errors.CredentialsError),
        (ParamValidationError(report="Invalid length for HITId"), errors.RefusedError),
        (
            _client_error("RequestError", "This operation can be called with a status of: null", STATE),
            errors.NotYetError,
        ),
        (
            _client_error("RequestError", "This operation can be called with a status of: Submitted", STATE),
            errors.WrongStateError,
        ),
        (
            _client_error("RequestError", "Low balance.", "AWS.MechanicalTurk.InsufficientFunds"),
            errors.InsufficientFundsError,
        ),
        (
            _client_error("RequestError", 'The idempotency token "t" has already been processed.', "X.Y"),
            errors.AlreadyDoneError,
        ),
    ],
)
def test_each_family_of_errors_says_what_to_do_next(error, kind):
    assert type(errors.from_boto(error)) is kind


@pytest.mark.parametrize("spelling", ["AWS.MechanicalTurk.HITAlreadyExists", "AWS.MechanicalTurk.HitAlreadyExists", ""])
def test_an_existing_hit_is_named_by_its_id(spelling):
    found = errors.from_boto(_client_error("RequestError", 'The HIT with ID "3ABC" already exists. (1)', spelling))
    assert isinstance(found, errors.AlreadyExistsError)
    assert found.hit_id == "3ABC"


def test_an_endless_message_of_the_marketplace_is_cut():
    error = errors.from_boto(_client_error("ParameterValidationError", "no form; " * 10_000))
    assert len(str(error)) < 2100 and str(error).endswith(" more characters were cut off]")
