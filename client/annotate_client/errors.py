"""What can go wrong, each with a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate_client.progress import Progress
from annotate_client.shapes import BudgetRequestShape, FaultShape, UploadDetailShape

# Of the reasons in a message; `details` and `faults` have all of them.
MOST_SHOWN = 1000


class AnnotateError(Exception):
    """The base of all errors of this package, and what has no class of its own."""


class ConnectionFailedError(AnnotateError):
    """No answer, or one that broke off. Whether a call that changes something arrived is not known."""


class UnexpectedAnswerError(AnnotateError):
    """What answers is no Annotate, or one that this package is too old or too new for."""


class ApiError(AnnotateError):
    """A refusal. `status` is that of HTTP, `code` a stable word, `message` a sentence, `details` depend on the code."""

    def __init__(
        self, status: int, code: str, message: str, details: Mapping[str, Any], retry_after: float | None = None
    ) -> None:
        super().__init__("\n".join([message, *_reasons(code, details)]))
        self.status = status
        self.code = code
        self.message = message
        self.details = dict(details)
        self.retry_after = retry_after


class InvalidError(ApiError):
    """400: what was sent is wrong; for the code `invalid`, `details` has a list of reasons for each field."""


class NotSignedInError(ApiError):
    """401: the token is wrong, has expired or was revoked."""


class ForbiddenError(ApiError):
    """403: the token's scope, or your role in the project, does not allow it."""


class NotFoundError(ApiError):
    """404: it is not there, or not yours."""


class ConflictError(ApiError):
    """409: refused as things are now; `code` says why."""


class TooManyCallsError(ApiError):
    """429: `retry_after` has the seconds until calls are answered again."""


class ServerError(ApiError):
    """500 and above: the server failed, or is not to be reached at the moment."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: InvalidError,
    401: NotSignedInError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: TooManyCallsError,
}


def api_error(status: int, body: Any, retry_after: float | None = None) -> ApiError:
    """The error of an answer from 400 on. `body` is its JSON; None, or anything else, where a proxy answered."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    said = body.get("error") if isinstance(body, dict) else None
    if not isinstance(said, dict):
        return kind(status, "", f"The server answered with status {status} and no reason.", {}, retry_after)
    details = said.get("details")
    known = details if isinstance(details, dict) else {}
    return kind(status, str(said.get("code", "")), str(said.get("message", "")), known, retry_after)


def _reasons(code: str, details: Mapping[str, Any]) -> list[str]:
    """Of the code `invalid`, a line for each field: the message names the fields alone."""
    if code != "invalid":
        return []
    lines = [f"  {field}: {_told(reasons)}" for field, reasons in details.items()]
    return _cut(lines)


def _told(reasons: Any) -> str:
    return " ".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons)


class TableError(AnnotateError, ValueError):
    """A DataFrame or rows that cannot be sent; `faults` has a sentence for each. Nothing was sent."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(["This table cannot be sent. Nothing was sent.", *_indented(faults)]))
        self.faults = list(faults)


class ImportRefusedError(AnnotateError):
    """A file that was read and not imported: nothing of it came in. `faults` has each fault with its line."""

    def __init__(self, upload: UploadDetailShape) -> None:
        self.upload = upload
        self.faults: list[FaultShape] = upload["faults"]
        count = upload["fault_count"]
        head = f"{upload['name']} was not imported ({upload['state']}). {upload['error']}".rstrip()
        lines = [head, *_indented(list(map(fault_line, self.faults)))]
        if count > len(self.faults):
            lines.append(f"  and {count - len(self.faults):,} more")
        super().__init__("\n".join(lines))


def fault_line(fault: FaultShape) -> str:
    """Such as `line 3, gold: is no choice`."""
    where = [f"line {fault['line']}"] if fault["line"] is not None else []
    where += [fault["place"]] if fault["place"] else []
    return f"{', '.join(where)}: {fault['message']}" if where else fault["message"]


class BudgetRequestedError(AnnotateError):
    """The budget has no room for it, so an owner was asked; nothing is published before the answer."""

    def __init__(self, request: BudgetRequestShape) -> None:
        super().__init__(
            f"The budget has no room for ${request['total']}. An owner was asked for a budget of ${request['budget']} "
            f"(request {request['id']}); it is published when the owner agrees."
        )
        self.request = request


class WaitTimeoutError(AnnotateError, TimeoutError):
    """It is not done yet; on the server it goes on, and you can wait again. `progress` says how far it was."""

    def __init__(self, seconds: float, progress: Progress, why: str = "") -> None:
        super().__init__(f"Not done after {seconds:g} seconds: {progress}. {why}".rstrip())
        self.progress = progress


class ChecksumError(AnnotateError):
    """A file of a release is not the one that the release names. It was not kept."""


def _indented(sentences: Sequence[str]) -> list[str]:
    return _cut([f"  {sentence}" for sentence in sentences])


def _cut(lines: list[str]) -> list[str]:
    left = len(lines) - MOST_SHOWN
    return lines if left <= 0 else [*lines[:MOST_SHOWN], f"  and {left:,} more"]
