"""The one door for answers: a form post out of the task frame.

Security behaviour: the frame is of another site, so no cookie comes along and no CSRF token can be
asked for. Who knows an assignment id may answer it; the id is random (about 150 bits), is given to its
holder alone, and takes one answer. A workerId that is sent must be the holder's. An id that was given back is
known to who held it before: there a workerId is asked for, or the holder's own session, which comes along when
the form is sent from a page of ours: no other site can send it (SameSite).
"""

from typing import Any

from csp.decorators import csp_replace
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt

from marketplace.models import Assignment, Worker
from marketplace.rules.errors import AssignmentDoesNotExist, AssignmentRefused, FormFaults, HolderUnclear
from marketplace.rules.question import NO_ASSIGNMENT
from marketplace.site import queries
from marketplace.site.views.frames import form_again
from marketplace.verbs import assignments, clock

_Status = Assignment.Status
_BACK = "Press Back in your browser if you want to copy what you wrote."


@csrf_exempt
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": ["'self'"]})  # type: ignore[arg-type]
def external_submit(request: HttpRequest) -> HttpResponse:
    """Take an answer. The assignmentId may stand in the form or, as old task pages have it, in the address."""
    if request.method != "POST":
        response = _page(
            request,
            405,
            "not_posted",
            "Answers must be posted",
            "This address takes the answer of a task page as a form; it was opened like a page.",
            "Nothing was changed.",
        )
        response["Allow"] = "POST"
        return response
    try:
        fields = {name: [str(value) for value in values] for name, values in request.POST.lists()}
    except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
        return _page(
            request,
            413,
            "too_big",
            "The answer is too big",
            "The task page sent more than this marketplace takes in one answer.",
            "It could not be kept. The HIT is still yours: shorten the answer, or return the HIT.",
            next_url=reverse("site:my_work"),
            next_label="Go to my work",
            advice=_BACK,
        )
    assignment_id = request.POST.get("assignmentId") or request.GET.get("assignmentId", "")
    return _answer(request, assignment_id, request.POST.get("workerId", ""), fields)


def _answer(request: HttpRequest, assignment_id: str, worker_id: str, fields: dict[str, list[str]]) -> HttpResponse:
    try:
        assignment = assignments.submit(assignment_id, fields, clock.now(), worker_id or None)
    except AssignmentDoesNotExist:
        return _unknown(request)
    except HolderUnclear:
        # Asked only here: an ordinary answer costs no look at the session.
        own = Worker.objects.filter(user_id=request.user.pk).first() if request.user.is_authenticated else None
        if own is None:
            return _ask_who(request, assignment_id, fields)
        return _answer(request, assignment_id, own.worker_id, fields)
    except FormFaults as refusal:
        again = form_again(request, assignment_id, worker_id, fields, refusal.faults)
        return again or _refused(request, assignment_id, worker_id)
    except AssignmentRefused:
        return _refused(request, assignment_id, worker_id)
    return _taken(request, assignment)


def _ask_who(request: HttpRequest, assignment_id: str, fields: dict[str, list[str]]) -> HttpResponse:
    """The answer again as a form of ours: sent from here, it comes with the worker's session."""
    whole = fields | {"assignmentId": [assignment_id]}
    return _page(
        request,
        409,
        "whose",
        "One more step",
        "Somebody held this HIT before you, and the task page did not say who answers.",
        "Nothing is lost. Press the button to send your answer as the worker who is signed in here.",
        again=[(name, value) for name, values in whole.items() for value in values],
    )


def _page(
    request: HttpRequest, status: int, outcome: str, heading: str, happened: str, kept: str, **context: Any
) -> HttpResponse:
    """The page that shows in the frame. `outcome` is a stable word for programs."""
    said = {"outcome": outcome, "heading": heading, "happened": happened, "kept": kept}
    defaults = {"next_url": reverse("site:home"), "next_label": "Back to the list of HITs"}
    return render(request, "marketplace/submitted.html", defaults | said | context, status=status)


def _going_on(assignment: Assignment) -> dict[str, Any]:
    """The page around the frame goes on by itself; the link does the same without a script."""
    return {
        "assignment": assignment,
        "moves_on": True,
        "next_url": reverse("site:after", args=[assignment.pk]),
        "next_label": "Go on",
    }


def _taken(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    reward = f"${assignment.reward:,.2f}"
    approved = assignment.status == _Status.APPROVED
    return _page(
        request,
        200,
        "submitted",
        "Submitted",
        f"Your answer is approved, and {reward} is yours."
        if approved
        else f"Your answer arrived, and {reward} waits for the requester's approval.",
        "All of it is kept.",
        **_going_on(assignment),
    )


def _unknown(request: HttpRequest) -> HttpResponse:
    return _page(
        request,
        404,
        "unknown",
        "This assignment is not known here",
        "The task page named no assignment, or one that was never given out to this worker.",
        "The answer could not be kept. Open the HIT again from My work; if it happens again, tell the requester.",
        next_url=reverse("site:my_work"),
        next_label="Go to my work",
        advice=_BACK,
    )


def _refused(request: HttpRequest, assignment_id: str, worker_id: str) -> HttpResponse:
    if assignment_id == NO_ASSIGNMENT:
        return _page(
            request,
            400,
            "preview",
            "This was a preview",
            "The HIT was not accepted, so its answer cannot be taken.",
            "Nothing was kept, and nothing counts against you. Press Accept above the task, then answer it.",
            advice=_BACK,
        )
    row = queries.latest_assignment(assignment_id, worker_id)
    if row is None:
        return _unknown(request)
    if row.status in Assignment.VISIBLE:
        return _page(
            request,
            409,
            "twice",
            "Already submitted",
            "This HIT was submitted before; an answer can be sent only once.",
            "The first answer is kept as it was. This one was not added.",
            **_going_on(row),
        )
    if row.status == _Status.ACCEPTED and row.deadline >= clock.now():
        return _page(
            request,
            400,
            "empty",
            "The answer was empty",
            "The task page sent no field with an answer.",
            "Nothing was kept yet, and the HIT is still yours. Press the button to open it again.",
            next_url=reverse("site:work", args=[row.pk]),
            next_label="Open the HIT again",
        )
    return _over(request, row)


def _over(request: HttpRequest, row: Assignment) -> HttpResponse:
    returned = row.status == _Status.RETURNED
    return _page(
        request,
        409,
        "returned" if returned else "expired",
        "This HIT was returned" if returned else "The time ran out",
        "You gave this HIT back before the answer came."
        if returned
        else "The answer came after the time for this HIT was over, and the HIT went back to the others.",
        "The answer could not be kept. It does not count against you.",
        next_url=reverse("site:after", args=[row.pk]),
        next_label="Go on",
        advice=_BACK,
    )
