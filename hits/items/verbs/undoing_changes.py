"""A lead takes back what a trusted worker changed, and takes it up again.

A change that is taken back counts for nothing: releases and computations made from then on do not see it. A release
made before stays as it is. That is allowed at any time, for it can be turned round at any time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.judging.rules.required_answers import chunks
from hits.models import Label, Stage
from hits.projects.rules.plugins import usable_protocol
from hits.protocols.optional import Change, ChangingProtocol
from hits.refusals import Refused

# How many items that are left out a page names.
SHOWN = 50


@dataclass(frozen=True)
class LeftOut:
    """An item of which nothing is left, and why."""

    pk: int
    key: str
    because: str


def changing(stage: Stage) -> ChangingProtocol | None:
    """The stage's protocol, if its answers change the items that they are about."""
    protocol = usable_protocol(stage)
    return protocol if isinstance(protocol, ChangingProtocol) else None


def changes(stage: Stage) -> QuerySet[Label]:
    """The labels that change an item, whether they count or not, with all that `change_of` reads."""
    protocol = changing(stage)
    if protocol is None:
        return stage.labels.none()
    rows = stage.labels.filter(value__action__in=[word for word, _ in protocol.actions])
    related = rows.select_related("item__document", "worker", "assignment", "undone_by")
    return related.prefetch_related("actions").defer("item__document__data", "assignment__answer")


def change_of(label: Label, protocol: ChangingProtocol | None) -> Change:
    """What a label changes; `protocol` is what `changing` gives for its stage. Raises Refused (not_a_change)."""
    found = protocol.change(label.item.data, label.unit, label.value) if protocol else None
    if found is None:
        raise Refused("not_a_change", f"“{label.unit}” of this answer changes nothing, so it cannot be taken back.")
    return found


def undo(label_pk: int, user: User | None) -> bool:
    """Take one change back; False if somebody did before. Raises Refused (not_a_change)."""
    label = _changing_label(label_pk)
    return _turn(label, user, "taken back", undone_at=timezone.now(), undone_by=user)


def redo(label_pk: int, user: User | None) -> bool:
    """Let a change count that was taken back; False if it counts. Raises Refused (not_a_change)."""
    label = _changing_label(label_pk)
    return _turn(label, user, "taken up again", undone_at=None, undone_by=None)


def _turn(label: Label, user: User | None, verb: str, **columns: Any) -> bool:
    with transaction.atomic():
        others = Label.objects.filter(pk=label.pk, undone_at__isnull=columns["undone_at"] is not None)
        if not others.update(**columns):
            return False
        record(label.stage.project, user, verb, [label])
    return True


def _changing_label(label_pk: int) -> Label:
    """Raises Refused (not_a_change) for a label that changes nothing."""
    label = Label.objects.select_related("stage__project", "item").filter(pk=label_pk).first()
    if label is None:
        raise Refused("not_a_change", "This change is not there any more.")
    change_of(label, changing(label.stage))
    return label


def left_out(stage: Stage) -> Iterator[LeftOut]:
    """The items of which the changes that count leave nothing, in the order in which they were made.

    Lazily: whoever wants the first few reads no more items than it takes to find them.
    """
    protocol = changing(stage)
    if protocol is None:
        return
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    counting = stage.labels.counting().filter(value__action__in=protocol.deleting)
    for item, unit, value in counting.order_by("item_id", "id").values_list("item_id", "unit", "value"):
        found[item][unit] = value
    for pks in chunks(list(found), 500):
        for pk, key, data in stage.items.filter(pk__in=pks).order_by("pk").values_list("pk", "key", "data"):
            if because := protocol.left_out(data, found[pk]):
                yield LeftOut(pk, key, because)
