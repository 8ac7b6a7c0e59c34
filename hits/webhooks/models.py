"""Webhooks: addresses to which what happens in a project is reported, and each message to one of them.

`WebhookDelivery.objects.announce` writes messages down, in the transaction of what they report. Nothing that comes of a
webhook is an event, so no circle of webhooks grows.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone

from common.addresses import LONGEST_ADDRESS
from hits.core.models.intents import Intent
from hits.projects.models import Project

# `whsec_` and 32 bytes in base64.
LONGEST_SECRET = 60
LONGEST_ID = 40
LONGEST_ERROR = 300
# Of the body; it grows when a field goes or means another thing, not when one is added.
VERSION = 1
Facts = Mapping[str, Any]
# The facts by which people tell one message from another of the same event, and how these are called.
_ABOUT = {
    "item": "item",
    "worker": "worker",
    "number": "release",
    "stage": "stage",
    "outcome": "outcome",
    "left": "left",
}


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def not_ended(self) -> WebhookQuerySet:
        return self.filter(ended_at=None)

    def listening(self, project: int) -> WebhookQuerySet:
        """Those to which what happens in the project now is reported."""
        return self.not_ended().filter(project=project, active=True)


class Webhook(models.Model):
    """One address that a project's events are posted to. Its row stays for a while after it was ended, for what is
    being written or sent meanwhile names it.
    """

    TEST = "test"

    class Event(models.TextChoices):
        STAGE_FINISHED = "stage.finished", "A stage is finished"
        ITEM_DECIDED = "item.decided", "An item is decided, or decided otherwise"
        RELEASE_MADE = "release.made", "A release is made"
        WORKER_BLOCKED = "worker.blocked", "A worker is blocked"
        BUDGET_LOW = "budget.low", "Little of the budget is left"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=LONGEST_ADDRESS)
    events = models.JSONField(default=list, help_text="Those of `Event` that it is told.")
    # It signs, so it is kept as it is; pages and API show it once.
    secret = models.CharField(max_length=LONGEST_SECRET)
    earlier_secret = models.CharField(max_length=LONGEST_SECRET, blank=True, help_text="Signs too, after a rotation.")
    earlier_until = models.DateTimeField(null=True, help_text="Until when the earlier secret signs.")
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True, help_text="When something was last posted: those that waited go first.")
    failures = models.PositiveSmallIntegerField(default=0, help_text="Times in a row that nobody answered.")
    not_before = models.DateTimeField(null=True, help_text="Nothing is posted before.")
    failing_since = models.DateTimeField(null=True, help_text="The first attempt in vain since the last success.")
    error = models.CharField(max_length=LONGEST_ERROR, blank=True, help_text="Why the last attempt was in vain.")

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """The address without its path, which may hold a secret of the receiver."""
        return urlsplit(self.address).netloc

    @property
    def state(self) -> str:
        """on, off, or ended."""
        return "ended" if self.ended_at else "on" if self.active else "off"

    @property
    def event_titles(self) -> list[str]:
        return [Webhook.Event(event).label for event in self.events]


class WebhookDeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def announce(self, project_pk: int, event: str, facts: Callable[[], Iterable[Facts]]) -> int:
        """Write down one event of the project for each of the `facts`; how many messages that makes.

        To be called in the transaction that makes them true. Where nothing listens, `facts` is not called, and it costs
        one query; else two more, however many there are.
        """
        hooks = Webhook.objects.listening(project_pk).select_related("project").order_by("pk")
        found = [hook for hook in hooks if event in hook.events]
        return self._write(found, event, facts()) if found else 0

    def announce_test(self, hook: Webhook) -> None:
        """Write down an event that says nothing, for this webhook alone."""
        self._write([hook], Webhook.TEST, [{"message": "Nothing happened: somebody tests this webhook."}])

    def drop(self) -> int:
        """Give up those that still wait, for their webhook was ended."""
        state, error = WebhookDelivery.State, "The webhook was ended."
        waiting = self.filter(state=state.WAITING)
        return waiting.update(state=state.GIVEN_UP, error=error, done_at=timezone.now())

    def _write(self, hooks: Sequence[Webhook], event: str, facts: Iterable[Facts]) -> int:
        now = timezone.now()
        rows = []
        for one in facts:
            event_id = f"evt_{secrets.token_hex(12)}"
            content = {
                "type": event,
                "timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
                "version": VERSION,
                "event": event_id,
                "project": hooks[0].project.slug,
                "data": one,
            }
            body = json.dumps(content, separators=(",", ":"))
            common = {"event_id": event_id, "event": event, "body": body, "created_at": now, "since": now}
            rows += [
                WebhookDelivery(webhook=hook, message_id=f"msg_{secrets.token_hex(12)}", **common) for hook in hooks
            ]
        WebhookDelivery.objects.bulk_create(rows)
        return len(rows)


class WebhookDelivery(Intent):
    """One event for one webhook. Committed with what it reports, before any call; attempted until it arrives or is
    given up.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        DELIVERED = "delivered", "Delivered"
        GIVEN_UP = "given_up", "Given up"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    message_id = models.CharField(max_length=LONGEST_ID, unique=True, help_text="The same at each attempt.")
    event_id = models.CharField(max_length=LONGEST_ID, help_text="The same at each webhook that is told the event.")
    event = models.CharField(max_length=20, help_text="A Webhook.Event, or test.")
    body = models.TextField(help_text="JSON as it is posted: the signature is of these bytes.")
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0, help_text="Counted before each is made.")
    not_before = models.DateTimeField(null=True, help_text="The next attempt waits until then.")
    since = models.DateTimeField(default=timezone.now, help_text="It is given up so long after this moment.")
    status = models.PositiveSmallIntegerField(null=True, help_text="What was answered last.")
    done_at = models.DateTimeField(null=True)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint("webhook", "event_id", name="event_once_a_webhook")]
        indexes = [
            models.Index(fields=["webhook", "id"], condition=models.Q(state="waiting"), name="delivery_to_send"),
            models.Index(fields=["webhook", "state", "id"], name="delivery_by_state"),
            models.Index(fields=["webhook", "id"], name="delivery_by_webhook"),
            models.Index(fields=["done_at"], condition=~models.Q(state="waiting"), name="delivery_to_forget"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}: {self.get_state_display()}"

    @property
    def about(self) -> str:
        """What it is about, in a few words: “item otters-3, stage validate, outcome kept”. Empty for a test."""
        facts = json.loads(self.body).get("data", {})
        return ", ".join(f"{word} {facts[name]}" for name, word in _ABOUT.items() if facts.get(name) is not None)
