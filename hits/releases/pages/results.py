"""Results of a stage or of a project: files for other programs, and files of results that come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header

from hits import tasks
from hits.formats.files.faults import FormatErrors
from hits.formats.files.mapping import MappingRefusedError
from hits.formats.inputs.results_reading import MTURK
from hits.items import jobs as form_jobs
from hits.items.pages.imports import encoding_step
from hits.items.rules import results_forms
from hits.items.rules.imported_tables import file_of
from hits.items.verbs import importing
from hits.models import Project, Stage, Upload
from hits.protocols.base import SettingsRefusedError
from hits.refusals import Refused
from hits.releases.pages import forms
from hits.releases.rules.imported_results import CONSTANT, shown, takes_results
from hits.releases.verbs import exporting, removing_results
from hits.stages.pages.stages import frame
from hits.stages.rules import new_fields
from hits.views import jobs
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_project, for_stage

# Fields of one form.
MOST_ASKED = 400
CHOICES = (
    (
        exporting.MTURK,
        "Mechanical Turk’s columns, CSV",
        "One row an answer, with Input.* and Answer.*, as scripts for its downloads read them.",
    ),
    ("csv", "Long table, CSV", "One row a label: what one answer says about one unit of an item."),
    ("jsonl", "Long table, JSON Lines", "The same; numbers and lists stay what they are."),
    ("parquet", "Long table, Parquet", "The same, small and quick to read with pandas, R or DuckDB."),
)


@for_stage(PAGE)
def results(request: HttpRequest, stage: Stage) -> HttpResponse:
    return _page(request, stage)


@for_stage(PAGE)
def results_file(request: HttpRequest, stage: Stage) -> HttpResponse:
    try:
        return _download(exporting.of_stage(stage, _choices(request)))
    except Refused:
        return redirect("results", stage.project.slug, stage.key)


@for_project(PAGE)
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    stages = list(project.stages.filter(crowd=True).select_related("summary").order_by("position"))
    answers = sum(stage.summary.answers for stage in stages)
    context: dict[str, Any] = {
        "project": project,
        "stages": stages,
        "answers": answers,
        "choices": CHOICES,
        "long": list(exporting.LONG),
    }
    return render(request, "projects/results.html", context)


@for_project(PAGE)
def project_results_file(request: HttpRequest, project: Project) -> HttpResponse:
    try:
        return _download(exporting.of_project(project, _choices(request)))
    except Refused:
        return redirect("project-results", project.slug)


def _choices(request: HttpRequest) -> exporting.Choices:
    """What the form of the page chose; without a format, Mechanical Turk's columns."""
    return exporting.Choices(
        format=request.GET.get("file", exporting.MTURK),
        worker_ids=request.GET.get("workers") == "ids",
        all=request.GET.get("answers") == "all",
        inputs=bool(request.GET.get("inputs")),
        text_evidence=bool(request.GET.get("text_evidence")),
    )


def _download(file: exporting.ResultsFile) -> HttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, file.name) or "attachment"}
    return StreamingHttpResponse(file.pieces, content_type=file.content_type, headers=headers)  # type: ignore[return-value]


# Files of results that come in


@for_stage(VERB)
def import_results(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.ResultsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, stage, [str(error) for errors in form.errors.values() for error in errors])
    file = form.cleaned_data["file"]
    try:
        importing.check_size(file.size)
        row = importing.create_results_upload(stage, file.name, file.read(), request.user, ask=True)
    except FormatErrors as error:
        return _page(request, stage, [f"{file.name} {fault}" for fault in error.errors])
    except importing.SameFileError as error:
        if not error.waits:
            return _page(request, stage, [str(error)])
        messages.info(request, f"{file.name} was uploaded before. Say which of its columns is what.")
        row = error.first
    except Refused as error:
        return _page(request, stage, [str(error)])
    return redirect("results-columns", stage.project.slug, stage.key, row.pk)


def _page(request: HttpRequest, stage: Stage, faults: Sequence[str] = ()) -> HttpResponse:
    context = {
        **frame(stage),
        "choices": CHOICES,
        "long": list(exporting.LONG),
        "form": forms.ResultsForm(),
        "takes_files": takes_results(stage),
        "new_fields": new_fields.brought(stage),
        "files": stage.result_files.select_related("blob", "created_by").order_by("-pk"),
        "faults": faults,
    }
    return render(request, "releases/results.html", context, status=400 if faults else 200)


