"""In by a link of a requester's pool: what it is, signing up with it, and the button that joins.

Security: opening a page changes nothing. Whoever is signed in joins, whatever else the address says.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from common.addresses import LOOPBACK_NAMES, is_loopback
from marketplace.models import Worker
from marketplace.rules.errors import AlreadyDone, RequestError, TooManyAttempts
from marketplace.site import throttle
from marketplace.site.account_forms import SignUpForm
from marketplace.site.guards import visitor_page
from marketplace.site.pages import problem, show
from marketplace.site.saying import said
from marketplace.site.sign_in import worker_of
from marketplace.verbs import clock, pool_links
from marketplace.verbs.pool_links import Offer


@require_safe
def about(request: HttpRequest) -> JsonResponse:
    """For the requester's programs: that there is such a page here, and whether it lets people in."""
    return JsonResponse({"pool_links": "on" if settings.MARKETPLACE_POOL_LINKS else "off"})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def pool(request: HttpRequest) -> HttpResponse:
    worker = worker_of(request.user) if request.user.is_authenticated else None
    try:
        offer = _offer(request)
        if request.method == "POST" and worker is not None:
            return _join(request, offer, worker)
        if worker is not None and pool_links.has_joined(offer, worker):
            return _joined(request, offer, worker)
        pool_links.refuse_used_up(offer)
    except RequestError as refusal:
        return _refused(request, refusal, worker)
    return _shown(request, offer, worker)


def _offer(request: HttpRequest) -> Offer:
    """Raises RequestError."""
    return pool_links.read(request.META.get("QUERY_STRING", ""), _hosts(request), clock.now(), clock.wall())


def _hosts(request: HttpRequest) -> list[str]:
    """The names by which this site is known, with the port that stands in the address. On a laptop it has several."""
    public = urlsplit(settings.MARKETPLACE_PUBLIC_URL)
    found = [request.get_host(), public.netloc]
    if is_loopback(public.hostname or ""):
        port = f":{public.port}" if public.port else ""
        found += [f"{name}{port}" for name in LOOPBACK_NAMES]
    return found


def _shown(request: HttpRequest, offer: Offer, worker: Worker | None) -> HttpResponse:
    here = request.get_full_path()
    context = {
        "offer": offer,
        "here": here,
        "sign_up": f"{reverse('site:pool_sign_up')}?{request.META.get('QUERY_STRING', '')}",
        # Somebody may be signed in who is no worker, such as an operator.
        "no_worker": request.user.is_authenticated and worker is None,
    }
    if worker is None:
        return render(request, "marketplace/pool.html", context)
    return show(request, worker, "pool", context)


def _join(request: HttpRequest, offer: Offer, worker: Worker) -> HttpResponse:
    """Raises RequestError."""
    try:
        throttle.count(throttle.pool(request))
        pool_links.join(offer, worker, clock.now())
    except TooManyAttempts as refusal:
        return throttle.too_many(request, refusal, worker)
    except AlreadyDone:
        # As a second press of the button: what was wanted is so.
        pass
    return redirect(request.get_full_path())


def _joined(request: HttpRequest, offer: Offer, worker: Worker) -> HttpResponse:
    return show(request, worker, "pool_joined", {"offer": offer})


def _refused(request: HttpRequest, refusal: RequestError, worker: Worker | None) -> HttpResponse:
    return problem(request, 410, _("This link does not let you in"), said(refusal.message), worker)


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def sign_up(request: HttpRequest) -> HttpResponse:
    """An account for somebody who joins by the link: both or neither."""
    query = request.META.get("QUERY_STRING", "")
    page = f"{reverse('site:pool')}?{query}"
    if request.user.is_authenticated:
        return HttpResponseRedirect(page)
    try:
        offer = _offer(request)
        pool_links.refuse_used_up(offer)
    except RequestError as refusal:
        return _refused(request, refusal, None)
    here = f"{reverse('site:pool_sign_up')}?{query}"
    form = SignUpForm(request.POST or None, joins=lambda worker: pool_links.join(offer, worker, clock.now()))
    if request.method == "POST":
        throttle.count(throttle.sign_up(request) if form.is_valid() else throttle.sign_up_slip(request))
        worker = form.create_worker() if form.is_valid() else None
        if worker is not None:
            auth.login(request, worker.user, settings.AUTHENTICATION_BACKENDS[0])
            response = HttpResponseRedirect(page)
            throttle.remember_device(request, response, worker.user.get_username())
            return response
    context = {"form": form, "next": page, "section": "signup", "here": here, "offer": offer}
    return render(request, "marketplace/signup.html", context, status=400 if form.errors else 200)
