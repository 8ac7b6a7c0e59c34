"""What a protocol is: one kind of task. A protocol is a folder under `protocols/`, found by scanning.

The folder `protocols/<name>/` holds `protocol.py` with a module-level `protocol` that satisfies `TaskProtocol`,
`templates/<name>/task.html` and `static/` (served under `static/<name>/`). A protocol that asks one thing after
another satisfies `StepwiseProtocol`.

Units of labels are short names; a protocol that asks several things of one kind names them `group/unit`, such as
`q3/label`. Values that a vote rule shall count are texts of at most `COUNTED` characters, truth values or whole
numbers; anything else (a written text, a list) is a label that no rule counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from hits.refusals import Refusal

Json = dict[str, Any]
COUNTED = 60


class AnswerRefusedError(Refusal):
    """The posted fields are no answer to this item. `reasons` are sentences that say what to change.

    `fields` names, reason by reason, the field that it is about, so that the page can tell it there.
    """

    error_code = "targets_refused"
    http_status = 400

    def __init__(self, reasons: Sequence[str], fields: Sequence[str] = ()) -> None:
        self.reasons = tuple(reasons)
        self.fields = tuple(fields)
        super().__init__(" ".join(self.reasons))

    def details(self) -> dict[str, Any]:
        return {"reasons": list(self.reasons), "places": list(self.fields)}


class SettingsRefusedError(Refusal):
    """A stage's settings do not fit its protocol; every fault at once."""

    error_code = "settings_refused"
    http_status = 400

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(" ".join(self.reasons))

    def details(self) -> dict[str, Any]:
        return {"reasons": list(self.reasons)}


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

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """The context of the task template. Never holds the reference answers.

        `worker` seeds what is shown in another order to everybody; it is empty in a preview.
        """

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        """Validate the posted fields and turn them into labels. Raises AnswerRefusedError."""

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Measures over (document, item, label value) of one answer an item, read once, such as em and f1; may be
        empty.
        """


@runtime_checkable
class CrowdlessProtocol(Protocol):
    """Its items are made by a program and corrected by leads. No worker sees them, so it has no page and no answers."""

    name: str
    title: str

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The given settings completed with defaults. Raises SettingsRefusedError."""

    def figures(self, item: Json) -> dict[str, int]:
        """What of the item is counted, by name; the same names for every item, so that sums can be shown."""

    def word(self, item: Json) -> str:
        """What kind of item it is, by which leads filter lists, such as "no query"; empty for an ordinary one."""


@dataclass(frozen=True)
class Step:
    """One of several screens of a task.

    `number` counts from 1 to at most `of`; `context` is for the template; `said` are the fields that this screen asks
    for, where they were given before, and `kept` all others, which the form carries along; `last` says that its form
    goes to the marketplace.
    """

    number: int
    of: int
    context: Json
    said: dict[str, str]
    kept: dict[str, str]
    last: bool


Move = Literal["on", "stay", "back"]


@runtime_checkable
class StepwiseProtocol(TaskProtocol, Protocol):
    """Asks one thing at a time, each depending on what was said before. Its `check` sees all fields together."""

    def step(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str, move: Move
    ) -> Step:
        """The step that follows the one on screen (`on`), that one again (`stay`), or the one before it (`back`).

        Field `step` is the number of the step on screen; where it names none, that is the first one not answered.
        No step comes before those that it depends on are answered, and fields of steps whose condition does not hold
        are dropped. Raises AnswerRefusedError, with `on` alone, when the step on screen or one before it is not
        answered.
        """
