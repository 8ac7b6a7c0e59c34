"""Files that come in: kept at once, read in the background."""

from __future__ import annotations

from django.conf import settings
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, operation
from hits.api.jobs import start_kept
from hits.api.paging import PageQuery, page, page_of
from hits.api.shapes import uploads as shapes
from hits.flow.pipeline import importing

TAG = "Uploads"
# What a form adds around its file: boundaries, headers and the other field.
FORM_BYTES = 64 * 1024


class Uploads(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    @operation(
        "uploads_list",
        "The files that were sent in",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.UploadShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.uploads.select_related("blob", "created_by").defer("faults")
        return page(request, rows, shapes.UploadShape)

    @operation(
        "uploads_create",
        "Send in a file: it is checked as a whole, then imported as a whole or refused with every fault",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewUpload},
        answer=shapes.UploadDetailShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = shapes.NewUpload(data=request.data)
        given.is_valid(raise_exception=True)
        file = given.validated_data["file"]
        importing.check_size(file.size)
        upload = importing.create_upload(
            self.project, file.name, file.read(), given.validated_data["origin"], self.user
        )
        start_kept(tasks.import_upload, upload.pk)
        upload.refresh_from_db()
        return Response(shapes.UploadDetailShape(upload).data, status=status.HTTP_202_ACCEPTED)

    def refuse_large_body(self, length: int) -> None:
        # A form larger than any file that is taken need not reach the disk.
        if length > settings.MAX_IMPORT_BYTES + FORM_BYTES:
            importing.check_size(length)


class Upload(ProjectView):
    @operation(
        "uploads_retrieve",
        "How far a file is, what came in, and every fault",
        tag=TAG,
        answer=shapes.UploadDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.uploads.select_related("blob", "created_by"), pk=pk)
        return Response(shapes.UploadDetailShape(row).data)


class StopUpload(ProjectView):
    @operation(
        "uploads_stop",
        "Stop an import that waits or runs: nothing of the file is stored. One that has ended stays as it is",
        tag=TAG,
        answer=shapes.UploadDetailShape,
        refuses=[404],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        row = get_object_or_404(self.project.uploads.select_related("blob", "created_by"), pk=pk)
        importing.stop(row)
        row.refresh_from_db()
        return Response(shapes.UploadDetailShape(row).data)
