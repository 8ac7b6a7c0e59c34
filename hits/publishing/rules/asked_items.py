"""Which items a HIT asks about, by its annotation: also where their numbers are others, as after a restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hits.judging.rules.required_answers import chunks
from hits.models import Item, Project
from hits.publishing.rules import hit_tokens
from hits.publishing.rules.hit_tokens import Named


def asked_items(project: Project, annotations: Sequence[str]) -> list[tuple[Named | None, list[Item] | None]]:
    """What each annotation says, and its items in their order; None where one of them is not here."""
    named = [hit_tokens.read(annotation, project.namespace) for annotation in annotations]
    by_pk: dict[int, Item] = {}
    for chunk in chunks(sorted({one.item for one in named if one})):
        rows = Item.objects.filter(pk__in=chunk, stage__project=project).select_related("stage")
        by_pk |= {item.pk: item for item in rows.defer("data")}
    marks = _marks(project, [one for one in named if one], by_pk)
    return [(one, _items(one, by_pk, marks) if one else None) for one in named]


def _marks(project: Project, named: Sequence[Named], known: Mapping[int, Item]) -> dict[str, Item]:
    """Mark to item, of the whole project, where one is looked for by it. A mark of two items is none's."""
    if all(one.item in known and not one.further for one in named):
        return {}
    found: dict[str, Item] = {}
    twice = set()
    for item in Item.objects.filter(stage__project=project).select_related("stage").defer("data").iterator(2000):
        of_item = hit_tokens.mark(item.stage.key, item.key)
        if of_item in found:
            twice.add(of_item)
        found[of_item] = item
    return {of_item: item for of_item, item in found.items() if of_item not in twice}


def _items(named: Named, by_pk: Mapping[int, Item], marks: Mapping[str, Item]) -> list[Item] | None:
    first = by_pk.get(named.item)
    if first is not None and named.mark and hit_tokens.mark(first.stage.key, first.key) != named.mark:
        first = None
    items = [first or marks.get(named.mark), *(marks.get(one) for one in named.further)]
    there = [item for item in items if item is not None]
    same_stage = len({item.stage_id for item in there}) == 1
    return there if len(there) == len(items) and same_stage else None
