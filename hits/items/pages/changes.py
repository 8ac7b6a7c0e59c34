"""What the answers of a stage change in its items, and taking such a change back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hits.core.keyset import counted
from hits.items.verbs import undoing_changes
from hits.models import Label, Stage
from hits.protocols.optional import Change
from hits.stages.pages.stages import frame
from hits.text.originality.word_difference import Run, difference
from hits.views import paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_stage
from hits.views.spreadsheet import csv_response

UNDONE = "undone"
COLUMNS = (
    "item", "document", "unit", "what", "action", "reason", "before", "after", "worker_id", "assignment_id",
    "submitted_at", "counts", "taken_back_at", "taken_back_by", "left_out",
)  # fmt: skip


@for_stage(PAGE)
def changes(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The changes, newest first, 50 a page; before them the items of which they leave nothing."""
    protocol = undoing_changes.changing(stage)
    actions = protocol.actions if protocol else ()
    chosen = request.GET.get("show", "")
    page = paging.by_id(_chosen(stage, chosen), request.GET, newest_first=True)
    first_page = not request.GET.get("before") and not request.GET.get("after")
    left_out = list(islice(undoing_changes.left_out(stage), undoing_changes.SHOWN + 1)) if first_page else []
    context = {
        **frame(stage),
        "page": page,
        "rows": [_row(label, undoing_changes.change_of(label, protocol), dict(actions)) for label in page.rows],
        "filters": [
            (value, name, counted(_chosen(stage, value)))
            for value, name in (("", "All"), *actions, (UNDONE, "Taken back"))
        ],
        "chosen": chosen,
        "left_out": left_out[: undoing_changes.SHOWN],
        "more_left_out": len(left_out) > undoing_changes.SHOWN,
        "changing": protocol is not None,
    }
    return render(request, "items/changes/index.html", context)


def _chosen(stage: Stage, show: str) -> QuerySet[Label]:
    rows = undoing_changes.changes(stage)
    if show == UNDONE:
        return rows.filter(undone_at__isnull=False)
    return rows.filter(value__action=show) if show else rows


def _row(label: Label, change: Change, actions: dict[str, str]) -> dict[str, object]:
    return {"label": label, "change": change, "did": actions[change.action], "parts": _parts(change)}


def _parts(change: Change) -> list[tuple[str, list[Run]]]:
    """(name, what went and what came) of each text that differs."""
    after = change.after if change.after is not None else dict.fromkeys(change.before, "")
    return [
        (name, difference(before, after.get(name, "")))
        for name, before in change.before.items()
        if before != after.get(name, "")
    ]


@for_stage(PAGE)
def changes_csv(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The changes that the page's filter chooses, oldest first; what stood before and after as JSON."""
    rows = _chosen(stage, request.GET.get("show", "")).order_by("id")
    return csv_response(f"{stage.project.slug}-{stage.key}-changes.csv", COLUMNS, _lines(stage, rows))


def _lines(stage: Stage, rows: QuerySet[Label]) -> Iterator[list[Any]]:
    protocol = undoing_changes.changing(stage)
    because = {found.pk: found.because for found in undoing_changes.left_out(stage)}
    for row in rows.iterator(chunk_size=1000):
        change = undoing_changes.change_of(row, protocol)
        yield [
            row.item.key, row.item.document.key, row.unit, change.title, change.action, change.reason,
            _json(change.before), _json(change.after) if change.after is not None else "", row.worker.worker_id,
            row.assignment.assignment_id, row.assignment.submitted_at.isoformat(),
            "no" if row.undone_at or row.void else "yes", row.undone_at.isoformat() if row.undone_at else "",
            row.undone_by.get_username() if row.undone_by else "", because.get(row.item_id, ""),
        ]  # fmt: skip


def _json(texts: object) -> str:
    return json.dumps(texts, ensure_ascii=False)


@for_stage(VERB)
def undo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    label = get_object_or_404(undoing_changes.changes(stage), pk=pk)
    if undoing_changes.undo(label.pk, request.user):
        messages.success(request, f"Taken back: {label.item.key} is as it was there. Releases made before keep it.")
    else:
        messages.info(request, "This change was taken back before. Nothing changed.")
    return _back(request, stage, label)


@for_stage(VERB)
def redo(request: LeadRequest, stage: Stage, pk: int) -> HttpResponse:
    label = get_object_or_404(undoing_changes.changes(stage), pk=pk)
    if undoing_changes.redo(label.pk, request.user):
        messages.success(request, f"Taken up again: the change of {label.item.key} counts.")
    else:
        messages.info(request, "This change counts already. Nothing changed.")
    return _back(request, stage, label)


def _back(request: LeadRequest, stage: Stage, label: Label) -> HttpResponse:
    """To the same page of the list, at the same row."""
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    return redirect(f"{reverse('changes', args=[stage.project.slug, stage.key])}{query}#change-{label.pk}")
