"""Workers, who would be blocked, and blocks."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.answers.rules import text_evidence
from hits.api.base import ProjectView, QuotedBy, StageView, Started, operation, started
from hits.api.paging import PageQuery, asked, list_of, listed, page, page_of, sent
from hits.core.jobs import queue
from hits.core.keyset import Page
from hits.judging.rules.stage_statistics import estimates_of
from hits.models import Action, Stage, WorkerStat
from hits.stages.api.shapes import StageShape
from hits.workers.api import shapes
from hits.workers.api.qualification_tests import TAG as TESTS
from hits.workers.api.qualification_tests import TEST
from hits.workers.rules import worker_confusion, worker_table
from hits.workers.rules.block_proposals import named_in
from hits.workers.rules.screening_results import refuse_no_test, standing
from hits.workers.verbs import blocking, qualification_tests

TAG = "Quality"


def _context(stage: Stage) -> dict[str, Any]:
    """What WorkerShape needs besides the rows of figures."""
    standing = {block.worker_id: block for block in stage.project.blocks.standing()}
    return {"standing": standing, "estimates": estimates_of(stage), "named": named_in([stage])[stage.pk]}


class Workers(StageView):
    @operation(
        "workers_list",
        "The workers of a stage, with their figures and what stands out",
        tag=TAG,
        query=shapes.WorkersQuery,
        answer=list_of(shapes.WorkerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        given = asked(request, shapes.WorkersQuery)
        context, sort = _context(self.stage), given.pop("sort")

        def load(after: str | None, size: int) -> tuple[Page[WorkerStat], dict[str, Any]]:
            return worker_table.page(self.stage, sort, after=after, size=size), context

        return listed(request, shapes.WorkerShape, load, **given)


class WorkerConfusion(StageView):
    @operation(
        "workers_confusion",
        "What a worker of the stage said beside the values of the items, unit by unit",
        tag=TAG,
        query=shapes.WorkerQuery,
        answer=shapes.WorkerConfusions,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        name = asked(request, shapes.WorkerQuery)["worker_id"]
        stat = get_object_or_404(self.stage.worker_stats.select_related("worker"), worker__worker_id=name)
        return Response(shapes.WorkerConfusions({"units": worker_confusion.of_worker(self.stage, stat.worker)}).data)


class WorkerTexts(StageView):
    @operation(
        "workers_texts",
        "How the texts of a worker of the stage came about, in all",
        tag=TAG,
        query=shapes.WorkerQuery,
        answer=shapes.WorkerTextsShape,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        name = asked(request, shapes.WorkerQuery)["worker_id"]
        stat = get_object_or_404(self.stage.worker_stats.select_related("worker"), worker__worker_id=name)
        return Response(shapes.WorkerTextsShape(text_evidence.of_worker_in(self.stage, stat.worker)).data)


class BlockProposals(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "workers_block_proposals",
        "Who would be blocked now, with the evidence, worst first, and what follows; changes nothing",
        tag=TAG,
        query=shapes.BlockQuery,
        answer=shapes.Proposals,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        blocking.refuse_without_policy(self.stage)
        found = blocking.preview(self.stage, asked(request, shapes.BlockQuery).get("worker_id"))
        body = {
            "results": [{**vars(one), "answers": found.answers[one.worker]} for one in found.proposals],
            "chosen": found.chosen,
            "budget_left": found.left,
            **vars(found.loss),
        }
        return Response(shapes.Proposals(body).data)


class BlockWorkers(StageView):
    pays = frozenset({"POST"})
    heavy = frozenset({"GET"})

    @operation(
        "workers_block_preview",
        "What blocking these workers by hand leads to; who is blocked already is left out; changes nothing",
        tag=TAG,
        query=shapes.ByHandQuery,
        answer=shapes.ByHandShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        found = blocking.preview_chosen(self.stage, asked(request, shapes.ByHandQuery)["worker_id"])
        stats = [row.stat for row in found.rows]
        told = shapes.WorkerShape(stats, many=True, context=_context(self.stage)).data
        body = {"workers": told, "budget_left": found.left, **vars(found.loss)}
        return Response(shapes.ByHandShape(body).data)

    @operation(
        "workers_block",
        "Block workers of the proposals or, with a reason, any of the stage; their answers are bought again",
        tag=TAG,
        takes=shapes.BlockWorkers,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
        quote=QuotedBy("workers_block_preview", gives=("cost",), names={"worker_ids": "worker_id"}),
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.BlockWorkers)
        ids, cost = wanted["worker_ids"], wanted["cost"]
        if "reason" in wanted:
            told = wanted["told"] if wanted["tell"] else None
            blocking.intend_by_hand(self.stage, ids, wanted["reason"], self.user, at_most=cost, told=told)
        else:
            blocking.intend(self.stage, ids, self.user, at_most=cost, tell=wanted["tell"])
        # What is written down goes on by itself also when the queue is away.
        queue.start(tasks.finish_blocks, self.stage.pk)
        return started("The workers are being blocked.", self.address("blocks"))


class PauseWorkers(StageView):
    @operation(
        "workers_pause",
        "Pause workers of the stage: they get no HIT of the project for some hours, and every answer counts",
        tag=TAG,
        takes=shapes.PauseWorkers,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.PauseWorkers)
        blocking.pause(self.stage, wanted["worker_ids"], wanted["hours"], wanted["reason"], self.user)
        queue.start(tasks.finish_blocks, self.stage.pk)
        return started("The workers are being paused.", self.address("blocks"))


class Blocks(ProjectView):
    @operation(
        "blocks_list",
        "Every block and pause of the project, those that ended included",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.BlockShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.blocks.select_related("worker", "stage", "created_by").prefetch_related("actions")
        return page(request, rows, shapes.BlockShape)


class UndoBlock(ProjectView):
    # What counts again may go on to a later stage and be published there.
    pays = frozenset({"POST"})

    heavy = frozenset({"GET"})

    @operation(
        "blocks_undo_preview",
        "What undoing a block leads to: answers that count again, and HITs in their place that are closed",
        tag=TAG,
        answer=shapes.UndoPreview,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.blocks.select_related("project", "worker"), pk=pk)
        return Response(shapes.UndoPreview(vars(blocking.undo_preview(row))).data)

    @operation(
        "blocks_undo",
        "Undo a block: the worker's answers count again",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 503],
        quote=QuotedBy("blocks_undo_preview"),
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.blocks, pk=pk)
        queue.start(tasks.undo_block, row.pk, self.user.pk, Action.Origin.API)
        return started("The block is being undone.", self.address("blocks"))


class Screening(StageView):
    @operation(
        "stages_screening",
        "How many workers began, passed and failed the test that this stage is, and which items they failed",
        tag="Quality",
        answer=shapes.ScreeningShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        refuse_no_test(self.stage)
        return Response(shapes.ScreeningShape(standing(self.stage).to_dict()).data)


class RequiredTest(StageView):
    @operation(
        "required_tests_add",
        "Let in only workers who passed the test; not after the stage was published",
        tag=TESTS,
        answer=StageShape,
        refuses=[404, 409],
    )
    def put(self, request: Request, test: str, **address: str) -> Response:
        qualification_tests.require(self.stage, TEST.find(self.project, test=test), self.user)
        return Response(StageShape(self.stage).data)

    @operation(
        "required_tests_remove",
        "Let workers in whether or not they passed the test; not after the stage was published",
        tag=TESTS,
        answer=StageShape,
        refuses=[404, 409],
    )
    def delete(self, request: Request, test: str, **address: str) -> Response:
        qualification_tests.drop_requirement(self.stage, TEST.find(self.project, test=test), self.user)
        return Response(StageShape(self.stage).data)
