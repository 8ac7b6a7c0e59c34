"""Qualification tests and their scores, as the API and the pages read them, and what their verbs take."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes import Shape, StateField, UsernameField
from hits.core.lists import listing, reading
from hits.core.targets import PROJECT, Target
from hits.formats.inputs.qualification_test import MOST_QUESTIONS
from hits.models import QualificationTest
from hits.workers.rules.project_qualifications import requiring

TAG = "Qualification tests"
TEST = Target(
    "test",
    QualificationTest,
    "qualification-tests/<slug:test>/",
    lambda project: project.qualification_tests.select_related("created_by", "project"),
    columns={"test": "key"},
)


class QuestionShape(Shape):
    text = serializers.CharField(required=False, allow_blank=True, default="", help_text="A passage to read first.")
    question = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField(), help_text="2 to 10, no two the same.")
    right = serializers.IntegerField(help_text="Index of the right choice, from 0.")


class TestChange(Shape):
    """What is not sent stays as it is."""

    title = serializers.CharField(required=False)
    description = serializers.CharField(required=False, help_text="Workers read it before they begin.")
    questions = QuestionShape(many=True, required=False)
    pass_mark = serializers.IntegerField(required=False, help_text="Percent of the questions.")
    minutes = serializers.IntegerField(required=False)
    retry_days = serializers.IntegerField(
        required=False, allow_null=True, help_text="Days until another attempt; null: one attempt only."
    )


class NewTest(TestChange):
    key = serializers.CharField(help_text="Lower-case words joined by hyphens, such as `reading-test`.")
    title = serializers.CharField()
    description = serializers.CharField(help_text="Workers read it before they begin.")
    questions = QuestionShape(many=True, required=False, default=list)
    pass_mark = serializers.IntegerField(default=80, help_text="Percent of the questions.")
    minutes = serializers.IntegerField(default=15)
    retry_days = serializers.IntegerField(
        default=None, allow_null=True, help_text="Days until another attempt; null: one attempt only."
    )


class TestShape(Shape):
    id = serializers.IntegerField()
    key = serializers.CharField(help_text="Names the test in addresses, stages and recipes.")
    title = serializers.CharField()
    description = serializers.CharField()
    questions = QuestionShape(many=True)
    pass_mark = serializers.IntegerField()
    minutes = serializers.IntegerField()
    retry_days = serializers.IntegerField(allow_null=True)
    state = StateField(QualificationTest.State)
    fingerprint = serializers.CharField(help_text="Of what workers see; send it to offer/ to confirm this very test.")
    qualification_type_id = serializers.CharField()
    error = serializers.CharField(help_text="What the marketplace said last, when it was not yes.")
    required_by = serializers.SerializerMethodField(help_text="Keys of the stages that require it.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    offered_at = serializers.DateTimeField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_required_by(self, row: QualificationTest) -> list[str]:
        return [stage.key for stage in requiring(row)]


class Confirmed(Shape):
    fingerprint = serializers.CharField(help_text="What the test said.")


def _stages(test: QualificationTest, user: Any) -> list[tuple[str, str]]:
    return [("", "all stages"), *test.project.stages.order_by("position").values_list("key", "title")]


class DrawShape(Shape):
    count = serializers.IntegerField(
        min_value=1, max_value=MOST_QUESTIONS, default=10, label="Questions", style={"inputmode": "numeric"}
    )
    stage = serializers.SlugField(
        required=False,
        default="",
        allow_blank=True,
        label="From the items of",
        help_text="Key of a stage; all stages by default.",
        style={"choices": _stages},
    )


class ScoreShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField()
    value = serializers.IntegerField(help_text="Percent of the questions that were right.")
    passed = serializers.SerializerMethodField()
    granted_at = serializers.DateTimeField()

    def get_passed(self, row: Any) -> bool:
        return bool(row.value >= row.test.pass_mark)


listing(
    "qualification_tests.list",
    "The project's qualification tests",
    tag=TAG,
    on=PROJECT,
    route="qualification-tests/",
    gives=TestShape,
    rows=TEST.rows,
)
reading("qualification_tests.show", "One test", tag=TAG, on=TEST, gives=TestShape)
listing(
    "qualification_tests.results",
    "The workers' scores as they were last fetched",
    tag=TAG,
    on=TEST,
    route="results/",
    gives=ScoreShape,
    rows=lambda test: test.scores.select_related("test"),
)
