"""Bonuses and compensations."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxLengthValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.paging import PageQuery
from hits.api.shapes.base import AT_ONCE, MoneyField, Shape, StateField, UsernameField
from hits.formats.payments import LONGEST_REASON
from hits.models import Bonus, Compensation
from hits.models import BonusFile as BonusFileRow

# Of a file in a list of files.
LISTED_FAULTS = 10


class FaultShape(Shape):
    line = serializers.IntegerField(allow_null=True)
    place = serializers.CharField()
    message = serializers.CharField()


class AskedBonusShape(Shape):
    assignment_id = serializers.CharField(max_length=64)
    amount = serializers.CharField(max_length=20, help_text="Dollars and cents, such as 1.50.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The worker reads it.")
    worker_id = serializers.CharField(
        required=False, default="", max_length=64, help_text="Compared with the answer's worker when it is given."
    )


class AskedBonuses(Shape):
    """Either `bonuses` in JSON, or a CSV file (assignment_id, amount, reason, perhaps worker_id) as a form."""

    bonuses = AskedBonusShape(many=True, allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)])


class BonusFile(Shape):
    file = serializers.FileField(
        help_text="CSV in UTF-8 with a header row, at most 10,000 lines and, outside bonus-files/, 262,144 bytes."
    )


class BonusFileRowShape(Shape):
    """A large file: once it is `ready`, send `total` and a `confirmation` to order/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = StateField(BonusFileRow.State)
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
    def get_faults(self, row: BonusFileRow) -> list[dict[str, Any]]:
        return list(row.faults[:LISTED_FAULTS])


class PaymentConfirmation(Shape):
    total = MoneyField(help_text="What the quote said.")
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_.:-]{8,40}\Z",
        help_text="8 to 40 letters, digits and _.:- of your choice. Sent again, it gives the same payment.",
    )


class BonusOrderRequest(AskedBonuses, PaymentConfirmation):
    pass


class BonusFileOrderRequest(BonusFile, PaymentConfirmation):
    pass


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
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Bonuses by state.")


class BonusQuery(PageQuery):
    state = serializers.ChoiceField(Bonus.State.choices, required=False)
    order = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class BonusShape(Shape):
    id = serializers.IntegerField()
    order = serializers.IntegerField(source="order_id")
    assignment_id = serializers.CharField(source="assignment.assignment_id")
    worker_id = serializers.CharField(source="worker.worker_id")
    amount = MoneyField()
    fee = MoneyField()
    reason = serializers.CharField()
    state = StateField(Bonus.State)
    paid_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why it waits or was refused.")


class AskedCompensation(Shape):
    worker_id = serializers.CharField(max_length=64, help_text="At the marketplace; needs no answer here.")
    amount = serializers.CharField(max_length=20, help_text="Dollars and cents, such as 1.50.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The worker reads it.")


class CompensationRequest(AskedCompensation, PaymentConfirmation):
    pass


class CompensationQuoteShape(PaymentQuoteShape):
    worker_id = serializers.CharField()
    reason = serializers.CharField()
    open_until = serializers.DateTimeField()


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
    address = serializers.CharField(help_text="Where the worker finds the HIT; empty before it is offered.")
    letter = serializers.CharField(help_text="A text to send to the worker; empty when there is nothing to take up.")
