"""Bonuses, compensations, the account, its ledger, and requests for money."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, Sum

from hits.answers.models import Assignment
from hits.core.models.blobs import Blob
from hits.core.models.fields import DollarField, dollars
from hits.core.models.intents import Intent
from hits.projects.models import Project
from hits.publishing.models import Batch, Hit
from hits.refusals import Refusal
from hits.stages.models import Stage
from hits.workers.models import Worker

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


class BudgetExceededError(Refusal):
    """The entry would take the account past its budget. Raise the budget or publish fewer items."""

    error_code = "budget_exceeded"

    def __init__(self, needed: Decimal, left: Decimal, message: str = "") -> None:
        self.needed, self.left = needed, left
        super().__init__(
            message
            or f"This needs ${needed:,.2f} and ${left:,.2f} of the budget is left. "
            "Raise the project's budget or publish fewer items."
        )

    def details(self) -> dict[str, Any]:
        return {"needed": f"{self.needed:.2f}", "left": f"{self.left:.2f}"}


class Account(models.Model):
    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="account")
    budget = DollarField()
    reserved = DollarField(default=0)
    paid = DollarField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(budget__gte=F("reserved") + F("paid")), name="within_budget"),
            models.CheckConstraint(condition=Q(reserved__gte=0), name="reserved_not_negative"),
            models.CheckConstraint(condition=Q(paid__gte=0), name="paid_not_negative"),
        ]

    def __str__(self) -> str:
        return f"account of {self.project}"

    @property
    def left(self) -> Decimal:
        return self.budget - self.reserved - self.paid

    def post(self, entries: Iterable[LedgerEntry]) -> None:
        """Write the entries and move the two sums, all or nothing.

        Raises BudgetExceededError; entries that settle an assignment for the second time are a
        programming error and raise IntegrityError.
        """
        entries = list(entries)
        reserved = sum((entry.reserved for entry in entries), Decimal(0))
        paid = sum((entry.paid for entry in entries), Decimal(0))
        with transaction.atomic():
            self._move(reserved, paid)
            for entry in entries:
                entry.project_id = self.project_id
            LedgerEntry.objects.bulk_create(entries)
        self.refresh_from_db()

    def _move(self, reserved: Decimal, paid: Decimal) -> None:
        try:
            with transaction.atomic():
                Account.objects.filter(pk=self.pk).update(
                    reserved=F("reserved") + dollars(reserved), paid=F("paid") + dollars(paid)
                )
        except IntegrityError as error:
            if "within_budget" not in str(error):
                raise
            self.refresh_from_db()
            raise BudgetExceededError(reserved + paid, self.left) from error

    def sums(self) -> tuple[Decimal, Decimal]:
        """(reserved, paid) added up from the entries: what the two columns must equal."""
        total = LedgerEntry.objects.filter(project=self.project_id).aggregate(r=Sum("reserved"), p=Sum("paid"))
        return total["r"] or Decimal(0), total["p"] or Decimal(0)


class LedgerCheck(models.Model):
    """One comparison of a project's books with the marketplace, and each difference that it found."""

    class State(models.TextChoices):
        RUNNING = "running", "Comparing"
        DONE = "done", "Compared"
        FAILED = "failed", "Broken off"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="ledger_checks")
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    deep = models.BooleanField(
        default=False, help_text="Every answer and bonus was compared, not only what stands out."
    )
    total = models.PositiveIntegerField(default=0, help_text="HITs to compare.")
    done = models.PositiveIntegerField(default=0)
    figures = models.JSONField(default=list, help_text="[[what, books $, marketplace $], ...]")
    differences = models.JSONField(
        default=list, help_text="[{kind, subject, books, marketplace, stage, item, passing}, ...]"
    )
    message = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="How often it began.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"check {self.pk} of {self.project_id}"

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Differences that stay unless somebody does something."""
        return [one for one in self.differences if not one["passing"]]

    @property
    def in_flight(self) -> list[dict[str, Any]]:
        """Differences that are normal while calls are under way."""
        return [one for one in self.differences if one["passing"]]


class LedgerEntry(models.Model):
    class Kind(models.TextChoices):
        RESERVE = "reserve", "Reserved for publishing"
        SETTLE = "settle", "Paid for an approved answer"
        RELEASE = "release", "Released, not needed"
        SET_ASIDE = "set-aside", "Set aside for further answers, or taken from there"
        BONUS = "bonus", "Paid as a bonus"
        COMPENSATION = "compensate", "Paid as a compensation"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="ledger")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="ledger", null=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reserved = DollarField(default=0, help_text="Change, $.")
    paid = DollarField(default=0, help_text="Change, $, fee included.")
    fee = DollarField(default=0, help_text="Part of `paid` that is fee, $.")
    batch = models.ForeignKey(Batch, on_delete=models.SET_NULL, null=True)
    hit = models.ForeignKey(Hit, on_delete=models.SET_NULL, null=True)
    assignment = models.ForeignKey(Assignment, on_delete=models.SET_NULL, null=True)
    bonus = models.ForeignKey(Bonus, on_delete=models.SET_NULL, null=True, related_name="entries")
    compensation = models.ForeignKey(Compensation, on_delete=models.SET_NULL, null=True, related_name="entries")
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint("assignment", condition=Q(kind="settle"), name="settled_once_an_assignment"),
            models.UniqueConstraint("bonus", condition=Q(kind="bonus"), name="paid_once_a_bonus"),
            models.UniqueConstraint("compensation", condition=Q(kind="compensate"), name="paid_once_a_compensation"),
        ]
        indexes = [
            models.Index(fields=["project", "kind", "id"], name="entry_by_kind"),
            models.Index(fields=["project", "created_at"], name="entry_by_day"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reserved} {self.paid}"


LONGEST_REASON = 500


class BudgetRequest(models.Model):
    """A budget that somebody wants, alone or for a batch that is published with it."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waits for an owner"
        APPROVED = "approved", "Approved"
        DECLINED = "declined", "Declined"
        WITHDRAWN = "withdrawn", "Withdrawn"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="budget_requests")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    budget = DollarField(help_text="The project's budget that is asked for, $.")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, null=True, help_text="Of a batch: what is published.")
    items = models.PositiveIntegerField(null=True, help_text="Of a batch.")
    total = DollarField(default=0, help_text="Of a batch: its price, $.")
    confirmation = models.CharField(max_length=200, unique=True, help_text="Sent twice, it is one request.")
    why = models.CharField(max_length=LONGEST_REASON, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    reason = models.CharField(max_length=LONGEST_REASON, blank=True, help_text="What the owner said about it.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    told = models.BooleanField(default=False, help_text="The members were told of the decision.")
    batch = models.OneToOneField(Batch, on_delete=models.SET_NULL, null=True, related_name="budget_request")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"request {self.pk}: {self.get_state_display()}"

    @property
    def asker(self) -> str:
        """The account of whoever asked; “somebody” where it is gone."""
        return self.asked_by.get_username() if self.asked_by else "somebody"

    @property
    def waits(self) -> bool:
        return self.state == self.State.WAITING
