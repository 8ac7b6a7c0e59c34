"""Items, answers and their review."""

from __future__ import annotations

from django.db.models import Prefetch, Q
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import StageView, operation
from hits.api.jobs import start_kept
from hits.api.paging import asked, page, page_of
from hits.api.shapes import answers as shapes
from hits.domain.hit_items import hits_of
from hits.domain.imported_tables import searched
from hits.flow.people import reviewing
from hits.models import Assignment, Verdict
from hits.models.answers import HELD

TAG = "Items and answers"
SHOWN = {
    "to_review": Q(state=Assignment.State.SUBMITTED, decision=""),
    "held": HELD,
    "reported": ~Q(remark=""),
    "invalid": ~Q(problem=""),
    "rejected": Q(state=Assignment.State.REJECTED),
    "adopted": ~Q(adopted=""),
}


class Items(StageView):
    crowd = False

    @operation(
        "items_list",
        "The items of a stage",
        tag=TAG,
        query=shapes.ItemQuery,
        answer=page_of(shapes.ItemShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, shapes.ItemQuery)
        standing = Prefetch("verdicts", Verdict.objects.filter(superseded_at=None))
        rows = self.stage.items.select_related("document").defer("document__data").prefetch_related(standing)
        rows = rows.filter(**{name: wanted[name] for name in ("state", "conclusion") if name in wanted})
        if "find" in wanted:
            rows = searched(rows, self.project, wanted["find"])
        return page(request, rows, shapes.ItemShape)


class ItemDetail(StageView):
    crowd = False

    @operation(
        "items_retrieve",
        "An item with its HITs and every verdict",
        tag=TAG,
        answer=shapes.ItemDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        rows = self.stage.items.select_related("document").prefetch_related("verdicts")
        return Response(shapes.ItemDetailShape(get_object_or_404(rows, pk=pk)).data)


class Answers(StageView):
    @operation(
        "answers_list",
        "The answers of a stage, with what they say",
        tag=TAG,
        query=shapes.AnswerQuery,
        answer=page_of(shapes.AnswerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        wanted = asked(request, shapes.AnswerQuery)
        rows = self.stage.assignments.select_related("hit__item", "item", "worker")
        rows = rows.prefetch_related("labels", "actions", "hit__further")
        if "show" in wanted:
            rows = rows.filter(SHOWN[wanted["show"]])
        if "worker" in wanted:
            rows = rows.filter(worker__worker_id=wanted["worker"])
        if "item" in wanted:
            rows = rows.filter(Q(hit__in=hits_of([wanted["item"]])) | Q(item=wanted["item"]))
        return page(request, rows, shapes.AnswerShape)


class Approve(StageView):
    pays = frozenset({"POST"})

    @operation(
        "approve",
        "Approve answers that wait, or that do not count yet; they are paid and count",
        tag=TAG,
        takes=shapes.AnswersChosen,
        answer=shapes.Decided,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.AnswersChosen(data=request.data)
        given.is_valid(raise_exception=True)
        count = reviewing.approve(self.stage, given.validated_data["answers"], self.user)
        return _decided(self, count)


class Reject(StageView):
    # Of an answer that is paid already: another one is bought in its place.
    pays = frozenset({"POST"})

    @operation(
        "reject",
        "Reject answers that wait, with the reason; their items are asked again",
        tag=TAG,
        takes=shapes.Rejection,
        answer=shapes.Decided,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.Rejection(data=request.data)
        given.is_valid(raise_exception=True)
        chosen = given.validated_data
        return _decided(self, reviewing.reject(self.stage, chosen["answers"], chosen["feedback"], self.user))


class TakeBack(StageView):
    pays = frozenset({"POST"})

    @operation(
        "take_back",
        "Approve rejected answers after all; within 30 days, and before their HITs are deleted",
        tag=TAG,
        takes=shapes.AnswersChosen,
        answer=shapes.Decided,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.AnswersChosen(data=request.data)
        given.is_valid(raise_exception=True)
        count = reviewing.take_back(self.stage, given.validated_data["answers"], self.user)
        return _decided(self, count, "rejected")


def _decided(view: StageView, count: int, show: str = "to_review") -> Response:
    if count:
        start_kept(tasks.finish_reviews, view.stage.pk)
    see = view.stage_address("answers") + f"?show={show}"
    return Response({"decided": count, "see": see}, status=status.HTTP_202_ACCEPTED)
