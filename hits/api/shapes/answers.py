"""Items, HITs, answers and decisions."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxLengthValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.paging import PageQuery
from hits.api.shapes.base import AT_ONCE, Shape, StateField
from hits.api.shapes.stages import ActionShape
from hits.domain.hit_items import hits_of
from hits.domain.imported_tables import LONGEST_SEARCH
from hits.models import Assignment, Item
from hits.recipes.source import UNUSED


class ItemQuery(PageQuery):
    state = serializers.ChoiceField(Item.State.choices, required=False)
    conclusion = serializers.CharField(required=False, max_length=40, help_text="The rule's own word, such as valid.")
    find = serializers.CharField(
        required=False,
        max_length=LONGEST_SEARCH,
        help_text="The item's key, or words of its document's key or of columns that the task does not use.",
    )


class VerdictShape(Shape):
    outcome = serializers.CharField()
    conclusion = serializers.CharField(help_text="The rule's own word, such as valid.")
    parts = serializers.DictField(help_text="A conclusion for each group, where the rule judges groups.")
    rule = serializers.CharField()
    rule_version = serializers.IntegerField()
    rule_edition = serializers.IntegerField(help_text="Counts the rules that the stage has had.")
    detail = serializers.DictField()
    decided_at = serializers.DateTimeField()
    superseded_at = serializers.DateTimeField(allow_null=True)


class ItemShape(Shape):
    id = serializers.IntegerField()
    key = serializers.CharField()
    document = serializers.CharField(source="document.key")
    origin = serializers.CharField(source="document.origin")
    purpose = serializers.CharField(source="document.purpose")
    state = StateField(Item.State)
    conclusion = serializers.CharField(help_text="The rule's own word, such as valid.")
    data = serializers.DictField(help_text="What the protocol asks.")  # type: ignore[assignment]
    verdict = serializers.SerializerMethodField(help_text="The one that stands.")

    @extend_schema_field(VerdictShape(allow_null=True))
    def get_verdict(self, item: Item) -> dict[str, Any] | None:
        standing = [verdict for verdict in item.verdicts.all() if verdict.superseded_at is None]
        return VerdictShape(standing[0]).data if standing else None


class HitShape(Shape):
    id = serializers.IntegerField()
    item_count = serializers.IntegerField(help_text="Items that it asks about.")
    slot = serializers.IntegerField(help_text="Counts the HITs of its items, from 1.")
    hit_id = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="`planned`, `sent`, `live`, `closed` or `refused`.")
    max_assignments = serializers.IntegerField()
    harvested = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True)
    closed_early = serializers.BooleanField(help_text="A lead closed it: it is not opened again by itself.")
    deleted_at = serializers.DateTimeField(allow_null=True, help_text="Deleted at the marketplace.")
    error = serializers.CharField()


class ItemDetailShape(ItemShape):
    verdicts = VerdictShape(many=True, help_text="Every one that it ever had.")
    hits = serializers.SerializerMethodField()
    columns = serializers.SerializerMethodField(help_text="Cells of its file's columns that the task does not use.")

    @extend_schema_field(HitShape(many=True))
    def get_hits(self, item: Item) -> list[dict[str, Any]]:
        return list(HitShape(hits_of([item.pk]).order_by("slot"), many=True).data)

    def get_columns(self, item: Item) -> dict[str, str]:
        return item.document.data.get(UNUSED) or {}


class AnswerQuery(PageQuery):
    show = serializers.ChoiceField(["to_review", "held", "invalid", "reported", "rejected", "adopted"], required=False)
    worker = serializers.CharField(required=False, max_length=64, help_text="A worker's id at the marketplace.")
    item = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class LabelShape(Shape):
    item = serializers.IntegerField(source="item_id")
    unit = serializers.CharField()
    value = serializers.JSONField()
    correct = serializers.BooleanField(allow_null=True, help_text="Against the reference; null where there is none.")
    void = serializers.BooleanField(help_text="It counts for nothing.")


class AnswerShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="about.pk", help_text="The first of `items`.")
    items = serializers.SerializerMethodField(help_text="What its HIT asks about, in their order.")
    hit_id = serializers.CharField(source="hit.hit_id", default=None, allow_null=True, help_text="Null: imported.")
    imported_from = serializers.IntegerField(
        source="imported_from_id",
        allow_null=True,
        help_text="The upload of results that it came with; null: it was given here.",
    )
    assignment_id = serializers.CharField()
    worker_id = serializers.CharField(source="worker.worker_id")
    state = StateField(Assignment.State)
    decision = serializers.CharField(help_text="Decided, not yet confirmed by the marketplace.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="The decision's call waits until then.")
    adopted = serializers.CharField(help_text="How its state came about when it was not your decision.")
    feedback = serializers.CharField()
    accepted_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField()
    auto_approval_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True, help_text="Null where a file of results does not say.")
    answer = serializers.DictField(help_text="Form field to value, as the worker posted it.")
    problem = serializers.CharField(help_text="Why it is not valid; empty for a valid answer.")
    held = serializers.CharField(help_text="Why it counts only when you approve it; empty: it counts without that.")
    admitted = serializers.BooleanField(
        allow_null=True, help_text="Your decision on an answer with `held`: whether it counts; null: none yet."
    )
    remark = serializers.CharField(help_text="The worker's report or comment.")
    labels = LabelShape(many=True)
    actions = ActionShape(many=True, help_text="What was decided about it from here, oldest first.")

    def get_items(self, answer: Assignment) -> list[int]:
        if answer.hit is None:
            return [answer.about.pk]
        further = sorted(answer.hit.further.all(), key=lambda row: row.number)
        return [answer.hit.item_id, *(row.item_id for row in further)]


class AnswersChosen(Shape):
    answers = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        allow_empty=False,
        validators=[MaxLengthValidator(AT_ONCE)],
        help_text="Ids of answers of this stage.",
    )


class Rejection(AnswersChosen):
    feedback = serializers.CharField(max_length=1000, help_text="The reason. Workers read it.")


class Decided(Shape):
    decided = serializers.IntegerField(help_text="Answers that were undecided and are decided now.")
    see = serializers.CharField(help_text="The address that shows what still waits.")
