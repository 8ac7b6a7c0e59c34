"""Refuses a form that is larger than any page takes before it is read: here nobody sends files, so none is stored."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from common.sizes import MARKETPLACE_FORM_MB, MB
from marketplace.site.pages import problem

View = TypeVar("View", bound=Callable[..., HttpResponse])


def says_itself(view: View) -> View:
    """The view calls `refuse_large` and has a page of its own for it, as one that shows in a frame needs."""
    view.says_what_is_too_large = True  # type: ignore[attr-defined]
    return view


def refuse_large(request: HttpRequest) -> None:
    """Raises RequestDataTooBig."""
    size = request.META.get("CONTENT_LENGTH") or "0"
    if size.isdigit() and int(size) > MARKETPLACE_FORM_MB * MB:
        raise RequestDataTooBig


class LargeFormMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if getattr(view, "says_what_is_too_large", False):
            return None
        try:
            refuse_large(request)
        except RequestDataTooBig:
            said = _("A form may have %(most)s MB, and this marketplace takes no files. Nothing was read or changed.")
            return problem(request, 413, _("That is too large"), said % {"most": MARKETPLACE_FORM_MB})
        return None
