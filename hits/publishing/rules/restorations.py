"""What holds after the database was put back to an earlier moment, until both sides agree again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.apps import apps
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from hits.core.models.intents import TOKEN_LIFE
from hits.judging.rules.required_answers import chunks
from hits.models import ClosedHit, Item, Project, Stage
from hits.mturk.gateway import RemoteHit
from hits.payments.models import Bonus, Compensation
from hits.people.models import WorkerMessage
from hits.publishing.models import Extension, Hit, Restoration
from hits.publishing.rules import hit_tokens
from hits.publishing.rules.hit_tokens import Named
from hits.refusals import Refused
from hits.webhooks.models import WebhookDelivery

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
    for stage in stages:
        keys = stage.items.filter(state=Item.State.NEW).values_list("key", flat=True)
        if any(hit_tokens.mark(stage.key, key) in marks for key in keys.iterator(chunk_size=2000)):
            break
    else:
        # Most items never came back: none of the marks is that of one that waits to be published.
        return []
    found = zip(closed, asked_items(project, [hit.annotation for hit in closed]), strict=True)
    return [(hit, items) for hit, (_, items) in found if items]


# Numbers that are left out at least, and else as many as were given out before the backup.
LEAST_GAP = 1_000_000
WAITS = (
    "The database was restored from a backup of {at:%Y-%m-%d %H:%M} UTC and not reconciled yet: manage.py reconcile."
)


def open_restoration() -> Restoration | None:
    """The oldest one that is not reconciled; its backup is the earliest moment."""
    return Restoration.objects.filter(reconciled_at=None).order_by("backup_at").first()


def why_calls_wait() -> str:
    """Why no call may be made to the marketplace, as a sentence; empty: calls are made."""
    found = open_restoration()
    return WAITS.format(at=found.backup_at) if found else ""


def refuse_unreconciled() -> None:
    """Raises Refused (not_reconciled)."""
    if why := why_calls_wait():
        raise Refused("not_reconciled", f"{why} Nothing was changed.")


def begin(backup_at: datetime) -> Restoration:
    """Write down that the database is that of an earlier moment. To be called before any other program goes on.

    Whatever had not been asked at that moment may have been asked since: its outcome is unknown, and is looked for.
    """
    with transaction.atomic():
        _leave_numbers_out()
        long_ago = timezone.now() - TOKEN_LIFE - timedelta(hours=1)
        unsent = {"attempted_at": long_ago}
        Hit.objects.filter(state=Hit.State.PLANNED).update(state=Hit.State.SENT, **unsent)
        Hit.objects.filter(state=Hit.State.SENT).update(**unsent)
        Extension.objects.filter(state=Extension.State.PLANNED).update(**unsent)
        Bonus.objects.filter(state=Bonus.State.PLANNED).update(state=Bonus.State.SENT, **unsent)
        Compensation.objects.filter(state=Compensation.State.PLANNED).update(**unsent)
        # Nobody can ask whether a message went out, and none goes out twice.
        planned = WorkerMessage.objects.filter(state=WorkerMessage.State.PLANNED)
        planned.update(state=WorkerMessage.State.UNKNOWN, attempted_at=backup_at)
        # These may have gone out, and do once more: the number of the attempt says so to whoever gets them.
        WebhookDelivery.objects.filter(state=WebhookDelivery.State.WAITING).update(attempts=F("attempts") + 1)
        return Restoration.objects.create(backup_at=backup_at)


def _leave_numbers_out() -> None:
    with connection.cursor() as cursor:
        for model in apps.get_app_config("hits").get_models(include_auto_created=True):
            key = model._meta.pk
            if key is None or key.get_internal_type() not in ("AutoField", "BigAutoField"):
                continue
            table, column = model._meta.db_table, key.column
            cursor.execute(f'SELECT COALESCE(MAX("{column}"), 0) FROM "{table}"')
            most = int(cursor.fetchone()[0])
            following = most + max(LEAST_GAP, most)
            if connection.vendor == "postgresql":
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", [f'"{table}"', column, following])
            elif (
                cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [following, table]).rowcount == 0
            ):
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, following])


def agree(restorations: list[int]) -> None:
    """Write down that the two sides agree."""
    Restoration.objects.filter(pk__in=restorations, reconciled_at=None).update(reconciled_at=timezone.now())


def era() -> str:
    """What tokens that are made from now on carry, so that none equals one that was made after the backup."""
    count = Restoration.objects.count()
    return f"r{count}" if count else ""


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
