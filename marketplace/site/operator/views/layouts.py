"""A requester's layouts: paste, look, copy the id."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.html_correcting import look_at
from common.html_templates import placeholder_names, with_form
from marketplace.models import HitLayout
from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError
from marketplace.site.frames import layout_frame
from marketplace.site.guards import operator_required
from marketplace.site.operator.forms import LayoutForm
from marketplace.site.operator.pages import sent_token, show
from marketplace.site.operator.views.requesters import SECTION, find
from marketplace.verbs import clock, frames, layouts
from marketplace.verbs.operators import act


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new(request: HttpRequest, operator: User, customer_id: str) -> HttpResponse:
    who = find(customer_id)
    form = LayoutForm(request.POST or None)
    context = {"form": form, "requester": who, "most": limits.QUESTION_BYTES}
    if request.method != "POST" or not form.is_valid():
        return show(request, "layout_new", context, SECTION, status=400 if form.errors else 200)
    now = clock.now()
    name, html, raw = (form.cleaned_data[field] for field in ("name", "html", "raw"))
    if "correct" in request.POST:
        return _corrected(request, context, form.cleaned_data)
    try:
        with act(operator, f"Added the layout {name}", now, token=sent_token(request), requester=who):
            made = layouts.register(who, name, html, now, raw)
    except ParameterValidationError as refusal:
        report = look_at(html, raw)
        form.add_error("html", refusal.message if report.passes else "This page cannot be a layout yet: see above.")
        return show(request, "layout_new", context | {"report": report}, SECTION, status=400)
    messages.success(request, "The layout is kept. It cannot be changed; add another one instead.")
    return redirect("operator:layout", made.pk)


def _corrected(request: HttpRequest, context: dict[str, Any], given: dict[str, Any]) -> HttpResponse:
    """The same form with the corrected copy in it, for the operator to look over; nothing is kept yet."""
    report = look_at(given["html"], given["raw"])
    if not report.corrected:
        return show(request, "layout_new", context | {"report": report}, SECTION, status=400)
    form = LayoutForm(initial=given | {"html": report.corrected})
    return show(request, "layout_new", context | {"form": form, "corrected": report}, SECTION)


@require_safe
@operator_required
def layout(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    found = get_object_or_404(HitLayout.objects.select_related("requester"), pk=pk)
    context = {
        "layout": found,
        "requester": found.requester,
        "placeholders": placeholder_names(found.html),
        "own_form": with_form(found.html) == found.html,
        "frame": layout_frame(found) if frames.origin() else None,
    }
    return show(request, "layout", context, SECTION)
