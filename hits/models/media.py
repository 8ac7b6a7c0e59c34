"""Pictures, sounds and videos of a project, which rows name in their columns."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from hits.models.files import Blob, Upload
from hits.models.projects import Project

LONGEST_NAME = 200


class MediaQuerySet(models.QuerySet["MediaFile"]):
    def ready(self) -> MediaQuerySet:
        """Those of uploads that are done. The others are being stored, or are what a crash left."""
        return self.filter(Q(upload=None) | Q(upload__state=Upload.State.DONE))


class MediaFile(models.Model):
    """`name` may have folders; `base` is its last part. Copies in cloned projects share the bytes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="media")
    name = models.CharField(max_length=LONGEST_NAME)
    base = models.CharField(max_length=LONGEST_NAME)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="media")
    content_type = models.CharField(max_length=40)
    width = models.PositiveIntegerField(default=0, help_text="Of a picture, in pixels; 0 where it is not known.")
    height = models.PositiveIntegerField(default=0)
    upload = models.ForeignKey(
        Upload, on_delete=models.SET_NULL, null=True, related_name="media_files", help_text="Null for a copy."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MediaQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint("project", "name", name="media_name_once_a_project")]
        indexes = [models.Index(fields=["project", "base"], name="media_by_base")]

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> str:
        """image, audio or video."""
        return self.content_type.partition("/")[0]
