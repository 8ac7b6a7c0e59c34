"""What a stage holds: its items, one item with its history, its HITs, and its sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.answers.rules import answer_review, answer_words
from hits.core.keyset import counted
from hits.items.rules import item_lists
from hits.items.rules.item_lists import ItemFilter
from hits.items.rules.item_texts import BLANK, LONGEST_SEARCH, text_of_document
from hits.items.verbs import annotating, sampling
from hits.judging.rules import stage_statistics
from hits.model_assist.rules import model_votes, suggestions
from hits.models import Assignment, Hit, Item, Label, ModelAnswer, Stage, StageSummary
from hits.publishing.rules.hit_items import hits_of
from hits.recipes.source import UNUSED
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.templatetags.figures import said
from hits.views import paging
from hits.views.forms import whole_number
from hits.views.guard import FORM, PAGE, for_stage
from hits.views.spreadsheet import csv_response

# Of one HIT, and of files of results, so many answers are shown on the page of an item.
MOST_ANSWERS = 100
# Characters of all cells of an item together; of each, so many are shown in any case.
MOST_OF_CELLS, LEAST_OF_A_CELL = 200_000, 200
# Of a computation, what grows with its stage.
_LARGE = ("computation__log", "computation__checkpoint")


SORTS = (
    ("id", "as they were imported"),
    ("-id", "newest first"),
    ("-disagreement", "most disputed first"),
    ("disagreement", "least disputed first"),
    ("confidence", "least confident first"),
    ("-confidence", "most confident first"),
    ("-changed", "latest answers first"),
    ("changed", "oldest answers first"),
    ("-priority", "highest priority first"),
    ("priority", "lowest priority first"),
)
# What is said of an order in which not every item stands.
LEFT_OUT = {
    "disagreement": "Items without two answers to the same question are not in this order.",
    "confidence": "Items that the newest aggregation has no confidence of are not in this order.",
    "changed": "Items that were never looked at for answers are not in this order.",
    "priority": "Items without a priority are not in this order.",
}

# Which fields of an item name choices that are known to be right, and what fields are called.
KNOWN = ("gold", "intended")
TITLES = {
    "question": "Question",
    "choices": "Choices",
    "candidates": "Choices",
    "gold": "Gold",
    "intended": "Intended as right",
}


class DrawForm(forms.Form):
    items = forms.IntegerField(label="Size of the sample", min_value=1, max_value=1_000_000, widget=whole_number())


@for_stage(PAGE, crowd=False)
def items(request: HttpRequest, stage: Stage) -> HttpResponse:
    wanted = _wanted(request)
    page = item_lists.page(stage, wanted, **paging.places(request.GET))
    summary = stage.summary
    computed = stage_statistics.computed(stage) if stage.crowd else None
    context = {
        **frame(stage),
        "page": page,
        "rows": item_lists.listed(stage, page.rows),
        "filters": [("", "All", summary.items), *(_states(summary) if stage.crowd else [])],
        "wanted": wanted,
        "chosen": wanted.state,
        "word": wanted.conclusion,
        "words": words(stage),
        "sorts": SORTS if stage.crowd else SORTS[:2],
        "computed": computed,
        "going_on": stage_statistics.going_on(stage) if computed else None,
        "by_priority": wanted.sort.endswith("priority"),
        "left_out": LEFT_OUT.get(wanted.sort.removeprefix("-"), ""),
    }
    return render(request, "items/items.html", context)


@for_stage(PAGE, crowd=False)
def items_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """All items that the page's filters choose, in its order."""
    rows = item_lists.table(stage, _wanted(request))
    return csv_response(f"{stage.project.slug}-{stage.key}-items.csv", item_lists.COLUMNS, rows)


def _wanted(request: HttpRequest) -> ItemFilter:
    """What the address names; what is no filter chooses nothing."""
    state, sort = request.GET.get("state", ""), request.GET.get("sort", "")
    return ItemFilter(
        state=state if state in Item.State.values else "",
        conclusion=request.GET.get("conclusion", "")[:40],
        find=" ".join(request.GET.get("find", "").split())[:LONGEST_SEARCH],
        sort=sort if sort in item_lists.SORTS else item_lists.FIRST,
    )


def _states(summary: StageSummary) -> list[tuple[str, str, int]]:
    return [
        (Item.State.NEW, "To be published", summary.waiting),
        (Item.State.OPEN, "Open", summary.open - summary.again),
        (Item.State.AGAIN, "To be answered again", summary.again),
        (Item.State.KEPT, "Kept", summary.kept),
        (Item.State.DROPPED, "Dropped", summary.dropped),
        *([(Item.State.WITHDRAWN, "Taken back", summary.withdrawn)] if summary.withdrawn else []),
        *([(Item.State.CHECK, "Check questions", summary.check_questions)] if summary.check_questions else []),
    ]


