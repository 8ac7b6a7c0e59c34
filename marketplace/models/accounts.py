from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from marketplace.models.fields import MoneyField
from marketplace.rules import qualifications as rules
from marketplace.rules.ids import customer_id


class Requester(models.Model):
    """Who publishes and pays. Only marketplace.verbs.money changes `funds`, `held` and `charged`."""

    name = models.CharField(max_length=200)
    customer_id = models.CharField(max_length=64, unique=True, default=customer_id)
    funds = MoneyField(default=Decimal("0.00"))
    held = MoneyField(default=Decimal("0.00"))
    charged = MoneyField(default=Decimal("0.00"))
    # Kept by marketplace.verbs.events: whether there is an active webhook, without a query.
    webhook_active = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="requester_held_not_negative", condition=Q(held__gte=0)),
            models.CheckConstraint(name="requester_covers_holds", condition=Q(funds__gte=F("held") + F("charged"))),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def available(self) -> Decimal:
        return self.funds - self.held - self.charged


class AccessKey(models.Model):
    """A signing key. The secret is kept as it is: checking a SigV4 signature needs it."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="access_keys")
    access_key_id = models.CharField(max_length=128, unique=True)
    secret = models.CharField(max_length=128)
    label = models.CharField(max_length=100, blank=True, default="")
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # To the hour: a key that is used all day is not written down with every call.
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.access_key_id


class Worker(models.Model):
    """Who answers. The counters are kept by marketplace.verbs.

    `earned` is the sum of approved rewards and of bonuses, `paid` what the operator has paid out of it.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="worker")
    worker_id = models.CharField(max_length=64, unique=True, default=customer_id)
    country = models.CharField(max_length=2, blank=True)
    subdivision = models.CharField(max_length=2, blank=True)
    adult = models.BooleanField(default=False)
    masters = models.BooleanField(default=False)
    percent_approved_override = models.PositiveSmallIntegerField(null=True, blank=True)
    number_approved_override = models.PositiveIntegerField(null=True, blank=True)
    submitted_count = models.PositiveIntegerField(default=0)
    approved_count = models.PositiveIntegerField(default=0)
    rejected_count = models.PositiveIntegerField(default=0)
    earned = MoneyField(default=Decimal("0.00"))
    paid = MoneyField(default=Decimal("0.00"))
    # A suspended worker finishes what is in hand and is paid, but takes nothing new.
    suspended_at = models.DateTimeField(null=True, blank=True)
    unread_messages = models.PositiveIntegerField(default=0)
    # The e-mail address as it is compared, see marketplace.verbs.access: one address, one account.
    email_key = models.CharField(max_length=254, unique=True, null=True, blank=True)
    email_confirmed_at = models.DateTimeField(null=True, blank=True)
    # The link to a next e-mail address is valid while it holds this key; see marketplace.verbs.access.
    email_change_key = models.CharField(max_length=32, blank=True, default="", db_default="")
    wants_email = models.BooleanField(default=True)
    # Since then nothing here tells who the person was; the worker id goes on as a pseudonym.
    erased_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="worker_paid_within_earned", condition=Q(paid__gte=0) & Q(earned__gte=F("paid"))
            ),
            models.CheckConstraint(
                name="worker_percent_within_0_100",
                condition=Q(percent_approved_override__isnull=True) | Q(percent_approved_override__lte=100),
            ),
        ]

    def __str__(self) -> str:
        return self.worker_id

    @property
    def owed(self) -> Decimal:
        """Dollars earned and not yet paid out."""
        return self.earned - self.paid

    @property
    def waiting_count(self) -> int:
        """Answers that nobody has judged yet."""
        return self.submitted_count - self.approved_count - self.rejected_count

    @property
    def percent_approved(self) -> int:
        """Share of judged answers that were approved, rounded down; 100 until enough were submitted."""
        if self.percent_approved_override is not None:
            return self.percent_approved_override
        judged = self.approved_count + self.rejected_count
        if self.submitted_count < rules.PERCENT_COUNTS_FROM or not judged:
            return 100
        return 100 * self.approved_count // judged

    @property
    def number_approved(self) -> int:
        if self.number_approved_override is not None:
            return self.number_approved_override
        return self.approved_count

    def system_standing(self, type_id: str) -> rules.Standing:
        """The worker's standing in a system qualification, None when not held."""
        if type_id == rules.PERCENT_APPROVED:
            return self.percent_approved
        if type_id == rules.NUMBER_APPROVED:
            return self.number_approved
        if type_id == rules.LOCALE:
            return (self.country, self.subdivision) if self.country else None
        if type_id == rules.ADULT:
            return int(self.adult)
        return 1 if self.masters else None
