"""Notifications to requesters that did not arrive."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace.models import Notification
from marketplace.rules.errors import AlreadyDone
from marketplace.site.guards import operator_required
from marketplace.site.operator import queries
from marketplace.site.operator.pages import page_of, show
from marketplace.site.pages import kept_query
from marketplace.verbs import clock, deliveries
from marketplace.verbs.operators import act

SECTION = "notifications"


@require_safe
@operator_required
def index(request: HttpRequest, operator: User) -> HttpResponse:
    state = "waiting" if request.GET.get("state") == "waiting" else "given-up"
    context = {"page": page_of(queries.notifications(state), request), "query": kept_query(request), "state": state}
    return show(request, "notifications", context, SECTION)


@require_POST
@operator_required
def again(request: HttpRequest, operator: User, pk: int) -> HttpResponse:
    found = Notification.objects.filter(pk=pk).select_related("requester").first()
    if found is None:
        raise Http404
    now = clock.now()
    with act(operator, f"Sent the notification {found.document_id} again", now, requester=found.requester):
        if not deliveries.send_again(found, now):
            raise AlreadyDone("It arrived, or it waits for its next attempt already.")
    messages.success(request, "It is sent again within moments.")
    return redirect("operator:notifications")
