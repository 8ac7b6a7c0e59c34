"""What leads, programs and workers are told of a request that holds what no database can keep."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from common import unreadable


class UnreadableTextMiddleware(unreadable.UnreadableTextMiddleware):
    def refusal(self, request: HttpRequest) -> HttpResponse:
        """In the shape of the API under its addresses, elsewhere a page."""
        if request.path_info.startswith("/api/"):
            error = {"code": "unreadable", "message": unreadable.SENTENCE, "details": {}}
            return JsonResponse({"error": error}, status=400)
        return render(request, "400.html", status=400)
