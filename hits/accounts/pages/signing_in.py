"""Signing in and out, with a code where there is a second factor; and setting a password by a link.

Security behavior: guesses are slowed down by name and by address, never on a browser that is known. What is answered to
a forgotten password is the same for every address, and comes before anything is sent.
"""

from __future__ import annotations

from typing import Any

import django_otp
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from common.second_factor import RECOVERY, code_given, device_of, password_given, whose_password
from common.second_factor_forms import WRONG_CODE, CodeForm
from common.sign_in import wanted_address
from hits import tasks
from hits.accounts.pages import forms
from hits.accounts.verbs import second_factor, sign_in
from hits.core.action_log import acting_from
from hits.core.jobs import queue
from hits.models import Action
from hits.views.guard import FORM


class SignIn(views.LoginView):
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.tries = sign_in.tries(request, request.POST.get("username", ""))
        wait = sign_in.seconds_to_wait(self.tries)
        if not wait:
            return super().post(request, *args, **kwargs)
        # An unbound form: the password is not looked at.
        context = self.get_context_data(form=AuthenticationForm(request), wait=wait)
        return self.render_to_response(context, status=429, headers={"Retry-After": str(wait)})

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        sign_in.succeeded(self.tries)
        user = form.get_user()
        if device_of(user):
            password_given(self.request, user)
            return redirect(f"{reverse('sign-in-code')}?{urlencode({'next': self.get_success_url()})}")
        response = super().form_valid(form)
        sign_in.remember_device(self.request, response, user.get_username())
        return response


class SignOut(views.LogoutView):
    http_method_names = ["post", "options"]


@sensitive_post_parameters()
@never_cache
@require_http_methods(FORM)
def code(request: HttpRequest) -> HttpResponse:
    """The second step; also for a session that was opened before the second factor was set up elsewhere."""
    user = _whose_turn(request)
    if user is None:
        return redirect("login")
    if request.method != "POST":
        return _code_page(request)
    tries = sign_in.code_tries(user)
    if wait := sign_in.seconds_to_wait(tries):
        return _code_page(request, 429, wait=wait)
    form = CodeForm(request.POST)
    with acting_from(Action.Origin.PAGE):
        how = second_factor.accept(user, form.cleaned_data["code"]) if form.is_valid() else ""
    if not how:
        if form.is_valid():
            form.add_error("code", WRONG_CODE)
        return _code_page(request, 400, form=form)
    sign_in.succeeded(tries)
    code_given(request)
    if not request.user.is_authenticated:
        login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    django_otp.login(request, device_of(user))
    if how == RECOVERY:
        left = second_factor.codes_left(user)
        messages.warning(
            request, f"This recovery code is used up. You have {left} left: make new ones in your account."
        )
    response = HttpResponseRedirect(wanted_address(request, reverse("projects")))
    sign_in.remember_device(request, response, user.get_username())
    return response


def _whose_turn(request: HttpRequest) -> User | None:
    """Whoever gave the right password here a moment ago, or is signed in without the code that is needed by now."""
    if request.user.is_authenticated:
        return request.user if sign_in.lacks_second_factor(request) == "code" else None
    found: User | None = whose_password(request, User.objects.all())
    return found


def _code_page(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    context = {"form": CodeForm(), "next": wanted_address(request, reverse("projects")), **more}
    response = render(request, "accounts/code.html", context, status=status)
    if "wait" in more:
        response["Retry-After"] = str(more["wait"])
    return response


@never_cache
@require_http_methods(FORM)
def forgot_password(request: HttpRequest) -> HttpResponse:
    """Have a link sent to an address; without a mail server whoever runs this one makes it."""
    form = forms.ForgottenForm(request.POST or None)
    context = {"form": form, "mail": settings.MAIL, "sent": "sent" in request.GET}
    if request.method != "POST" or not settings.MAIL:
        return render(request, "accounts/forgotten.html", context)
    if not form.is_valid():
        return render(request, "accounts/forgotten.html", context, status=400)
    email = form.cleaned_data["email"]
    if wait := sign_in.seconds_to_wait(sign_in.letter_tries(request, email)):
        shown = render(request, "accounts/forgotten.html", {**context, "wait": wait}, status=429)
        shown["Retry-After"] = str(wait)
        return shown
    queue.start(tasks.send_password_links, email)
    return redirect(f"{reverse('forgot-password')}?sent")


@method_decorator([sensitive_post_parameters(), never_cache], name="dispatch")
class SetPassword(views.PasswordResetConfirmView):
    """Django's own: the token moves into the session, so that it stands in no address that is passed on."""

    form_class = forms.LinkedPasswordForm
    template_name = "accounts/set_password.html"
    success_url = reverse_lazy("login")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(*args, **kwargs)
        if not self.validlink and response.status_code == 200:
            response.status_code = 404
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        user: Any = self.user
        # Whoever guessed wrong before and now has a new password need not wait.
        sign_in.succeeded(sign_in.tries(self.request, user.get_username()))
        messages.success(self.request, f"Your password is set. Sign in as {user.get_username()}.")
        with acting_from(Action.Origin.PAGE):
            return super().form_valid(form)
