"""In by a panel's link, and back to its completion address."""

import secrets
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from marketplace.models import Panel, PanelEntry, Worker
from marketplace.rules import panels as rules
from marketplace.rules.errors import RequestError
from marketplace.site import throttle
from marketplace.site.guards import visitor_page, worker_required
from marketplace.site.pages import problem, show
from marketplace.site.saying import said
from marketplace.verbs import clock, panels

# Says that the person came by a panel's link: its bar stands on every page, and its number of HITs ends the work.
SESSION = "panel"
# The cookie of the browser from which somebody came; see `panels.enter`.
BROWSER, BROWSER_SECONDS = "panel_browser", 365 * 24 * 3600


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@visitor_page
def enter(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the terms, then take the person in. Opening the link makes and signs in nothing; the button does.

    Security: the id in the link can be guessed. So it signs in only to accounts that this page made, which have no
    password, and from the first browser alone; entries from one address are slowed down; a panel with a secret asks for
    a signature instead.
    """
    panel = Panel.objects.filter(slug=slug).first()
    if panel is None:
        raise Http404
    outside_id = request.GET.get(panel.parameter, "").strip()
    parameters = rules.kept_parameters(request.GET.dict(), panel.parameter)
    try:
        if request.method == "POST":
            throttle.count(throttle.panel(request))
        visit = panels.check_link(panel, outside_id, parameters, request.GET.get(rules.SIGNATURE, ""))
        entry = panels.find_entry(panel, outside_id)
        if entry is None and panel.closed_at is not None:
            return _closed(request, panel, panels.screened_out_address(panel, outside_id, parameters))
        if request.method == "POST":
            if entry is None and request.POST.get("agreed") != "yes":
                return _terms(request, panel, entry, missing=True)
            browser = request.COOKIES.get(BROWSER) or secrets.token_urlsafe(24)
            entry = panels.enter(panel, outside_id, parameters, clock.now(), visit, browser)
            return _take_in(request, entry, browser)
    except RequestError as refusal:
        return problem(request, 403, _("This link does not let you in"), said(refusal.message))
    return _terms(request, panel, entry)


def _terms(request: HttpRequest, panel: Panel, entry: PanelEntry | None, missing: bool = False) -> HttpResponse:
    user = request.user
    other = user.is_authenticated and (entry is None or entry.worker.user_id != user.pk)
    context = {
        "panel": panel,
        "entry": entry,
        "missing": missing,
        "other": user if other else None,
        # With the parameters: the form goes back to the very link.
        "here": request.get_full_path(),
    }
    return render(request, "marketplace/panel.html", context, status=400 if missing else 200)


def _closed(request: HttpRequest, panel: Panel, address: str) -> HttpResponse:
    context = {"panel": panel, "address": address}
    return render(request, "marketplace/panel_closed.html", context, status=410)


def _take_in(request: HttpRequest, entry: PanelEntry, browser: str) -> HttpResponse:
    auth.login(request, entry.worker.user, settings.AUTHENTICATION_BACKENDS[0])
    request.session[SESSION] = entry.panel.slug
    response = _first_page(entry)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(BROWSER, browser, max_age=BROWSER_SECONDS, httponly=True, secure=secure, samesite="Lax")
    return response


def _first_page(entry: PanelEntry) -> HttpResponse:
    panel = entry.panel
    if panels.is_done(entry) or panels.is_being_checked(entry):
        return redirect("site:panel_finish")
    if panel.hit_type is None:
        return redirect("site:home")
    group = urlencode({"groupId": panel.hit_type.hit_group_id})
    return HttpResponseRedirect(f"{reverse('site:preview')}?{group}")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def finish(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Back to where the person came from; the account stays, and the link leads to it again."""
    entry = PanelEntry.objects.select_related("panel").filter(worker=worker).first()
    if entry is None:
        raise Http404
    entry.worker = worker
    if request.method == "POST":
        address = panels.finish(entry, clock.now())
        auth.logout(request)
        if address:
            return HttpResponseRedirect(address)
        return problem(
            request,
            200,
            _("You have stopped"),
            _("What you submitted is kept and counts. The link of %(panel)s leads back to your account.")
            % {"panel": entry.panel.name},
        )
    early = panels.stops_early(entry)
    context = {
        "panel": entry.panel,
        "done": panels.is_done(entry),
        "early": early,
        "submitted": panels.submitted(entry),
        "now": panels.count(entry),
        "checked": panels.is_being_checked(entry),
    }
    response = show(request, worker, "panel_finish", context)
    address = entry.panel.screened_out_url if early else entry.panel.completion_url
    if address:
        # The browser holds the redirect that follows a form against the policy for forms.
        response._csp_update = {"form-action": [rules.origin(address)]}  # type: ignore[attr-defined]
    return response
