"""Signing up, in and out."""

from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from marketplace.site import throttle
from marketplace.site.forms import SignInForm, SignUpForm
from marketplace.site.guards import other_name
from marketplace.site.pages import problem


def _next(request: HttpRequest) -> str:
    """Where to go after signing in: only within this site."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return wanted if safe else ""


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def signup(request: HttpRequest) -> HttpResponse:
    elsewhere = other_name(request)
    if elsewhere is not None:
        return elsewhere
    if request.user.is_authenticated:
        return redirect("site:home")
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        worker = form.create_worker()
        if worker is not None:
            auth.login(request, worker.user, settings.AUTHENTICATION_BACKENDS[0])
            return HttpResponseRedirect(_next(request) or "/")
    context = {"form": form, "next": _next(request), "section": "signup"}
    return render(request, "marketplace/signup.html", context, status=400 if form.errors else 200)


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    elsewhere = other_name(request)
    if elsewhere is not None:
        return elsewhere
    if request.user.is_authenticated:
        return HttpResponseRedirect(_next(request) or "/")
    username = request.POST.get("username", "")
    if request.method == "POST" and throttle.is_paused(request, username):
        return problem(
            request,
            429,
            "Too many wrong passwords",
            "For this name from this address: wait ten minutes, then try again. Nothing is lost.",
            back_url="/accounts/login/",
            back_label="Back to signing in",
        )
    form = SignInForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        throttle.forget_failures(request, username)
        auth.login(request, form.get_user())
        return HttpResponseRedirect(_next(request) or "/")
    if form.errors:
        throttle.record_failure(request, username)
    context = {"form": form, "next": _next(request), "section": "login"}
    return render(request, "marketplace/login.html", context, status=400 if form.errors else 200)


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return redirect("site:login")
