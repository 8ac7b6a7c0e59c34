"""The one door for answers: what a task page sends, by POST or GET, in a form, an address or both.

Security behaviour: the frame is of another site, so no cookie comes along and no CSRF token can be
asked for. Who knows an assignment id may answer it; the id is random (about 150 bits), is given to its
holder alone, and takes one answer. A workerId that is sent must be the holder's. An id that was given back is
known to who held it before: there a workerId is asked for, or the holder's own session, which comes along when
the form is sent from a page of ours: no other site can send it (SameSite). A link of another site brings the
session too, so that a GET is never answered by it.

This is the only address at which a GET changes something, because task pages for Mechanical Turk lead here by
links and redirects. What a browser or a program fetches in advance, and HEAD, changes nothing. The address may
hold an answer: no response may be kept or named as a referrer, and no log of ours holds more than the path.

The pages without a button may be shown in any frame: a page that sends its answer out of a frame of its own
would hide from the worker what became of it.
"""

import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from common import metrics, request_id
from marketplace.models import Assignment, Worker
from marketplace.rules.errors import AssignmentRefused, DoesNotExist, FormFaults, HolderUnclear
from marketplace.rules.question import NO_ASSIGNMENT
from marketplace.site import queries
from marketplace.site.large_forms import refuse_large, says_itself
from marketplace.site.sign_in import worker_of
from marketplace.site.views.frames import form_again
from marketplace.site.words import dollars
from marketplace.verbs import assignments, clock

log = logging.getLogger(__name__)
_SUBMISSIONS = metrics.counter("marketplace_submissions", "Answers sent by task pages.", ["outcome"])
_Status = Assignment.Status
_BACK = gettext_lazy("Press Back in your browser if you want to copy what you wrote.")


@says_itself
@csrf_exempt
@never_cache
def external_submit(request: HttpRequest) -> HttpResponse:
    """Take an answer. As in a servlet, the fields of the address come before those of the form."""
    response = _respond(request)
    response["Referrer-Policy"] = "no-referrer"
    return response


