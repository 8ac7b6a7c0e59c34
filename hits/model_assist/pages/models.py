"""The models of a project that answer beside its people: registering one, ending it, and giving it items again."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables

from common import shown_once
from hits.model_assist.rules.model_leases import MOST_TIMES, counts_of_not_given_again
from hits.model_assist.verbs import model_annotators
from hits.model_assist.verbs.model_annotators import MOST_COST
from hits.models import Project
from hits.refusals import Refused
from hits.views import navigation, paging
from hits.views.forms import MoneyField
from hits.views.guard import PAGE, VERB, LeadRequest, for_project


class RegisterModelForm(forms.Form):
    """`hits.model_assist.verbs.model_annotators` judges it."""

    name = forms.CharField(max_length=60, label="Name", help_text="Of the model, such as “small-bert”.")
    version = forms.CharField(
        max_length=40, label="Version", help_text="What answers differently is another version: they are compared."
    )
    cost_per_answer = MoneyField(
        what="a cost",
        required=False,
        decimal_places=6,
        max_value=MOST_COST,
        label="Cost of an answer, $",
        help_text="Of answers that state none themselves; up to six decimals. Nothing is paid from here. May be empty.",
    )


@for_project(PAGE)
def index(request: HttpRequest, project: Project) -> HttpResponse:
    return _index(request, project)


def _index(request: HttpRequest, project: Project, form: RegisterModelForm | None = None) -> HttpResponse:
    rows = project.model_annotators.select_related("created_by")
    page = paging.by_id(rows, request.GET, newest_first=True)
    too_often = counts_of_not_given_again(page.rows)
    context = {
        "project": project,
        "page": page,
        "rows": [(row, too_often.get(row.pk, 0)) for row in page.rows],
        "most_times": MOST_TIMES,
        "form": form or RegisterModelForm(),
        "new": shown_once.taken(request),
        "asking": [stage for stage in navigation.stages_of(project) if stage.crowd],
    }
    return render(request, "model_assist/index.html", context, status=400 if form else 200)


@sensitive_variables("token")
@for_project(VERB)
def register(request: LeadRequest, project: Project) -> HttpResponse:
    form = RegisterModelForm(request.POST)
    if not form.is_valid():
        return _index(request, project, form)
    given = form.cleaned_data
    try:
        row, token = model_annotators.register(
            project, given["name"], given["version"], given["cost_per_answer"], request.user
        )
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return _index(request, project, form)
    return shown_once.leading_to(request, reverse("models", args=[project.slug]), token=token, name=str(row))


@for_project(VERB)
def end(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.model_annotators, pk=pk)
    try:
        model_annotators.end(row, request.user)
    except Refused as refusal:
        messages.info(request, str(refusal))
    else:
        messages.success(request, f"{row} has ended: its token opens nothing any more. Its answers stay.")
    return redirect("models", project.slug)


@for_project(VERB)
def give_again(request: LeadRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.model_annotators, pk=pk)
    try:
        count = model_annotators.give_again(row, request.user)
    except Refused as refusal:
        messages.info(request, str(refusal))
    else:
        items = "1 item is" if count == 1 else f"{count:,} items are"
        messages.success(request, f"{items} given to {row} again.")
    return redirect("models", project.slug)
