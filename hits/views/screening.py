"""The test of a stage's workers: adding one, and what became of those who took it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from hits import forms
from hits.domain.hit_plans import is_published
from hits.domain.screening import tests_of
from hits.domain.screening_results import standing
from hits.flow.setup import own_stages
from hits.models import Stage
from hits.protocols.base import SettingsRefusedError
from hits.views.guard import FORM, LeadRequest, for_stage
from hits.views.stages import frame


@for_stage(FORM)
def screening(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows the figures of a test, or the form that adds one to this stage; POST adds it."""
    if stage.screening_share:
        return render(request, "stage/screening.html", {**frame(stage), "found": standing(stage)})
    form = forms.ScreeningForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = own_stages.add_stage(stage.project, form.table(stage.key), request.user)
        except SettingsRefusedError as refusal:
            for reason in refusal.reasons:
                name, _, rest = reason.partition(" ")
                known = name in form.fields
                form.add_error(name if known else None, f"“{form.fields[name].label}” {rest}" if known else reason)
        else:
            messages.success(request, f"“{made.title}” created. Read its settings through, then publish it.")
            return redirect("stage", stage.project.slug, made.key)
    context = {**frame(stage), "form": form, "tests": tests_of(stage), "fixed": is_published(stage)}
    return render(request, "stage/new_screening.html", context, status=400 if form.is_bound else 200)
