"""The page "Media" of a project: the uploaded files that its rows name."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.items.pages import forms
from hits.items.rules.media import address_of
from hits.items.verbs import importing, media_files
from hits.models import Project, Upload
from hits.projects.pages.projects import named
from hits.refusals import Refused
from hits.views import jobs, paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_project


@for_project(PAGE)
def media(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, project, forms.MediaForm())


def _page(request: HttpRequest, project: Project, form: forms.MediaForm, status: int = 200) -> HttpResponse:
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
    form = forms.MediaForm(request.POST, request.FILES)
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
