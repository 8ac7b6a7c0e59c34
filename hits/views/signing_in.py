"""Signing in and out, with a brake on guessing."""

from __future__ import annotations

import hashlib

from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.core.cache import cache
from django.core.exceptions import ValidationError

ALLOWED_FAILURES = 10
WINDOW_SECONDS = 600


def _key(username: str) -> str:
    """By account rather than by address: behind a proxy all leads share one."""
    return "sign-in:" + hashlib.sha256(username.strip().lower().encode()).hexdigest()


class BrakedForm(AuthenticationForm):
    """Refuses an account for ten minutes after ten failures, whatever the password."""

    def clean(self) -> dict:
        key = _key(self.data.get("username", ""))
        if cache.get(key, 0) >= ALLOWED_FAILURES:
            raise ValidationError("Too many failed attempts for this account. Try again in ten minutes.")
        try:
            cleaned = super().clean()
        except ValidationError:
            if not cache.add(key, 1, WINDOW_SECONDS):
                cache.incr(key)
            raise
        cache.delete(key)
        return cleaned


class SignIn(views.LoginView):
    template_name = "account/sign_in.html"
    authentication_form = BrakedForm
    redirect_authenticated_user = True


class SignOut(views.LogoutView):
    http_method_names = ["post", "options"]
