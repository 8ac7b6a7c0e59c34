"""Annotations of a stage's articles out and in, and queries made again: shown, confirmed, undone as a whole."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.formats.files.faults import FormatErrors, grouped
from hits.items.pages.queries import refuse_other
from hits.items.verbs import annotating
from hits.judging.rules.recipe_rows import newest_run
from hits.judging.verbs import computing
from hits.models import ComputationRun, Stage
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage

SHOWN = 20
# What a form adds around its file.
FORM_BYTES = 64 * 1024


class AnnotationsForm(forms.Form):
    file = forms.FileField(label="File of annotations", help_text="JSON Lines, as downloaded: one article a line.")


@for_stage(FORM, crowd=False)
def index(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows what can be done; POST takes a file and leads to what it would change."""
    refuse_other(stage)
    if request.method != "POST":
        return _page(request, stage, AnnotationsForm())
    form = AnnotationsForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, stage, form, 400)
    file = form.cleaned_data["file"]
    try:
        found = annotating.propose_file(stage, file.name, file, request.user)
    except FormatErrors as error:
        return _page(request, stage, form, 400, error)
    except Refused as error:
        form.add_error("file", str(error))
        return _page(request, stage, form, 400)
    return redirect("change-set", stage.project.slug, stage.key, found.pk)


def _page(
    request: HttpRequest,
    stage: Stage,
    form: AnnotationsForm,
    status: int = 200,
    error: FormatErrors | None = None,
) -> HttpResponse:
    again = annotating.AGAIN
    context = {
        **frame(stage),
        "form": form,
        "sets": stage.change_sets.select_related("created_by", "undone_by").defer("effect")[:SHOWN],
        "faults": grouped(error.errors) if error else [],
        "fault_count": error.count if error else 0,
        "computes": any(one.key == again for one in computing.computations(stage.project)),
        "run": newest_run(stage.project, again),
        "running": stage.project.computation_runs.filter(
            key=again, state__in=[ComputationRun.State.QUEUED, ComputationRun.State.RUNNING]
        ).first(),
        "megabytes": annotating.MOST_BYTES // 2**20,
    }
    return render(request, "items/queries/annotations.html", context, status=status)


@for_stage(PAGE, crowd=False)
def download(request: HttpRequest, stage: Stage) -> Any:
    """JSON Lines, one article a line."""
    refuse_other(stage)
    response = StreamingHttpResponse(annotating.export(stage), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{stage.project.slug}-annotations.jsonl"'
    return response


@for_stage(VERB, crowd=False)
def again(request: LeadRequest, stage: Stage) -> HttpResponse:
    """What the newest finished run of generating again would change."""
    refuse_other(stage)
    run = newest_run(stage.project, annotating.AGAIN)
    if run is None:
        messages.error(request, "Queries were not generated again yet: start the computation first.")
        return redirect("annotations", stage.project.slug, stage.key)
    try:
        found = annotating.propose_run(stage, run, request.user)
    except Refused as error:
        messages.info(request, str(error))
        return redirect("annotations", stage.project.slug, stage.key)
    return redirect("change-set", stage.project.slug, stage.key, found.pk)


@for_stage(PAGE, crowd=False)
def change_set(request: HttpRequest, stage: Stage, pk: int) -> HttpResponse:
    refuse_other(stage)
    found = get_object_or_404(stage.change_sets.select_related("created_by", "undone_by", "run"), pk=pk)
    effect = found.effect
    names = ("mentions", "sentences", "kept", "queries", "removed")
    rows = [(name, effect["before"].get(name, 0), effect["after"].get(name, 0)) for name in names]
    context = {**frame(stage), "set": found, "rows": rows, "left_out": effect["left_out"].items()}
    return render(request, "items/queries/change_set.html", context)


@for_stage(VERB, crowd=False)
def confirm(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    refuse_other(stage)
    found = get_object_or_404(stage.change_sets, pk=pk)
    try:
        count = annotating.confirm(found, request.user)
    except (FormatErrors, Refused) as error:
        messages.error(request, f"{error} Nothing was changed.")
        return redirect("annotations", stage.project.slug, stage.key)
    said = f"{count:,} article{'' if count == 1 else 's'} changed." if count else "This is done already."
    messages.success(request, said)
    return redirect("change-set", stage.project.slug, stage.key, pk)


@for_stage(VERB, crowd=False)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    refuse_other(stage)
    found = get_object_or_404(stage.change_sets, pk=pk)
    try:
        count = annotating.undo_together(found, request.user)
    except Refused as error:
        messages.error(request, f"{error} Nothing was undone.")
    else:
        messages.success(request, f"Undone: {count:,} article{'' if count == 1 else 's'} as before.")
    return redirect("change-set", stage.project.slug, stage.key, pk)
