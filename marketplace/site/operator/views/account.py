"""The operator's own account."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from marketplace.rules.errors import TooManyAttempts
from marketplace.site import throttle
from marketplace.site.guards import operator_required
from marketplace.site.operator.pages import show
from marketplace.verbs import clock
from marketplace.verbs.operators import act


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def password(request: HttpRequest, operator: User) -> HttpResponse:
    """Choose another password; sessions elsewhere end by themselves."""
    form = PasswordChangeForm(operator, request.POST or None)
    if request.method == "POST":
        tries = throttle.operator_password(operator)
        try:
            throttle.count(tries)
        except TooManyAttempts as refusal:
            return throttle.too_many(request, refusal, reverse("operator:password"))
        if "old_password" not in form.errors:
            throttle.signed_in(tries)
    if request.method != "POST" or not form.is_valid():
        return show(request, "password", {"form": form}, status=400 if form.errors else 200)
    with act(operator, "Changed the own password", clock.now()):
        form.save()
    update_session_auth_hash(request, operator)
    messages.success(request, "Your password is changed. Sessions elsewhere have ended.")
    return redirect("operator:overview")
