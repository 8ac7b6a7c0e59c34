"""The worker's page and the addresses that its script calls. No cookie is read or set by any of them.

Security: only the marketplaces of MTURK_SUBMIT_ORIGINS may frame these pages and receive their forms. They are
rendered without a request, so that no context processor touches a session. Opening a page writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, cast

from csp.decorators import csp_replace, csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from common.addresses import client_address, network
from hits.domain.task_pages import Page
from hits.flow.pipeline import serving
from hits.protocols.base import AnswerRefusedError
from hits.views.jobs import fetch_soon

View = Callable[..., HttpResponseBase]


def in_frame(view: View) -> View:
    """Let the known marketplaces, and nobody else, frame the page and take its form."""

    @wraps(view)
    def framed(*args: Any, **kwargs: Any) -> HttpResponseBase:
        origins = list(settings.MTURK_SUBMIT_ORIGINS)
        # Steps of one task are posted here, its answer there.
        return csp_replace({"frame-ancestors": origins, "form-action": ["'self'", *origins]})(view)(*args, **kwargs)

    return xframe_options_exempt(never_cache(framed))


def bounded(view: View) -> View:
    """Refuse what is larger than any answer before it is read: anybody can post here."""

    @wraps(view)
    def read(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return _reasons(413, "This is more than an answer can hold. Shorten what you wrote.")
        return view(request, *args, **kwargs)

    return read


@require_safe
@in_frame
def task(request: HttpRequest, token: str) -> HttpResponse:
    try:
        page = serving.open_page(serving.resolve(token), request.GET)
    except serving.TaskRefusedError as refusal:
        return _refusal_page(refusal)
    return shown(page, request)


def shown(page: Page, request: HttpRequest, template: str = "") -> HttpResponse:
    """The worker's page, or a part of it, with a policy that allows its own sources and no other.

    422 for a screen that came back because it is not answered.
    """

    @csp_update(dict(page.sources))
    def rendered(request: HttpRequest) -> HttpResponse:
        html = render_to_string(template or page.template, {"page": page, "project": page.hit.stage.project})
        return HttpResponse(html, status=422 if page.reasons else 200)

    return cast(HttpResponse, rendered(request))


@csrf_exempt
@require_POST
@bounded
@in_frame
def step(request: HttpRequest) -> HttpResponse:
    """The next screen of a task that asks one thing at a time, as a part for htmx, else as the whole page.

    Security: the page's token says whose task it is. A step that is not answered comes back with the reasons and 422.
    Works without JavaScript. A refusal is a page of its own: htmx is told to reload, which shows it.
    """
    try:
        page = serving.take_step(*_posted(request), request.GET, _place(request))
    except serving.TaskRefusedError as refusal:
        refused = _refusal_page(refusal)
        refused["HX-Refresh"] = "true"
        return refused
    if page.shown_at:
        return HttpResponseRedirect(page.shown_at, status=303)
    part = request.headers.get("HX-Request") == "true"
    return shown(page, request, page.step_template if part else "")


@csrf_exempt
@require_POST
@bounded
@in_frame
def practice(request: HttpRequest) -> HttpResponse:
    """An item before a test once more, with what was right; nothing is kept. Works without JavaScript."""
    try:
        page = serving.practise(*_posted(request), request.GET)
    except serving.TaskRefusedError as refusal:
        return _refusal_page(refusal)
    return shown(page, request)


@csrf_exempt
@require_POST
@bounded
def check(request: HttpRequest) -> JsonResponse:
    """{"ok": true}, or {"ok": false, "reasons": [sentence, ...]} with 422 for an answer and 403 for a worker.

    The reasons against an answer may come with "fields": the names of the fields that they are about, one a reason.
    """
    try:
        announced = serving.check(*_posted(request))
    except AnswerRefusedError as refusal:
        return _reasons(422, *refusal.reasons, fields=refusal.fields)
    except serving.NotEligibleError as refusal:
        return _reasons(403, f"{refusal} Please return this HIT: that does not count against you.")
    except serving.TokenRefusedError as refusal:
        return _reasons(400, str(refusal))
    if announced:
        fetch_soon(announced)
    return JsonResponse({"ok": True})


@csrf_exempt
@require_POST
@bounded
def draft(request: HttpRequest) -> JsonResponse:
    """{"ok": true}, or {"ok": false, "reasons": [...]} with 400 when saving again would not help either, and 429."""
    try:
        serving.save_draft(*_posted(request), _place(request))
    except serving.TooManyDraftsError as refusal:
        return _reasons(429, str(refusal))
    except serving.TaskRefusedError as refusal:
        return _reasons(400, str(refusal))
    return JsonResponse({"ok": True})


def _place(request: HttpRequest) -> str:
    """Where the visitor comes from: an IPv4 address or an IPv6 network, as far as the proxies of ours know it."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    return network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))[:64]


def _posted(request: HttpRequest) -> tuple[str, dict[str, str]]:
    fields = {name: str(value) for name, value in request.POST.items()}
    return fields.pop("page", ""), fields


def _reasons(status: int, *reasons: str, fields: Sequence[str] = ()) -> JsonResponse:
    return JsonResponse({"ok": False, "reasons": reasons, "fields": fields}, status=status)


def _refusal_page(refusal: serving.TaskRefusedError) -> HttpResponse:
    kinds = {serving.NotEligibleError: ("not_eligible", 403), serving.FrameRefusedError: ("wrong_frame", 400)}
    name, status = kinds.get(type(refusal), ("not_found", 404))
    return HttpResponse(render_to_string(f"task/{name}.html", {"refusal": refusal}), status=status)


task_urls = [
    path("task/check/", check, name="task-check"),
    path("task/draft/", draft, name="task-draft"),
    path("task/step/", step, name="task-step"),
    path("task/practice/", practice, name="task-practice"),
    path("task/<str:token>/", task, name="task"),
]
