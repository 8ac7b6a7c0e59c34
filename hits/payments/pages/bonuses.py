"""The pages of payments: bonuses, files of them, and compensations."""

from __future__ import annotations

import uuid

from django.db.models import Count, Min, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse

from hits.formats.inputs.payments import MOST_LINES
from hits.models import Bonus, BonusFile, BonusOrder, Compensation, Project
from hits.payments.api.bonuses import ANSWER, BONUS_FILE, BONUSES, COMPENSATION, COMPENSATIONS, ORDER
from hits.payments.models import OPEN
from hits.payments.rules.ledger_lists import Totals, payment_totals
from hits.payments.verbs import compensating, ordering_bonuses
from hits.views import paging
from hits.views.guard import PAGE, for_project

# Bonuses


@for_project(PAGE)
def bonuses(request: HttpRequest, project: Project) -> HttpResponse:
    order = _order_asked(request, project)
    totals = payment_totals(BONUSES.filtered(project, {"order": order.pk if order else None}))
    chosen = request.GET.get("state", "")
    chosen = chosen if chosen in Bonus.State.values else ""
    rows = BONUSES.filtered(project, {"order": order.pk if order else None, "state": chosen})
    context = {
        "project": project,
        **_progress(project),
        "order": order,
        "totals": totals,
        "page": paging.by_id(rows, request.GET, newest_first=True),
        "filters": _filters(totals, Bonus.State.choices),
        "chosen": chosen,
    }
    return render(request, "payments/bonuses.html", context)


def _filters(totals: Totals, states: list[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """(state, what it is called, how many rows), all of them first."""
    return [("", "All", totals.count), *((value, name, totals.counts.get(value, 0)) for value, name in states)]


def _order_asked(request: HttpRequest, project: Project) -> BonusOrder | None:
    """The order that `?order=` names; 404 for one that is not there."""
    asked = request.GET.get("order", "")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit() and len(asked) < 19):
        raise Http404("No such order.")
    return ORDER.find(project, pk=int(asked))


@for_project(PAGE)
def progress(request: HttpRequest, project: Project) -> HttpResponse:
    return render(request, "payments/_progress.html", {"project": project, "polled": True, **_progress(project)})


def _progress(project: Project) -> dict[str, object]:
    """How far the orders are that are not paid out yet, together, and why one waits; `running` is None without any."""
    waiting = project.bonuses.filter(state__in=OPEN)
    orders = project.bonus_orders.filter(pk__in=waiting.values("order"))
    found = orders.aggregate(orders=Count("pk"), total=Sum("total"), since=Min("created_at"))
    if not found["orders"]:
        return {"running": None, "waits_because": ""}
    said = waiting.exclude(error="").order_by("id").values_list("error", flat=True).first()
    return {"running": {**found, "done": found["total"] - waiting.count()}, "waits_because": said}


@for_project(PAGE)
def pay_bonus(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    answer = ANSWER.find(project, pk=pk)
    earlier = project.bonuses.filter(assignment=answer).select_related("order__created_by").order_by("-id")
    return render(request, "payments/bonus.html", {"project": project, "answer": answer, "earlier": earlier[:10]})


# Files of bonuses


@for_project(PAGE)
def bonus_file(request: HttpRequest, project: Project) -> HttpResponse:
    return render(request, "payments/file.html", {"project": project, "most_lines": MOST_LINES})


@for_project(PAGE)
def kept_file(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """How far the check is, then the price or the faults."""
    row = BONUS_FILE.find(project, pk=pk)
    if row.order_id:
        return redirect(f"{reverse('payments', args=[project.slug])}?order={row.order_id}")
    context: dict[str, object] = {"project": project, "row": row}
    if row.state == BonusFile.State.READY:
        quote = ordering_bonuses.quote_again(row)
        what = f"Pay {quote.count:,} bonus{'' if quote.count == 1 else 'es'} for ${quote.total:,.2f}"
        context |= {
            "quote": quote,
            "first": ordering_bonuses.first_lines(row),
            "confirmation": uuid.uuid4(),
            "button": f"{what} all the same" if quote.warnings else what,
        }
    return render(request, "payments/kept_file.html", context)


@for_project(PAGE)
def kept_file_progress(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = BONUS_FILE.find(project, pk=pk)
    answer = render(request, "payments/_kept_file.html", {"project": project, "row": row})
    if not row.is_running:
        answer["HX-Refresh"] = "true"
    return answer


# Compensations


@for_project(PAGE)
def compensations(request: HttpRequest, project: Project) -> HttpResponse:
    chosen = request.GET.get("state", "")
    chosen = chosen if chosen in Compensation.State.values else ""
    totals = payment_totals(project.compensations.all())
    context = {
        "project": project,
        "totals": totals,
        "page": paging.by_id(COMPENSATIONS.filtered(project, {"state": chosen}), request.GET, newest_first=True),
        "filters": _filters(totals, Compensation.State.choices),
        "chosen": chosen,
    }
    return render(request, "payments/compensations.html", context)


@for_project(PAGE)
def new_compensation(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"project": project, "initial": {"worker_id": request.GET.get("worker", "")[:64]}}
    return render(request, "payments/new_compensation.html", context)


@for_project(PAGE)
def compensation(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    row = COMPENSATION.find(project, pk=pk)
    is_open = row.state in (Compensation.State.PLANNED, Compensation.State.OFFERED)
    context = {
        "project": project,
        "row": row,
        "total": row.amount + row.fee,
        "is_open": is_open,
        "is_withdrawn": is_open and compensating.is_over(row),
        "certain_at": compensating.certain_at(row.expires_at) if row.expires_at else None,
        "address": compensating.task_address(row),
        "letter": compensating.letter(row) if row.state == Compensation.State.OFFERED else "",
        "withdraw": f"Withdraw the offer of ${row.amount:,.2f}",
    }
    return render(request, "payments/compensation.html", context)


urls = [
    path("payments/", bonuses, name="payments"),
    path("payments/progress/", progress, name="payments-progress"),
    path("payments/bonus/<int:pk>/", pay_bonus, name="pay-bonus"),
    path("payments/file/", bonus_file, name="bonus-file"),
    path("payments/files/<int:pk>/", kept_file, name="kept-bonus-file"),
    path("payments/files/<int:pk>/progress/", kept_file_progress, name="kept-bonus-file-progress"),
    path("payments/compensations/", compensations, name="compensations"),
    path("payments/compensations/new/", new_compensation, name="new-compensation"),
    path("payments/compensations/<int:pk>/", compensation, name="compensation"),
]
