"""Rules and their previews."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes.base import Shape, UsernameField


class RuleText(Shape):
    text = serializers.CharField(max_length=5000, trim_whitespace=False, help_text="The rule in lines.")


class NewRule(RuleText):
    note = serializers.CharField(max_length=200, required=False, default="", allow_blank=True, help_text="Why.")
    seen = serializers.IntegerField(min_value=1, help_text="The edition that you looked at; another one is refused.")


class SavedRule(Shape):
    edition = serializers.IntegerField()
    see = serializers.CharField(help_text="The address that shows how many items are left to judge.")


class RuleEditionShape(Shape):
    number = serializers.IntegerField()
    rule = serializers.DictField()
    note = serializers.CharField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField(allow_null=True, help_text="Null for the recipe's rule.")


class RuleShape(Shape):
    edition = serializers.IntegerField()
    rule = serializers.DictField(help_text="name, version, params.")
    text = serializers.CharField(help_text="Empty where the rule is not written in lines.")
    left_to_judge = serializers.IntegerField(help_text="Items that wait for a verdict by this rule.")
    units = serializers.DictField(help_text="What a rule can name: each unit with its values, null where many.")
    texts = serializers.DictField(
        help_text="Of each unit the values that are keys of choices, with their texts; without those that differ from "
        "item to item."
    )
    editions = RuleEditionShape(many=True, help_text="Newest first.")


class RuleFaultShape(Shape):
    line = serializers.IntegerField()
    column = serializers.IntegerField()
    message = serializers.CharField()


class EndingShape(Shape):
    outcome = serializers.CharField(help_text="`kept`, `dropped` or `open`.")
    word = serializers.CharField(help_text="The rule's own; may be empty.")


class RuleCountShape(Shape):
    conclusion = EndingShape(source="*")
    now = serializers.IntegerField()
    then = serializers.IntegerField()

    def to_representation(self, count: Any) -> dict[str, Any]:
        ending, now, then = count
        return {"conclusion": ending._asdict(), "now": now, "then": then}


class RulePartShape(Shape):
    word = serializers.CharField()
    now = serializers.IntegerField()
    then = serializers.IntegerField()

    def to_representation(self, count: Any) -> dict[str, Any]:
        return dict(zip(("word", "now", "then"), count, strict=True))


class RuleMoveShape(Shape):
    before = EndingShape()
    after = EndingShape()
    items = serializers.IntegerField()
    examples = serializers.SerializerMethodField(help_text="Ids of a few of them.")

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_examples(self, move: Any) -> list[int]:
        return [pk for pk, _ in move.examples]


class RulePreviewShape(Shape):
    items = serializers.IntegerField()
    moved = serializers.IntegerField(help_text="Items that another conclusion would hold for.")
    counts = RuleCountShape(many=True)
    moves = RuleMoveShape(many=True)
    parts = RulePartShape(many=True, help_text="Of groups, where the rule judges groups.")
    unread = serializers.IntegerField(help_text="Judged too long ago to be previewed: they stand as they are.")
    uncomputed = serializers.IntegerField(
        help_text="The rule looks at values that are not computed for their answers: they stand as they are."
    )
    unheard = RuleFaultShape(many=True, help_text="Units and values that no answer so far holds.")
