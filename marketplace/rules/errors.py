"""Every refusal of the marketplace, typed. The wire and the worker site both raise and render these.

`type_name` is what clients see as the error code; `turk_code` becomes `AWS.MechanicalTurk.<turk_code>`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from marketplace.rules.sentences import Sentence


class MarketplaceError(Exception):
    """The base of all refusals; `message` is fit for a person, `http_status` is for the wire."""

    type_name = "ServiceFault"
    http_status = 400
    turk_code: str | None = None
    # The real service ends the text of these errors with the time in milliseconds.
    stamped = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ServiceFault(MarketplaceError):
    http_status = 500
    turk_code = "ServiceFault"


class ServiceUnavailable(MarketplaceError):
    type_name = "ServiceUnavailable"
    http_status = 503


class SerializationException(MarketplaceError):
    type_name = "SerializationException"


class UnknownOperationException(MarketplaceError):
    type_name = "UnknownOperationException"


class ThrottlingException(MarketplaceError):
    type_name = "ThrottlingException"

    def __init__(self) -> None:
        super().__init__("Rate exceeded")


class MissingAuthenticationToken(MarketplaceError):
    type_name = "MissingAuthenticationTokenException"
    http_status = 403


class InvalidSignature(MarketplaceError):
    type_name = "InvalidSignatureException"
    http_status = 403


class UnrecognizedClient(MarketplaceError):
    type_name = "UnrecognizedClientException"
    http_status = 403


class ValidationException(MarketplaceError):
    """The request breaks the service model. `problems` holds one sentence per broken constraint."""

    type_name = "ValidationException"

    def __init__(self, problems: Sequence[str]) -> None:
        noun = "error" if len(problems) == 1 else "errors"
        super().__init__(f"{len(problems)} validation {noun} detected: " + "; ".join(problems))


class ParameterValidationError(MarketplaceError):
    """A value that the model allows and the marketplace does not: question XML, lengths, ranges."""

    type_name = "ParameterValidationError"
    turk_code = "ParameterValidationError"
    stamped = True


class RequestError(MarketplaceError):
    """A business rule refuses the call."""

    type_name = "RequestError"
    turk_code = "InvalidParameterValue"
    stamped = True


class InvalidParameterValue(RequestError):
    pass


class HitDoesNotExist(RequestError):
    turk_code = "HITDoesNotExist"

    def __init__(self, hit_id: str) -> None:
        super().__init__(f"Hit {hit_id} does not exist.")


class HitTypeDoesNotExist(RequestError):
    turk_code = "HITTypeDoesNotExist"

    def __init__(self, hit_type_id: str) -> None:
        super().__init__(f"Hit type {hit_type_id} does not exist.")


class HitLayoutDoesNotExist(RequestError):
    turk_code = "HITLayoutDoesNotExist"

    def __init__(self, layout_id: str) -> None:
        super().__init__(f"Hit layout {layout_id} does not exist.")


class HitAlreadyExists(RequestError):
    turk_code = "HITAlreadyExists"

    def __init__(self, hit_id: str) -> None:
        super().__init__(f'The HIT with ID "{hit_id}" already exists.')
        self.hit_id = hit_id


class TokenAlreadyProcessed(RequestError):
    turk_code = "RequestAlreadyProcessed"

    def __init__(self, token: str) -> None:
        super().__init__(f'The idempotency token "{token}" has already been processed.')


class InvalidHitState(RequestError):
    turk_code = "InvalidHITState"

    def __init__(self, state: str, allowed: str) -> None:
        super().__init__(
            f"This HIT is currently in the state '{state}'.  This operation can be called with a status of: {allowed}"
        )


class InvalidMaximumAssignmentsIncrease(RequestError):
    turk_code = "InvalidMaximumAssignmentsIncrease"

    def __init__(self) -> None:
        super().__init__("A HIT that was created with fewer than 10 assignments cannot be extended to 10 or more.")


class AssignmentDoesNotExist(RequestError):
    turk_code = "AssignmentDoesNotExist"

    def __init__(self, assignment_id: str) -> None:
        super().__init__(f"Assignment {assignment_id} does not exist.")


class InvalidAssignmentState(RequestError):
    turk_code = "InvalidAssignmentState"

    def __init__(self, allowed: str) -> None:
        super().__init__(f"This operation can be called with a status of: {allowed}")


class AssignmentRefused(RequestError):
    """The worker's own action came too late or twice, or brings nothing; the message tells the worker."""

    turk_code = "InvalidAssignmentState"


class HolderUnclear(AssignmentRefused):
    """An assignment id that several workers have known was answered without a word about who answers."""


class ConcernRefused(RequestError):
    """A report or a dispute cannot be taken; the message tells the worker."""


class QueueFull(RequestError):
    """The worker holds as many HITs as one may hold at once."""

    turk_code = "ExceedsMaxAssignmentsPerWorker"

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} HITs in hand, and that is as many as one may hold at a time.")
        self.most = most


class PanelDone(RequestError):
    """The worker has submitted, or holds, as many HITs as the panel asked for that the worker came from."""

    turk_code = "PermissionDenied"

    def __init__(self, panel: str, most: int, in_hand: int) -> None:
        super().__init__(f"{panel} asked for {most} HITs, and you have submitted or hold as many.")
        self.panel = panel
        self.most = most
        self.in_hand = in_hand


class WorkerSuspended(RequestError):
    turk_code = "PermissionDenied"

    def __init__(self) -> None:
        super().__init__("Your account is suspended: you cannot take new HITs.")


