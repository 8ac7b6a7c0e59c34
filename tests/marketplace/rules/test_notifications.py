import json
from datetime import UTC, datetime
from typing import Any

import pytest

from marketplace.rules import notifications
from marketplace.rules.errors import ParameterValidationError
from tests.marketplace.refusals import refused

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/answers"
SPECIFICATION = {
    "Destination": QUEUE,
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["HITReviewable", "AssignmentSubmitted", "HITReviewable"],
}


def check(test: bool = False, loopback: bool = False, **changed: Any) -> notifications.Specification:
    return notifications.check_specification(SPECIFICATION | changed, test=test, loopback=loopback)


@pytest.mark.parametrize("version", ["2006-05-05", "2014-08-15"])
def test_a_specification_comes_back_in_normal_form(version: str) -> None:
    assert check(Version=version) == {
        "Transport": "SQS",
        "Destination": QUEUE,
        "EventTypes": ["HITReviewable", "AssignmentSubmitted"],
    }


@pytest.mark.parametrize(
    "changed", [{"Version": "2006-05-06"}, {"Version": "2014-08-15 "}, {"EventTypes": []}, {"EventTypes": ["Ping"]}]
)
def test_an_unknown_version_no_event_and_ping_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ParameterValidationError):
        check(**changed)


def test_ping_is_for_tests_only() -> None:
    assert check(test=True, EventTypes=["Ping"])["EventTypes"] == ["Ping"]


@pytest.mark.parametrize(
    ("transport", "destination", "fits"),
    [
        ("SQS", QUEUE, True),
        ("SQS", f"{QUEUE}.fifo", True),
        ("SQS", "arn:aws:sqs:us-east-1:1:q", False),
        ("SQS", "http://sqs.example.org/1/q", False),
        ("SQS", "http://127.0.0.1:5000/1/q", False),
        ("SQS", f"{QUEUE}?Action=DeleteQueue", False),
        ("SQS", "https://[::1/1/q", False),
        ("SQS", QUEUE + "a" * 500, False),
        ("SNS", "arn:aws:sns:us-east-1:1:t", True),
        ("SNS", "arn:aws:sns:us-east-1:1:t\n", False),
        ("SNS", QUEUE, False),
        ("Email", "lab@example.org", True),
        ("Email", "lab@example.org\nBcc: all@example.org", False),
        ("Email", "Lab <lab@example.org>", False),
    ],
)
def test_a_destination_must_fit_its_transport(transport: str, destination: str, fits: bool) -> None:
    if fits:
        assert check(Transport=transport, Destination=destination)["Destination"] == destination
    else:
        with refused("InvalidTransportEndpoint"):
            check(Transport=transport, Destination=destination)


def test_a_sandbox_takes_a_queue_on_its_own_machine() -> None:
    assert check(loopback=True, Destination="http://127.0.0.1:5000/123456789012/q")
    with refused("InvalidTransportEndpoint"):
        check(loopback=True, Destination="http://10.0.0.1:5000/123456789012/q")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "https://localhost/hook",
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://user:secret@example.org/",
        "https://example.org:99999/",
        "https://example.org/a b",
        "https://example.org/\r\nHost: other",
        "ftp://example.org/",
        "file:///etc/passwd",
        "https:///hook",
        "",
        "https://example.org/" + "a" * 500,
    ],
)
def test_a_webhook_goes_to_the_internet_only(url: str) -> None:
    with refused("InvalidTransportEndpoint"):
        notifications.check_webhook_url(url, loopback=False)


def test_a_webhook_may_be_on_the_same_machine_where_that_is_allowed() -> None:
    assert notifications.check_webhook_url("https://example.org/hook?a=1", loopback=False)
    assert notifications.check_webhook_url("http://127.0.0.1:9000/hook", loopback=True)
    with refused("InvalidTransportEndpoint"):
        notifications.check_webhook_url("http://example.org/hook", loopback=True)


def test_a_document_has_the_form_that_receivers_know() -> None:
    moment = datetime(2019, 8, 9, 21, 17, 16, 500, tzinfo=UTC)
    entry = notifications.event("AssignmentSubmitted", moment, "3TYPE", "3HIT", "3ASSIGNMENT")
    document = json.loads(notifications.document([entry], "d" * 40, "A1B2"))
    assert document == {
        "Events": [
            {
                "EventType": "AssignmentSubmitted",
                "EventTimestamp": "2019-08-09T21:17:16Z",
                "HITId": "3HIT",
                "AssignmentId": "3ASSIGNMENT",
                "HITTypeId": "3TYPE",
            }
        ],
        "EventDocId": "d" * 40,
        "SourceAccount": notifications.account_number("A1B2"),
        "CustomerId": "A1B2",
        "EventDocVersion": "2014-08-15",
    }
    assert len(document["SourceAccount"]) == 12 and document["SourceAccount"].isdigit()


def test_attempts_come_more_and_more_slowly_and_end() -> None:
    waits = [notifications.retry_after(attempts) for attempts in range(1, 11)]
    assert waits[-1] is None
    assert waits[:-1] == sorted(set(waits[:-1]))  # type: ignore[type-var]
