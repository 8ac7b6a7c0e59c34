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
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import JavaScriptCatalog

from common import request_id
from common.addresses import client_address, network
from hits.answers.rules import task_words
from hits.answers.rules.task_pages import Page
from hits.answers.verbs import serving
from hits.protocols.base import AnswerRefusedError
from hits.text.wording import _
from hits.views.jobs import fetch_soon

View = Callable[..., HttpResponseBase]
MONTH = 30 * 24 * 3600


def in_frame(view: View) -> View:
    """Let the known marketplaces, and nobody else, frame the page and take its form."""

    @wraps(view)
    def framed(*args: Any, **kwargs: Any) -> HttpResponseBase:
        origins = list(settings.MTURK_SUBMIT_ORIGINS)
        # Steps of one task are posted here, its answer there.
        return csp_replace({"frame-ancestors": origins, "form-action": ["'self'", *origins]})(view)(*args, **kwargs)

    return xframe_options_exempt(never_cache(framed))


def in_own_language(view: View) -> View:
    """In the language of the worker's browser, if it is one of ours, or in the one that the stage asks for."""

    @wraps(view)
    def said(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with task_words.spoken_to_worker(request.headers.get("Accept-Language", "")):
            return view(request, *args, **kwargs)

    return said


def bounded(view: View) -> View:
    """Refuse what is larger than any answer before it is read: anybody can post here."""

    @wraps(view)
    def read(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return _reasons(413, _("This is more than an answer can hold. Shorten what you wrote."))
        return view(request, *args, **kwargs)

    read.bounds_itself = True  # type: ignore[attr-defined]
    return read


@require_safe
@in_own_language
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
@in_own_language
@bounded
@in_frame
def step(request: HttpRequest) -> HttpResponse:
    """The next screen of a task that asks one thing at a time, as a part for htmx, else as the whole page.

    Security: the page's token says whose task it is. A step that is not answered comes back with the reasons and 422.
    Works without JavaScript. A refusal is a page of its own: htmx is told to reload, which shows it.
    """
    try:
        page = serving.take_step(*_posted(request), request.GET, place_of(request))
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
@in_own_language
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
@in_own_language
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
        advice = _("%(why)s Please return this HIT: that does not count against you.", why=refusal)
        return _reasons(403, advice)
    except serving.TaskRefusedError as refusal:
        return _reasons(400, str(refusal))
    if announced:
        with task_words.english():
            fetch_soon(announced)
    return JsonResponse({"ok": True})


@csrf_exempt
@require_POST
@in_own_language
@bounded
def draft(request: HttpRequest) -> JsonResponse:
    """{"ok": true}, or {"ok": false, "reasons": [...]} with 400 when saving again would not help either, and 429."""
    try:
        serving.save_draft(*_posted(request), place_of(request))
    except serving.TaskRefusedError as refusal:
        return _reasons(429 if refusal.status == 429 else 400, str(refusal))
    return JsonResponse({"ok": True})


@require_safe
@cache_control(public=True, max_age=MONTH, immutable=True)
def words(request: HttpRequest, language: str, version: str) -> HttpResponseBase:
    """The words of the scripts in a language other than English. Its address changes with them."""
    if language not in task_words.LANGUAGES or version != task_words.catalogue_version(language):
        raise Http404
    with task_words.spoken(language):
        return JavaScriptCatalog.as_view(packages=["hits"])(request)


def place_of(request: HttpRequest) -> str:
    """Where the visitor comes from: an IPv4 address or an IPv6 network, as far as the proxies of ours know it."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    return network(client_address(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))[:64]


def _posted(request: HttpRequest) -> tuple[str, dict[str, str]]:
    fields = {name: str(value) for name, value in request.POST.items()}
    # What a page posts belongs to the request that opened it, and so does its answer at the marketplace.
    request_id.follow(fields.get(request_id.HEADER))
    return fields.pop("page", ""), fields


def _reasons(status: int, *reasons: str, fields: Sequence[str] = ()) -> JsonResponse:
    return JsonResponse({"ok": False, "reasons": reasons, "fields": fields}, status=status)


def _refusal_page(refusal: serving.TaskRefusedError) -> HttpResponse:
    name = {403: "not_eligible", 400: "wrong_frame", 404: "not_found"}[refusal.status]
    return HttpResponse(render_to_string(f"answers/task/{name}.html", {"refusal": refusal}), status=refusal.status)


task_urls = [
    path("task/check/", check, name="task-check"),
    path("task/draft/", draft, name="task-draft"),
    path("task/step/", step, name="task-step"),
    path("task/practice/", practice, name="task-practice"),
    path("task/words/<slug:language>-<slug:version>.js", words, name="task-words"),
    path("task/<str:token>/", task, name="task"),
]
