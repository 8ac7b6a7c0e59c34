"""The answers of a stage and their review."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet, prefetch_related_objects
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hits import tasks
from hits.answers.pages import forms
from hits.answers.pages.likeness import likenesses
from hits.answers.rules import answer_lists, answer_words, text_evidence
from hits.answers.rules.answer_lists import AnswerFilter
from hits.answers.rules.item_answers import all_numbered
from hits.answers.verbs import reviewing
from hits.core.roles import may_in, page_verb
from hits.formats.inputs.results_reading import LONGEST_ID
from hits.items.pages.items import labels_with_items, words
from hits.items.rules.item_texts import LONGEST_SEARCH, ItemTexts
from hits.models import Assignment, Block, BudgetExceededError, Stage
from hits.publishing.rules import hit_items
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.views import jobs, paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage
from hits.views.spreadsheet import csv_response
from hits.workers.models import by_blocked_worker

# Of the filters that lists of answers know, those that a page offers.
CHOICES = ("review", "held", "reported", "invalid", "rejected", "adopted", "imported", "signs")
SORTS = (
    ("-id", "newest first"),
    ("id", "oldest first"),
    ("-submitted", "submitted last"),
    ("submitted", "submitted first"),
    ("seconds", "fastest first"),
    ("-seconds", "slowest first"),
)
# Where the stage collects how texts came about.
BY_SIGNS = ("-signs", "most signs first")
COMPARED = (("", "any"), (answer_lists.WRONG, "something wrong"), (answer_lists.RIGHT, "all right"))
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
    "worker_blocked": by_blocked_worker(),
}
NOTHING_TICKED = "No answer is ticked: tick those that you mean."
REJECT_FAULTS = {
    "answers": NOTHING_TICKED,
    "feedback": "A rejection needs a reason of at most 1,000 characters: the workers read it.",
}
# The lists in which answers are ticked.
DECIDING = ("review", "held")
BESIDE_SHOW = ("conclusion", "worker", "compared", "find", "sort")
# What a row shows besides the answer itself.
_SHOWN_WITH = ("hit__item__document", "item__document", "imported_from", "worker", "actions")
# Of the text that an answer is about, on a page of answers.
SHOWN_TEXT = 140
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
    wanted = _wanted(request, _list(request) if form.is_bound else request.GET.get("show", ""))
    chosen, summary = wanted.show, stage.summary
    adopted = len(stage.assignments.filter(answer_lists.SHOWN["adopted"]).values_list("pk")[:MOST_COUNTED])
    page = answer_lists.page(stage, wanted, **paging.places(request.GET))
    evidence = text_evidence.of_answers(stage, page.rows)
    collects = stage.text_evidence or bool(evidence)
    may_decide = may_in(request.project, page_verb("approve", "POST"))
    prefetch_related_objects(page.rows, *_SHOWN_WITH, labels_with_items())
    context = {
        **frame(stage),
        "page": page,
        "blocked": Block.objects.of_workers(stage.project_id, [row.worker_id for row in page.rows]),
        "told": answer_words.of_answers([stage], page.rows),
        "texts": _texts(stage, page.rows),
        "alike": likenesses(stage, page.rows),
        "filters": [
            ("", "All", summary.answers),
            ("review", "Wait for review", summary.to_review),
            ("held", "Held until approved", summary.held),
            ("reported", "Reported", summary.reported),
            ("invalid", "Invalid", summary.invalid),
            ("rejected", "Rejected", summary.rejected),
            ("adopted", "Reviewed outside Annotate", adopted if adopted < MOST_COUNTED else None),
            *([("imported", "Imported", summary.imported)] if summary.imported else []),
            *([("signs", "With signs in their text", None)] if collects or chosen == "signs" else []),
        ],
        "adopted": adopted,
        "chosen": chosen,
        "wanted": wanted,
        "filters_beside": _filters_beside(request),
        "sorts": (*SORTS, BY_SIGNS) if collects or wanted.sort == BY_SIGNS[0] else SORTS,
        "evidence": evidence,
        "compared": COMPARED,
        "deciding": chosen in DECIDING and may_decide,
        "to_decide": reviewing.left_of([stage])[stage.pk] if may_decide else 0,
        "form": form,
        "faults": faults,
        "ticked": set(request.POST.getlist("answers")) if form.is_bound else set(),
        "feedback": request.POST.get("feedback", "") if form.is_bound else "",
        "word": wanted.conclusion,
        "words": [(name, None) for name, _ in words(stage)],
    }
    return render(request, "answers/answers.html", context, status=status)


def _wanted(request: HttpRequest, show: str, first: str = "-id") -> AnswerFilter:
    """What the address names; what is no filter chooses nothing. Those that wait for a decision are oldest first."""
    given = request.GET
    compared, sort = given.get("compared", ""), given.get("sort", "")
    return AnswerFilter(
        show=show if show in CHOICES else "",
        conclusion=given.get("conclusion", "")[:40],
        worker=given.get("worker", "").strip()[:LONGEST_ID],
        compared=compared if compared in dict(COMPARED) else "",
        find=" ".join(given.get("find", "").split())[:LONGEST_SEARCH],
        sort=sort if sort in answer_lists.SORTS else "id" if show in DECIDING else first,
    )


def _filters_beside(request: HttpRequest) -> str:
    """The filters and the order of the address besides `show`, to be written behind it: a decision keeps them, so that
    the next answers that are ticked are of the same list.
    """
    given = {name: request.GET[name] for name in BESIDE_SHOW if request.GET.get(name)}
    return f"&{urlencode(given)}" if given else ""


def _texts(stage: Stage, rows: Iterable[Assignment]) -> dict[int, str]:
    """Of each answer, the first words of what it is about."""
    texts = ItemTexts.of(stage)
    return {answer.pk: texts.text(answer.about, SHOWN_TEXT) for answer in rows}


@for_stage(PAGE)
def answers_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """All answers that the page's filters choose, by themselves oldest first; the form fields of each as JSON."""
    wanted = _wanted(request, request.GET.get("show", ""), first="id")
    lines = _lines(answer_lists.all_of(stage, wanted), answer_lists.holding(wanted))
    return csv_response(f"{stage.project.slug}-{stage.key}-answers.csv", list(COLUMNS), lines)


