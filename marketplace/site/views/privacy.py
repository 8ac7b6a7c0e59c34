"""The worker's own data: all of it as a file, and its end."""

import json
from contextlib import suppress

from django.contrib import auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.models import Worker
from marketplace.rules.errors import AlreadyDone
from marketplace.site import throttle
from marketplace.site.account_forms import DeleteForm
from marketplace.site.guards import worker_required
from marketplace.site.pages import show
from marketplace.verbs import clock, privacy


@require_safe
@worker_required
def overview(request: HttpRequest, worker: Worker) -> HttpResponse:
    return show(request, worker, "privacy", {}, "profile")


@never_cache
@require_safe
@worker_required
def data(request: HttpRequest, worker: Worker) -> HttpResponse:
    """All of it as one JSON file."""
    text = json.dumps(privacy.export(worker), ensure_ascii=False, indent=1)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="my-data-{clock.now():%Y-%m-%d}.json"'
    return response


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def delete(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Says what goes and what stays, asks for the password, then deletes for good."""
    form = DeleteForm(worker, request.POST or None)
    if request.method == "POST":
        throttle.count(throttle.password(worker))
        if form.is_valid():
            # A second click may have been faster.
            with suppress(AlreadyDone):
                privacy.erase(worker, clock.now())
            auth.logout(request)
            response = render(request, "marketplace/deleted.html", {"worker_id": worker.worker_id})
            response.delete_cookie(throttle.KNOWN)
            return response
    return show(request, worker, "privacy_delete", {"form": form}, "profile", status=400 if form.errors else 200)
