"""Annotating: leads and programs outside correct what a program made in a stage without a crowd.

An item changes only until something of it went on to the next stage. Changes of one item are undone one by one, newest
first; those that a file or a run brought are shown with their effect, confirmed, and undone together.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from hits.core.action_log import record
from hits.formats.files.faults import Faults
from hits.formats.files.reading import json_lines, text_lines
from hits.items.rules import item_changes
from hits.items.rules.item_changes import fingerprint
from hits.items.rules.item_columns import count
from hits.judging.rules.required_answers import chunks
from hits.judging.rules.summaries import refresh_summary
from hits.models import Blob, ChangeSet, ComputationResult, ComputationRun, Item, ItemChange, Stage
from hits.projects.rules.plugins import options_of, protocol_of, usable_protocol
from hits.protocols.base import AnswerRefusedError, Json
from hits.protocols.optional import AnnotatedProtocol, MentionCorrection
from hits.refusals import Refused

# A file of annotations and its items are in memory together.
MOST_BYTES = 32 * 1024 * 1024
READ_AT_ONCE = 500
ID = "id"
# The key of the computation that makes the items anew.
AGAIN = "generate-again"


def protocol_for(stage: Stage) -> AnnotatedProtocol:
    """Raises Refused (no_annotations)."""
    protocol: object = None if stage.crowd else protocol_of(stage)
    if not isinstance(protocol, AnnotatedProtocol):
        raise Refused("no_annotations", "The items of this stage have no annotations.", status=404)
    return protocol


def has_annotations(stage: Stage) -> bool:
    protocol: object = usable_protocol(stage)
    return not stage.crowd and isinstance(protocol, AnnotatedProtocol)


def is_sent(item: Item) -> bool:
    """Whether something of it went on."""
    return item.children.exists()


def sent(rows: QuerySet[Item]) -> QuerySet[Item]:
    return rows.filter(Exists(Item.objects.filter(parent=OuterRef("pk"))))


def corrected(rows: QuerySet[Item]) -> QuerySet[Item]:
    """Those of which a change stands."""
    return rows.filter(Exists(ItemChange.objects.filter(item=OuterRef("pk"), undone_at=None)))


# One item


def annotate(item: Item, given: Mapping[str, Any], seen: str, user: User | None) -> bool:
    """Give the item these annotations; False where it has them. `seen` is the fingerprint of what was looked at.

    Raises AnswerRefusedError from the protocol, Refused (item_changed, article_sent).
    """
    protocol = protocol_for(item.stage)
    return _change(item, seen, user, lambda data: protocol.annotate(data, given, options_of(item.stage.project)))


def drop(item: Item, query: str, seen: str, user: User | None, *, back: bool = False) -> bool:
    """Take a query out by its id, or put it back. Raises as `annotate` does."""
    protocol = protocol_for(item.stage)
    return _change(item, seen, user, lambda data: protocol.drop(data, query, back=back))


def correct(item: Item, correction: MentionCorrection, seen: str, user: User | None) -> bool:
    """Change, add or remove one mention; False where nothing differs. Raises as `annotate` does."""
    protocol = protocol_for(item.stage)
    return _change(item, seen, user, lambda data: protocol.correct(data, correction, options_of(item.stage.project)))


def _change(item: Item, seen: str, user: User | None, changed: Callable[[Json], Json]) -> bool:
    with transaction.atomic():
        own = _locked(item)
        item_changes.refuse_changed(own, seen)
        _refuse_sent(own)
        data = changed(own.data)
        if is_new := data != own.data:
            item_changes.write({own: data}, user, follow=count)
            record(own.stage.project, user, "corrected a text", [own.stage], {"item": own.key})
            refresh_summary(own.stage)
    item.refresh_from_db()
    return is_new


def undo(item: Item, user: User | None) -> None:
    """Take back the newest change of the item that stands. Raises Refused (nothing_to_undo, article_sent)."""
    with transaction.atomic():
        own = _locked(item)
        newest = own.changes.filter(undone_at=None).first()
        if newest is None:
            raise Refused("nothing_to_undo", "No change of this text is left to undo.")
        _refuse_sent(own)
        item_changes.undo([(own, newest, "This text")], user, count)
        record(own.stage.project, user, "took a correction back", [own.stage], {"item": own.key})
        refresh_summary(own.stage)
    item.refresh_from_db()


def lock(stage: Stage) -> None:
    """Changes and the draw of what is sent wait for one another: nothing is sent that has just been changed."""
    Stage.objects.select_for_update().get(pk=stage.pk)


def _locked(item: Item) -> Item:
    lock(item.stage)
    return Item.objects.select_related("stage__project", "document").get(pk=item.pk)


def _refuse_sent(item: Item) -> None:
    if is_sent(item):
        raise Refused("article_sent", "Queries of this text went on to the next stage, so it can no longer change.")


# Many items: annotations out and in


def export(stage: Stage) -> Iterator[bytes]:
    """JSON Lines: one item a line, its key as `id` and its data, in the order of import."""
    protocol_for(stage)
    rows = stage.items.order_by("id").values_list("key", "data")
    for key, data in rows.iterator(chunk_size=READ_AT_ONCE):
        yield json.dumps({ID: key, **data}, ensure_ascii=False).encode() + b"\n"


def propose_file(stage: Stage, name: str, stream: BinaryIO, user: User | None) -> ChangeSet:
    """Read a file of annotations as a whole and say what it would change; nothing is changed yet.

    Raises FormatErrors with every fault, Refused (nothing_to_change).
    """
    wanted = _read(stage, stream)
    effect = _effect(wanted, Counter())
    stream.seek(0)
    blob = Blob.store_stream(stream)
    return ChangeSet.objects.create(stage=stage, name=name[-200:], blob=blob, effect=effect, created_by=user)


def _read(stage: Stage, stream: BinaryIO) -> dict[Item, Json]:
    """The items that the file changes, with their new data."""
    protocol = protocol_for(stage)
    faults = Faults()
    lines: dict[str, tuple[int, Json]] = {}
    for line, fields in json_lines(text_lines(stream, MOST_BYTES, faults), faults):
        key = fields.get(ID)
        if not isinstance(key, str):
            faults.add(line, ID, "must be the id of an article, as a download has it")
        elif key in lines:
            faults.add(line, ID, f"{key!r:.80} is in the file twice, first on line {lines[key][0]:,}")
        else:
            lines[key] = (line, fields)
    found: dict[Item, Json] = {}
    for keys in chunks(list(lines), READ_AT_ONCE):
        there = {item.key: item for item in stage.items.filter(key__in=keys)}
        gone = set(sent(stage.items.filter(key__in=keys)).values_list("key", flat=True))
        for key in keys:
            line, fields = lines.pop(key)
            if key not in there:
                faults.add(line, ID, f"no article has the id {key!r:.80}")
                continue
            item = there[key]
            data = _annotated(protocol, stage, item, fields, line, faults)
            if data is not None and data != item.data:
                if key in gone:
                    faults.add(
                        line, ID, f"queries of {key!r:.80} went on to the next stage, so it can no longer change"
                    )
                item.stage = stage
                found[item] = data
    faults.refuse()
    return found


def _annotated(
    protocol: AnnotatedProtocol, stage: Stage, item: Item, fields: Json, line: int, faults: Faults
) -> Json | None:
    """Also the texts of a line are checked: offsets into other texts would mean other words."""
    told = False
    for place, own, said in _texts(item.data, fields):
        if own != said:
            faults.add(line, place, "is not the text that is here: download the annotations again, and change no text")
            told = True
    if told:
        return None
    try:
        return protocol.annotate(item.data, fields, options_of(stage.project))
    except AnswerRefusedError as refusal:
        for place, reason in zip(refusal.fields, refusal.reasons, strict=True):
            faults.add(line, place, reason[0].lower() + reason[1:].rstrip("."))
    return None


def _texts(data: Json, fields: Json) -> Iterator[tuple[str, object, object]]:
    yield "text", data["text"], fields.get("text")
    said = fields.get("sentences")
    for at, (own, given) in enumerate(zip(data["sentences"], said if isinstance(said, list) else [], strict=False)):
        yield f"sentences[{at}].text", own["text"], given.get("text") if isinstance(given, dict) else None


# Many items: made again by the present options


def propose_run(stage: Stage, run: ComputationRun, user: User | None) -> ChangeSet:
    """Say what the results of a run would change. What leads corrected and what was sent stays as it is.

    Raises Refused (nothing_to_change).
    """
    wanted, left_out = _remade(stage, run)
    return ChangeSet.objects.create(stage=stage, run=run, effect=_effect(wanted, left_out), created_by=user)


def _remade(stage: Stage, run: ComputationRun) -> tuple[dict[Item, Json], Counter[str]]:
    """The items that a run's results change, with their new data, and how many are left out by reason."""
    protocol_for(stage)
    left_out: Counter[str] = Counter()
    found: dict[Item, Json] = {}
    results = ComputationResult.objects.filter(run=run, item__stage=stage).select_related("item").order_by("item")
    by_hand = set(corrected(stage.items.all()).values_list("pk", flat=True))
    gone = set(sent(stage.items.all()).values_list("pk", flat=True))
    for result in results.iterator(chunk_size=READ_AT_ONCE):
        item, data = result.item, result.data["data"]
        if item.pk in gone:
            left_out["sent to the next stage"] += 1
        elif item.pk in by_hand:
            left_out["corrected by hand or by a file"] += 1
        elif data is None:
            left_out[result.data["too_little"]] += 1
        elif data != item.data:
            item.stage = stage
            found[item] = data
    return found, left_out


