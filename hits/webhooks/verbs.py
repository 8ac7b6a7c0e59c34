"""Webhooks are added, changed, tested and ended; their secrets; and a message that is to be sent again.

Security behavior: an address is on the internet and https unless the settings allow more, and never this installation
itself; that is checked here and at each call. A secret is shown once, to whoever makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework import serializers

from common.addresses import LONGEST_ADDRESS, AddressError
from hits.core.roles import MANAGER
from hits.core.targets import PROJECT
from hits.core.verbs import Unchanged, verb
from hits.models import Project
from hits.refusals import Refused
from hits.webhooks import rules
from hits.webhooks.api import DELIVERY, TAG, WEBHOOK, DeliveryShape, EventsField, MadeWebhook, NewSecret, WebhookShape
from hits.webhooks.jobs import announce
from hits.webhooks.models import Webhook, WebhookDelivery

State = WebhookDelivery.State
MOST_WEBHOOKS = 10
# After a rotation the earlier secret signs too for so long: the receiver changes its own meanwhile.
BOTH_SIGN = timedelta(hours=24)


class NewWebhook(serializers.Serializer[Any]):
    address = serializers.CharField(
        max_length=LONGEST_ADDRESS,
        label="Address",
        help_text="Events are posted there. It begins with https:// and is on the internet, unless this installation "
        "allows more.",
        style={"kind": "url", "placeholder": "https://lab.example.org/annotate"},
    )
    events = EventsField(label="Report when")

    def validate_address(self, value: str) -> str:
        """Looks the name up, so the values are checked outside of a transaction."""
        try:
            rules.refuse_by_name(value)
        except AddressError as error:
            raise serializers.ValidationError(str(error)) from None
        return value


class ChangedWebhook(NewWebhook):
    address = serializers.CharField(
        max_length=LONGEST_ADDRESS, required=False, label="Address", style={"kind": "url"}
    )  # fmt: skip
    events = EventsField(label="Report when", required=False)
    active = serializers.BooleanField(required=False)


def _page(row: Webhook) -> tuple[Any, ...]:
    return "webhook", row.project.slug, row.pk


@verb(
    "webhooks.add", "Add a webhook", tag=TAG, on=PROJECT, role=MANAGER, route="POST webhooks/", status=201, heavy=True,
    summary="Have events of the project posted to an address, with a signature",
    takes=NewWebhook, gives=MadeWebhook, shows_once=("secret",), leads_to=_page,
    activity="added a webhook {webhook}", makes="webhook", refuses=("too_many_webhooks",),
)  # fmt: skip
def add(project: Project, user: User | None, *, address: str, events: Sequence[str]) -> Webhook:
    """A new webhook, which is on."""
    if project.webhooks.not_ended().count() >= MOST_WEBHOOKS:
        raise Refused("too_many_webhooks", f"The project has {MOST_WEBHOOKS} webhooks. End one that is not needed.")
    return Webhook.objects.create(
        project=project, address=address, events=list(events), secret=rules.new_secret(), created_by=user
    )


def _changed(row: Webhook, values: Any) -> str:
    if set(values) != {"active"}:
        return "The webhook is changed."
    return "The webhook is on: what waits is sent." if row.active else (
        "The webhook is off: new events are not recorded for it, and what waits is kept."
    )  # fmt: skip


@verb(
    "webhooks.change", "Change a webhook, switch it on or off", tag=TAG, on=WEBHOOK, role=MANAGER, route="PATCH ",
    summary="Change address or events, or switch it on or off; what waits goes to the new address",
    takes=ChangedWebhook, gives=WebhookShape, activity="changed a webhook {webhook}", done=_changed, heavy=True,
    refuses=("webhook_off",), after=lambda *_: announce(),
)  # fmt: skip
def change(row: Webhook, user: User | None, **values: Any) -> Webhook | Unchanged:
    """Values that are not named stay. What waits goes to the new address, and waits while the webhook is off."""
    _refuse_ended(row)
    new = {name: value for name, value in values.items() if value != getattr(row, name)}
    if not new:
        return Unchanged(row, "Nothing was changed: it was so already.")
    for name, value in new.items():
        setattr(row, name, value)
    if {"address", "active"} & set(new):
        row.failures, row.not_before, row.failing_since, row.error = 0, None, None, ""
    row.save(update_fields=[*new, "failures", "not_before", "failing_since", "error"])
    return row


@verb(
    "webhooks.rotate", "Rotate a webhook's secret", tag=TAG, on=WEBHOOK, role=MANAGER, route="POST rotate/",
    summary="Make another secret; for a day both sign",
    confirm="For 24 hours the earlier one signs too, so that nothing is refused while you change your program.",
    gives=NewSecret, shows_once=("secret",), leads_to=_page, activity="rotated the secret of a webhook {webhook}",
    refuses=("webhook_off",),
)  # fmt: skip
def rotate(row: Webhook, user: User | None) -> Webhook:
    _refuse_ended(row)
    row.earlier_secret, row.earlier_until = row.secret, timezone.now() + BOTH_SIGN
    row.secret = rules.new_secret()
    row.save(update_fields=["secret", "earlier_secret", "earlier_until"])
    return row


@verb(
    "webhooks.end", "End a webhook", tag=TAG, on=WEBHOOK, role=MANAGER, route="DELETE ", status=204,
    summary="End a webhook: nothing more is sent, not even what waits", while_archived=True,
    confirm="Nothing more is sent, not even what waits. It cannot be brought back.",
    done=lambda row, values: f"The webhook to {row.host} is ended. Nothing more is sent to it.",
    activity="ended a webhook {webhook}", leads_to=lambda row: ("webhooks", row.project.slug),
)  # fmt: skip
def end(row: Webhook, user: User | None) -> Webhook | Unchanged:
    if row.ended_at:
        return Unchanged(row, "It had ended already.")
    row.ended_at, row.active = timezone.now(), False
    row.save(update_fields=["ended_at", "active"])
    row.deliveries.drop()
    return row


@verb(
    "webhooks.test", "Send a test event", tag=TAG, on=WEBHOOK, role=MANAGER, route="POST test/",
    summary="Send a test event", see="webhooks.deliveries", activity="sent a test event {webhook}",
    done="A test event is on its way. Look at the page again in a moment: its row says how it went.",
    refuses=("webhook_off", "test_waits"), after=lambda *_: announce(),
)  # fmt: skip
def test(row: Webhook, user: User | None) -> Webhook:
    _refuse_off(row)
    if row.deliveries.filter(state=State.WAITING, event=Webhook.TEST).exists():
        raise Refused("test_waits", "A test event waits already: look at its row, which says why.")
    WebhookDelivery.objects.announce_test(row)
    return row


@verb(
    "webhooks.send_again", "Send a message to a webhook again", tag=TAG, on=DELIVERY, role=MANAGER, route="POST again/",
    summary="Send a message once more that arrived or was given up", gives=DeliveryShape, status=202,
    activity="sent a message again {webhook}", done="The message is on its way once more.",
    refuses=("webhook_off", "waits_already"), after=lambda *_: announce(),
)  # fmt: skip
def send_again(row: WebhookDelivery, user: User | None) -> WebhookDelivery:
    """Its number of attempts goes on."""
    _refuse_off(row.webhook)
    if row.state == State.WAITING:
        raise Refused("waits_already", "This message is still to be sent: it goes on by itself.")
    row.state, row.not_before, row.since, row.done_at, row.error = State.WAITING, None, timezone.now(), None, ""
    row.save(update_fields=["state", "not_before", "since", "done_at", "error"])
    return row


def _refuse_ended(row: Webhook) -> None:
    if row.ended_at:
        raise Refused("webhook_off", "This webhook was ended. Add another one.")


def _refuse_off(row: Webhook) -> None:
    _refuse_ended(row)
    if not row.active:
        raise Refused("webhook_off", "This webhook is off. Switch it on first.")
