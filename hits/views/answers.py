"""The answers of a stage and their review."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hits import forms, tasks
from hits.domain import hit_items
from hits.domain.item_answers import all_numbered
from hits.domain.roles import may_in, page_verb
from hits.flow.people import reviewing
from hits.models import Assignment, BudgetExceededError, Stage
from hits.models.answers import HELD
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage
from hits.views.items import labels_with_keys, words
from hits.views.likeness import likenesses
from hits.views.spreadsheet import csv_response
from hits.views.stages import frame

CHOICES = {
    "review": Q(state=Assignment.State.SUBMITTED),
    "held": HELD,
    "reported": ~Q(remark=""),
    "invalid": ~Q(problem=""),
    "rejected": Q(state=Assignment.State.REJECTED),
    "adopted": ~Q(adopted=""),
    "imported": ~Q(imported_from=None),
}
COLUMNS: dict[str, Any] = {
    "assignment_id": "assignment_id",
    "worker_id": "worker__worker_id",
    "hit_id": "hit__hit_id",
    "item": Coalesce("item__key", "hit__item__key"),
    "state": "state",
    "accepted_at": "accepted_at",
    "submitted_at": "submitted_at",
    "seconds": "seconds",
    "reward": "hit__reward",
    "problem": "problem",
    "held": "held",
    "admitted": "admitted",
    "remark": "remark",
    "feedback": "feedback",
    "answer": "answer",
    "imported_from": "imported_from__name",
}
NOTHING_TICKED = "No answer is ticked: tick those that you mean."
REJECT_FAULTS = {
    "answers": NOTHING_TICKED,
    "feedback": "A rejection needs a reason of at most 1,000 characters: the workers read it.",
}
# The lists in which answers are ticked.
DECIDING = ("review", "held")
# Beyond so many the number beside a filter is not counted: the page costs the same with many answers.
MOST_COUNTED = 1000
CSV_ROWS = 2000


@for_stage(PAGE)
def answers(request: LeadRequest, stage: Stage) -> HttpResponse:
    return _page(request, stage, forms.RejectForm())


def _page(
    request: LeadRequest, stage: Stage, form: forms.AnswersForm, status: int = 200, faults: Sequence[str] = ()
) -> HttpResponse:
    """`faults` stand above and beside the buttons of a form that was refused; what was ticked and written stays."""
    if faults:
        messages.error(request, " ".join(faults))
    chosen = request.GET.get("show", "")
    if form.is_bound:
        chosen = _list(request)
    rows = stage.assignments.select_related("hit__item", "item", "imported_from", "worker").prefetch_related(
        labels_with_keys(), "actions"
    )
    if chosen in CHOICES:
        rows = rows.filter(CHOICES[chosen])
    word = request.GET.get("conclusion", "")[:40]
    rows = rows.filter(_concluded(word))
    summary = stage.summary
    adopted = len(stage.assignments.filter(CHOICES["adopted"]).values_list("pk")[:MOST_COUNTED])
    page = paging.by_id(rows, request.GET, newest_first=chosen not in DECIDING)
    context = {
        **frame(stage),
        "page": page,
        "alike": likenesses(stage, page.rows),
        "filters": [
            ("", "All", summary.answers),
            ("review", "Wait for review", summary.to_review),
            ("held", "Not counted yet", summary.held),
            ("reported", "Reported", summary.reported),
            ("invalid", "Invalid", summary.invalid),
            ("rejected", "Rejected", None),
            ("adopted", "Reviewed outside Annotate", adopted if adopted < MOST_COUNTED else None),
            *([("imported", "Imported", summary.imported)] if summary.imported else []),
        ],
        "adopted": adopted,
        "chosen": chosen if chosen in CHOICES else "",
        "deciding": chosen in DECIDING and may_in(request.project, page_verb("approve", "POST")),
        "form": form,
        "faults": faults,
        "ticked": set(request.POST.getlist("answers")) if form.is_bound else set(),
        "feedback": request.POST.get("feedback", "") if form.is_bound else "",
        "word": word,
        "words": [(name, None) for name, _ in words(stage)],
    }
    return render(request, "stage/answers.html", context, status=status)


def _concluded(word: str) -> Q:
    """Answers to items that the rule concluded so; without a word, all of them."""
    return hit_items.concluded(word) if word else Q()


@for_stage(PAGE)
def answers_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """All answers that the page's filter chooses, oldest first; the form fields of each as JSON."""
    word = request.GET.get("conclusion", "")[:40]
    rows = stage.assignments.filter(CHOICES.get(request.GET.get("show", ""), Q()), _concluded(word)).order_by("id")
    return csv_response(f"{stage.project.slug}-{stage.key}-answers.csv", list(COLUMNS), _lines(rows))


