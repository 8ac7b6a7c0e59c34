"""Money: an account per project whose budget the database itself holds, and the entries behind it.

`Account.reserved` and `Account.paid` are the sums of the entries' two columns. They change in the same
transaction, and a check constraint refuses reserved + paid > budget, also when two leads publish at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, Sum

from hits.models.answers import Assignment
from hits.models.fields import DollarField, dollars
from hits.models.payments import Bonus, Compensation
from hits.models.projects import Project, Stage
from hits.models.publishing import Batch, Hit
from hits.refusals import Refusal


class BudgetExceededError(Refusal):
    """The entry would take the account past its budget. Raise the budget or publish fewer items."""

    error_code = "budget_exceeded"

    def __init__(self, needed: Decimal, left: Decimal) -> None:
        self.needed, self.left = needed, left
        super().__init__(
            f"This needs ${needed:,.2f} and ${left:,.2f} of the budget is left. "
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
