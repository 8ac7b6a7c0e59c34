"""Who answers: accounts, standing, money, and what to do when something is wrong."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common import shown_once
from marketplace.models import PanelEntry, Payout, Worker
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import EraseForm, StandingForm
from marketplace.site.operator.pages import page_of, search_words, searched, show
from marketplace.verbs import access, accounts, clock, privacy
from marketplace.verbs.operators import act

SECTION = "workers"
SORTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "newest": ("Newest", ("-pk",)),
    "owed": ("Most owed", ((F("earned") - F("paid")).desc(), "pk")),
    "earned": ("Most earned", ("-earned", "pk")),
    "submitted": ("Most submitted", ("-submitted_count", "pk")),
    "rejected": ("Most rejected", ("-rejected_count", "pk")),
    "name": ("Name", ("user__username", "pk")),
}
ROWS_OF_EACH = 10


def find(worker_id: str) -> Worker:
    return get_object_or_404(Worker.objects.select_related("user"), worker_id=worker_id)


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    rows = queries.search_workers(Worker.objects.select_related("user"), search_words(request))
    if suspended := "suspended" in request.GET:
        rows = rows.filter(suspended_at__isnull=False)
    context = {**searched(rows, request, SORTS), "suspended": suspended}
    return show(request, "workers", context, SECTION)


@require_safe
@operator_required
def worker(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    who = find(worker_id)
    paid = who.payout_lines.filter(payout__state=Payout.State.PAID).select_related("payout")
    held = who.qualifications.select_related("type__requester").order_by("-granted_at", "-pk")
    context = {
        "worker": who,
        "outside_ids": list(PanelEntry.objects.filter(worker=who).select_related("panel").order_by("pk")),
        "payouts": list(paid.order_by("-pk")[:ROWS_OF_EACH]),
        "qualifications": page_of(held, request, ROWS_OF_EACH),
        "blocks": list(who.blocks.select_related("requester").order_by("-pk")[:ROWS_OF_EACH]),
        "concerns": list(queries.concerns().filter(worker=who)[:ROWS_OF_EACH]),
        "actions": list(queries.actions().filter(worker=who)[:ROWS_OF_EACH]),
    }
    return show(request, "worker", context, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def suspend(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    """Suspend, or lift the suspension: whichever the page offered, which the form names."""
    who = find(worker_id)
    if request.method != "POST":
        return show(request, "worker_suspend", {"worker": who}, SECTION)
    now = clock.now()
    if request.POST.get("do") == "lift":
        with act(operator, "Lifted the suspension", now, worker=who):
            accounts.lift_suspension(who)
        messages.success(request, "The suspension is lifted.")
    else:
        with act(operator, "Suspended", now, worker=who):
            accounts.suspend(who, now)
        messages.success(request, "Suspended: nothing new can be taken. Work in hand may be finished and is paid.")
    return redirect("operator:worker", who.worker_id)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def standing(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    """What system qualifications say that only a person can know: locale, adult content, Masters."""
    who = find(worker_id)
    form = StandingForm(request.POST or None, instance=who)
    if request.method != "POST" or not form.is_valid():
        context = {"form": form, "worker_id": who.worker_id, "name": who.user.get_username()}
        return show(request, "worker_standing", context, SECTION, status=400 if form.errors else 200)
    with act(operator, f"Set {form.said()}", clock.now(), worker=who):
        form.save()
    messages.success(request, "Saved. The list of HITs uses these values from now on.")
    return redirect("operator:worker", who.worker_id)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def reset(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    """A link by which the worker sets a new password; it is shown once."""
    who = find(worker_id)
    if request.method != "POST":
        return show(request, "worker_reset", {"worker": who, "new": shown_once.taken(request)}, SECTION)
    now = clock.now()
    with act(operator, "Made a link for a new password", now, worker=who):
        link = access.reset_link(who, now)
    return shown_once.leading_to(request, request.path, link=link)


@require_POST
@operator_required
def export(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    """All that is kept about a worker, as a file. A POST, because it is written down."""
    who = find(worker_id)
    with act(operator, "Exported the personal data", clock.now(), worker=who):
        data = privacy.export(who)
    return JsonResponse(
        data,
        json_dumps_params={"indent": 2, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{who.worker_id}.json"'},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def erase(request: HttpRequest, operator: User, worker_id: str) -> HttpResponse:
    """Delete who the worker is, on request; the worker id must be typed, because nothing brings it back."""
    who = find(worker_id)
    form = EraseForm(request.POST or None, worker_id=who.worker_id)
    if request.method != "POST" or not form.is_valid():
        context = {"worker": who, "form": form}
        return show(request, "worker_erase", context, SECTION, status=400 if form.errors else 200)
    privacy.erase(who, clock.now(), operator)
    messages.success(request, "The personal data is deleted. Answers and money stay under the worker ID.")
    return redirect("operator:worker", who.worker_id)
