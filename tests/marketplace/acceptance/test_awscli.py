"""The command line of Amazon's own client, unchanged, against a running marketplace."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.verbs import assignments
from tests.marketplace.conftest import QUESTION

Aws = Callable[..., CompletedProcess[str]]
REQUIREMENT = json.dumps(
    [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": "US", "Subdivision": "CA"}],
            "ActionsGuarded": "DiscoverPreviewAndAccept",
        }
    ]
)
TYPE = ["--title", "T", "--description", "D", "--reward", "0.05", "--keywords", "a,b"]
TYPE += ["--assignment-duration-in-seconds", "600", "--auto-approval-delay-in-seconds", "3600"]


@pytest.fixture
def pair(make_hit: Any, hit_type: HitType, make_worker: Any, answered: Any) -> tuple[Hit, list[Assignment]]:
    """A HIT that two workers have answered."""
    hit = make_hit(hit_type, max_assignments=2)
    return hit, [answered(hit_type, make_worker(name)) for name in ("walter", "wilma")]


def test_it_reads_the_balance_by_flag_and_by_variable(aws: Aws) -> None:
    ask = ("get-account-balance", "--query", "AvailableBalance", "--output", "text")
    assert aws(*ask).stdout == "10000.00\n"
    assert aws(*ask, by_variable=True).stdout == "10000.00\n"


def test_the_same_type_twice_is_one_type_with_an_id_of_30_letters(aws: Aws) -> None:
    make = ("create-hit-type", *TYPE, "--qualification-requirements", REQUIREMENT)
    made = [aws(*make, "--query", "HITTypeId", "--output", "text").stdout for _ in range(2)]
    assert made[0] == made[1]
    assert len(made[0].strip()) == 30


def test_a_hit_is_published_from_a_file_and_its_token_works_once(aws: Aws, hit_type: HitType, tmp_path: Path) -> None:
    (tmp_path / "q.xml").write_text(QUESTION)
    publish = ["create-hit-with-hit-type", "--hit-type-id", hit_type.hit_type_id, "--max-assignments", "2"]
    publish += ["--lifetime-in-seconds", "3600", "--question", f"file://{tmp_path / 'q.xml'}"]
    publish += ["--requester-annotation", "b=1", "--unique-request-token", "cli-1"]
    hit_id = aws(*publish, "--query", "HIT.HITId", "--output", "text").stdout.strip()
    again = aws(*publish, status=255)
    said = "An error occurred (RequestError) when calling the CreateHITWithHITType operation: "
    assert f'{said}The HIT with ID "{hit_id}" already exists.' in again.stderr
    found = json.loads(aws("get-hit", "--hit-id", hit_id).stdout)["HIT"]
    assert (found["HITStatus"], found["NumberOfAssignmentsAvailable"]) == ("Assignable", 2)
    assert isinstance(found["CreationTime"], float)
    assert found["RequesterAnnotation"] == "b=1"


def test_it_lists_answers_as_rows_of_text(aws: Aws, pair: Any) -> None:
    hit, rows = pair
    query = ("--query", "Assignments[].[AssignmentId,AssignmentStatus,SubmitTime]", "--output", "text")
    lines = aws("list-assignments-for-hit", "--hit-id", hit.hit_id, *query).stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [[row.assignment_id, "Submitted"] for row in rows]


def test_it_approves_once(aws: Aws, pair: Any) -> None:
    hit, (first, _) = pair
    query = ("--no-paginate", "--query", "Assignments[0].AssignmentId", "--output", "text")
    found = aws("list-assignments-for-hit", "--hit-id", hit.hit_id, *query).stdout.strip()
    assert found == first.assignment_id
    approve = ("approve-assignment", "--assignment-id", found, "--requester-feedback", "ok")
    assert aws(*approve).stdout == ""
    assert "This operation can be called with a status of: Submitted" in aws(*approve, status=255).stderr


@pytest.mark.parametrize("moment", ["0", "2015-01-01T00:00:00Z"])
def test_it_ends_a_hit_by_number_and_by_date(aws: Aws, hit: Hit, moment: str) -> None:
    assert aws("update-expiration-for-hit", "--hit-id", hit.hit_id, "--expire-at", moment).stdout == ""
    hit.refresh_from_db()
    assert hit.state == "Reviewable"


def test_it_lists_hits_to_review_and_cuts_a_list_short(aws: Aws, pair: Any, make_hit: Any) -> None:
    hit, _ = pair
    ask = ("--hit-type-id", hit.hit_type.hit_type_id, "--no-paginate", "--query", "NumResults")
    assert aws("list-reviewable-hits", *ask).stdout == "1\n"
    for _ in range(3):
        make_hit(hit.hit_type)
    assert aws("list-hits", "--max-items", "3", "--query", "length(HITs)").stdout == "3\n"


def test_it_deletes_a_hit_only_when_all_is_judged(aws: Aws, pair: Any, requester: Requester, now: datetime) -> None:
    hit, rows = pair
    delete = ("delete-hit", "--hit-id", hit.hit_id)
    assert "This HIT is currently in the state 'Reviewable'" in aws(*delete, status=255).stderr
    for row in rows:
        assignments.approve(requester, row.assignment_id, now)
    assert aws(*delete).stdout == ""
    assert "in the state 'Disposed'" in aws(*delete, status=255).stderr


def test_it_makes_a_qualification_type(aws: Aws) -> None:
    make = ("create-qualification-type", "--name", "Q1", "--description", "d", "--qualification-type-status", "Active")
    made = json.loads(aws(*make).stdout)["QualificationType"]
    assert (made["Name"], made["QualificationTypeStatus"]) == ("Q1", "Active")


def test_it_writes_to_workers_and_names_those_it_cannot_reach(
    aws: Aws, pair: Any, requester: Requester, now: datetime
) -> None:
    _, rows = pair
    assignments.approve(requester, rows[0].assignment_id, now)
    write = ("notify-workers", "--subject", "s", "--message-text", "m", "--worker-ids", rows[0].worker.worker_id)
    (failure,) = json.loads(aws(*write, "A1UNKNOWN").stdout)["NotifyWorkersFailureStatuses"]
    assert (failure["NotifyWorkersFailureCode"], failure["WorkerId"]) == ("HardFailure", "A1UNKNOWN")


def test_it_sends_a_test_event(aws: Aws) -> None:
    about = "Destination=arn:aws:sns:us-east-1:1:t,Transport=SNS,Version=2014-08-15,EventTypes=Ping"
    assert aws("send-test-event-notification", "--notification", about, "--test-event-type", "Ping").stdout == ""


def test_it_pays_a_bonus_once(aws: Aws, pair: Any) -> None:
    _, rows = pair
    worker: Worker = rows[0].worker
    pay = ["send-bonus", "--worker-id", worker.worker_id, "--bonus-amount", "0.5"]
    pay += ["--assignment-id", rows[0].assignment_id, "--reason", "r", "--unique-request-token", "t"]
    assert aws(*pay).stdout == ""
    assert 'The idempotency token "t" has already been processed.' in aws(*pay, status=255).stderr
    listed = json.loads(aws("list-bonus-payments", "--assignment-id", rows[0].assignment_id).stdout)["BonusPayments"]
    assert [bonus["BonusAmount"] for bonus in listed] == ["0.50"]
