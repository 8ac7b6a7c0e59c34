"""The rules that a stage has had: a verdict names the edition that made it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.models.projects import Stage


class RuleEdition(models.Model):
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="rule_editions")
    number = models.PositiveIntegerField()
    rule = models.JSONField(help_text="name, version, params.")
    note = models.CharField(max_length=200, blank=True, help_text="Why the lead changed it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint("stage", "number", name="rule_edition_once_a_stage")]

    def __str__(self) -> str:
        return f"rule {self.number} of {self.stage_id}"
