"""Webhooks: addresses of a project that are told what happens in it, and each message to one of them."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone

from common.addresses import LONGEST_ADDRESS
from hits.models.intents import Intent
from hits.models.projects import Project

# `whsec_` and 32 bytes in base64.
LONGEST_SECRET = 60
LONGEST_ID = 40
LONGEST_ERROR = 300


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def standing(self) -> WebhookQuerySet:
        """Those that were not ended."""
        return self.filter(ended_at=None)

    def listening(self, project: int) -> WebhookQuerySet:
        """Those that are told what happens in the project now."""
        return self.standing().filter(project=project, active=True)


class Webhook(models.Model):
    """One address that a project's events are posted to. Its row stays for a while after it was ended, for what is
    being written or sent meanwhile names it.
    """

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


class WebhookDelivery(Intent):
    """One event for one webhook. Committed with what it reports, before any call; attempted until it arrives or is
    given up. `hits.domain.webhook_events` alone writes new ones.
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
