from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from marketplace.models.accounts import Worker
from marketplace.models.fields import MoneyField
from marketplace.models.hits import Hit

# What an assignment pays, inside a query: as Assignment.reward.
REWARD = Coalesce("kept_reward", "hit__hit_type__reward")


class Assignment(models.Model):
    """One worker's hold on one HIT.

    `assignment_id` is used again for the next worker after a return: the key of an answer is
    (assignment_id, worker).
    """

    class Status(models.TextChoices):
        ACCEPTED = "Accepted"
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"
        RETURNED = "Returned"
        ABANDONED = "Abandoned"

    GIVEN_BACK = (Status.RETURNED, Status.ABANDONED)
    # What the requester gets to see.
    VISIBLE = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)

    assignment_id = models.CharField(max_length=64)
    hit = models.ForeignKey(Hit, models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="assignments")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)
    requester_feedback = models.TextField(blank=True)
    # Set when the HIT moved to another type: what was promised at accepting stays promised.
    kept_reward = MoneyField(null=True)  # type: ignore[misc]
    kept_fee = MoneyField(null=True)  # type: ignore[misc]

    class Meta:
        indexes = [
            models.Index(fields=["status", "deadline"], name="assignment_deadline"),
            models.Index(fields=["status", "auto_approval_at"], name="assignment_auto_approval"),
            models.Index(fields=["hit", "id"], name="assignment_of_hit"),
            # Without it SQLite walks all that the worker ever did, for each HIT of the group.
            models.Index(fields=["hit", "worker"], name="assignment_of_hit_and_worker"),
            models.Index(fields=["worker", "id"], name="assignment_of_worker"),
            models.Index(fields=["assignment_id"], name="assignment_by_id"),
            # What a worker has in hand and has given back is little beside what the worker ever answered.
            models.Index(fields=["worker", "deadline"], name="assignment_in_hand", condition=Q(status="Accepted")),
            models.Index(
                fields=["worker", "hit"],
                name="assignment_given_back",
                condition=Q(status__in=["Returned", "Abandoned"]),
            ),
            models.Index(fields=["worker", "submitted_at"], name="assignment_worker_submitted"),
            # Who answered today and how many an hour, read from the index alone.
            models.Index(fields=["submitted_at", "worker"], name="assignment_submitted"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=~Q(status__in=["Returned", "Abandoned"]),
                name="one_live_row_per_assignment_id",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=~Q(status__in=["Returned", "Abandoned"]),
                name="one_live_assignment_per_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} {self.status}"

    @property
    def reward(self) -> Decimal:
        """What this assignment pays. Reads the HIT's type."""
        return self.hit.hit_type.reward if self.kept_reward is None else self.kept_reward

    @property
    def cost(self) -> Decimal:
        """Reward and fee of this assignment. Reads the HIT's type."""
        return self.reward + (self.hit.fee if self.kept_fee is None else self.kept_fee)
