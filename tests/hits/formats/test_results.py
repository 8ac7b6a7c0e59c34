"""Results in Mechanical Turk's columns, held against a file that Mechanical Turk wrote."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from hits.formats.outputs.results import AskedHit, Result, results_batches, results_columns
from tests.hits.formats.shared_data import shared_file

MOMENT = datetime(2026, 3, 5, 23, 30, 1, tzinfo=timezone(timedelta(hours=-8)))
HIT = AskedHit(
    hit_id="3HIT", hit_type_id="3TYPE", title="Pick", description="Pick one, or more", keywords="a, b",
    reward=Decimal("0.1"), created_at=MOMENT, max_assignments=3, duration_seconds=600, auto_approval_seconds=3600,
    expires_at=MOMENT, inputs={"n": 1},
)  # fmt: skip
RESULT = Result(
    hit=HIT, assignment_id="3ASG", worker_id="A1", status="Approved", accepted_at=MOMENT, submitted_at=MOMENT,
    work_seconds=41.6, approved_at=MOMENT, feedback="=thanks",
    answers={"text": "x|y", "ticked": ["a", "b"], "order": [2, 1], "sure": True, "none": None},
)  # fmt: skip
COLUMNS = results_columns(["n"], ["ticked", "text", "order", "sure", "none"])


def rows_of(results: list[Any], columns: tuple[str, ...]) -> list[dict[str, str]]:
    batches = [list(zip(*batch, strict=True)) for batch in results_batches(results, columns)]
    return [dict(zip(columns, cells, strict=True)) for batch in batches for cells in batch]


def test_a_row_has_the_columns_in_order_and_texts_only():
    (row,) = rows_of([RESULT], COLUMNS)
    assert tuple(row) == COLUMNS and all(type(cell) is str for cell in row.values())
    assert (row["Reward"], row["WorkTimeInSeconds"], row["RequesterFeedback"]) == ("$0.10", "42", "=thanks")
    assert row["ApprovalTime"] == row["SubmitTime"] == "Fri Mar 06 07:30:01 UTC 2026"
    assert row["RejectionTime"] == row["AutoApprovalTime"] == row["Approve"] == row["LifetimeApprovalRate"] == ""
    answers = {name: row[f"Answer.{name}"] for name in RESULT.answers} | {"n": row["Input.n"]}
    assert answers == {"text": "x|y", "ticked": "a|b", "order": "[2, 1]", "sure": "true", "none": "null", "n": "1"}


def test_a_field_that_one_result_lacks_is_empty_and_one_without_a_column_is_refused():
    without, more = RESULT._replace(answers={}), RESULT._replace(answers={"new": "1"}, assignment_id="3NEW")
    assert [row["Answer.text"] for row in rows_of([without, RESULT], COLUMNS)] == ["", "x|y"]
    with pytest.raises(ValueError, match="assignment 3NEW has fields without a column: Answer.new"):
        rows_of([RESULT, more], COLUMNS)
    with pytest.raises(ValueError, match="assignment 3ASG has fields without a column: Input.m"):
        rows_of([RESULT._replace(hit=replace(HIT, inputs={"m": "1"}))], COLUMNS)
    with pytest.raises(ValueError, match="assignment 3OLD has fields without a column: Answer.new"):
        rows_of([RESULT, {"AssignmentId": "3OLD", "Answer.new": "1"}], COLUMNS)


def test_rows_of_other_files_stand_in_their_order_among_the_results():
    old = {"AssignmentId": "3OLD", "Answer.text": "was", "Reward": "$0.02"}
    found = rows_of([RESULT, old, RESULT._replace(more={"From": "a file"})], (*COLUMNS, "From"))
    assert [(row["AssignmentId"], row["Answer.text"], row["Reward"], row["Input.n"], row["From"]) for row in found] == [
        ("3ASG", "x|y", "$0.10", "1", ""), ("3OLD", "was", "$0.02", "", ""), ("3ASG", "x|y", "$0.10", "1", "a file")
    ]  # fmt: skip


def test_the_shared_download_is_written_again_cell_by_cell():
    """Two differences are meant: times in UTC, and the rates of approval, which are Mechanical Turk's own."""
    with shared_file("mturk-results/results.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    theirs = [dict(zip(head, line, strict=True)) for line in lines]
    inputs = [name[6:] for name in head if name.startswith("Input.")]
    answers = [name[7:] for name in head if name.startswith("Answer.")]
    columns = results_columns(inputs, answers)
    assert list(columns) == head
    ours = rows_of([result_of(row, inputs, answers) for row in theirs], columns)
    assert len(ours) == 1962
    for mine, their in zip(ours, theirs, strict=True):
        expected = {name: "" if name.endswith("ApprovalRate") else cell for name, cell in their.items()}
        same = {name: str(moment(cell)) if " UTC " in cell else cell for name, cell in mine.items()}
        assert same == {name: str(moment(cell)) if " PDT " in cell else cell for name, cell in expected.items()}


@cache
def moment(text: str) -> datetime:
    _, month, day, clock, zone, year = text.split()
    local = datetime.strptime(f"{month} {day} {clock} {year}", "%b %d %H:%M:%S %Y")
    return (local + timedelta(hours={"PDT": 7, "UTC": 0}[zone])).replace(tzinfo=UTC)


def result_of(row: dict[str, str], inputs: list[str], answers: list[str]) -> Result:
    hit = AskedHit(
        hit_id=row["HITId"], hit_type_id=row["HITTypeId"], title=row["Title"], description=row["Description"],
        keywords=row["Keywords"], reward=Decimal(row["Reward"][1:]), created_at=moment(row["CreationTime"]),
        max_assignments=int(row["MaxAssignments"]), duration_seconds=int(row["AssignmentDurationInSeconds"]),
        auto_approval_seconds=int(row["AutoApprovalDelayInSeconds"]), expires_at=moment(row["Expiration"]),
        annotation=row["RequesterAnnotation"], inputs={name: row[f"Input.{name}"] for name in inputs},
    )  # fmt: skip
    return Result(
        hit=hit, assignment_id=row["AssignmentId"], worker_id=row["WorkerId"], status=row["AssignmentStatus"],
        accepted_at=moment(row["AcceptTime"]), submitted_at=moment(row["SubmitTime"]),
        auto_approval_at=moment(row["AutoApprovalTime"]), work_seconds=float(row["WorkTimeInSeconds"]),
        answers={name: row[f"Answer.{name}"] for name in answers},
    )  # fmt: skip
