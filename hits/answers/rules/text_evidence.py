"""What is known of how an answer's texts came about, in sentences for whoever reviews it.

It is for people alone: nothing that approves, rejects, blocks, counts or releases reads it, and a test holds that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import QuerySet

from hits.answers.models import Assignment, TextEvidence, TextFigures
from hits.answers.rules.written_texts import counted, without_counts
from hits.projects.models import Project
from hits.stages.models import Stage
from hits.text.originality import stock_phrases, writing_signs
from hits.text.originality.stock_phrases import Rates
from hits.text.originality.typing_counts import Counts, spelled, total
from hits.text.originality.writing_signs import Facts, Near, Others, Sentence, Written
from hits.workers.models import Worker

# Of a table of answers, where somebody asks for them.
COLUMNS: dict[str, Literal["int64", "float64"]] = {
    "text_typed": "int64",
    "text_pasted": "int64",
    "text_pastes": "int64",
    "text_deletions": "int64",
    "text_pauses": "int64",
    "text_seconds": "int64",
    "shared_wording": "float64",
    "copied_from_item": "float64",
    "signs": "int64",
}
# Of a worker's newest answers in a stage, how many are read for a summary.
MOST_READ = 1000


@dataclass(frozen=True)
class Evidence:
    """Of an answer: sentences, signs first, and the answer with much of the same wording, None where there is none.

    `of` is the number of answers of the stage that it is beside, 0 before they were compared.
    """

    row: TextEvidence
    sentences: Sequence[Sentence]
    of: int

    @property
    def near(self) -> Assignment | None:
        return self.row.near

    @property
    def signs(self) -> int:
        return sum(one.is_sign for one in self.sentences)


@dataclass(frozen=True)
class OfWorker:
    """Of all texts of a worker in a stage; `answers` with evidence, of which `with_signs` have one or more."""

    stage: Stage
    written: Written
    with_signs: int
    sentences: Sequence[Sentence]


def take_counts(stage: Stage, row: Assignment, items: int) -> list[TextEvidence]:
    """What the page counted leaves the answer, which is about so many items; the row that keeps it beside the answer,
    where the stage collects it. Both are still to be written.
    """
    noted, counts = counted(row.answer, items)
    row.answer = without_counts(stage, row.answer)
    if not stage.text_evidence:
        return []
    return [TextEvidence(assignment=row, stage=stage, worker=row.worker, noted=noted, counts=spelled(counts))]


def rows_of(stage: Stage) -> QuerySet[TextEvidence]:
    """Those that were read, with all that `facts` asks for."""
    return _with_facts(TextEvidence.objects.filter(stage=stage, read_at__isnull=False)).order_by("pk")


def _with_facts(rows: QuerySet[TextEvidence]) -> QuerySet[TextEvidence]:
    return rows.select_related("assignment", "near__worker").defer("sketch", "assignment__answer", "near__answer")


def facts(row: TextEvidence) -> Facts:
    near = None
    if row.near is not None and row.near_share is not None:
        before = (row.near.submitted_at, row.near.pk) < (row.assignment.submitted_at, row.assignment_id)
        near = Near(row.near_share, row.near.worker.worker_id, is_earlier=before)
    return Facts(
        characters=row.characters,
        seconds=row.assignment.seconds or 0.0,
        counts=_counts(row),
        is_readable=row.noted != TextEvidence.Noted.UNREADABLE,
        copied=row.copied,
        near=near,
    )


def _counts(row: TextEvidence) -> Counts | None:
    counted = row.noted == TextEvidence.Noted.COUNTED
    return total(Counts(*numbers) for numbers in row.counts.values()) if counted else None


def of_answers(stage: Stage, answers: Iterable[Assignment]) -> dict[int, Evidence]:
    """By the answer's number; without answers of which nothing is collected. Two queries, or none where none is."""
    numbers = [row.pk for row in answers if row.signs is not None]
    if not numbers:
        return {}
    rows = list(rows_of(stage).filter(assignment__in=numbers))
    if not rows:
        return {}
    others, of = _others(TextFigures.objects.filter(stage=stage).first())
    return {row.assignment_id: Evidence(row, writing_signs.of_answer(facts(row), others), of) for row in rows}


