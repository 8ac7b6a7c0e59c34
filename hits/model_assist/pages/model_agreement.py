"""People and models of a stage side by side, and the items that models decide."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.model_assist.rules import model_agreement as figures
from hits.model_assist.verbs import routing
from hits.model_assist.verbs.routing import LEAST_AUDIT, MOST_AUDIT, WHY_AUDIT, Condition
from hits.models import ModelAnnotator, Stage
from hits.refusals import Refusal, Refused
from hits.stages.pages.stages import frame
from hits.stats.audit import Share
from hits.text.language.amounts import agreeing, amount
from hits.views import jobs, paging
from hits.views.forms import whole_number
from hits.views.guard import PAGE, VERB, LeadRequest, for_stage
from hits.views.spreadsheet import csv_response

COLUMNS = (
    "name", "answers", "gold_right", "gold_of", "gold_low", "gold_high",
    "agreement", "agreement_of", "agreement_low", "agreement_high",
    "mean_confidence", "seconds", "minutes", "cost", "cost_per_answer",
)  # fmt: skip


class RoutingForm(forms.Form):
    """When models decide; `hits.model_assist.verbs.routing` judges it."""

    models = forms.TypedMultipleChoiceField(label="Models", coerce=int, widget=forms.CheckboxSelectMultiple)
    least = forms.IntegerField(
        label="So many have to say the same",
        min_value=1,
        widget=whole_number(),
        help_text="More than half of those that you choose.",
    )
    confidence = forms.FloatField(
        label="Each with a confidence of at least, in percent",
        min_value=0,
        max_value=100,
        widget=whole_number(),
        help_text="As the models state it. An answer without a confidence decides nothing.",
    )
    audit = forms.FloatField(
        label="Of these items, sent to people all the same, in percent",
        min_value=100 * LEAST_AUDIT,
        max_value=100 * MOST_AUDIT,
        widget=whole_number(),
        help_text="Drawn at random: they show how often the models are wrong.",
        error_messages={
            bound: f"Give {100 * LEAST_AUDIT:g} to {100 * MOST_AUDIT:g} percent. {WHY_AUDIT}"
            for bound in ("min_value", "max_value")
        },
    )

    def __init__(self, *arguments: Any, models: list[tuple[int, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["models"].choices = models  # type: ignore[attr-defined]

    def condition(self) -> Condition:
        given = self.cleaned_data
        return Condition(tuple(given["models"]), given["least"], given["confidence"] / 100, given["audit"] / 100)


@for_stage(PAGE)
def people_and_models(request: HttpRequest, stage: Stage) -> HttpResponse:
    """With the fields of the form in its address, what models would decide by them is shown too."""
    return _page(request, stage, request.GET if "least" in request.GET else None)


def _page(request: HttpRequest, stage: Stage, given: Any = None, fault: str = "") -> HttpResponse:
    models = list(stage.project.model_annotators.order_by("pk"))
    form = _form(stage, models, given)
    rows = stage.routings.select_related("created_by").prefetch_related("annotators")
    standing = figures.standing(stage)
    context = {
        **frame(stage),
        "compared": figures.compared(stage),
        "looked_at": figures.LOOKED_AT,
        "models": models,
        "form": form,
        "preview": _preview(stage, form) if given is not None else None,
        "stage_faults": routing.stage_faults(stage),
        "page": paging.by_id(rows, request.GET, newest_first=True),
        "audit": figures.audit(stage, standing) if standing else None,
        "decided": stage.summary.decided_by_models,
        "is_deciding": bool(standing) and figures.is_deciding(stage),
        "saved": sum((row.saved for row in standing if row.undone_at is None), Decimal(0)),
        "fault": fault,
    }
    is_bad = bool(fault or form.errors)
    return render(request, "model_assist/model_agreement.html", context, status=400 if is_bad else 200)


def _form(stage: Stage, models: list[ModelAnnotator], given: Any) -> RoutingForm:
    first: dict[str, Any] = {
        "models": [row.pk for row in models if row.ended_at is None],
        "confidence": f"{100 * routing.USUAL_CONFIDENCE:.12g}",
        "audit": f"{100 * routing.USUAL_AUDIT:.12g}",
    }
    first["least"] = len(first["models"]) // 2 + 1 if first["models"] else 1
    return RoutingForm(given, models=[(row.pk, str(row)) for row in models], initial=first)


def _preview(stage: Stage, form: RoutingForm) -> routing.Preview | None:
    """None where the form has faults, which are added to it."""
    if not form.is_valid():
        return None
    try:
        return routing.preview(stage, form.condition())
    except Refused as refusal:
        for fault in refusal.details()["faults"]:
            form.add_error(None, fault)
        return None


@for_stage(VERB)
def route(request: LeadRequest, stage: Stage) -> HttpResponse:
    """Confirms a preview: the form carries its fields and what it said."""
    models = list(stage.project.model_annotators.order_by("pk"))
    form = _form(stage, models, request.POST)
    if not form.is_valid():
        return _page(request, stage, request.POST)
    try:
        decided, saved = int(request.POST.get("decided", "")), Decimal(request.POST.get("saved", ""))
    except (ValueError, InvalidOperation):
        return _page(request, stage, request.POST, "Look at the preview and confirm it. Nothing was changed.")
    try:
        row = routing.route(stage, form.condition(), decided, saved, request.user)
    except Refused as refusal:
        return _page(request, stage, request.POST, str(refusal))
    said = (
        f"The models decide {amount(row.decided, 'item')}. {amount(row.audited, 'item')} of those on which they "
        f"agree {agreeing(row.audited, 'goes', 'go')} to people."
    )
    jobs.start(request, tasks.conclude_stage, stage.pk, said=said)
    return redirect("people-and-models", stage.project.slug, stage.key)


@for_stage(VERB)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    row = get_object_or_404(stage.routings.select_related("stage__project"), pk=pk)
    try:
        found = routing.undo(row, request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        said = (
            f"{amount(found.returned, 'item')} {agreeing(found.returned, 'waits', 'wait')} to be published to people."
        )
        if found.used:
            stay, them = agreeing(found.used, "stays", "stay"), agreeing(found.used, "it", "them")
            said += f" {amount(found.used, 'item')} {stay} decided: later items were made of {them}."
        jobs.start(request, tasks.conclude_stage, stage.pk, said=said)
    return redirect("people-and-models", stage.project.slug, stage.key)


@for_stage(PAGE)
def people_and_models_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    return csv_response(f"{stage.project.slug}-{stage.key}-people-and-models.csv", COLUMNS, _rows(stage))


def _rows(stage: Stage) -> Iterator[list[object]]:
    for line in figures.compared(stage).lines:
        yield [
            line.name,
            line.answers,
            *_share(line.gold),
            *_share(line.agreement),
            line.confidence,
            line.seconds,
            line.minutes,
            line.cost,
            line.cost_per_answer,
        ]


def _share(share: Share) -> list[object]:
    """Its count and what of, and the interval; empty cells without an observation."""
    return [share.count, share.of, share.low, share.high] if share.of else ["", 0, "", ""]
