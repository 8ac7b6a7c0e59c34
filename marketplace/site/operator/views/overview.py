"""How things stand right now, and what operators have changed."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.pages import paged, show
from marketplace.site.zone import midnight, viewer_zone
from marketplace.verbs import clock


@require_safe
@operator_required
def overview(request: HttpRequest, operator: User) -> HttpResponse:
    return show(request, "overview", _live(request), "overview")


@require_safe
@operator_required
def live(request: HttpRequest, operator: User) -> HttpResponse:
    """The part of the overview that refreshes itself."""
    return show(request, "_live", _live(request), "overview")


def _live(request: HttpRequest) -> dict[str, Any]:
    now = clock.now()
    hours = queries.hours(now)
    return {
        "now": now,
        "counts": queries.counts(now, midnight(now, viewer_zone(request))),
        "hours": hours,
        "busiest": max(hours, key=lambda hour: hour.submissions),
        "submitted": sum(hour.submissions for hour in hours),
        "money": queries.money_sums(),
        "attention": queries.attention(now),
    }


@require_safe
@operator_required
def log(request: HttpRequest, operator: User) -> HttpResponse:
    context = {**paged(queries.actions(), request)}
    return show(request, "log", context, "log")
