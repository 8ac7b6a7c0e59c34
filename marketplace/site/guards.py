"""Who may call a page. One guard, used by every view of the site."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from marketplace.models import Worker
from marketplace.site.pages import problem
from marketplace.site.views.errors import not_found


def worker_required(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call `view(request, worker, ...)` for a signed-in worker; everybody else is sent to sign in.

    What does not exist for this worker (Http404) is answered with the site's own page.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        elsewhere = other_name(request)
        if elsewhere is not None:
            return elsewhere
        if not request.user.is_authenticated:
            # A form that was sent cannot be sent again after signing in: back to the list instead.
            return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/")
        worker = Worker.objects.filter(user_id=request.user.pk).first()
        if worker is None:
            return _not_a_worker(request)
        worker.user = request.user
        try:
            return view(request, worker, *args, **kwargs)
        except Http404 as error:
            return not_found(request, error, worker)

    return guarded


def other_name(request: HttpRequest) -> HttpResponseRedirect | None:
    """On a laptop the site answers to localhost and to 127.0.0.1: send both to MARKETPLACE_PUBLIC_URL.

    The answer page in the task frame comes from that address, and a page at another one may not show it.
    """
    public = urlsplit(settings.MARKETPLACE_PUBLIC_URL)
    here = urlsplit(f"//{request.get_host()}")
    names = {public.hostname, here.hostname}
    if request.method != "GET" or len(names) == 1 or not names <= set(settings.LOOPBACK_HOSTS):
        return None
    if here.port != public.port:
        return None
    return HttpResponseRedirect(settings.MARKETPLACE_PUBLIC_URL + request.get_full_path())


def _not_a_worker(request: HttpRequest) -> HttpResponse:
    return problem(
        request,
        403,
        "This account is not a worker's",
        "You are signed in with an account that cannot take HITs. Sign out, then sign in or sign up as a worker.",
        back_url="/accounts/signup/",
        back_label="Sign up as a worker",
        sign_out=True,
    )
