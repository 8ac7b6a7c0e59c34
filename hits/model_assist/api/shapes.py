"""Shapes of models, their answers and suggestions."""

from __future__ import annotations

import math
from typing import Any

from django.core.validators import MaxLengthValidator
from rest_framework import serializers

from hits.api.paging import LARGEST_ID
from hits.api.shapes import MoneyField, Shape, UsernameField
from hits.model_assist.api.registered import CostField, OwnModel
from hits.model_assist.rules.model_leases import MOST_TIMES
from hits.model_assist.rules.suggestions import LONGEST_MODEL
from hits.model_assist.verbs import model_answering, routing

LONGEST_DAY = 86_400_000


# What a model sends and gets


class ItemsWanted(Shape):
    count = serializers.IntegerField(
        min_value=1, max_value=model_answering.MOST_ITEMS, default=model_answering.USUAL_ITEMS
    )
    lease_seconds = serializers.IntegerField(
        min_value=model_answering.SHORTEST_LEASE,
        max_value=model_answering.LONGEST_LEASE,
        default=model_answering.USUAL_LEASE,
        help_text="So long no other process of this model is given them.",
    )


class LentItem(Shape):
    id = serializers.IntegerField(source="item.pk")
    key = serializers.CharField(source="item.key")
    task = serializers.DictField(help_text="What the page of a worker shows, as data.")


class LeasedItem(LentItem):
    leased_until = serializers.DateTimeField(source="until")


# What of a stage the model was given and has not answered.
class UnansweredShape(Shape):
    leased = serializers.IntegerField(help_text="Items that this model has now and did not answer yet.")
    next_free_at = serializers.DateTimeField(
        allow_null=True, help_text="When the first of these is given again; null: none of them will be."
    )
    not_given_again = serializers.IntegerField(
        help_text=f"Items that it was given {MOST_TIMES} times and did not answer, also those that it has now."
    )


class LeasedItems(UnansweredShape):
    items = LeasedItem(many=True, help_text="Empty: none is free at this moment.")


class AnswerField(Shape):
    name = serializers.CharField()
    kind = serializers.CharField(help_text="`one`, `several`, `number`, `text` or `line`.")
    options = serializers.ListField(child=serializers.CharField())
    required = serializers.BooleanField()  # type: ignore[assignment]


class StageForModel(Shape):
    key = serializers.SlugField(source="stage.key")
    title = serializers.CharField(source="stage.title")
    protocol = serializers.CharField(source="stage.protocol")
    units = serializers.DictField(
        child=serializers.CharField(), help_text="What an answer says, with how its values are compared."
    )
    fields = AnswerField(many=True, help_text="Those that the page of a worker posts.")  # type: ignore[assignment]
    example = LentItem(allow_null=True)


class AskedStage(UnansweredShape):
    key = serializers.SlugField()
    title = serializers.CharField()
    protocol = serializers.CharField()
    items = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Answers of this model.")


class ModelHome(Shape):
    project = serializers.SlugField()
    model = OwnModel()
    stages = AskedStage(many=True)


class GivenAnswer(Shape):
    item = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, help_text="The `id` of an item that was taken.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        help_text="Names to texts, as the page of a worker posts them.",
    )
    confidence = serializers.FloatField(
        min_value=0, max_value=1, allow_null=True, default=None, help_text="0 to 1; null: not stated."
    )
    milliseconds = serializers.IntegerField(min_value=0, max_value=LONGEST_DAY, allow_null=True, default=None)
    cost = CostField(default=None, help_text="Dollars; null: the model's own cost per answer.")

    def validate_fields(self, value: dict[str, str]) -> dict[str, str]:
        if len(value) > model_answering.MOST_FIELDS:
            raise serializers.ValidationError(f"At most {model_answering.MOST_FIELDS} fields are taken.")
        if sum(len(name) + len(text) for name, text in value.items()) > model_answering.LONGEST_FIELDS:
            raise serializers.ValidationError(f"At most {model_answering.LONGEST_FIELDS:,} characters are taken.")
        return value

    def validate_confidence(self, value: float | None) -> float | None:
        if value is not None and not math.isfinite(value):
            raise serializers.ValidationError("Write a number from 0 to 1, or null.")
        return value


class GivenAnswers(Shape):
    answers = GivenAnswer(
        many=True,
        allow_empty=False,
        max_length=model_answering.MOST_ITEMS,  # type: ignore[call-arg]
    )


class StoredAnswers(Shape):
    new = serializers.IntegerField()
    unchanged = serializers.IntegerField(help_text="The model gave these before, with the same content.")


# What leads see and say


