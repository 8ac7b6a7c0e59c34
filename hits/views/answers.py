"""The answers of a stage and their review."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from hits import forms, tasks
from hits.flow import reviewing
from hits.models import Assignment, Stage
from hits.views import jobs, paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_stage
from hits.views.stages import frame

CHOICES = {
    "review": Q(state=Assignment.State.SUBMITTED),
    "reported": ~Q(remark=""),
    "invalid": ~Q(problem=""),
}


@for_stage(PAGE)
def answers(request: HttpRequest, stage: Stage) -> HttpResponse:
    return _page(request, stage, forms.RejectForm())


def _page(request: HttpRequest, stage: Stage, form: forms.RejectForm, status: int = 200) -> HttpResponse:
    chosen = request.GET.get("show", "")
    if form.is_bound:
        chosen = "review"
    rows = stage.assignments.select_related("hit__item", "worker").prefetch_related("labels")
    if chosen in CHOICES:
        rows = rows.filter(CHOICES[chosen])
    summary = stage.summary
    context = {
        **frame(stage),
        "page": paging.by_id(rows, request.GET, newest_first=chosen != "review"),
        "filters": [
            ("", "All", summary.answers),
            ("review", "Wait for review", summary.to_review),
            ("reported", "Reported", summary.reported),
            ("invalid", "Invalid", summary.invalid),
        ],
        "chosen": chosen if chosen in CHOICES else "",
        "form": form,
    }
    return render(request, "stage/answers.html", context, status=status)


@for_stage(VERB)
def approve(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.AnswersForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Tick the answers that you mean first.")
        return _to_review(stage)
    count = reviewing.approve(stage, form.cleaned_data["answers"], request.user)
    return _decided(request, stage, count, "approved and paid")


@for_stage(VERB)
def reject(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.RejectForm(request.POST)
    if not form.is_valid():
        if "feedback" in form.errors:
            messages.error(request, "A rejection needs a reason: the workers read it. Nothing was rejected.")
        else:
            messages.error(request, "Tick the answers that you mean first.")
        return _page(request, stage, form, 400)
    count = reviewing.reject(stage, form.cleaned_data["answers"], form.cleaned_data["feedback"], request.user)
    return _decided(request, stage, count, "rejected and asked again")


def _decided(request: HttpRequest, stage: Stage, count: int, what: str) -> HttpResponse:
    if not count:
        messages.info(request, "These answers were decided before. Nothing changed.")
    else:
        said = f"{count:,} answer{'' if count == 1 else 's'} will be {what}."
        jobs.start(request, tasks.finish_reviews, stage.pk, said=said)
    return _to_review(stage)


def _to_review(stage: Stage) -> HttpResponse:
    return redirect(reverse("answers", args=[stage.project.slug, stage.key]) + "?show=review")
