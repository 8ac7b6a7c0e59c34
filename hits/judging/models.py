"""Steps over a whole stage that take no crowd: their runs and what each concluded about every item."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.core.models.blobs import Blob
from hits.items.models import Item
from hits.projects.models import Project


class ComputationRun(models.Model):
    """One run. It goes on from its checkpoint after a crash; its results appear all at once when it is done.

    Rows of results are written while it runs, and nobody reads them before. A run that was stopped or failed keeps
    those that belong to its checkpoint until a newer run of the computation begins.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        STOPPED = "stopped", "Stopped"
        FAILED = "failed", "Failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="computation_runs")
    key = models.SlugField(max_length=60, help_text="Which of the recipe's computations.")
    params = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    log = models.JSONField(default=list, help_text="What the computation noted on its way, in order.")
    summary = models.JSONField(
        null=True, help_text="What of its log is read of many runs together; the computation writes it."
    )
    checkpoint = models.JSONField(null=True)
    kept = models.PositiveBigIntegerField(
        default=0, help_text="The last row of results that belongs to the checkpoint; later ones are made again."
    )
    file = models.ForeignKey(
        Blob, on_delete=models.PROTECT, null=True, help_text="The answers of a model that ran elsewhere."
    )
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How often it began since its last new checkpoint."
    )
    items = models.PositiveIntegerField(default=0, help_text="Items that it concluded something about.")
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "project", "key", condition=models.Q(state__in=["queued", "running"]), name="one_run_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.get_state_display()}"

    @property
    def concluded(self) -> models.QuerySet[ComputationResult]:
        """The results, once it is done."""
        return self.results.all() if self.state == self.State.DONE else self.results.none()


class ComputationResult(models.Model):
    run = models.ForeignKey(ComputationRun, on_delete=models.CASCADE, related_name="results", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="results")
    data = models.JSONField()
    confidence = models.FloatField(
        null=True, help_text="Of a stage's agreement: how sure the value is that is least sure, 0..1; lists go by it."
    )

    class Meta:
        constraints = [models.UniqueConstraint("run", "item", name="one_result_a_run_and_item")]
        indexes = [
            models.Index(
                fields=["run", "confidence", "item"],
                condition=models.Q(confidence__isnull=False),
                name="result_by_confidence",
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.item_id}"
