"""How much a lead may budget in all, where whoever runs the installation has set that."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.fields import DollarField


class LeadLimit(models.Model):
    """The most that the budgets of all projects that this person owns may come to. Without a row there is no limit."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lead_limit")
    amount = DollarField(help_text="$.")

    def __str__(self) -> str:
        return f"limit of {self.user_id}: {self.amount}"
