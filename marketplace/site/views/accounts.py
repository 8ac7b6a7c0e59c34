"""Signing up, in and out; confirming an address; choosing a new password."""

from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from common.second_factor import device_of
from common.sign_in import wanted_address
from marketplace.models import Invitation, Worker
from marketplace.rules.errors import RequestError
from marketplace.site import throttle
from marketplace.site.account_forms import (
    ChangePasswordForm,
    EmailForm,
    ForgotForm,
    NewPasswordForm,
    PlaceForm,
    SignInForm,
    SignUpForm,
)
from marketplace.site.guards import visitor_page, worker_required
from marketplace.site.operator.sessions import ask_for_code
from marketplace.site.pages import contact, problem, show
from marketplace.site.saying import said
from marketplace.verbs import access, clock


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def signup(request: HttpRequest) -> HttpResponse:
    """Open to anybody, unless the marketplace takes people by invitation only."""
    if request.user.is_authenticated:
        return redirect("site:home")
    if settings.MARKETPLACE_SIGN_UP == "invitation":
        return problem(
            request,
            403,
            _("You need an invitation to sign up"),
            _(
                "Open the link of your invitation: it leads to the page where you sign up. "
                "If you have none, ask %(contact)s."
            )
            % {"contact": contact()},
            back_url=reverse("site:login"),
            back_label=_("I have an account: sign in"),
        )
    return _sign_up(request, reverse("site:signup"), None)


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def join(request: HttpRequest, token: str) -> HttpResponse:
    """The page behind an invitation's link."""
    if request.user.is_authenticated:
        return problem(
            request,
            409,
            _("You have an account already"),
            _("You are signed in as “%(name)s”. One person has one account, so the invitation was not used.")
            % {"name": request.user.get_username()},
        )
    try:
        invitation = access.open_invitation(token, clock.now())
    except RequestError as refusal:
        return problem(
            request,
            410,
            _("This invitation is not open"),
            said(refusal.message),
            back_url=reverse("site:login"),
            back_label=_("Sign in"),
        )
    return _sign_up(request, reverse("site:join", args=[token]), invitation)


