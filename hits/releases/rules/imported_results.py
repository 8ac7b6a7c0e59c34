"""Answers that came in with a file of results: the second door by which answers enter, besides harvesting.

Nobody was paid for them here, and no marketplace knows them. Such an answer has no HIT, its state is `Imported`, and
its worker is one of the project's files: the id in a file proves nothing about who holds it at the marketplace, so it
never becomes a worker whom somebody could pay, block or grant something. Their labels are labels like all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, BinaryIO, TypeAlias, cast

from django.conf import settings

from hits.formats.files import rows
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.mapping import ID, MappingRefusedError
from hits.formats.files.reading import quoted
from hits.formats.inputs import results_reading
from hits.formats.inputs.results_reading import FIGURE_EIGHT, LONG, GivenAnswer, ResultsTable
from hits.formats.outputs.results import ANSWER, INPUT
from hits.judging.rules.counting import recount
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_worker_stats
from hits.models import Assignment, Document, Item, Label, Stage, Upload, Worker
from hits.projects.rules.plugins import protocol_of, settings_of, usable_protocol
from hits.protocols.base import AnswerRefusedError, Json, LabelValue
from hits.protocols.optional import ReadableProtocol
from hits.recipes.source import SourceDocument, SourceItem
from hits.refusals import Refused
from hits.stages.rules import new_fields

# Of a mapping: what follows is no column but the value itself, the same for all rows.
CONSTANT = "="
REJECTED = "It was rejected where it was given."
LONGEST_DOCUMENT_KEY = 200
SHOWN = 10
Mapping_: TypeAlias = dict[str, str]


@dataclass(frozen=True)
class ResultField:
    """What the task asks or shows, `Answer.mood` or `Input.text`; `source` is the column or constant that it is."""

    name: str
    needed: bool
    source: str

    @property
    def takes_value(self) -> bool:
        """Inputs may be the same for all rows, such as a known answer; answers never are."""
        return self.name.startswith(INPUT)

    @property
    def value(self) -> str:
        return self.source[len(CONSTANT) :] if self.source.startswith(CONSTANT) else ""


@dataclass(frozen=True)
class ShownResults:
    """A file as a lead sees it before it is imported. `unused` are columns of answers that the task does not ask."""

    layout: str
    columns: tuple[str, ...]
    fields: tuple[ResultField, ...]
    unused: tuple[str, ...]
    first: tuple[rows.TableRow, ...]


@dataclass(slots=True)
class _Prepared:
    """An answer with what it is about, an item that is there or one that comes with the file, and what it says."""

    given: GivenAnswer
    item: Item
    posted: Json = field(default_factory=dict)
    labels: tuple[LabelValue, ...] = ()
    remark: str = ""


@dataclass
class FoundResults:
    """All of a file: `documents` are the items that are not there yet."""

    documents: list[SourceDocument]
    answers: list[_Prepared]
    columns: tuple[str, ...]


def imported_id(project_pk: int, worker: str) -> str:
    """No marketplace gives out ids with a colon. One worker of several files of a project is the same one."""
    return f"imported-{project_pk}:{worker}"


def own_id(worker_id: str) -> str:
    """The id as it stands in the file."""
    return worker_id.partition(":")[2] if worker_id.startswith("imported-") else worker_id


def readable(stage: Stage) -> ReadableProtocol:
    """Raises Refused (no_results_taken)."""
    protocol = protocol_of(stage)
    if not isinstance(protocol, ReadableProtocol):
        raise Refused(
            "no_results_taken",
            f"“{stage.title}” takes no files of results: only questionnaires (form) and pages of your own (html_page) "
            "do. Nothing was changed.",
        )
    return protocol


def takes_results(stage: Stage) -> bool:
    return isinstance(usable_protocol(stage), ReadableProtocol)


# Which column is what


def shown(stage: Stage, stream: BinaryIO, name: str, pairs: Iterable[tuple[str, str]] = ()) -> ShownResults:
    """The columns with a proposal, exact names first. Raises Refused (no_results_taken) and FormatErrors."""
    readable(stage)
    with rows.opened(stream, name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        table = results_reading.layout_of(file.columns)
        first = tuple(file.first())
    fields = _fields(stage, table, dict(pairs))
    used = {one.source for one in fields}
    unused = tuple(name for name in table.asks if name not in used) if table.layout != FIGURE_EIGHT else ()
    return ShownResults(table.layout, table.columns, fields, unused, first)


def checked_mapping(stage: Stage, stream: BinaryIO, name: str, pairs: Sequence[tuple[str, str]]) -> Mapping_:
    """The column or constant by field, of (field, column) pairs; what they do not name is guessed.

    Raises MappingRefusedError with every fault, Refused (no_results_taken) and FormatErrors.
    """
    found = shown(stage, stream, name, pairs)
    there = {one.name for one in found.fields}
    shows_any = found.layout != LONG
    faults = [
        f"There is no field “{name:.80}”; there are {_listed([one.name for one in found.fields])}."
        for name, _ in pairs
        if name not in there and not (shows_any and name.startswith(INPUT) and len(name) > len(INPUT))
    ]
    faults += [
        f"The file has no column “{source:.80}” for {name:.80}; it has {_listed(found.columns)}."
        for name, source in pairs
        if source and not source.startswith(CONSTANT) and source not in found.columns
    ]
    faults += [
        f"No column is {one.name}, which every answer needs: choose one of {_listed(found.columns)}"
        f"{', or write a value that all rows have after “=”' if one.name.startswith(INPUT) else ''}."
        for one in found.fields
        if one.needed and not one.source
    ]
    if faults:
        raise MappingRefusedError(faults[:20])
    more = {name: source for name, source in pairs if name not in there and source}
    return {one.name: one.source for one in found.fields if one.source} | more


def _fields(stage: Stage, table: ResultsTable, given: Mapping[str, str]) -> tuple[ResultField, ...]:
    protocol, options = readable(stage), settings_of(stage)
    if table.layout == LONG:
        return ()
    asks = {f"{ANSWER}{name}": needed for name, needed in protocol.answer_names(options).items()}
    shows = {f"{INPUT}{name}": True for name in protocol.named_columns(options)}
    wanted = {**shows, **asks}
    return tuple(
        ResultField(name, needed, given[name] if name in given else _guess(name, table))
        for name, needed in wanted.items()
    )


def _guess(name: str, table: ResultsTable) -> str:
    """The column of that name; of Figure Eight's files, which have no prefixes, without it."""
    plain = name.partition(".")[2]
    fitting = table.shows if name.startswith(INPUT) else table.asks
    alike = {_plain(column): column for column in reversed(fitting)}
    for wanted in (name, plain):
        if wanted in fitting:
            return wanted
    return alike.get(_plain(name)) or alike.get(_plain(plain)) or ""


