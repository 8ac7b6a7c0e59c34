"""Which items a HIT asks about, and which HITs ask about an item.

Most HITs ask about one item, `Hit.item`. Where a stage asks about several in one HIT, the others are its HitItems.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from hits.answers.models import Assignment
from hits.items.models import Item
from hits.judging.rules.required_answers import chunks
from hits.publishing.models import Hit, HitItem

# How a query of answers reaches the items of their HITs: the first one, and the further ones.
ITEMS_OF_ANSWERS = ("hit__item", "hit__further__item")
# An imported answer names its item itself.
ITEM_OF_IMPORTED = "item"


def lock_items(item_pks: Iterable[int]) -> None:
    """Within a transaction, before any of them is changed, and after answers and workers are locked: always in the same
    order, so that no two processes wait for each other.
    """
    for some in chunks(sorted(set(item_pks))):
        list(Item.objects.select_for_update(no_key=True).filter(pk__in=some).order_by("pk").values_list("pk"))


def hits_of(item_pks: Iterable[int]) -> QuerySet[Hit]:
    """The HITs that ask about any of these items, each once."""
    pks = list(item_pks)
    first = Hit.objects.filter(item__in=pks).values("pk")
    return Hit.objects.filter(pk__in=first.union(HitItem.objects.filter(item__in=pks).values("hit")))


def answers_to(item_pks: Iterable[int]) -> QuerySet[Assignment]:
    """The answers about any of these items, imported ones too. Each part goes by an index, which "or" would not."""
    pks = list(item_pks)
    first = Assignment.objects.filter(hit__item__in=pks).values("pk")
    further = Assignment.objects.filter(hit__further__item__in=pks).values("pk")
    imported = Assignment.objects.filter(item__in=pks).values("pk")
    return Assignment.objects.filter(pk__in=first.union(further, imported))


def without_hit(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that no HIT has ever asked about."""
    first, further = _asking()
    return items.filter(~first, ~further)


def left_out(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those that no HIT has asked about and that wait for none: neither to be published nor as check questions."""
    return without_hit(items.exclude(state__in=[Item.State.NEW, Item.State.CHECK]))


def never_shown(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that no HIT can have shown to a worker: of each, every HIT was refused by the marketplace or
    dropped before it was asked for.
    """
    made = Hit.objects.exclude(state=Hit.State.REFUSED).exclude(state=Hit.State.CLOSED, hit_id=None)
    further = HitItem.objects.filter(item=OuterRef("pk"), hit__in=made)
    return items.filter(~Exists(made.filter(item=OuterRef("pk"))), ~Exists(further))


def with_hit(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items that any HIT has ever asked about. One whose HIT was closed early is to be published again,
    and what was answered about it counts.
    """
    first, further = _asking()
    return items.filter(Q(first) | Q(further))


def _asking() -> tuple[Exists, Exists]:
    """Whether a HIT asks about the item as its first one, and as one of its further ones."""
    by_item = {"item": OuterRef("pk")}
    return Exists(Hit.objects.filter(**by_item)), Exists(HitItem.objects.filter(**by_item))


def item_pks(hits: Iterable[Hit]) -> dict[int, list[int]]:
    """HIT to its items, in their order. No query where each has one."""
    rows = {hit.pk: hit for hit in hits}
    found = {pk: [hit.item_id] for pk, hit in rows.items()}
    for some in chunks([pk for pk, hit in rows.items() if hit.item_count > 1]):
        further = HitItem.objects.filter(hit__in=some).order_by("number")
        for hit, item in further.values_list("hit__pk", "item__pk"):
            found[hit].append(item)
    return found


def all_item_pks(hits: Iterable[Hit]) -> set[int]:
    """The items of all these HITs together."""
    return {pk for pks in item_pks(hits).values() for pk in pks}


def by_item(hits: Sequence[Hit], wanted: Iterable[int]) -> dict[int, list[Hit]]:
    """Each of the wanted items to those of these HITs that ask about it, in their order; none without any."""
    found: dict[int, list[Hit]] = defaultdict(list)
    pks, chosen = item_pks(hits), set(wanted)
    for hit in hits:
        for pk in chosen.intersection(pks[hit.pk]):
            found[pk].append(hit)
    return found


def further_keys(hit_pks: Collection[int]) -> dict[int, list[str]]:
    """Of each of these HITs that asks about several items, the keys of those after the first, in their order."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = HitItem.objects.filter(hit__in=hit_pks).order_by("number")
    for hit, key in rows.values_list("hit__pk", "item__key"):
        found[hit].append(key)
    return found


def concluded(word: str) -> Q:
    """Of answers: those about an item that the rule concluded so, one of a HIT's at least."""
    further = HitItem.objects.filter(item__conclusion=word).values("hit")
    return Q(hit__item__conclusion=word) | Q(item__conclusion=word) | Q(hit__in=further)


def items_of(hits: Iterable[Hit], *, documents: bool = True) -> dict[int, list[Item]]:
    """HIT to its items, in their order. No query where each has one that is there already.

    Without `documents`, and what the items ask, which may be long, of those after the first neither is read.
    """
    rows = {hit.pk: hit for hit in hits}
    found = {pk: [hit.item] for pk, hit in rows.items()}
    for some in chunks([pk for pk, hit in rows.items() if hit.item_count > 1]):
        further = HitItem.objects.filter(hit__in=some).order_by("number")
        full, bare = further.select_related("item__document"), further.select_related("item").defer("item__data")
        for row in full if documents else bare:
            found[row.hit_id].append(row.item)
    return found
