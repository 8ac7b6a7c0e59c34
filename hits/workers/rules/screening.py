"""Stages that test workers (`Stage.screening_share`): what their HITs ask, and what is kept for practice.

The items of a test have known answers. Like check questions they are in the state "check": no verdict, no release, and
nothing is bought again. Those that are kept for practice are shown with the right answer before the test, and are in no
HIT. A HIT asks about `items_per_hit` of the others and has a place for each of `answers` workers. Each answers one HIT:
the stage requires that its own result is not there yet.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BooleanField, Case, Count, Exists, OuterRef, Q, QuerySet, Value, When

from hits.answers.rules.eligibility import ELIGIBLE
from hits.answers.rules.feedback import known_units
from hits.models import Assignment, Draft, Grant, Item, Label, Stage
from hits.publishing.models import Hit, HitItem
from hits.publishing.rules import check_questions
from hits.publishing.rules.hit_items import never_shown
from hits.refusals import Refused
from hits.workers.rules.project_qualifications import withdrawn_since

# Of the items with a known answer, so many are kept for practice, unless each worker practises on more.
PRACTICE_PART = 4
_OPEN = (Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE)
# Items of which a page says how often they were answered wrongly.
MOST_ITEMS = 10


# What is asked


def usable(stage: Stage) -> QuerySet[Item]:
    """The stage's items with a known answer, practice ones among them; none that a qualification test asks."""
    return stage.items.filter(state=Item.State.CHECK, qualification_tests=None)


