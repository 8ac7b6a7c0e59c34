"""Comparing the texts that workers write in a stage: what each says of itself, and which share their wording.

An answer's own text is read once. The comparison of all with one another needs sketches alone, and is made anew when
one answer in twenty is new, or some are and a while has passed. Rules, blocks and approvals read none of it.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from hits.answers.rules import text_evidence
from hits.answers.rules.written_texts import texts_of
from hits.core.jobs.leases import lease
from hits.models import Assignment, Item, Stage, TextEvidence, TextFigures
from hits.projects.rules.plugins import stage_fault
from hits.publishing.rules.hit_items import items_of
from hits.text.language.sentences import sentences
from hits.text.language.words import words
from hits.text.originality import other_writers, stock_phrases, writing_signs
from hits.text.originality.near_duplicates import contained
from hits.text.originality.other_writers import Nearest
from hits.text.originality.writing_signs import Written

log = logging.getLogger(__name__)
CHUNK = 200
ROWS = 2000
LEASE_SECONDS = 300
# As for the comparison of workers; and how long a few new answers wait.
GROWTH = 20
SETTLE = timedelta(minutes=10)
_READ = [
    "read_at", "characters", "words", "copied", "phrases", "sentences", "length_squares", "sketch",
]  # fmt: skip
_COMPARED = ("pk", "assignment", "worker", "sketch", "near", "near_share")


def compare_when_due(stage: Stage) -> int:
    """Read what is new and, where it is time, compare all; returns how many answers were compared.

    A second process at the same stage leaves it to the first.
    """
    if not (stage.text_evidence or TextEvidence.objects.filter(stage=stage, read_at=None).exists()):
        return 0
    with lease(f"comparing-texts:{stage.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        read_new(stage)
        return compare(stage) if is_due(stage) else 0


def due_stages() -> list[int]:
    """Stages with texts that are not read, or not compared."""
    unread = TextEvidence.objects.filter(read_at=None).values_list("stage", flat=True).distinct()
    rested = Stage.objects.filter(text_evidence=True, text_figures__compared_at__lte=timezone.now() - SETTLE)
    # Each is counted then, so only those of which something changed.
    stages = rested.exclude(text_figures__answers=F("summary__answers"))
    return sorted({*unread, *(stage.pk for stage in stages if is_due(stage))})


def is_due(stage: Stage) -> bool:
    read = TextEvidence.objects.filter(stage=stage, read_at__isnull=False).count()
    before = TextFigures.objects.filter(stage=stage).first()
    if before is None:
        return read > 0
    new = read - before.answers
    return new > before.answers / GROWTH or (new != 0 and before.compared_at <= timezone.now() - SETTLE)


# What an answer says by itself


def read_new(stage: Stage) -> int:
    """Read the texts of the answers that nobody read yet; returns how many."""
    if stage_fault(stage):
        return 0
    total = 0
    unread = TextEvidence.objects.filter(stage=stage, read_at=None).order_by("pk")
    while rows := list(unread.select_related("assignment__hit__item__document")[:CHUNK]):
        items = items_of(row.assignment.hit for row in rows)
        for row in rows:
            _read(stage, row, items[row.assignment.hit.pk])
        with transaction.atomic():
            TextEvidence.objects.bulk_update(rows, _READ, batch_size=100)
            text_evidence.write_signs([row.pk for row in rows])
        total += len(rows)
    return total


def _read(stage: Stage, row: TextEvidence, items: Sequence[Item]) -> None:
    """An answer on which the task's own code fails has no text here; scoring says so beside it."""
    row.read_at = timezone.now()
    try:
        own, given = texts_of(stage, items, row.assignment.answer)
    except Exception:
        log.exception("The texts of assignment %s could not be read.", row.assignment.assignment_id)
        return
    found = words(own)
    lengths = [len(words(own[one.start : one.end])) for one in sentences(own)]
    row.characters, row.words = len(own), len(found)
    row.copied = round(contained(own, given), 4) if found else None
    row.phrases = stock_phrases.phrases_in(found)
    row.sentences, row.length_squares = len(lengths), sum(one * one for one in lengths)
    row.sketch = np.array(other_writers.own_sketch(own, given), dtype="<u8").tobytes()


