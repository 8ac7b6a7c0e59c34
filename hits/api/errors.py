"""The one shape of a refusal: {"error": {"code", "message", "details"}}.

`code` is a stable word for programs, `message` a sentence for people that says what to do next, `details` an
object that depends on the code. What flow modules raise becomes an answer here and nowhere else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.signals import got_request_exception
from django.http import Http404
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.views import exception_handler as rest_handler

from hits import protocols, recipes
from hits.api.jobs import QueueUnreachableError
from hits.flow import (
    annotating,
    api_tokens,
    blocking,
    compensating,
    computing,
    correcting,
    drawing,
    evaluating,
    granting,
    importing,
    ordering,
    projects,
    publishing,
    releasing,
    reviewing,
    ruling,
    setting_up,
    testing,
    undoing,
)
from hits.flow.common import NoCrowdError
from hits.formats.faults import FormatErrors
from hits.models import BudgetExceededError, NotOfferedError
from hits.models.commitments import BalanceTooLowError
from hits.mturk.errors import MarketplaceError, RefusedError
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError

log = logging.getLogger(__name__)

BAD, CONFLICT, LATER = status.HTTP_400_BAD_REQUEST, status.HTTP_409_CONFLICT, status.HTTP_503_SERVICE_UNAVAILABLE
# The first line that fits decides, so the special stands before the general.
FLOW_ERRORS: list[tuple[type[Exception], int, str]] = [
    (NoCrowdError, CONFLICT, "no_crowd"),
    (api_tokens.TooManyTokensError, CONFLICT, "too_many_tokens"),
    (BudgetExceededError, CONFLICT, "budget_exceeded"),
    (publishing.NothingToPublishError, CONFLICT, "nothing_to_publish"),
    (BalanceTooLowError, CONFLICT, "balance_too_low"),
    (publishing.ArrivalsWaitError, CONFLICT, "arrivals_wait"),
    (publishing.NothingToClearAwayError, CONFLICT, "nothing_to_clear_away"),
    (publishing.QuoteChangedError, CONFLICT, "quote_changed"),
    (publishing.ClosingTimeRefusedError, CONFLICT, "closing_time"),
    (setting_up.TaskFrozenError, CONFLICT, "task_frozen"),
    (publishing.PayFrozenError, CONFLICT, "pay_frozen"),
    (ordering.OrderChangedError, CONFLICT, "order_changed"),
    (compensating.PriceChangedError, CONFLICT, "price_changed"),
    (compensating.AlreadyOfferedError, CONFLICT, "already_offered"),
    (compensating.NotWithdrawableError, CONFLICT, "not_withdrawable"),
    (compensating.PaymentRefusedError, BAD, "payment_refused"),
    (testing.RefusedTestError, BAD, "test_refused"),
    (testing.ChangedTestError, CONFLICT, "test_changed"),
    (testing.WrongTestStateError, CONFLICT, "wrong_test_state"),
    (testing.NothingKnownError, CONFLICT, "nothing_known"),
    (testing.RequiredTestError, CONFLICT, "test_required"),
    (testing.FrozenStageError, CONFLICT, "stage_frozen"),
    (NotOfferedError, CONFLICT, "test_not_offered"),
    (FormatErrors, BAD, "file_refused"),
    (blocking.NotBlockableError, CONFLICT, "not_blockable"),
    (blocking.LossGrownError, CONFLICT, "loss_grown"),
    (blocking.NoPolicyError, CONFLICT, "no_policy"),
    (granting.UnknownKeyError, CONFLICT, "unknown_qualification"),
    (granting.WorkersRefusedError, BAD, "workers_refused"),
    (correcting.NotCorrectableError, status.HTTP_404_NOT_FOUND, "not_correctable"),
    (correcting.PublishedError, CONFLICT, "item_published"),
    (correcting.ChangedError, CONFLICT, "item_changed"),
    (correcting.NothingToUndoError, CONFLICT, "nothing_to_undo"),
    (AnswerRefusedError, BAD, "targets_refused"),
    (annotating.NotAnnotatedError, status.HTTP_404_NOT_FOUND, "no_annotations"),
    (annotating.SentError, CONFLICT, "article_sent"),
    (annotating.NothingToChangeError, CONFLICT, "nothing_to_change"),
    (ruling.RuleRefusedError, BAD, "rule_refused"),
    (ruling.RuleChangedError, CONFLICT, "rule_changed"),
    (ruling.RuleUnchangedError, CONFLICT, "rule_unchanged"),
    (computing.ComputationRefusedError, CONFLICT, "computation_refused"),
    (drawing.DrawRefusedError, CONFLICT, "draw_refused"),
    (undoing.NotAChangeError, CONFLICT, "not_a_change"),
    (evaluating.EvaluationRefusedError, CONFLICT, "nothing_to_compare"),
    (releasing.NothingToReleaseError, CONFLICT, "nothing_to_release"),
    (projects.LastOwnerError, CONFLICT, "last_owner"),
    (projects.BudgetNotConfirmedError, CONFLICT, "budget_not_confirmed"),
    (importing.UploadRefusedError, BAD, "upload_refused"),
    (ordering.TooLargeError, status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, "bonus_file_too_large"),
    (reviewing.FeedbackMissingError, BAD, "feedback_missing"),
    (reviewing.TakeBackRefusedError, CONFLICT, "take_back_refused"),
    (recipes.RecipeError, BAD, "recipe_refused"),
    (recipes.OptionError, BAD, "option_refused"),
    (SettingsRefusedError, BAD, "settings_refused"),
    (protocols.UnknownProtocolError, BAD, "unknown_protocol"),
    (protocols.BrokenProtocolError, CONFLICT, "broken_protocol"),
    (RefusedError, CONFLICT, "marketplace_refused"),
    (MarketplaceError, LATER, "marketplace_unreachable"),
    (QueueUnreachableError, LATER, "queue_unreachable"),
    (RequestDataTooBig, status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, "too_large"),
]


class ErrorBody(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="A stable word for programs.")
    message = serializers.CharField(help_text="A sentence for people.")
    details = serializers.DictField(help_text="Depends on the code; for `invalid` a list of reasons a field.")


class Error(serializers.Serializer[Any]):
    """Every answer from 400 on has this shape."""

    error = ErrorBody()


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """REST_FRAMEWORK["EXCEPTION_HANDLER"]."""
    for kind, code, word in FLOW_ERRORS:
        if isinstance(error, kind):
            return _answer(code, word, str(error), _details(error))
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


def _details(error: Exception) -> dict[str, Any]:
    if isinstance(error, BudgetExceededError):
        return {"needed": f"{error.needed:.2f}", "left": f"{error.left:.2f}"}
    if isinstance(error, projects.BudgetNotConfirmedError):
        return {"before": f"{error.before:.2f}", "budget": f"{error.budget:.2f}"}
    if isinstance(error, BalanceTooLowError):
        return {"needed": f"{error.needed:.2f}", "missing": f"{error.missing:.2f}"}
    if isinstance(error, reviewing.TakeBackRefusedError):
        return {"reasons": error.reasons}
    if isinstance(error, RefusedError):
        return {"marketplace_code": error.code}
    if isinstance(error, compensating.PaymentRefusedError):
        return {name: [said] for name, said in error.faults.items()}
    if isinstance(error, FormatErrors):
        return {"faults": [vars(fault) for fault in error.errors], "fault_count": error.count}
    if isinstance(error, NotOfferedError):
        return {"qualification_tests": [one.key for one in error.missing]}
    if isinstance(error, ruling.RuleRefusedError):
        return {"faults": [vars(fault) for fault in error.faults]}
    if isinstance(error, AnswerRefusedError):
        return {"reasons": list(error.reasons), "places": list(error.fields)}
    if isinstance(error, SettingsRefusedError):
        return {"reasons": list(error.reasons)}
    return {}


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