def labels_with_items() -> Prefetch:
    """Of answers: their labels, with the items and texts that they are about, each of which is read once."""
    items = Prefetch("item", Item.objects.defer("ballots"))
    return Prefetch("labels", Label.objects.order_by("pk").prefetch_related(items, "item__document"))


def words(stage: Stage) -> list[tuple[str, int]]:
    """The rule's own words, each with how many items it concludes."""
    return [(word, number) for _, word, number in stage.summary.conclusions]


@for_stage(PAGE, crowd=False)
def item(request: HttpRequest, stage: Stage, pk: int) -> HttpResponse:
    """One item: what it asks, its HITs with their answers, and every verdict it ever had."""
    if annotating.has_annotations(stage):
        return redirect("article", stage.project.slug, stage.key, pk)
    row = get_object_or_404(stage.items.select_related("document", "parent__stage"), pk=pk)
    answers = Assignment.objects.select_related("worker", "imported_from").prefetch_related(
        Prefetch("labels", Label.objects.filter(item=row).order_by("unit")), "actions"
    )
    hits = list(
        hits_of([row.pk])
        .order_by("slot")
        .prefetch_related(Prefetch("assignments", answers.order_by("submitted_at")[:MOST_ANSWERS], to_attr="shown"))
    )
    imported = list(answers.filter(item=row).order_by("submitted_at")[:MOST_ANSWERS])
    given = [*(answer for hit in hits for answer in hit.shown), *imported]
    for answer in given:
        answer.stage = stage
    others = stage.items.only("pk", "key")
    by_models, words = model_votes.answers_by_item([row.pk]).get(row.pk, []), answer_words.Words.of(stage)
    context = {
        **frame(stage),
        "item": row,
        "before": others.filter(pk__lt=row.pk).order_by("-pk").first(),
        "after": others.filter(pk__gt=row.pk).order_by("pk").first(),
        "told": answer_words.of_item(stage, row, given),
        "question": _question(row),
        "unused": _cells(row.document.data.get(UNUSED) or {}),
        "passage": answer_review.passage(text_of_document(row.document.data)),
        "hits": hits,
        "imported": imported,
        "most_answers": MOST_ANSWERS,
        "of_models": [(one, _in_words(words, row, one)) for one in by_models],
        "verdicts": row.verdicts.select_related("computation").defer(*_LARGE).order_by("-id"),
        "suggestions": suggestions.told(stage, row),
        "children": row.children.select_related("stage")[:10],
    }
    return render(request, "items/item.html", context)


def _in_words(words: answer_words.Words, row: Item, answer: ModelAnswer) -> str:
    lines = [words.line(row, label["unit"], label["value"]).said for label in answer.labels]
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _question(row: Item) -> dict[str, object]:
    """The item's own words, whatever its protocol: the query and references of a cloze item, else every field."""
    data = {name: value for name, value in row.data.items() if name not in ("key", "key_field")}
    query = str(data.pop("query", "") or "").replace(BLANK, "____")
    references = [answer.get("text", "") for answer in data.pop("answers", []) if isinstance(answer, dict)]
    words = answer_words.Words.of(row.stage)
    told = {TITLES.get(name, name): said(_told(words, row, name, value)) for name, value in data.items()}
    rest = list(_cells(told).items())
    return {"query": query, "references": list(dict.fromkeys(references)), "rest": rest}


def _cells(values: Mapping[str, Any]) -> dict[str, str]:
    """Names and values as the page of one item shows them, which a row of endless cells makes no larger."""
    longest = max(LEAST_OF_A_CELL, MOST_OF_CELLS // max(1, len(values)))
    return {name: answer_words.shortened(str(value), longest) for name, value in values.items()}


def _told(words: answer_words.Words, row: Item, name: str, value: object) -> object:
    """A field of an item; the right choices by their texts."""
    if name not in KNOWN or not isinstance(value, str | list):
        return value
    several = value if isinstance(value, list) else [value]
    return [words.choice(row, one) if isinstance(one, str) else one for one in several]


@for_stage(PAGE)
def hits(request: HttpRequest, stage: Stage) -> HttpResponse:
    state = request.GET.get("state", "")
    rows = stage.hits.select_related("item")
    every = [("", "All", rows), *((one.value, str(one.label), rows.filter(state=one)) for one in Hit.State)]
    filters = [(value, name, counted(chosen)) for value, name, chosen in every]
    if state in Hit.State.values:
        rows = rows.filter(state=state)
    context = {**frame(stage), "page": paging.by_id(rows, request.GET), "filters": filters, "chosen": state}
    return render(request, "items/hits.html", context)


# Samples


@for_stage(FORM)
def draw(request: HttpRequest, stage: Stage) -> HttpResponse:
    """GET says how many there are to draw from; POST makes the items. Nothing is published by it."""
    form = DrawForm(request.POST if request.method == "POST" else None)
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
