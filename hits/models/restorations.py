"""Restorations: the database was put back to an earlier moment, and the marketplace went on meanwhile."""

from __future__ import annotations

from django.db import models


class Restoration(models.Model):
    """Until it is reconciled no call is made to the marketplace: see `hits.domain.restorations`."""

    backup_at = models.DateTimeField(help_text="The moment of the backup: what was written later is lost here.")
    restored_at = models.DateTimeField(auto_now_add=True)
    reconciled_at = models.DateTimeField(null=True, help_text="When the two sides agreed; empty: not yet.")

    class Meta:
        indexes = [models.Index(fields=["id"], condition=models.Q(reconciled_at=None), name="restoration_open")]

    def __str__(self) -> str:
        return f"restored to {self.backup_at:%Y-%m-%d %H:%M:%S} UTC"


class ClosedHit(models.Model):
    """A HIT that `reconcile --close-unknown` closed, for its items were not here: see `hits.domain.closed_hits`."""

    project = models.ForeignKey("hits.Project", on_delete=models.CASCADE, related_name="closed_hits")
    hit_id = models.CharField(max_length=64, unique=True)
    annotation = models.CharField(max_length=255, help_text="What it asks about: see `hits.domain.hit_tokens`.")
    deleted = models.BooleanField(help_text="Nobody had answered, and it is gone.")
    closed_at = models.DateTimeField(auto_now_add=True)
    adopted_at = models.DateTimeField(null=True, help_text="When its items were here again, and it got its row.")

    class Meta:
        indexes = [
            models.Index(
                fields=["project"], condition=models.Q(adopted_at=None, deleted=False), name="closed_hit_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"closed {self.hit_id}"
