"""Suggestions: what a model proposes for fields of an item, and what became of each in each answer."""

from __future__ import annotations

from django.db import models

from hits.models.answers import Assignment
from hits.models.projects import Item, Stage


class Suggestion(models.Model):
    """The value that a model proposes for one field of an item. It changes only until the item is published."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="suggestions", db_index=False)
    field = models.CharField(max_length=60, help_text="As the protocol calls it, such as choice.")
    value = models.JSONField(help_text="As the protocol keeps it; see SuggestedProtocol.")
    score = models.FloatField(null=True, help_text="How sure the model is, 0 to 1; empty where it does not say.")
    model = models.CharField(max_length=120, blank=True, help_text="Its name, perhaps with a version.")

    class Meta:
        constraints = [
            models.UniqueConstraint("item", "field", name="suggestion_once_a_field"),
            models.CheckConstraint(
                condition=models.Q(score=None) | models.Q(score__gte=0, score__lte=1), name="suggestion_score_is_share"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.field}={self.value} for {self.item_id}"


class SuggestedAnswer(models.Model):
    """One answer to an item with a suggestion, whether or not its page showed that.

    Written when the answer is fetched: the server computes once more what the page showed. `agrees` and `right` are
    there once the answer is scored.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="suggested_answers", db_index=False)
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="suggested_answers", db_index=False
    )
    suggestion = models.ForeignKey(Suggestion, on_delete=models.CASCADE, related_name="answers")
    shown = models.BooleanField(help_text="The worker's page showed it.")
    agrees = models.BooleanField(
        null=True,
        help_text="The answer says what it says; empty before scoring, and where it says nothing of the field.",
    )
    right = models.BooleanField(null=True, help_text="It is the known answer; empty where none is known.")

    class Meta:
        constraints = [models.UniqueConstraint("assignment", "suggestion", name="suggestion_once_an_answer")]
        indexes = [models.Index(fields=["stage", "agrees"], name="suggested_by_stage")]

    def __str__(self) -> str:
        return f"{self.suggestion_id} in {self.assignment_id}"
