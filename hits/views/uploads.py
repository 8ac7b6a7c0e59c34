"""Refuses what a person may not send at once before anything of it is read: a page with the limit, status 413."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from hits.core import upload_limits
from hits.models import Project
from hits.refusals import Refused

WITH_MEDIA = ("import", "add-media")


class UploadLimitMiddleware:
    """The API refuses by itself, once it knows whose token it was given."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: Mapping[str, Any]
    ) -> HttpResponse | None:
        size = request.META.get("CONTENT_LENGTH") or "0"
        if not size.isdigit() or int(size) <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            return None
        if request.path_info.startswith("/api/") or getattr(view, "bounds_itself", False):
            return None
        try:
            _refuse(request, int(size), kwargs.get("slug"))
        except Refused as refusal:
            return render(request, "413.html", {"refusal": refusal}, status=refusal.http_status)
        return None


def _refuse(request: HttpRequest, size: int, slug: str | None) -> None:
    """Raises Refused."""
    if not request.user.is_authenticated:
        return upload_limits.refuse_of_form(size)
    if slug is None:
        return upload_limits.refuse_outside_projects(size)
    project = Project.objects.visible_to(request.user).filter(slug=slug).first()
    if project is None:
        return upload_limits.refuse_of_form(size)
    page = request.resolver_match.url_name if request.resolver_match else ""
    upload_limits.refuse_of_role(project, size, with_media=page in WITH_MEDIA)