# All of them beside one another


def compare(stage: Stage) -> int:
    """Find the texts that share their wording, and where each figure stands; returns how many answers there are."""
    began = timezone.now()
    read = _Sketches.of(stage)
    _write_near(stage, read, other_writers.nearest(read.writers, read.sketches))
    TextFigures.objects.update_or_create(
        stage=stage, defaults={"answers": len(read.pks), "compared_at": began, "figures": _figures(stage)}
    )
    return len(read.pks)


@dataclass
class _Sketches:
    """Of every answer of the stage, in the order of submission."""

    pks: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    writers: list[int] = field(default_factory=list)
    sketches: list[Any] = field(default_factory=list)
    before: list[tuple[int | None, float | None]] = field(default_factory=list)

    @classmethod
    def of(cls, stage: Stage) -> _Sketches:
        found = cls()
        rows = TextEvidence.objects.filter(stage=stage, read_at__isnull=False)
        rows = rows.order_by("assignment__submitted_at", "assignment")
        for pk, answer, writer, sketch, near, share in rows.values_list(*_COMPARED).iterator(ROWS):
            found.pks.append(pk)
            found.answers.append(answer)
            found.writers.append(writer)
            found.sketches.append(np.frombuffer(sketch, dtype="<u8"))
            found.before.append((near, share))
        return found


def _write_near(stage: Stage, read: _Sketches, found: Mapping[int, Nearest]) -> None:
    """Only what is another one than before."""
    now = [
        (read.answers[found[at].other], round(found[at].share, 4)) if at in found else (None, None)
        for at in range(len(read.pks))
    ]
    changed = [at for at, pair in enumerate(now) if pair != read.before[at]]
    for start in range(0, len(changed), CHUNK):
        some = changed[start : start + CHUNK]
        with transaction.atomic():
            rows = TextEvidence.objects.select_for_update().in_bulk([read.pks[at] for at in some])
            there = set(
                Assignment.objects.filter(pk__in=[now[at][0] for at in some if now[at][0]]).values_list("pk", flat=True)
            )
            for at in some:
                if row := rows.get(read.pks[at]):
                    row.near_id, row.near_share = now[at] if now[at][0] in there else (None, None)
            TextEvidence.objects.bulk_update(rows.values(), ["near", "near_share"], batch_size=100)
            text_evidence.write_signs(list(rows))


def _figures(stage: Stage) -> dict[str, Any]:
    """Of all answers and of all workers, in one pass."""
    values: dict[str, list[float | None]] = defaultdict(list)
    phrases = total = 0
    lengths: dict[int, Counter[str]] = defaultdict(Counter)
    for row in text_evidence.rows_of(stage).iterator(ROWS):
        facts = text_evidence.facts(row)
        values["pasted"].append(facts.pasted)
        values["speed"].append(facts.speed)
        values["copied"].append(facts.copied)
        phrases += sum(row.phrases.values())
        total += row.words
        lengths[row.worker_id].update(n=row.sentences, words=row.words, squares=row.length_squares)
    of_workers = [
        Written(0, 0, 0, 0, stock_phrases.Rates(0, 0), (), one["n"], one["words"], one["squares"])
        for one in lengths.values()
    ]
    evenness = [one.evenness for one in of_workers]
    if len([one for one in evenness if one is not None]) >= writing_signs.LEAST_WORKERS:
        values["evenness"] = evenness
    return {
        **{name: writing_signs.quantiles(found) for name, found in values.items()},
        "phrases": phrases,
        "words": total,
    }


# Its end


def forget_old() -> int:
    """Delete what is older than TEXT_EVIDENCE_DAYS; returns of how many answers. Where that is 0, nothing goes."""
    if not settings.TEXT_EVIDENCE_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.TEXT_EVIDENCE_DAYS)
    total = 0
    while some := list(
        TextEvidence.objects.filter(assignment__submitted_at__lt=before).values_list("pk", flat=True)[:CHUNK]
    ):
        total += text_evidence.forget(TextEvidence.objects.filter(pk__in=some))
    return total
