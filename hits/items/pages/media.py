"""The page "Media" of a project, and the uploaded files that its rows name, as browsers load them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.http import content_disposition_header, parse_etags
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from hits import tasks
from hits.items.rules.media import address_of, file_at
from hits.items.verbs import importing, media_files
from hits.models import MediaFile, Project, Upload
from hits.projects.pages.projects import named
from hits.refusals import Refused
from hits.views import jobs, paging
from hits.views.byte_ranges import byte_range
from hits.views.forms import FilesField
from hits.views.guard import PAGE, VERB, LeadRequest, for_project

# Of a range without an end. A player that stops reading takes a thread of the server until it has read the piece.
PIECE_BYTES = 4 * 1024 * 1024
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class MediaForm(forms.Form):
    file = FilesField(label="A zip of pictures, sounds and videos, or the files themselves")


@for_project(PAGE)
def media(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project, MediaForm())


def _page(request: HttpRequest, project: Project, form: MediaForm, status: int = 200) -> HttpResponse:
    page = paging.by_id(project.media.ready().select_related("blob"), request.GET, newest_first=True)
    context: dict[str, Any] = {
        "project": project,
        "form": form,
        "page": page,
        "files": [(file, address_of(file)) for file in page.rows],
        "coming": project.uploads.filter(kind=Upload.Kind.MEDIA, state__in=Upload.RUNNING),
    }
    return render(request, "projects/media.html", context, status=status)


@for_project(VERB)
def add(request: LeadRequest, project: Project) -> HttpResponse:
    form = MediaForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, project, form, 400)
    try:
        upload = importing.create_media_upload(project, named(form.cleaned_data["file"]), request.user)
    except Refused as error:
        form.add_error("file", str(error))
        return _page(request, project, form, 400)
    jobs.start(request, tasks.import_upload, upload.pk, said=f"{upload.name} is kept and is being read.")
    return redirect("upload", project.slug, upload.pk)


@for_project(VERB)
def delete(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    file = get_object_or_404(project.media.ready(), pk=pk)
    try:
        media_files.delete_media(project, [file.name], request.user)
    except Refused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{file.name} is deleted.")
    return redirect("media", project.slug)


# The files themselves


@require_safe
@xframe_options_exempt
def media_file(request: HttpRequest, token: str, name: str) -> HttpResponseBase:
    file = file_at(token, name)
    if file is None:
        raise Http404
    response = _answer(request, file)
    response["ETag"] = _etag(file)
    response["Accept-Ranges"] = "bytes"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _answer(request: HttpRequest, file: MediaFile) -> HttpResponseBase:
    if _etag(file) in (known := parse_etags(request.headers.get("If-None-Match", ""))) or known == ["*"]:
        return HttpResponse(status=304)
    try:
        part = _range(request, file)
    except ValueError:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{file.blob.size}"})
    start, end = part or (0, file.blob.size)
    response = StreamingHttpResponse(
        () if request.method == "HEAD" else file.blob.read_range(start, end), content_type=file.content_type
    )
    if part:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{end - 1}/{file.blob.size}"
    response["Content-Length"] = str(end - start)
    response["Content-Disposition"] = content_disposition_header(False, file.base) or "inline"
    return response


def _range(request: HttpRequest, file: MediaFile) -> tuple[int, int] | None:
    """Raises ValueError for a range behind the end of the file."""
    # A part of what was here before does not fit to what is here now.
    if request.method != "GET" or request.headers.get("If-Range", _etag(file)) != _etag(file):
        return None
    return byte_range(request.headers.get("Range", ""), file.blob.size, PIECE_BYTES)


def _etag(file: MediaFile) -> str:
    return f'"{file.blob.sha256}"'


media_urls = [path("media/<str:token>/<str:name>", media_file, name="media-file")]
