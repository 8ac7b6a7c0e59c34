"""What the worker has done, earned and may do."""

from datetime import datetime
from math import ceil
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import Assignment, Worker
from marketplace.site import earnings_queries, places, queries, words
from marketplace.site.account_forms import PlaceForm
from marketplace.site.forms import ProfileForm
from marketplace.site.guards import worker_required
from marketplace.site.pages import contact, csv_file, kept_query, page_of, show
from marketplace.site.words import warn_at
from marketplace.site.zone import viewer_zone
from marketplace.verbs import accounts, assignments, clock, concerns

_Status = Assignment.Status
# What the history can be narrowed to: the address's word, what the link says, the status.
STATES: dict[str, tuple[Any, str | None]] = {
    "": (_("All"), None),
    "waiting": (_("Waiting"), _Status.SUBMITTED),
    "approved": (_("Approved"), _Status.APPROVED),
    "rejected": (_("Rejected"), _Status.REJECTED),
}


# What the page says when there are none.
NONE_OF_THEM = {
    "waiting": _("No waiting answers"),
    "approved": _("No approved answers"),
    "rejected": _("No rejected answers"),
}


@require_safe
@worker_required
def my_work(request: HttpRequest, worker: Worker) -> HttpResponse:
    now = clock.now()
    if assignments.sweep(now):
        worker.refresh_from_db()
    totals = _totals(worker)
    asked = request.GET.get("state", "")
    state = asked if asked in STATES else ""
    page = page_of(queries.handed_in(worker, STATES[state][1]), request)
    for row in page.object_list:
        row.dispute = row.disputes[0] if row.disputes else None
        row.can_dispute = row.dispute is None and concerns.can_dispute(row, now)
    context = {
        "totals": totals,
        "in_hand": _with_time_left(queries.in_hand(worker, now), now),
        "queue_limit": settings.MARKETPLACE_QUEUE_LIMIT,
        "page": page,
        "query": kept_query(request),
        "state": state,
        "none_of_them": NONE_OF_THEM.get(state, ""),
        "states": [(key, label) for key, (label, _) in STATES.items()],
        "returned": _number(request.GET.get("returned", "")),
    }
    return show(request, worker, "my_work", context, "my_work")


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 6 else None


def _totals(worker: Worker) -> dict[str, Any]:
    judged = worker.approved_count + worker.rejected_count
    return {
        "submitted": worker.submitted_count,
        "approved": worker.approved_count,
        "rejected": worker.rejected_count,
        "waiting": worker.submitted_count - judged,
        "approval": 100 * worker.approved_count // judged if judged else None,
    }


def _with_time_left(rows: list[Assignment], now: datetime) -> list[dict[str, Any]]:
    """Rows of the queue with the seconds left and the moment from which little is left."""
    return [
        {
            "assignment": row,
            "seconds_left": ceil((row.deadline - now).total_seconds()),
            "warn_at": warn_at(row.hit.hit_type.assignment_duration_seconds),
        }
        for row in rows
    ]


VIEWS = {"days": _("By day"), "bonuses": _("Bonuses"), "payments": _("Payments")}


@require_safe
@worker_required
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    if assignments.sweep(clock.now()):
        worker.refresh_from_db()
    zone = viewer_zone(request)
    asked = request.GET.get("view", "")
    view = asked if asked in VIEWS else "days"
    days = earnings_queries.by_day(worker, zone)
    context = {
        "totals": earnings_queries.totals(days),
        "page": _earnings_page(request, worker, view, days),
        "query": kept_query(request),
        "zone": zone.key,
        "view": view,
        "views": VIEWS.items(),
    }
    return show(request, worker, "earnings", context, "earnings")


def _earnings_page(request: HttpRequest, worker: Worker, view: str, days: list[dict[str, Any]]) -> Any:
    if view == "bonuses":
        return page_of(earnings_queries.bonuses_of(worker), request)
    if view == "payments":
        return page_of(earnings_queries.payments_to(worker), request)
    page = page_of(days, request)
    page.object_list = [row | {"worked": words.worked(row["work_time"])} for row in page.object_list]
    return page


@require_safe
@worker_required
def earnings_file(request: HttpRequest, worker: Worker) -> HttpResponseBase:
    """All movements of the worker's money."""
    rows = earnings_queries.movements(worker, viewer_zone(request))
    return csv_file(f"earnings-{worker.worker_id}.csv", earnings_queries.COLUMNS, rows)


@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def profile(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Who I am here; in a sandbox, also who I pretend to be."""
    if request.method == "POST" and not settings.MARKETPLACE_SANDBOX:
        raise Http404
    form = ProfileForm(request.POST or None, instance=worker) if settings.MARKETPLACE_SANDBOX else None
    if form is not None and request.method == "POST" and form.is_valid():
        form.save()
        return redirect(reverse("site:profile") + "?saved=1")
    if form is not None and form.errors:
        # The form has written its refused values into the object; the page shows what is stored.
        worker.refresh_from_db()
    context = {"form": form, "saved": "saved" in request.GET, "done": request.GET.get("done", "")} | _about(worker)
    return show(request, worker, "profile", context, "profile", status=400 if form is not None and form.errors else 200)


@require_POST
@worker_required
def adult(request: HttpRequest, worker: Worker) -> HttpResponse:
    accounts.choose_adult_content(worker, request.POST.get("agreed") == "yes")
    return redirect("site:profile")


def _about(worker: Worker) -> dict[str, Any]:
    """What the profile says of the account. A panel's people have no password, and no address of theirs is kept."""
    unconfirmed = bool(worker.user.email) and worker.email_confirmed_at is None
    return {
        "country": places.country(worker.country),
        "part": places.subdivisions(worker.country).get(worker.subdivision, worker.subdivision),
        "has_password": worker.user.has_usable_password(),
        "must_confirm": settings.MARKETPLACE_MAIL and unconfirmed,
        "place": None if settings.MARKETPLACE_SANDBOX else PlaceForm(worker),
        "contact": contact(),
    }
