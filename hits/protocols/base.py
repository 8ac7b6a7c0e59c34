"""What a protocol is: one kind of task. A protocol is a folder under `protocols/`, found by scanning.

The folder `protocols/<name>/` holds `protocol.py` with a module-level `protocol` that satisfies `TaskProtocol`,
`templates/<name>/task.html` and `static/` (served under `static/<name>/`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]


class AnswerRefusedError(Exception):
    """The posted fields are no answer to this item. `reasons` are sentences that say what to change."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(" ".join(self.reasons))


class SettingsRefusedError(Exception):
    """A stage's settings do not fit its protocol; every fault at once."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(" ".join(self.reasons))


@dataclass(frozen=True)
class LabelValue:
    """What an answer says about one unit: `correct` is None where there is no reference."""

    unit: str
    value: Any
    correct: bool | None


@dataclass(frozen=True)
class CheckedAnswer:
    labels: tuple[LabelValue, ...]
    remark: str = ""


class TaskProtocol(Protocol):
    name: str
    title: str

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The given settings completed with defaults. Raises SettingsRefusedError."""

    def page(self, document: Json, item: Json, settings: Json) -> Json:
        """The context of the task template. Never holds the reference answers."""

    def check(self, document: Json, item: Json, settings: Json, fields: Mapping[str, str]) -> CheckedAnswer:
        """Validate the posted fields and turn them into labels. Raises AnswerRefusedError."""

    def scores(self, answers: Sequence[tuple[Json, Json, Any]]) -> Json:
        """Measures over (document, item, label value) of one answer an item, such as em and f1; may be empty."""
