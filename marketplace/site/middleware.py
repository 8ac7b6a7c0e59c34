"""Which host answers with what, and what visitors are told when a request cannot be served."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _

from common import database_limits, unavailable, unreadable
from common.addresses import is_loopback
from marketplace.site.views.errors import bad_request
from marketplace.site.views.frames import nothing_here
from marketplace.verbs import frames

FRAME = "/frame/"


class FrameHostMiddleware:
    """The host of the frames: pages of requesters live there, and nothing else does.

    A page that a requester wrote may run scripts. Under a host of its own, in a sandbox, it meets no cookie, no
    session and no page of the site; and the site's host never answers with such a page.

    Answers requests for the frames' host from marketplace.site.frame_urls, whatever they ask for.

    On a laptop that host is the machine's other name, under which people and programs reach the site too: there
    only the frames are kept apart, and the site sends browsers on to its one name.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _asked_for_frames(request):
            return self.get_response(request)
        if not request.path_info.startswith((FRAME, settings.STATIC_URL)):
            return nothing_here(request)
        request.urlconf = "marketplace.site.frame_urls"
        return self.get_response(request)


def _asked_for_frames(request: HttpRequest) -> bool:
    origin = urlsplit(frames.origin())
    try:
        host = request.get_host()
    except DisallowedHost:
        # For the wire and the site to refuse, each in its own form.
        return False
    # The name alone decides: browsers write it in capitals, with a final dot and with any port as they were told to.
    if not origin.hostname or (urlsplit(f"//{host}").hostname or "").rstrip(".") != origin.hostname:
        return False
    borrowed = not settings.MARKETPLACE_FRAMES_URL and is_loopback(origin.hostname)
    return not borrowed or (host == origin.netloc and request.path_info.startswith(FRAME))


class UnavailableMiddleware(unavailable.UnavailableMiddleware):
    """What visitors are told when the database has ended their request."""

    def answer(self, request: HttpRequest, what: str) -> HttpResponse:
        # Around the middleware that sets the worker's language.
        with translation.override(getattr(request, "LANGUAGE_CODE", settings.LANGUAGE_CODE)):
            return self._page_in_language(request, what)

    def _page_in_language(self, request: HttpRequest, what: str) -> HttpResponse:
        happened = {
            database_limits.TOO_LONG: _("The database needed too long for one question, so it was stopped."),
            database_limits.BUSY: _("The database was busy with somebody else's change."),
            database_limits.AWAY: _("The database does not answer."),
            database_limits.FULL: _("The disk of this site is full or broken, so nothing can be saved."),
        }[what]
        return render(request, "marketplace/unavailable.html", {"happened": happened})


class UnreadableTextMiddleware(unreadable.UnreadableTextMiddleware):
    """What visitors are told of a request that holds what no database can keep."""

    def refusal(self, request: HttpRequest) -> HttpResponse:
        return bad_request(request)
