"""Workers, who would be blocked, and blocks."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api import serializers
from hits.api.base import ProjectView, StageView, Started, operation, started
from hits.api.jobs import start
from hits.api.paging import PageQuery, page, page_of
from hits.flow import blocking
from hits.models import Action, Project

TAG = "Quality"


def _standing(project: Project) -> set[int]:
    return set(project.blocks.standing().values_list("worker_id", flat=True))


class Workers(StageView):
    @operation(
        "workers_list",
        "The workers of a stage, with accuracy and its 95 % interval",
        tag=TAG,
        query=PageQuery,
        answer=page_of(serializers.WorkerShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.stage.worker_stats.select_related("worker")
        return page(request, rows, serializers.WorkerShape, blocked=_standing(self.project))


class CheckQuality(StageView):
    pays = frozenset({"POST"})

    @operation(
        "check_quality",
        "Look for workers below the floor now; blocks them where the stage says so",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        if not self.stage.quality:
            raise blocking.NoPolicyError("This stage has no blocking policy, so nobody can be below its floor.")
        start(tasks.check_quality, self.stage.pk)
        return started("The workers are being checked.", self.stage_address("block-proposals"))


class BlockProposals(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "block_proposals",
        "Who would be blocked now, with the evidence, worst first; changes nothing",
        tag=TAG,
        answer=serializers.Proposals,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(serializers.Proposals({"results": blocking.proposals(self.stage)}).data)


class BlockWorkers(StageView):
    pays = frozenset({"POST"})

    @operation(
        "block",
        "Block workers of the proposals; their answers are bought again",
        tag=TAG,
        takes=serializers.BlockWorkers,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = serializers.BlockWorkers(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = sorted(set(given.validated_data["worker_ids"]))
        self._refuse_others(wanted)
        start(tasks.apply_blocks, self.stage.pk, wanted, self.user.pk, Action.Origin.API)
        return started("The workers are being blocked.", self.address("blocks"))

    def _refuse_others(self, wanted: list[str]) -> None:
        """The job would refuse them too, but nobody would read it."""
        proposed = {found.worker for found in blocking.proposals(self.stage)}
        blocked = self.project.blocks.standing().values_list("worker__worker_id", flat=True)
        others = [worker_id for worker_id in wanted if worker_id not in proposed.union(blocked)]
        if others:
            raise blocking.NotBlockableError(
                f"Not among the proposals: {', '.join(others)}. Look at block-proposals/ again. Nobody was blocked."
            )


class Blocks(ProjectView):
    @operation(
        "blocks_list",
        "Every block of the project, undone ones included",
        tag=TAG,
        query=PageQuery,
        answer=page_of(serializers.BlockShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.blocks.select_related("worker", "stage", "created_by").prefetch_related("actions")
        return page(request, rows, serializers.BlockShape)


class UndoBlock(ProjectView):
    @operation(
        "blocks_undo",
        "Undo a block: the worker's answers count again",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 503],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.blocks, pk=pk)
        start(tasks.undo_block, row.pk, self.user.pk, Action.Origin.API)
        return started("The block is being undone.", self.address("blocks"))
