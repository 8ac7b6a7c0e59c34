"""Where a worker reports a HIT or disputes a rejection."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from marketplace.models import Assignment, Concern, Hit, Worker
from marketplace.rules.errors import RequestError
from marketplace.site import queries
from marketplace.site.forms import DisputeForm, ReportForm
from marketplace.site.guards import worker_required
from marketplace.site.pages import show
from marketplace.site.saying import said
from marketplace.verbs import clock, concerns


@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def report(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Report the HIT `hitId`; once reported, shows what was said and what became of it.

    A HIT that the worker neither sees nor ever held does not exist here.
    """
    hit = _reportable(worker, (request.POST if request.method == "POST" else request.GET).get("hitId", ""))
    form = ReportForm(request.POST or None)
    refused = False
    if request.method == "POST" and form.is_valid():
        told = form.cleaned_data
        try:
            concerns.report(worker, hit, told["reason"], told["text"], clock.now())
            return redirect(f"{reverse('site:report')}?{urlencode({'hitId': hit.hit_id})}")
        except RequestError as refusal:
            refused = True
            form.add_error(None, said(refusal.message))
    context = {
        "hit": hit,
        "form": form,
        "concern": Concern.objects.filter(kind=Concern.Kind.REPORT, hit=hit, worker=worker).first(),
        "held": queries.held_by(worker, hit),
    }
    return show(request, worker, "report", context, status=400 if refused or form.errors else 200)


def _reportable(worker: Worker, hit_id: str) -> Hit:
    hit = queries.hit_by_id(hit_id)
    if hit is None:
        raise Http404
    known = Assignment.objects.filter(worker=worker, hit=hit).exists()
    if not known and queries.visible_group(worker, hit.hit_type) is None:
        raise Http404
    return hit


@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def dispute(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """Dispute a rejection of one's own; once disputed, shows what was said and what became of it."""
    assignment = queries.assignment_of(worker, pk)
    if assignment is None or assignment.status not in Assignment.VISIBLE:
        raise Http404
    now = clock.now()
    form = DisputeForm(request.POST or None)
    refused = False
    if request.method == "POST" and form.is_valid():
        try:
            concerns.dispute(worker, assignment, form.cleaned_data["text"], now)
            return redirect("site:dispute", pk)
        except RequestError as refusal:
            refused = True
            form.add_error(None, said(refusal.message))
    context = {
        "assignment": assignment,
        "form": form,
        "concern": Concern.objects.filter(kind=Concern.Kind.DISPUTE, assignment=assignment).first(),
        "open": concerns.can_dispute(assignment, now),
    }
    return show(request, worker, "dispute", context, "my_work", status=400 if refused or form.errors else 200)