class FormFaults(AssignmentRefused):
    """A filled-in form is not as its questions ask: `faults` has a sentence for each, by question identifier."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("The answers are not complete yet.")
        self.faults = dict(faults)


class NoFileUploaded(InvalidParameterValue):
    def __init__(self, assignment_id: str, question: str) -> None:
        super().__init__(
            f"Assignment {assignment_id} has no uploaded file for the question '{question}': "
            "questions have not been able to ask for files since 2017-12-12."
        )


class NoHitsAvailable(RequestError):
    turk_code = "NoHITsAvailableInGroupException"

    def __init__(self) -> None:
        super().__init__("There are no more available HITs in this group.")


class DoesNotMeetRequirements(RequestError):
    """`failing` holds the requirements, in the API's form, that the worker does not meet."""

    turk_code = "DoesNotMeetRequirements"

    def __init__(self, failing: Sequence[dict[str, Any]]) -> None:
        super().__init__("You do not meet the qualification requirements of this HIT.")
        self.failing = list(failing)


class InvalidTransportEndpoint(ParameterValidationError):
    """Where notifications should go is no place for them."""

    turk_code = "InvalidTransportEndpoint"


class InsufficientFunds(RequestError):
    turk_code = "InsufficientFunds"

    def __init__(self, needed: str, available: str) -> None:
        super().__init__(f"This operation needs ${needed}, but only ${available} is available in the account.")


class QualificationTypeDoesNotExist(RequestError):
    turk_code = "QualificationTypeDoesNotExist"

    def __init__(self, type_id: str) -> None:
        super().__init__(f"QualificationType {type_id} does not exist.")


class QualificationTypeAlreadyExists(RequestError):
    turk_code = "QualificationTypeAlreadyExists"

    def __init__(self, type_id: str) -> None:
        super().__init__(
            f"You have already created a QualificationType with this name. A QualificationType's name must be "
            f"unique among all of the QualificationTypes created by the same user. Its ID is {type_id}."
        )


class QualificationDoesNotExist(RequestError):
    turk_code = "QualificationDoesNotExist"

    def __init__(self, type_id: str, worker_id: str) -> None:
        super().__init__(f"Qualification {type_id} of worker {worker_id} does not exist.")


class InvalidQualificationState(RequestError):
    turk_code = "InvalidQualificationState"

    def __init__(self, state: str) -> None:
        super().__init__(
            f"This Qualification is currently in the state '{state}'.  "
            "This operation can be called with a status of: Granted"
        )


class InvalidQualificationTypeState(RequestError):
    turk_code = "InvalidQualificationTypeState"

    def __init__(self, state: str) -> None:
        super().__init__(
            f"This QualificationType is currently in the state '{state}'.  "
            "This operation can be called with a status of: Active"
        )


class QualificationRequestDoesNotExist(RequestError):
    turk_code = "QualificationRequestDoesNotExist"

    def __init__(self, request_id: str) -> None:
        super().__init__(f"QualificationRequest {request_id} does not exist.")


class InvalidQualificationRequestState(RequestError):
    turk_code = "InvalidQualificationRequestState"

    def __init__(self, state: str) -> None:
        super().__init__(
            f"This QualificationRequest is currently in the state '{state}'.  "
            "This operation can be called with a status of: Submitted"
        )


class QualificationAlreadyHeld(RequestError):
    turk_code = "QualificationAlreadyExists"

    def __init__(self) -> None:
        super().__init__("You hold this qualification already; there is nothing to ask for.")


class RetryDelayNotElapsed(RequestError):
    """The worker may ask again at `again_at`, and not before."""

    turk_code = "QualificationTypeRetryDelayNotElapsed"

    def __init__(self, again_at: datetime) -> None:
        super().__init__(f"You can ask for this qualification again from {again_at:%Y-%m-%d %H:%M:%S} UTC on.")
        self.again_at = again_at


class RetakeNotAllowed(RequestError):
    turk_code = "QualificationTypeDoesNotAllowRetake"

    def __init__(self) -> None:
        super().__init__("This qualification can be asked for once only, and you have asked for it before.")


class AttemptRefused(RequestError):
    """A worker's answers to a test came too late or twice; the message tells the worker."""

    turk_code = "InvalidQualificationRequestState"


class TooManyBlocks(InvalidParameterValue):
    def __init__(self, most: int) -> None:
        super().__init__(f"{most:,} workers are blocked already; more are not allowed.")


class WorkerNotRecent(InvalidParameterValue):
    def __init__(self, worker_id: str) -> None:
        super().__init__(f"Worker {worker_id} has not completed an assignment for you in the last six months.")


class AlreadyDone(RequestError):
    """An operator's form came twice, or two operators did the same at once; the first one counted."""


class PayoutRefused(RequestError):
    """A payout run cannot do what its page said; nothing was changed."""


class AccountRefused(RequestError):
    """What an operator wants of an account is not possible; nothing was changed."""


class JoinRefused(RequestError):
    """An invitation or a panel's link does not let this person in; the message tells the person."""


class TooManyAttempts(RequestError):
    """Something was tried too often; `until` says when it may be tried again."""

    turk_code = "PermissionDenied"

    def __init__(self, until: datetime) -> None:
        super().__init__("That was tried too often. Wait a little, then try again.")
        self.until = until


class EmailNotConfirmed(RequestError):
    turk_code = "PermissionDenied"

    def __init__(self) -> None:
        super().__init__("Your e-mail address is not confirmed yet: you cannot take HITs.")


class EmailTaken(RequestError):
    """Another account has this e-mail address."""

    def __init__(self) -> None:
        super().__init__(Sentence("Another account has this e-mail address."))
