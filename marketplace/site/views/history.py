"""What the worker has done, earned and may do."""

from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.models import Worker
from marketplace.rules import qualifications as rules
from marketplace.site import queries, words
from marketplace.site.countries import COUNTRIES
from marketplace.site.forms import ProfileForm
from marketplace.site.guards import worker_required
from marketplace.site.pages import show
from marketplace.site.zone import viewer_zone
from marketplace.verbs import assignments

ROWS_PER_PAGE = 25


def _page_of(rows: Any, request: HttpRequest) -> Any:
    return Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page"))


@require_safe
@worker_required
def my_work(request: HttpRequest, worker: Worker) -> HttpResponse:
    now = timezone.now()
    if assignments.sweep(now):
        worker.refresh_from_db()
    judged = worker.approved_count + worker.rejected_count
    totals = {
        "submitted": worker.submitted_count,
        "approved": worker.approved_count,
        "rejected": worker.rejected_count,
        "waiting": worker.submitted_count - judged,
        "approval": 100 * worker.approved_count // judged if judged else None,
    }
    context = {
        "totals": totals,
        "in_hand": list(queries.in_hand(worker, now)),
        "page": _page_of(queries.handed_in(worker), request),
    }
    return show(request, worker, "my_work", context, "my_work")


@require_safe
@worker_required
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    assignments.sweep(timezone.now())
    zone = viewer_zone(request)
    page = _page_of(queries.earnings_by_day(worker, zone), request)
    page.object_list = [row | {"worked": words.worked(row["work_time"])} for row in page.object_list]
    context = {"totals": queries.earnings_totals(worker), "page": page, "zone": zone.key}
    return show(request, worker, "earnings", context, "earnings")


@require_safe
@worker_required
def qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    context = {"standing": _standing(worker), "page": _page_of(queries.qualifications_held(worker), request)}
    return show(request, worker, "qualifications", context, "qualifications")


def _standing(worker: Worker) -> list[dict[str, str]]:
    young = worker.percent_approved_override is None and worker.submitted_count < rules.PERCENT_COUNTS_FROM
    note = f"Counts as 100 % until you have submitted {rules.PERCENT_COUNTS_FROM} answers." if young else ""
    place = COUNTRIES.get(worker.country, worker.country) or "not given"
    return [
        {"name": "Percent of answers approved", "value": f"{worker.percent_approved} %", "note": note},
        {"name": "Number of answers approved", "value": f"{worker.number_approved:,}", "note": ""},
        {"name": "Location", "value": f"{place}, {worker.subdivision}" if worker.subdivision else place, "note": ""},
        {"name": "Adult content", "value": "agreed" if worker.adult else "not agreed", "note": ""},
        {"name": "Masters", "value": "yes" if worker.masters else "no", "note": ""},
    ]


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
    context = {"form": form, "saved": "saved" in request.GET, "country": COUNTRIES.get(worker.country, "")}
    return show(request, worker, "profile", context, "profile", status=400 if form is not None and form.errors else 200)