def _respond(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "POST"):
        response = _page(
            request,
            405,
            "not_sent",
            _("Answers are sent by POST or GET"),
            _("This address takes the answer of a task page; nothing was sent to it."),
            _("Nothing was changed."),
        )
        response["Allow"] = "GET, POST"
        return response
    if _in_advance(request):
        return _page(
            request,
            503,
            "in_advance",
            _("Nothing was sent yet"),
            _("This page was fetched before anybody asked for it."),
            _("Nothing was changed. Press the task page's button again."),
        )
    try:
        refuse_large(request)
        fields = _fields(request)
    except (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
        return _page(
            request,
            413,
            "too_big",
            _("The answer is too big"),
            _("The task page sent more than this marketplace takes in one answer."),
            _("It could not be kept. The HIT is still yours: shorten the answer, or return the HIT."),
            next_url=reverse("site:my_work"),
            next_label=_("Go to my work"),
            advice=_BACK,
        )
    # The task page may say which request of its own this answer belongs to.
    request_id.follow(_named(request, request_id.HEADER))
    return _answer(request, _named(request, "assignmentId"), _named(request, "workerId"), fields)


def _in_advance(request: HttpRequest) -> bool:
    """Whether a browser says that nobody has opened this yet: it prefetches, prerenders or makes a thumbnail."""
    purposes = (request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"))
    return any(word in purpose.lower() for purpose in purposes for word in ("prefetch", "prerender", "preview"))


def _fields(request: HttpRequest) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for source in (request.GET, request.POST):
        for name, values in source.lists():
            fields.setdefault(name, []).extend(str(value) for value in values)
    if len(fields) > settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
        raise TooManyFieldsSent
    return fields


def _named(request: HttpRequest, name: str) -> str:
    """The form's field: our own pages and scripts fill it, whatever the address says."""
    return request.POST.get(name) or request.GET.get(name, "")


def _answer(request: HttpRequest, assignment_id: str, worker_id: str, fields: dict[str, list[str]]) -> HttpResponse:
    try:
        assignment = assignments.submit(assignment_id, fields, clock.now(), worker_id or None)
    except DoesNotExist:
        return _unknown(request)
    except HolderUnclear:
        own = _signed_in(request)
        if own is None:
            return _ask_who(request, assignment_id, fields)
        return _answer(request, assignment_id, own.worker_id, fields)
    except FormFaults as refusal:
        again = form_again(request, assignment_id, worker_id, fields, refusal.faults)
        return again or _refused(request, assignment_id, worker_id, fields)
    except AssignmentRefused:
        return _refused(request, assignment_id, worker_id, fields)
    said = {"hit_id": assignment.hit.hit_id, "assignment_id": assignment.assignment_id}
    log.info("An answer is taken.", extra=said)
    return _taken(request, assignment)


def _signed_in(request: HttpRequest) -> Worker | None:
    """Who sends a form of ours; asked only when needed, so that an ordinary answer costs no look at the session."""
    if request.method != "POST" or not request.user.is_authenticated:
        return None
    return worker_of(request.user)


def _ask_who(request: HttpRequest, assignment_id: str, fields: dict[str, list[str]]) -> HttpResponse:
    """The answer again as a form of ours: sent from here, it comes with the worker's session."""
    whole = fields | {"assignmentId": [assignment_id]}
    response = _page(
        request,
        409,
        "whose",
        _("One more step"),
        _("Somebody held this HIT before you, and the task page did not say who answers."),
        _("Nothing is lost. Press the button to send your answer as the worker who is signed in here."),
        again=[(name, value) for name, values in whole.items() for value in values],
    )
    # The one page with a button that sends: only the site may put it into a frame.
    response.xframe_options_exempt = False  # type: ignore[attr-defined]
    response["X-Frame-Options"] = "SAMEORIGIN"
    response._csp_replace = {"frame-ancestors": ["'self'"]}  # type: ignore[attr-defined]
    return response


def _page(
    request: HttpRequest, status: int, outcome: str, heading: str, happened: str, kept: str, **context: Any
) -> HttpResponse:
    """The page that shows in the frame. `outcome` is a stable word for programs."""
    _SUBMISSIONS.labels(outcome).inc()
    said = {"outcome": outcome, "heading": heading, "happened": happened, "kept": kept}
    defaults = {"next_url": reverse("site:home"), "next_label": _("Back to the list of HITs")}
    response = render(request, "marketplace/submitted.html", defaults | said | context, status=status)
    # What the decorators do for a view. None leaves the directive out: no source list names a frame without an origin.
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    response._csp_replace = {"frame-ancestors": None}  # type: ignore[attr-defined]
    return response


def _going_on(assignment: Assignment) -> dict[str, Any]:
    """The page around the frame goes on by itself; the link does the same without a script."""
    return {
        "assignment": assignment,
        "moves_on": True,
        "next_url": reverse("site:after", args=[assignment.pk]),
        "next_label": _("Go on"),
    }


def _taken(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    reward = dollars(assignment.reward)
    approved = assignment.status == _Status.APPROVED
    return _page(
        request,
        200,
        "submitted",
        _("Submitted"),
        _("Your answer is approved, and %(reward)s is yours.") % {"reward": reward}
        if approved
        else _("Your answer arrived, and %(reward)s waits for the requester's approval.") % {"reward": reward},
        _("All of it is kept."),
        **_going_on(assignment),
    )


def _unknown(request: HttpRequest) -> HttpResponse:
    return _page(
        request,
        404,
        "unknown",
        _("This assignment is not known here"),
        _("The task page named no assignment, or one that was never given out to this worker."),
        _("The answer could not be kept. Open the HIT again from My work; if it happens again, tell the requester."),
        next_url=reverse("site:my_work"),
        next_label=_("Go to my work"),
        advice=_BACK,
    )


def _refused(request: HttpRequest, assignment_id: str, worker_id: str, fields: dict[str, list[str]]) -> HttpResponse:
    if assignment_id == NO_ASSIGNMENT:
        return _page(
            request,
            400,
            "preview",
            _("This was a preview"),
            _("The HIT was not accepted, so its answer cannot be taken."),
            _("Nothing was kept, and nothing counts against you. Press Accept above the task, then answer it."),
            advice=_BACK,
        )
    row = queries.latest_assignment(assignment_id, worker_id)
    if row is None:
        return _unknown(request)
    if row.status in Assignment.VISIBLE:
        return _repeated(request, row) if assignments.is_answer(row, fields) else _not_recorded(request, row)
    if row.status == _Status.ACCEPTED and row.deadline >= clock.now():
        return _page(
            request,
            400,
            "empty",
            _("The answer was empty"),
            _("The task page sent no field with an answer."),
            _("Nothing was kept yet, and the HIT is still yours. Press the button to open it again."),
            next_url=reverse("site:work", args=[row.pk]),
            next_label=_("Open the HIT again"),
        )
    return _over(request, row)


def _repeated(request: HttpRequest, row: Assignment) -> HttpResponse:
    """The answer that is recorded: a second press, or a page that was loaded again."""
    return _page(
        request,
        409,
        "repeated",
        _("Already submitted"),
        _("This very answer arrived before."),
        _("It is kept, once."),
        **_going_on(row),
    )


def _not_recorded(request: HttpRequest, row: Assignment) -> HttpResponse:
    """Another answer, from a second tab or a second press: the worker has to know that it does not count."""
    return _page(
        request,
        409,
        "not-recorded",
        _("This answer was not recorded"),
        _("Another answer to this HIT was sent before, perhaps in another tab or window. A HIT takes one answer."),
        _("The first answer is kept as it was. What you sent now was not added."),
        next_url=reverse("site:after", args=[row.pk]),
        next_label=_("Go on"),
        advice=_BACK,
    )


def _over(request: HttpRequest, row: Assignment) -> HttpResponse:
    returned = row.status == _Status.RETURNED
    return _page(
        request,
        409,
        "returned" if returned else "expired",
        _("This HIT was returned") if returned else _("The time ran out"),
        _("You gave this HIT back before the answer came.")
        if returned
        else _("The answer came after the time for this HIT was over, and the HIT went back to the others."),
        _("The answer could not be kept. It does not count against you."),
        next_url=reverse("site:after", args=[row.pk]),
        next_label=_("Go on"),
        advice=_BACK,
    )
