"""The settings of a stage's task."""

from __future__ import annotations

from rest_framework import serializers

from hits.api.shapes.base import Shape
from hits.protocols.optional import Setting


class SettingShape(Shape):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField(help_text="text, html, lines, bool, number, choice or parts (an object of lists).")
    help = serializers.CharField()
    options = serializers.SerializerMethodField(help_text="What a choice can be.")

    def get_options(self, setting: Setting) -> list[str]:
        return [value for value, _ in setting.options]


class TaskShape(Shape):
    protocol = serializers.CharField()
    hit_title = serializers.CharField()
    hit_description = serializers.CharField()
    settings = serializers.DictField()
    frozen = serializers.BooleanField(help_text="Something is published: the task cannot change any more.")
    form = SettingShape(many=True, help_text="The settings that the page shows; empty where it shows none.")


class TaskChange(Shape):
    """What is not sent stays as it is."""

    hit_title = serializers.CharField(required=False, max_length=128)
    hit_description = serializers.CharField(required=False, max_length=2000)
    settings = serializers.DictField(required=False)
