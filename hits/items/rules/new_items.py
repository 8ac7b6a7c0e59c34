"""New items of a stage, made of what an earlier stage kept or a computation wrote, and items named by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hits.judging.rules.required_answers import chunks
from hits.models import Assignment, Document, Item, Project, Stage
from hits.publishing.rules.hit_items import ITEM_OF_IMPORTED, ITEMS_OF_ANSWERS, with_hit
from hits.recipes.source import NextItem

WAITING = (Item.State.NEW, Item.State.CHECK)


def make_items(stage: Stage, items: Sequence[tuple[Item, NextItem]]) -> int:
    """Make the items that the stage lacks by their keys, each with the item it came from; returns how many."""
    known: set[str] = set()
    for some in chunks([made.key for _, made in items]):
        known.update(stage.items.filter(key__in=some).values_list("key", flat=True))
    new = [(parent, made) for parent, made in items if made.key not in known]
    documents = _make_documents(stage.project, new)
    sources = _sources(new)
    rows = [
        Item(
            stage=stage,
            document_id=documents[made.document.key] if made.document else parent.document_id,
            parent=parent,
            source_id=sources.get((parent.pk, made.source)),
            # The answer may have stopped counting since it was read: `deciding` looks.
            stale=bool(made.source),
            key=made.key,
            data=made.data,
        )
        for parent, made in new
    ]
    Item.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def _sources(items: Sequence[tuple[Item, NextItem]]) -> dict[tuple[int, str], int]:
    """(row of an item, assignment id) to the answer that new items are made from."""
    found: dict[tuple[int, str], int] = {}
    for some in chunks(sorted({parent.pk for parent, made in items if made.source})):
        for path in (*ITEMS_OF_ANSWERS, ITEM_OF_IMPORTED):
            rows = Assignment.objects.filter(**{f"{path}__in": some}).values_list(path, "assignment_id", "pk")
            found |= {(item, name): pk for item, name, pk in rows}
    return found


def _make_documents(project: Project, items: Sequence[tuple[Item, NextItem]]) -> dict[str, int]:
    """Make the documents that the project lacks, each of the origin and purpose of the one it was written for.

    Returns their rows by key; several items may be about one.
    """
    wanted = {made.document.key: (parent.document, made.document) for parent, made in items if made.document}
    rows = [
        Document(project=project, key=key, origin=old.origin, purpose=old.purpose, data=new.data)
        for key, (old, new) in wanted.items()
    ]
    Document.objects.bulk_create(rows, batch_size=1000, ignore_conflicts=True)
    found: dict[str, int] = {}
    for some in chunks(list(wanted)):
        found.update(project.documents.filter(key__in=some).values_list("key", "pk"))
    return found


@dataclass(frozen=True)
class NamedItems:
    """`items` by key, each with its document; `published` are the keys of those that a HIT asks or has asked about."""

    items: dict[str, Item]
    published: frozenset[str]

    def fault(self, key: str) -> str:
        """Why the item cannot be changed, the end of a sentence; empty where it can."""
        if key not in self.items:
            return f"{key!r:.80} is no item of this stage"
        return f"{key!r:.80} is published already, so nothing of it changes" if key in self.published else ""


def named(stage: Stage, keys: Iterable[str], *, documents: bool = False) -> NamedItems:
    """Those of the stage with these keys. With the stage held by `hit_plans.locked`, nobody publishes one meanwhile.

    With `documents`, what an item asks and its document are there; else its key, state and priority alone.
    """
    items: dict[str, Item] = {}
    published: set[str] = set()
    for some in chunks(sorted(set(keys)), 1000):
        rows = stage.items.filter(key__in=some)
        wanted = rows.select_related("document") if documents else rows.only("key", "state", "priority", "stage")
        items |= {item.key: item for item in wanted}
        published.update(with_hit(rows).values_list("key", flat=True))
        published.update(rows.exclude(state__in=WAITING).values_list("key", flat=True))
    return NamedItems(items, frozenset(published))
