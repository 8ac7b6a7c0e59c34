"""Every refusal of the marketplace. The wire and the worker site both raise and render these.

`type_name` is what clients see as the error code; `turk_code` becomes `AWS.MechanicalTurk.<turk_code>`. A class of
its own has what somebody catches by name; everything else is a RequestError with its code and sentence.
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


class WireError(MarketplaceError):
    """The call itself is refused or fails, before or beside what it asks for; `type_name` says how."""

    def __init__(self, type_name: str, message: str, http_status: int = 400, turk_code: str | None = None) -> None:
        super().__init__(message)
        self.type_name = type_name
        self.http_status = http_status
        self.turk_code = turk_code


class ParameterValidationError(MarketplaceError):
    """A value that the model allows and the marketplace does not: question XML, lengths, ranges."""

    type_name = "ParameterValidationError"
    stamped = True

    def __init__(self, message: str, turk_code: str = "ParameterValidationError") -> None:
        super().__init__(message)
        self.turk_code = turk_code


class RequestError(MarketplaceError):
    """A business rule refuses what somebody asks for; nothing was changed."""

    type_name = "RequestError"
    stamped = True

    def __init__(self, message: str, turk_code: str = "InvalidParameterValue") -> None:
        super().__init__(message)
        self.turk_code = turk_code


class DoesNotExist(RequestError):
    """`kind` as the message names it: Hit, Hit type, Hit layout, Assignment, QualificationType and so on."""

    def __init__(self, kind: str, of_id: str) -> None:
        name = kind.replace("Hit", "HIT").replace(" type", "Type").replace(" layout", "Layout")
        super().__init__(f"{kind} {of_id} does not exist.", f"{name}DoesNotExist")


class InvalidState(RequestError):
    """What is asked for needs one of the `allowed` states; the real service does not say in which an assignment is."""

    def __init__(self, kind: str, allowed: str, state: str = "") -> None:
        current = f"This {kind} is currently in the state '{state}'.  " if state else ""
        super().__init__(f"{current}This operation can be called with a status of: {allowed}", f"Invalid{kind}State")


class InsufficientFunds(RequestError):
    def __init__(self, needed: str, available: str) -> None:
        super().__init__(
            f"This operation needs ${needed}, but only ${available} is available in the account.", "InsufficientFunds"
        )


class AssignmentRefused(RequestError):
    """The worker's own action came too late or twice, or brings nothing; the message tells the worker."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "InvalidAssignmentState")


class HolderUnclear(AssignmentRefused):
    """An assignment id that several workers have known was answered without a word about who answers."""


class FormFaults(AssignmentRefused):
    """A filled-in form is not as its questions ask: `faults` has a sentence for each, by question identifier."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("The answers are not complete yet.")
        self.faults = dict(faults)


class NoHitsAvailable(RequestError):
    def __init__(self) -> None:
        super().__init__("There are no more available HITs in this group.", "NoHITsAvailableInGroupException")


class DoesNotMeetRequirements(RequestError):
    """`failing` holds the requirements, in the API's form, that the worker does not meet."""

    def __init__(self, failing: Sequence[dict[str, Any]]) -> None:
        super().__init__("You do not meet the qualification requirements of this HIT.", "DoesNotMeetRequirements")
        self.failing = list(failing)


class NotAdmitted(RequestError):
    """The worker may take no further HIT now; `why` is suspended, not confirmed, panel done or queue full."""

    def __init__(self, why: str, message: str, turk_code: str = "PermissionDenied", **values: Any) -> None:
        super().__init__(message, turk_code)
        self.why = why
        self.values = values


class AlreadyDone(RequestError):
    """A form came twice, or two people did the same at once; the first one counted."""


class EmailTaken(RequestError):
    """Another account has this e-mail address."""

    def __init__(self) -> None:
        super().__init__(Sentence("Another account has this e-mail address."))


class TooManyAttempts(MarketplaceError):
    """Something was tried too often; `until` says when it may be tried again, on the page `back_url`."""

    def __init__(self, until: datetime, back_url: str = "") -> None:
        super().__init__("That was tried too often. Wait a little, then try again.")
        self.until = until
        self.back_url = back_url


def token_processed(token: str) -> RequestError:
    return RequestError(f'The idempotency token "{token}" has already been processed.', "RequestAlreadyProcessed")
