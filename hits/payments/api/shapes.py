"""Shapes of the ledger and of requests for money."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.paging import PageQuery
from hits.api.shapes import LARGEST, MoneyField, Shape, StateField, UsernameField
from hits.models import LedgerCheck, LedgerEntry
from hits.payments.models import LONGEST_REASON, BudgetRequest
from hits.payments.rules.ledger_differences import KINDS


class LedgerQuery(PageQuery):
    kind = serializers.ChoiceField(LedgerEntry.Kind.choices, required=False)
    stage = serializers.CharField(required=False, max_length=60, help_text="A stage's key.")
    worker = serializers.CharField(
        required=False, max_length=64, help_text="A worker's id: entries of that worker's answers and payments."
    )
    since = serializers.DateField(required=False, help_text="The first day, in UTC.")
    until = serializers.DateField(required=False, help_text="The last day, in UTC.")


class LedgerShape(Shape):
    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    kind = StateField(LedgerEntry.Kind)
    stage = serializers.CharField(source="stage.key", default=None, allow_null=True)
    reserved = MoneyField(min_value=-LARGEST, help_text="Change of what is reserved.")
    paid = MoneyField(min_value=-LARGEST, help_text="Change of what is paid, fee included.")
    fee = MoneyField(min_value=-LARGEST, help_text="Part of `paid` that is fee.")
    batch = serializers.IntegerField(source="batch_id", allow_null=True)
    hit_id = serializers.CharField(source="hit.hit_id", default=None, allow_null=True)
    assignment_id = serializers.CharField(source="assignment.assignment_id", default=None, allow_null=True)
    bonus = serializers.IntegerField(source="bonus_id", allow_null=True)
    compensation = serializers.IntegerField(source="compensation_id", allow_null=True)
    note = serializers.CharField()


class NewLedgerCheck(Shape):
    deep = serializers.BooleanField(
        required=False, default=False, help_text="Look at every answer and bonus: three calls a HIT."
    )


class LedgerCheckShape(Shape):
    id = serializers.IntegerField()
    state = StateField(LedgerCheck.State)
    deep = serializers.BooleanField()
    total = serializers.IntegerField(help_text="HITs to look at.")
    done = serializers.IntegerField()
    faults = serializers.SerializerMethodField(help_text="How many differences stay; 0 when the books agree.")
    in_flight = serializers.SerializerMethodField(help_text="How many pass by themselves.")
    message = serializers.CharField(help_text="Why the marketplace was not compared, when it was not.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_faults(self, check: LedgerCheck) -> int:
        return len(check.faults)

    def get_in_flight(self, check: LedgerCheck) -> int:
        return len(check.in_flight)


class FigureShape(Shape):
    """Two sums that must be equal."""

    what = serializers.CharField(help_text="The sum, and its two sides.")
    one = MoneyField(min_value=-LARGEST)
    other = MoneyField(min_value=-LARGEST)


class DifferenceShape(Shape):
    kind = serializers.CharField(help_text="A stable word: " + ", ".join(f"`{key}`" for key in KINDS) + ".")
    title = serializers.SerializerMethodField()
    remedy = serializers.SerializerMethodField(help_text="What to do about it.")
    subject = serializers.CharField(help_text="The row.")
    books = serializers.CharField()
    marketplace = serializers.CharField()
    stage = serializers.CharField(help_text="The stage's key; empty where it belongs to none.")
    item = serializers.IntegerField(allow_null=True)
    passing = serializers.BooleanField(help_text="Normal while calls are under way.")

    def get_title(self, row: dict[str, Any]) -> str:
        return KINDS[row["kind"]].title

    def get_remedy(self, row: dict[str, Any]) -> str:
        return KINDS[row["kind"]].remedy


class LedgerCheckDetailShape(LedgerCheckShape):
    figures = serializers.SerializerMethodField()
    differences = DifferenceShape(many=True, help_text="At most 1,000; those that stay come first.")

    @extend_schema_field(FigureShape(many=True))
    def get_figures(self, check: LedgerCheck) -> list[dict[str, Any]]:
        return [{"what": what, "one": one, "other": other} for what, one, other in check.figures]


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
