"""What the worker may do: qualifications held, on offer, asked for; and the tests that lead to them."""

from math import ceil
from typing import Any

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import QualificationRequest, Worker
from marketplace.rules import qualifications as rules
from marketplace.rules.errors import DoesNotExist, FormFaults, RequestError
from marketplace.rules.questions.form_parser import parse_form
from marketplace.site import places
from marketplace.site import qualification_queries as reading
from marketplace.site.guards import worker_required
from marketplace.site.pages import kept_query, page_of, problem, show
from marketplace.site.saying import said
from marketplace.site.words import grouped, warn_at
from marketplace.verbs import clock, frames, qualification_requests

_SECTION = "qualifications"
_Status = QualificationRequest.Status


@require_safe
@worker_required
def held(request: HttpRequest, worker: Worker) -> HttpResponse:
    context = {
        "tab": "held",
        "standing": _standing(worker),
        "running": reading.running(worker, clock.now()),
        "page": page_of(reading.held(worker), request),
    }
    return show(request, worker, "qualifications", context, _SECTION)


def _standing(worker: Worker) -> list[dict[str, str]]:
    young = worker.percent_approved_override is None and worker.submitted_count < rules.PERCENT_COUNTS_FROM
    note = ""
    if young:
        note = _("Counts as 100 %% until you have submitted %(number)s answers.") % {
            "number": rules.PERCENT_COUNTS_FROM
        }
    place = places.country(worker.country) or _("not given")
    return [
        {"name": _("Percent of answers approved"), "value": f"{worker.percent_approved} %", "note": note},
        {"name": _("Number of answers approved"), "value": grouped(worker.number_approved), "note": ""},
        {"name": _("Location"), "value": f"{place}, {worker.subdivision}" if worker.subdivision else place, "note": ""},
        {"name": _("Adult content"), "value": _("agreed") if worker.adult else _("not agreed"), "note": ""},
        {"name": _("Masters"), "value": _("yes") if worker.masters else _("no"), "note": ""},
    ]


@require_safe
@worker_required
def offered(request: HttpRequest, worker: Worker) -> HttpResponse:
    search = request.GET.get("q", "").strip()[:100].replace("\x00", "")
    page = page_of(reading.offered(worker, search), request)
    page.object_list = [{"kind": kind, "way": reading.way(kind)} for kind in page.object_list]
    context = {"tab": "offered", "page": page, "query": kept_query(request), "search": search}
    return show(request, worker, "qualifications_offered", context, _SECTION)


@require_safe
@worker_required
def asked(request: HttpRequest, worker: Worker) -> HttpResponse:
    qualification_requests.expire_overdue(clock.now(), worker)
    context = {"tab": "asked", "page": page_of(reading.asked(worker), request)}
    return show(request, worker, "qualifications_asked", context, _SECTION)


@never_cache
@require_safe
@worker_required
def qualification(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    """One qualification: what it is for, how to get it, and what became of the worker's requests."""
    now = clock.now()
    qualification_requests.expire_overdue(now, worker)
    card = reading.card(worker, type_id, now)
    if card is None:
        raise Http404
    context = {"card": card, "kind": card.kind, "handed_in": "handed-in" in request.GET}
    return show(request, worker, "qualification", context, _SECTION)


@require_POST
@worker_required
def ask(request: HttpRequest, worker: Worker, type_id: str) -> HttpResponse:
    """Ask for a qualification; with a test, its time runs from here."""
    try:
        made = qualification_requests.ask(worker, type_id, clock.now())
    except DoesNotExist as error:
        raise Http404 from error
    except RequestError:
        # Its own page says why not, and when it can be asked for again.
        return redirect("site:qualification", type_id)
    if made.status == _Status.STARTED:
        return redirect("site:qualification_test", made.request_id)
    return redirect("site:qualification", type_id)


# A requester's pictures come from where the requester keeps them, as they do in a task.
@csp_update({"img-src": list(frames.file_sources())})  # type: ignore[arg-type]
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def test(request: HttpRequest, worker: Worker, request_id: str) -> HttpResponse:
    """The questions of a test that the worker has begun. Loading it again keeps its deadline."""
    now = clock.now()
    attempt = reading.request_of(worker, request_id)
    if attempt is None or attempt.test is None:
        raise Http404
    if request.method == "POST":
        return _hand_in(request, worker, attempt)
    if attempt.status != _Status.STARTED or attempt.deadline is None or attempt.deadline < now:
        return redirect("site:qualification", attempt.type.qualification_type_id)
    return _test_page(request, worker, attempt)


def _hand_in(request: HttpRequest, worker: Worker, attempt: QualificationRequest) -> HttpResponse:
    kind = attempt.type
    data = {name: [str(value) for value in values] for name, values in request.POST.lists()}
    try:
        qualification_requests.answer_test(attempt, data, clock.now())
    except FormFaults as refusal:
        return _test_page(request, worker, attempt, data, refusal.faults)
    except RequestError as refusal:
        return problem(
            request,
            409,
            _("Your answers were not taken"),
            said(refusal.message),
            worker,
            back_url=reverse("site:qualification", args=[kind.qualification_type_id]),
            back_label=_("See “%(name)s”") % {"name": kind.name},
        )
    return redirect(reverse("site:qualification", args=[kind.qualification_type_id]) + "?handed-in")


def _test_page(
    request: HttpRequest,
    worker: Worker,
    attempt: QualificationRequest,
    values: Any = None,
    faults: dict[str, str] | None = None,
) -> HttpResponse:
    if attempt.test is None or attempt.deadline is None:
        raise Http404
    context = {
        "attempt": attempt,
        "kind": attempt.type,
        "form": parse_form(attempt.test.questions, "Test"),
        "values": values or {},
        "faults": faults or {},
        # Rounded up: when the page says that time is over, it is.
        "seconds_left": max(0, ceil((attempt.deadline - clock.now()).total_seconds())),
        "warn_at": warn_at(attempt.test.duration_seconds),
    }
    return show(request, worker, "qualification_test", context, _SECTION, status=400 if faults else 200)
