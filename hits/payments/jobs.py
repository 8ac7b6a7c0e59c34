"""Approving a request for money, and publishing what it was asked for."""

from __future__ import annotations

from django.contrib.auth.models import User

from hits.models import Batch, BudgetRequest
from hits.payments.verbs import requesting_budget
from hits.publishing.verbs import publishing


def approve_request(row: BudgetRequest, user: User | None, reason: str = "") -> Batch | None:
    """Raise the budget, and publish the batch that was asked for: it is to be sent then. Raises what either refuses."""
    if row.stage is None:
        requesting_budget.approve(row, user, reason)
        return None
    return publishing.publish_requested(row, user, reason)
