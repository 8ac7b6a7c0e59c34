"""A stage that takes a sample of what the project has collected: how many there are, and drawing some."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits.items.pages import forms
from hits.items.verbs import sampling
from hits.models import Stage
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.views.guard import FORM, for_stage


@for_stage(FORM)
def draw(request: HttpRequest, stage: Stage) -> HttpResponse:
    """GET says how many there are to draw from; POST makes the items. Nothing is published by it."""
    form = forms.DrawForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _draw(request, stage, form.cleaned_data["items"])
    quote, refusal, told = None, "", {}
    try:
        quote = sampling.quote(stage)
        form.initial = {"items": min(stage.draws, quote.there)}
        told = sampling.told(stage)
    except Refused as error:
        refusal = str(error)
    missing = sampling.missing(stage) if refusal else None
    context = {**frame(stage), "form": form, "quote": quote, "refusal": refusal, "missing": missing, "told": told}
    return render(request, "items/draw.html", context, status=400 if form.is_bound else 200)


def _draw(request: HttpRequest, stage: Stage, count: int) -> HttpResponse:
    try:
        made = sampling.draw(stage, count)
    except Refused as error:
        messages.error(request, str(error))
        return redirect("draw", stage.project.slug, stage.key)
    if made:
        messages.success(request, f"{made:,} new item{'' if made == 1 else 's'} sampled, ready to be priced.")
    else:
        messages.info(request, "These items are here already. Sample more, or sample again when more has come through.")
    return redirect("stage", stage.project.slug, stage.key)
