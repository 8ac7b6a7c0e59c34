"""Qualification tests that leads build, and the scores that workers got."""

from __future__ import annotations

import hashlib
import json

from django.conf import settings
from django.db import models

from hits.models.projects import Item, Project


class QualificationTest(models.Model):
    """Offered at the marketplace as a qualification that it grades by itself. It is edited only while it is a draft.

    The row is the intent of the calls: "offering" and "withdrawing" are written before the marketplace is asked.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OFFERING = "offering", "Being offered"
        OFFERED = "offered", "Offered"
        WITHDRAWING = "withdrawing", "Being withdrawn"
        WITHDRAWN = "withdrawn", "Withdrawn"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="qualification_tests")
    key = models.SlugField(max_length=60, help_text="Names the test in stages and recipes, such as reading-test.")
    title = models.CharField(max_length=80)
    description = models.TextField(help_text="Workers read it before they begin.")
    questions = models.JSONField(default=list, help_text="[{text, question, choices, right}, ...], right from 0.")
    drawn = models.ManyToManyField(
        Item, related_name="qualification_tests", help_text="The items whose questions it asks: no check questions."
    )
    pass_mark = models.PositiveSmallIntegerField(default=80, help_text="Percent of the questions.")
    minutes = models.PositiveSmallIntegerField(default=15)
    retry_days = models.PositiveSmallIntegerField(null=True, help_text="Days until another attempt; empty: never.")
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    qualification_type_id = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True, help_text="What the marketplace said last, when it was not yes.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    offered_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    scores_at = models.DateTimeField(null=True, help_text="As of when the scores were fetched.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("project", "key", name="test_key_once_a_project")]

    def __str__(self) -> str:
        return f"{self.key} of {self.project}"

    @property
    def remote_name(self) -> str:
        """The qualification's name at the marketplace: of this row alone, so that it is found again by it."""
        return f"{f'{self.title}: {self.project.name}'[:170]} ({self.project.namespace[:6]}-{self.pk})"

    @property
    def fingerprint(self) -> str:
        """Of everything that workers see and that grades them."""
        seen = [self.title, self.description, self.questions, self.pass_mark, self.minutes, self.retry_days]
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


class QualificationScore(models.Model):
    """A worker's value, as the marketplace held it when it was last asked."""

    test = models.ForeignKey(QualificationTest, on_delete=models.CASCADE, related_name="scores", db_index=False)
    worker_id = models.CharField(max_length=64, help_text="The marketplace's id; the worker may have no answer here.")
    value = models.IntegerField(help_text="Percent of the questions that were right.")
    granted_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("test", "worker_id", name="one_score_a_test_and_worker")]
        indexes = [models.Index(fields=["test", "-id"], name="score_by_test")]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"
