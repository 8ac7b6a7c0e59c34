"""What leads change by hand in an item before it goes out."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.computations import ComputationRun
from hits.models.files import Blob
from hits.models.projects import Item, Stage


class ChangeSet(models.Model):
    """Changes of many items that are shown, confirmed and undone together: a file of annotations, or a run anew."""

    class State(models.TextChoices):
        SHOWN = "shown", "To be confirmed"
        DONE = "done", "Done"
        UNDONE = "undone", "Undone"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="change_sets")
    state = models.CharField(max_length=6, choices=State.choices, default=State.SHOWN)
    name = models.CharField(max_length=200, help_text="Of the file; empty where a run made the changes.")
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")
    run = models.ForeignKey(ComputationRun, on_delete=models.CASCADE, null=True, related_name="+")
    effect = models.JSONField(
        default=dict, help_text="items, left_out by reason, before and after: sums of the changed items' figures."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"changes {self.pk} of {self.stage_id}"


class ItemChange(models.Model):
    """One change of an item's data: who, when, before and after. The newest one can be undone, then the one before."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="changes")
    before = models.JSONField()
    after = models.JSONField()
    together = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, null=True, related_name="changes")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"change {self.pk} of {self.item_id}"
