"""Qualifications that the project grants: what they do and who holds them, as the API and the pages read them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from hits.api.shapes import Shape, StateField, UsernameField
from hits.core.lists import listing, reading
from hits.core.targets import PROJECT, Target
from hits.models import Grant
from hits.workers.rules.project_qualifications import held_in

TAG = "Qualifications held"
# Whom a lead takes out of a pool, a verb of pools takes out.
GRANT = Target(
    "grant",
    Grant,
    "grants/<int:pk>/",
    lambda project: project.grants.exclude(key__in=project.pools.values("key")).select_related(
        "worker", "stage", "created_by"
    ),
)


class StageKeys(serializers.ListField):
    """Shows stages by their keys."""

    def __init__(self, help_text: str) -> None:
        super().__init__(child=serializers.SlugField(), help_text=help_text)

    def to_representation(self, stages: Any) -> list[str]:
        return [stage.key for stage in stages]


class HeldShape(Shape):
    key = serializers.SlugField()
    opens = StageKeys("Stages in which only who has it can answer.")
    closes = StageKeys("Stages in which nobody can answer who has it.")
    given_by = StageKeys("Stages that give it to everybody who answers there.")


class HeldList(Shape):
    results = HeldShape(many=True)


class GrantShape(Shape):
    id = serializers.IntegerField()
    key = serializers.SlugField(help_text="The qualification.")
    worker_id = serializers.CharField(source="worker.worker_id")
    state = StateField(Grant.State)
    stage = serializers.SlugField(
        source="stage.key", default=None, allow_null=True, help_text="Where an answer gave it; null: a lead did."
    )
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why the marketplace did not grant or withdraw it.")


class GrantFilters(serializers.Serializer[object]):
    key = serializers.SlugField(required=False, default="", help_text="Of this qualification alone.")
    state = serializers.ChoiceField(Grant.State.choices, required=False, default="", help_text="In this state alone.")


reading(
    "qualifications.list",
    "The qualifications that stages give or ask for, without those that workers earn by a test",
    tag=TAG,
    on=PROJECT,
    route="qualifications/",
    gives=HeldList,
    read=lambda project: {"results": held_in(project)},
)
listing(
    "grants.list",
    "Who has which qualification, withdrawn ones included",
    tag=TAG,
    on=PROJECT,
    route="grants/",
    gives=GrantShape,
    rows=lambda project: project.grants.select_related("worker", "stage", "created_by"),
    filters=GrantFilters,
)
