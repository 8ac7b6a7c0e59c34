"""Releases, their files and what was evaluated on them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.core.models.blobs import Blob
from hits.projects.models import Project


class Release(models.Model):
    """An immutable set of files with a manifest. The same content is the same release."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the manifest's bytes.")
    manifest = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, help_text="Its files are kept, and its splits count as released.")
    withdrawn_reason = models.TextField(blank=True)
    successor = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, help_text="Which release to use instead of a withdrawn one."
    )

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint("project", "number", name="release_number_once_a_project")]

    def __str__(self) -> str:
        return f"{self.project} release {self.number}"


class ReleaseFile(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=100)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("release", "name", name="file_name_once_a_release")]

    def __str__(self) -> str:
        return self.name


class ReleasedItem(models.Model):
    """In which split a release had an item: later releases keep it there. Rows are never changed but for the note."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="released_items")
    key = models.CharField(max_length=300)
    group = models.CharField(max_length=32, blank=True, help_text="The digest of its text; empty: not known.")
    split = models.CharField(max_length=20)
    note = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "group", "split"], name="released_item_once_a_split")
        ]

    def __str__(self) -> str:
        return f"{self.key} in {self.split}"


class EvaluatedSystem(models.Model):
    """What a system scored on one file of a release."""

    class Kind(models.TextChoices):
        BASELINE = "baseline", "Baseline"
        PREDICTIONS = "predictions", "Predictions"

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="systems")
    file = models.CharField(max_length=100, help_text="Which has the right answers.")
    split = models.CharField(max_length=20)
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=11, choices=Kind.choices)
    method = models.TextField(blank=True, help_text="Of a baseline: where it comes from.")
    seed = models.BigIntegerField(null=True, help_text="Of a baseline.")
    scores = models.JSONField(help_text="[{measure, division, part, n, value, low, high}]; see hits.stats.scores.")
    sums = models.BinaryField(help_text="Of the first measure: its two sums of each item, as float32.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["split", "-kind", "pk"]
        constraints = [models.UniqueConstraint("release", "file", "name", name="evaluated_system_once_a_file")]

    def __str__(self) -> str:
        return f"{self.name} on {self.file}"