def _plain(name: str) -> str:
    """Upper case, spaces and signs make no difference: keys of a form have hyphens where columns have underscores."""
    return "".join(filter(str.isalnum, name.casefold()))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")


# From a file to answers


def read(upload: Upload, stage: Stage, stream: BinaryIO, progress: Callable[[int], None]) -> FoundResults:
    """Everything of the file, checked by the stage's own task; stores nothing. Raises FormatErrors with every fault."""
    protocol, options = readable(stage), settings_of(stage)
    with rows.opened(stream, upload.name, max_bytes=settings.MAX_IMPORT_BYTES) as file:
        table = results_reading.layout_of(file.columns)
    stream.seek(0)
    try:
        mapping = checked_mapping(stage, stream, upload.name, list((upload.mapping or {}).items()))
    except MappingRefusedError as error:
        raise FormatErrors([Fault(None, "", fault) for fault in error.faults]) from error
    stream.seek(0)
    asks, shows, constants = _split(mapping, table)
    faults = Faults()
    given = results_reading.read(
        stream,
        faults,
        name=upload.name,
        stage=stage.key,
        max_bytes=settings.MAX_IMPORT_BYTES,
        progress=progress,
        asks=asks,
        shows=shows,
    )
    items = _Items(stage, upload.origin, constants)
    found = FoundResults(items.documents, [], table.kept)
    seen: dict[tuple[str, str], int] = {}
    for answer in given:
        key = (answer.assignment, answer.worker)
        if key in seen:
            faults.add(answer.line, "", f"is the same answer as line {seen[key]}: remove one of them")
            continue
        seen[key] = answer.line
        answer.inputs |= constants
        if (item := items.of(answer, faults, by_key=table.layout == LONG)) is None:
            continue
        found.answers.append(_Prepared(answer, item))
    _refuse_known(stage, found.answers, faults)
    for prepared in found.answers:
        _check(protocol, options, upload.project_id, prepared, faults)
    faults.refuse()
    return found