# Many items: confirm and undo


def _effect(wanted: Mapping[Item, Json], left_out: Mapping[str, int]) -> Json:
    if not wanted:
        why = "".join(f" {number:,} left out: {reason}." for reason, number in left_out.items())
        raise Refused("nothing_to_change", f"It would change nothing.{why}")
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    prints = []
    for item, data in wanted.items():
        old = item.figures or {}
        before.update(old)
        made = Item(stage=item.stage, data=data)
        count(made)
        after.update(made.figures or {})
        prints.append(f"{item.pk} {fingerprint(item)} {fingerprint(made)}")
    sums = {"before": dict(before), "after": dict(after), "left_out": dict(left_out)}
    # Different changes may have the same sums.
    exactly = hashlib.sha256("\n".join(sorted(prints)).encode()).hexdigest()
    return {"items": len(wanted), **sums, "fingerprint": exactly}


def confirm(found: ChangeSet, user: User | None) -> int:
    """Carry out what was shown; returns how many items were changed. A second time changes nothing.

    All is read and checked anew. Raises FormatErrors, and Refused (nothing_to_change) where it
    would not change what was shown.
    """
    with transaction.atomic():
        stage = Stage.objects.select_related("project").get(pk=found.stage_id)
        lock(stage)
        found.refresh_from_db()
        if found.state != ChangeSet.State.SHOWN:
            return 0
        if found.blob:
            wanted, left_out = _read(stage, _file(found.blob)), Counter[str]()
        else:
            assert found.run
            wanted, left_out = _remade(stage, found.run)
        if _effect(wanted, left_out) != found.effect:
            raise Refused(
                "nothing_to_change", "Articles were changed since this was shown. Look at what it would change now."
            )
        item_changes.write(wanted, user, together=found, follow=count)
        record(stage.project, user, "corrected texts together", [stage], {"changes": found.pk, "items": len(wanted)})
        _note(found, state=ChangeSet.State.DONE, done_at=timezone.now())
        refresh_summary(stage)
    return len(wanted)


