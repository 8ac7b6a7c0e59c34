"""The worker's inbox. Opening a message changes nothing; that it was read comes by a form."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace.models import Message, Worker
from marketplace.site.guards import worker_required
from marketplace.site.pages import page_of, show
from marketplace.verbs import clock, messages


def _of(worker: Worker) -> Any:
    return Message.objects.filter(worker=worker).select_related("sender")


@require_safe
@worker_required
def inbox(request: HttpRequest, worker: Worker) -> HttpResponse:
    page = page_of(_of(worker).defer("text").order_by("-pk"), request)
    return show(request, worker, "messages", {"page": page}, "messages")


@require_safe
@worker_required
def message(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    found = _of(worker).filter(pk=pk).first()
    if found is None:
        raise Http404
    return show(request, worker, "message", {"message": found}, "messages")


@require_POST
@worker_required
def read(request: HttpRequest, worker: Worker, pk: int) -> HttpResponse:
    """The page itself sends this when it is shown, and asks for JSON; without scripts it is a button."""
    if not messages.mark_read(worker, pk, clock.now()) and not _of(worker).filter(pk=pk).exists():
        raise Http404
    if request.headers.get("Accept") == "application/json":
        worker.refresh_from_db(fields=["unread_messages"])
        return JsonResponse({"unread": worker.unread_messages})
    return redirect("site:messages")


@require_POST
@worker_required
def read_all(request: HttpRequest, worker: Worker) -> HttpResponse:
    messages.mark_all_read(worker, clock.now())
    return redirect("site:messages")


@require_POST
@worker_required
def mail(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Whether copies of messages go out by e-mail."""
    messages.choose_mail(worker, request.POST.get("wanted") == "yes")
    return redirect("site:profile" if request.POST.get("from") == "profile" else "site:messages")
