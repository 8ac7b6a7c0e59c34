"""Answers and items with a known right answer: a worker's answers over time, and items for tests of workers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime

from hits.items.models import Item
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Label, Stage, Worker
from hits.projects.models import Project
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_items import never_shown
from hits.publishing.rules.hit_plans import is_published
from hits.recipes.inputs import KNOWN
from hits.stats.intervals import wilson

# So many of the newest are read. Parts are of FEWEST answers or more, unless there are less in all.
NEWEST, MOST_PARTS, FEWEST = 1000, 10, 10


@dataclass(frozen=True)
class Part:
    """Answers one after another: when the first and the last were given, how many they are, how many were right."""

    first: datetime
    last: datetime
    scored: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.scored

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.scored)


def over_time(stage: Stage, worker: Worker) -> list[Part]:
    """Oldest first; the same answers as in the worker's figures, those of blocked workers too. One query."""
    compared = Label.objects.evidence().filter(stage=stage, worker=worker, correct__isnull=False)
    newest = compared.order_by("-id").values_list("assignment__submitted_at", "correct")[:NEWEST]
    rows = sorted((at, bool(correct)) for at, correct in newest)
    count = min(MOST_PARTS, max(1, len(rows) // FEWEST)) if rows else 0
    ends = [len(rows) * number // count for number in range(count + 1)] if count else []
    return [_part(rows[start:end]) for start, end in zip(ends, ends[1:], strict=False)]


def _part(rows: list[tuple[datetime, bool]]) -> Part:
    return Part(rows[0][0], rows[-1][0], len(rows), sum(right for _, right in rows))


def free(tested: Stage, test: Stage) -> list[int]:
    """Items of the tested stage with a known answer that no worker can have seen and no qualification test asks."""
    kind = check_questions.kind_of(test)
    rows = never_shown(tested.items.filter(parent=None, state__in=[Item.State.NEW, Item.State.CHECK]))
    rows = rows.filter(qualification_tests=None).order_by("pk")
    columns = rows.values_list("pk", "document__data", "data")
    return [pk for pk, document, data in columns.iterator(chunk_size=500) if kind(document, data) == Item.State.CHECK]


def take(tested: Stage, test: Stage) -> int:
    """Make items of the test of them: all, or as many as the test draws, by the project's seed; returns how many."""
    pks = free(tested, test)
    if test.draws:
        wanted = max(0, test.draws - test.items.count())
        pks = random.Random(f"{test.project.seed}:{test.key}:known").sample(pks, min(wanted, len(pks)))
    for some in chunks(pks):
        Item.objects.filter(pk__in=some).update(stage=test, state=Item.State.CHECK)
    return len(pks)


def take_for_tests(project: Project) -> list[Stage]:
    """After rows were imported: of the stages that are tested, for tests that are not published yet; those changed."""
    changed = []
    tests = project.stages.filter(input__each=KNOWN, screening_share__gt=0)
    for test in tests.select_related("project"):
        tested = project.stages.filter(key=test.input["stage"]).first()
        if tested and not is_published(test) and take(tested, test):
            changed += [tested, test]
    return changed


def give_back(test: Stage) -> None:
    """Of a test that is removed: its items are the tested stage's again, which asks for no result any more."""
    tested = test.project.stages.filter(key=test.input["stage"]).select_related("project").first()
    if tested is None:
        return
    test.items.update(stage=tested, state=Item.State.NEW, for_practice=False)
    check_questions.mark(tested)
    others = [one for one in tested.requirements if one["qualification"] != test.grants]
    Stage.objects.filter(pk=tested.pk).update(requirements=others)
    refresh_summary(tested)
