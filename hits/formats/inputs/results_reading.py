"""Files of results, answer by answer: Mechanical Turk's, Turkle's, Figure Eight's, and our long table.

The names of the columns say which of them a file is. Mechanical Turk's and Turkle's have `Input.*` and `Answer.*`, one
row an answer. Figure Eight's (Appen's) has `_unit_id`, `_worker_id` and so on, and beside them inputs and answers
without any sign of which is which. The long table has a row for each label: all rows of one item, worker and time are
one answer.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import BinaryIO

from common.spreadsheet import as_written
from hits.formats.files import rows
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import Progress
from hits.formats.outputs.results import ANSWER, INPUT

MTURK, FIGURE_EIGHT, LONG = "mturk", "figure-eight", "long"
_NEEDED = {
    MTURK: ("AssignmentId", "WorkerId"),
    FIGURE_EIGHT: ("_unit_id", "_worker_id", "_id"),
    LONG: ("item", "unit", "worker", "value"),
}
# Of a worker or an assignment, also where one is searched by it.
LONGEST_ID = 64
LONGEST_SECONDS = 366 * 86_400
# Times around them cannot be told in every zone, and no answers were given then.
FIRST_YEAR, LAST_YEAR = 1970, 9000
# Where somebody sat is nobody's business here.
DROPPED = ("_ip", "_country", "_region", "_city")
_SEVERAL_ITEMS = re.compile(r"(Input|Answer)\.item[1-9][0-9]?:")
_HOURS = {
    "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "CET": 1, "CEST": 2, "BST": 1,
}  # fmt: skip


@dataclass(slots=True)
class GivenAnswer:
    """One answer of a file. `fields` are what was answered and `inputs` what was shown, by column without its prefix;
    of the long table `fields` are values by unit, and `item` is the item's key. `row` has all
    cells as they stood, in the order of `kept`.
    """

    line: int
    worker: str
    assignment: str
    item: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    accepted_at: datetime | None = None
    submitted_at: datetime | None = None
    seconds: float | None = None
    rejected: bool = False
    row: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ResultsTable:
    """What a file is. `asks` are its columns that may be answers, `shows` those that may be inputs."""

    layout: str
    columns: tuple[str, ...]
    asks: tuple[str, ...]
    shows: tuple[str, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns whose cells are kept with the answers."""
        return tuple(name for name in self.columns if name not in DROPPED)


def layout_of(columns: Sequence[str]) -> ResultsTable:
    """Raises FormatErrors for columns that are none of these files'."""
    layout = next((name for name, needed in _NEEDED.items() if set(needed) <= set(columns)), "")
    if not layout:
        raise FormatErrors([Fault(None, "", _unknown(columns))])
    if layout == MTURK:
        if any(_SEVERAL_ITEMS.match(name) for name in columns):
            said = (
                "has HITs about several items, which cannot be told apart again: import the long table of them instead"
            )
            raise FormatErrors([Fault(None, "", said)])
        asks = tuple(name for name in columns if name.startswith(ANSWER))
        shows = tuple(name for name in columns if name.startswith(INPUT))
        if not asks:
            raise FormatErrors([Fault(None, "", "has no column Answer.*: it holds no answers")])
        return ResultsTable(layout, tuple(columns), asks, shows)
    if layout == FIGURE_EIGHT:
        plain = tuple(name for name in columns if not name.startswith(("_", "orig_")))
        return ResultsTable(layout, tuple(columns), plain, plain)
    return ResultsTable(layout, tuple(columns), (), ())


def _unknown(columns: Sequence[str]) -> str:
    lacks = "; ".join(
        f"{name} needs {', '.join(needed)}"
        for name, needed in (
            ("Mechanical Turk’s and Turkle’s", (*_NEEDED[MTURK], "Answer.*")),
            ("Figure Eight’s", _NEEDED[FIGURE_EIGHT]),
            ("the long table", _NEEDED[LONG]),
        )
    )
    shown = ", ".join(columns[:10]) + (" and more" if len(columns) > 10 else "")
    return f"is no file of results: {lacks}; this one has {shown}"


def read(
    stream: BinaryIO,
    faults: Faults,
    *,
    name: str,
    stage: str,
    max_bytes: int,
    progress: Progress | None = None,
    asks: Mapping[str, str],
    shows: Mapping[str, str],
) -> Iterator[GivenAnswer]:
    """The answers of a file; `asks` is the column by field and `shows` the column by input. `stage` is the key of the
    stage that they answer: of a long table, which has no ids of answers, it makes these.

    Rows that cannot be read add to `faults`. Raises FormatErrors for what is no such file.
    """
    with rows.opened(stream, name, max_bytes=max_bytes) as file:
        table = layout_of(file.columns)
        reader = {MTURK: _mturk, FIGURE_EIGHT: _figure_eight}.get(table.layout)
        given = file.rows(faults, progress)
        if reader is None:
            yield from _long(given, table.kept, faults, stage)
            return
        for line, defused in given:
            cells = {column: as_written(cell) for column, cell in defused.items()}
            answer = reader(line, cells, faults)
            if answer is not None:
                answer.fields = {one: cells[column] for one, column in asks.items()}
                answer.inputs = {one: cells[column] for one, column in shows.items()}
                answer.row = [cells[column] for column in table.kept]
                yield answer


