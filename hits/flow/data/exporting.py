"""Exporting: the answers of a stage, or of all stages, as files for other programs, read and sent piece by piece.

Two tables. In Mechanical Turk's columns a row is an answer, as in the download of a batch there. The long table has a
row for each label: what one answer says about one unit of an item. Rows are read some thousand answers at a time, so
memory does not grow with the table, and nothing else waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import Exists, OuterRef

from hits.domain import hit_items
from hits.domain.imported_results import own_id
from hits.domain.item_answers import all_numbered
from hits.domain.plugins import protocol_of, settings_of
from hits.formats.results import ANSWER, INPUT, OWN_COLUMNS, Result, results_columns, results_rows
from hits.formats.tables import Format, Type, pieces_of
from hits.models import Assignment, Block, Hit, Item, Label, Project, Stage, Upload
from hits.models.answers import AssignmentQuerySet
from hits.protocols.base import Json
from hits.protocols.columns import columns_of
from hits.protocols.optional import KnownValuesProtocol
from hits.recipes.table_rows import pseudonym
from hits.refusals import Refusal
from hits.text.cells import as_text

# Mechanical Turk's columns, and the formats of the long table.
MTURK = "mturk"
FORMATS = (MTURK, "csv", "jsonl", "parquet")
CONTENT_TYPES = {
    MTURK: "text/csv; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK = 2000
# Pseudonyms that are remembered while a file is made.
REMEMBERED = 50_000
LONG: dict[str, Type] = {
    "item": "string",
    "unit": "string",
    "worker": "string",
    "value": "string",
    "correct": "bool",
    "gold": "string",
    "submitted_at": "string",
    "seconds": "float64",
    "batch": "string",
}
STAGE, NOT_COUNTED = "stage", "not_counted"
NOT_COUNTED_IN_MTURK = "NotCounted"
WORKER_FIELD = "workerId"
WORKER_COLUMN = "WorkerId"
# What tells files in Mechanical Turk's columns from others.
MTURK_COLUMNS = {"AssignmentId", WORKER_COLUMN}
# Columns of Turkle's files that name the worker too.
NAME_COLUMNS = frozenset(["Turkle.Username"])
IMPORT = "import-"
IMPORTED_IN_MTURK = "ImportedFrom"
_ANSWER_COLUMNS = (
    "pk",
    "assignment_id",
    "worker__worker_id",
    "hit",
    "state",
    "accepted_at",
    "submitted_at",
    "auto_approval_at",
    "seconds",
    "problem",
    "held",
    "admitted",
    "feedback",
    "scored",
    "item",
    "imported_from",
)
_LABEL_COLUMNS = ("item", "unit", "value", "correct", "undone_at")


class UnknownFormatError(Refusal):
    """Results have no such format."""

    error_code = "unknown_format"
    http_status = 400

    def __init__(self, name: str) -> None:
        super().__init__(f"Results have no format {name!r:.40}. There are {', '.join(FORMATS)}.")


@dataclass(frozen=True)
class Choices:
    """`worker_ids`: the ids of workers instead of pseudonyms. `all`: also what does not count, with a column why."""

    format: str = MTURK
    worker_ids: bool = False
    all: bool = False


@dataclass(frozen=True)
class ResultsFile:
    name: str
    content_type: str
    pieces: Iterator[bytes]


def of_stage(stage: Stage, choices: Choices) -> ResultsFile:
    """Raises UnknownFormatError, and what a task raises that cannot be used."""
    return _file(f"{stage.project.slug}-{stage.key}", stage.project, [stage], choices)


def of_project(project: Project, choices: Choices) -> ResultsFile:
    """Of all stages with a crowd, one after another. Raises as `of_stage`."""
    stages = list(project.stages.filter(crowd=True).order_by("position"))
    for stage in stages:
        stage.project = project
    return _file(project.slug, project, stages, choices)


def _file(name: str, project: Project, stages: Sequence[Stage], choices: Choices) -> ResultsFile:
    if choices.format not in FORMATS:
        raise UnknownFormatError(choices.format)
    name_of = _naming(project, choices)
    answers = [_Answers(stage, name_of, choices) for stage in stages]
    if choices.format == MTURK:
        columns, rows = _mturk(answers, choices)
        pieces = pieces_of(rows, columns, dict.fromkeys(columns, "string"), "csv")
        return ResultsFile(f"{name}-results.csv", CONTENT_TYPES[MTURK], pieces)
    types: dict[str, Type] = {**({STAGE: "string"} if len(stages) > 1 else {}), **LONG}
    types |= {NOT_COUNTED: "string"} if choices.all else {}
    rows = (row for each in answers for row in each.long())
    pieces = pieces_of(rows, list(types), types, _format(choices.format))
    return ResultsFile(f"{name}-labels.{choices.format}", CONTENT_TYPES[choices.format], pieces)


def _format(name: str) -> Format:
    formats: dict[str, Format] = {"csv": "csv", "jsonl": "jsonl", "parquet": "parquet"}
    return formats[name]


def _naming(project: Project, choices: Choices) -> Callable[[str], str]:
    """What stands for a worker, by the worker's id."""
    if choices.worker_ids:
        return own_id
    return lru_cache(REMEMBERED)(lambda worker_id: pseudonym(worker_id, project.pseudonym_key))


