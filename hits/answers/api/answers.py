"""Items, answers and their review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.answers.api import shapes
from hits.answers.models import HELD
from hits.answers.rules import answer_lists, text_evidence
from hits.answers.rules.answer_lists import AnswerFilter
from hits.answers.verbs import reviewing
from hits.api.base import StageView, operation
from hits.api.paging import asked, list_of, listed, sent
from hits.api.shapes import AT_ONCE
from hits.core.jobs import queue
from hits.core.keyset import Page
from hits.formats.inputs.item_values import Place, PriorityRow
from hits.items.rules import item_lists
from hits.items.rules.item_lists import ItemFilter
from hits.items.verbs import prioritizing
from hits.model_assist.api.shapes import GivenPriorities, PrioritizedShape
from hits.models import Assignment, Block, Document, Item, Stage, Verdict

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
        given = sent(request, GivenPriorities)
        rows = [
            PriorityRow(
                one["item"],
                "" if one["priority"] is None else repr(one["priority"]),
                Place(row=f"priorities[{at}]."),
            )
            for at, one in enumerate(given["priorities"])
        ]
        return Response({"changed": prioritizing.prioritize(self.stage, rows, self.user)})


class ItemDetail(StageView):
    crowd = False

    @operation(
        "items_show",
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
        "answers_approve",
        "Approve answers that wait, or that do not count yet; they are paid and count",
        tag=TAG,
        takes=shapes.Approval,
        answer=shapes.Decided,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.Approval)
        pks, more = _chosen(self.stage, wanted)
        count = reviewing.approve(
            self.stage, pks, self.user, undoable=wanted["undoable"], of_blocked=wanted["of_blocked_workers"]
        )
        return _decided(self, count, more)


class Reject(StageView):
    # Of an answer that is paid already: another one is bought in its place.
    pays = frozenset({"POST"})

    @operation(
        "answers_reject",
        "Reject answers that wait, with the reason; their items are asked again",
        tag=TAG,
        takes=shapes.Rejection,
        answer=shapes.Decided,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.Rejection)
        pks, more = _chosen(self.stage, wanted)
        count = reviewing.reject(self.stage, pks, wanted["feedback"], self.user, undoable=wanted["undoable"])
        return _decided(self, count, more)


class UndoDecision(StageView):
    @operation(
        "answers_undo",
        "Undo decisions that are not sent to the marketplace yet; the answers wait again",
        tag=TAG,
        takes=shapes.DecisionsChosen,
        answer=shapes.Undone,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.DecisionsChosen)
        pks, more = _chosen(self.stage, given)
        return Response({"undone": reviewing.undo(self.stage, pks, self.user), "more": more})


class TakeBack(StageView):
    pays = frozenset({"POST"})

    @operation(
        "answers_take_back",
        "Approve rejected answers after all; within 30 days, and before their HITs are deleted",
        tag=TAG,
        takes=shapes.RejectionsChosen,
        answer=shapes.Decided,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.RejectionsChosen)
        pks, more = _chosen(self.stage, given)
        return _decided(self, reviewing.take_back(self.stage, pks, self.user), more, "rejected")


def _chosen(stage: Stage, wanted: Mapping[str, Any]) -> tuple[list[int], bool]:
    """(ids of the answers that are named or match, the first AT_ONCE; whether more match)."""
    if "answers" in wanted:
        return wanted["answers"], False
    rows = {
        "waiting": reviewing.undecided(stage).exclude(HELD),
        "held": stage.assignments.held(),
        "decided": stage.assignments.filter(state=Assignment.State.SUBMITTED).exclude(decision=""),
        "rejected": stage.assignments.filter(state=Assignment.State.REJECTED, decision=""),
    }[wanted["show"]].exclude(pk__in=wanted.get("but", ()))
    if "worker" in wanted:
        rows = rows.filter(worker__worker_id=wanted["worker"])
    found = list(rows.order_by("pk").values_list("pk", flat=True)[: AT_ONCE + 1])
    return found[:AT_ONCE], len(found) > AT_ONCE


def _decided(view: StageView, count: int, more: bool, show: str = "to_review") -> Response:
    if count:
        queue.start(tasks.finish_reviews, view.stage.pk)
    see = view.stage_address("answers") + f"?show={show}"
    return Response({"decided": count, "more": more, "see": see}, status=status.HTTP_202_ACCEPTED)
