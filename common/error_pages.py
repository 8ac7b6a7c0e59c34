"""The pages for what went wrong, with DEBUG as well: whoever tries a project on a laptop is no Django developer.

Django's own pages of DEBUG show its routes, settings and source. What they would tell stands in the log.
"""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import Resolver404, get_resolver, resolve
from django.utils.safestring import SafeString
from django.views.debug import ExceptionReporter

READING = ("GET", "HEAD")


class ErrorPagesMiddleware:
    """The project's handler404 answers unknown addresses, whatever DEBUG is, and its handler405 whoever opens an
    address that only takes forms. It stands last in the list.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            resolve(request.path_info, getattr(request, "urlconf", None))
        except Resolver404 as error:
            return _page(request, 404, error)
        response = self.get_response(request)
        opened = request.method in READING and isinstance(response, HttpResponseNotAllowed)
        return _no_page(request, response) if opened else response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return _page(request, 404, exception) if isinstance(exception, Http404) else None


class PlainReporter(ExceptionReporter):
    """DEFAULT_EXCEPTION_REPORTER: of an exception that nobody caught, the visitor gets the project's own page."""

    def get_traceback_html(self) -> SafeString:
        refused = isinstance(self.exc_value, SuspiciousOperation | BadRequest)
        page = _page(self.request or HttpRequest(), 400 if refused else 500, self.exc_value)
        return SafeString(page.content.decode())

    def get_traceback_text(self) -> SafeString:
        return SafeString("Something went wrong here, and it was written to the log.\n")


def _page(request: HttpRequest, code: int, exception: BaseException | None) -> HttpResponse:
    handler: Callable[..., HttpResponse] = get_resolver(getattr(request, "urlconf", None)).resolve_error_handler(code)
    return handler(request) if code == 500 else handler(request, exception=exception)


def _no_page(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """By `handler405(request, back)` of the URLconf, where it has one; `back` is the page that has the form."""
    resolver = get_resolver(getattr(request, "urlconf", None))
    if not hasattr(resolver.urlconf_module, "handler405"):
        return response
    handler: Callable[..., HttpResponse] = resolver.resolve_error_handler(405)
    page = handler(request, _page_above(request))
    page.headers["Allow"] = response.headers["Allow"]
    return page


def _page_above(request: HttpRequest) -> str:
    """The address of the nearest page above this one, which is where its form stands."""
    parts = request.path_info.strip("/").split("/")[:-1]
    while parts:
        path = f"/{'/'.join(parts)}/"
        try:
            view = resolve(path, getattr(request, "urlconf", None)).func
        except Resolver404:
            view = None
        # Set by the guards of views; a view without it is taken for a page.
        if view and set(getattr(view, "methods", READING)) & set(READING):
            return path
        parts.pop()
    return "/"
