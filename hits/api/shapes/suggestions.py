"""Suggestions of a model, what became of them, and priorities."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.domain.suggestions import LONGEST_MODEL

# Rows of one request. A file takes more of them.
MOST_SENT = 5000


class SuggestionShape(Shape):
    field = serializers.CharField(help_text="As the task calls it, such as choice.")
    value = serializers.JSONField(help_text="As an answer says it: of a choice its id, of several a list of ids.")
    score = serializers.FloatField(allow_null=True, help_text="How sure the model is, 0 to 1.")
    model = serializers.CharField()


class GivenSuggestionShape(Shape):
    item = serializers.CharField(max_length=300, help_text="The item's key.")
    field = serializers.CharField(max_length=200, help_text="What is suggested, such as choice.")
    value = serializers.JSONField(help_text="As a gold answer is written, or a list or number as JSON.")
    score = serializers.FloatField(required=False, default=None, allow_null=True, help_text="0 to 1.")
    model = serializers.CharField(
        required=False, default="", allow_blank=True, help_text=f"Its name, at most {LONGEST_MODEL} characters."
    )


class GivenSuggestions(Shape):
    """All of them are taken, or none. One for a field that has one takes its place."""

    suggestions = GivenSuggestionShape(many=True, allow_empty=False, max_length=MOST_SENT)  # type: ignore[call-arg]


class SuggestedShape(Shape):
    new = serializers.IntegerField()
    replaced = serializers.IntegerField(help_text="Took the place of an earlier one for the same field.")


class ArmShape(Shape):
    same = serializers.IntegerField(help_text="Answers that say what the suggestion says.")
    of = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)


class IntervalShape(Shape):
    """95 %."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class OverWorkersShape(Shape):
    workers = serializers.IntegerField()
    difference = IntervalShape()
    followed = IntervalShape(allow_null=True)


class AnchoringLineShape(Shape):
    suggestions = serializers.CharField(help_text="`all`, or those that are `right` or `wrong` beside a gold answer.")
    shown = ArmShape()
    hidden = ArmShape()
    difference = serializers.FloatField(allow_null=True, help_text="The share among the shown less the other one.")
    difference_interval = IntervalShape(allow_null=True, help_text="Newcombe's, of these workers and items.")
    followed = serializers.FloatField(
        allow_null=True,
        help_text="Of the answers that would disagree with a suggestion out of sight, the share that agrees since it "
        "is in sight.",
    )
    followed_interval = IntervalShape(allow_null=True)
    over_workers = OverWorkersShape(allow_null=True, help_text="The intervals if other workers had answered.")
    why = serializers.CharField(help_text="Why a figure is missing; empty where none is.")


class FieldAnchoringShape(Shape):
    field = serializers.CharField()
    lines = AnchoringLineShape(many=True)


class AnchoringShape(Shape):
    suggestions = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items with a suggestion.")
    answers = serializers.IntegerField(help_text="To a suggestion, whether or not they count.")
    counted = serializers.IntegerField(help_text="Of those, compared.")
    fields = FieldAnchoringShape(many=True)  # type: ignore[assignment]


class GivenPriorityShape(Shape):
    item = serializers.CharField(max_length=300, help_text="The item's key.")
    priority = serializers.FloatField(allow_null=True, help_text="A higher one is published first; null: none.")


class GivenPriorities(Shape):
    """All of them are taken, or none. Items that are not named keep theirs."""

    priorities = GivenPriorityShape(many=True, allow_empty=False, max_length=MOST_SENT)  # type: ignore[call-arg]


class PrioritizedShape(Shape):
    changed = serializers.IntegerField(help_text="Items that have another priority now.")
