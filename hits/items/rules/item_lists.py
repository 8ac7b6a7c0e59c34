"""The items of a stage as lists: filters, orders, a search in texts. Pages, files and the API show the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, prefetch_related_objects

from hits.core import keyset
from hits.core.keyset import Order, Page, Search
from hits.core.reading import decoded, text_of
from hits.items.models import Item
from hits.items.rules.item_texts import ItemTexts, Words
from hits.judging.models import ComputationResult
from hits.judging.rules import stage_statistics
from hits.judging.rules.item_votes import Votes, votes_of
from hits.model_assist.rules import model_votes
from hits.stages.models import Stage

# What the items can be ordered by; `-` before a name turns it round.
ORDERS: dict[str, Order] = {
    "id": Order(),
    "disagreement": Order("disagreement", read=keyset.share),
    "confidence": Order("confidence", "item_id", read=keyset.share),
    "changed": Order("ballots_at", read=keyset.moment),
    "priority": Order("priority", read=keyset.share),
}
SORTS = tuple(sign + name for name in ORDERS for sign in ("", "-"))
FIRST = "id"
DECIDED = (Item.State.KEPT, Item.State.DROPPED)
# Items of a file that are read together, and the longest text in one of its cells.
AT_ONCE = 500
LONGEST_CELL = 5000
# Of items whose name is exactly what is sought, so many come first, whatever the size of the page.
MOST_NAMED = 20
COLUMNS = (
    "item", "document", "origin", "state", "conclusion", "text", "asked", "question", "votes", "answers",
    "disagreement", "confidence", "confidence_computed_at", "answers_changed_at", "decided_by",
)  # fmt: skip


@dataclass(frozen=True)
class ItemFilter:
    """Empty values choose all. `sort` is one of SORTS."""

    state: str = ""
    conclusion: str = ""
    find: str = ""
    sort: str = FIRST

    @property
    def order(self) -> Order:
        order = ORDERS[self.sort.removeprefix("-")]
        return order.turned() if self.sort.startswith("-") else order

    @property
    def by_confidence(self) -> bool:
        return self.sort.removeprefix("-") == "confidence"

    @property
    def is_narrow(self) -> bool:
        return bool(self.state or self.conclusion or self.find)


@dataclass(frozen=True)
class ListedItem:
    """An item as a list shows it. `confidence`, 0..1, is that of the value that is least sure; None without any.
    `by_models`: its verdict is that of models, without an answer of people.
    """

    item: Item
    text: str
    asked: str
    votes: Votes | None
    confidence: float | None
    by_models: bool = False


def page(
    stage: Stage, wanted: ItemFilter, *, after: str | None = None, before: str | None = None, size: int = 50
) -> Page[Item]:
    """Items of the stage in the wanted order. Those that lack the figure of the order are not in it.

    On the first page of a search, items come first whose own or whose document's name is exactly what is sought; they
    take no room from the others.
    """
    rows, narrow, own = _rows(stage, wanted)
    search, named = None, []
    if wanted.find:
        prefix = "item__" if wanted.by_confidence else ""
        columns = tuple(text_of(f"{prefix}{name}") for name in ("document__data", "data"))
        names = (f"{prefix}key", f"{prefix}document__key")
        words = Words.of(wanted.find)
        search = Search((*columns, *names), lambda found: words.are_in(decoded(found[:2]), found[2:]))
        named = list(_named(stage, wanted)[:MOST_NAMED])
        rows = rows.exclude(**{f"{wanted.order.key}__in": [item.pk for item in named]}) if named else rows
    found = keyset.page(rows, wanted.order, after=after, before=before, size=size, narrow=narrow, search=search)
    items = [row.item for row in found.rows] if own else found.rows
    if not after and not before:
        items = [*named, *items]
    return Page(items, found.before, found.after, found.looked)


def _rows(stage: Stage, wanted: ItemFilter) -> tuple[QuerySet[Any], Q, bool]:
    """(rows that an index gives in order, what is to be chosen of them, whether they are results of a computation)."""
    chosen = {name: value for name in ("state", "conclusion") if (value := getattr(wanted, name))}
    if wanted.by_confidence:
        results = ComputationResult.objects.filter(
            run__in=stage_statistics.newest_pks([stage]), confidence__isnull=False
        ).select_related("item")
        return results, Q(**{f"item__{name}": value for name, value in chosen.items()}), True
    if wanted.order.field != "id":
        return stage.items.filter(**{f"{wanted.order.field}__isnull": False}), Q(**chosen), False
    # Each of them has an index by id. Where both are wanted, one of them is.
    first = next(iter(chosen), None)
    rows = stage.items.filter(**{first: chosen.pop(first)}) if first else stage.items.all()
    return rows, Q(**chosen), False


def _named(stage: Stage, wanted: ItemFilter) -> QuerySet[Item]:
    chosen = {name: value for name in ("state", "conclusion") if (value := getattr(wanted, name))}
    documents = stage.project.documents.filter(key=wanted.find)
    by_key, by_document = (
        stage.items.filter(one).values("pk") for one in (Q(key=wanted.find), Q(document__in=documents))
    )
    # Each part goes by an index, which "or" would not.
    return stage.items.filter(pk__in=by_key.union(by_document), **chosen).order_by("id")


def walk(stage: Stage, wanted: ItemFilter) -> Iterator[list[Item]]:
    """All of them, AT_ONCE at a time; memory does not grow with them."""
    return keyset.walk(lambda after: page(stage, wanted, after=after, size=AT_ONCE))


def listed(stage: Stage, items: Sequence[Item], longest: int | None = None) -> list[ListedItem]:
    """With what a list shows of them; the number of queries does not depend on theirs."""
    prefetch_related_objects(list(items), "document")
    texts, votes, sure = ItemTexts.of(stage), votes_of(stage, items), confidences(stage, items)
    by_models = model_votes.by_models([item.pk for item in items])
    cut = {} if longest is None else {"longest": longest}
    return [
        ListedItem(
            item,
            texts.text(item, **cut),
            texts.asked(item),
            votes.get(item.pk),
            sure.get(item.pk),
            item.pk in by_models,
        )
        for item in items
    ]


def confidences(stage: Stage, items: Sequence[Item]) -> dict[int, float]:
    """Item to its confidence by the newest finished computation of the stage's agreement."""
    runs, pks = stage_statistics.newest_pks([stage]), [item.pk for item in items]
    found = ComputationResult.objects.filter(run__in=runs, item__in=pks).values_list("item_id", "confidence")
    return {item: sure for item, sure in found if sure is not None}


def table(stage: Stage, wanted: ItemFilter) -> Iterator[list[Any]]:
    """The rows of a file, by COLUMNS."""
    computed = stage_statistics.computed(stage)
    for items in walk(stage, wanted):
        for row in listed(stage, items, LONGEST_CELL):
            yield _cells(row, computed.at.isoformat() if computed and row.confidence is not None else None)


def _cells(row: ListedItem, computed_at: str | None) -> list[Any]:
    item, votes = row.item, row.votes
    told = [votes.question, votes.in_words(), votes.of] if votes else ["", "", 0]
    at = item.ballots_at.isoformat() if item.ballots_at else None
    decided_by = ("models" if row.by_models else "people") if item.state in DECIDED else ""
    names = [item.key, item.document.key, item.document.origin, item.state, item.conclusion]
    return [*names, row.text, row.asked, *told, item.disagreement, row.confidence, computed_at, at, decided_by]
