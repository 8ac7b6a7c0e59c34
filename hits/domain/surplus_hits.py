"""Which HITs no longer have to be answered, since their item has the answers that it wants or was taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from hits.models.publishing import Extension, Hit

AT_THE_MARKETPLACE = (Hit.State.PLANNED, Hit.State.SENT, Hit.State.LIVE)


def with_coming(hits: QuerySet[Hit]) -> QuerySet[Hit]:
    """With `coming`: the answers that planned extensions will open them for."""
    planned = Q(extensions__state=Extension.State.PLANNED)
    return hits.annotate(coming=Coalesce(Sum("extensions__places", filter=planned), 0))


def free_places(hit: Hit) -> int:
    """Answers that may still come to a HIT of `with_coming`."""
    there = max(0, hit.max_assignments - hit.harvested) if hit.state in AT_THE_MARKETPLACE else 0
    return there + int(hit.coming)  # type: ignore[attr-defined]


def unwanted(hits: Sequence[Hit], needed: int) -> list[Hit]:
    """Of one item's HITs those that can be closed so that `needed` answers may still come; newest first.

    A HIT is closed as a whole, for its assignments cannot become fewer: one of which an answer is wanted stays open.
    """
    surplus = sum(map(free_places, hits)) - needed
    found = []
    for hit in sorted(hits, key=lambda one: one.slot, reverse=True):
        if 0 < free_places(hit) <= surplus:
            surplus -= free_places(hit)
            found.append(hit)
    return found


def mark_unwanted(hits: Iterable[Hit], needed: Mapping[int, int]) -> None:
    """Write which of these HITs are unwanted, all HITs of their items; `needed` is by item."""
    by_item: dict[int, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_item[hit.item_id].append(hit)
    wrong: dict[bool, list[int]] = {True: [], False: []}
    for item, rows in by_item.items():
        surplus = {hit.pk for hit in unwanted(rows, needed[item])}
        for hit in rows:
            if hit.unwanted != (hit.pk in surplus):
                wrong[hit.pk in surplus].append(hit.pk)
    for value, pks in wrong.items():
        Hit.objects.filter(pk__in=pks).update(unwanted=value)
