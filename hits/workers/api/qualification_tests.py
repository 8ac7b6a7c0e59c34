"""Qualification tests: build, offer, withdraw, results, and which stages require them."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from hits import tasks
from hits.api.base import ProjectView, QuotedBy, StageView, Started, operation, started
from hits.api.paging import PageQuery, page, page_of, sent
from hits.api.shapes import Shape, StateField, UsernameField
from hits.core.jobs import queue
from hits.formats.inputs.qualification_test import MOST_QUESTIONS, Details
from hits.models import Project, QualificationTest
from hits.stages.api.shapes import StageShape
from hits.workers.verbs import qualification_tests

TAG = "Qualification tests"


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
        return [stage.key for stage in qualification_tests.requiring(row)]


class Confirmed(Shape):
    fingerprint = serializers.CharField(help_text="What the test said.")


class DrawShape(Shape):
    count = serializers.IntegerField(min_value=1, max_value=MOST_QUESTIONS)
    stage = serializers.CharField(required=False, default="", help_text="Key of a stage; all stages by default.")


class ScoreShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField()
    value = serializers.IntegerField(help_text="Percent of the questions that were right.")
    passed = serializers.SerializerMethodField()
    granted_at = serializers.DateTimeField()

    def get_passed(self, row: Any) -> bool:
        return bool(row.value >= row.test.pass_mark)


# `self.test` is a test of the caller's own project.
class TestView(ProjectView):
    test: QualificationTest

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.test = _found(self.project, kwargs["test"])

    def shown(self, code: int = 200) -> Response:
        self.test.refresh_from_db()
        return Response(TestShape(self.test).data, status=code)


def _found(project: Project, key: str) -> QualificationTest:
    return get_object_or_404(project.qualification_tests.select_related("created_by", "project"), key=key)


class Tests(ProjectView):
    @operation(
        "qualification_tests_list",
        "The project's qualification tests",
        tag=TAG,
        query=PageQuery,
        answer=page_of(TestShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.qualification_tests.select_related("created_by", "project"), TestShape)

    @operation(
        "qualification_tests_create",
        "Make a draft, which workers do not see. Every fault is named at once",
        tag=TAG,
        takes=NewTest,
        answer=TestShape,
        code=201,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, NewTest)
        questions = _questions(wanted.pop("questions"))
        row = qualification_tests.create(self.project, Details(**wanted), self.user, questions)
        return Response(TestShape(row).data, status=status.HTTP_201_CREATED)


def _questions(given: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in given]


class Test(TestView):
    @operation("qualification_tests_show", "One test", tag=TAG, answer=TestShape, refuses=[404])
    def get(self, request: Request, **address: str) -> Response:
        return self.shown()

    @operation(
        "qualification_tests_change",
        "Change a draft; what was offered can no longer be changed",
        tag=TAG,
        takes=TestChange,
        answer=TestShape,
        refuses=[404, 409],
    )
    def patch(self, request: Request, **address: str) -> Response:
        changes = sent(request, TestChange)
        questions = _questions(changes.pop("questions")) if "questions" in changes else None
        names = ("key", "title", "description", "pass_mark", "minutes", "retry_days")
        details = Details(**{**{name: getattr(self.test, name) for name in names}, **changes})
        qualification_tests.change(self.test, details, self.user, questions)
        return self.shown()

    @operation(
        "qualification_tests_remove",
        "Remove a draft that no stage requires",
        tag=TAG,
        code=204,
        refuses=[404, 409],
    )
    def delete(self, request: Request, **address: str) -> Response:
        qualification_tests.remove(self.test, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Draw(TestView):
    heavy = frozenset({"POST"})

    @operation(
        "qualification_tests_draw",
        "Put questions drawn from items with gold answers in the place of the draft's; the same draw each time",
        tag=TAG,
        takes=DrawShape,
        answer=TestShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, DrawShape)
        qualification_tests.replace_by_known(self.test, given["count"], self.user, given["stage"])
        return self.shown()


class Offer(TestView):
    @operation(
        "qualification_tests_offer",
        "Let workers see and take the test; from then on it cannot be changed. Offering twice is once",
        tag=TAG,
        takes=Confirmed,
        answer=TestShape,
        code=202,
        refuses=[404, 409],
        quote=QuotedBy("qualification_tests_show", gives=("fingerprint",)),
    )
    def post(self, request: Request, **address: str) -> Response:
        qualification_tests.offer(self.test, sent(request, Confirmed)["fingerprint"], self.user)
        queue.start(tasks.finish_tests, self.project.pk)
        return self.shown(status.HTTP_202_ACCEPTED)


class Withdraw(TestView):
    @operation(
        "qualification_tests_withdraw",
        "Let no more workers take the test; who passed keeps it",
        tag=TAG,
        answer=TestShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        qualification_tests.withdraw(self.test, self.user)
        queue.start(tasks.finish_tests, self.project.pk)
        return self.shown(status.HTTP_202_ACCEPTED)


class Results(TestView):
    @operation(
        "qualification_tests_results",
        "The workers' scores as they were last fetched",
        tag=TAG,
        query=PageQuery,
        answer=page_of(ScoreShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.test.scores.select_related("test"), ScoreShape)


class FetchResults(TestView):
    heavy = frozenset({"POST"})

    @operation(
        "qualification_tests_fetch",
        "Read the workers' scores from the marketplace",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        queue.start(tasks.fetch_scores, self.test.pk)
        see = reverse("api:qualification-test-results", [self.project.slug, self.test.key], request=request)
        return started("The scores are being fetched.", str(see))


class RequiredTest(StageView):
    @operation(
        "required_tests_add",
        "Let in only workers who passed the test; not after the stage was published",
        tag=TAG,
        answer=StageShape,
        refuses=[404, 409],
    )
    def put(self, request: Request, test: str, **address: str) -> Response:
        qualification_tests.require(self.stage, _found(self.project, test), self.user)
        return Response(StageShape(self.stage).data)

    @operation(
        "required_tests_remove",
        "Let workers in whether or not they passed the test; not after the stage was published",
        tag=TAG,
        answer=StageShape,
        refuses=[404, 409],
    )
    def delete(self, request: Request, test: str, **address: str) -> Response:
        qualification_tests.drop_requirement(self.stage, _found(self.project, test), self.user)
        return Response(StageShape(self.stage).data)
