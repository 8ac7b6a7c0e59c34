"""Models of a project, beside its people, and what they decide: for leads."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, QuotedBy, StageView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.core.jobs import queue
from hits.model_assist.api import shapes
from hits.model_assist.rules import model_agreement
from hits.model_assist.verbs import model_annotators, routing

TAG = "People and models"


class Models(ProjectView):
    @operation(
        "models_list",
        "The models that are or were registered to answer",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.ModelShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.model_annotators.select_related("created_by"), shapes.ModelShape)

    @operation(
        "models_register",
        "Register a model; its token is shown once",
        tag=TAG,
        takes=shapes.NewModel,
        answer=shapes.RegisteredModel,
        code=201,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        row, token = model_annotators.register(self.project, **sent(request, shapes.NewModel), user=self.user)
        return Response({**shapes.ModelShape(row).data, "token": token}, status=201)


class EndModel(ProjectView):
    @operation(
        "models_end",
        "End a model: its token opens nothing any more, and its answers stay",
        tag=TAG,
        answer=shapes.ModelShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.model_annotators.select_related("created_by"), pk=pk)
        model_annotators.end(row, self.user)
        return Response(shapes.ModelShape(row).data)


class GiveAgain(ProjectView):
    @operation(
        "models_give_again",
        "Give a model again the items that it was given too often without an answer",
        tag=TAG,
        answer=shapes.GivenAgain,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.model_annotators, pk=pk)
        return Response({"items": model_annotators.give_again(row, self.user)})


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
