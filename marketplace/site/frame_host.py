"""The host of the frames: pages of requesters live there, and nothing else does.

A page that a requester wrote may run scripts. Under a host of its own, in a sandbox, it meets no cookie, no
session and no page of the site; and the site's host never answers with such a page.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from common.addresses import is_loopback
from marketplace.site.views.frames import nothing_here
from marketplace.verbs import frames

FRAME = "/frame/"


class FrameHostMiddleware:
    """Answers requests for the frames' host from marketplace.site.frame_urls, whatever they ask for.

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