@dataclass(slots=True)
class _Label:
    """Of an answer that gave none, only the item."""

    item: int
    unit: str | None = None
    value: Any = None
    correct: bool | None = None
    undone_at: datetime | None = None

    @property
    def is_judged(self) -> bool:
        return self.correct is not None


@dataclass(frozen=True)
class _Part:
    """Some answers of a stage, with their HITs; items and labels by answer."""

    answers: Sequence[Json]
    hits: Mapping[int, Hit]
    items: Mapping[int, Sequence[int]]
    labels: Mapping[int, Sequence[_Label]]


class _Answers:
    """The answers of one stage, in the order in which they came in."""

    def __init__(self, stage: Stage, name_of: Callable[[str], str], choices: Choices) -> None:
        # What was posted comes out also where the task's code cannot be used; known answers are asked of it.
        self.task = None if choices.format == MTURK else (protocol_of(stage), settings_of(stage))
        self.stage, self.name_of, self.choices = stage, name_of, choices
        blocks = Block.objects.in_force().filter(project=stage.project_id)
        self.blocked = set(blocks.values_list("worker__worker_id", flat=True))

    def rows(self, *, labels: bool = False) -> AssignmentQuerySet:
        """Those that are wanted; with labels also others, for these are looked at one by one."""
        if self.choices.all or labels:
            return Assignment.objects.filter(stage=self.stage)
        counting = Label.objects.of_counting_answers().filter(assignment=OuterRef("pk"))
        return Assignment.objects.filter(Exists(counting), stage=self.stage)

    def parts(self, *more: str, labels: bool = False) -> Iterator[_Part]:
        """By their ids: a query for some thousand, so that none stays open as long as somebody reads the file."""
        last = 0
        while True:
            rows = self.rows(labels=labels).filter(pk__gt=last).order_by("pk").values(*_ANSWER_COLUMNS, *more)
            if not (answers := list(rows[:CHUNK])):
                return
            last = answers[-1]["pk"]
            yield self._part(answers, labels)

    def _part(self, answers: Sequence[Json], labels: bool) -> _Part:
        hits = Hit.objects.select_related("batch").in_bulk({row["hit"] for row in answers if row["hit"]})
        of_hit = hit_items.item_pks(hits.values())
        # An imported answer has no HIT, and names its item itself.
        pks = {row["pk"]: of_hit[row["hit"]] if row["hit"] else [row["item"]] for row in answers}
        given: dict[int, list[_Label]] = {row["pk"]: [] for row in answers}
        if labels:
            found = Label.objects.filter(assignment__in=given).order_by("pk")
            for answer, *label in found.values_list("assignment", *_LABEL_COLUMNS):
                given[answer].append(_Label(*label))
        return _Part(answers, hits, pks, given)

    # The long table

    def long(self) -> Iterator[Json]:
        """A row for each label; of an answer without any, such as an invalid one, one without unit and value."""
        for part in self.parts(labels=True):
            keys, known = self._keys_and_known(part)
            for answer in part.answers:
                why = self.why_not(answer)
                first = part.items[answer["pk"]][0]
                batch = _batch(answer, part.hits)
                for label in part.labels[answer["pk"]] or ([_Label(first)] if self.choices.all else ()):
                    why_not = why or ("taken back" if label.undone_at else "")
                    if self.choices.all or not why_not:
                        row = self._long_row(answer, label, known)
                        yield {**row, "item": keys[label.item], "batch": batch, NOT_COUNTED: why_not}

    def _long_row(self, answer: Json, label: _Label, known: Mapping[int, Json]) -> Json:
        gold = known[label.item].get(label.unit or "") if label.is_judged else None
        nested = self.choices.format == "jsonl"
        return {
            STAGE: self.stage.key,
            "unit": label.unit,
            "worker": self.name_of(answer["worker__worker_id"]),
            "value": label.value if nested else as_text(label.value),
            "correct": label.correct,
            "gold": gold if nested or gold is None else as_text(gold),
            "submitted_at": answer["submitted_at"].isoformat(),
            "seconds": answer["seconds"],
        }

    def _keys_and_known(self, part: _Part) -> tuple[dict[int, str], dict[int, Json]]:
        """By item its key, and the values that are right, by unit."""
        items = Item.objects.filter(pk__in=_all(part.items))
        protocol, settings = self.task or (None, {})
        judged = any(label.is_judged for given in part.labels.values() for label in given)
        if not judged or not isinstance(protocol, KnownValuesProtocol):
            keys = dict(items.values_list("pk", "key"))
            return keys, dict.fromkeys(keys, {})
        keys, known = {}, {}
        for pk, key, document, data in items.values_list("pk", "key", "document__data", "data"):
            keys[pk], known[pk] = key, protocol.known_values(document, data, settings)
        return keys, known

    def why_not(self, answer: Json) -> str:
        """Why an answer does not count, as `hits.domain.counting` decides it; empty where it does."""
        if answer["state"] == Assignment.State.REJECTED:
            return "rejected"
        if answer["problem"]:
            return f"invalid: {answer['problem']}"
        if answer["held"] and answer["admitted"] is not True:
            return "left out by a lead" if answer["admitted"] is False else f"not counted yet: {answer['held']}"
        if answer["worker__worker_id"] in self.blocked:
            return "the worker is blocked"
        return "" if answer["scored"] else "not checked yet"

    # Mechanical Turk's columns

    @cached_property
    def files(self) -> dict[int, list[str]]:
        """The columns of each imported file that came in Mechanical Turk's; its rows go out again as they came."""
        files = self.stage.result_files.filter(state=Upload.State.DONE).order_by("pk")
        return {pk: columns for pk, columns in files.values_list("pk", "columns") if set(columns) >= MTURK_COLUMNS}

    def kinds(self) -> set[bool]:
        """Whether there are imported answers, and whether there are others."""
        here = self.rows()
        return {True for _ in here.imported()[:1]} | {False for _ in here.from_marketplace()[:1]}

    def has_others(self) -> bool:
        """Whether any answer is none of such a file."""
        return self.rows().exclude(imported_from__in=self.files).exists()

    def inputs(self) -> list[str]:
        """The columns of the items, by name; those of HITs about several items with the item's number.

        PostgreSQL does not keep the order of the fields of an object.
        """
        names: set[str] = set()
        for document, item in self.stage.items.values_list("document__data", "data").iterator(chunk_size=CHUNK):
            names.update(_inputs(document, item))
        found = sorted(names)
        counts = set(self.stage.hits.order_by().values_list("item_count", flat=True).distinct())
        numbered = [f"item{number}:{name}" for number in range(1, max(counts, default=1) + 1) for name in found]
        return [*(found if 1 in counts or not counts else ()), *(numbered if max(counts, default=1) > 1 else ())]

    def fields(self) -> set[str]:
        """The names of what was posted, other than in such files."""
        found: set[str] = set()
        rows = self.rows().exclude(imported_from__in=self.files).values_list("answer", "hit__item_count")
        for answer, count in rows.iterator(chunk_size=CHUNK):
            found.update(self._posted(answer, count or 1))
        return found

    def mturk(self, marks: bool) -> Iterator[Result | dict[str, str]]:
        """`marks`: with a column that says of which file an answer is."""
        for part in self.parts("answer", "row", "imported_from__name"):
            rows = Item.objects.filter(pk__in=_all(part.items)).values_list("pk", "document__data", "data")
            asked = {pk: _inputs(document, item) for pk, document, item in rows}
            for answer in part.answers:
                more = {NOT_COUNTED_IN_MTURK: self.why_not(answer)} if self.choices.all else {}
                more |= {IMPORTED_IN_MTURK: answer["imported_from__name"] or ""} if marks else {}
                if columns := self.files.get(answer["imported_from"]):
                    row = dict(zip(columns, answer["row"], strict=True))
                    names = row.keys() & NAME_COLUMNS if not self.choices.worker_ids else ()
                    worker = {WORKER_COLUMN: self.name_of(answer["worker__worker_id"])}
                    yield {**row, **dict.fromkeys(names, ""), **worker, **more}
                else:
                    inputs = _numbered([asked[pk] for pk in part.items[answer["pk"]]])
                    yield self._result(answer, part.hits.get(answer["hit"]), inputs, more)

    def _result(self, answer: Json, hit: Hit | None, inputs: Json, more: dict[str, str]) -> Result:
        """Of an imported answer there is no HIT, and nothing of the stage's: it was asked elsewhere."""
        stage = self.stage
        return Result(
            hit_id=(hit and hit.hit_id) or "",
            # Which of several it was made with, no table says.
            hit_type_id=stage.hit_type_id if hit and not stage.earlier_hit_types else "",
            title=stage.hit_title if hit else "",
            description=stage.hit_description if hit else "",
            keywords=stage.keywords if hit else "",
            reward=hit.reward if hit else None,
            created_at=hit.batch.created_at if hit else None,
            max_assignments=hit.max_assignments if hit else None,
            duration_seconds=hit.assignment_seconds if hit else None,
            auto_approval_seconds=stage.auto_approval_seconds if hit else None,
            expires_at=hit.expires_at if hit else None,
            assignment_id=answer["assignment_id"],
            worker_id=self.name_of(answer["worker__worker_id"]),
            status=answer["state"],
            accepted_at=answer["accepted_at"],
            submitted_at=answer["submitted_at"],
            work_seconds=answer["seconds"],
            inputs=inputs,
            answers=self._posted(answer["answer"], hit.item_count if hit else 1),
            annotation=hit.token if hit else "",
            auto_approval_at=answer["auto_approval_at"],
            feedback=answer["feedback"],
            more=more,
        )

    def _posted(self, answer: Mapping[str, str], count: int) -> dict[str, str]:
        # A page of a lead's own may post the worker's id.
        own = {name: value for name, value in answer.items() if name != WORKER_FIELD or self.choices.worker_ids}
        return all_numbered(own, count) if count > 1 else own


