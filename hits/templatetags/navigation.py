"""The menu of a project and its stages, on each of its pages. What they show is read once a page."""

from __future__ import annotations

from typing import Any

from django import template
from django.contrib.auth.models import User

from hits.models import Stage
from hits.notifications.rules import notices
from hits.views import navigation

register = template.Library()


@register.simple_tag
def new_notices(user: User) -> str:
    """How many notices are new to the person, as the header says it; empty for none."""
    number = notices.new_count(user)
    return f"{notices.MOST_COUNTED}+" if number > notices.MOST_COUNTED else str(number or "")


@register.inclusion_tag("projects/_menu.html", takes_context=True)
def project_menu(context: dict[str, Any]) -> dict[str, Any]:
    request = context["request"]
    page = request.resolver_match.url_name if request.resolver_match else ""
    places = navigation.menu(request.project)
    here = navigation.place_of(page, places)
    return {"project": request.project, "places": [(place, place == here) for place in places]}


@register.inclusion_tag("projects/_nav.html", takes_context=True)
def stage_nav(context: dict[str, Any]) -> dict[str, Any]:
    """The stages; the group of the page's own stage is open."""
    request, current = context["request"], context.get("stage")
    found = navigation.folded(navigation.shown(request.project), current)
    return {"project": request.project, "stage": current, "entries": [(entry, entry.holds(current)) for entry in found]}


@register.filter
def numbered_in(stage: Stage, group: str) -> str:
    """The stage's number and title, without the name of its group, which stands beside it."""
    return stage.numbered.replace(f"{group}, ", "", 1) if group else stage.numbered


@register.inclusion_tag("projects/_nav_figures.html", takes_context=True)
def stage_figures(context: dict[str, Any]) -> dict[str, Any]:
    """What each stage says beside its name, to take the place of what the page shows of it."""
    return {"stages": [stage for entry in navigation.shown(context["request"].project) for stage in entry.stages]}
