"""What all refusals share. It imports nothing, so that every package below and above can raise one.

A refusal is a sentence for people that says what to do next, with what a program needs beside it. The API turns it
into an answer and a command into one line on stderr; any other exception is a fault of ours.
"""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """The base of everything that a verb refuses. Nothing was changed.

    `error_code` is a stable word for programs, `http_status` what the API answers with.
    """

    error_code = "refused"
    http_status = 409

    def details(self) -> dict[str, Any]:
        """What a program may want to know beside the sentence, ready for JSON."""
        return {}


class Refused(Refusal):
    """A verb was refused, and nothing was changed.

    `code` is one of the verb's `refuses`, a stable word for programs. `message` is a sentence that says what to do
    next. `status` is what the API answers with. `field` names the field of the form beside which a page shows it;
    empty: above the form.
    """

    def __init__(self, code: str, message: str, *, field: str = "", status: int = 409, **details: Any) -> None:
        self.error_code, self.http_status, self.field, self._details = code, status, field, details
        super().__init__(message)

    def details(self) -> dict[str, Any]:
        return self._details
