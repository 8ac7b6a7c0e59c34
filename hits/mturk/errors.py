"""The marketplace's answers that are not yes, by what the caller should do next."""

from __future__ import annotations

import re

from botocore.exceptions import BotoCoreError, ClientError

RETRY_CODES = {"ThrottlingException", "ServiceFault", "RequestLimitExceeded", "InternalFailure"}


class MarketplaceError(Exception):
    """The base of all; `str(error)` is a sentence for people."""


class UnreachableError(MarketplaceError):
    """No answer, or a passing fault: the outcome is unknown. Ask again with the same token."""


class RefusedError(MarketplaceError):
    """A final no. `code` is the TurkErrorCode without its prefix, or the error's type."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(f"The marketplace refused: {message}")


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


def from_boto(error: ClientError | BotoCoreError) -> MarketplaceError:
    """Translate what boto3 raised."""
    if not isinstance(error, ClientError):
        return UnreachableError(f"The marketplace does not answer: {error}")
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    message = error.response.get("Error", {}).get("Message", "")
    if code in RETRY_CODES or status >= 500:
        return UnreachableError(f"The marketplace has a passing fault: {message or code}")
    return _refusal(str(error.response.get("TurkErrorCode") or code).rpartition(".")[2], message)


def _refusal(code: str, message: str) -> RefusedError:
    lowered = code.lower()
    if lowered == "hitalreadyexists" or re.search(r"HIT with ID .* already exists", message):
        return AlreadyExistsError(code, message)
    if "idempotency token" in message:
        return AlreadyDoneError(code, message)
    if lowered.endswith("doesnotexist"):
        return GoneError(code, message)
    return RefusedError(code, message)
