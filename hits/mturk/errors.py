"""The marketplace's answers that are not yes, by what the caller should do next."""

from __future__ import annotations

import re
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
)

from common.cutting import cut
from hits.refusals import Refusal

LONGEST_MESSAGE = 2000
THROTTLED = {"ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException", "SlowDown"}
PASSING = {"ServiceFault", "InternalFailure", "ServiceUnavailable"}
CREDENTIALS = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
NO_KEY_PAIR = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, ProfileNotFound, NoRegionError)
KEY_PAIR = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a requester's key pair and start the programs again."


class MarketplaceError(Refusal):
    """The base of all; `str(error)` is a sentence for people."""

    error_code = "marketplace_unreachable"
    http_status = 503


class UnreachableError(MarketplaceError):
    """No answer, or a passing fault: the outcome is unknown. Ask again with the same token."""


class ThrottledError(UnreachableError):
    """No turn came before the deadline, for the account makes too many calls. Nothing was done; ask again later."""


class CredentialsError(UnreachableError):
    """The marketplace does not know the caller. Nothing was done, and nothing will be until a person acts."""


class NotYetError(MarketplaceError):
    """It does not show yet what it announced. Nothing was done; ask again, with growing delays, for 15 minutes."""


class RefusedError(MarketplaceError):
    """A final no. `code` is the TurkErrorCode without its prefix, or the error's type."""

    error_code = "marketplace_refused"
    http_status = 409

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(f"The marketplace refused: {message}")

    def details(self) -> dict[str, Any]:
        return {"marketplace_code": self.code}


class AlreadyExistsError(RefusedError):
    """The token was used before: `hit_id` is the HIT that it made."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        found = re.search(r"HIT with ID \"?([A-Z0-9]+)\"?", message)
        self.hit_id = found.group(1) if found else None


class AlreadyDoneError(RefusedError):
    """The same request was carried out before; nothing is left to do."""


class GoneError(RefusedError):
    """The thing is not there, or not any more."""


class WrongStateError(RefusedError):
    """The thing is in another state than the call needs, for instance approved before: look, and adopt what is."""


class InsufficientFundsError(RefusedError):
    """The account's balance does not pay for it. Nothing was done; it passes when there is money."""


def from_boto(error: ClientError | BotoCoreError) -> MarketplaceError:
    """Translate what boto3 raised."""
    if not isinstance(error, ClientError):
        return _without_answer(error)
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    # Rows keep it, and lists show it: the faults of a page of HTML are named one after another.
    message = cut(error.response.get("Error", {}).get("Message", ""), LONGEST_MESSAGE)
    if code in THROTTLED or status == 429:
        return ThrottledError(f"The marketplace takes no more calls for now: {message or code}")
    if code in PASSING or status >= 500:
        return UnreachableError(f"The marketplace has a passing fault: {message or code}")
    if code in CREDENTIALS:
        return CredentialsError(f"The marketplace does not accept the key pair: {message} {KEY_PAIR}")
    return _refusal(str(error.response.get("TurkErrorCode") or code).rpartition(".")[2], message)


def _without_answer(error: BotoCoreError) -> MarketplaceError:
    if isinstance(error, ParamValidationError):
        # Refused before it was sent, for instance an empty id: asking again gives the same.
        return RefusedError(type(error).__name__, str(error))
    if isinstance(error, NO_KEY_PAIR):
        return CredentialsError(f"There is no key pair for the marketplace: {error}. {KEY_PAIR}")
    return UnreachableError(f"The marketplace does not answer: {error}")


def _refusal(code: str, message: str) -> MarketplaceError:
    lowered = code.lower()
    if lowered == "hitalreadyexists" or re.search(r"HIT with ID .* already exists", message):
        return AlreadyExistsError(code, message)
    if "idempotency token" in message:
        return AlreadyDoneError(code, message)
    # A read that lags behind its event, seen from seconds to seven minutes.
    if re.search(r"status of:? *null", message):
        return NotYetError(f"The marketplace refused: {message}")
    if lowered.endswith("doesnotexist"):
        return GoneError(code, message)
    if re.fullmatch(r"invalid\w+state", lowered):
        return WrongStateError(code, message)
    if lowered == "insufficientfunds":
        return InsufficientFundsError(code, message)
    return RefusedError(code, message)
