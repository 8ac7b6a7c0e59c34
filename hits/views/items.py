"""What a stage holds: its items, one item with its history, and its HITs."""

from __future__ import annotations

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits.domain.hit_items import hits_of
from hits.domain.imported_tables import LONGEST_SEARCH, searched
from hits.flow.data import annotating
from hits.models import Assignment, Hit, Item, Label, Stage, StageSummary
from hits.recipes.source import UNUSED
from hits.text.passages import passage_parts
from hits.views import paging
from hits.views.guard import PAGE, for_stage
from hits.views.stages import frame

# Of a computation, what grows with its stage.
_LARGE = ("computation__log", "computation__checkpoint")


@for_stage(PAGE, crowd=False)
def items(request: HttpRequest, stage: Stage) -> HttpResponse:
    state = request.GET.get("state", "")
    rows = stage.items.select_related("document").defer("document__data")
    if state in Item.State.values:
        rows = rows.filter(state=state)
    word = request.GET.get("conclusion", "")[:40]
    if word:
        rows = rows.filter(conclusion=word)
    sought = request.GET.get("find", "").strip()[:LONGEST_SEARCH]
    if sought:
        rows = searched(rows, stage.project, sought)
    summary = stage.summary
    filters = [
        ("", "All", summary.items),
        *(_states(summary) if stage.crowd else []),
    ]
    context = {**frame(stage), "page": paging.by_id(rows, request.GET), "filters": filters, "chosen": state}
    return render(request, "stage/items.html", {**context, "word": word, "words": words(stage), "sought": sought})


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


def labels_with_keys() -> Prefetch:
    """Of answers: their labels, each with its item's key."""
    return Prefetch("labels", Label.objects.select_related("item").defer("item__data", "item__ballots"))


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
    hits = (
        hits_of([row.pk]).order_by("slot").prefetch_related(Prefetch("assignments", answers.order_by("submitted_at")))
    )
    context = {
        **frame(stage),
        "item": row,
        "question": _question(row),
        "unused": row.document.data.get(UNUSED) or {},
        "passage": _passage(str(row.document.data.get("text", ""))),
        "hits": hits,
        "imported": answers.filter(item=row).order_by("submitted_at"),
        "verdicts": row.verdicts.select_related("computation").defer(*_LARGE).order_by("-id"),
        "children": row.children.select_related("stage")[:10],
    }
    return render(request, "stage/item.html", context)


def _passage(text: str) -> list[tuple[bool, str]]:
    """Paragraphs and bullets as (is a bullet, words)."""
    return [(part.kind == "bullet", text[part.start : part.end].strip()) for part in passage_parts(text)]


def _question(row: Item) -> dict[str, object]:
    """The item's own words, whatever its protocol: the query and references of a cloze item, else every field."""
    data = {name: value for name, value in row.data.items() if name not in ("key", "key_field")}
    query = data.pop("query", None)
    references = [answer.get("text", "") for answer in data.pop("answers", []) if isinstance(answer, dict)]
    return {"query": query, "references": list(dict.fromkeys(references)), "rest": data}


@for_stage(PAGE)
def hits(request: HttpRequest, stage: Stage) -> HttpResponse:
    state = request.GET.get("state", "")
    rows = stage.hits.select_related("item")
    if state in Hit.State.values:
        rows = rows.filter(state=state)
    filters = [("", "All"), *Hit.State.choices]
    context = {**frame(stage), "page": paging.by_id(rows, request.GET), "filters": filters, "chosen": state}
    return render(request, "stage/hits.html", context)
