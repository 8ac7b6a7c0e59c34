"""In which language a page speaks: the one that its worker chose, else the first of the browser's that there is.

The wire, the operator's pages, commands, rows and logs are in English.
"""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

# The frames' host has no cookies: the site names the language in the address of a frame.
PARAMETER = "lang"
_OPERATOR = "/operator/"


class LanguageMiddleware(LocaleMiddleware):
    def __call__(self, request: HttpRequest) -> Any:
        # Django leaves a language behind in the thread, and its next request may be one for the wire.
        with translation.override(settings.LANGUAGE_CODE):
            response: Any = super().__call__(request)
        return response

    def process_request(self, request: HttpRequest) -> None:
        if getattr(request, "urlconf", None):
            translation.activate(_known(request.GET.get(PARAMETER, "")))
        elif not request.path_info.startswith(_OPERATOR):
            super().process_request(request)
        request.LANGUAGE_CODE = translation.get_language()


def _known(language: str) -> str:
    return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def in_address() -> dict[str, str]:
    """What the address of a frame says of the language; nothing for English."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return {} if language == settings.LANGUAGE_CODE else {PARAMETER: language}


@cache_control(max_age=3600)
@require_safe
def words(request: HttpRequest, language: str) -> HttpResponseBase:
    """The catalogue of what scripts say, as a script."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        return JavaScriptCatalog.as_view(packages=["marketplace"])(request)
