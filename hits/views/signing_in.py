"""Signing in and out. Guesses are slowed down by name and by address, never on a browser that is known."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import views
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse

from hits import sign_in


class SignIn(views.LoginView):
    template_name = "account/sign_in.html"
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
        response = super().form_valid(form)
        sign_in.remember_device(self.request, response, form.get_user().get_username())
        return response


class SignOut(views.LogoutView):
    http_method_names = ["post", "options"]
