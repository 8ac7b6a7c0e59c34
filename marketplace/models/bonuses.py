from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester, Worker
from marketplace.models.assignments import Assignment
from marketplace.models.fields import MoneyField


class BonusPayment(models.Model):
    """Money beside the reward, paid at once. Rows are only ever added."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="bonus_payments")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="bonus_payments")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="bonus_payments")
    amount = MoneyField()
    # What the requester paid on top; the worker does not see it.
    fee = MoneyField()
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["worker", "created_at"], name="bonus_of_worker")]
        constraints = [models.CheckConstraint(name="bonus_above_zero", condition=Q(amount__gt=0) & Q(fee__gt=0))]

    def __str__(self) -> str:
        return f"{self.amount} for {self.assignment_id}"
