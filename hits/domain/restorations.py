"""What holds after the database was put back to an earlier moment, until both sides agree again.

No number that was given out since the backup is given out again: the marketplace knows things by it. No call is made,
and nothing is planned or ordered that costs money: what seems to be missing may be there. `hits.reconciling` brings
this side to what the marketplace says.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.apps import apps
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from hits.models.intents import TOKEN_LIFE
from hits.models.messages import WorkerMessage
from hits.models.payments import Bonus, Compensation
from hits.models.publishing import Extension, Hit
from hits.models.restorations import Restoration
from hits.models.webhooks import WebhookDelivery
from hits.refusals import Refusal

# Numbers that are left out at least, and else as many as were given out before the backup.
LEAST_GAP = 1_000_000
WAITS = (
    "The database was restored from a backup of {at:%Y-%m-%d %H:%M} UTC and not reconciled yet: manage.py reconcile."
)


class NotReconciledError(Refusal):
    """The database was restored from a backup: what costs money waits until `manage.py reconcile` has run."""

    error_code = "not_reconciled"


def open_restoration() -> Restoration | None:
    """The oldest one that is not reconciled; its backup is the earliest moment."""
    return Restoration.objects.filter(reconciled_at=None).order_by("backup_at").first()


def why_calls_wait() -> str:
    """Why no call may be made to the marketplace, as a sentence; empty: calls are made."""
    found = open_restoration()
    return WAITS.format(at=found.backup_at) if found else ""


def refuse_unreconciled() -> None:
    """Raises NotReconciledError."""
    if why := why_calls_wait():
        raise NotReconciledError(f"{why} Nothing was changed.")


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
