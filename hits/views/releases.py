"""Releases: what one would hold, making it, and its files."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.flow import releasing
from hits.models import Project, Release, ReleaseFile
from hits.views import jobs
from hits.views.guard import PAGE, VERB, LeadRequest, for_project

# Up to here a release is made while the lead waits; above, in the background.
SMALL = 20_000
MEASURES = [
    ("queries", "Queries"),
    ("unique_passages", "Unique passages"),
    ("passage_vocabulary", "Passage vocabulary"),
    ("query_vocabulary", "Query vocabulary"),
    ("tokens_per_passage", "Tokens a passage"),
    ("entities_per_passage", "Entities a passage"),
    ("tokens_per_query", "Tokens a query"),
]


@for_project(PAGE)
def releases(request: HttpRequest, project: Project) -> HttpResponse:
    rows = list(project.releases.select_related("created_by")[:50])
    return render(request, "releases/index.html", {**_frame(project), "releases": rows})


def _frame(project: Project) -> dict[str, object]:
    stages = list(project.stages.select_related("summary").order_by("position"))
    return {"project": project, "stages": stages, "last_stage": stages[-1] if stages else None}


@for_project(PAGE)
def preview(request: HttpRequest, project: Project) -> HttpResponse:
    """Reads every kept item, so it is a page (and a part) of its own."""
    content = {**_frame(project), **described(releasing.preview(project))}
    template = "releases/_content.html" if request.headers.get("HX-Request") else "releases/preview.html"
    return render(request, template, content)


def described(manifest: dict) -> dict[str, object]:
    """Counts, statistics and scores of a preview or a manifest, as rows for the page."""
    counts: dict[str, int] = manifest.get("counts", {})
    statistics: dict[str, dict[str, float | None]] = manifest.get("statistics", {})
    splits = list(statistics)
    table = [(name, [statistics[split].get(measure) for split in splits]) for measure, name in MEASURES]
    left_out = sorted(manifest.get("left_out", {}).items(), key=lambda pair: -pair[1])
    return {
        "counts": counts.items(),
        "total": sum(counts.values()),
        "left_out": left_out,
        "splits": splits,
        "statistics": table if splits else [],
        "scores": manifest.get("scores", {}).items(),
        "notes": manifest.get("notes", []),
    }


@for_project(VERB)
def make(request: LeadRequest, project: Project) -> HttpResponse:
    first = project.stages.select_related("summary").order_by("position").first()
    if first and first.summary.items > SMALL:
        said = "The release is being made and appears here. If nothing changed, the newest one stays the newest."
        jobs.start(request, tasks.make_release, project.pk, request.user.pk, said=said)
        return redirect("releases", project.slug)
    try:
        made, is_new = releasing.release(project, request.user)
    except releasing.NothingToReleaseError as error:
        messages.error(request, str(error))
        return redirect("releases", project.slug)
    if is_new:
        messages.success(request, f"Release {made.number} is there. Its files never change.")
    else:
        messages.info(request, f"Nothing changed since release {made.number}, so it stays the newest.")
    return redirect("release", project.slug, made.number)


@for_project(PAGE)
def release(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    row = get_object_or_404(project.releases.select_related("created_by"), number=number)
    files = row.files.select_related("blob")
    context = {**_frame(project), "release": row, "files": files, **described(row.manifest)}
    return render(request, "releases/detail.html", context)


@for_project(PAGE)
def download(request: HttpRequest, project: Project, number: int, name: str) -> HttpResponse:
    owned = Release.objects.filter(project=project, number=number)
    file = get_object_or_404(ReleaseFile.objects.select_related("blob"), release__in=owned, name=name)
    response = StreamingHttpResponse(file.blob.read_chunks(), content_type="application/octet-stream")
    response["Content-Length"] = str(file.blob.size)
    # Names come from the recipe, not from a visitor; quotes would still end the header's value early.
    response["Content-Disposition"] = f'attachment; filename="{name.replace(chr(34), "")}"'
    return response  # type: ignore[return-value]