def _file(blob: Blob) -> BinaryIO:
    return io.BytesIO(blob.read())


def undo_together(found: ChangeSet, user: User | None) -> int:
    """Take back all changes of a confirmed set; returns how many items.

    Raises Refused (nothing_to_undo, article_sent).
    """
    with transaction.atomic():
        stage = Stage.objects.select_related("project").get(pk=found.stage_id)
        lock(stage)
        found.refresh_from_db()
        standing = list(found.changes.filter(undone_at=None).select_related("item"))
        if found.state != ChangeSet.State.DONE or not standing:
            raise Refused("nothing_to_undo", "None of these changes is left to undo.")
        _refuse_later(standing)
        for change in standing:
            change.item.stage = stage
        item_changes.undo([(one.item, one, f"The text {one.item.key}") for one in standing], user, count)
        _note(found, state=ChangeSet.State.UNDONE, undone_at=timezone.now(), undone_by=user)
        record(
            stage.project,
            user,
            "took corrections back together",
            [stage],
            {"changes": found.pk, "items": len(standing)},
        )
        refresh_summary(stage)
    return len(standing)


def _refuse_later(standing: Sequence[ItemChange]) -> None:
    """Raises where an item was sent or changed since: all are undone or none."""
    for some in chunks(standing, READ_AT_ONCE):
        pks = [change.item_id for change in some]
        if gone := sent(Item.objects.filter(pk__in=pks)).count():
            raise Refused(
                "article_sent",
                f"Queries of {gone:,} of these texts went on to the next stage, so they can no longer change.",
            )
        newest = max(change.pk for change in standing)
        later = ItemChange.objects.filter(item__in=pks, undone_at=None, pk__gt=newest)
        if keys := list(later.values_list("item__key", flat=True)[:3]):
            raise Refused(
                "nothing_to_undo", f"Texts were changed since, such as {', '.join(keys)}. Undo those changes first."
            )


def _note(found: ChangeSet, **values: object) -> None:
    ChangeSet.objects.filter(pk=found.pk).update(**values)
    found.refresh_from_db()
