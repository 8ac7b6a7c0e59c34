"""How written answers came about: what their pages counted, and figures of their texts. Evidence for people alone.

It is kept apart from answers and labels, which rules, blocks, releases and exports read: none of them reads this.
"""

from __future__ import annotations

from django.db import models

from hits.models.answers import Assignment
from hits.models.projects import Stage
from hits.models.workers import Worker


class TextEvidence(models.Model):
    """Of one answer. The row is there from harvesting on; `read_at` says when its texts were read.

    `hits.flow.people.comparing_texts` alone writes what is behind `read_at`, and `Assignment.signs` with it.
    """

    class Noted(models.TextChoices):
        NOTHING = "nothing", "The page counted nothing"
        COUNTED = "counted", "Counted"
        UNREADABLE = "unreadable", "Not what a page posts"

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="text_evidence")
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="+", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="text_evidence", db_index=False)
    noted = models.CharField(max_length=10, choices=Noted.choices)
    counts = models.JSONField(
        default=dict, help_text="By form field: typed, pasted, pastes, deletions, pauses, seconds of typing."
    )
    read_at = models.DateTimeField(null=True)
    characters = models.PositiveIntegerField(default=0, help_text="Of the texts, outer space left out.")
    words = models.PositiveIntegerField(default=0)
    copied = models.FloatField(null=True, help_text="Share of its passages that stand in the item's text, 0 to 1.")
    phrases = models.JSONField(default=dict, help_text="Stock phrases in it, with how often each is there.")
    sentences = models.PositiveIntegerField(default=0)
    length_squares = models.PositiveIntegerField(default=0, help_text="Of its sentences' lengths in words, summed.")
    sketch = models.BinaryField(default=bytes, help_text="Of its passages: whole numbers of 8 bytes each, rising.")
    near = models.ForeignKey(
        Assignment, on_delete=models.SET_NULL, null=True, related_name="+", help_text="An answer with the same wording."
    )
    near_share = models.FloatField(null=True, help_text="Of the passages of both, those that both have, 0 to 1.")

    class Meta:
        indexes = [
            models.Index(fields=["stage", "assignment"], name="text_evidence_by_stage"),
            models.Index(fields=["stage", "worker"], name="text_evidence_by_worker"),
            models.Index(fields=["stage", "id"], condition=models.Q(read_at=None), name="text_evidence_unread"),
        ]

    def __str__(self) -> str:
        return f"of answer {self.assignment_id}"


class TextFigures(models.Model):
    """Of all written answers of a stage together: where each stands is looked up here, without reading the others."""

    stage = models.OneToOneField(Stage, on_delete=models.CASCADE, related_name="text_figures")
    answers = models.PositiveIntegerField(default=0, help_text="That were compared.")
    compared_at = models.DateTimeField(help_text="When that began.")
    figures = models.JSONField(default=dict, help_text="Quantiles by name, and how many stock phrases and words.")

    def __str__(self) -> str:
        return f"of stage {self.stage_id}"
