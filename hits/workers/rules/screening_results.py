"""Who was right in a stage that tests workers, and what a lead sees of it.

The server counts, from the labels of recorded answers. The result stands in `Grant.value`:
`hits.workers.verbs.screening` writes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BooleanField, Case, Count, Q, Value, When

from hits.answers.rules.eligibility import ELIGIBLE
from hits.answers.rules.feedback import known_units
from hits.models import Assignment, Draft, Grant, Item, Label, Stage
from hits.refusals import Refused
from hits.workers.rules.project_qualifications import withdrawn_since

# Items of which a page says how often they were answered wrongly.
MOST_ITEMS = 10


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
    of_middle = slice((tested - 1) // 2, tested // 2 + 1)
    middle = list(rows.order_by("value", "pk").values_list("value", flat=True)[of_middle]) if tested else []
    return Standing(
        began=answered + begun.values("worker_id").distinct().count(),
        passed=passed,
        failed=tested - passed,
        again=taken_back.values("worker").distinct().count(),
        waiting=answers.exclude(held="").exclude(admitted=True).count(),
        median=sum(middle) / len(middle) if middle else None,
        practice=stage.items.filter(for_practice=True).count(),
        items=tuple(_wrong_items(stage)),
    )


def _wrong_items(stage: Stage) -> list[WrongItem]:
    labels = Label.objects.counting().filter(stage=stage, correct__isnull=False).order_by()
    counted = labels.values("item").annotate(
        answers=Count("assignment", distinct=True), wrong=Count("assignment", filter=Q(correct=False), distinct=True)
    )
    rows = list(counted.filter(wrong__gt=0).values_list("item", "answers", "wrong"))
    rows = sorted(rows, key=lambda row: (-row[2] / row[1], -row[1], row[0]))[:MOST_ITEMS]
    items = Item.objects.select_related("document").in_bulk([row[0] for row in rows])
    return [WrongItem(items[pk], given, wrong) for pk, given, wrong in rows]