def _mturk(line: int, cells: Mapping[str, str], faults: Faults) -> GivenAnswer | None:
    row = _Row(line, cells, faults)
    submitted = row.time("SubmitTime")
    seconds = row.seconds("WorkTimeInSeconds")
    accepted = row.time("AcceptTime")
    if seconds is None and submitted and accepted:
        seconds = max((submitted - accepted).total_seconds(), 0)
    rejected = cells.get("AssignmentStatus", "").strip().lower() == "rejected"
    return row.answer("WorkerId", "AssignmentId", accepted, submitted, seconds, rejected)


def _figure_eight(line: int, cells: Mapping[str, str], faults: Faults) -> GivenAnswer | None:
    row = _Row(line, cells, faults)
    accepted, submitted = row.time("_started_at"), row.time("_created_at")
    seconds = max((submitted - accepted).total_seconds(), 0) if submitted and accepted else None
    return row.answer("_worker_id", "_id", accepted, submitted, seconds, False)


def _long(given: Iterator[rows.TableRow], kept: Sequence[str], faults: Faults, stage: str) -> Iterator[GivenAnswer]:
    """Rows of one item and worker, submitted at one time, are one answer; a unit stands there once."""
    found: dict[tuple[str, str, str], GivenAnswer] = {}
    for line, defused in given:
        cells = {column: as_written(cell) for column, cell in defused.items()}
        if cells.get("not_counted"):
            # It did not count where it comes from.
            continue
        row = _Row(line, cells, faults)
        key = (cells["item"], cells["worker"], cells.get("submitted_at", ""))
        name = hashlib.sha256("\0".join((stage, *key)).encode(errors="replace")).hexdigest()[:30].upper()
        answer = found.get(key)
        if answer is None:
            submitted, seconds = row.time("submitted_at"), row.seconds("seconds")
            answer = row.answer("worker", "", None, submitted, seconds, False)
            if answer is None:
                continue
            answer.assignment, answer.item = name, row.needed("item", 300)
            answer.row = [cells[column] for column in kept]
            found[key] = answer
        unit = cells["unit"].strip()
        if not unit:
            faults.add(line, "unit", "must not be blank")
        elif unit in answer.fields:
            faults.add(line, "unit", f"{unit} of this item and worker stands in line {answer.line} already")
        else:
            answer.fields[unit] = cells["value"]
    yield from found.values()


class _Row:
    """One row whose faults are collected."""

    def __init__(self, line: int, cells: Mapping[str, str], faults: Faults) -> None:
        self.line, self.cells, self.faults = line, cells, faults
        self.before = faults.count

    def answer(
        self,
        worker: str,
        assignment: str,
        accepted: datetime | None,
        submitted: datetime | None,
        seconds: float | None,
        rejected: bool,
    ) -> GivenAnswer | None:
        """None where the row has a fault."""
        who, name = self.needed(worker, LONGEST_ID), self.needed(assignment, LONGEST_ID) if assignment else ""
        if self.faults.count > self.before:
            return None
        if submitted and accepted is None and seconds is not None:
            accepted = submitted - timedelta(seconds=seconds)
        return GivenAnswer(
            self.line, who, name, accepted_at=accepted, submitted_at=submitted, seconds=seconds, rejected=rejected
        )

    def needed(self, name: str, longest: int) -> str:
        text = self.cells[name].strip()
        if not text:
            self.faults.add(self.line, name, "must not be blank")
        elif len(text) > longest:
            self.faults.add(self.line, name, f"has {len(text):,} characters, the limit is {longest}")
        return text

    def seconds(self, name: str) -> float | None:
        text = self.cells.get(name, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= LONGEST_SECONDS:
            self.faults.add(self.line, name, f"must be seconds, a number from 0 on, not {text!r:.40}")
            return None
        return value

    def time(self, name: str) -> datetime | None:
        text = self.cells.get(name, "").strip()
        if not text:
            return None
        found = _time(text)
        if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
            self.faults.add(self.line, name, f"is no time such as Sat Apr 24 17:19:43 PDT 2021: {text!r:.40}")
            return None
        return found


def _time(text: str) -> datetime | None:
    """As Sat Apr 24 17:19:43 PDT 2021, 2021-04-24T17:19:43+00:00 or 4/24/2021 17:19:43; without a zone it is UTC."""
    parts = text.split()
    if len(parts) == 6 and parts[4] in _HOURS:
        zone = timezone(timedelta(hours=_HOURS[parts[4]]))
        return _parsed(" ".join([*parts[:4], parts[5]]), "%a %b %d %H:%M:%S %Y", zone)
    if "/" in text:
        return _parsed(text, "%m/%d/%Y %H:%M:%S", UTC)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parsed(text: str, form: str, zone: timezone) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=zone)
    except ValueError:
        return None
