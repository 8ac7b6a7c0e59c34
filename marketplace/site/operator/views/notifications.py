"""Notifications to requesters that did not arrive."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace.models import Notification
from marketplace.rules.errors import AlreadyDone
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.pages import paged, show
from marketplace.verbs import clock, deliveries
from marketplace.verbs.operators import act

SECTION = "notifications"


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    state = "waiting" if request.GET.get("state") == "waiting" else "given-up"
    context = {**paged(queries.notifications(state), request), "state": state}
    return show(request, "notifications", context, SECTION)


@require_POST
@operator_required
def again(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    found = get_object_or_404(Notification.objects.select_related("requester"), pk=pk)
    now = clock.now()
    with act(operator, f"Sent the notification {found.document_id} again", now, requester=found.requester):
        if not deliveries.send_again(found, now):
            raise AlreadyDone("It arrived, or it waits for its next attempt already.")
    messages.success(request, "It is sent again within moments.")
    return redirect("operator:notifications")
