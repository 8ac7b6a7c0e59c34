"""Terms of a project: what its workers agree to before their first answer, in versions that are never changed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from hits.models.projects import Project

# Of the text of a version.
LONGEST = 20_000


class TermsQuerySet(models.QuerySet["Terms"]):
    def standing(self) -> TermsQuerySet:
        """Those that workers are asked to agree to now: one of a project at most."""
        return self.filter(ended_at=None)


class Terms(models.Model):
    """One version. It stands from `made_at` until another one is made or the project withdraws its terms."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="terms", db_index=False)
    version = models.PositiveIntegerField(help_text="Counts the versions of the project, from 1.")
    text = models.TextField(max_length=LONGEST, help_text="In Markdown.")
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True, help_text="Since when nobody is asked to agree to it; empty: it stands.")

    objects = TermsQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint("project", "version", name="terms_version_once_a_project"),
            models.UniqueConstraint("project", condition=models.Q(ended_at=None), name="one_version_of_terms_stands"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of the terms of {self.project_id}"
