"""The ledger: entries, sums, export, and its comparison with the marketplace."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hits import tasks
from hits.formats.inputs.results_reading import LONGEST_ID
from hits.models import LedgerCheck, LedgerEntry, Project
from hits.payments.rules import ledger_lists
from hits.payments.rules.ledger_checks import ENTRY_COLUMNS, entry_lines
from hits.payments.rules.ledger_differences import KINDS
from hits.payments.rules.ledger_lists import EntryFilter
from hits.payments.verbs import checking_ledger
from hits.projects.verbs.projects import budget_changes
from hits.views import jobs, paging
from hits.views.guard import PAGE, VERB, LeadRequest, for_project
from hits.views.spreadsheet import csv_response

CHECKS_SHOWN = 20


# Entries


@for_project(PAGE)
def ledger(request: HttpRequest, project: Project) -> HttpResponse:
    """The sums of all are the account's two columns, which change in one transaction with the entries."""
    wanted = _asked(request, project)
    rows = ledger_lists.chosen(project, wanted)
    linked = rows.select_related("stage", "hit__stage", "batch__stage", "assignment__worker", "compensation")
    context = {
        "project": project,
        "page": paging.by_id(
            linked.select_related("bonus__worker", "bonus__assignment__hit"), request.GET, newest_first=True
        ),
        "kinds": ledger_lists.kinds(project, wanted),
        "wanted": wanted,
        "stages": [("", "All stages"), *project.stages.order_by("position").values_list("key", "title")],
        "sums": _sums(rows) if wanted.is_narrow else None,
        "check": project.ledger_checks.first(),
        "budget_changes": budget_changes(project),
    }
    return render(request, "projects/ledger.html", context)


def _asked(request: HttpRequest, project: Project) -> EntryFilter:
    """What the address names; what there is not, and what is no day, chooses nothing."""
    given = request.GET
    kind, stage = given.get("kind", ""), given.get("stage", "")
    known = bool(stage) and project.stages.filter(key=stage).exists()
    return EntryFilter(
        kind=kind if kind in LedgerEntry.Kind.values else "",
        stage=stage if known else "",
        worker=given.get("worker", "").strip()[:LONGEST_ID],
        since=_day(given.get("since", "")),
        until=_day(given.get("until", "")),
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _sums(rows: QuerySet[LedgerEntry]) -> dict[str, Decimal]:
    found = rows.aggregate(reserved=Sum("reserved"), paid=Sum("paid"), fee=Sum("fee"))
    return {name: amount or Decimal(0) for name, amount in found.items()}


@for_project(PAGE)
def ledger_csv(request: HttpRequest, project: Project) -> HttpResponse:
    """All entries that the page's filters choose, oldest first."""
    rows = ledger_lists.chosen(project, _asked(request, project))
    return csv_response(f"{project.slug}-ledger.csv", list(ENTRY_COLUMNS), entry_lines(rows))


# Comparisons with the marketplace


@for_project(PAGE)
def checks(request: HttpRequest, project: Project) -> HttpResponse:
    return _check_page(request, project, project.ledger_checks.select_related("created_by").first())


@for_project(PAGE)
def check(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    rows = project.ledger_checks.select_related("created_by")
    return _check_page(request, project, get_object_or_404(rows, pk=pk))


def _check_page(request: HttpRequest, project: Project, row: LedgerCheck | None) -> HttpResponse:
    history = list(project.ledger_checks.select_related("created_by")[:CHECKS_SHOWN])
    return render(request, "projects/ledger_check.html", {"history": history, **_described(project, row)})


@for_project(PAGE)
def check_progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = get_object_or_404(project.ledger_checks.select_related("created_by"), pk=pk)
    return render(request, "projects/_ledger_check.html", {"polled": True, **_described(project, row)})


def _described(project: Project, row: LedgerCheck | None) -> dict[str, object]:
    """The check, its differences by kind: those that stay, then those that are normal at the moment."""
    return {
        "project": project,
        "check": row,
        "running": row is not None and row.state == LedgerCheck.State.RUNNING,
        "faults": _by_kind(row.faults) if row else [],
        "in_flight": _by_kind(row.in_flight) if row else [],
        # The account as it was then: its two sums lead the figures.
        "agreed": dict(zip(("reserved", "paid"), (one for _, one, _ in row.figures), strict=False)) if row else {},
    }


def _by_kind(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    order = list(KINDS)
    ordered = sorted(differences, key=lambda one: order.index(one["kind"]))
    return [{"kind": KINDS[key], "rows": list(rows)} for key, rows in groupby(ordered, key=lambda one: one["kind"])]


@for_project(VERB)
def start_check(request: LeadRequest, project: Project) -> HttpResponse:
    row = checking_ledger.begin(project, request.user, deep=bool(request.POST.get("deep")))
    said = "The books are being compared with the marketplace. You may close this page: it goes on."
    jobs.start(request, tasks.check_ledger, row.pk, said=said)
    return redirect("ledger-check", project.slug, row.pk)
