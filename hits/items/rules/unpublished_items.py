"""Items that a lead or a program names by their keys, to change what is fixed once they are published."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hits.items.models import Item
from hits.judging.rules.required_answers import chunks
from hits.publishing.rules.hit_items import with_hit
from hits.stages.models import Stage

WAITING = (Item.State.NEW, Item.State.CHECK)


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
