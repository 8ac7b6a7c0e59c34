"""One request of the requester API: who, what, checked, done, shaped."""

import json
import logging
import uuid
from typing import Any, Never

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from common import full_disk
from marketplace import operations
from marketplace.operations import staleness
from marketplace.rules.errors import MarketplaceError, WireError
from marketplace.verbs import clock
from marketplace.wire import contract, faults, signature, throttling

CONTENT_TYPE = "application/x-amz-json-1.1"
log = logging.getLogger(__name__)


def answer(request: HttpRequest) -> HttpResponse:
    """Answer one call. Every refusal becomes a protocol error; a crash becomes a ServiceFault (500), and on a full disk
    ServiceUnavailable (503): clients try either again.
    """
    try:
        return _response(200, _perform(request))
    except MarketplaceError as error:
        return _refusal(error)
    except RequestDataTooBig:
        # Whoever reads the body first meets it: checking the signature does, too.
        return _refusal(WireError("SerializationException", "The request is too large."))
    except UnreadablePostError:
        return _refusal(WireError("SerializationException", "The request ended before its body did."))
    except Exception as error:
        log.exception("The call %s failed.", request.headers.get("X-Amz-Target", ""))
        if full_disk.is_full(error):
            return _refusal(
                WireError("ServiceUnavailable", "The disk of the service is full or broken. Try it again later.", 503)
            )
        return _refusal(
            WireError("ServiceFault", "The service failed to answer this call. Try it again.", 500, "ServiceFault")
        )


def _perform(request: HttpRequest) -> dict[str, Any]:
    operation = contract.operation(_operation_name(request))
    # The name under which `common.metrics` counts the call.
    request.counted_as = f"wire:{operation.name}"  # type: ignore[attr-defined]
    if settings.MARKETPLACE_TEST_CONTROLS:
        return faults.around(request, operation.name, lambda: _carry_out(request, operation))
    return _carry_out(request, operation)


def _carry_out(request: HttpRequest, operation: contract.Operation) -> dict[str, Any]:
    requester = signature.caller(request, clock.wall())
    throttling.admit(requester)
    perform = operations.find(operation.name)
    parameters = operation.read(_body(request))
    call = operations.Call(operation.name, requester, clock.now())
    if settings.MARKETPLACE_TEST_CONTROLS:
        call = staleness.aged(call, parameters)
    return operation.write(perform(call, parameters))


def _operation_name(request: HttpRequest) -> str:
    target = request.headers.get("X-Amz-Target", "")
    if not target.startswith(contract.target_prefix()):
        raise WireError(
            "UnknownOperationException",
            f"X-Amz-Target must be {contract.target_prefix()}<Operation>; it is '{target[:100]}'.",
        )
    return target.removeprefix(contract.target_prefix())


def _body(request: HttpRequest) -> Any:
    try:
        return json.loads(request.body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError("SerializationException", f"The body is not JSON that can be read: {error}") from error


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a number in JSON")


def _refusal(error: MarketplaceError) -> HttpResponse:
    message = error.message
    if error.stamped:
        # The time, as the real service added it: programs have learned to cut it off again.
        message += f" ({int(clock.now().timestamp() * 1000)}{' s' if settings.MARKETPLACE_SANDBOX else ''})"
    body = {"__type": error.type_name, "Message": message}
    if error.turk_code is not None:
        body["TurkErrorCode"] = f"AWS.MechanicalTurk.{error.turk_code}"
    return _response(error.http_status, body)


def _response(status: int, body: dict[str, Any]) -> HttpResponse:
    text = json.dumps(body, separators=(",", ":"))
    # Nothing behind the wire counts the bytes, and without their number the answer would go out in chunks.
    headers = {"x-amzn-RequestId": str(uuid.uuid4()), "Content-Length": str(len(text))}
    return HttpResponse(text, status=status, content_type=CONTENT_TYPE, headers=headers)
