"""What a declared verb refuses."""

from __future__ import annotations

from typing import Any

from hits.refusals import Refusal


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
