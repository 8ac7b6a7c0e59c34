"""Which HITs no longer have to be answered, since their item has the answers that it wants or was taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from hits.publishing.models import Extension, Hit

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
    excess = sum(map(free_places, hits)) - needed
    found = []
    for hit in sorted(hits, key=lambda one: one.slot, reverse=True):
        if 0 < free_places(hit) <= excess:
            excess -= free_places(hit)
            found.append(hit)
    return found


def excess(hits: Mapping[int, Sequence[Hit]], needed: Mapping[int, int]) -> set[int]:
    """The HITs that can be closed, from all HITs of each item and the answers that may still come to it.

    One that asks about several items stays open while any of them wants its answers.
    """
    spare, wanted = set[int](), set[int]()
    for item, rows in hits.items():
        closed = {hit.pk for hit in unwanted(rows, needed[item])}
        spare |= closed
        wanted |= {hit.pk for hit in rows} - closed
    return spare - wanted


def mark_unwanted(hits: Iterable[Hit], spare: Set[int]) -> None:
    """Write which of these HITs are unwanted: those of `spare`."""
    wrong: dict[bool, list[int]] = {True: [], False: []}
    for hit in hits:
        if hit.unwanted != (hit.pk in spare):
            wrong[hit.pk in spare].append(hit.pk)
    for value, pks in wrong.items():
        Hit.objects.filter(pk__in=pks).update(unwanted=value)