def _lines(rows: QuerySet[Assignment]) -> Iterator[list[Any]]:
    """The keys of a HIT's items stand in one cell, with "; " between them."""
    in_parts = iter(rows.values_list("hit", "hit__item_count", *COLUMNS.values()).iterator(chunk_size=CSV_ROWS))
    while part := list(islice(in_parts, CSV_ROWS)):
        further = hit_items.further_keys({hit for hit, items, *_ in part if items and items > 1})
        for hit, items, *row in part:
            yield _line(dict(zip(COLUMNS, row, strict=True)), items or 1, further.get(hit, ()))


def _line(line: dict[str, Any], items: int, further: Sequence[str]) -> list[Any]:
    line["item"] = "; ".join([line["item"], *further])
    if items > 1:
        line["answer"] = all_numbered(line["answer"], items)
    line["accepted_at"], line["submitted_at"] = line["accepted_at"].isoformat(), line["submitted_at"].isoformat()
    line["seconds"] = None if line["seconds"] is None else round(line["seconds"], 1)
    line["answer"] = json.dumps(line["answer"], ensure_ascii=False)
    return list(line.values())


@for_stage(VERB)
def approve(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.AnswersForm(request.POST)
    if not form.is_valid():
        return _page(request, stage, form, 400, [f"{NOTHING_TICKED} Nothing was approved."])
    count = reviewing.approve(stage, form.cleaned_data["answers"], request.user)
    return _decided(request, stage, count, "approved and paid", _list(request))


@for_stage(VERB)
def reject(request: LeadRequest, stage: Stage) -> HttpResponse:
    form = forms.RejectForm(request.POST)
    if not form.is_valid():
        faults = [text for field, text in REJECT_FAULTS.items() if field in form.errors]
        return _page(request, stage, form, 400, [*faults, "Nothing was rejected."])
    count = reviewing.reject(stage, form.cleaned_data["answers"], form.cleaned_data["feedback"], request.user)
    return _decided(request, stage, count, "rejected and asked again", _list(request))


def _list(request: HttpRequest) -> str:
    """The list in which the posted answers were ticked."""
    show = request.POST.get("show", "")
    return show if show in DECIDING else "review"


@for_stage(FORM)
def take_back(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    """GET says what taking this rejection back costs; POST approves the answer after all."""
    answers = stage.assignments.select_related("hit__item", "worker").prefetch_related(labels_with_keys(), "actions")
    answer = get_object_or_404(answers, pk=pk)
    if request.method == "POST":
        try:
            count = reviewing.take_back(stage, [answer.pk], request.user)
        except (reviewing.TakeBackRefusedError, BudgetExceededError) as error:
            messages.error(request, str(error))
            return redirect("take-back", stage.project.slug, stage.key, answer.pk)
        return _decided(request, stage, count, "approved and paid after all", "rejected")
    context = {**frame(stage), "answer": answer, "why_not": reviewing.why_not_taken_back(answer)}
    return render(request, "stage/take_back.html", context)


def _decided(request: HttpRequest, stage: Stage, count: int, what: str, show: str = "review") -> HttpResponse:
    if not count:
        messages.info(request, "These answers were decided before. Nothing changed.")
    else:
        said = f"{count:,} answer{'' if count == 1 else 's'} will be {what}."
        jobs.start(request, tasks.finish_reviews, stage.pk, said=said)
    return _to_list(stage, show)


def _to_list(stage: Stage, show: str) -> HttpResponse:
    return redirect(reverse("answers", args=[stage.project.slug, stage.key]) + f"?show={show}")
