"""A lead's second factor: set up with an app, its recovery codes, and taken away.

Security behavior: the key is shown until its first code was entered, and never again. Recovery codes are shown once
(`common.shown_once`).
"""

from __future__ import annotations

import django_otp
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters

from common import shown_once
from common.second_factor import device_of
from common.second_factor_forms import WRONG_CODE, CodeForm, RemoveSecondFactorForm, page_context
from hits.accounts.verbs import second_factor as flow
from hits.accounts.verbs import sign_in
from hits.refusals import Refused
from hits.views.guard import PAGE, VERB, LeadRequest, guarded


@guarded(PAGE, setting_up=True)
def second_factor(request: LeadRequest) -> HttpResponse:
    return _page(request, new=shown_once.taken(request))


def _page(request: LeadRequest, status: int = 200, **more: object) -> HttpResponse:
    context = {
        **page_context(request.user),
        "left": flow.codes_left(request.user),
        "required": sign_in.lacks_second_factor(request) == "set-up",
        **more,
    }
    return render(request, "accounts/second_factor.html", context, status=status)


@guarded(VERB, setting_up=True)
def begin(request: LeadRequest) -> HttpResponse:
    try:
        flow.begin(request.user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("second-factor")


@sensitive_post_parameters()
@guarded(VERB, setting_up=True)
def confirm(request: LeadRequest) -> HttpResponse:
    """Leads to the page with the recovery codes on it."""
    tries = sign_in.code_tries(request.user)
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = CodeForm(request.POST, auto_id="confirm_%s")
    key = request.session.session_key
    codes = flow.confirm(request.user, form.cleaned_data["code"], key) if form.is_valid() else []
    if not codes:
        if form.is_valid():
            form.add_error("code", WRONG_CODE)
        return _page(request, 400, confirm_form=form)
    sign_in.succeeded(tries)
    django_otp.login(request, device_of(request.user))
    return shown_once.leading_to(request, reverse("second-factor"), codes=codes)


@sensitive_post_parameters()
@guarded(VERB)
def new_codes(request: LeadRequest) -> HttpResponse:
    tries = sign_in.code_tries(request.user)
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = CodeForm(request.POST, auto_id="codes_%s")
    codes = flow.new_codes(request.user, form.cleaned_data["code"]) if form.is_valid() else []
    if not codes:
        if form.is_valid():
            form.add_error("code", WRONG_CODE)
        return _page(request, 400, codes_form=form)
    sign_in.succeeded(tries)
    return shown_once.leading_to(request, reverse("second-factor"), codes=codes)


@sensitive_post_parameters()
@guarded(VERB)
def remove(request: LeadRequest) -> HttpResponse:
    """With password and code: a session that was left open is not enough."""
    tries = {**sign_in.password_tries(request.user), **sign_in.code_tries(request.user)}
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = RemoveSecondFactorForm(request.user, request.POST, auto_id="remove_%s")
    if form.is_valid() and not flow.remove(request.user, form.cleaned_data["code"]):
        form.add_error("code", WRONG_CODE)
    if not form.is_valid():
        return _page(request, 400, remove_form=form)
    sign_in.succeeded(tries)
    messages.success(request, "Your second factor is off. Signing in takes your password alone.")
    return redirect("account")