def _sign_up(request: HttpRequest, here: str, invitation: Invitation | None) -> HttpResponse:
    form = SignUpForm(request.POST or None, invitation=invitation)
    if request.method == "POST":
        throttle.count(throttle.sign_up(request) if form.is_valid() else throttle.sign_up_slip(request))
    if request.method == "POST" and form.is_valid():
        worker = form.create_worker()
        if worker is not None:
            auth.login(request, worker.user, settings.AUTHENTICATION_BACKENDS[0])
            response = HttpResponseRedirect(wanted_address(request, "/"))
            throttle.remember_device(request, response, worker.user.get_username())
            return response
    context = {
        "form": form,
        "next": wanted_address(request),
        "section": "signup",
        "here": here,
        "invitation": invitation,
    }
    return render(request, "marketplace/signup.html", context, status=400 if form.errors else 200)


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def login(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return HttpResponseRedirect(wanted_address(request, "/"))
    username = request.POST.get("username", "")
    tries = throttle.sign_in(request, username)
    if request.method == "POST":
        throttle.count(tries)
    form = SignInForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        throttle.signed_in(tries)
        if form.get_user().is_staff and device_of(form.get_user()):
            return ask_for_code(request, form.get_user(), wanted_address(request))
        auth.login(request, form.get_user())
        response = HttpResponseRedirect(wanted_address(request, "/"))
        throttle.remember_device(request, response, username)
        return response
    context = {"form": form, "next": wanted_address(request), "section": "login", "reset": "reset" in request.GET}
    return render(request, "marketplace/login.html", context, status=400 if form.errors else 200)


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return redirect("site:login")


# Forgotten passwords


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def forgot(request: HttpRequest) -> HttpResponse:
    """Ask for a letter with a link. The answer is the same whether or not somebody has the address."""
    if not settings.MARKETPLACE_MAIL:
        return render(request, "marketplace/forgot_without_mail.html", {"contact": contact()})
    form = ForgotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        email = form.cleaned_data["email"]
        throttle.count(throttle.letter(request, email))
        access.send_reset_link(email, clock.now())
        return redirect(reverse("site:forgot") + "?sent=1")
    context = {"form": form, "sent": "sent" in request.GET, "contact": contact()}
    return render(request, "marketplace/forgot.html", context, status=400 if form.errors else 200)


@method_decorator([sensitive_post_parameters(), never_cache], name="dispatch")
class ResetPassword(PasswordResetConfirmView):
    """Django's own: the token moves into the session, so that it stands in no address that is passed on."""

    form_class = NewPasswordForm
    template_name = "marketplace/reset_password.html"
    token_generator = access.reset_tokens

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(*args, **kwargs)
        if not self.validlink and response.status_code == 200:
            response.status_code = 410
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        user: Any = self.user
        # Whoever guessed wrong before and now has a new password need not wait.
        throttle.signed_in(throttle.sign_in(self.request, user.get_username()))
        return super().form_valid(form)

    def get_success_url(self) -> str:
        return reverse("site:login") + "?reset=1"


# What a worker changes about the own account


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def change_password(request: HttpRequest, worker: Worker) -> HttpResponse:
    """A new password ends every other session: Django binds a session to the password's hash."""
    if not worker.user.has_usable_password():
        return _no_password(request, worker)
    form = ChangePasswordForm(worker.user, request.POST or None)
    if request.method == "POST":
        tries = throttle.password(worker)
        throttle.count(tries)
        if "old_password" not in form.errors:
            throttle.signed_in(tries)
        if form.is_valid():
            form.save()
            auth.update_session_auth_hash(request, worker.user)
            return redirect(reverse("site:profile") + "?done=password")
    return show(request, worker, "change_password", {"form": form}, "profile", status=400 if form.errors else 200)


def _no_password(request: HttpRequest, worker: Worker) -> HttpResponse:
    return problem(
        request,
        409,
        _("This account has no password"),
        _("You came by the link of a panel, and that link is your way in. There is nothing to change."),
        worker,
        back_url=reverse("site:profile"),
        back_label=_("Back to the profile"),
    )


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def change_email(request: HttpRequest, worker: Worker) -> HttpResponse:
    if not worker.user.has_usable_password():
        return _no_password(request, worker)
    form = EmailForm(worker, request.POST or None, initial={"email": worker.user.email})
    if request.method == "POST":
        tries = throttle.password(worker)
        throttle.count(tries)
        if form.is_valid():
            throttle.signed_in(tries)
            return _change_email(request, worker, form)
    return show(request, worker, "change_email", {"form": form}, "profile", status=400 if form.errors else 200)


def _change_email(request: HttpRequest, worker: Worker, form: EmailForm) -> HttpResponse:
    email = form.cleaned_data["email"]
    if email and settings.MARKETPLACE_MAIL:
        throttle.count(throttle.letter(request, email))
    try:
        changed = access.change_email(worker, email, clock.now())
    except RequestError as refusal:
        form.add_error("email", said(refusal.message))
        return show(request, worker, "change_email", {"form": form}, "profile", status=400)
    return redirect(reverse("site:profile") + ("?done=email" if changed else "?done=letter"))


@require_POST
@worker_required
def resend_confirmation(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The letter again, to the address of the account."""
    email = worker.user.email
    if email and worker.email_confirmed_at is None and settings.MARKETPLACE_MAIL:
        throttle.count(throttle.letter(request, email), reverse("site:profile"))
        try:
            access.change_email(worker, email, clock.now())
        except RequestError as refusal:
            return problem(request, 409, _("No letter was sent"), said(refusal.message), worker)
    return redirect(reverse("site:profile") + "?done=letter")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """The page behind a confirmation link; programs that look at links in e-mails confirm nothing."""
    try:
        if request.method == "POST":
            access.confirm(token, clock.now())
            return render(request, "marketplace/confirmed.html", {})
        worker, email = access.read_confirmation(token, clock.now())
    except RequestError as refusal:
        return problem(
            request,
            410,
            _("This link confirms nothing"),
            said(refusal.message),
            back_url=reverse("site:profile"),
            back_label=_("Go to the profile"),
        )
    context = {"email": email, "username": worker.user.get_username(), "token": token}
    return render(request, "marketplace/confirm_email.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def cancel_email(request: HttpRequest, token: str) -> HttpResponse:
    """The page behind the link of the warning that the old address gets."""
    try:
        if request.method == "POST":
            access.cancel_email_change(token)
            return render(request, "marketplace/cancel_email.html", {"done": True})
        username = access.read_cancellation(token).user.get_username()
    except RequestError as refusal:
        return problem(
            request,
            410,
            _("This link cancels nothing"),
            said(refusal.message),
            back_url=reverse("site:profile"),
            back_label=_("Go to the profile"),
        )
    return render(request, "marketplace/cancel_email.html", {"username": username, "token": token})


@require_POST
@worker_required
def place(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Where the worker lives. In a sandbox the profile's own form sets it."""
    form = PlaceForm(worker, request.POST)
    if not form.is_valid():
        return problem(
            request,
            400,
            _("That place is not on the list"),
            _("Nothing was changed. Choose one of the list."),
            worker,
            back_url=reverse("site:profile"),
            back_label=_("Back to the profile"),
        )
    form.save()
    return redirect(reverse("site:profile") + "?saved=1")
