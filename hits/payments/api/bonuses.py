"""Bonuses, files and orders of them, and compensations, as the API and the pages read them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes import FaultShape, MoneyField, Shape, StateField, UsernameField
from hits.core.lists import listing, reading
from hits.core.targets import PROJECT, Target
from hits.models import Assignment, Bonus, BonusFile, BonusOrder, Compensation
from hits.payments.rules.ledger_lists import payment_totals
from hits.payments.verbs import compensating

TAG = "Payments"
# Of a file in a list of files.
LISTED_FAULTS = 10

ANSWER = Target(
    "answer",
    Assignment,
    "answers/<int:pk>/",
    lambda project: (
        Assignment.objects.from_marketplace()
        .filter(stage__project=project)
        .select_related("worker", "stage", "hit__item")
        .defer("answer")
    ),
    owner="stage.project",
)
BONUS_FILE = Target(
    "file",
    BonusFile,
    "bonus-files/<int:pk>/",
    lambda project: project.bonus_files.select_related("project__account"),
)
ORDER = Target(
    "order", BonusOrder, "bonus-orders/<int:pk>/", lambda project: project.bonus_orders.select_related("created_by")
)
COMPENSATION = Target(
    "compensation",
    Compensation,
    "compensations/<int:pk>/",
    lambda project: project.compensations.select_related("created_by", "project"),
)


class BonusFileRowShape(Shape):
    """A file: once it is `ready`, send `total` and a `confirmation` to order/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = StateField(BonusFile.State)
    error = serializers.CharField(help_text="Why it failed or was not ordered; empty otherwise.")
    fault_count = serializers.IntegerField()
    faults = FaultShape(many=True, help_text="The first 1,000. With any, nothing is paid.")
    count = serializers.IntegerField(source="quote.count", default=None, allow_null=True)
    total = MoneyField(source="quote.total", default=None, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), source="quote.warnings", default=list)
    order = serializers.IntegerField(source="order_id", allow_null=True)


class ListedBonusFileShape(BonusFileRowShape):
    faults = serializers.SerializerMethodField(  # type: ignore[assignment]
        help_text=f"The first {LISTED_FAULTS}; bonus-files/{{id}}/ has the first 1,000. With any, nothing is paid."
    )

    @extend_schema_field(FaultShape(many=True))
    def get_faults(self, row: BonusFile) -> list[dict[str, Any]]:
        return list(row.faults[:LISTED_FAULTS])


class ShareShape(Shape):
    worker_id = serializers.CharField()
    count = serializers.IntegerField()
    amount = MoneyField()


class PaymentQuoteShape(Shape):
    """Send what you asked for once more, with `total` and `confirmation`, to confirm it."""

    amount = MoneyField(help_text="To the workers.")
    fee = MoneyField()
    total = MoneyField()
    budget_left = MoneyField()
    balance = MoneyField(allow_null=True, help_text="Of the marketplace account; null when it does not answer.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Sentences that want a second look.")
    confirmation = serializers.CharField(help_text="A fresh key; any of your own does as well.")


class BonusQuoteShape(PaymentQuoteShape):
    count = serializers.IntegerField()
    workers = serializers.IntegerField()
    highest = MoneyField(help_text="The highest single bonus.")
    shares = ShareShape(many=True, help_text="The workers who get most.")


class BonusOrderShape(Shape):
    id = serializers.IntegerField()
    filename = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the file; empty without one.")
    total = serializers.IntegerField(help_text="Bonuses.")
    cost = MoneyField(help_text="With fees.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()


class BonusOrderDetailShape(BonusOrderShape):
    counts = serializers.SerializerMethodField(help_text="Bonuses by state.")

    def get_counts(self, row: BonusOrder) -> dict[str, int]:
        return payment_totals(row.bonuses.all()).counts


class BonusQuery(Shape):
    state = serializers.ChoiceField(Bonus.State.choices, required=False)
    order = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class BonusShape(Shape):
    id = serializers.IntegerField()
    order = serializers.IntegerField(source="order_id")
    ordered_at = serializers.DateTimeField(source="order.created_at")
    ordered_by = UsernameField("order.created_by")
    stage = serializers.CharField(source="assignment.stage.key")
    assignment_id = serializers.CharField(source="assignment.assignment_id")
    worker_id = serializers.CharField(source="worker.worker_id")
    amount = MoneyField()
    fee = MoneyField()
    reason = serializers.CharField()
    state = StateField(Bonus.State)
    paid_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why it waits or was refused.")


class CompensationQuoteShape(PaymentQuoteShape):
    worker_id = serializers.CharField()
    reason = serializers.CharField()
    open_until = serializers.DateTimeField()


class CompensationQuery(Shape):
    state = serializers.ChoiceField(Compensation.State.choices, required=False)


class CompensationShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField()
    amount = MoneyField()
    fee = MoneyField()
    reason = serializers.CharField()
    state = StateField(Compensation.State)
    hit_id = serializers.CharField(allow_null=True)
    assignment_id = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    paid_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why it waits or ended without a payment.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()


class CompensationDetailShape(CompensationShape):
    address = serializers.SerializerMethodField(help_text="Where the worker finds the HIT; empty before it is offered.")
    letter = serializers.SerializerMethodField(
        help_text="A text to send to the worker; empty when there is nothing to take up."
    )

    def get_address(self, row: Compensation) -> str:
        return compensating.task_address(row)

    def get_letter(self, row: Compensation) -> str:
        is_offered = row.state == Compensation.State.OFFERED and not compensating.is_over(row)
        return compensating.letter(row) if is_offered else ""


BONUSES = listing(
    "bonuses.list",
    "Every bonus of the project, with its state",
    tag=TAG,
    on=PROJECT,
    route="bonuses/",
    gives=BonusShape,
    filters=BonusQuery,
    rows=lambda project: project.bonuses.select_related(
        "assignment__hit", "assignment__stage", "worker", "order__created_by"
    ).defer("assignment__answer"),
)
listing(
    "bonus_files.list",
    "The files of bonuses that were sent in",
    tag=TAG,
    on=PROJECT,
    route="bonus-files/",
    gives=ListedBonusFileShape,
    rows=lambda project: project.bonus_files.all(),
)
reading(
    "bonus_files.show",
    "How far a file of bonuses is, its price or every fault, and its order",
    tag=TAG,
    on=BONUS_FILE,
    gives=BonusFileRowShape,
)
listing(
    "bonus_orders.list",
    "What was ordered: single bonuses and files",
    tag=TAG,
    on=PROJECT,
    route="bonus-orders/",
    gives=BonusOrderShape,
    rows=ORDER.rows,
)
reading("bonus_orders.show", "How far an order is", tag=TAG, on=ORDER, gives=BonusOrderDetailShape)
COMPENSATIONS = listing(
    "compensations.list",
    "Every compensation of the project, with its state",
    tag=TAG,
    on=PROJECT,
    route="compensations/",
    gives=CompensationShape,
    filters=CompensationQuery,
    rows=lambda project: project.compensations.select_related("created_by"),
)
reading(
    "compensations.show",
    "One compensation, and a text for its worker",
    tag=TAG,
    on=COMPENSATION,
    gives=CompensationDetailShape,
)
