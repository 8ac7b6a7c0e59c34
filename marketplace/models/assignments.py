from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Worker
from marketplace.models.hits import Hit


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

    class Meta:
        indexes = [
            models.Index(fields=["status", "deadline"], name="assignment_deadline"),
            models.Index(fields=["status", "auto_approval_at"], name="assignment_auto_approval"),
            models.Index(fields=["hit", "id"], name="assignment_of_hit"),
            # Without it SQLite walks all that the worker ever did, for each HIT of the group.
            models.Index(fields=["hit", "worker"], name="assignment_of_hit_and_worker"),
            models.Index(fields=["worker", "id"], name="assignment_of_worker"),
            models.Index(fields=["assignment_id"], name="assignment_by_id"),
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