@for_stage(FORM)
def columns(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """Which column of a file of results is what; the button begins the import."""
    row = get_object_or_404(stage.result_files.select_related("blob"), pk=pk)
    if row.state != Upload.State.MAPPING:
        return redirect("upload", stage.project.slug, row.pk)
    row.project = stage.project
    if (step := encoding_step(request, row)) is not None:
        return step
    pairs = [pair for number in range(1, MOST_ASKED + 1) if (pair := _pair(request, number))]
    faults: Sequence[str] = ()
    if request.method == "POST":
        try:
            if importing.confirm_results(row, pairs):
                jobs.start(request, tasks.import_upload, row.pk, said=f"{row.name} is being read.")
            return redirect("upload", stage.project.slug, row.pk)
        except MappingRefusedError as error:
            faults = error.faults
    try:
        with file_of(row.blob) as file:
            table = shown(stage, file, row.name, pairs)
    except (FormatErrors, Refused) as error:
        # It could be shown when it came: the task has changed since.
        messages.error(request, str(error))
        return redirect("results", stage.project.slug, stage.key)
    context = {
        **frame(stage),
        "upload": row,
        "table": table,
        "fields": list(enumerate(table.fields, 1)),
        "head": [(name, [(line, cells[name]) for line, cells in table.first]) for name in table.columns],
        "makes_form": table.layout == MTURK,
        "faults": faults,
    }
    return render(request, "releases/results_columns.html", context, status=400 if faults else 200)


@for_stage(FORM)
def make_form(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """What a questionnaire of the file's columns would be; one button looks again, the other makes it and imports."""
    row = get_object_or_404(stage.result_files.select_related("blob", "project", "stage"), pk=pk)
    if row.state != Upload.State.MAPPING:
        return redirect("upload", stage.project.slug, row.pk)
    try:
        with file_of(row.blob) as file:
            proposal = results_forms.propose(file, row.name, *_chosen(request))
    except (FormatErrors, Refused) as error:
        messages.error(request, f"{row.name}: {error}")
        return redirect("results-columns", stage.project.slug, stage.key, row.pk)
    faults: Sequence[str] = ()
    if request.method == "POST" and "make" in request.POST:
        try:
            if made := form_jobs.make_form(row, proposal, request.POST.get("title", "").strip(), request.user):
                jobs.start(request, tasks.import_upload, row.pk, said=f"{row.name} is being read into “{made.title}”.")
            return redirect("upload", stage.project.slug, row.pk)
        except (MappingRefusedError, Refused) as error:
            faults = error.details()["faults"]
        except SettingsRefusedError as error:
            faults = error.reasons
    context = {
        **frame(stage),
        "upload": row,
        "proposal": proposal,
        "fields": list(enumerate(proposal.fields, 1)),
        "shown": list(enumerate(proposal.shown, 1)),
        "kinds": list(results_forms.KINDS.items()),
        "rewrites": results_forms.can_be_rewritten(stage),
        "title": request.POST.get("title", row.name.rpartition(".")[0][:100] or row.name[:100]),
        "faults": faults or (proposal.faults if request.method == "POST" else ()),
    }
    return render(request, "releases/results_form.html", context, status=400 if faults else 200)


def _chosen(request: HttpRequest) -> tuple[dict[str, str] | None, list[str] | None]:
    """The kinds by column and the columns that are not shown; None before anything was chosen."""
    if request.method != "POST":
        return None, None
    numbers = range(1, MOST_ASKED + 1)
    asked = [(number, name) for number in numbers if (name := request.POST.get(f"ask-{number}"))]
    kinds = {name: request.POST.get(f"kind-{number}", "") for number, name in asked}
    columns = [(number, name) for number in numbers if (name := request.POST.get(f"input-{number}"))]
    return kinds, [name for number, name in columns if f"show-{number}" not in request.POST]


def _pair(request: HttpRequest, number: int) -> tuple[str, str] | None:
    """The field of that number with what was chosen for it; a value that all rows have stands after a sign."""
    name = request.POST.get(f"field-{number}", "")
    if not name:
        return None
    value = request.POST.get(f"value-{number}", "").strip()
    return name, f"{CONSTANT}{value}" if value else request.POST.get(f"column-{number}", "")


@for_stage(FORM)
def remove_results(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """GET says what follows; POST removes the answers of the file."""
    row = get_object_or_404(stage.result_files.select_related("blob"), pk=pk)
    if request.method == "POST":
        try:
            count = removing_results.remove(row, request.user)
        except Refused as error:
            messages.error(request, str(error))
            return redirect("results", stage.project.slug, stage.key)
        jobs.start(request, tasks.conclude_stage, stage.pk, said=f"{count:,} answers were removed.")
        return redirect("results", stage.project.slug, stage.key)
    context = {**frame(stage), "upload": row, "removal": removing_results.preview(row)}
    return render(request, "releases/remove_results.html", context)
