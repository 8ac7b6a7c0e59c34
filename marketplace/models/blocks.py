from django.db import models

from marketplace.models.accounts import Requester, Worker


class WorkerBlock(models.Model):
    """The worker neither sees nor gets this requester's HITs. The worker is not told."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="worker_blocks")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="one_block_per_worker")]

    def __str__(self) -> str:
        return f"{self.requester_id} blocks {self.worker_id}"
