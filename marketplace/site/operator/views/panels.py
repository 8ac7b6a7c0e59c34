"""Links by which people from elsewhere come in and go back."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import Panel
from marketplace.rules.errors import ParameterValidationError
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import PanelForm
from marketplace.site.operator.pages import paged, sent_token, show
from marketplace.verbs import clock, panels
from marketplace.verbs.operators import act

SECTION = "access"


def _find(slug: str) -> Panel:
    return get_object_or_404(Panel.objects.select_related("hit_type"), slug=slug)


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    context = {**paged(queries.panels(), request)}
    return show(request, "panels", context, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new(request: HttpRequest, operator: User) -> HttpResponse:
    form = PanelForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return show(request, "panel_new", {"form": form}, SECTION, status=400 if form.errors else 200)
    now, data = clock.now(), dict(form.cleaned_data)
    try:
        with act(operator, f"Made the panel {data['slug']}", now, token=sent_token(request)):
            panels.make_panel(hit_type=data.pop("group"), now=now, **data)
    except ParameterValidationError as refusal:
        form.add_error(None, refusal.message)
        return show(request, "panel_new", {"form": form}, SECTION, status=400)
    return redirect("operator:panel", data["slug"])


@require_safe
@operator_required
def panel(request: HttpRequest, operator: User, slug: str) -> HttpResponse:
    found = _find(slug)
    counts = found.entries.aggregate(joined=Count("pk"), finished=Count("finished_at"))
    return show(request, "panel", {"panel": found, "counts": counts}, SECTION)


@require_POST
@operator_required
def release(request: HttpRequest, operator: User, slug: str) -> HttpResponse:
    """Let another browser in with somebody's id."""
    found, outside_id = _find(slug), request.POST.get("outside_id", "").strip()[:200]
    with act(operator, f"Let another browser in to the panel {slug}", clock.now()):
        released = panels.release_browser(found, outside_id)
    if released:
        messages.success(request, "The next browser that comes with this ID is let in.")
    else:
        messages.error(request, "Nobody with this ID has come. Nothing was changed.")
    return redirect("operator:panel", slug)


@require_POST
@operator_required
def close(request: HttpRequest, operator: User, slug: str) -> HttpResponse:
    """Close or open again: whichever the page offered, which the form names."""
    found, now = _find(slug), clock.now()
    if request.POST.get("do") == "reopen":
        with act(operator, f"Opened the panel {slug} again", now):
            panels.reopen_panel(found)
        messages.success(request, "The panel is open again.")
    else:
        with act(operator, f"Closed the panel {slug}", now):
            panels.close_panel(found, now)
        messages.success(request, "The panel is closed: nobody new comes in.")
    return redirect("operator:panel", slug)
