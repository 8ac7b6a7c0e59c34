"""What visitors are told when the database has ended their request."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _

from common import database_limits, unavailable


class UnavailableMiddleware(unavailable.UnavailableMiddleware):
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
