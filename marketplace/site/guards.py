"""Who may call a page. One guard, used by every view of the site."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from common.addresses import is_loopback
from marketplace.models import PanelEntry, Worker
from marketplace.rules.errors import AlreadyDone, MarketplaceError, TooManyAttempts
from marketplace.site import throttle
from marketplace.site.operator.pages import refused
from marketplace.site.operator.sessions import missing_factor
from marketplace.site.pages import problem
from marketplace.site.sign_in import worker_of
from marketplace.site.views.errors import not_found
from marketplace.verbs import panels

# The pages on which a worker finds another HIT.
_LOOKING_FOR_WORK = ("home", "preview", "project", "project_accept", "preview_and_accept", "after", "finished")


def visitor_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Call `view(request, ...)` for anybody, at the public address; say when to come again after too many tries."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return other_name(request) or view(request, *args, **kwargs)
        except TooManyAttempts as refusal:
            return throttle.too_many(request, refusal)

    return guarded


def worker_required(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Call `view(request, worker, ...)` for a signed-in worker; everybody else is sent to sign in.

    What does not exist for this worker (Http404) is answered with the site's own page.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        elsewhere = other_name(request)
        if elsewhere is not None:
            return elsewhere
        if not request.user.is_authenticated:
            # A form that was sent cannot be sent again after signing in: back to the list instead.
            return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/")
        worker = worker_of(request.user)
        if worker is None:
            return _not_a_worker(request)
        if _is_done_for_panel(request, worker):
            # Taking another HIT is refused where it is taken, in marketplace.verbs.assignments.
            return HttpResponseRedirect(reverse("site:panel_finish"))
        try:
            return view(request, worker, *args, **kwargs)
        except Http404 as error:
            return not_found(request, error, worker)
        except TooManyAttempts as refusal:
            return throttle.too_many(request, refusal, worker)

    return guarded


def _is_done_for_panel(request: HttpRequest, worker: Worker) -> bool:
    """Whether the worker came from a panel and looks for more work after all that the panel asked for."""
    if not request.session.get("panel"):
        return False
    entry = PanelEntry.objects.select_related("panel").filter(worker=worker).first()
    if entry is None:
        return False
    entry.worker = worker
    # For the bar on every page.
    request.panel = {"entry": entry, "submitted": panels.submitted(entry)}  # type: ignore[attr-defined]
    here = request.resolver_match
    looks_for_work = here is not None and here.url_name in _LOOKING_FOR_WORK
    return looks_for_work and request.method in ("GET", "HEAD") and panels.is_done(entry)


def operator_required(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Call `view(request, operator, ...)` for a signed-in operator; for everybody else the page does not exist.

    Who is not signed in is sent to sign in. A refusal of a verb becomes a page: it changed nothing.
    No cache keeps these pages: they hold names, addresses and money.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        elsewhere = other_name(request)
        if elsewhere is not None:
            return elsewhere
        user = request.user
        if not user.is_authenticated:
            if request.headers.get("HX-Request") == "true":
                # A page that refreshes itself: the sign-in page belongs into the window, not into a part of it.
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/operator/")
        if not user.is_staff:
            return not_found(request, None, worker_of(user))
        lacking = missing_factor(request)
        if lacking is not None:
            return lacking
        try:
            response = view(request, user, *args, **kwargs)
        except Http404:
            response = refused(request, 404, "Nothing here", "It does not exist, or not any more.")
        except TooManyAttempts as refusal:
            response = throttle.too_many(request, refusal)
        except AlreadyDone as refusal:
            response = refused(request, 409, "Done before", refusal.message)
        except MarketplaceError as refusal:
            response = refused(request, 409, "That is not possible", refusal.message)
        add_never_cache_headers(response)
        return response

    return guarded


def other_name(request: HttpRequest) -> HttpResponseRedirect | None:
    """On a laptop the site answers to localhost and to 127.0.0.1: send both to MARKETPLACE_PUBLIC_URL.

    The answer page in the task frame comes from that address, and a page at another one may not show it.
    """
    public = urlsplit(settings.MARKETPLACE_PUBLIC_URL)
    here = urlsplit(f"//{request.get_host()}")
    names = {public.hostname, here.hostname}
    if request.method != "GET" or len(names) == 1 or not all(is_loopback(name or "") for name in names):
        return None
    if here.port != public.port:
        return None
    return HttpResponseRedirect(settings.MARKETPLACE_PUBLIC_URL + request.get_full_path())


def _not_a_worker(request: HttpRequest) -> HttpResponse:
    if request.user.is_staff and request.method in ("GET", "HEAD"):
        return HttpResponseRedirect(reverse("operator:overview"))
    return problem(
        request,
        403,
        _("This account is not a worker's"),
        _("You are signed in with an account that cannot take HITs. Sign out, then sign in or sign up as a worker."),
        back_url="/accounts/signup/",
        back_label=_("Sign up as a worker"),
        sign_out=True,
    )
