"""A lead's second factor: set up with an app, its recovery codes, and taken away.

Security behavior: the key is shown until its first code was entered, and never again. Recovery codes are shown once,
on the answer to the form.
"""

from __future__ import annotations

import django_otp
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.debug import sensitive_post_parameters

from common import second_factor as scheme
from hits import forms, sign_in
from hits.flow.setup import second_factor as flow
from hits.views.guard import PAGE, VERB, LeadRequest, guarded


@guarded(PAGE, setting_up=True)
def second_factor(request: LeadRequest) -> HttpResponse:
    return _page(request)


def _page(request: LeadRequest, status: int = 200, **more: object) -> HttpResponse:
    device, waiting = scheme.device_of(request.user), scheme.waiting_device(request.user)
    context = {
        "device": device,
        "left": flow.codes_left(request.user),
        # The picture is drawn here from our own address: nothing in it comes from a visitor.
        "picture": mark_safe(scheme.picture(waiting)) if waiting else "",
        "key": scheme.key_text(waiting) if waiting else "",
        "confirm_form": forms.CodeForm(auto_id="confirm_%s"),
        "codes_form": forms.CodeForm(auto_id="codes_%s"),
        "remove_form": forms.RemoveSecondFactorForm(request.user, auto_id="remove_%s"),
        "required": sign_in.lacks_second_factor(request) == "set-up",
        **more,
    }
    return render(request, "account/second_factor.html", context, status=status)


@guarded(VERB, setting_up=True)
def begin(request: LeadRequest) -> HttpResponse:
    try:
        flow.begin(request.user)
    except flow.SecondFactorStateError as refusal:
        messages.error(request, str(refusal))
    return redirect("second-factor")


@sensitive_post_parameters()
@guarded(VERB, setting_up=True)
def confirm(request: LeadRequest) -> HttpResponse:
    """The page with the recovery codes on it."""
    tries = sign_in.code_tries(request.user)
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = forms.CodeForm(request.POST, auto_id="confirm_%s")
    key = request.session.session_key
    codes = flow.confirm(request.user, form.cleaned_data["code"], key) if form.is_valid() else []
    if not codes:
        if form.is_valid():
            form.add_error("code", forms.WRONG_CODE)
        return _page(request, 400, confirm_form=form)
    sign_in.succeeded(tries)
    django_otp.login(request, scheme.device_of(request.user))
    return _page(request, codes=codes)


@sensitive_post_parameters()
@guarded(VERB)
def new_codes(request: LeadRequest) -> HttpResponse:
    tries = sign_in.code_tries(request.user)
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = forms.CodeForm(request.POST, auto_id="codes_%s")
    codes = flow.new_codes(request.user, form.cleaned_data["code"]) if form.is_valid() else []
    if not codes:
        if form.is_valid():
            form.add_error("code", forms.WRONG_CODE)
        return _page(request, 400, codes_form=form)
    sign_in.succeeded(tries)
    return _page(request, codes=codes)


@sensitive_post_parameters()
@guarded(VERB)
def remove(request: LeadRequest) -> HttpResponse:
    """With password and code: a session that was left open is not enough."""
    tries = {**sign_in.password_tries(request.user), **sign_in.code_tries(request.user)}
    if wait := sign_in.seconds_to_wait(tries):
        return _page(request, 429, wait=wait)
    form = forms.RemoveSecondFactorForm(request.user, request.POST, auto_id="remove_%s")
    if form.is_valid() and not flow.remove(request.user, form.cleaned_data["code"]):
        form.add_error("code", forms.WRONG_CODE)
    if not form.is_valid():
        return _page(request, 400, remove_form=form)
    sign_in.succeeded(tries)
    messages.success(request, "Your second factor is off. Signing in takes your password alone.")
    return redirect("account")
