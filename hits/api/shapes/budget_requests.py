"""Requests for money."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import MoneyField, Shape, StateField, UsernameField
from hits.models.budget_requests import LONGEST_REASON, BudgetRequest


class BudgetRequestShape(Shape):
    id = serializers.IntegerField()
    state = StateField(BudgetRequest.State)
    asked_by = UsernameField("asked_by")
    budget = MoneyField(help_text="The project's budget that is asked for.")
    stage = serializers.CharField(source="stage.key", default=None, allow_null=True, help_text="Of a batch.")
    items = serializers.IntegerField(allow_null=True, help_text="Of a batch.")
    total = MoneyField(help_text="Of a batch: its price.")
    why = serializers.CharField()
    reason = serializers.CharField(help_text="What the owner said about it.")
    decided_by = UsernameField("decided_by")
    decided_at = serializers.DateTimeField(allow_null=True)
    batch = serializers.IntegerField(source="batch_id", allow_null=True)
    created_at = serializers.DateTimeField()


class BudgetApproval(Shape):
    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_REASON)


class Refusal(Shape):
    reason = serializers.CharField(max_length=LONGEST_REASON)
