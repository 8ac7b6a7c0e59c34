from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester, Worker
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


class OperatorAction(models.Model):
    """What an operator changed, and when; rows are only ever added.

    `token` comes from the form that asked for it: a form that is sent twice acts once. `about` is a
    sentence without personal data, because it outlives the people in it.
    """

    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    operator_name = models.CharField(max_length=150)
    about = models.CharField(max_length=500)
    requester = models.ForeignKey(Requester, models.SET_NULL, null=True, related_name="operator_actions")
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, related_name="operator_actions")
    token = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["token"], condition=~Q(token=""), name="one_operator_action_per_token")
        ]

    def __str__(self) -> str:
        return f"{self.operator_name}: {self.about}"


class Payout(models.Model):
    """A payout run. A draft holds the amounts to be shown and changes nothing; paid, it is never changed again.

    A run that `reverses` another takes amounts back, with a reason: its lines are negative.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        PAID = "paid"

    state = models.CharField(max_length=5, choices=State.choices, default=State.DRAFT)
    workers = models.PositiveIntegerField()
    total = MoneyField()
    # What the draft was made for, in words: a minimum amount, a search.
    scope = models.CharField(max_length=200)
    reverses = models.ForeignKey("self", models.PROTECT, null=True, related_name="reversals")
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150)
    paid_at = models.DateTimeField(null=True)
    paid_by = models.CharField(max_length=150, blank=True)

    def __str__(self) -> str:
        return f"Run {self.pk}, {self.state}"


class PayoutLine(models.Model):
    """One worker's amount in a run. Worker.paid is the sum of the worker's lines in paid runs."""

    payout = models.ForeignKey(Payout, models.CASCADE, related_name="lines")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payout_lines")
    amount = MoneyField()
    # One to one: an amount is taken back at most once.
    undoes = models.OneToOneField("self", models.PROTECT, null=True, related_name="undone_by")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["payout", "worker"], name="one_payout_line_per_worker"),
            models.CheckConstraint(
                name="payout_line_sign",
                condition=Q(undoes__isnull=True, amount__gt=0) | Q(undoes__isnull=False, amount__lt=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} {self.amount}"


class Heartbeat(models.Model):
    """When a program was last known to run."""

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} {self.at:%H:%M:%S}"
