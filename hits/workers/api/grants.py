"""Qualifications that the project grants: what they do, who holds them, giving and taking them back."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.api.shapes import Shape, StateField, UsernameField
from hits.core.jobs import queue
from hits.models import Grant
from hits.workers.rules.grant_rows import MOST_WORKERS
from hits.workers.rules.project_qualifications import held_in
from hits.workers.verbs import granting

TAG = "Qualifications held"


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


class GrantQuery(PageQuery):
    key = serializers.SlugField(required=False, default="", help_text="Of this qualification alone.")
    state = serializers.ChoiceField(Grant.State.choices, required=False, default="", help_text="In this state alone.")


class NewGrants(Shape):
    key = serializers.SlugField()
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), min_length=1, max_length=MOST_WORKERS
    )


class HeldQualifications(ProjectView):
    @operation(
        "qualifications_list",
        "The qualifications that stages give or ask for, without those that workers earn by a test",
        tag=TAG,
        answer=HeldList,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(HeldList({"results": held_in(self.project)}).data)


class Grants(ProjectView):
    @operation(
        "grants_list",
        "Who has which qualification, withdrawn ones included",
        tag=TAG,
        query=GrantQuery,
        answer=page_of(GrantShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, GrantQuery)
        rows = self.project.grants.select_related("worker", "stage", "created_by")
        chosen = {name: wanted[name] for name in ("key", "state") if wanted[name]}
        return page(request, rows.filter(**chosen), GrantShape)

    @operation(
        "grants_give",
        "Give a qualification to workers; who has it keeps it",
        tag=TAG,
        takes=NewGrants,
        answer=Started,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, NewGrants)
        new = granting.intend(self.project, given["key"], given["worker_ids"], self.user)
        queue.start(tasks.finish_grants, self.project.pk)
        return started(f"{new:,} of the workers did not have it and are being given it.", self.address("grants"))


class WithdrawGrant(ProjectView):
    @operation(
        "grants_withdraw",
        "Take a qualification back from a worker; giving it again undoes that",
        tag=TAG,
        code=202,
        answer=GrantShape,
        refuses=[404],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        rows = self.project.grants.select_related("worker", "stage", "created_by")
        # Whom a lead takes out of a pool, its own route takes out.
        row = get_object_or_404(rows.exclude(key__in=self.project.pools.values("key")), pk=pk)
        granting.intend_withdrawal(row)
        queue.start(tasks.finish_grants, self.project.pk)
        row.refresh_from_db()
        return Response(GrantShape(row).data, status=202)
