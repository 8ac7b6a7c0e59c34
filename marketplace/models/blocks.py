from django.db import models

from marketplace.models.accounts import Requester, Worker


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