def _split(mapping: Mapping[str, str], table: ResultsTable) -> tuple[Mapping_, Mapping_, Mapping_]:
    """(column by field asked, column by input, value by input). Columns that the mapping does not name keep their
    names: of Figure Eight's files they are inputs.
    """
    columns = {name: source for name, source in mapping.items() if not source.startswith(CONSTANT)}
    asks = {name.removeprefix(ANSWER): source for name, source in columns.items() if name.startswith(ANSWER)}
    shows = {name.removeprefix(INPUT): source for name, source in columns.items() if name.startswith(INPUT)}
    constants = {
        name.removeprefix(INPUT): source[len(CONSTANT) :]
        for name, source in mapping.items()
        if source.startswith(CONSTANT)
    }
    used = set(columns.values())
    if table.layout != FIGURE_EIGHT:
        asks |= {name.removeprefix(ANSWER): name for name in table.asks if name not in used}
    rest = {name.removeprefix(INPUT): name for name in table.shows if name not in used}
    return asks, {**rest, **shows}, constants


class _Items:
    """The items of a stage by what they show, and those that a file adds."""

    def __init__(self, stage: Stage, origin: str, constants: Collection[str]) -> None:
        # What is the same for all rows tells no item from another, and items that are there may have another value.
        self.stage, self.origin, self.constants = stage, origin, set(constants)
        self.documents: list[SourceDocument] = []
        self._by_inputs: dict[bytes, Item] | None = None
        self._doubled: set[bytes] = set()
        self._names: list[str] = []
        self._new: dict[str, Item] = {}
        self._by_key: dict[str, Item] = {}
        # Rows of files become items of the first stage alone; others have theirs from it.
        first = stage.project.stages.filter(crowd=True).order_by("position").first()
        self._takes_rows = first is not None and first.pk == stage.pk

    def of(self, answer: GivenAnswer, faults: Faults, *, by_key: bool) -> Item | None:
        """The item that the answer is about; None where there is a fault about it."""
        if by_key:
            return self._with_key(answer, faults)
        if self._by_inputs is None:
            self._read(answer.inputs)
        digest = _digest([answer.inputs.get(name, "") for name in self._names])
        if self._names and digest in self._doubled:
            faults.add(
                answer.line, "", "two items of the stage show the same as this row: import the long table, by item"
            )
            return None
        if self._names and self._by_inputs and digest in self._by_inputs:
            return self._by_inputs[digest]
        return self._added(answer, faults)

    def _with_key(self, answer: GivenAnswer, faults: Faults) -> Item | None:
        if not self._by_key:
            rows_ = self.stage.items.select_related("document")
            self._by_key = {item.key: item for item in rows_.iterator(chunk_size=1000)}
        if answer.item not in self._by_key:
            faults.add(
                answer.line, "item", f"the stage has no item {quoted(answer.item)}: import its file of items first"
            )
            return None
        return self._by_key[answer.item]

    def _read(self, inputs: Mapping[str, str]) -> None:
        """Those that are there are known again by the columns that both have, all that the task names among them."""
        there = [
            (item, _columns(item)) for item in self.stage.items.select_related("document").iterator(chunk_size=1000)
        ]
        common = (set(inputs) - self.constants).intersection(*(columns for _, columns in there)) if there else set()
        named = set(readable(self.stage).named_columns(settings_of(self.stage))) - self.constants
        self._names = sorted(common) if named <= common else []
        self._by_inputs = {}
        for item, columns in there if self._names else ():
            digest = _digest([str(columns[name]) for name in self._names])
            if digest in self._by_inputs:
                self._doubled.add(digest)
            self._by_inputs[digest] = item

    def _added(self, answer: GivenAnswer, faults: Faults) -> Item | None:
        key = answer.inputs.get(ID, "").strip() or _digest(sorted(answer.inputs.items())).hex()[:16]
        known = self._new.get(key)
        if known is not None and _columns(known) == answer.inputs:
            return known
        if known is not None:
            faults.add(
                answer.line, f"{INPUT}{ID}", f"{quoted(key)} has other inputs in another line: give each item one id"
            )
            return None
        if not self._takes_rows:
            faults.add(
                answer.line,
                "",
                "no item of this stage shows this, and its items come from other stages: import it there",
            )
            return None
        if len(key) > LONGEST_DOCUMENT_KEY:
            faults.add(answer.line, f"{INPUT}{ID}", f"has {len(key):,} characters, the limit is {LONGEST_DOCUMENT_KEY}")
            return None
        data = {"columns": dict(answer.inputs)}
        self._new[key] = Item(key=key, data={}, document=Document(key=key, data=data))
        self.documents.append(SourceDocument(key, self.origin, data, (SourceItem(key, {}),), answer.line))
        return self._new[key]


