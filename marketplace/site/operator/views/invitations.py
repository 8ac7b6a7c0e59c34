"""Links by which people sign up."""

from datetime import timedelta

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace.models import Invitation
from marketplace.rules.errors import ParameterValidationError
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.forms import InvitationForm
from marketplace.site.operator.pages import paged, sent_token, show
from marketplace.verbs import access, clock
from marketplace.verbs.operators import act

SECTION = "access"


def _find(pk: int) -> Invitation:
    return get_object_or_404(queries.invitations(), pk=pk)


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    return show(request, "invitations", {**paged(queries.invitations(), request), "now": clock.now()}, SECTION)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new(request: HttpRequest, operator: User) -> HttpResponse:
    form = InvitationForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return show(request, "invitation_new", {"form": form}, SECTION, status=400 if form.errors else 200)
    now, data = clock.now(), form.cleaned_data
    try:
        # The note may name a person: it stays out of the record.
        with act(operator, "", now, token=sent_token(request)) as action:
            made = access.invite(
                now=now,
                by=operator,
                note=data["note"],
                email=data["email"],
                uses=data["uses"],
                expires_at=now + timedelta(days=data["days"]) if data["days"] else None,
                qualification_type=data["qualification"],
                value=1 if data["value"] is None else data["value"],
            )
            action.about = f"Made invitation {made.pk}"
    except ParameterValidationError as refusal:
        form.add_error(None, refusal.message)
        return show(request, "invitation_new", {"form": form}, SECTION, status=400)
    return redirect("operator:invitation", made.pk)


@require_safe
@operator_required
def invitation(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    return show(request, "invitation", {"invitation": _find(pk), "now": clock.now()}, SECTION)


@require_POST
@operator_required
def revoke(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    found, now = _find(pk), clock.now()
    with act(operator, f"Revoked invitation {pk}", now):
        access.revoke_invitation(found, now)
    messages.success(request, "The invitation is revoked. Who has joined stays.")
    return redirect("operator:invitations")
