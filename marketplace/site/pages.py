"""Rendering with the worker's header: one query, on every page of the site."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from marketplace.models import Worker
from marketplace.site import queries
from marketplace.site.zone import midnight, viewer_zone


def show(
    request: HttpRequest,
    worker: Worker,
    template: str,
    context: Mapping[str, Any],
    section: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render templates/marketplace/<template>.html for a signed-in worker; `section` marks the link in the bar."""
    since = midnight(timezone.now(), viewer_zone(request))
    header = {"worker": worker, "section": section, "day": queries.day_so_far(worker, since)}
    return render(request, f"marketplace/{template}.html", header | dict(context), status=status)


def problem(
    request: HttpRequest, status: int, heading: str, explanation: str, worker: Worker | None = None, **context: Any
) -> HttpResponse:
    """A page that says what happened and what to press."""
    said = {"heading": heading, "explanation": explanation} | context
    if worker is None:
        return render(request, "marketplace/problem.html", said, status=status)
    return show(request, worker, "problem", said, status=status)
