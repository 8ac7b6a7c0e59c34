"""The test of a stage's workers: adding one, and what became of those who took it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from hits.models import Stage
from hits.protocols.base import SettingsRefusedError
from hits.publishing.rules.hit_plans import is_published
from hits.stages.pages.stages import frame
from hits.stages.verbs import custom_stages
from hits.views.guard import FORM, LeadRequest, for_stage
from hits.workers.pages import forms
from hits.workers.rules.screening import tests_of
from hits.workers.rules.screening_results import standing


@for_stage(FORM)
def screening(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows the figures of a test, or the form that adds one to this stage; POST adds it."""
    if stage.screening_share:
        return render(request, "workers/screening.html", {**frame(stage), "found": standing(stage)})
    form = forms.ScreeningForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = custom_stages.add_stage(stage.project, form.table(stage.key), request.user)
        except SettingsRefusedError as refusal:
            for reason in refusal.reasons:
                name, _, rest = reason.partition(" ")
                known = name in form.fields
                form.add_error(name if known else None, f"“{form.fields[name].label}” {rest}" if known else reason)
        else:
            messages.success(request, f"“{made.title}” created. Read its settings through, then publish it.")
            return redirect("stage", stage.project.slug, made.key)
    context = {**frame(stage), "form": form, "tests": tests_of(stage), "fixed": is_published(stage)}
    return render(request, "workers/new_screening.html", context, status=400 if form.is_bound else 200)
