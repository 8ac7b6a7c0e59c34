"""Results in the columns of Mechanical Turk's own download: one row an assignment, for the tools that read those.

Times are written as that download writes them, in UTC. The rates of approval, which only Mechanical Turk knows, and
the columns for reviewing in a spreadsheet are left empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

_BEFORE = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
_AFTER = ("Approve", "Reject")
# All that the download has besides the fields of the task.
OWN_COLUMNS = (*_BEFORE, *_AFTER)
INPUT, ANSWER = "Input.", "Answer."
_SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Result:
    """An assignment and its HIT. Times know their zone; `inputs` and `answers` map a field's name to its value, `more`
    a column that the download does not have to its cell.
    """

    hit_id: str
    hit_type_id: str
    title: str
    description: str
    keywords: str
    reward: Decimal | None
    created_at: datetime | None
    max_assignments: int | None
    duration_seconds: int | None
    auto_approval_seconds: int | None
    expires_at: datetime | None
    assignment_id: str
    worker_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    work_seconds: float | None
    inputs: Mapping[str, Any]
    answers: Mapping[str, Any]
    annotation: str = ""
    auto_approval_at: datetime | None = None
    approved_at: datetime | None = None
    rejected_at: datetime | None = None
    feedback: str = ""
    more: Mapping[str, str] = field(default_factory=dict)


def results_columns(inputs: Iterable[str], answers: Iterable[str], more: Iterable[str] = ()) -> tuple[str, ...]:
    """All columns, given the names of the fields: inputs in the given order, answers by name, as in the download, and
    behind them those that it does not have.
    """
    fields = [f"{INPUT}{name}" for name in inputs] + [f"{ANSWER}{name}" for name in sorted(answers)]
    return (*_BEFORE, *fields, *_AFTER, *more)


def results_rows(results: Iterable[Result | Mapping[str, str]], columns: Iterable[str]) -> Iterator[dict[str, str]]:
    """A row of texts for each result, by the names of `results_columns`; a field that a result lacks is empty.

    A mapping is a row already, as one of Mechanical Turk's own files had it.

    Several ticked boxes, a list of texts, are parted by |, and anything else that is not a text is JSON. Raises
    ValueError for a result with a field that is none of the columns: it would be lost.
    """
    empty = dict.fromkeys(columns, "")
    for result in results:
        row = empty | (_cells(result) if isinstance(result, Result) else dict(result))
        if len(row) > len(empty):
            lost = sorted(row.keys() - empty.keys())
            raise ValueError(f"assignment {row['AssignmentId']} has fields without a column: {', '.join(lost)}")
        yield row


def _cells(result: Result) -> dict[str, str]:
    return {
        "HITId": result.hit_id,
        "HITTypeId": result.hit_type_id,
        "Title": result.title,
        "Description": result.description,
        "Keywords": result.keywords,
        "Reward": "" if result.reward is None else f"${result.reward:.2f}",
        "CreationTime": _time(result.created_at),
        "MaxAssignments": _number(result.max_assignments),
        "RequesterAnnotation": result.annotation,
        "AssignmentDurationInSeconds": _number(result.duration_seconds),
        "AutoApprovalDelayInSeconds": _number(result.auto_approval_seconds),
        "Expiration": _time(result.expires_at),
        "AssignmentId": result.assignment_id,
        "WorkerId": result.worker_id,
        "AssignmentStatus": result.status,
        "AcceptTime": _time(result.accepted_at),
        "SubmitTime": _time(result.submitted_at),
        "AutoApprovalTime": _time(result.auto_approval_at),
        "ApprovalTime": _time(result.approved_at),
        "RejectionTime": _time(result.rejected_at),
        "RequesterFeedback": result.feedback,
        "WorkTimeInSeconds": _number(result.work_seconds),
        **{f"{INPUT}{name}": _field(value) for name, value in result.inputs.items()},
        **{f"{ANSWER}{name}": _field(value) for name, value in result.answers.items()},
        **result.more,
    }


def _number(value: float | None) -> str:
    return "" if value is None else str(round(value))


@lru_cache(1000)
def _time(moment: datetime | None) -> str:
    """As in Sat Apr 24 17:19:43 UTC 2021; empty where there is none."""
    return moment.astimezone(UTC).strftime("%a %b %d %H:%M:%S UTC %Y") if moment else ""


def _field(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _SEPARATOR.join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
