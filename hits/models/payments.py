"""Bonuses and compensations: money beside the reward of an answer. The row exists before the call."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.answers import Assignment
from hits.models.fields import DollarField
from hits.models.files import Blob
from hits.models.intents import Intent
from hits.models.projects import Project
from hits.models.workers import Worker

# States in which money is set apart: of a bonus and of a compensation.
OPEN = ("planned", "sent", "offered")


class BonusOrder(models.Model):
    """What one confirmation ordered: a single bonus, or all of a CSV file."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="bonus_orders")
    confirmation = models.CharField(
        max_length=64, unique=True, help_text="The confirmed page's own key: a double click finds it taken."
    )
    filename = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file.")
    total = models.PositiveIntegerField(help_text="Bonuses.")
    cost = DollarField(help_text="Bonuses and fees, $.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.total} bonuses of order {self.pk}"


class Bonus(Intent):
    """The intent row of SendBonus."""

    class State(models.TextChoices):
        PLANNED = "planned", "To be paid"
        SENT = "sent", "Sent, outcome unknown"
        PAID = "paid", "Paid"
        REFUSED = "refused", "Refused by the marketplace"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="bonuses")
    order = models.ForeignKey(BonusOrder, on_delete=models.CASCADE, related_name="bonuses")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="bonuses")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="bonuses")
    amount = DollarField(help_text="What the worker gets, $.")
    fee = DollarField(help_text="What the marketplace takes, $.")
    reason = models.TextField(help_text="The worker reads it.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    not_before = models.DateTimeField(null=True, help_text="The call waits until then.")
    paid_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="bonus_positive")]
        indexes = [
            models.Index(fields=["project", "-id"], name="bonus_by_project"),
            models.Index(
                fields=["project", "id"], condition=models.Q(state__in=["planned", "sent"]), name="bonus_to_send"
            ),
        ]

    def __str__(self) -> str:
        return f"bonus {self.pk} of ${self.amount}"

    @property
    def token(self) -> str:
        """A function of the row alone: asking again with it can never pay twice."""
        return f"{self.project.namespace}.b{self.pk}"


class BonusFile(models.Model):
    """A file of bonuses that is too large for a web process: checked, and ordered, in the background."""

    class State(models.TextChoices):
        QUEUED = "queued", "Being checked"
        READY = "ready", "Checked, nothing is paid yet"
        ORDERING = "ordering", "Being ordered"
        ORDERED = "ordered", "Ordered"
        REFUSED = "refused", "Refused, nothing is paid"
        FAILED = "failed", "Failed, nothing is paid"

    RUNNING = (State.QUEUED, State.ORDERING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="bonus_files")
    name = models.CharField(max_length=200)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often the present step of it began.")
    faults = models.JSONField(default=list, help_text="[{line, place, message}], the first 1,000.")
    fault_count = models.PositiveIntegerField(default=0)
    quote = models.JSONField(null=True, help_text="What its bonuses cost, once it is checked.")
    total = DollarField(null=True, help_text="The price that was confirmed, $.")  # type: ignore[misc]
    confirmation = models.CharField(max_length=64, blank=True)
    order = models.ForeignKey(BonusOrder, on_delete=models.SET_NULL, null=True)
    error = models.TextField(blank=True, help_text="Why it failed or was not ordered, as a sentence.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_running(self) -> bool:
        return self.state in self.RUNNING


class Compensation(Intent):
    """A worker who could not submit is paid through a HIT that nobody else sees."""

    class State(models.TextChoices):
        PLANNED = "planned", "Being offered"
        OFFERED = "offered", "Offered to the worker"
        PAID = "paid", "Paid"
        EXPIRED = "expired", "Not taken up in time"
        REFUSED = "refused", "Refused by the marketplace"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="compensations")
    worker_id = models.CharField(max_length=64, help_text="The marketplace's id; the worker may have no answer here.")
    amount = DollarField(help_text="What the worker gets, $.")
    fee = DollarField(help_text="What the marketplace takes, $.")
    reason = models.TextField(help_text="The worker reads it.")
    confirmation = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PLANNED)
    hit_type_id = models.CharField(max_length=64, blank=True)
    hit_id = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 (unique where it is there)
    assignment_id = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True, help_text="When its answer was last asked for.")
    paid_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="compensation_positive"),
            # The worker's qualification holds the number of the one HIT that is meant for them.
            models.UniqueConstraint(
                "project",
                "worker_id",
                condition=models.Q(state__in=["planned", "offered"]),
                name="one_open_compensation_a_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"compensation {self.pk} of ${self.amount}"

    @property
    def token(self) -> str:
        return f"{self.project.namespace}.c{self.pk}"
