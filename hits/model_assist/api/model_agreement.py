"""Models of a project, beside its people, and what they decide: for leads."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import QuotedBy, StageView, operation
from hits.api.paging import PageQuery, page, page_of
from hits.core.jobs import queue
from hits.model_assist.api import shapes
from hits.model_assist.api.registered import TAG
from hits.model_assist.rules import model_agreement
from hits.model_assist.verbs import routing


class PeopleAndModels(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "people_and_models",
        "People and models of a stage side by side, and how often models are wrong where they decide",
        tag=TAG,
        answer=shapes.PeopleAndModels,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        found, standing = model_agreement.compared(self.stage), model_agreement.standing(self.stage)
        told: dict[str, Any] = {
            "lines": found.lines,
            "items": found.items,
            "limited": found.limited,
            "decided_by_models": self.stage.summary.decided_by_models,
            "is_deciding": bool(standing) and model_agreement.is_deciding(self.stage),
            "audit": model_agreement.audit(self.stage, standing) if standing else None,
        }
        return Response(shapes.PeopleAndModels(told).data)


class Routings(StageView):
    # Later stages may publish what follows from the verdicts by themselves.
    pays = frozenset({"POST"})

    @operation(
        "routings_list",
        "When models were let decide items, and which",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.RoutingShape),
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.stage.routings.select_related("created_by").prefetch_related("annotators")
        return page(request, rows, shapes.RoutingShape)

    @operation(
        "routings_make",
        "Let models decide items on which they agree; the rest goes to people. Confirms a preview",
        tag=TAG,
        takes=shapes.NewRouting,
        answer=shapes.RoutingShape,
        code=201,
        refuses=[404, 409],
        quote=QuotedBy("routings_preview", gives=("decided", "saved")),
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.NewRouting(data=request.data)
        given.is_valid(raise_exception=True)
        confirmed = given.validated_data
        row = routing.route(self.stage, given.condition(), confirmed["decided"], confirmed["saved"], self.user)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return Response(shapes.RoutingShape(row).data, status=201)


class RoutingPreview(StageView):
    heavy = frozenset({"POST"})

    @operation(
        "routings_preview",
        "How many items models would decide, and what that saves; changes nothing",
        tag=TAG,
        takes=shapes.ConditionShape,
        answer=shapes.RoutingPreview,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.ConditionShape(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(shapes.RoutingPreview(routing.preview(self.stage, given.condition())).data)


class UndoRouting(StageView):
    pays = frozenset({"POST"})

    @operation(
        "routings_undo",
        "Send the items that models decided to people, but for those of which later items were made",
        tag=TAG,
        answer=shapes.UndoneRouting,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.stage.routings.select_related("stage__project"), pk=pk)
        found = routing.undo(row, self.user)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return Response(shapes.UndoneRouting(vars(found)).data)
