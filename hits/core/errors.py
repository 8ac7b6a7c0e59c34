"""What a declared verb refuses."""

from __future__ import annotations

from typing import Any

from hits.refusals import Refusal


class Refused(Refusal):
    """A verb was refused, and nothing was changed.

    `code` is one of the verb's `refuses`, a stable word for programs. `message` is a sentence that says what to do
    next. `field` names the field of the form beside which a page shows it; empty: above the form.
    """

    def __init__(self, code: str, message: str, *, field: str = "", **details: Any) -> None:
        self.error_code, self.field, self._details = code, field, details
        super().__init__(message)

    def details(self) -> dict[str, Any]:
        return self._details
