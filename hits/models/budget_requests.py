"""Requests of members for more money than they may budget by themselves, which wait for an owner of the project."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.fields import DollarField
from hits.models.projects import Project, Stage
from hits.models.publishing import Batch

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