def practice(stage: Stage) -> list[int]:
    """The items that are kept for practice: a part drawn by the project's seed until something is published, and then
    those for good. None is a check question of another stage about the same row of the file.
    """
    if not stage.practice_items:
        return []
    if stage.hits.exists():
        return list(stage.items.filter(for_practice=True).order_by("pk").values_list("pk", flat=True))
    asked = check_questions.shown(stage.project).values("document")
    untold = never_shown(usable(stage)).exclude(document__in=asked)
    pks = list(untold.order_by("pk").values_list("pk", flat=True))
    wanted = max(stage.practice_items, len(pks) // PRACTICE_PART)
    return sorted(_draw(stage, "practice").sample(pks, min(wanted, max(0, len(pks) - stage.items_per_hit))))


def keep_practice(stage: Stage) -> None:
    """Write down which items are kept for practice. Within the transaction of the first publication."""
    if not stage.hits.exists():
        stage.items.filter(for_practice=True).update(for_practice=False)
        stage.items.filter(pk__in=practice(stage)).update(for_practice=True)


def waiting(stage: Stage, limit: int | None = None) -> list[int]:
    """Items for new HITs of the test, in groups of `items_per_hit` that differ from those before: all that are not for
    practice and that no open HIT asks about. What does not fill a HIT is left out.
    """
    free = usable(stage).exclude(pk__in=in_open_hits(usable(stage)).values("pk")).exclude(pk__in=practice(stage))
    pks = list(free.order_by("pk").values_list("pk", flat=True))
    _draw(stage, f"test:{stage.hits.count()}").shuffle(pks)
    return pks[: len(pks) - len(pks) % stage.items_per_hit][:limit]


def in_open_hits(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that a HIT asks about which is at the marketplace or on its way there."""
    first = Hit.objects.filter(item=OuterRef("pk"), state__in=_OPEN)
    further = HitItem.objects.filter(item=OuterRef("pk"), hit__state__in=_OPEN)
    return items.filter(Exists(first) | Exists(further))


def _draw(stage: Stage, what: str) -> random.Random:
    return random.Random(f"{stage.project.seed}:{stage.key}:{what}")


def faults(stage: Stage, items: int) -> list[str]:
    """Why a test of so many items cannot be published, as sentences."""
    known = usable(stage).count()
    found = []
    if fault := too_few(stage, known):
        found.append(fault)
    elif items % stage.items_per_hit:
        found.append(
            f"A HIT of this test asks about {stage.items_per_hit:,} items, and {items:,} do not make whole HITs. "
            f"Publish {items - items % stage.items_per_hit:,} of them."
        )
    if stage.practice_items and stage.hits.exists() and not practice(stage):
        found.append("Nothing was kept for practice when this test was published first. Set practice_items to 0.")
    return found


def too_few(stage: Stage, known: int) -> str:
    """A sentence where so many items with a known answer do not make one HIT and its practice; empty else."""
    needed = stage.items_per_hit + stage.practice_items
    if known >= needed:
        return ""
    of_practice = f" and {stage.practice_items:,} to practise on" if stage.practice_items else ""
    return (
        f"The test needs {needed:,} items with a gold answer, {stage.items_per_hit:,} for a HIT{of_practice}; the "
        f"stage has {known:,}. Import rows with a gold answer, or ask about fewer."
    )


def tests_of(stage: Stage) -> list[Stage]:
    """The tests that the workers of the stage have to pass."""
    asked = [one["qualification"] for one in stage.requirements if one["comparator"] != "DoesNotExist"]
    if not asked:
        return []
    tests = stage.project.stages.filter(grants__in=asked, screening_share__gt=0).exclude(pk=stage.pk)
    return list(tests.order_by("position"))


def unpublished(stage: Stage) -> list[str]:
    """That nobody can pass yet what the stage asks for, as sentences."""
    return [
        f"Workers have to pass “{test.title}”, of which nothing is published yet: until then nobody new gets in."
        for test in tests_of(stage)
        if not test.hits.exists()
    ]


def drawn_for(stage: Stage, worker: str) -> list[Item]:
    """The items that this worker practises on: the same whenever the page is opened, and others for others."""
    pks = list(stage.items.filter(for_practice=True).order_by("pk").values_list("pk", flat=True))
    chosen = random.Random(f"{stage.project.seed}:{stage.key}:{worker}").sample(
        pks, min(len(pks), stage.practice_items)
    )
    rows = Item.objects.select_related("document").in_bulk(chosen)
    return [rows[pk] for pk in chosen]


# Results


@dataclass(frozen=True)
class Result:
    """What a worker's last answer to the test says. `right` of `of` items; `tries` answers in all; `counted` is False
    while a person has to look at the answer first, or after it was rejected.
    """

    worker: int
    assignment: int
    right: int
    of: int
    tries: int
    at: datetime
    counted: bool
    approved: bool

    @property
    def percent(self) -> int:
        """Of whole percent never more than was right."""
        return 100 * self.right // self.of

    def passed(self, stage: Stage) -> bool:
        return self.percent >= stage.screening_mark

    def again_at(self, stage: Stage) -> datetime | None:
        """From when the worker may try again; None where that is not so."""
        if self.passed(stage) or self.tries > stage.screening_retries:
            return None
        return self.at + timedelta(hours=stage.screening_hours)


def results(stage: Stage) -> list[Result]:
    """Of every worker who answered the test, in the order of their rows. A few queries.

    Answers of which an eligible worker was the author count as tries, whatever became of them; one for which the result
    was taken back since, to let the worker try again, gives none any more.
    """
    answers = stage.assignments.from_marketplace().filter(ELIGIBLE, scored=True)
    taken_back = When(withdrawn_since("worker__worker_id", "submitted_at"), then=Value(True))
    answers = answers.annotate(over=Case(taken_back, default=Value(False), output_field=BooleanField()))
    last: dict[int, Assignment] = {}
    tries: dict[int, int] = defaultdict(int)
    columns = ("pk", "worker", "submitted_at", "held", "admitted", "state", "hit__item_count", "stage")
    for answer in answers.select_related("hit").only(*columns).order_by("submitted_at", "pk"):
        tries[answer.worker_id] += 1
        last[answer.worker_id] = answer
    standing = {worker: answer for worker, answer in last.items() if not answer.over}  # type: ignore[attr-defined]
    right = _right(stage, [answer.pk for answer in standing.values()])
    return [
        Result(
            worker,
            answer.pk,
            right.get(answer.pk, 0),
            answer.hit.item_count,
            tries[worker],
            answer.submitted_at,
            (not answer.held or answer.admitted is True) and answer.state != Assignment.State.REJECTED,
            answer.state == Assignment.State.APPROVED,
        )
        for worker, answer in sorted(standing.items())
    ]


def _right(stage: Stage, assignments: Sequence[int]) -> dict[int, int]:
    """Assignment to the items of which every known answer was given rightly; by the labels that count alone."""
    items: dict[tuple[int, int], dict[str, bool]] = defaultdict(dict)
    labels = Label.objects.counting().filter(assignment__in=assignments, correct__isnull=False)
    for assignment, item, unit, correct in labels.order_by().values_list("assignment__pk", "item", "unit", "correct"):
        items[assignment, item][unit] = bool(correct)
    rows = Item.objects.filter(pk__in={item for _, item in items}).select_related("document")
    known = {item.pk: known_units(stage, item) for item in rows}
    found: dict[int, int] = defaultdict(int)
    for (assignment, item), said in items.items():
        found[assignment] += all(said.values()) and known[item] <= said.keys()
    return dict(found)


# What a lead sees


@dataclass(frozen=True)
class WrongItem:
    """How many of the answers to an item of the test were wrong."""

    item: Item
    answers: int
    wrong: int

    @property
    def share(self) -> float:
        return self.wrong / self.answers


@dataclass(frozen=True)
class Standing:
    """Workers by what became of them. `began` have a kept page or answered: of those who only opened it, their pages
    say so. `again` may try again and have not. `median` is of the percentages of `passed` and `failed`, None before the
    first; `practice` are the items that are kept for it, and `items` those of the test most often wrong, first.
    """

    began: int
    passed: int
    failed: int
    again: int
    waiting: int
    median: float | None
    practice: int
    items: tuple[WrongItem, ...]

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds."""
        rows = [{"key": one.item.key, "answers": one.answers, "wrong": one.wrong} for one in self.items]
        return {**vars(self), "items": rows}


def refuse_no_test(stage: Stage) -> None:
    """Raises Refused (no_test)."""
    if not stage.screening_share:
        raise Refused("no_test", f"“{stage.title}” tests no workers: its screening_share is 0.")


def standing(stage: Stage) -> Standing:
    """A few queries, however many workers were tested."""
    all_of_them = Grant.objects.filter(project=stage.project_id, key=stage.grants, stage=stage)
    rows = all_of_them.exclude(state=Grant.State.WITHDRAWN)
    passed, tested = rows.filter(value__gte=stage.screening_mark).count(), rows.count()
    taken_back = all_of_them.filter(state=Grant.State.WITHDRAWN).exclude(worker__in=rows.values("worker"))
    answers = stage.assignments.from_marketplace()
    answered = answers.values("worker").distinct().count()
    begun = Draft.objects.filter(hit__stage=stage).exclude(worker_id__in=answers.values("worker__worker_id"))
    return Standing(
        began=answered + begun.values("worker_id").distinct().count(),
        passed=passed,
        failed=tested - passed,
        again=taken_back.values("worker").distinct().count(),
        waiting=answers.exclude(held="").exclude(admitted=True).count(),
        median=_median(rows, tested),
        practice=stage.items.filter(for_practice=True).count(),
        items=tuple(_wrong_items(stage)),
    )


def _median(rows: QuerySet[Grant], count: int) -> float | None:
    if not count:
        return None
    middle = list(rows.order_by("value", "pk").values_list("value", flat=True)[(count - 1) // 2 : count // 2 + 1])
    return sum(middle) / len(middle)


def _wrong_items(stage: Stage) -> list[WrongItem]:
    labels = Label.objects.counting().filter(stage=stage, correct__isnull=False).order_by()
    counted = labels.values("item").annotate(
        answers=Count("assignment", distinct=True), wrong=Count("assignment", filter=Q(correct=False), distinct=True)
    )
    rows = list(counted.filter(wrong__gt=0).values_list("item", "answers", "wrong"))
    rows = sorted(rows, key=lambda row: (-row[2] / row[1], -row[1], row[0]))[:MOST_ITEMS]
    items = Item.objects.select_related("document").in_bulk([row[0] for row in rows])
    return [WrongItem(items[pk], given, wrong) for pk, given, wrong in rows]
