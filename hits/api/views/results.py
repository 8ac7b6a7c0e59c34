"""Results of a stage or of a project, as files for other programs."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from hits.api.base import ProjectView, StageView, operation
from hits.api.shapes.results import ResultsQuery
from hits.flow.data import exporting

TAG = "Answers"


class StageResults(StageView):
    heavy = frozenset({"GET"})

    @operation(
        "results_download",
        "The answers of a stage as a file for other programs",
        tag=TAG,
        query=ResultsQuery,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> StreamingHttpResponse:
        return _download(exporting.of_stage(self.stage, _choices(request)))


class ProjectResults(ProjectView):
    heavy = frozenset({"GET"})

    @operation(
        "project_results_download",
        "The answers of all stages as one file for other programs",
        tag=TAG,
        query=ResultsQuery,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> StreamingHttpResponse:
        return _download(exporting.of_project(self.project, _choices(request)))


def _choices(request: Request) -> exporting.Choices:
    given = ResultsQuery(data=request.query_params)
    given.is_valid(raise_exception=True)
    wanted = given.validated_data
    return exporting.Choices(wanted["file"], wanted["workers"] == "ids", wanted["answers"] == "all")


def _download(file: exporting.ResultsFile) -> StreamingHttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, file.name) or "attachment"}
    return StreamingHttpResponse(file.pieces, content_type=file.content_type, headers=headers)
