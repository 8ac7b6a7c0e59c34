"""The columns of a table before it is imported, and a sample of the recipe's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header

from hits import tasks
from hits.formats.files import encodings
from hits.formats.files.faults import FormatErrors
from hits.formats.files.mapping import MappingRefusedError
from hits.items.rules.imported_tables import ShownTable, file_of, needed_table, shown
from hits.items.rules.item_columns import PRIORITY
from hits.items.verbs import importing
from hits.models import Project, Upload
from hits.projects.rules.plugins import recipe_of
from hits.refusals import Refused
from hits.views import jobs
from hits.views.guard import FORM, PAGE, LeadRequest, for_project

# Of a cell, as much is shown.
SHOWN_OF_A_CELL = 200


@for_project(FORM)
def columns(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    """Which column is read as which field, with the first rows; the button begins the import."""
    row = get_object_or_404(project.uploads.select_related("blob"), pk=pk)
    if row.state != Upload.State.MAPPING or row.holds_results:
        return redirect("upload", project.slug, row.pk)
    row.project = project
    if (step := encoding_step(request, row)) is not None:
        return step
    try:
        return _columns(request, project, row)
    except (FormatErrors, Refused) as error:
        # It could be shown when it came: the recipe has changed since, or the limit of files.
        messages.error(request, f"{row.name} cannot be imported any more: {error}")
        return redirect("project", project.slug)


def encoding_step(request: LeadRequest, row: Upload) -> HttpResponse | None:
    """Of a file that waits and is not UTF-8: how its lines read in each encoding; the button keeps it in UTF-8.

    None where it is UTF-8.
    """
    with file_of(row.blob) as file:
        guess = encodings.guessed(file)
    if guess is None and "encoding" not in request.POST:
        return None
    error: Exception | None = None
    if guess is None:
        # It was chosen before, and the form was sent twice.
        return redirect("upload", row.project.slug, row.pk)
    if request.method == "POST":
        try:
            if importing.read_as(row, request.POST.get("encoding", "")) and row.state == Upload.State.QUEUED:
                jobs.start(request, tasks.import_upload, row.pk, said=f"{row.name} is being read.")
            return redirect("upload", row.project.slug, row.pk)
        except (FormatErrors, importing.SameFileError, Refused) as refused:
            error = refused
    context = {"project": row.project, "upload": row, "readings": guess.readings(), "error": error}
    return render(request, "projects/encoding.html", context, status=400 if error else 200)


def _columns(request: LeadRequest, project: Project, row: Upload) -> HttpResponse:
    if request.method != "POST":
        return _page(request, row)
    pairs = [(name, request.POST.get(f"column-{name}", "")) for name in needed_table(project).names]
    try:
        begun = importing.confirm_mapping(row, pairs)
    except MappingRefusedError as error:
        return _page(request, row, error, dict(pairs))
    if begun:
        jobs.start(request, tasks.import_upload, row.pk, said=f"{row.name} is being read.")
    else:
        messages.info(request, "It does not wait for its columns any more.")
    return redirect("upload", project.slug, row.pk)


def _page(
    request: HttpRequest,
    row: Upload,
    error: MappingRefusedError | None = None,
    chosen: Mapping[str, str] | None = None,
) -> HttpResponse:
    with file_of(row.blob) as file:
        table = shown(row.project, file, row.name)
    mapping = table.mapping if chosen is None else chosen
    context = {
        "project": row.project,
        "upload": row,
        "table": table,
        "fields": _fields(table, mapping),
        "unused": table.unused(mapping),
        "head": [(name, [(line, cells[name]) for line, cells in table.rows]) for name in table.columns],
        "cell": SHOWN_OF_A_CELL,
        "error": error,
    }
    return render(request, "projects/columns.html", context, status=400 if error else 200)


def _fields(table: ShownTable, mapping: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Those that are needed or have a column, the priority, and the others, which a lead opens."""
    told = [
        {**vars(field), "number": number, "column": mapping.get(field.name, "")}
        for number, field in enumerate(table.fields, 1)
    ]
    first = [field for field in told if field["needed"] or field["column"] or field["name"] == PRIORITY]
    return {"first": first, "more": [field for field in told if field not in first]}


@for_project(PAGE)
def sample_file(request: HttpRequest, project: Project) -> HttpResponse:
    """A small file that this project's recipe imports."""
    sample = recipe_of(project).sample
    if sample is None:
        raise Http404
    response = HttpResponse(sample.content, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, sample.name) or "attachment"
    return response
