"""The answers of a stage as lists: filters, orders, a search in what was answered. Pages, files and the API show the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from hits.answers.models import HELD, Assignment, Label
from hits.core import keyset
from hits.core.keyset import Order, Page, Search
from hits.core.reading import decoded, text_of
from hits.items.rules.item_texts import Words
from hits.publishing.rules import hit_items
from hits.stages.models import Stage

# `review` are those that wait for an approval, `to_review` those of them that nobody has decided about yet.
SHOWN: dict[str, Q] = {
    "review": Q(state=Assignment.State.SUBMITTED),
    "to_review": Q(state=Assignment.State.SUBMITTED, decision=""),
    "held": HELD,
    "reported": ~Q(remark=""),
    "invalid": ~Q(problem=""),
    "rejected": Q(state=Assignment.State.REJECTED),
    "adopted": ~Q(adopted=""),
    "imported": ~Q(imported_from=None),
    "signs": Q(signs__gt=0),
}
# Of these an index holds the rows, in the order of their ids or few of them.
_INDEXED = ("review", "to_review", "held", "reported", "invalid", "adopted", "signs")
# What a search looks in besides the fields of the answer.
WRITTEN = ("remark", "feedback", "problem")
RIGHT, WRONG = "right", "wrong"
# What the answers can be ordered by; `-` before a name turns it round.
ORDERS: dict[str, Order] = {
    "id": Order(),
    "submitted": Order("submitted_at", read=keyset.moment),
    "seconds": Order("seconds", read=keyset.share),
    "signs": Order("signs", read=keyset.whole),
}
SORTS = tuple(sign + name for name in ORDERS for sign in ("", "-"))


@dataclass(frozen=True)
class AnswerFilter:
    """Empty values choose all. `show` is one of SHOWN, `sort` one of SORTS, `worker` a worker's id.

    `compared` chooses answers that were compared with known ones: `right` where nothing of them was wrong, `wrong`
    where something was. `item` is an item's number.
    """

    show: str = ""
    conclusion: str = ""
    worker: str = ""
    compared: str = ""
    find: str = ""
    item: int | None = None
    sort: str = "id"

    @property
    def order(self) -> Order:
        order = ORDERS[self.sort.removeprefix("-")]
        return order.turned() if self.sort.startswith("-") else order

    @property
    def is_narrow(self) -> bool:
        return bool(self.show or self.conclusion or self.worker or self.compared or self.find)


def page(
    stage: Stage, wanted: AnswerFilter, *, after: str | None = None, before: str | None = None, size: int = 50
) -> Page[Assignment]:
    """Answers of the stage in the wanted order; without a time, they are not in the order of times."""
    rows, narrow = _rows(stage, wanted)
    search = None
    if wanted.find:
        words = Words.of(wanted.find)
        search = Search((text_of("answer"), *WRITTEN), lambda texts: words.are_in(decoded(texts[:1]), texts[1:]))
    return keyset.page(rows, wanted.order, after=after, before=before, size=size, narrow=narrow, search=search)


def holding(wanted: AnswerFilter) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a row of a file, by the names of its columns, holds what is sought."""
    words = Words.of(wanted.find)
    return lambda row: not wanted.find or words.are_in([row["answer"]], [row[name] for name in WRITTEN])


def _rows(stage: Stage, wanted: AnswerFilter) -> tuple[QuerySet[Assignment], Q]:
    """(rows that an index gives in order, what is to be chosen of them)."""
    conditions = _conditions(wanted)
    rows = stage.assignments.all()
    if wanted.order.field != "id":
        return rows.filter(**{f"{wanted.order.field}__isnull": False}), Q(*conditions.values())
    # An index by id is there for each of them; one of them is chosen by it.
    indexed = ["item", "worker", *(["show"] if wanted.show in _INDEXED else [])]
    first = next((name for name in indexed if name in conditions), None)
    return (rows.filter(conditions.pop(first)) if first else rows), Q(*conditions.values())


def _conditions(wanted: AnswerFilter) -> dict[str, Q]:
    found: dict[str, Q] = {}
    if wanted.item is not None:
        found["item"] = Q(pk__in=hit_items.answers_to([wanted.item]).values("pk"))
    if wanted.worker:
        found["worker"] = Q(worker__worker_id=wanted.worker)
    if wanted.show:
        found["show"] = SHOWN[wanted.show]
    if wanted.conclusion:
        found["conclusion"] = hit_items.concluded(wanted.conclusion)
    if wanted.compared:
        of_answer = Label.objects.filter(assignment=OuterRef("pk"))
        is_wrong = Exists(of_answer.filter(correct=False))
        found["compared"] = (
            Q(is_wrong) if wanted.compared == WRONG else Q(Exists(of_answer.filter(correct=True)), ~is_wrong)
        )
    return found


def all_of(stage: Stage, wanted: AnswerFilter) -> QuerySet[Assignment]:
    """All of them but for the search, in the wanted order, for a file."""
    rows, narrow = _rows(stage, wanted)
    return wanted.order.sorted(rows.filter(narrow))
