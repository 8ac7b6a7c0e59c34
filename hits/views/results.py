"""Results of a stage or of a project, as files for other programs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header

from hits.flow.data import exporting
from hits.models import Project, Stage
from hits.views.guard import PAGE, for_project, for_stage
from hits.views.stages import frame

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
    return render(request, "stage/results.html", {**frame(stage), "choices": CHOICES, "long": list(exporting.LONG)})


@for_stage(PAGE)
def results_file(request: HttpRequest, stage: Stage) -> HttpResponse:
    try:
        return _download(exporting.of_stage(stage, _choices(request)))
    except exporting.UnknownFormatError:
        return redirect("results", stage.project.slug, stage.key)


@for_project(PAGE)
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    stages = project.stages.filter(crowd=True).select_related("summary").order_by("position")
    context: dict[str, Any] = {"project": project, "stages": stages, "choices": CHOICES, "long": list(exporting.LONG)}
    return render(request, "projects/results.html", context)


@for_project(PAGE)
def project_results_file(request: HttpRequest, project: Project) -> HttpResponse:
    try:
        return _download(exporting.of_project(project, _choices(request)))
    except exporting.UnknownFormatError:
        return redirect("project-results", project.slug)


def _choices(request: HttpRequest) -> exporting.Choices:
    """What the form of the page chose; without a format, Mechanical Turk's columns."""
    return exporting.Choices(
        format=request.GET.get("file", exporting.MTURK),
        worker_ids=request.GET.get("workers") == "ids",
        all=request.GET.get("answers") == "all",
    )


def _download(file: exporting.ResultsFile) -> HttpResponse:
    headers = {"Content-Disposition": content_disposition_header(True, file.name) or "attachment"}
    return StreamingHttpResponse(file.pieces, content_type=file.content_type, headers=headers)  # type: ignore[return-value]
