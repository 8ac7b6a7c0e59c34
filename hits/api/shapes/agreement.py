"""How far the workers of a stage agree."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape


class AgreementShape(Shape):
    computation = serializers.CharField(help_text="The key with which `computation-runs/` starts it.")
    run = serializers.IntegerField(allow_null=True, help_text="The newest finished run; its results are the values.")
    going_on = serializers.IntegerField(allow_null=True, help_text="A run that waits or goes on.")
    finished_at = serializers.DateTimeField(allow_null=True)
    method = serializers.CharField(help_text="By which the values of the items were found.")
    answers = serializers.IntegerField(help_text="Answers that were there when the run began.")
    since = serializers.IntegerField(help_text="Answers that came since.")
    units = serializers.ListField(
        child=serializers.DictField(),
        help_text="Of each unit its level, its figures with 95 % intervals or why they are not defined, the confusion "
        "of its labels, the items that divide the workers, the workers who differ most, and what each method of "
        "aggregation makes of it, what it assumes, warnings where the answers contradict that, and which is "
        "recommended.",
    )
    texts = serializers.DictField(
        help_text="Of each unit the labels that are keys of choices, with their texts; without those that differ from "
        "item to item."
    )
