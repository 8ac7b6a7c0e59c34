"""Inside the frame of a task: the page of a requester, or the form that we draw from its XML.

Security behaviour: the token in the address is signed and names hit, worker and assignment; nobody is signed in
here. The pages get no origin (sandbox), may be framed by the site only, and may send forms to externalSubmit only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from common.html_pages import Surroundings, fit_into_frame
from common.html_templates import placeholder_names
from marketplace.models import Assignment, Hit, HitLayout
from marketplace.rules.question import NO_ASSIGNMENT
from marketplace.rules.questions.form_parser import read_root
from marketplace.rules.questions.html import read_html_question
from marketplace.rules.questions.kinds import EXTERNAL, HTML
from marketplace.rules.questions.xml import parse_stored
from marketplace.site.frames import SANDBOX, Ticket, layout_of, ticket_of
from marketplace.verbs import clock, frames, layouts


@never_cache
@xframe_options_exempt
@require_safe
def frame(request: HttpRequest, token: str) -> HttpResponse:
    try:
        ticket = ticket_of(token)
    except signing.SignatureExpired:
        return _notice(request, 403, _("This page has waited too long"), _("Load the page around it again."))
    except (signing.BadSignature, ValueError, TypeError):
        return nothing_here(request)
    if ticket.assignment is None:
        hit = Hit.objects.filter(pk=ticket.hit, disposed_at__isnull=True).exclude(question_kind=EXTERNAL).first()
        return nothing_here(request) if hit is None else _task(request, hit, NO_ASSIGNMENT, "")
    held = _held(ticket, ticket.assignment)
    if held is None:
        return _notice(request, 410, _("This HIT is no longer in your hands"), _("Load the page around it again."))
    return _task(request, held.hit, held.assignment_id, held.worker.worker_id)


@never_cache
@xframe_options_exempt
@require_safe
def layout(request: HttpRequest, token: str) -> HttpResponse:
    """A layout before anything is published with it; the operator's page frames it."""
    try:
        found = HitLayout.objects.filter(pk=layout_of(token)).first()
    except (signing.BadSignature, ValueError, TypeError):
        found = None
    if found is None:
        return nothing_here(request)
    filled = layouts.page(found, {name: name for name in placeholder_names(found.html)})
    return _own_page(request, filled, NO_ASSIGNMENT, "")


def _held(ticket: Ticket, pk: int) -> Assignment | None:
    mine = Assignment.objects.filter(pk=pk, hit=ticket.hit, worker=ticket.worker).select_related("hit", "worker")
    return mine.filter(status=Assignment.Status.ACCEPTED, deadline__gte=clock.now()).first()


def _task(request: HttpRequest, hit: Hit, assignment_id: str, worker_id: str) -> HttpResponse:
    if hit.question_kind == HTML:
        return _own_page(request, read_html_question(parse_stored(hit.question)).html, assignment_id, worker_id)
    return _form(request, hit, assignment_id, worker_id)


def _submit_url() -> str:
    return f"{settings.MARKETPLACE_PUBLIC_URL}/mturk/externalSubmit"


def _own_page(request: HttpRequest, html: str, assignment_id: str, worker_id: str) -> HttpResponse:
    scripts = request.build_absolute_uri(static("frames/"))
    page = fit_into_frame(html, Surroundings(_submit_url(), assignment_id, scripts, worker_id, *_words()))
    response = HttpResponse(page)
    # On a laptop a page may use what other ports of the machine serve.
    plain = [f"http://{host}:*" for host in settings.MARKETPLACE_HTTP_QUESTION_HOSTS if ":" not in host]
    anything = " ".join(filter(None, [*frames.file_sources(), "data: blob:", frames.origin(), *plain]))
    return _guarded(
        response,
        f"default-src {anything} 'unsafe-inline' 'unsafe-eval'",
        "object-src 'none'",
        f"form-action {_submit_url()}",
        f"sandbox {SANDBOX}",
    )


def _words() -> tuple[str, str]:
    """What our scripts say to who submits a preview; in English they say it by themselves."""
    if get_language() == settings.LANGUAGE_CODE:
        return "", ""
    return _("Accept the HIT to submit"), _("This is a preview: nothing was sent. Accept the HIT to submit.")


def _form(
    request: HttpRequest,
    hit: Hit,
    assignment_id: str,
    worker_id: str,
    values: Mapping[str, Sequence[str]] | None = None,
    faults: Mapping[str, str] | None = None,
) -> HttpResponse:
    context = {
        "form": read_root(parse_stored(hit.question)),
        "values": values,
        "faults": faults,
        "assignment_id": assignment_id,
        "worker_id": worker_id,
        "preview": assignment_id == NO_ASSIGNMENT,
        "submit_url": _submit_url(),
    }
    response = render(request, "marketplace/frames/form.html", context, status=422 if faults else 200)
    return _guarded(
        response,
        "default-src 'none'",
        f"style-src {request.scheme}://{request.get_host()}",
        f"img-src {' '.join(frames.file_sources())}",
        f"form-action {_submit_url()}",
        f"sandbox {SANDBOX}",
    )


def _guarded(response: HttpResponse, *directives: str) -> HttpResponse:
    """With the policy of a frame. Set here: the site's own policy is for the site's pages."""
    ancestors = f"frame-ancestors {settings.MARKETPLACE_PUBLIC_URL}"
    response["Content-Security-Policy"] = "; ".join((*directives, "base-uri https:", ancestors))
    response["Referrer-Policy"] = "no-referrer"
    return response


def form_again(
    request: HttpRequest,
    assignment_id: str,
    worker_id: str,
    fields: Mapping[str, Sequence[str]],
    faults: Mapping[str, str],
) -> HttpResponse | None:
    """The form with what was typed and what is wrong with it, in the same frame, answered by externalSubmit.

    None when the assignment ended in the meantime.
    """
    held = Assignment.objects.filter(assignment_id=assignment_id, status=Assignment.Status.ACCEPTED)
    hit = Hit.objects.filter(pk__in=held.values("hit")).first()
    if hit is None:
        return None
    response = _form(request, hit, assignment_id, worker_id, fields, faults)
    # What xframe_options_exempt does for a view; this is a part of one.
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response


def _notice(request: HttpRequest, status: int, heading: str, advice: str) -> HttpResponse:
    context = {"heading": heading, "advice": advice}
    response = render(request, "marketplace/frames/notice.html", context, status=status)
    style = f"style-src {request.scheme}://{request.get_host()}"
    return _guarded(response, "default-src 'none'", style, "form-action 'none'", "sandbox")


def nothing_here(request: HttpRequest, exception: Any = None) -> HttpResponse:
    return _notice(request, 404, _("Nothing here"), _("This address belongs to no task."))


def broken(request: HttpRequest) -> HttpResponse:
    return _notice(
        request, 500, _("The task cannot be shown"), _("Load the page again in a moment, or return the HIT.")
    )
