"""Holding a HIT: accept, work, return, and what comes after."""

from contextlib import suppress
from datetime import datetime
from math import ceil
from typing import Any

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import Assignment, Hit, Worker
from marketplace.rules import lifecycle
from marketplace.rules.errors import AssignmentRefused, DoesNotMeetRequirements, NoHitsAvailable, NotAdmitted
from marketplace.site import queries
from marketplace.site.frames import work_frame
from marketplace.site.guards import worker_required
from marketplace.site.pages import problem, show
from marketplace.site.saying import said
from marketplace.site.words import dollars, left, warn_at
from marketplace.verbs import assignments, clock, concerns, qualifications

_Status = Assignment.Status
_AUTO = "auto_accept"


@require_POST
@worker_required
def accept(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Take a HIT of the group `groupId`, or the very HIT `hitId` of it, and go to work.

    `after` names the assignment that the worker comes from, when the next one is taken by itself: its page says why
    there is no next one, and what the worker returned is not handed out again.
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
        by_itself = bool(request.POST.get("after"))
        assignment = assignments.accept(hit_type, worker, clock.now(), hit, also_returned=not by_itself)
    except NoHitsAvailable:
        return redirect(reverse("site:finished") + "?" + urlencode({"groupId": hit_type.hit_group_id}))
    except DoesNotMeetRequirements as refusal:
        if done := _key(request.POST.get("after", "")):
            return redirect("site:after", done)
        if qualifications.failing(worker, hit_type.requirements, "discover"):
            raise Http404 from refusal
        return _not_qualified(request, worker, refusal)
    except NotAdmitted as refusal:
        return _not_admitted(request, worker, refusal)
    return redirect("site:work", assignment.pk)


def _not_admitted(request: HttpRequest, worker: Worker, refusal: NotAdmitted) -> HttpResponse:
    status, values = 409, refusal.values
    back_url, back_label = reverse("site:my_work"), _("Go to my work")
    if refusal.why == "queue full":
        heading = _("Your hands are full")
        explanation = _(
            "You have %(most)s HITs in hand, as many as one may hold at a time. This one was not accepted. "
            "Submit or return one of yours, then come back for it."
        )
    elif refusal.why == "panel done":
        if not values["in_hand"]:
            return redirect("site:panel_finish")
        heading = _("You have as many HITs as %(panel)s asked for")
        explanation = _(
            "%(panel)s asked for %(most)s, and you have %(in_hand)s of them in hand. This one was not accepted. "
            "Submit yours, or return one to take another."
        )
    elif refusal.why == "suspended":
        status, heading = 403, _("Your account is suspended")
        explanation = _(
            "You cannot take new HITs. What you have in hand you may finish, and what you earned is paid as usual. "
            "If you think that this is a mistake, write to the people who run this marketplace."
        )
    else:
        status, heading = 403, _("Confirm your e-mail address first")
        explanation = _("We sent a letter to %(address)s: open its link, then come back. Nothing was accepted.")
        values = {"address": worker.user.email}
        back_url, back_label = reverse("site:profile"), _("Send the letter again")
    return problem(
        request, status, heading % values, explanation % values, worker, back_url=back_url, back_label=back_label
    )


def _not_qualified(request: HttpRequest, worker: Worker, refusal: DoesNotMeetRequirements) -> HttpResponse:
    names = qualifications.type_names(refusal.failing)
    return problem(
        request,
        403,
        _("You do not qualify for this work"),
        _("Nothing was accepted, and this does not count against you. The requester asks for:"),
        worker,
        reasons=[said(qualifications.explain(requirement, names)) for requirement in refusal.failing],
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
    now = clock.now()
    if assignment.status != _Status.ACCEPTED or assignment.deadline < now:
        return redirect("site:after", pk)
    hit_type = assignment.hit.hit_type
    # Rounded up: when the page says that time is over, it is.
    seconds_left = ceil((assignment.deadline - now).total_seconds())
    context = {
        "body_class": "working",
        "main_class": "work",
        "assignment": assignment,
        "group": {"title": hit_type.title, "reward": assignment.reward, "group_id": hit_type.hit_group_id},
        "frame": work_frame(assignment, worker),
        "seconds_left": seconds_left,
        "left": left(seconds_left),
        "warn_at": warn_at(hit_type.assignment_duration_seconds),
        "auto_accept": request.session.get(_AUTO, True),
    }
    return render(request, "marketplace/work.html", context)


@require_POST
@worker_required
def give_back(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    assignment = _own(worker, pk)
    # When it ended another way before, the next page says which.
    with suppress(AssignmentRefused):
        assignments.give_back(assignment, worker, clock.now())
    return redirect("site:after", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def give_back_all(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Asks first; the answer counts what was returned."""
    if request.method == "POST":
        returned = assignments.give_back_all(worker, clock.now())
        return redirect(f"{reverse('site:my_work')}?returned={returned}")
    rows = queries.in_hand(worker, clock.now())
    return show(request, worker, "return_all", {"in_hand": rows}, "my_work") if rows else redirect("site:my_work")


@never_cache
@require_safe
@worker_required
def after(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """What became of an assignment, and what can be done next."""
    now = clock.now()
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
        "can_dispute": concerns.can_dispute(assignment, now),
    }
    return show(request, worker, "after", context)


def _ending(assignment: Assignment, now: datetime) -> dict[str, Any]:
    """Heading and explanation of how an assignment ended."""
    reward = dollars(assignment.reward)
    if assignment.status == _Status.SUBMITTED:
        return {
            "heading": _("Submitted"),
            "explanation": _("Your answer is kept, and %(reward)s waits for the requester's approval.")
            % {"reward": reward},
            "pays_at": assignment.auto_approval_at,
        }
    if assignment.status == _Status.APPROVED:
        return {"heading": _("Submitted and approved"), "explanation": _("%(reward)s is yours.") % {"reward": reward}}
    if assignment.status == _Status.REJECTED:
        given = assignment.requester_feedback or _("no reason")
        return {
            "heading": _("Rejected"),
            "explanation": _("The requester did not approve this answer and gave: %(given)s") % {"given": given},
        }
    if assignment.status == _Status.RETURNED:
        return {
            "heading": _("Returned"),
            "explanation": _("It does not count against you. The HIT went back to the others."),
            "can_retake": assignment.hit.status(now) == lifecycle.ASSIGNABLE,
        }
    return {
        "heading": _("Time ran out"),
        "explanation": _("The HIT went back to the others. It does not count against you; nothing of it is kept here."),
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
        return problem(request, 400, _("Nothing was set"), _("The switch knows on and off only."), worker)
    request.session[_AUTO] = wanted == "on"
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"auto": wanted})
    assignment = _key(request.POST.get("assignment", ""))
    return redirect("site:work", assignment) if assignment else redirect("site:home")


def _key(text: str) -> int | None:
    """A primary key out of a form. Python refuses to read numbers of thousands of digits."""
    return int(text) if text.isdecimal() and len(text) < 20 else None
