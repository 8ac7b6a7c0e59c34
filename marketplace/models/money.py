from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester
from marketplace.models.assignments import Assignment
from marketplace.models.fields import MoneyField
from marketplace.models.hits import Hit


class MoneyEntry(models.Model):
    """One movement of a requester's money; rows are only ever added.

    funds = deposits; held = holds - charges - releases; charged = charges + bonuses.
    """

    class Kind(models.TextChoices):
        DEPOSIT = "deposit"
        HOLD = "hold"
        CHARGE = "charge"
        RELEASE = "release"
        # Amount and fee of a bonus, which nothing was held for.
        BONUS = "bonus"

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="money_entries")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    amount = MoneyField()
    hit = models.ForeignKey(Hit, models.SET_NULL, null=True, related_name="money_entries")
    assignment = models.ForeignKey(Assignment, models.SET_NULL, null=True, related_name="money_entries")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["requester", "id"], name="money_entry_of_requester")]
        constraints = [models.CheckConstraint(name="money_entry_not_negative", condition=Q(amount__gte=0))]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"
