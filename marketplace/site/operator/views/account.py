"""The operator's own account: the password, and where the operator is signed in."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.second_factor import device_of
from marketplace.models import OperatorSession
from marketplace.site import throttle
from marketplace.site.guards import operator_required
from marketplace.site.operator.pages import show
from marketplace.verbs import clock, operators
from marketplace.verbs.operators import act


@require_safe
@operator_required
def account(request: HttpRequest, operator: User) -> HttpResponse:
    context = {
        "sessions": OperatorSession.objects.all().open_of(operator),
        "this_session": request.session.session_key,
        "device": device_of(operator),
        "left": operators.codes_left(operator),
    }
    return show(request, "account", context)


@require_POST
@operator_required
def end_session(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    if not operators.end_session(operator, pk, clock.now()):
        raise Http404
    messages.success(request, "The session is ended: that browser is signed out.")
    return redirect("operator:account")


@require_POST
@operator_required
def end_other_sessions(request: HttpRequest, operator: User) -> HttpResponse:
    ended = operators.end_other_sessions(operator, request.session.session_key, clock.now())
    messages.success(request, f"{ended} other session{'' if ended == 1 else 's'} ended. You are signed in here alone.")
    return redirect("operator:account")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def password(request: HttpRequest, operator: User) -> HttpResponse:
    """Choose another password; sessions elsewhere end by themselves."""
    form = PasswordChangeForm(operator, request.POST or None)
    if request.method == "POST":
        tries = throttle.operator_password(operator)
        throttle.count(tries)
        if "old_password" not in form.errors:
            throttle.signed_in(tries)
    if request.method != "POST" or not form.is_valid():
        return show(request, "password", {"form": form}, status=400 if form.errors else 200)
    with act(operator, "Changed the own password", clock.now()):
        form.save()
        OperatorSession.objects.filter(user=operator).end()
    update_session_auth_hash(request, operator)
    OperatorSession.objects.all().begin(request, operator)
    messages.success(request, "Your password is changed. Sessions elsewhere have ended.")
    return redirect("operator:overview")
