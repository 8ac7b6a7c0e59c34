"""Files that come in: kept at once, read in the background."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.core.jobs import queue
from hits.formats.files.encodings import bytes_in_utf8
from hits.items.api import shapes
from hits.items.rules.imported_tables import shown
from hits.items.verbs import importing
from hits.projects.rules.plugins import recipe_of

TAG = "Uploads"
# What a form adds around its file: boundaries, headers and the other field.
FORM_BYTES = 64 * 1024


# Takes a form with a file. One larger than any file that is taken need not reach the disk.
class FileView(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    def refuse_large_body(self, length: int) -> None:
        if length > settings.MAX_IMPORT_BYTES + FORM_BYTES:
            importing.check_size(length)


def text_sent(given: Mapping[str, Any]) -> bytes:
    """What a `TextFile` holds, in UTF-8. Raises Refused."""
    importing.check_size(given["file"].size)
    return bytes_in_utf8(given["file"].read(), given["encoding"])


class Uploads(FileView):
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
        "import",
        "Send in a file: it is checked as a whole, then imported as a whole or refused with every fault",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewUpload},
        answer=shapes.UploadDetailShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.NewUpload)
        file = given["file"]
        content = text_sent(given)
        mapping = given.get("mapping")
        upload = importing.create_upload(self.project, file.name, content, given["origin"], self.user, mapping)
        queue.start(tasks.import_upload, upload.pk)
        upload.refresh_from_db()
        return Response(shapes.UploadDetailShape(upload).data, status=status.HTTP_202_ACCEPTED)


class TableColumns(FileView):
    @operation(
        "uploads_columns",
        "The columns of a table with its first rows, and which of them an import would read as what; keeps nothing",
        tag=TAG,
        takes={"multipart/form-data": shapes.TextFile},
        answer=shapes.TableShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.TextFile)
        file = given["file"]
        table = shown(self.project, io.BytesIO(text_sent(given)), file.name)
        fields = [{**vars(field), "column": table.mapping.get(field.name)} for field in table.fields]
        rows = [{"line": line, "cells": cells} for line, cells in table.rows]
        answer = {**vars(table), "rows": rows, "fields": fields, "unused": table.unused(table.mapping)}
        return Response(shapes.TableShape(answer).data)


class SampleFile(ProjectView):
    @operation(
        "uploads_sample",
        "A small file that the project's recipe imports",
        tag=TAG,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> HttpResponse:
        sample = recipe_of(self.project).sample
        if sample is None:
            raise Http404
        headers = {"Content-Disposition": content_disposition_header(True, sample.name) or "attachment"}
        return HttpResponse(sample.content, content_type="application/octet-stream", headers=headers)


class Upload(ProjectView):
    @operation(
        "uploads_show",
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
