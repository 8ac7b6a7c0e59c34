"""The one shape of a refusal: {"error": {"code", "message", "details"}}.

`code` is a stable word for programs, `message` a sentence for people that says what to do next, `details` an
object that depends on the code. A refusal brings its own three; it becomes an answer here and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.signals import got_request_exception
from django.http import Http404
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_handler

from common.database_limits import why
from common.unavailable import RETRY_SECONDS
from common.unreadable import SENTENCE as UNREADABLE
from common.unreadable import is_of_what_was_sent
from hits.core import unavailable
from hits.refusals import Refusal

log = logging.getLogger(__name__)


class ErrorBody(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="A stable word for programs.")
    message = serializers.CharField(help_text="A sentence for people.")
    details = serializers.DictField(help_text="Depends on the code; for `invalid` a list of reasons a field.")


@extend_schema_serializer(component_name="Error")
class ErrorAnswer(serializers.Serializer[Any]):
    """Every answer from 400 on has this shape."""

    error = ErrorBody()


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """REST_FRAMEWORK["EXCEPTION_HANDLER"]."""
    if isinstance(error, Refusal):
        return _answer(error.http_status, error.error_code, str(error), error.details())
    if isinstance(error, RequestDataTooBig):
        return _answer(status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, "too_large", str(error), {})
    if what := why(error):
        log.error("The database ended a call of %s (%s)", context["request"].path, what, exc_info=error)
        said = " ".join(unavailable.sentences(what))
        headers = {"Retry-After": str(RETRY_SECONDS)}
        return _answer(status.HTTP_503_SERVICE_UNAVAILABLE, unavailable.code(what), said, {}, headers)
    if is_of_what_was_sent(context["request"]._request, error):
        return _answer(status.HTTP_400_BAD_REQUEST, "unreadable", UNREADABLE, {})
    known = rest_handler(error, context)
    if known is None:
        return _unexpected(error, context)
    described = _described(_as_rest_error(error))
    # The headers tell how to sign in (401), when to come back (429) and what is allowed (405).
    headers = {name: value for name, value in known.items() if name.lower() != "content-type"}
    return _answer(known.status_code, *described, headers=headers)


def _answer(
    code: int, word: str, message: str, details: Mapping[str, Any], headers: dict[str, str] | None = None
) -> Response:
    body = {"error": {"code": word, "message": message, "details": details}}
    return Response(body, status=code, headers=headers)


def _as_rest_error(error: Exception) -> exceptions.APIException:
    if isinstance(error, Http404):
        return exceptions.NotFound("There is nothing here, or it is not yours.")
    if isinstance(error, PermissionDenied):
        return exceptions.PermissionDenied()
    assert isinstance(error, exceptions.APIException)
    return error


def _described(error: exceptions.APIException) -> tuple[str, str, dict[str, Any]]:
    if isinstance(error, exceptions.ValidationError):
        fields = error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
        return "invalid", f"Not accepted: {', '.join(fields)}. Nothing was changed.", fields
    details = {"seconds": getattr(error, "wait", None)} if isinstance(error, exceptions.Throttled) else {}
    codes = error.get_codes()
    return codes if isinstance(codes, str) else error.default_code, str(error.detail), details


def _unexpected(error: Exception, context: Mapping[str, Any]) -> Response:
    """A fault of ours. Logged and signalled as Django would have done; the caller learns nothing of its inside."""
    log.error("The API failed at %s", context["request"].path, exc_info=error)
    got_request_exception.send(sender=context["view"].__class__, request=context["request"]._request)
    message = "Something went wrong here, and it was written down. Try again; if it stays, tell the operator."
    return _answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "server_error", message, {})
