"""The page at which a worker answers a message, by the link in it. No cookie is read or set.

Security: the address holds a signature of one message's number and shows nothing but that message's subject and the
project's address. Opening it writes nothing; what is posted is bounded before it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from hits.answers.pages.task import in_own_language, place_of
from hits.models import WorkerMessage
from hits.people.models import LONGEST_REPLY
from hits.people.rules.inbox import reply_path
from hits.people.verbs import inbox
from hits.refusals import Refused
from hits.text.wording import _

# A reply of that many characters, each of them percent-encoded, and the rest of the form.
MOST_BYTES = 12 * LONGEST_REPLY + 4096
SENT = "sent"
View = Callable[..., HttpResponseBase]


def bounded(view: View) -> View:
    """Refuse what is larger than any reply before it is read: anybody can post here."""

    @wraps(view)
    def read(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > MOST_BYTES:
            return _refused(_("This is more than a reply can hold. Shorten what you wrote."), 413)
        return view(request, *args, **kwargs)

    read.bounds_itself = True  # type: ignore[attr-defined]
    return read


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@in_own_language
@bounded
@never_cache
def reply(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows the form, POST keeps one reply and leads back to the page, which says so."""
    try:
        message = inbox.resolve(token)
        if request.method != "POST":
            return _page(message, sent=SENT in request.GET)
        text = request.POST.get("text", "")
        inbox.take_reply(token, text, place_of(request))
    except Refused as refusal:
        if refusal.error_code == "reply_link":
            return _refused(str(refusal), refusal.http_status)
        return _page(message, text=text[:LONGEST_REPLY], refusal=str(refusal), status=refusal.http_status)
    return HttpResponseRedirect(f"{reply_path(message.pk)}?{SENT}=1", status=303)


def _page(
    message: WorkerMessage, *, text: str = "", refusal: str = "", sent: bool = False, status: int = 200
) -> HttpResponse:
    context = {
        "message": message,
        "project": message.stage.project,
        "text": text,
        "refusal": refusal,
        "sent": sent,
        "longest": LONGEST_REPLY,
    }
    return HttpResponse(render_to_string("answers/task/reply.html", context), status=status)


def _refused(why: str, status: int) -> HttpResponse:
    return HttpResponse(render_to_string("answers/task/no_reply.html", {"refusal": why}), status=status)


reply_urls = [path("task/reply/<str:token>/", reply, name="task-reply")]
