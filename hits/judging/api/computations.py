"""What the recipe computes without a crowd, the draw of a sample, and the options that both go by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.answers.rules.answer_words import ValueWords
from hits.api.base import ProjectView, QuotedBy, StageView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.core.jobs import queue
from hits.items.api.uploads import FORM_BYTES
from hits.items.verbs import sampling
from hits.judging.api import shapes
from hits.judging.rules import stage_statistics
from hits.judging.rules.crowd_answers import refuse_uncompared
from hits.judging.verbs import computing
from hits.models import Stage
from hits.projects.verbs import projects as flow
from hits.refusals import Refused

TAG = "Computations"


class Computations(ProjectView):
    @operation(
        "computations_list",
        "What the recipe computes, each with its parameters",
        tag=TAG,
        answer=shapes.ComputationShape(many=True),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.ComputationShape(computing.computations(self.project), many=True).data)


class Runs(ProjectView):
    @operation(
        "computation_runs_list",
        "The runs of a project, oldest first",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.RunShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.computation_runs.select_related("created_by").defer("log", "checkpoint")
        return page(request, rows, shapes.RunShape)

    @operation(
        "computation_runs_create",
        "Start a computation; its results replace those of the run before it when it is done",
        tag=TAG,
        takes=shapes.NewRun,
        answer=shapes.RunShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        new = sent(request, shapes.NewRun)
        run = computing.start(self.project, new["computation"], new["params"], self.user)
        queue.start(tasks.compute, run.pk)
        run.refresh_from_db()
        return Response(shapes.RunShape(run).data, status=status.HTTP_202_ACCEPTED)


class Run(ProjectView):
    @operation(
        "computation_runs_show",
        "How far a run is, with its log",
        tag=TAG,
        answer=shapes.RunDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(shapes.RunDetailShape(get_object_or_404(self.project.computation_runs, pk=pk)).data)


class StopRun(ProjectView):
    @operation(
        "computation_runs_stop",
        "Stop a run at its next sign of progress; results of the run before it stand",
        tag=TAG,
        answer=shapes.RunShape,
        refuses=[404],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        run = get_object_or_404(self.project.computation_runs, pk=pk)
        computing.stop(run, self.user)
        run.refresh_from_db()
        return Response(shapes.RunShape(run).data)


class ResumeRun(ProjectView):
    @operation(
        "computation_runs_resume",
        "Let the newest run of a computation go on where it was stopped or failed",
        tag=TAG,
        answer=shapes.RunShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        run = get_object_or_404(self.project.computation_runs, pk=pk)
        computing.resume(run)
        queue.start(tasks.compute, run.pk)
        run.refresh_from_db()
        return Response(shapes.RunShape(run).data, status=status.HTTP_202_ACCEPTED)


class Files(ProjectView):
    heavy = frozenset({"GET"})

    @operation(
        "computations_files",
        "A zip of what a model elsewhere learns from and is asked",
        tag=TAG,
        query=shapes.FilesQuery,
        code=(200, "application/zip"),
        answer=OpenApiTypes.BINARY,
        refuses=[404, 409],
    )
    def get(self, request: Request, computation: str, **address: str) -> StreamingHttpResponse:
        given = shapes.FilesQuery(data=request.query_params.dict())
        given.is_valid(raise_exception=True)
        pieces = computing.files(self.project, computation, given.validated_data["params"])
        headers = {"Content-Disposition": f'attachment; filename="{self.project.slug}-{computation}.zip"'}
        return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)


class Answers(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    @operation(
        "computations_answers",
        "Send in what a model elsewhere made of the files: a run of its own, refused with every fault of the file",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewAnswers},
        answer=shapes.RunShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, computation: str, **address: str) -> Response:
        given = sent(request, shapes.NewAnswers)
        file, params = given["file"], given["params"]
        run = computing.bring_in(self.project, computation, params, file.name, file.file, file.size, self.user)
        queue.start(tasks.compute, run.pk)
        run.refresh_from_db()
        return Response(shapes.RunShape(run).data, status=status.HTTP_202_ACCEPTED)

    def refuse_large_body(self, length: int) -> None:
        # A form larger than any file that is taken need not reach the disk.
        if length > settings.MAX_IMPORT_BYTES + FORM_BYTES:
            computing.check_size(length)


class Results(ProjectView):
    @operation(
        "computation_runs_results",
        "What a run concluded, item by item",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.ResultShape),
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        run = get_object_or_404(self.project.computation_runs, pk=pk)
        return page(request, run.concluded.select_related("item"), shapes.ResultShape)


class Draw(StageView):
    pays = frozenset({"POST"})
    heavy = frozenset({"GET", "POST"})

    @operation(
        "draw_quote",
        "How many items there are to draw from; changes nothing",
        tag=TAG,
        answer=shapes.DrawQuote,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        try:
            quote = vars(sampling.quote(self.stage))
            return Response({**quote, "told": sampling.told(self.stage), "problems": []})
        except Refused as error:
            here = self.stage.items.count()
            return Response({"there": 0, "here": here, "new": 0, "told": {}, "problems": [str(error)]})

    @operation(
        "draw",
        "Draw a sample of what the project has collected into this stage; nothing is published by it",
        tag=TAG,
        takes=shapes.NewDraw,
        answer=shapes.Drawn,
        refuses=[404, 409],
        quote=QuotedBy("draw_quote"),
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.NewDraw)
        made = sampling.draw(self.stage, given["items"])
        return Response({"items": made, "see": self.stage_address("items")})


class Options(ProjectView):
    @operation("options_show", "The options that the project goes by", tag=TAG, answer=shapes.Options, refuses=[404])
    def get(self, request: Request, **address: str) -> Response:
        return self._options()

    @operation(
        "options_change",
        "Change some options; the next release goes by them",
        tag=TAG,
        takes=shapes.ChangedOptions,
        answer=shapes.Options,
        refuses=[404],
    )
    def patch(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.ChangedOptions)
        flow.change_options(self.project, given["options"])
        return self._options()

    def _options(self) -> Response:
        found = {"options": flow.options_of(self.project), "described": flow.described_options(self.project)}
        return Response(shapes.Options(found).data)


class Agreement(StageView):
    @operation(
        "stages_agreement",
        "How far workers agree on each unit, and how right each method of aggregation is",
        tag="Computations",
        answer=shapes.AgreementShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        refuse_uncompared(self.stage)
        run, going_on = stage_statistics.newest(self.stage), stage_statistics.going_on(self.stage)
        report = stage_statistics.report_of(run) if run else {}
        computed = stage_statistics.computed(self.stage)
        found = {
            "computation": stage_statistics.key_of(self.stage),
            "run": run.pk if run else None,
            "going_on": going_on.pk if going_on else None,
            "finished_at": run.finished_at if run else None,
            "method": report.get("method", ""),
            "answers": computed.answers if computed else 0,
            "since": computed.since if computed else self.stage.summary.answers,
            "removed": computed.removed if computed else 0,
            "units": report.get("units", []),
            "texts": _texts(self.stage, report.get("units", [])),
        }
        return Response(shapes.AgreementShape(found).data)


def _texts(stage: Stage, units: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    words = ValueWords(stage)
    found = {unit["unit"]: words.texts(unit["unit"], (unit.get("confusion") or {}).get("labels", ())) for unit in units}
    return {unit: texts for unit, texts in found.items() if texts}
