"""Releases: what one would hold, making it, and its files."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db.models import Sum
from django.http import FileResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.core.jobs import queue
from hits.items.api.uploads import FORM_BYTES
from hits.models import ReleaseFile, StageSummary
from hits.releases.api import shapes
from hits.releases.api.shapes import TAG
from hits.releases.rules import release_folders
from hits.releases.rules.release_cards import stated
from hits.releases.verbs import evaluating, releasing, withdrawing

# Up to so many items a release is made while the caller waits; above, in the background.
SMALL = 20_000


class ReleaseCard(ProjectView):
    @operation(
        "release_card_show",
        "What the next release states of licence and citation",
        tag=TAG,
        answer=shapes.ReleaseCardShape,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(asdict(stated(self.project.card)))

    @operation(
        "release_card_change",
        "State licence, citation and a description of the collection; what is not given stays",
        tag=TAG,
        takes=shapes.ReleaseCardShape,
        answer=shapes.ReleaseCardShape,
        refuses=[404, 409],
    )
    def patch(self, request: Request, **address: str) -> Response:
        withdrawing.change_card(self.project, sent(request, shapes.ReleaseCardShape), self.user)
        return Response(asdict(stated(self.project.card)))


class Preview(ProjectView):
    heavy = frozenset({"GET"})

    @operation(
        "releases_preview",
        "What a release made now would hold; changes nothing",
        tag=TAG,
        answer=shapes.PreviewShape,
        refuses=[404, 409],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.PreviewShape(releasing.preview(self.project)).data)


class Releases(ProjectView):
    heavy = frozenset({"POST"})

    @operation(
        "releases_list",
        "The releases of a project",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.ReleaseShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.releases.select_related("created_by", "successor").defer("manifest")
        return page(request, rows, shapes.ReleaseShape)

    @operation(
        "releases_create",
        "Make a release: 201 when it is new, 200 when nothing changed since the last, 202 when it takes longer",
        tag=TAG,
        code=201,
        answer=shapes.ReleaseDetailShape,
        more={200: shapes.ReleaseDetailShape, 202: Started},
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        if self._items() > SMALL:
            queue.start(tasks.make_release, self.project.pk, self.user.pk)
            return started("The release is being made.", self.address("releases"))
        made, is_new = releasing.release(self.project, self.user)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        body = shapes.ReleaseDetailShape(made, context={"request": request}).data
        return Response(body, status=code)

    def _items(self) -> int:
        return StageSummary.objects.filter(stage__project=self.project).aggregate(n=Sum("kept"))["n"] or 0


class ReleaseDetail(ProjectView):
    @operation(
        "releases_show",
        "A release with its manifest and files",
        tag=TAG,
        answer=shapes.ReleaseDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, number: int, **address: str) -> Response:
        row = get_object_or_404(self.project.releases.select_related("created_by", "project"), number=number)
        return Response(shapes.ReleaseDetailShape(row, context={"request": request}).data)


class ReleaseFileContent(ProjectView):
    @operation(
        "releases_download",
        "A file of a release; X-Content-SHA256 is the checksum of its bytes",
        tag=TAG,
        code=(200, "application/octet-stream"),
        answer=OpenApiTypes.BINARY,
        refuses=[404],
    )
    def get(self, request: Request, number: int, name: str, **address: str) -> StreamingHttpResponse:
        files = ReleaseFile.objects.select_related("blob").filter(release__project=self.project)
        file = get_object_or_404(files, release__number=number, name=name)
        headers = {
            "Content-Length": str(file.blob.size),
            "Content-Disposition": content_disposition_header(True, file.name) or "attachment",
            "X-Content-SHA256": file.blob.sha256,
        }
        return StreamingHttpResponse(file.blob.read_chunks(), content_type="application/octet-stream", headers=headers)


class Archive(ProjectView):
    @operation(
        "releases_archive",
        "A release as a zip archive of its folder; the answers of test lie beside the folder, or nowhere",
        tag=TAG,
        query=shapes.ArchiveQuery,
        code=(200, "application/zip"),
        answer=OpenApiTypes.BINARY,
        refuses=[404],
    )
    def get(self, request: Request, number: int, **address: str) -> FileResponse:
        without_keys = asked(request, shapes.ArchiveQuery)["without_keys"]
        row = get_object_or_404(self.project.releases.select_related("project"), number=number)
        made = release_folders.zipped(row, keys=not without_keys)
        return FileResponse(made, as_attachment=True, filename=f"{release_folders.name_of(row)}.zip")


class Evaluation(ProjectView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"POST"})

    @operation(
        "releases_evaluate",
        "Score a file of predictions against the key of a release; keeps nothing, and names every fault of the file",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewPredictions},
        answer=shapes.EvaluationShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, number: int, **address: str) -> Response:
        return self._scored(shapes.NewPredictions(data=request.data), number)

    def _scored(self, given: shapes.NewPredictions, number: int) -> Response:
        given.is_valid(raise_exception=True)
        row = get_object_or_404(self.project.releases.select_related("project"), number=number)
        about = given.validated_data
        file, name = about["predictions"], about.get("name", "")
        found = evaluating.evaluate(row, file.file, file.name, about["file"], keep_as=name, user=self.user)
        return Response(shapes.EvaluationShape(found).data)

    def refuse_large_body(self, length: int) -> None:
        # A form larger than any file that is taken need not reach the disk.
        if length > settings.MAX_IMPORT_BYTES + FORM_BYTES:
            raise RequestDataTooBig(f"At most {settings.MAX_IMPORT_BYTES:,} bytes are taken at once.")


class KeptSystem(Evaluation):
    @operation(
        "releases_keep_system",
        "Score a file of predictions, and keep the scores with the release in place of earlier ones of that name",
        tag=TAG,
        takes={"multipart/form-data": shapes.NewSystem},
        answer=shapes.EvaluationShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, number: int, **address: str) -> Response:
        return self._scored(shapes.NewSystem(data=request.data), number)


class Baselines(ProjectView):
    @operation(
        "releases_run_baselines",
        "Run the simple systems of the recipe, whose scores are kept with the release; takes up to some minutes",
        tag=TAG,
        takes=shapes.BaselineSettings,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, number: int, **address: str) -> Response:
        row = get_object_or_404(self.project.releases.select_related("project"), number=number)
        given = sent(request, shapes.BaselineSettings)
        evaluating.refuse_without_key(row)
        queue.start(tasks.run_baselines, row.pk, self.user.pk, given["seed"])
        return started("The baselines are being run.", self.address("release", number))
