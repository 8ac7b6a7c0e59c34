"""The API for models: who the token is, how an answer looks, items to answer, answers.

Security behavior: the token of a living model opens these routes and nothing else, and a lead's token does not open
them. The project is the model's own: no address names one.
"""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from hits.api.base import LeadView, operation
from hits.api.model_tokens import IsModel, ModelAuthentication, ModelThrottle
from hits.api.paging import sent
from hits.model_assist.api import shapes
from hits.model_assist.rules import model_leases
from hits.model_assist.rules.model_leases import Unanswered
from hits.model_assist.verbs import model_answering
from hits.models import ModelAnnotator, Stage

TAG = "Models that answer"


# `self.model` is the model whose token was sent.
class ModelView(LeadView):
    authentication_classes = [ModelAuthentication]
    permission_classes = [IsModel]
    model: ModelAnnotator

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        assert isinstance(request.auth, ModelAnnotator)
        self.model = request.auth

    def get_throttles(self) -> list[BaseThrottle]:
        return [ModelThrottle()]

    def stage(self, key: str) -> Stage:
        """Of the model's project, with a crowd. Raises Http404."""
        found = get_object_or_404(self.model.project.stages.filter(crowd=True), key=key)
        found.project = self.model.project
        return found


class ModelHome(ModelView):
    @operation("model_home", "Who the token is, and the stages of its project", tag=TAG, answer=shapes.ModelHome)
    def get(self, request: Request) -> Response:
        stages = list(self.model.project.stages.filter(crowd=True).select_related("summary").order_by("position"))
        stages = [stage for stage in stages if model_answering.is_for_models(stage)]
        answered = model_answering.answered(self.model, stages)
        unanswered = model_leases.unanswered(self.model, stages)
        told = [
            {
                "key": stage.key,
                "title": stage.title,
                "protocol": stage.protocol,
                "items": stage.summary.items + stage.summary.check_questions,
                "answered": answered.get(stage.pk, 0),
                **vars(unanswered.get(stage.pk, Unanswered())),
            }
            for stage in stages
        ]
        found = {"project": self.model.project.slug, "model": self.model, "stages": told}
        return Response(shapes.ModelHome(found).data)


class ModelStage(ModelView):
    @operation(
        "model_stage", "How an answer to a stage looks", tag=TAG, answer=shapes.StageForModel, refuses=[404, 409]
    )
    def get(self, request: Request, key: str) -> Response:
        stage = self.stage(key)
        found = model_answering.described(self.model, stage)
        told = {"stage": stage, "units": found.units, "fields": found.fields, "example": found.example}
        return Response(shapes.StageForModel(told).data)


class ModelItems(ModelView):
    @operation(
        "model_items",
        "Take items to answer; no other process of this model is given them meanwhile",
        tag=TAG,
        takes=shapes.ItemsWanted,
        answer=shapes.LeasedItems,
        refuses=[404, 409],
    )
    def post(self, request: Request, key: str) -> Response:
        wanted = sent(request, shapes.ItemsWanted)
        stage = self.stage(key)
        found = model_answering.take(self.model, stage, wanted["count"], wanted["lease_seconds"])
        unanswered = model_leases.unanswered(self.model, [stage]).get(stage.pk, Unanswered())
        return Response(shapes.LeasedItems({"items": found, **vars(unanswered)}).data)


class ModelAnswers(ModelView):
    @operation(
        "model_answers",
        "Answer items that were taken; all of the answers are stored, or none",
        tag=TAG,
        takes=shapes.GivenAnswers,
        answer=shapes.StoredAnswers,
        refuses=[404, 409],
    )
    def post(self, request: Request, key: str) -> Response:
        answers = [model_answering.Given(**one) for one in sent(request, shapes.GivenAnswers)["answers"]]
        return Response(shapes.StoredAnswers(vars(model_answering.answer(self.model, self.stage(key), answers))).data)
