"""Results in the columns of Mechanical Turk's own download: one row an assignment, for the tools that read those.

Times are written as that download writes them, in UTC. The rates of approval, which only Mechanical Turk knows, and
the columns for reviewing in a spreadsheet are left empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

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


@dataclass(frozen=True)
class AskedHit:
    """A HIT, of which several assignments may have to be written. `inputs` maps a field's name to its value."""

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
    inputs: Mapping[str, Any]
    annotation: str = ""

    @cached_property
    def cells(self) -> dict[str, str]:
        """Made once for all of its assignments."""
        return {
            "HITId": self.hit_id,
            "HITTypeId": self.hit_type_id,
            "Title": self.title,
            "Description": self.description,
            "Keywords": self.keywords,
            "Reward": "" if self.reward is None else f"${self.reward:.2f}",
            "CreationTime": _time(self.created_at),
            "MaxAssignments": _number(self.max_assignments),
            "RequesterAnnotation": self.annotation,
            "AssignmentDurationInSeconds": _number(self.duration_seconds),
            "AutoApprovalDelayInSeconds": _number(self.auto_approval_seconds),
            "Expiration": _time(self.expires_at),
            **{f"{INPUT}{name}": cell_of(value) for name, value in self.inputs.items()},
        }


class Result(NamedTuple):
    """An assignment of a HIT. Times know their zone; `answers` maps a field's name to its value, `more` a column that
    the download does not have to its cell.
    """

    hit: AskedHit
    assignment_id: str
    worker_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    work_seconds: float | None
    answers: Mapping[str, Any]
    auto_approval_at: datetime | None = None
    approved_at: datetime | None = None
    rejected_at: datetime | None = None
    feedback: str = ""
    more: Mapping[str, str] = MappingProxyType({})


def results_columns(inputs: Iterable[str], answers: Iterable[str], more: Iterable[str] = ()) -> tuple[str, ...]:
    """All columns, given the names of the fields: inputs in the given order, answers by name, as in the download, and
    behind them those that it does not have.
    """
    fields = [f"{INPUT}{name}" for name in inputs] + [f"{ANSWER}{name}" for name in sorted(answers)]
    return (*_BEFORE, *fields, *_AFTER, *more)


def results_batches(
    results: Iterable[Result | Mapping[str, str]], columns: Sequence[str]
) -> Iterator[list[Sequence[str]]]:
    """A row of texts for each result, those of neighbours together, as the cells of each of the columns of
    `results_columns`, in their order. A field that a result lacks is empty.

    A mapping is a row already, as one of Mechanical Turk's own files had it.

    Several ticked boxes, a list of texts, are parted by |, and anything else that is not a text is JSON. Raises
    ValueError for a result with a field that is none of the columns: it would be lost.
    """
    for made, run in groupby(results, lambda result: isinstance(result, Result)):
        batch: list[Any] = list(run)
        yield _batch(batch, columns) if made else _rows(batch, columns)


def _rows(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> list[Sequence[str]]:
    _refuse_lost(rows, columns, [row.get("AssignmentId", "") for row in rows])
    return [[row.get(name, "") for row in rows] for name in columns]


def _batch(results: Sequence[Result], columns: Sequence[str]) -> list[Sequence[str]]:
    hits, ids, workers, statuses, accepted, submitted, seconds, answers, *times, feedback, more = zip(
        *results, strict=True
    )
    auto_approved, approved, rejected = times
    own: dict[str, Sequence[str]] = {
        "AssignmentId": ids,
        "WorkerId": workers,
        "AssignmentStatus": statuses,
        "AcceptTime": [_time(moment) for moment in accepted],
        "SubmitTime": [_time(moment) for moment in submitted],
        "AutoApprovalTime": [_time(moment) for moment in auto_approved],
        "ApprovalTime": [_time(moment) for moment in approved],
        "RejectionTime": [_time(moment) for moment in rejected],
        "RequesterFeedback": feedback,
        "WorkTimeInSeconds": [_number(number) for number in seconds],
    }
    asked = [hit.cells for hit in hits]
    besides = set().union(*more)
    fields = {f"{ANSWER}{name}": name for name in set().union(*answers)}
    for rows in (asked, more):
        _refuse_lost(rows, columns, ids)
    if not set(columns).issuperset(fields):
        _refuse_lost([{f"{ANSWER}{name}": "" for name in row} for row in answers], columns, ids)

    def cells(name: str) -> Sequence[str]:
        if name in own:
            return own[name]
        if name in fields:
            return _cells([row.get(fields[name], "") for row in answers])
        return [row.get(name, "") for row in (more if name in besides else asked)]

    return [cells(name) for name in columns]


def _refuse_lost(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], ids: Sequence[str]) -> None:
    if set().union(*rows) <= set(columns):
        return
    number, lost = next((number, lost) for number, row in enumerate(rows) if (lost := row.keys() - set(columns)))
    raise ValueError(f"assignment {ids[number]} has fields without a column: {', '.join(sorted(lost))}")


def _cells(values: Sequence[Any]) -> Sequence[str]:
    return values if set(map(type, values)) == {str} else [cell_of(value) for value in values]


def _number(value: float | None) -> str:
    return "" if value is None else str(round(value))


@lru_cache(1000)
def _time(moment: datetime | None) -> str:
    """As in Sat Apr 24 17:19:43 UTC 2021; empty where there is none. Names are English whatever the locale is."""
    if moment is None:
        return ""
    told = moment.astimezone(UTC).ctime()
    return f"{told[:8]}{told[8:10].replace(' ', '0')}{told[10:19]} UTC {told[20:]}"


def cell_of(value: object) -> str:
    """A field's value as a text: several texts parted by |, and what is none as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _SEPARATOR.join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
