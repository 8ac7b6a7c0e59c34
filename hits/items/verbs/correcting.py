"""Correcting: a lead changes by hand what an item asks about, before anybody sees it; every change can be undone.

What can be corrected says the protocol. Items of other stages about the same text, asked by the same protocol, follow:
what changes in one of them and concerns the text changes in all, or in none where one of them is published.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from hits.core.action_log import record
from hits.items.rules import item_changes
from hits.models import Assignment, Hit, Item, ItemChange, Stage
from hits.projects.rules.plugins import protocol_of
from hits.protocols.optional import CorrectableProtocol, MarkedProtocol
from hits.refusals import Refused


def protocol_for(stage: Stage) -> CorrectableProtocol:
    """Raises Refused (not_correctable)."""
    protocol = protocol_of(stage)
    if not isinstance(protocol, CorrectableProtocol):
        raise Refused("not_correctable", "The items of this stage cannot be corrected.", status=404)
    return protocol


def marked_protocol_for(stage: Stage) -> MarkedProtocol:
    """Raises Refused (not_correctable)."""
    protocol = protocol_of(stage)
    if not isinstance(protocol, MarkedProtocol):
        raise Refused(
            "not_correctable", "The items of this stage have no sentences and phrases to correct.", status=404
        )
    return protocol


def fellows(item: Item) -> QuerySet[Item]:
    """The items of other stages about the same text by the same protocol."""
    stage = item.stage
    same = Item.objects.filter(document=item.document_id, stage__protocol=stage.protocol)
    return same.exclude(stage=stage).select_related("stage").order_by("id")


def published(items: QuerySet[Item]) -> QuerySet[Item]:
    """Those whose HITs workers see or have seen, or will in a moment."""
    sent = Hit.objects.filter(item=OuterRef("pk")).exclude(state=Hit.State.REFUSED)
    answered = Assignment.objects.filter(item=OuterRef("pk"))
    return items.exclude(~Exists(sent), ~Exists(answered), state=Item.State.NEW)


def correct(item: Item, wanted: Any, seen: str, user: User | None) -> int:
    """Have the item ask what is wanted; returns how many items were changed, 0 when it does already.

    `wanted` is what the protocol's `correct` takes, `seen` the fingerprint of what the lead looked at. Raises
    AnswerRefusedError from the protocol, Refused (item_changed, item_published).
    """
    protocol = protocol_for(item.stage)
    with transaction.atomic():
        own, others = _locked(item)
        item_changes.refuse_changed(own, seen)
        _refuse_published(own, "This text")
        after = protocol.correct(own.document.data, own.data, wanted)
        changed = {own: after, **{fellow: protocol.follow(fellow.data, own.data, after) for fellow in others}}
        done = {row: data for row, data in changed.items() if data != row.data}
        for row in done:
            _refuse_published(row, f"The same text in “{row.stage.title}”")
        item_changes.write(done, user)
        if done:
            _record(own, user, "corrected a text", len(done))
    item.refresh_from_db()
    return len(done)


def _record(item: Item, user: User | None, verb: str, items: int) -> None:
    record(item.stage.project, user, verb, [item.stage], {"item": item.key, "items": items})


def _locked(item: Item) -> tuple[Item, list[Item]]:
    """The item and its fellows as they are; publishing them waits until the change is through."""
    pks = [item.pk, *fellows(item).values_list("pk", flat=True)]
    rows = Item.objects.select_for_update(of=("self",)).select_related("stage", "document").filter(pk__in=pks)
    found = {row.pk: row for row in rows.order_by("pk")}
    return found.pop(item.pk), list(found.values())


def _refuse_published(item: Item, named: str) -> None:
    if published(Item.objects.filter(pk=item.pk)).exists():
        raise Refused("item_published", f"{named} is published, so it can no longer change.")


def undo(item: Item, user: User | None) -> int:
    """Take back the newest change that stands, in fellows that changed with it too; returns how many items.

    Raises Refused (nothing_to_undo, item_published).
    """
    with transaction.atomic():
        own, others = _locked(item)
        newest = own.changes.filter(undone_at=None).first()
        if newest is None:
            raise Refused("nothing_to_undo", "No change of this text is left to undo.")
        undone = [(own, newest, "This text")]
        same = ItemChange.objects.filter(item__in=others, changed_at=newest.changed_at, undone_at=None)
        rows = {row.pk: row for row in others}
        for change in same:
            row = rows[change.item_id]
            undone.append((row, change, f"The same text in “{row.stage.title}”"))
        for row, _, named in undone:
            _refuse_published(row, named)
        item_changes.undo(undone, user)
        _record(own, user, "took a correction back", len(undone))
    item.refresh_from_db()
    return len(undone)


def note(item: Item) -> str:
    """What to know of the item after its changes; empty without any."""
    first = item.changes.order_by("id").first()
    return protocol_for(item.stage).correction_note(first.before, item.data) if first else ""
