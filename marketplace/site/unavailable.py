"""What visitors are told when the database has ended their request."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from common import database_limits, unavailable


class UnavailableMiddleware(unavailable.UnavailableMiddleware):
    def answer(self, request: HttpRequest, what: str) -> HttpResponse:
        happened = {
            database_limits.TOO_LONG: _("The database needed too long for one question, so it was stopped."),
            database_limits.BUSY: _("The database was busy with somebody else's change."),
            database_limits.AWAY: _("The database does not answer."),
        }[what]
        return render(request, "marketplace/unavailable.html", {"happened": happened})