def _columns(item: Item) -> Json:
    return {**(item.document.data.get("columns") or {}), **(item.data.get("columns") or {})}


def _digest(told: Any) -> bytes:
    return sha256(json.dumps(told, ensure_ascii=False).encode(errors="replace")).digest()


def _refuse_known(stage: Stage, answers: Sequence[_Prepared], faults: Faults) -> None:
    """Answers that are here already, from this marketplace or from another file, would count twice."""
    by_id: dict[str, list[GivenAnswer]] = {}
    for prepared in answers:
        by_id.setdefault(prepared.given.assignment, []).append(prepared.given)
    for some in chunks(sorted(by_id), 500):
        here = Assignment.objects.filter(stage__project=stage.project_id, assignment_id__in=some)
        columns = ("assignment_id", "worker__worker_id", "imported_from__name")
        for assignment, worker, file in here.values_list(*columns):
            for given in by_id[assignment]:
                if file is None:
                    faults.add(
                        given.line, "", "this answer was given here, and is in the project already: remove the line"
                    )
                elif own_id(worker) == given.worker:
                    faults.add(given.line, "", f"this answer was imported before, with {file}: remove the line")


def _check(protocol: ReadableProtocol, options: Json, project: int, prepared: _Prepared, faults: Faults) -> None:
    given, item = prepared.given, prepared.item
    if given.rejected:
        prepared.posted = dict(given.fields)
        return
    worker = imported_id(project, given.worker)
    try:
        prepared.posted = protocol.posted(item.document.data, item.data, options, given.fields, worker)
        checked = protocol.check(item.document.data, item.data, options, prepared.posted, worker)
    except AnswerRefusedError as error:
        for reason in error.reasons:
            faults.add(given.line, "", f"the task does not take this answer: {reason}")
        return
    prepared.labels, prepared.remark = tuple(checked.labels), checked.remark


def store(upload: Upload, stage: Stage, found: FoundResults) -> int:
    """Write the answers and their labels, within the transaction of the import; the new items are there."""
    new_fields.take_up(stage, (label.unit for prepared in found.answers for label in prepared.labels))
    names = sorted({imported_id(upload.project_id, prepared.given.worker) for prepared in found.answers})
    Worker.objects.bulk_create(
        (Worker(worker_id=name, imported_into_id=upload.project_id) for name in names), ignore_conflicts=True
    )
    workers: dict[str, int] = {}
    for some in chunks(names, 500):
        workers |= dict(Worker.objects.filter(worker_id__in=some).values_list("worker_id", "pk"))
    keys = sorted({prepared.item.key for prepared in found.answers if prepared.item.pk is None})
    items: dict[str, int] = {}
    for some in chunks(keys, 500):
        items |= dict(stage.items.filter(key__in=some).values_list("key", "pk"))
    for part in chunks(found.answers, 1000):
        _store_some(upload, stage, part, workers, items)
    Upload.objects.filter(pk=upload.pk).update(columns=list(found.columns))
    mine = stage.assignments.filter(imported_from=upload)
    recount(mine)
    Item.objects.filter(pk__in=mine.values("item")).update(stale=True)
    refresh_worker_stats(stage, workers.values())
    return len(found.answers)


def _store_some(
    upload: Upload, stage: Stage, part: Sequence[_Prepared], workers: Mapping[str, int], items: Mapping[str, int]
) -> None:
    made = Assignment.objects.bulk_create(
        Assignment(
            stage=stage,
            imported_from=upload,
            item_id=prepared.item.pk or items[prepared.item.key],
            worker_id=workers[imported_id(upload.project_id, prepared.given.worker)],
            assignment_id=prepared.given.assignment,
            state=Assignment.State.IMPORTED,
            accepted_at=prepared.given.accepted_at or prepared.given.submitted_at or upload.created_at,
            submitted_at=prepared.given.submitted_at or upload.created_at,
            seconds=prepared.given.seconds,
            answer=prepared.posted,
            problem=REJECTED if prepared.given.rejected else "",
            remark=prepared.remark,
            scored=True,
            row=prepared.given.row,
        )
        for prepared in part
    )
    Label.objects.bulk_create(
        (
            Label(
                assignment=row,
                item_id=cast(int, row.item_id),
                stage=stage,
                worker_id=row.worker_id,
                unit=label.unit,
                value=label.value,
                correct=label.correct,
            )
            for row, prepared in zip(made, part, strict=True)
            for label in prepared.labels
        ),
        batch_size=500,
    )
