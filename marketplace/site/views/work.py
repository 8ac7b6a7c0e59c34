"""Holding a HIT: accept, work, return, and what comes after."""

from contextlib import suppress
from datetime import datetime
from math import ceil
from typing import Any

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from marketplace.models import Assignment, Hit, Worker
from marketplace.rules import lifecycle
from marketplace.rules.errors import AssignmentRefused, DoesNotMeetRequirements, NoHitsAvailable
from marketplace.site import queries
from marketplace.site.frames import work_frame
from marketplace.site.guards import worker_required
from marketplace.site.pages import problem, show
from marketplace.verbs import assignments, qualifications

_Status = Assignment.Status
_AUTO = "auto_accept"
# Warn when this much of the time allowed is left, but never sooner than five minutes before the end.
_WARN_SHARE = 0.2
_WARN_AT_MOST_SECONDS = 300


@require_POST
@worker_required
def accept(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Take a HIT of the group `groupId`, or the very HIT `hitId` of it, and go to work.

    `after` names the assignment that the worker comes from: its page says why there is no next one.
    """
    hit_type = queries.group_by_id(request.POST.get("groupId", ""))
    if hit_type is None:
        raise Http404
    hit = None
    if hit_id := request.POST.get("hitId"):
        hit = Hit.objects.filter(hit_type=hit_type, hit_id=hit_id).first()
        if hit is None:
            raise Http404
    try:
        assignment = assignments.accept(hit_type, worker, timezone.now(), hit)
    except NoHitsAvailable:
        return redirect(reverse("site:finished") + "?" + urlencode({"groupId": hit_type.hit_group_id}))
    except DoesNotMeetRequirements as refusal:
        if (done := request.POST.get("after", "")).isdecimal():
            return redirect("site:after", int(done))
        if qualifications.failing(worker, hit_type.requirements, "discover"):
            raise Http404 from refusal
        return _not_qualified(request, worker, refusal)
    return redirect("site:work", assignment.pk)


def _not_qualified(request: HttpRequest, worker: Worker, refusal: DoesNotMeetRequirements) -> HttpResponse:
    names = qualifications.type_names(refusal.failing)
    return problem(
        request,
        403,
        "You do not qualify for this work",
        "Nothing was accepted, and this does not count against you. The requester asks for:",
        worker,
        reasons=[qualifications.explain(requirement, names) for requirement in refusal.failing],
    )


def _own(worker: Worker, pk: int) -> Assignment:
    assignment = queries.assignment_of(worker, pk)
    if assignment is None:
        raise Http404
    return assignment


@csp_update({"frame-src": ["'self'"]})  # type: ignore[arg-type]
@never_cache
@require_safe
@worker_required
def work(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """The task in its frame. Loading it again keeps the assignment; when it is over, says how it ended."""
    assignment = _own(worker, pk)
    now = timezone.now()
    if assignment.status != _Status.ACCEPTED or assignment.deadline < now:
        return redirect("site:after", pk)
    hit_type = assignment.hit.hit_type
    # Rounded up: when the page says that time is over, it is.
    seconds_left = ceil((assignment.deadline - now).total_seconds())
    context = {
        "assignment": assignment,
        "group": {"title": hit_type.title, "reward": hit_type.reward, "group_id": hit_type.hit_group_id},
        "frame": work_frame(assignment, worker),
        "seconds_left": seconds_left,
        "warn_at": min(_WARN_AT_MOST_SECONDS, int(hit_type.assignment_duration_seconds * _WARN_SHARE)),
        "auto_accept": request.session.get(_AUTO, True),
    }
    return render(request, "marketplace/work.html", context)


@require_POST
@worker_required
def give_back(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = _own(worker, pk)
    # When it ended another way before, the next page says which.
    with suppress(AssignmentRefused):
        assignments.give_back(assignment, worker, timezone.now())
    return redirect("site:after", pk)


@never_cache
@require_safe
@worker_required
def after(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """What became of an assignment, and what can be done next."""
    now = timezone.now()
    assignment = _own(worker, pk)
    if assignment.status == _Status.ACCEPTED:
        if assignment.deadline >= now:
            return redirect("site:work", pk)
        assignments.sweep(now)
        assignment = _own(worker, pk)
    context = _ending(assignment, now) | {
        "assignment": assignment,
        "group": queries.group_for(worker, assignment.hit.hit_type),
        "state": assignment.status.lower(),
    }
    return show(request, worker, "after", context)


def _ending(assignment: Assignment, now: datetime) -> dict[str, Any]:
    """Heading and explanation of how an assignment ended."""
    reward = f"${assignment.hit.hit_type.reward:,.2f}"
    if assignment.status == _Status.SUBMITTED:
        return {
            "heading": "Submitted",
            "explanation": f"Your answer is kept, and {reward} waits for the requester's approval.",
            "pays_at": assignment.auto_approval_at,
        }
    if assignment.status == _Status.APPROVED:
        return {"heading": "Submitted and approved", "explanation": f"{reward} is yours."}
    if assignment.status == _Status.REJECTED:
        said = assignment.requester_feedback or "no reason"
        return {"heading": "Rejected", "explanation": f"The requester did not approve this answer and gave: {said}"}
    if assignment.status == _Status.RETURNED:
        return {
            "heading": "Returned",
            "explanation": "It does not count against you. The HIT went back to the others.",
            "can_retake": assignment.hit.status(now) == lifecycle.ASSIGNABLE,
        }
    return {
        "heading": "Time ran out",
        "explanation": "The HIT went back to the others. It does not count against you; nothing of it is kept here.",
    }


@never_cache
@require_safe
@worker_required
def finished(request: HttpRequest, worker: Worker) -> HttpResponse:
    """No HIT was left in the group; if there is one again by now, offers it."""
    hit_type = queries.group_by_id(request.GET.get("groupId", ""))
    group = queries.visible_group(worker, hit_type) if hit_type else None
    if group is None:
        raise Http404
    return show(request, worker, "finished", {"group": group})


@require_POST
@worker_required
def auto_accept(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Set whether the next HIT is taken by itself after a submit; kept for the session."""
    wanted = request.POST.get("auto")
    if wanted not in ("on", "off"):
        return problem(request, 400, "Nothing was set", "The switch knows on and off only.", worker)
    request.session[_AUTO] = wanted == "on"
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"auto": wanted})
    assignment = request.POST.get("assignment", "")
    return redirect("site:work", int(assignment)) if assignment.isdecimal() else redirect("site:home")
