"""Operators' sessions, and what a session needs before it opens their pages."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from common.second_factor import device_of, password_given, whose_password
from common.sessions import SessionsMiddleware
from marketplace.models import OperatorSession

# The pages that an operator needs to get a second factor.
_SETTING_UP = ("second_factor", "second_factor_begin")


class OperatorSessionsMiddleware(SessionsMiddleware):
    rows = OperatorSession.objects.all

    def counts(self, user: Any) -> bool:
        return bool(user.is_authenticated and user.is_staff)


def ask_for_code(request: HttpRequest, operator: User, wanted: str) -> HttpResponse:
    """After a good password of an operator who has a second factor."""
    password_given(request, operator)
    return HttpResponseRedirect(f"{reverse('operator:code')}?{urlencode({'next': wanted or '/operator/'})}")


def whose_turn(request: HttpRequest) -> User | None:
    """Whoever gave the right password here a moment ago, or is signed in without the code that is needed by now."""
    if request.user.is_authenticated:
        needs = request.user.is_staff and not _is_verified(request) and device_of(request.user)
        return request.user if needs else None
    found: User | None = whose_password(request, User.objects.filter(is_staff=True))
    return found


def missing_factor(request: HttpRequest) -> HttpResponse | None:
    """Where a signed-in operator has to go first: to give a code, or to set a second factor up."""
    if _is_verified(request):
        return None
    if device_of(request.user):
        wanted = request.get_full_path() if request.method in ("GET", "HEAD") else "/operator/"
        return redirect_to_login(wanted, reverse("operator:code"))
    here = request.resolver_match
    setting_up = here is not None and here.url_name in _SETTING_UP
    return redirect("operator:second_factor") if settings.MARKETPLACE_REQUIRE_SECOND_FACTOR and not setting_up else None


def _is_verified(request: HttpRequest) -> bool:
    # By django_otp's middleware.
    return bool(request.user.is_verified())  # type: ignore[union-attr]