def of_worker(project: Project, worker: Worker) -> list[OfWorker]:
    """Stage by stage, in their order; without those in which nothing of the worker is collected."""
    own = TextEvidence.objects.filter(worker=worker, stage__project=project)
    stages = {stage.pk: stage for stage in project.stages.filter(pk__in=own.values("stage")).order_by("position")}
    found = {row.stage_id: row for row in TextFigures.objects.filter(stage__in=stages)}
    return [_of_worker(stage, worker, found.get(pk)) for pk, stage in stages.items()]


def of_worker_in(stage: Stage, worker: Worker) -> OfWorker:
    """Without answers where nothing of the worker is collected in the stage."""
    return _of_worker(stage, worker, TextFigures.objects.filter(stage=stage).first())


def _of_worker(stage: Stage, worker: Worker, figures: TextFigures | None) -> OfWorker:
    rows = list(rows_of(stage).filter(worker=worker).order_by("-assignment")[:MOST_READ])
    known = [facts(row) for row in rows]
    written = Written(
        answers=len(rows),
        counted=sum(one.is_usable for one in known),
        pasted=sum((one.pasted or 0) >= writing_signs.PASTED_SHARE for one in known),
        near=sum(one.near is not None and one.near.is_earlier for one in known),
        rates=Rates(sum(sum(row.phrases.values()) for row in rows), sum(row.words for row in rows)),
        phrases=stock_phrases.most_used(row.phrases for row in rows),
        sentences=sum(row.sentences for row in rows),
        length_sum=sum(row.words for row in rows),
        length_squares=sum(row.length_squares for row in rows),
    )
    others, _ = _others(figures)
    with_signs = sum(bool(row.assignment.signs) for row in rows)
    return OfWorker(stage, written, with_signs, writing_signs.of_worker(written, others))


def _others(found: TextFigures | None) -> tuple[Others, int]:
    if found is None:
        return Others(), 0
    told = found.figures
    named = {name: told.get(name, ()) for name in ("pasted", "speed", "copied", "evenness")}
    return Others(**named, rates=Rates(told.get("phrases", 0), told.get("words", 0))), found.answers


def write_signs(pks: Sequence[int]) -> None:
    """How many signs each answer has, by these rows; written beside the answer for lists in that order."""
    by_number: dict[int, list[int]] = defaultdict(list)
    for row in _with_facts(TextEvidence.objects.filter(pk__in=pks)):
        by_number[writing_signs.signs(facts(row))].append(row.assignment_id)
    for number, answers in sorted(by_number.items()):
        Assignment.objects.filter(pk__in=answers).exclude(signs=number).update(signs=number)


@transaction.atomic
def forget(rows: QuerySet[TextEvidence]) -> int:
    """Delete them for good, and the signs beside their answers; returns how many."""
    answers = [row.assignment_id for row in rows.only("assignment")]
    Assignment.objects.filter(pk__in=answers).update(signs=None)
    TextEvidence.objects.filter(assignment__in=answers).delete()
    return len(answers)


def as_json(found: Evidence) -> dict[str, Any]:
    """For programs: counts, figures and sentences."""
    row = found.row
    return {
        "noted": row.noted,
        "counts": {name: vars(Counts(*numbers)) for name, numbers in row.counts.items()},
        "characters": row.characters,
        "words": row.words,
        "copied_from_item": row.copied,
        "near_duplicate": {"answer": row.near_id, "share": row.near_share} if row.near_id else None,
        "signs": found.signs,
        "sentences": [{"kind": one.kind, "text": one.text, "is_sign": one.is_sign} for one in found.sentences],
        "beside": found.of,
    }


def columns_of(stage: Stage, answers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """COLUMNS of a table, by the answer's number; without answers of which nothing is collected."""
    rows = rows_of(stage).filter(assignment__in=answers)
    return {row.assignment_id: _cells(row) for row in rows}


def _cells(row: TextEvidence) -> dict[str, Any]:
    counts = _counts(row)
    told = vars(counts) if counts else {}
    figures = {"shared_wording": row.near_share, "copied_from_item": row.copied, "signs": row.assignment.signs}
    return {name: figures[name] if name in figures else told.get(name.removeprefix("text_")) for name in COLUMNS}
