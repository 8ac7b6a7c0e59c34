"""Workers, evidence and blocks."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxLengthValidator
from rest_framework import serializers

from hits.api.shapes.base import AT_ONCE, MoneyField, Shape, UsernameField
from hits.api.shapes.stages import ActionShape
from hits.quality.intervals import wilson


class EvidenceShape(Shape):
    worker_id = serializers.CharField(source="worker")
    scored = serializers.IntegerField()
    correct = serializers.IntegerField()
    accuracy = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField(), help_text="95 %, low and high.")
    average = serializers.FloatField(help_text="Of all workers.")
    p_value = serializers.FloatField()
    floor = serializers.FloatField()
    alpha = serializers.FloatField()


class ProposalShape(EvidenceShape):
    answers = serializers.IntegerField(help_text="Answers of this worker that count now, and would not.")


class BlockQuery(Shape):
    worker_id = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        validators=[MaxLengthValidator(AT_ONCE)],
        help_text="Count what follows for these alone; all proposed ones by default.",
    )


class UndoPreview(Shape):
    answers = serializers.IntegerField(help_text="Answers that count again.")
    hits = serializers.IntegerField(help_text="HITs that are closed, since no answer of theirs is wanted any more.")
    places = serializers.IntegerField(help_text="Answers that may still come to these HITs.")
    released = MoneyField(help_text="What that gives back to the budget at most, once the marketplace confirms it.")


class Proposals(Shape):
    """What follows when those chosen are blocked; `cost` is what `block/` wants as its confirmation."""

    results = ProposalShape(many=True)
    chosen = serializers.ListField(child=serializers.CharField())
    answers = serializers.IntegerField(help_text="Answers that stop counting, in every stage of the project.")
    replacements = serializers.IntegerField(help_text="Answers that are bought again at most.")
    cost = MoneyField(help_text="Of the replacements at most, fees included.")
    budget_left = MoneyField(min_value=None)


class BlockWorkers(Shape):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)]
    )
    cost = MoneyField(help_text="As `block-proposals/` gave it: refused when it would cost more by now.")


class BlockShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    stage = serializers.CharField(source="stage.key")
    state = serializers.CharField(help_text="`intended`, `granted`, `lifting` or `undone`.")
    evidence = serializers.DictField()
    error = serializers.CharField(help_text="Why the marketplace did not grant or revoke it.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)
    actions = ActionShape(many=True, help_text="Who blocked and who undid it, oldest first.")


class WorkerShape(Shape):
    """A worker's figures in this stage."""

    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    answers = serializers.IntegerField()
    scored = serializers.IntegerField()
    correct = serializers.IntegerField()
    accuracy = serializers.SerializerMethodField(help_text="Null before anything was scored.")
    interval = serializers.SerializerMethodField(help_text="95 % Wilson interval of the accuracy, low and high.")
    median_seconds = serializers.FloatField(allow_null=True)
    earned = MoneyField(help_text="Approved rewards.")
    blocked = serializers.SerializerMethodField()

    def get_accuracy(self, row: Any) -> float | None:
        return row.correct / row.scored if row.scored else None

    def get_interval(self, row: Any) -> list[float] | None:
        return list(wilson(row.correct, row.scored)) if row.scored else None

    def get_blocked(self, row: Any) -> bool:
        return row.worker_id in self.context["blocked"]