def _lines(rows: QuerySet[Assignment], holds: Callable[[Mapping[str, Any]], bool]) -> Iterator[list[Any]]:
    """The keys of a HIT's items stand in one cell, with "; " between them."""
    in_parts = iter(rows.values_list("hit", "hit__item_count", *COLUMNS.values()).iterator(chunk_size=CSV_ROWS))
    while part := list(islice(in_parts, CSV_ROWS)):
        lines = [(hit, items or 1, dict(zip(COLUMNS, row, strict=True))) for hit, items, *row in part]
        chosen = [one for one in lines if holds(one[2])]
        further = hit_items.further_keys({hit for hit, items, _ in chosen if items > 1})
        for hit, items, line in chosen:
            yield _line(line, items, further.get(hit, ()))


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
    chosen, of_blocked = form.cleaned_data["answers"], paging.id_of(request.POST.get("of_blocked")) or 0
    try:
        count = reviewing.approve(stage, chosen, request.user, of_blocked=of_blocked)
    except Refused as error:
        # What was ticked is approved once a lead has read how many of it are from blocked workers.
        context = {
            **frame(stage),
            "chosen": chosen,
            "of_blocked": error.details()["of_blocked_workers"],
            "show": _list(request),
            "filters_beside": _filters_beside(request),
        }
        return render(request, "answers/approve_blocked.html", context)
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
    answers = stage.assignments.select_related("hit__item", "worker").prefetch_related(labels_with_items(), "actions")
    answer = get_object_or_404(answers, pk=pk)
    if request.method == "POST":
        try:
            count = reviewing.take_back(stage, [answer.pk], request.user)
        except (Refused, BudgetExceededError) as error:
            messages.error(request, str(error))
            return redirect("take-back", stage.project.slug, stage.key, answer.pk)
        return _decided(request, stage, count, "approved and paid after all", "rejected")
    told = answer_words.of_answers([stage], [answer])
    context = {**frame(stage), "answer": answer, "told": told, "why_not": reviewing.why_not_taken_back(answer)}
    return render(request, "answers/take_back.html", context)


def _decided(request: HttpRequest, stage: Stage, count: int, what: str, show: str = "review") -> HttpResponse:
    if not count:
        messages.info(request, "These answers were decided before. Nothing changed.")
    else:
        said = f"{count:,} answer{'' if count == 1 else 's'} will be {what}."
        jobs.start(request, tasks.finish_reviews, stage.pk, said=said)
    address = reverse("answers", args=[stage.project.slug, stage.key])
    return redirect(f"{address}?show={show}{_filters_beside(request)}")
