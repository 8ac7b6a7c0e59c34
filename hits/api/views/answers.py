"""Items, answers and their review."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import queue, tasks
from hits.api.base import StageView, operation
from hits.api.paging import asked, list_of, listed
from hits.api.shapes import answers as shapes
from hits.api.shapes.suggestions import GivenPriorities, PrioritizedShape
from hits.domain import answer_lists, item_lists, text_evidence
from hits.domain.answer_lists import AnswerFilter
from hits.domain.item_lists import ItemFilter
from hits.domain.keyset import Page
from hits.flow.people import reviewing
from hits.flow.pipeline import prioritizing
from hits.formats.item_values import Place, PriorityRow
from hits.models import Assignment, Block, Document, Item, Verdict

TAG = "Items and answers"


class Items(StageView):
    crowd = False
    heavy = frozenset({"PATCH"})

    @operation(
        "items_list",
        "The items of a stage",
        tag=TAG,
        query=shapes.ItemQuery,
        answer=list_of(shapes.ItemShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        given = asked(request, shapes.ItemQuery)
        places = {name: given.pop(name) for name in ("after", "limit")}
        wanted = ItemFilter(**given)

        def load(after: str | None, size: int) -> tuple[Page[Item], dict[str, Any]]:
            found = item_lists.page(self.stage, wanted, after=after, size=size)
            standing = Prefetch("verdicts", Verdict.objects.filter(superseded_at=None))
            prefetch_related_objects(found.rows, standing, Prefetch("document", Document.objects.defer("data")))
            return found, {"confidences": item_lists.confidences(self.stage, found.rows)}

        return listed(request, shapes.ItemShape, load, **places)

    @operation(
        "items_prioritize",
        "Change the priorities of items that are not published; nothing of what is out changes",
        tag=TAG,
        takes=GivenPriorities,
        answer=PrioritizedShape,
        refuses=[404, 409],
    )
    def patch(self, request: Request, **address: str) -> Response:
        given = GivenPriorities(data=request.data)
        given.is_valid(raise_exception=True)
        rows = [
            PriorityRow(
                one["item"],
                "" if one["priority"] is None else repr(one["priority"]),
                Place(row=f"priorities[{at}]."),
            )
            for at, one in enumerate(given.validated_data["priorities"])
        ]
        return Response({"changed": prioritizing.prioritize(self.stage, rows, self.user)})


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
        item = get_object_or_404(rows, pk=pk)
        context = {"confidences": item_lists.confidences(self.stage, [item])}
        return Response(shapes.ItemDetailShape(item, context=context).data)


class Answers(StageView):
    @operation(
        "answers_list",
        "The answers of a stage, with what they say",
        tag=TAG,
        query=shapes.AnswerQuery,
        answer=list_of(shapes.AnswerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        given = asked(request, shapes.AnswerQuery)
        places = {name: given.pop(name) for name in ("after", "limit")}
        wanted = AnswerFilter(**given)

        def load(after: str | None, size: int) -> tuple[Page[Assignment], dict[str, Any]]:
            found = answer_lists.page(self.stage, wanted, after=after, size=size)
            prefetch_related_objects(
                found.rows, "hit__item", "hit__further", "item", "worker", "labels", "actions", "terms"
            )
            blocked = Block.objects.of_workers(self.stage.project_id, [row.worker_id for row in found.rows])
            return found, {"blocked": blocked, "evidence": text_evidence.of_answers(self.stage, found.rows)}

        return listed(request, shapes.AnswerShape, load, **places)


class Approve(StageView):
    pays = frozenset({"POST"})

    @operation(
        "approve",
        "Approve answers that wait, or that do not count yet; they are paid and count",
        tag=TAG,
        takes=shapes.Approval,
        answer=shapes.Decided,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.Approval(data=request.data)
        given.is_valid(raise_exception=True)
        chosen = given.validated_data
        count = reviewing.approve(
            self.stage,
            chosen["answers"],
            self.user,
            undoable=chosen["undoable"],
            of_blocked=chosen["of_blocked_workers"],
        )
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
        count = reviewing.reject(
            self.stage, chosen["answers"], chosen["feedback"], self.user, undoable=chosen["undoable"]
        )
        return _decided(self, count)


class UndoDecision(StageView):
    @operation(
        "undo_decision",
        "Undo decisions that are not sent to the marketplace yet; the answers wait again",
        tag=TAG,
        takes=shapes.AnswersChosen,
        answer=shapes.Undone,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.AnswersChosen(data=request.data)
        given.is_valid(raise_exception=True)
        return Response({"undone": reviewing.undo(self.stage, given.validated_data["answers"], self.user)})


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
        queue.start(tasks.finish_reviews, view.stage.pk)
    see = view.stage_address("answers") + f"?show={show}"
    return Response({"decided": count, "see": see}, status=status.HTTP_202_ACCEPTED)
