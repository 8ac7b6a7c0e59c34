"""Results of a stage or of a project: files for other programs, and files of results that come in."""

from __future__ import annotations

import io

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, StageView, operation
from hits.api.paging import asked, sent
from hits.core.jobs import queue
from hits.items import jobs as form_jobs
from hits.items.api.shapes import TextFile, UploadDetailShape
from hits.items.api.uploads import FileView, text_sent
from hits.items.rules import results_forms
from hits.items.verbs import importing
from hits.releases.api import shapes
from hits.releases.rules.imported_results import shown
from hits.releases.verbs import exporting, removing_results

TAG = "Answers"


class StageResults(FileView, StageView):
    heavy = frozenset({"GET", "POST"})

    @operation(
        "results_download",
        "The answers of a stage as a file for other programs",
        tag=TAG,
        query=shapes.ResultsQuery,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> StreamingHttpResponse:
        return _download(exporting.of_stage(self.stage, _choices(request)))

    @operation(
        "results_import",
        "Send in answers that were given elsewhere: checked as a whole, then imported as a whole, unpaid and marked",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewResults},
        answer=UploadDetailShape,
        code=202,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.NewResults)
        content, name = text_sent(given), given["file"].name
        pairs = given.get("mapping", ())
        upload = importing.create_results_upload(self.stage, name, content, self.user, pairs)
        queue.start(tasks.import_upload, upload.pk)
        upload.refresh_from_db()
        return Response(UploadDetailShape(upload).data, status=status.HTTP_202_ACCEPTED)


class ResultsColumns(FileView, StageView):
    @operation(
        "results_columns",
        "The columns of a file of results, and which an import would read as what; keeps nothing",
        tag=TAG,
        takes={"multipart/form-data": TextFile},
        answer=shapes.ResultsColumns,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, TextFile)
        content, name = text_sent(given), given["file"].name
        return Response(shapes.ResultsColumns(shown(self.stage, io.BytesIO(content), name)).data)


class ResultsForm(FileView, StageView):
    @operation(
        "results_form",
        "What a questionnaire of the columns of a file of results would be: 200, keeps nothing. With `make` 202: it is "
        "made, and the answers are imported into it, unpaid and marked",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewResultsForm},
        answer=shapes.ProposedFormShape,
        more={202: UploadDetailShape},
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.NewResultsForm)
        content, name = text_sent(wanted), wanted["file"].name
        proposal = results_forms.with_kinds(content, name, dict(wanted.get("kinds", ())), wanted.get("hidden"))
        if not wanted["make"]:
            return Response(shapes.ProposedFormShape(proposal).data)
        upload = form_jobs.send_in_with_form(self.stage, name, content, proposal, wanted["title"], self.user)
        queue.start(tasks.import_upload, upload.pk)
        upload.refresh_from_db()
        return Response(UploadDetailShape(upload).data, status=status.HTTP_202_ACCEPTED)


class ResultFile(StageView):
    @operation(
        "results_remove",
        "Remove all answers that came with one file. Only importing it again brings them back",
        tag=TAG,
        answer=shapes.RemovedResults,
        refuses=[404, 409],
    )
    def delete(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.stage.result_files.select_related("blob"), pk=pk)
        count = removing_results.remove(row, self.user)
        queue.start(tasks.conclude_stage, self.stage.pk)
        return Response(shapes.RemovedResults({"removed": count}).data)


class ProjectResults(ProjectView):
    heavy = frozenset({"GET"})

    @operation(
        "results_download_all",
        "The answers of all stages as one file for other programs",
        tag=TAG,
        query=shapes.ResultsQuery,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> StreamingHttpResponse:
        return _download(exporting.of_project(self.project, _choices(request)))


def _choices(request: Request) -> exporting.Choices:
    wanted = asked(request, shapes.ResultsQuery)
    return exporting.Choices(
        wanted["file"],
        wanted["workers"] == "ids",
        wanted["answers"] == "all",
        wanted["inputs"],
        wanted["text_evidence"],
    )


def _download(file: exporting.ResultsFile) -> StreamingHttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, file.name) or "attachment"}
    return StreamingHttpResponse(file.pieces, content_type=file.content_type, headers=headers)
