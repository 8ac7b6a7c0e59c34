"""What leads change by hand in an item before it goes out."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.projects import Item


class ItemChange(models.Model):
    """One change of an item's data: who, when, before and after. The newest one can be undone, then the one before."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="changes")
    before = models.JSONField()
    after = models.JSONField()
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"change {self.pk} of {self.item_id}"
