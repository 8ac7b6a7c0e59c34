"""What visitors are told of a request that holds what no database can keep."""

from django.http import HttpRequest, HttpResponse

from common import unreadable
from marketplace.site.views.errors import bad_request


class UnreadableTextMiddleware(unreadable.UnreadableTextMiddleware):
    def refusal(self, request: HttpRequest) -> HttpResponse:
        return bad_request(request)
