"""Invitations: whoever has the link accepts one, with or without an account.

Security behavior: opening a link changes nothing; it is accepted by POST alone. The page says to whoever has the link
which project it is for, and with which role, and nothing else of it.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from hits.accounts.verbs import sign_in
from hits.core.action_log import acting_from
from hits.models import Action, Invitation
from hits.projects.pages import forms
from hits.projects.verbs import invitations as flow
from hits.refusals import Refused
from hits.views.guard import FORM

NAME_TAKEN = "Somebody here has this user name already. Choose another one."


@sensitive_post_parameters()
@never_cache
@require_http_methods(FORM)
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Whoever is signed in accepts with one press; anybody else makes an account here, or signs in first."""
    try:
        row = flow.find(token)
        if request.method != "POST":
            return _shown(request, row)
        if request.user.is_authenticated and sign_in.lacks_second_factor(request):
            # Every page of theirs leads to what is missing, and the link stays good.
            return redirect("projects")
        with acting_from(Action.Origin.PAGE):
            return _accepted(request, token) if request.user.is_authenticated else _signed_up(request, row, token)
    except Refused as refusal:
        if refusal.error_code != "no_invitation":
            raise
        return render(request, "accounts/no_invitation.html", {"refusal": refusal}, status=404)


def _accepted(request: HttpRequest, token: str) -> HttpResponse:
    try:
        project = flow.accept(token, request.user)  # type: ignore[arg-type]
    except Refused as refusal:
        if refusal.error_code == "no_invitation":
            raise
        messages.error(request, str(refusal))
        return redirect("projects")
    messages.success(request, f"You are a member of {project.name} now.")
    return redirect("project", project.slug)


def _signed_up(request: HttpRequest, row: Invitation, token: str) -> HttpResponse:
    tries = sign_in.invitation_tries(row.pk)
    if wait := sign_in.seconds_to_wait(tries):
        return _shown(request, row, 429, wait=wait)
    form = forms.NewAccountForm(request.POST)
    if not form.is_valid():
        return _shown(request, row, 400, form=form)
    try:
        person = flow.sign_up(token, form.cleaned_data["username"], form.cleaned_data["password1"])
    except IntegrityError:
        form.add_error("username", NAME_TAKEN)
        return _shown(request, row, 400, form=form)
    except Refused as refusal:
        if refusal.error_code == "no_invitation":
            raise
        form.add_error(None, str(refusal))
        return _shown(request, row, 409, form=form)
    login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
    messages.success(request, f"Your account is made, and you are a member of {row.project.name} now.")
    return redirect("project", row.project.slug)


def _shown(request: HttpRequest, row: Invitation, status: int = 200, **more: object) -> HttpResponse:
    context = {"invitation": row, "form": forms.NewAccountForm(), **more}
    return render(request, "accounts/invitation.html", context, status=status)