def _inputs(document: Json, item: Json) -> Json:
    """What an item brings: the columns of its row, or the fields of its document and its own."""
    return columns_of(document, item) or {**document, **item}


def _numbered(inputs: Sequence[Json]) -> Json:
    """Those of the items of a HIT, with the number of the item where there are several."""
    if len(inputs) == 1:
        return inputs[0]
    return {f"item{number}:{name}": value for number, each in enumerate(inputs, 1) for name, value in each.items()}


def _batch(answer: Json, hits: Mapping[int, Hit]) -> str:
    """The number of the batch in which it was asked, or of the import with which it came."""
    return str(hits[answer["hit"]].batch_id) if answer["hit"] else f"{IMPORT}{answer['imported_from']}"


def _all(item_pks: Mapping[int, Sequence[int]]) -> set[int]:
    return {pk for pks in item_pks.values() for pk in pks}


def _mturk(answers: Sequence[_Answers], choices: Choices) -> tuple[list[str], Iterator[Json]]:
    """The columns, and a row of texts for each answer."""
    theirs = [name for each in answers for columns in each.files.values() for name in columns]
    inputs = dict.fromkeys(name for each in answers if each.has_others() or not theirs for name in each.inputs())
    inputs |= dict.fromkeys(name.removeprefix(INPUT) for name in theirs if name.startswith(INPUT))
    fields = {name for each in answers for name in each.fields()}
    fields |= {name.removeprefix(ANSWER) for name in theirs if name.startswith(ANSWER)}
    own = [name for name in theirs if not name.startswith((INPUT, ANSWER)) and name not in OWN_COLUMNS]
    kinds = {imported for each in answers for imported in each.kinds()}
    # Where all came in with files, or none, the file has Mechanical Turk's columns alone.
    marks = len(kinds) > 1
    more = [NOT_COUNTED_IN_MTURK] * choices.all + [IMPORTED_IN_MTURK] * marks
    columns = list(results_columns(inputs, fields, [*dict.fromkeys(own), *more]))
    return columns, results_rows((result for each in answers for result in each.mturk(marks)), columns)
