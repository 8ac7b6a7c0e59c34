"""The page behind an invitation link of a pool: it leads to the marketplace, where people join.

Security behavior: nobody signs in here, opening a link changes nothing, and who has a link learns nothing of the
project. Calls from one network are limited, and each needs the whole link.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from hits.domain import rates
from hits.flow.people import pooling
from hits.mturk.errors import MarketplaceError
from hits.sign_in import place
from hits.text.wording import _
from hits.views.task import in_own_language

# Of one network in a minute: a class may sit behind one address.
MOST_A_MINUTE = 120


@require_safe
@never_cache
@in_own_language
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Rendered without a request, so that no context processor touches a session."""
    if not rates.allow(f"join:{place(request)}", MOST_A_MINUTE):
        return _refused(_("Too many people open such links from your network. Try again in a minute."), 429)
    try:
        response: HttpResponse = HttpResponseRedirect(pooling.joining_address(token))
    except pooling.NoLinkError:
        return _refused(_("It is wrong, has expired or was taken back."), 404)
    except MarketplaceError:
        return _refused(_("It cannot be used at the moment. Try again later."), 503)
    # The link itself stands in the address that was open here.
    response["Referrer-Policy"] = "no-referrer"
    return response


def _refused(why: str, status: int) -> HttpResponse:
    response = HttpResponse(render_to_string("task/no_link.html", {"refusal": why}), status=status)
    if status == 429:
        response["Retry-After"] = str(rates.WINDOW_SECONDS)
    return response
