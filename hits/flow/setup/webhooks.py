"""Webhooks of a project: added, changed, tried and ended; their secrets; and a message that is to be sent again.

Security behavior: an address is on the internet and https unless the settings allow more, and never this installation
itself; that is asked here and at each call. A secret is shown once, to whoever makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from hits.domain import webhook_addresses, webhook_events
from hits.domain.action_log import record
from hits.domain.archived import refuse_archived
from hits.domain.webhook_addresses import WebhookAddressError
from hits.domain.webhook_signatures import new_secret
from hits.models import Project, Webhook, WebhookDelivery
from hits.refusals import Refusal

State = WebhookDelivery.State
MOST_WEBHOOKS = 10
# After a rotation the earlier secret signs too for so long: the receiver changes its own meanwhile.
BOTH_SIGN = timedelta(hours=24)


class WebhookRefusedError(Refusal):
    """A webhook that cannot be as it was given. Nothing was changed."""

    error_code = "webhook_refused"
    http_status = 400

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        """`faults` are (field, sentence)."""
        self.faults = tuple(faults)
        super().__init__(" ".join([*(sentence for _, sentence in faults), "Nothing was changed."]))

    def details(self) -> dict[str, Any]:
        return {"faults": [{"field": field, "message": sentence} for field, sentence in self.faults]}


class TooManyWebhooksError(Refusal):
    """The project has as many webhooks as it may have."""

    error_code = "too_many_webhooks"


class WebhookOffError(Refusal):
    """The webhook is off or was ended, so nothing is sent to it."""

    error_code = "webhook_off"


class TryWaitsError(Refusal):
    """A test event of this webhook waits already."""

    error_code = "test_waits"


class WaitsAlreadyError(Refusal):
    """The message is still to be sent, so it cannot be sent again."""

    error_code = "waits_already"


def add(project: Project, address: str, events: Sequence[str], user: User | None) -> tuple[Webhook, str]:
    """A new webhook, which is on, and its secret, which is not shown again.

    Looks the address's name up, so not within a transaction. Raises WebhookRefusedError, TooManyWebhooksError and
    ArchivedError.
    """
    _refuse_faults(address, events)
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        refuse_archived(locked)
        if locked.webhooks.standing().count() >= MOST_WEBHOOKS:
            raise TooManyWebhooksError(f"The project has {MOST_WEBHOOKS} webhooks. End one that is not needed.")
        secret = new_secret()
        row = Webhook.objects.create(
            project=locked, address=address, events=_in_order(events), secret=secret, created_by=user
        )
        record(locked, user, "added a webhook", detail={"webhook": row.host})
    return row, secret


def change(
    row: Webhook,
    user: User | None,
    *,
    address: str | None = None,
    events: Sequence[str] | None = None,
    active: bool | None = None,
) -> Webhook:
    """Give it another address, other events, or switch it on or off; None leaves it as it is.

    What waits goes to the new address, and waits while it is off. Not within a transaction. Raises
    WebhookRefusedError, WebhookOffError where it was ended, and ArchivedError.
    """
    _refuse_faults(address, events)
    with transaction.atomic():
        locked = _locked(row)
        wanted = {"address": address, "events": None if events is None else _in_order(events), "active": active}
        new = {name: value for name, value in wanted.items() if value not in (None, getattr(locked, name))}
        if new:
            for name, value in new.items():
                setattr(locked, name, value)
            if {"address", "active"} & set(new):
                locked.failures, locked.not_before, locked.failing_since, locked.error = 0, None, None, ""
            locked.save(update_fields=[*new, "failures", "not_before", "failing_since", "error"])
            record(locked.project, user, "changed a webhook", detail={"webhook": locked.host, "fields": sorted(new)})
    return locked


def rotate(row: Webhook, user: User | None) -> str:
    """Another secret, which is not shown again; for a day the one before signs too.

    Raises WebhookOffError where it was ended, and ArchivedError.
    """
    with transaction.atomic():
        locked = _locked(row)
        locked.earlier_secret, locked.earlier_until = locked.secret, timezone.now() + BOTH_SIGN
        locked.secret = new_secret()
        locked.save(update_fields=["secret", "earlier_secret", "earlier_until"])
        record(locked.project, user, "rotated the secret of a webhook", detail={"webhook": locked.host})
    return locked.secret


def end(row: Webhook, user: User | None) -> bool:
    """Nothing more is written or sent, not even what waits; False when it had ended already."""
    with transaction.atomic():
        now = timezone.now()
        ended = Webhook.objects.standing().filter(pk=row.pk).update(ended_at=now, active=False)
        if not ended:
            return False
        webhook_events.drop(row.deliveries.all())
        record(row.project, user, "ended a webhook", detail={"webhook": row.host})
    return True


def try_out(row: Webhook, user: User | None) -> None:
    """Write down a test event, which is to be sent. Raises WebhookOffError, TryWaitsError and ArchivedError."""
    with transaction.atomic():
        locked = _locked(row)
        _refuse_off(locked)
        if locked.deliveries.filter(state=State.WAITING, event=webhook_events.TEST).exists():
            raise TryWaitsError("A test event waits already: look at its row, which says why.")
        webhook_events.announce_test(locked)
        record(locked.project, user, "sent a test event", detail={"webhook": locked.host})


def send_again(row: WebhookDelivery, user: User | None) -> None:
    """Have a message that is done with sent once more; its number of attempts goes on.

    Raises WebhookOffError, WaitsAlreadyError and ArchivedError.
    """
    with transaction.atomic():
        hook = _locked(row.webhook)
        _refuse_off(hook)
        done = hook.deliveries.exclude(state=State.WAITING).filter(pk=row.pk)
        if not done.update(state=State.WAITING, not_before=None, since=timezone.now(), done_at=None, error=""):
            raise WaitsAlreadyError("This message is still to be sent: it goes on by itself.")
        record(hook.project, user, "sent a message again", detail={"webhook": hook.host})


def _locked(row: Webhook) -> Webhook:
    """Raises WebhookOffError where it was ended, and ArchivedError."""
    locked = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=row.pk)
    refuse_archived(locked.project)
    if locked.ended_at:
        raise WebhookOffError("This webhook was ended. Add another one.")
    return locked


def _refuse_off(row: Webhook) -> None:
    if not row.active:
        raise WebhookOffError("This webhook is off. Switch it on first.")


def _refuse_faults(address: str | None, events: Sequence[str] | None) -> None:
    """Every fault at once. Raises WebhookRefusedError."""
    faults = []
    if address is not None:
        try:
            webhook_addresses.refuse_by_name(address)
        except WebhookAddressError as error:
            faults.append(("address", str(error)))
    if events is not None:
        known = Webhook.Event.values
        if not events:
            faults.append(("events", f"Choose at least one event: {', '.join(known)}."))
        if unknown := sorted({event[:40] for event in events if event not in known}):
            faults.append(("events", f"There is no event {', '.join(unknown[:5])}. There are: {', '.join(known)}."))
    if faults:
        raise WebhookRefusedError(faults)


def _in_order(events: Sequence[str]) -> list[str]:
    """Each once."""
    return [event for event in Webhook.Event.values if event in events]
