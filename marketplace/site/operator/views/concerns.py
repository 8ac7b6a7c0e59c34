"""What workers have raised: disputes of rejections, reports of HITs."""

from datetime import datetime
from typing import Any
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from common.cutting import bounded, cut
from marketplace.models import Assignment, Concern
from marketplace.rules import lifecycle
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import ResolveForm
from marketplace.site.operator.pages import paged, show
from marketplace.verbs import clock, resolutions
from marketplace.verbs.concerns import can_dispute

SECTION = "concerns"
MOST_FIELDS, LONGEST_NAME = 1000, 200
STATES = {"open": "Open", "resolved": "Resolved", "all": "All"}


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    kind, state = request.GET.get("kind", ""), request.GET.get("state", "open")
    rows = queries.concerns()
    if kind in Concern.Kind.values:
        rows = rows.filter(kind=kind)
    if state in ("open", "resolved"):
        rows = rows.filter(resolved_at__isnull=state == "open")
    context = {
        **paged(rows, request),
        "kind": kind,
        "state": state,
        "kinds": [("", "Disputes and reports"), (Concern.Kind.DISPUTE, "Disputes"), (Concern.Kind.REPORT, "Reports")],
        "states": list(STATES.items()),
    }
    return show(request, "concerns", context, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def concern(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    """All there is to know, and the decision; what costs or ends something is asked for once more."""
    raised = get_object_or_404(queries.whole_concerns(), pk=pk)
    now = clock.now()
    form = ResolveForm(request.POST or None, choices=_choices(raised, now))
    context: dict[str, Any] = {"concern": raised, "form": form, "now": now}
    if raised.assignment is not None:
        context["answers"] = answers_in(raised.assignment)
    if request.method != "POST" or not form.is_valid():
        return show(request, "concern", context, SECTION, status=400 if form.errors else 200)
    decision = form.cleaned_data["decision"]
    if decision != "note" and "confirmed" not in request.POST:
        context |= {"decision": decision, "note": form.cleaned_data["note"]}
        return show(request, "concern_confirm", context, SECTION)
    resolutions.resolve(
        operator,
        raised,
        form.cleaned_data["note"],
        now,
        overturn=decision == "overturn",
        take_down=decision == "take_down",
    )
    messages.success(request, "Resolved. The worker finds your note under Messages.")
    return redirect("operator:concerns")


def _choices(raised: Concern, now: datetime) -> list[tuple[str, str]]:
    choices = [("note", "Only answer, change nothing")]
    if raised.kind == Concern.Kind.DISPUTE and raised.assignment is not None and can_dispute(raised.assignment, now):
        choices.append(("overturn", f"Undo the rejection: the requester pays ${raised.assignment.cost:,.2f}"))
    open_states = (lifecycle.ASSIGNABLE, lifecycle.UNASSIGNABLE)
    if raised.kind == Concern.Kind.REPORT and raised.hit.status(now) in open_states and raised.hit.expires_at > now:
        choices.append(("take_down", "Take the HIT down"))
    return choices


def answers_in(assignment: Assignment) -> list[tuple[str, str]]:
    """Each question's name with what was answered, as much of it as a page shows; nothing for an assignment that was
    not submitted.
    """
    if not assignment.answer:
        return []
    root: Element = fromstring(assignment.answer.encode(), forbid_dtd=True)
    # The name comes first, whatever kinds of answer follow it.
    found = [(_text(answer[0]), "; ".join(_text(value) for value in answer[1:])) for answer in root if len(answer)]
    values = bounded({str(number): value for number, (_, value) in enumerate(found[:MOST_FIELDS])})
    shown = [(cut(name, LONGEST_NAME), value) for (name, _), value in zip(found, values.values(), strict=False)]
    more = len(found) - len(shown)
    return [*shown, ("…", f"{more:,} more fields")] if more else shown


def _text(element: Element) -> str:
    return element.text or ""
