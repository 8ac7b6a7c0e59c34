"""The one guard of the dashboard: who may call a view, and how.

Security behavior: a visitor is sent to sign in; a project that the user does not own does not exist (404), so
that nobody learns which names are taken. A verb answers to POST alone, a page to GET and HEAD alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from hits.domain.action_log import acting_from
from hits.domain.plugins import UNUSABLE, NoCrowdError
from hits.models import Action, Project, Stage


class LeadRequest(HttpRequest):
    """A request past the guard: its user is signed in."""

    user: User  # type: ignore[assignment]


View = Callable[..., HttpResponse]
PAGE = ("GET", "HEAD")
VERB = ("POST",)
FORM = ("GET", "HEAD", "POST")


def guarded(methods: Sequence[str]) -> Callable[[View], View]:
    """For views that belong to no project: signed in, the right method."""

    def decorate(view: View) -> View:
        @wraps(view)
        def acting(request: HttpRequest, *given: Any, **more: Any) -> HttpResponse:
            with acting_from(Action.Origin.PAGE):
                try:
                    return view(request, *given, **more)
                except UNUSABLE as error:
                    # The page of the project and that of the stage say it too, and need nothing of that code.
                    return render(request, "projects/unusable.html", {"error": error}, status=409)

        return never_cache(require_http_methods(methods)(login_required(acting)))

    return decorate


def for_project(methods: Sequence[str]) -> Callable[[View], View]:
    """The view gets `(request, project, ...)`; its address begins with the project's slug."""

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, slug: str, **more: Any) -> HttpResponse:
            owned = Project.objects.visible_to(request.user).select_related("account")
            return view(request, get_object_or_404(owned, slug=slug), **more)

        return guarded(methods)(inner)

    return decorate


def for_stage(methods: Sequence[str], *, crowd: bool = True) -> Callable[[View], View]:
    """The view gets `(request, stage, ...)`; its address holds the project's slug and the stage's key.

    A page about answers, HITs or pay is refused with a sentence (409) where a stage has no crowd; with `crowd=False`
    the view sees to that itself.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, slug: str, key: str, **more: Any) -> HttpResponse:
            owned = Project.objects.visible_to(request.user)
            stages = Stage.objects.select_related("project__account", "summary")
            stage = get_object_or_404(stages, project__in=owned, project__slug=slug, key=key)
            if crowd and not stage.crowd:
                context = {"stage": stage, "project": stage.project, "error": NoCrowdError(stage)}
                return render(request, "stage/no_crowd.html", context, status=409)
            return view(request, stage, **more)

        return guarded(methods)(inner)

    return decorate
