"""Pages for what went wrong, wired as the handlers of the project."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from marketplace.models import Worker
from marketplace.site.pages import problem


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem(
        request,
        400,
        _("That request could not be read"),
        _("Something in the address or in the form that was sent is not right. Nothing was changed."),
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem(
        request, 403, _("That is not open to you"), _("This page is for somebody else. Nothing was changed.")
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return problem(
        request,
        403,
        _("The form was too old"),
        _(
            "It was opened before you signed in, or your browser keeps no cookies for this site. "
            "Nothing was changed. Open the page again and repeat the last step."
        ),
    )


def not_found(request: HttpRequest, exception: Exception | None = None, worker: Worker | None = None) -> HttpResponse:
    return problem(
        request,
        404,
        _("Nothing here"),
        _(
            "This page does not exist, or it is not for you: a HIT may be over, or be offered to others. "
            "What you submitted is kept under My work."
        ),
        worker,
    )


def no_page(request: HttpRequest, back: str) -> HttpResponse:
    """Somebody opened the address of a form. `back` is the page above it."""
    return problem(
        request,
        405,
        _("This address is not a page"),
        _("It takes what a form or a button sends. Nothing was changed."),
        back_url=back,
        back_label=_("To the page it belongs to"),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Asks nothing of the database or the session: they may be what broke."""
    return render(request, "marketplace/500.html", status=500)
