"""What leads, programs and workers are told when the database has ended their request."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from common import unavailable
from hits.core.unavailable import code, sentences


class UnavailableMiddleware(unavailable.UnavailableMiddleware):
    def answer(self, request: HttpRequest, what: str) -> HttpResponse:
        """In the shape of the API under its addresses, elsewhere a page."""
        happened, remedy = sentences(what)
        if request.path_info.startswith("/api/"):
            return JsonResponse({"error": {"code": code(what), "message": f"{happened} {remedy}", "details": {}}})
        return render(request, "503.html", {"happened": happened, "remedy": remedy})
