"""Changes that leads make in items by hand or by a file, and taking them back: what all modules that do it share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from hits.items.models import ChangeSet, Item, ItemChange
from hits.refusals import Refused

AT_ONCE = 500


def fingerprint(item: Item) -> str:
    """Of what the item asks, so that nobody overwrites what another one has changed meanwhile."""
    return hashlib.sha256(json.dumps(item.data, sort_keys=True).encode()).hexdigest()[:32]


def refuse_changed(item: Item, seen: str) -> None:
    """`seen` is the fingerprint of what was looked at. Raises Refused (item_changed)."""
    if fingerprint(item) != seen:
        raise Refused("item_changed", "Somebody has changed this text since you opened it. Look at it again.")


def _as_it_is(item: Item) -> None:
    """Nothing of the item follows from its data."""


def write(
    changed: Mapping[Item, dict[str, Any]],
    user: User | None,
    *,
    together: ChangeSet | None = None,
    follow: Callable[[Item], None] = _as_it_is,
) -> None:
    """Give the items their new data and note each change. `follow` sets what follows from an item's data.

    One moment for all: by that, changes that were made together are undone together.
    """
    now = timezone.now()
    rows = [
        ItemChange(item=row, before=row.data, after=data, together=together, changed_by=user)
        for row, data in changed.items()
    ]
    made = ItemChange.objects.bulk_create(rows, batch_size=AT_ONCE)
    for start in range(0, len(made), AT_ONCE):
        pks = [row.pk for row in made[start : start + AT_ONCE]]
        ItemChange.objects.filter(pk__in=pks).update(changed_at=now)
    _store(changed, follow)


def undo(
    undone: Sequence[tuple[Item, ItemChange, str]], user: User | None, follow: Callable[[Item], None] = _as_it_is
) -> None:
    """Take back these changes, each with its item as it is now and what the item is called in a refusal.

    Raises Refused (nothing_to_undo) where an item is not what its change made of it.
    """
    for row, change, named in undone:
        if row.data != change.after:
            raise Refused("nothing_to_undo", f"{named} was changed since. Undo that change first.")
    _store({row: change.before for row, change, _ in undone}, follow)
    now = timezone.now()
    for start in range(0, len(undone), AT_ONCE):
        pks = [change.pk for _, change, _ in undone[start : start + AT_ONCE]]
        ItemChange.objects.filter(pk__in=pks).update(undone_at=now, undone_by=user)


def _store(changed: Mapping[Item, dict[str, Any]], follow: Callable[[Item], None]) -> None:
    for row, data in changed.items():
        row.data = data
        follow(row)
    Item.objects.bulk_update(list(changed), ["data", "figures", "conclusion"], batch_size=AT_ONCE)
