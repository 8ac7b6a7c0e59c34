"""HITs that `reconcile --close-unknown` closed, and what holds when an item that they asked about is here again.

It is not published until the closed HIT has its row and its answers are here: otherwise the item would be asked for
answers that it has already.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils import timezone

from hits.domain import hit_tokens
from hits.domain.asked_items import asked_items
from hits.models import ClosedHit, Item, Project, Stage
from hits.mturk.gateway import RemoteHit

ONE = "1 item is here again about which a HIT asks that was closed when it was not: its answers are fetched first."
SEVERAL = (
    "{count:,} items are here again about which HITs ask that were closed when they were not: "
    "the answers of these HITs are fetched first."
)


def write_down(project_pk: int, remote: RemoteHit, *, deleted: bool) -> None:
    known = {"project_id": project_pk, "annotation": remote.whole_annotation, "deleted": deleted}
    ClosedHit.objects.update_or_create(hit_id=remote.hit_id, defaults=known)


def write_down_adopted(hit_ids: Iterable[str]) -> None:
    """They have their rows."""
    ClosedHit.objects.filter(hit_id__in=list(hit_ids), adopted_at=None).update(adopted_at=timezone.now())


def write_down_deleted(hit_id: str) -> None:
    ClosedHit.objects.filter(hit_id=hit_id).update(deleted=True)


def closed(hit_ids: Iterable[str]) -> set[str]:
    """Those of the HITs that were closed and have no row."""
    return set(_waiting().filter(hit_id__in=list(hit_ids)).values_list("hit_id", flat=True))


def without_returned(stage: Stage, items: QuerySet[Item]) -> QuerySet[Item]:
    """The items less those that wait for the answers of closed HITs."""
    held = returned_items(stage)
    return items.exclude(pk__in=held) if held else items


def returned_items(stage: Stage) -> set[int]:
    """Items of the stage that are here again and wait for the answers of closed HITs."""
    found = _returned(stage.project, [stage])
    return {item.pk for _, items in found for item in items if item.stage_id == stage.pk}


def sentences(stage: Stage) -> list[str]:
    """What a quote says of them: at most one sentence."""
    count = len(returned_items(stage))
    return [ONE if count == 1 else SEVERAL.format(count=count)] if count else []


def returned(project: Project) -> list[str]:
    """Closed HITs of which every item is here again."""
    return [hit.hit_id for hit, _ in _returned(project, project.stages.all())]


def projects() -> list[int]:
    """Projects with such HITs."""
    waiting = Project.objects.filter(closed_hits__in=_waiting()).distinct().order_by("pk")
    return [project.pk for project in waiting if returned(project)]


def _waiting() -> QuerySet[ClosedHit]:
    return ClosedHit.objects.filter(adopted_at=None, deleted=False)


def _returned(project: Project, stages: Iterable[Stage]) -> list[tuple[ClosedHit, list[Item]]]:
    closed = list(_waiting().filter(project=project).order_by("pk"))
    if not closed:
        return []
    named = [(hit, hit_tokens.read(hit.annotation, project.namespace)) for hit in closed]
    marks = {mark for _, one in named if one for mark in (one.mark, *one.further)}
    if not any(_asks_about(stage, marks) for stage in stages):
        return []
    found = zip(closed, asked_items(project, [hit.annotation for hit in closed]), strict=True)
    return [(hit, items) for hit, (_, items) in found if items]


def _asks_about(stage: Stage, marks: set[str]) -> bool:
    """Whether one of the marks is that of an item that waits to be published; most items never came back."""
    keys = stage.items.filter(state=Item.State.NEW).values_list("key", flat=True)
    return any(hit_tokens.mark(stage.key, key) in marks for key in keys.iterator(chunk_size=2000))