class ObservedShare(Shape):
    count = serializers.IntegerField()
    of = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True, help_text="0 to 1; null without an observation.")
    low = serializers.FloatField(help_text="The 95 % interval.")
    high = serializers.FloatField()


class LineShape(Shape):
    name = serializers.CharField(help_text="`People`, or the model with its version.")
    model = serializers.IntegerField(source="model.pk", default=None, allow_null=True)
    answers = serializers.IntegerField()
    gold = ObservedShare(help_text="Labels that match a known answer.")
    agreement = ObservedShare(help_text="Answers that say what people say; of people, what the others say.")
    confidence = serializers.FloatField(allow_null=True, help_text="The mean that the model states.")
    seconds = serializers.FloatField(allow_null=True, help_text="Of an answer: people's median, a model's mean.")
    minutes = serializers.FloatField(allow_null=True)
    cost = CostField(help_text="Dollars, in all.", max_digits=20, max_value=None)
    cost_per_answer = CostField(help_text="Dollars.", max_digits=20, max_value=None)


class EstimateShape(Shape):
    value = serializers.FloatField()
    low = serializers.FloatField(help_text="The interval holds it with 95 % at least.")
    high = serializers.FloatField()


class AuditShape(Shape):
    differ = ObservedShare(help_text="Of the audited items that people decided: the models say another value.")
    people_wrong = ObservedShare(help_text="Of the items with a known answer that people decided: people are wrong.")
    estimate = EstimateShape(allow_null=True, help_text="The models' error by these two; null without known answers.")
    gold = ObservedShare(help_text="Of the decided and audited items with a known answer: the models are wrong.")
    expected = serializers.FloatField(allow_null=True, help_text="1 less the mean confidence of the models.")
    waiting = serializers.IntegerField(help_text="Audited items that people have not decided.")
    tied = serializers.IntegerField(help_text="Audited items about which people are tied.")


class RoutingShape(Shape):
    id = serializers.IntegerField()
    models = serializers.SerializerMethodField(help_text="Ids.")
    least = serializers.IntegerField(help_text="So many of the models say the same.")
    confidence = serializers.FloatField()
    audit_share = serializers.FloatField()
    decided = serializers.IntegerField(help_text="Items that the models decided, when it was made.")
    audited = serializers.IntegerField()
    saved = MoneyField(help_text="What publishing the decided items would have cost then.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True, help_text="Its items were sent to people after all.")

    def get_models(self, row: Any) -> list[int]:
        return [model.pk for model in row.annotators.all()]


class PeopleAndModels(Shape):
    lines = LineShape(many=True)
    compared_items = serializers.IntegerField(source="items")
    limited = serializers.BooleanField(help_text="There are more: the newest were compared.")
    decided_by_models = serializers.IntegerField(help_text="Items whose standing verdict is that of models.")
    is_deciding = serializers.BooleanField(
        help_text="Verdicts of items that were just left to models are still to be written: no figure has them yet."
    )
    audit = AuditShape(allow_null=True, help_text="Of all routings that stand; null where there is none.")


class ConditionShape(Shape):
    models = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        validators=[MaxLengthValidator(routing.MOST_MODELS)],
        help_text="Ids of models of the project, also of ones that have ended.",
    )
    least = serializers.IntegerField(min_value=1, max_value=routing.MOST_MODELS)
    confidence = serializers.FloatField(default=routing.USUAL_CONFIDENCE)
    audit_share = serializers.FloatField(default=routing.USUAL_AUDIT)

    def condition(self) -> routing.Condition:
        given = self.validated_data
        return routing.Condition(
            tuple(dict.fromkeys(given["models"])), given["least"], given["confidence"], given["audit_share"]
        )


class NewRouting(ConditionShape):
    decided = serializers.IntegerField(min_value=1, help_text="As the preview said.")
    saved = MoneyField(help_text="As the preview said.")


class RoutingPreview(Shape):
    waiting = serializers.IntegerField(help_text="Items that could be published.")
    answered = serializers.IntegerField(help_text="Of these, enough of the models answered so many.")
    decided = serializers.IntegerField(help_text="The models would decide so many.")
    audited = serializers.IntegerField(help_text="On so many they agree too, and people check them.")
    to_people = serializers.IntegerField(help_text="The audited ones are among them.")
    saved = MoneyField()
    expected_error = serializers.FloatField(allow_null=True, help_text="1 less the mean confidence of the models.")


class UndoneRouting(Shape):
    returned = serializers.IntegerField(help_text="Items that go to people now.")
    used = serializers.IntegerField(help_text="Items that stay decided, because later items were made of them.")


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
