"""The operator's second factor: asked for when signing in, set up with an app, and taken away.

Security behavior: the key is shown until its first code was entered, and never again. Recovery codes are shown once
(`common.shown_once`).
"""

import django_otp
from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from common import second_factor as scheme
from common import shown_once
from common.second_factor_forms import WRONG_CODE, CodeForm, RemoveSecondFactorForm, page_context
from common.sign_in import wanted_address
from marketplace.site import throttle
from marketplace.site.guards import operator_required, visitor_page
from marketplace.site.operator.pages import show
from marketplace.site.operator.sessions import whose_turn
from marketplace.site.sign_in import worker_of
from marketplace.site.views.errors import not_found
from marketplace.verbs import clock, operators


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def code(request: HttpRequest) -> HttpResponse:
    """The second step of signing in."""
    operator = whose_turn(request)
    if operator is None:
        if request.user.is_authenticated and not request.user.is_staff:
            return not_found(request, None, worker_of(request.user))
        return redirect("operator:overview") if request.user.is_authenticated else redirect_to_login("/operator/")
    form = CodeForm(request.POST or None)
    if request.method == "POST":
        tries = throttle.operator_code(operator)
        throttle.count(tries)
        if form.is_valid():
            if operators.accept_code(operator, form.cleaned_data["code"], clock.now()):
                throttle.signed_in(tries)
                return _signed_in(request, operator)
            form.add_error("code", WRONG_CODE)
    context = {"form": form, "next": wanted_address(request, "/operator/")}
    return show(request, "code", context, status=400 if form.errors else 200)


def _signed_in(request: HttpRequest, operator: User) -> HttpResponse:
    scheme.code_given(request)
    if not request.user.is_authenticated:
        auth.login(request, operator, settings.AUTHENTICATION_BACKENDS[0])
    django_otp.login(request, scheme.device_of(operator))
    response = HttpResponseRedirect(wanted_address(request, "/operator/"))
    throttle.remember_device(request, response, operator.get_username())
    return response


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def second_factor(request: HttpRequest, operator: User) -> HttpResponse:
    """What there is; a form with the first code of the app turns it on, and leads to the recovery codes."""
    if request.method != "POST":
        return _page(request, operator, new=shown_once.taken(request))
    form = CodeForm(request.POST, auto_id="confirm_%s")
    tries = throttle.operator_code(operator)
    throttle.count(tries, reverse("operator:second_factor"))
    key, now = request.session.session_key, clock.now()
    codes = operators.confirm_second_factor(operator, form.cleaned_data["code"], key, now) if form.is_valid() else []
    if not codes:
        return _wrong(request, operator, form, "confirm_form")
    throttle.signed_in(tries)
    django_otp.login(request, scheme.device_of(operator))
    return _codes_shown(request, codes)


def _codes_shown(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return shown_once.leading_to(request, reverse("operator:second_factor"), codes=codes)


def _wrong(request: HttpRequest, operator: User, form: CodeForm, name: str) -> HttpResponse:
    if form.is_valid():
        form.add_error("code", WRONG_CODE)
    return _page(request, operator, 400, **{name: form})


def _page(request: HttpRequest, operator: User, status: int = 200, **more: object) -> HttpResponse:
    context = {
        **page_context(operator),
        "left": operators.codes_left(operator),
        "required": settings.MARKETPLACE_REQUIRE_SECOND_FACTOR,
        **more,
    }
    return show(request, "second_factor", context, status=status)


@require_POST
@operator_required
def begin(request: HttpRequest, operator: User) -> HttpResponse:
    if not scheme.begin(operator):
        messages.success(request, "You have a second factor already. Turn it off before you set up another app.")
    return redirect("operator:second_factor")


@sensitive_post_parameters()
@require_POST
@operator_required
def new_codes(request: HttpRequest, operator: User) -> HttpResponse:
    form = CodeForm(request.POST, auto_id="codes_%s")
    tries = throttle.operator_code(operator)
    throttle.count(tries, reverse("operator:second_factor"))
    codes = operators.new_recovery_codes(operator, form.cleaned_data["code"], clock.now()) if form.is_valid() else []
    if not codes:
        return _wrong(request, operator, form, "codes_form")
    throttle.signed_in(tries)
    return _codes_shown(request, codes)


@sensitive_post_parameters()
@require_POST
@operator_required
def remove(request: HttpRequest, operator: User) -> HttpResponse:
    """With password and code: a session that was left open is not enough."""
    tries = {**throttle.operator_password(operator), **throttle.operator_code(operator)}
    throttle.count(tries, reverse("operator:second_factor"))
    form = RemoveSecondFactorForm(operator, request.POST, auto_id="remove_%s")
    if form.is_valid() and not operators.remove_second_factor(operator, form.cleaned_data["code"], clock.now()):
        form.add_error("code", WRONG_CODE)
    if not form.is_valid():
        return _page(request, operator, 400, remove_form=form)
    throttle.signed_in(tries)
    messages.success(request, "Your second factor is off. Signing in takes your password alone.")
    return redirect("operator:account")
