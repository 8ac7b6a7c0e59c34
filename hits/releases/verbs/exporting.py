"""Exporting: the answers of a stage, or of all stages, as files for other programs, read and sent piece by piece.

Two tables. In Mechanical Turk's columns a row is an answer, as in the download of a batch there. The long table has a
row for each label: what one answer says about one unit of an item. Rows are read some thousand answers at a time, so
memory does not grow with the table, and nothing else waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

from django.db.models import Exists, OuterRef
from django.db.models.functions import Cast

from hits.answers.models import AssignmentQuerySet
from hits.answers.rules import automatic_approval, text_evidence
from hits.answers.rules.answer_words import Words
from hits.answers.rules.item_answers import all_numbered
from hits.core.reading import decoded, text_of
from hits.formats.outputs.results import ANSWER, INPUT, OWN_COLUMNS, AskedHit, Result, results_batches, results_columns
from hits.formats.outputs.tables import Columns, Format, Type, pieces_of
from hits.items.rules import item_columns
from hits.judging.rules.counting import why_not
from hits.models import Assignment, Hit, Item, Label, Project, Stage, Upload
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import Json
from hits.protocols.optional import KnownValuesProtocol, Line
from hits.publishing.rules import hit_items
from hits.recipes.table_rows import pseudonym
from hits.refusals import Refused
from hits.releases.rules.imported_results import own_id
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
# Answers that are read together first, while it is not known how many labels each has.
FIRST = 100
# Pseudonyms that are remembered while a file is made.
REMEMBERED = 50_000
LONG: dict[str, Type] = {
    "item": "string",
    "unit": "string",
    "worker": "string",
    "value": "string",
    "value_text": "string",
    "correct": "bool",
    "gold": "string",
    "gold_text": "string",
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
_LONG_COLUMNS = (
    "worker__worker_id", "submitted_at", "seconds", "hit__batch", "hit__item", "item", "imported_from", "scored",
)  # fmt: skip
_MTURK_COLUMNS = (
    "worker__worker_id", "assignment_id", "hit", "state", "accepted_at", "submitted_at", "auto_approval_at", "seconds",
    "feedback", "item", "imported_from", "imported_from__name", "scored",
)  # fmt: skip
_HIT_COLUMNS = (
    "pk", "hit_id", "item_id", "item_count", "token", "reward", "max_assignments", "assignment_seconds", "expires_at",
    "batch__created_at",
)  # fmt: skip
_LABEL_COLUMNS = ("assignment", "item", "unit", text_of("value"), "correct", "undone_at")
# An imported answer has no HIT, and nothing of the stage's: it was asked elsewhere.
_ELSEWHERE = AskedHit("", "", "", "", "", None, None, None, None, None, None, {})


@dataclass(frozen=True)
class Choices:
    """`worker_ids`: the ids of workers instead of pseudonyms. `all`: also what does not count, with a column why.
    `inputs`: the long table has what the items bring too; Mechanical Turk's columns have it in any case. With
    `text_evidence` it has how each answer's texts came about.
    """

    format: str = MTURK
    worker_ids: bool = False
    all: bool = False
    inputs: bool = False
    text_evidence: bool = False


@dataclass(frozen=True)
class ResultsFile:
    name: str
    content_type: str
    pieces: Iterator[bytes]


def of_stage(stage: Stage, choices: Choices) -> ResultsFile:
    """Raises Refused (unknown_format), and what a task raises that cannot be used."""
    return _file(f"{stage.project.slug}-{stage.key}", stage.project, [stage], choices)


def of_project(project: Project, choices: Choices) -> ResultsFile:
    """Of all stages with a crowd, one after another. Raises as `of_stage`."""
    stages = list(project.stages.filter(crowd=True).order_by("position"))
    for stage in stages:
        stage.project = project
    return _file(project.slug, project, stages, choices)


def _file(name: str, project: Project, stages: Sequence[Stage], choices: Choices) -> ResultsFile:
    if choices.format not in FORMATS:
        message = f"Results have no format {choices.format!r:.40}. There are {', '.join(FORMATS)}."
        raise Refused("unknown_format", message, status=400)
    # What stands for a worker, by the worker's id.
    name_of: Callable[[str], str] = own_id
    if not choices.worker_ids:
        name_of = lru_cache(REMEMBERED)(lambda worker_id: pseudonym(worker_id, project.pseudonym_key))
    answers = [_Answers(stage, name_of, choices) for stage in stages]
    if choices.format == MTURK:
        columns, batches = _mturk(answers, choices)
        pieces = pieces_of(batches, columns, dict.fromkeys(columns, "string"), "csv")
        return ResultsFile(f"{name}-results.csv", CONTENT_TYPES[MTURK], pieces)
    types: dict[str, Type] = {**({STAGE: "string"} if len(stages) > 1 else {}), **LONG}
    types |= {NOT_COUNTED: "string"} if choices.all else {}
    types |= text_evidence.COLUMNS if choices.text_evidence else {}
    inputs = dict.fromkeys(name for stage in stages for name in item_columns.names_of(stage)) if choices.inputs else ()
    types |= {f"{INPUT}{name}": "string" for name in inputs}
    batches = ([found[name] for name in types] for each in answers for found in each.long(inputs))
    pieces = pieces_of(batches, list(types), types, cast(Format, choices.format))
    return ResultsFile(f"{name}-labels.{choices.format}", CONTENT_TYPES[choices.format], pieces)


# What an answer says about a unit, in the order of `_LABEL_COLUMNS`. Of an answer that gave no label, only the item.
_Label: TypeAlias = tuple[Any, ...]


class _Document(NamedTuple):
    data: Json


class _Item(NamedTuple):
    """As much of an item as a row needs: to make a model of each takes longer than to read it."""

    pk: int
    key: str
    data: Json
    document: _Document


class _Answers:
    """The answers of one stage, in the order in which they came in."""

    def __init__(self, stage: Stage, name_of: Callable[[str], str], choices: Choices) -> None:
        # What was posted comes out also where the task's code cannot be used; known answers are asked of it.
        self.task = None if choices.format == MTURK else (protocol_of(stage), settings_of(stage))
        self.stage, self.name_of, self.choices = stage, name_of, choices
        self.at_once = CHUNK

    def rows(self, *, labels: bool = False) -> AssignmentQuerySet:
        """Those that are wanted; with labels also others, for these are looked at one by one."""
        if self.choices.all or labels:
            return Assignment.objects.filter(stage=self.stage)
        counting = Label.objects.of_counting_answers().filter(assignment=OuterRef("pk"))
        return Assignment.objects.filter(Exists(counting), stage=self.stage)

    def parts(self, *columns: str, labels: bool = False, **texts: Cast) -> Iterator[list[Any]]:
        """By their ids: a query for some thousand, so that none stays open as long as somebody reads the file.

        Where all are wanted they have a `why` too.
        """
        last = 0
        more = texts | ({"why": why_not()} if self.choices.all else {})
        found = self.rows(labels=labels).order_by("pk").annotate(**more).values_list("pk", *columns, *more, named=True)
        while answers := list(found.filter(pk__gt=last)[: self.at_once]):
            last = answers[-1].pk
            yield answers

    # The long table

    @cached_property
    def words(self) -> Words:
        return Words.of(self.stage)

    def long(self, inputs: Collection[str]) -> Iterator[dict[str, Sequence[Any]]]:
        """The columns of some rows at a time. A row is a label; of an answer without any, such as an invalid one, one
        without unit and value. `inputs` are those of the items that have a column.
        """
        self.at_once = min(FIRST, CHUNK)
        for answers in self.parts(*_LONG_COLUMNS, labels=True):
            told = {answer.pk: self._told(answer) for answer in answers}
            found = self._labels(answers)
            # An answer about several items may have a thousand labels: memory shall not grow with that either.
            self.at_once = max(1, min(CHUNK, 3 * CHUNK * len(answers) // max(len(found), 1)))
            labels = self._with_empty(found, answers) if self.choices.all else found
            why = {answer.pk: _why_not(answer) for answer in answers} if self.choices.all else {}
            for start in range(0, len(labels), CHUNK):
                some = labels[start : start + CHUNK]
                inputs_of = self._inputs([label[1] for label in some], inputs)
                yield {**self._columns(some, told, why), **inputs_of, **self._evidence([label[0] for label in some])}

    def _told(self, answer: Any) -> tuple[str, str, float | None, str]:
        """What all labels of an answer have: worker, submitted_at, seconds and batch."""
        worker = self.name_of(answer.worker__worker_id)
        return worker, answer.submitted_at.isoformat(), answer.seconds, _batch(answer)

    def _labels(self, answers: Sequence[Any]) -> list[_Label]:
        """In the order of the answers; those that do not count only where all are wanted."""
        first, last = answers[0].pk, answers[-1].pk
        of_stage = Label.objects.filter(assignment__stage=self.stage, assignment__gte=first, assignment__lte=last)
        wanted = of_stage if self.choices.all else of_stage.counting()
        return list(wanted.order_by("assignment_id", "pk").values_list(*_LABEL_COLUMNS))

    def _with_empty(self, found: Sequence[_Label], answers: Sequence[Any]) -> Sequence[_Label]:
        """And a row for an answer without any."""
        given = dict[int, list[_Label]]()
        for label in found:
            given.setdefault(label[0], []).append(label)
        empty = {answer.pk: [(answer.pk, answer.hit__item or answer.item, *[None] * 4)] for answer in answers}
        return [label for pk, none in empty.items() for label in given.get(pk, none)]

    def _columns(
        self, labels: Sequence[_Label], told: Mapping[int, tuple[Any, ...]], why: Mapping[int, str]
    ) -> dict[str, Sequence[Any]]:
        answers, items, units, values, correct, undone = zip(*labels, strict=True)
        workers, submitted, seconds, batches = zip(*map(told.__getitem__, answers), strict=True)
        asked = self._items(set(items))
        known = self._known(asked) if set(correct) != {None} else {}
        gold = [
            None if right is None else known.get(item, {}).get(unit or "")
            for item, unit, right in zip(items, units, correct, strict=True)
        ]
        said = decoded(values)
        texts = _spelled(said)
        lines = self._lines(asked, items, units, said, texts)
        nested = self.choices.format == "jsonl"
        columns: dict[str, Sequence[Any]] = {
            "item": [asked[item].key for item in items],
            "unit": units,
            "worker": workers,
            "value": said if nested else texts,
            "value_text": [line and line.said for line in lines],
            "correct": correct,
            "gold": gold if nested else _spelled(gold),
            "gold_text": [
                line.known or None if line and right is not None else None
                for line, right in zip(lines, correct, strict=True)
            ],
            "submitted_at": submitted,
            "seconds": seconds,
            "batch": batches,
        }
        if self.choices.all:
            back = ["taken back" if moment else "" for moment in undone]
            columns[NOT_COUNTED] = [why[answer] or other for answer, other in zip(answers, back, strict=True)]
        return {STAGE: [self.stage.key] * len(labels), **columns}

    def _evidence(self, answers: Sequence[int]) -> dict[str, Sequence[Any]]:
        """How the texts of these answers came about, by column; empty cells where nothing is collected."""
        if not self.choices.text_evidence:
            return {}
        found = text_evidence.columns_of(self.stage, set(answers))
        none = dict.fromkeys(text_evidence.COLUMNS)
        rows = [found.get(answer, none) for answer in answers]
        return {name: [row[name] for row in rows] for name in text_evidence.COLUMNS}

    def _inputs(self, items: Sequence[int], names: Collection[str]) -> dict[str, Sequence[Any]]:
        """The cells of the columns `Input.*`, by item."""
        if not names:
            return {}
        asked = item_columns.of_items(set(items))
        # JSON Lines may hold nested values.
        spelled = list if self.choices.format == "jsonl" else item_columns.spelled
        return {f"{INPUT}{name}": spelled([asked[item].get(name) for item in items]) for name in names}

    def _items(self, pks: Collection[int]) -> dict[int, _Item]:
        """These items with their documents."""
        columns = ("pk", "key", text_of("document__data"), text_of("data"))
        found, names, documents, own = zip(*Item.objects.filter(pk__in=pks).values_list(*columns), strict=True)
        rows = zip(found, names, decoded(documents), decoded(own), strict=True)
        return {pk: _Item(pk, key, data, _Document(document)) for pk, key, document, data in rows}

    def _known(self, items: Mapping[int, _Item]) -> dict[int, Json]:
        """By item the values that are right, by unit."""
        protocol, settings = self.task or (None, {})
        if not isinstance(protocol, KnownValuesProtocol):
            return {}
        return {pk: protocol.known_values(item.document.data, item.data, settings) for pk, item in items.items()}

    def _lines(
        self,
        asked: Mapping[int, _Item],
        items: Sequence[int],
        units: Sequence[str | None],
        values: Sequence[Any],
        texts: Sequence[str | None],
    ) -> list[Line | None]:
        """What each label says in words; None where an answer has none. Alike answers to an item, which have the same
        text, are read once.
        """
        read: dict[tuple[int, str, str | None], Line] = {}
        found: list[Line | None] = []
        for item, unit, value, text in zip(items, units, values, texts, strict=True):
            if unit is None:
                found.append(None)
                continue
            key = item, unit, text
            if key not in read:
                read[key] = self.words.line(asked[item], unit, value, longest=None)
            found.append(read[key])
        return found

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
        """The columns of the items, by name; those of HITs about several items with the item's number."""
        found = item_columns.names_of(self.stage)
        counts = set(self.stage.hits.order_by().values_list("item_count", flat=True).distinct())
        numbered = [f"item{number}:{name}" for number in range(1, max(counts, default=1) + 1) for name in found]
        return [*(found if 1 in counts or not counts else ()), *(numbered if max(counts, default=1) > 1 else ())]

    def fields(self) -> set[str]:
        """The names of what was posted, other than in such files."""
        found: set[str] = set()
        rows = self.rows().exclude(imported_from__in=self.files).values_list(text_of("answer"), "hit__item_count")
        left = rows.iterator(chunk_size=CHUNK)
        while part := list(islice(left, CHUNK)):
            posted, counts = zip(*part, strict=True)
            for answer, count in zip(decoded(posted), counts, strict=True):
                found.update(self._posted(answer, count or 1))
        return found

    def mturk(self, marks: bool) -> Iterator[list[Result | dict[str, str]]]:
        """Some rows at a time. `marks`: with a column that says of which file an answer is."""
        rows = ("row",) if self.files else ()
        for answers in self.parts(*_MTURK_COLUMNS, *rows, posted=text_of("answer")):
            hits = self._hits({answer.hit for answer in answers if answer.hit})
            elsewhere = item_columns.of_items({answer.item for answer in answers if not answer.hit})
            posted = decoded([answer.posted for answer in answers])
            yield [
                self._theirs(answer, marks) or self._result(answer, fields, hits.get(answer.hit), elsewhere, marks)
                for answer, fields in zip(answers, posted, strict=True)
            ]

    def _theirs(self, answer: Any, marks: bool) -> dict[str, str]:
        """The row of a file in Mechanical Turk's columns as it came, but for the worker; empty for other answers."""
        if not (columns := self.files.get(answer.imported_from)):
            return {}
        row = dict(zip(columns, answer.row, strict=True))
        names = row.keys() & NAME_COLUMNS if not self.choices.worker_ids else ()
        worker = {WORKER_COLUMN: self.name_of(answer.worker__worker_id)}
        return {**row, **dict.fromkeys(names, ""), **worker, **self._more(answer, marks)}

    def _more(self, answer: Any, marks: bool) -> dict[str, str]:
        more = {NOT_COUNTED_IN_MTURK: _why_not(answer)} if self.choices.all else {}
        return more | ({IMPORTED_IN_MTURK: answer.imported_from__name or ""} if marks else {})

    def _hits(self, pks: Collection[int]) -> dict[int, tuple[AskedHit, int]]:
        """The HITs, each with the number of its items, by their ids."""
        hits = list(Hit.objects.filter(pk__in=pks).values_list(*_HIT_COLUMNS, named=True))
        items = hit_items.item_pks(hits)
        asked = item_columns.of_items({pk for pks in items.values() for pk in pks})
        return {hit.pk: (self._asked(hit, [asked[pk] for pk in items[hit.pk]]), hit.item_count) for hit in hits}

    def _asked(self, hit: Any, inputs: Sequence[Json]) -> AskedHit:
        stage = self.stage
        return AskedHit(
            hit_id=hit.hit_id or "",
            # Which of several it was made with, no table says.
            hit_type_id="" if stage.earlier_hit_types else stage.hit_type_id,
            title=stage.hit_title,
            description=stage.hit_description,
            keywords=stage.keywords,
            reward=hit.reward,
            created_at=hit.batch__created_at,
            max_assignments=hit.max_assignments,
            duration_seconds=hit.assignment_seconds,
            auto_approval_seconds=automatic_approval.marketplace_delay(stage),
            expires_at=hit.expires_at,
            annotation=hit.token,
            inputs=_numbered(inputs),
        )

    def _result(
        self, answer: Any, posted: Json, hit: tuple[AskedHit, int] | None, elsewhere: Mapping[int, Json], marks: bool
    ) -> Result:
        asked, count = hit or (replace(_ELSEWHERE, inputs=elsewhere[answer.item]), 1)
        return Result(
            hit=asked,
            assignment_id=answer.assignment_id,
            worker_id=self.name_of(answer.worker__worker_id),
            status=answer.state,
            accepted_at=answer.accepted_at,
            submitted_at=answer.submitted_at,
            work_seconds=answer.seconds,
            answers=self._posted(posted, count),
            auto_approval_at=answer.auto_approval_at,
            feedback=answer.feedback,
            more=self._more(answer, marks),
        )

    def _posted(self, answer: Mapping[str, str], count: int) -> Mapping[str, str]:
        if WORKER_FIELD in answer and not self.choices.worker_ids:
            # A page of a lead's own may post it.
            answer = {name: value for name, value in answer.items() if name != WORKER_FIELD}
        return all_numbered(answer, count) if count > 1 else answer


def _spelled(values: Sequence[Any]) -> list[str | None]:
    """Values as texts; what is not there stays so."""
    return [None if value is None else as_text(value) for value in values]


def _numbered(inputs: Sequence[Json]) -> Json:
    """Those of the items of a HIT, with the number of the item where there are several."""
    if len(inputs) == 1:
        return inputs[0]
    return {f"item{number}:{name}": value for number, each in enumerate(inputs, 1) for name, value in each.items()}


def _why_not(answer: Any) -> str:
    """Of one that was read with its `why`."""
    return answer.why or ("" if answer.scored else "not checked yet")


def _batch(answer: Any) -> str:
    """The number of the batch in which it was asked, or of the import with which it came."""
    return str(answer.hit__batch or f"{IMPORT}{answer.imported_from}")


def _mturk(answers: Sequence[_Answers], choices: Choices) -> tuple[list[str], Iterator[Columns]]:
    """The columns, and batches of them: texts, of each answer one."""
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
    results = (part for each in answers for part in each.mturk(marks))
    return columns, (batch for part in results for batch in results_batches(part, columns))
