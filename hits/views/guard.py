"""The one guard of the dashboard: who may call a view, and how.

Security behavior: a visitor is sent to sign in, and whoever lacks a second factor is sent to give one or to set one up.
A project that the user is no member of does not exist (404), so that nobody learns which names are taken. To a member
whose role does not allow it (`hits.core.roles`), and on a page that no role may see, the answer is 403 with a
sentence, and 409 for what an archived project refuses. What else a verb refuses (`Refused`) and the view does not show
is said on the page that `back` names, or in the place of the page. A verb answers to POST
alone, a page to GET and HEAD alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hits.accounts.verbs.sign_in import lacks_second_factor
from hits.core import roles
from hits.core.action_log import acting_from
from hits.models import Action, Project, Stage
from hits.projects.rules.archived import ArchivedError
from hits.projects.rules.plugins import UNUSABLE, refuse_without_crowd
from hits.refusals import Refused


class LeadRequest(HttpRequest):
    """A request past the guard: its user is signed in and a member of the project that the page is about."""

    user: User  # type: ignore[assignment]
    project: Project


View = Callable[..., HttpResponse]
PAGE = ("GET", "HEAD")
VERB = ("POST",)
FORM = ("GET", "HEAD", "POST")


def guarded(methods: Sequence[str], *, setting_up: bool = False) -> Callable[[View], View]:
    """For views that belong to no project: signed in, with the second factor that is needed, the right method.

    `setting_up` is for the pages that a lead needs to get one.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def acting(request: HttpRequest, *given: Any, **more: Any) -> HttpResponse:
            lacking = lacks_second_factor(request)
            if lacking == "code":
                wanted = request.get_full_path() if request.method in PAGE else "/"
                return redirect_to_login(wanted, reverse("sign-in-code"))
            if lacking and not setting_up:
                return redirect("second-factor")
            with acting_from(Action.Origin.PAGE):
                try:
                    return view(request, *given, **more)
                except (roles.RoleRefusedError, ArchivedError, Refused) as refusal:
                    context = {"refusal": refusal}
                    return render(request, "projects/not_allowed.html", context, status=refusal.http_status)
                except UNUSABLE as error:
                    # The page of the project and that of the stage say it too, and need nothing of that code.
                    return render(request, "projects/unusable.html", {"error": error}, status=409)

        view_or_refusal = never_cache(require_http_methods(methods)(login_required(acting)))
        view_or_refusal.methods = tuple(methods)  # type: ignore[attr-defined]
        return view_or_refusal

    return decorate


def no_page(request: HttpRequest, back: str) -> HttpResponse:
    """The handler405: somebody opened the address of a form. `back` is the page above it."""
    return render(request, "405.html", {"back": back}, status=405)


def _or_back(page: str, request: HttpRequest, place: Sequence[str], call: Callable[[], HttpResponse]) -> HttpResponse:
    """What a verb refuses is said on the page of this name."""
    try:
        return call()
    except Refused as refusal:
        if not page:
            raise
        messages.error(request, str(refusal))
        return redirect(page, *place)


def for_project(methods: Sequence[str], *, back: str = "") -> Callable[[View], View]:
    """The view gets `(request, project, ...)`; its address begins with the project's slug.

    `back` names the page of the project that says what the view's verb refused (`Refused`).
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, slug: str, **more: Any) -> HttpResponse:
            project = get_object_or_404(Project.objects.visible_to(request.user).select_related("account"), slug=slug)
            _admit(request, project)
            return _or_back(back, request, [slug], lambda: view(request, project, **more))

        return guarded(methods)(inner)

    return decorate


def _admit(request: HttpRequest, project: Project) -> None:
    """Raises RoleRefusedError and ArchivedError."""
    # The page shows what may be done (`hits.templatetags.roles`), and whether the project is archived (base.html).
    request.project = project  # type: ignore[attr-defined]
    page = request.resolver_match.url_name if request.resolver_match else None
    roles.refuse_unless_allowed(project, roles.page_verb(str(page), str(request.method)))


def for_stage(methods: Sequence[str], *, crowd: bool = True, back: str = "") -> Callable[[View], View]:
    """The view gets `(request, stage, ...)`; its address holds the project's slug and the stage's key.

    A page about answers, HITs or pay is refused with a sentence (409) where a stage has no crowd; with `crowd=False`
    the view sees to that itself. `back` names the page of the stage that says what the view's verb refused.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, slug: str, key: str, **more: Any) -> HttpResponse:
            stages = Stage.objects.visible_to(request.user).select_related("project__account", "summary")
            stage = get_object_or_404(stages, project__slug=slug, key=key)
            stage.project.role = stage.role
            _admit(request, stage.project)
            try:
                if crowd:
                    refuse_without_crowd(stage)
            except Refused as error:
                context = {"stage": stage, "project": stage.project, "error": error}
                return render(request, "stages/no_crowd.html", context, status=409)
            return _or_back(back, request, [slug, key], lambda: view(request, stage, **more))

        return guarded(methods)(inner)

    return decorate
