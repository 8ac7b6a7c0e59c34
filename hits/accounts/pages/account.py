"""A lead's own account: the password, sessions, what was changed, and tokens for programs."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters

from common import shown_once
from common.second_factor import device_of
from hits.accounts.pages import forms
from hits.accounts.rules.lead_limits import room_of
from hits.accounts.verbs import api_tokens, passwords, second_factor, sessions, sign_in
from hits.models import AccountAction, ApiToken, LeadSession
from hits.refusals import Refused
from hits.views.guard import PAGE, VERB, LeadRequest, guarded

CHANGES_SHOWN = 20


@guarded(PAGE)
def account(request: LeadRequest) -> HttpResponse:
    return _page(request, new=shown_once.taken(request))


def _page(request: LeadRequest, status: int = 200, **more: object) -> HttpResponse:
    room = room_of(request.user)
    context = {
        "room": room.said_to(request.user) if room else "",
        "tokens": ApiToken.objects.living().filter(user=request.user).order_by("-id"),
        "token_form": forms.TokenForm(initial={"scope": ApiToken.Scope.READ, "days": api_tokens.USUAL_DAYS}),
        "sessions": sessions.open_sessions(request.user),
        "this_session": request.session.session_key,
        "second_factor": device_of(request.user),
        "codes_left": second_factor.codes_left(request.user),
        "changes": AccountAction.objects.filter(account=request.user)[:CHANGES_SHOWN],
        "password_form": forms.NewPasswordForm(request.user),
        "has_mail": bool(settings.MAIL),
        **more,
    }
    return render(request, "accounts/account.html", context, status=status)


@guarded(VERB)
def make_token(request: LeadRequest) -> HttpResponse:
    form = forms.TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, 400, token_form=form)
    try:
        row, token = api_tokens.make_token(request.user, **form.cleaned_data)
    except Refused as error:
        form.add_error(None, str(error))
        return _page(request, 409, token_form=form)
    expires = row.expires_at.isoformat()
    return shown_once.leading_to(request, reverse("account"), token=token, name=row.name, expires_at=expires)


@guarded(VERB)
def revoke_token(request: LeadRequest, pk: int) -> HttpResponse:
    if api_tokens.revoke_token(request.user, pk):
        messages.success(request, "The token is revoked. Programs that use it are refused from now on.")
    return redirect("account")


@sensitive_post_parameters()
@guarded(VERB)
def change_password(request: LeadRequest) -> HttpResponse:
    """Sessions elsewhere end, and all tokens of the account are revoked."""
    tries = sign_in.password_tries(request.user)
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = forms.NewPasswordForm(request.user, request.POST)
    if "old_password" not in form.errors:
        sign_in.succeeded(tries)
    if not form.is_valid():
        return _page(request, 400, password_form=form)
    passwords.change(request.user, form.cleaned_data["new_password1"])
    update_session_auth_hash(request, request.user)
    LeadSession.objects.all().begin(request, request.user)
    messages.success(request, "Your password is changed. Other sessions have ended, and all API tokens are revoked.")
    return redirect("account")


@guarded(VERB)
def end_session(request: LeadRequest, pk: int) -> HttpResponse:
    if not sessions.end_session(request.user, pk, request.user):
        raise Http404
    messages.success(request, "The session is ended: that browser is signed out.")
    return redirect("account")


@guarded(VERB)
def end_other_sessions(request: LeadRequest) -> HttpResponse:
    ended = sessions.end_others(request.user, request.session.session_key, request.user)
    messages.success(request, f"{ended} other session{'' if ended == 1 else 's'} ended. You are signed in here alone.")
    return redirect("account")
