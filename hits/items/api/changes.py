"""What the answers of a stage change in its items, and taking such a change back."""

from __future__ import annotations

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.api.paging import PageQuery, asked, page, page_of
from hits.api.shapes import Shape, UsernameField
from hits.items.verbs import undoing_changes
from hits.models import Label

TAG = "Changes"
_TEXTS = serializers.DictField(child=serializers.CharField())


class ChangeQuery(PageQuery):
    action = serializers.CharField(required=False, max_length=40, help_text="What was done, such as `delete`.")
    taken_back = serializers.BooleanField(required=False, allow_null=True, default=None)


class ChangeShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="item_id")
    key = serializers.CharField(source="item.key", help_text="The item's key.")
    document = serializers.CharField(source="item.document.key")
    unit = serializers.CharField(help_text="What of the item it is about.")
    action = serializers.CharField(source="value.action")
    reason = serializers.SerializerMethodField(help_text="Why, in words; may be empty.")
    before = serializers.SerializerMethodField(help_text="The texts before, by what they are called.")
    after = serializers.SerializerMethodField(help_text="The texts after; null where it was deleted.")
    worker_id = serializers.CharField(source="worker.worker_id")
    assignment_id = serializers.CharField(source="assignment.assignment_id")
    submitted_at = serializers.DateTimeField(source="assignment.submitted_at")
    void = serializers.BooleanField(help_text="The worker is blocked, or the answer was rejected: it does not count.")
    undone_at = serializers.DateTimeField(allow_null=True, help_text="When it was taken back: then it does not count.")
    undone_by = UsernameField("undone_by")

    def get_reason(self, row: Label) -> str:
        return self._change(row).reason

    @extend_schema_field(_TEXTS)
    def get_before(self, row: Label) -> dict[str, str]:
        return dict(self._change(row).before)

    @extend_schema_field(serializers.DictField(child=serializers.CharField(), allow_null=True))
    def get_after(self, row: Label) -> dict[str, str] | None:
        after = self._change(row).after
        return None if after is None else dict(after)

    def _change(self, row: Label) -> undoing_changes.Change:
        return undoing_changes.change_of(row, self.context["protocol"])


class LeftOutShape(Shape):
    item = serializers.IntegerField(source="pk")
    key = serializers.CharField()
    because = serializers.CharField()


class Changes(StageView):
    @operation(
        "changes_list",
        "What the answers of a stage change in its items",
        tag=TAG,
        query=ChangeQuery,
        answer=page_of(ChangeShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, ChangeQuery)
        rows = undoing_changes.changes(self.stage)
        if "action" in wanted:
            rows = rows.filter(value__action=wanted["action"])
        if wanted["taken_back"] is not None:
            rows = rows.filter(undone_at__isnull=not wanted["taken_back"])
        return page(request, rows, ChangeShape, protocol=undoing_changes.changing(self.stage))


class LeftOut(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "changes_left_out",
        "The items of which the changes that count leave nothing",
        tag=TAG,
        answer=LeftOutShape(many=True),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(LeftOutShape(undoing_changes.left_out(self.stage), many=True).data)


class OneChange(StageView):
    def found(self, pk: int) -> Label:
        rows: QuerySet[Label] = undoing_changes.changes(self.stage)
        return get_object_or_404(rows, pk=pk)

    def said(self, pk: int) -> Response:
        return Response(ChangeShape(self.found(pk), context={"protocol": undoing_changes.changing(self.stage)}).data)


class UndoChange(OneChange):
    @operation("changes_undo", "Take a change back; twice is once", tag=TAG, answer=ChangeShape, refuses=[404])
    def post(self, request: Request, pk: int, **address: str) -> Response:
        undoing_changes.undo(self.found(pk).pk, self.user)
        return self.said(pk)


class RedoChange(OneChange):
    @operation("changes_redo", "Let a change count again", tag=TAG, answer=ChangeShape, refuses=[404])
    def post(self, request: Request, pk: int, **address: str) -> Response:
        undoing_changes.redo(self.found(pk).pk, self.user)
        return self.said(pk)
