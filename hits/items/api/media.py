"""Uploaded pictures, sounds and videos, which rows name."""

from __future__ import annotations

from django.conf import settings
from django.shortcuts import get_object_or_404
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.core.jobs import queue
from hits.items.api import shapes
from hits.items.api.shapes import UploadDetailShape
from hits.items.api.uploads import FORM_BYTES
from hits.items.verbs import importing, media_files

TAG = "Media"


class Media(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    @operation(
        "media_list",
        "The uploaded media of a project",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.MediaShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.media.ready().select_related("blob"), shapes.MediaShape)

    @operation(
        "media_add",
        "Send in media: they are checked together, then all are stored or none; `uploads/{id}/` says how far it is",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewMedia},
        answer=UploadDetailShape,
        code=202,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        file = sent(request, shapes.NewMedia)["file"]
        upload = importing.create_media_upload(self.project, [(file.name, file.file)], self.user)
        queue.start(tasks.import_upload, upload.pk)
        upload.refresh_from_db()
        return Response(UploadDetailShape(upload).data, status=status.HTTP_202_ACCEPTED)

    def refuse_large_body(self, length: int) -> None:
        if length > settings.MAX_MEDIA_BYTES + FORM_BYTES:
            importing.check_media_size(length)


class MediaFile(ProjectView):
    @operation(
        "media_delete",
        "Delete a file that no published item shows",
        tag=TAG,
        code=204,
        refuses=[404, 409],
    )
    def delete(self, request: Request, pk: int, **address: str) -> Response:
        file = get_object_or_404(self.project.media.ready(), pk=pk)
        media_files.delete_media(self.project, [file.name], self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
