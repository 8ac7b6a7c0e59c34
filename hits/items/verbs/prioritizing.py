"""The order in which items are published, as a lead or a program rewrites it for what is not published yet."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from hits.core.action_log import record
from hits.formats.files.faults import Faults
from hits.formats.inputs.item_values import MOST_ROWS, Place, PriorityRow, double, too_many
from hits.items.rules.item_columns import priority_of
from hits.items.rules.new_items import NamedItems, named
from hits.models import Item, Stage
from hits.projects.rules.plugins import refuse_without_crowd
from hits.publishing.rules import hit_plans

CHANGED = "changed priorities"


def prioritize(stage: Stage, rows: Sequence[PriorityRow], user: User | None) -> int:
    """Give items these priorities; returns of how many they are new. Items that are not named keep theirs.

    Raises Refused (no_crowd), ArchivedError, and FormatErrors with every fault: an item that is not there or published,
    what is no number, an item that is named twice.
    """
    refuse_without_crowd(stage)
    if len(rows) > MOST_ROWS:
        found = Faults()
        found.add(None, "", too_many(len(rows)))
        found.refuse()
    with transaction.atomic():
        locked = hit_plans.locked(stage)
        changed = _changed(rows, named(locked, (row.item for row in rows)))
        Item.objects.bulk_update(changed, ["priority"], batch_size=500)
        if changed:
            record(stage.project, user, CHANGED, [stage], {"items": len(changed)})
    return len(changed)


def _changed(rows: Sequence[PriorityRow], items: NamedItems) -> list[Item]:
    """The items whose priority is another one now. Raises FormatErrors."""
    faults, changed = Faults(), []
    first: dict[str, Place] = {}
    for row in rows:
        if row.item in first:
            row.place.say(faults, "item", double(first[row.item], f"{row.item!r:.80}"))
            continue
        first[row.item] = row.place
        if fault := items.fault(row.item):
            row.place.say(faults, "item", fault)
        try:
            priority = priority_of(row.priority)
        except ValueError as error:
            row.place.say(faults, "priority", str(error))
            continue
        if not fault and items.items[row.item].priority != priority:
            items.items[row.item].priority = priority
            changed.append(items.items[row.item])
    faults.refuse()
    return changed
