from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from marketplace.models.accounts import Requester, Worker
from marketplace.models.assignments import Assignment
from marketplace.models.hits import Hit


class Message(models.Model):
    """One text in a worker's inbox; without a sender it comes from the marketplace itself."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="messages")
    sender = models.ForeignKey(Requester, models.CASCADE, null=True, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["worker", "-id"], name="message_of_worker")]

    def __str__(self) -> str:
        return self.subject


class WorkerBlock(models.Model):
    """The worker neither sees nor gets this requester's HITs. The worker is not told."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="worker_blocks")
    # None for an id that nobody has.
    worker = models.ForeignKey(Worker, models.CASCADE, null=True, related_name="blocks")
    unknown_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="one_block_per_worker"),
            models.UniqueConstraint(
                fields=["requester", "unknown_id"], condition=~models.Q(unknown_id=""), name="one_block_per_unknown_id"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.requester_id} blocks {self.worker_id or self.unknown_id}"


class Concern(models.Model):
    """What a worker asks the operator to look at: a HIT that should not be here, or an unfair rejection.

    A dispute names the assignment; a report names it only when the worker held the HIT.
    """

    class Kind(models.TextChoices):
        REPORT = "report"
        DISPUTE = "dispute"

    class Reason(models.TextChoices):
        """Why a HIT is reported; a dispute has none."""

        PERSONAL = "personal", _("It asks for personal data")
        HARMFUL = "harmful", _("It shows or asks for something harmful or unlawful")
        BROKEN = "broken", _("It does not work")
        MISLEADING = "misleading", _("It is not what was described")
        UNPAID = "unpaid", _("It asks for more than is paid for")
        OTHER = "other", _("Something else")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    reason = models.CharField(max_length=10, choices=Reason.choices, blank=True)
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="concerns")
    hit = models.ForeignKey(Hit, models.CASCADE, related_name="concerns")
    assignment = models.ForeignKey(Assignment, models.CASCADE, null=True, blank=True, related_name="concerns")
    text = models.TextField(blank=True)
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "resolved_at", "id"], name="concern_open")]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(kind="dispute"), name="one_dispute_per_assignment"
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"], condition=Q(kind="report"), name="one_report_per_hit_and_worker"
            ),
            models.CheckConstraint(
                name="a_dispute_names_its_assignment", condition=~Q(kind="dispute") | Q(assignment__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.hit_id}"
