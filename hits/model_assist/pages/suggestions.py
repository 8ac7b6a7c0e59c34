"""The pages "Suggestions" and "Priorities" of a stage: how far workers follow a model, and what is published first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from hits.formats.files.faults import FormatErrors, grouped
from hits.formats.inputs import item_values
from hits.items.verbs import prioritizing
from hits.judging.rules.required_answers import by_priority
from hits.model_assist.rules import anchoring
from hits.model_assist.rules import suggestions as domain
from hits.model_assist.verbs import suggesting
from hits.models import Item, Stage
from hits.stages.pages.stages import frame
from hits.text.language.amounts import agreeing, amount
from hits.views.guard import FORM, PAGE, LeadRequest, for_stage
from hits.views.spreadsheet import csv_response

# Of the items that are published next.
NEXT = 20


class SuggestionsForm(forms.Form):
    file = forms.FileField(label="File of suggestions", help_text="CSV, TSV, JSON Lines or a workbook.")


class PrioritiesForm(forms.Form):
    file = forms.FileField(label="File of priorities", help_text="CSV, TSV, JSON Lines or a workbook.")


@for_stage(FORM)
def suggestions(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows the report and the form of a file; POST takes the file, or names all its faults and changes nothing."""
    takes, posted = domain.takes_suggestions(stage), request.method == "POST"
    form = SuggestionsForm(request.POST if posted else None, request.FILES if posted else None) if takes else None
    faults: Sequence[Any] = ()
    if form and form.is_valid():
        try:
            file = form.cleaned_data["file"]
            found = suggesting.suggest(stage, item_values.read_suggestions(file, file.name), request.user)
        except FormatErrors as error:
            faults = grouped(error.errors)
        else:
            replaced = f", {found.replaced:,} took the place of earlier ones" if found.replaced else ""
            messages.success(request, f"{amount(found.new, 'new suggestion')}{replaced}.")
            return redirect("suggestions", stage.project.slug, stage.key)
    context = {
        **frame(stage),
        "form": form,
        "faults": faults,
        "found": anchoring.report(stage),
        "none_taken": "" if takes else domain.none_taken(stage),
        "shown_to": stage.get_suggestions_display(),  # type: ignore[attr-defined]
        "columns": item_values.SUGGESTIONS.fields,
    }
    return render(request, "model_assist/suggestions.html", context, status=_status(request, form, faults))


@for_stage(PAGE)
def suggestions_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """Each answer beside each suggestion, for whoever reckons with them anew."""
    return csv_response(f"{stage.project.slug}-{stage.key}-suggestions.csv", anchoring.COLUMNS, anchoring.table(stage))


@for_stage(FORM)
def priorities(request: LeadRequest, stage: Stage) -> HttpResponse:
    """GET shows what is published next and the form of a file; POST takes the file, or names all its faults."""
    posted = request.method == "POST"
    form = PrioritiesForm(request.POST if posted else None, request.FILES if posted else None)
    faults: Sequence[Any] = ()
    if form.is_valid():
        try:
            file = form.cleaned_data["file"]
            changed = prioritizing.prioritize(stage, item_values.read_priorities(file, file.name), request.user)
        except FormatErrors as error:
            faults = grouped(error.errors)
        else:
            said = f"{amount(changed, 'item')} {agreeing(changed, 'has', 'have')} another priority now."
            messages.success(request, said)
            return redirect("priorities", stage.project.slug, stage.key)
    context = {
        **frame(stage),
        "form": form,
        "faults": faults,
        "next": _next(stage),
        "waiting": stage.summary.waiting,
        "columns": item_values.PRIORITIES.fields,
    }
    return render(request, "model_assist/priorities.html", context, status=_status(request, form, faults))


def _next(stage: Stage) -> list[Item]:
    """The items that are published first, in their order."""
    found: list[Item] = []
    for rows in by_priority(stage.items.filter(state=Item.State.NEW)):
        found += rows.defer("data", "ballots")[: NEXT - len(found)]
    return found


def _status(request: HttpRequest, form: Any, faults: Sequence[Any]) -> int:
    return 400 if request.method == "POST" and (faults or form is None or form.errors) else 200
