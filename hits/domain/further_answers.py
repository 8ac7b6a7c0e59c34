"""Stages whose items get further answers until they have enough: what that takes, and what it saved."""

from __future__ import annotations

from dataclasses import dataclass

from hits.domain.plugins import settings_of, usable_protocol
from hits.models.projects import Stage
from hits.protocols.optional import LevelledProtocol
from hits.quality import enough
from hits.quality.rule_text import units_of
from hits.refusals import Refusal

# From so many decided items on, the expectation is their mean.
ENOUGH_DECIDED = 20
COMPARED = ".correct"


class UnknownUnitError(Refusal):
    """The condition for enough answers speaks of something that no answer can say. Correct it in the settings."""

    error_code = "unknown_unit"


def expected(stage: Stage) -> float:
    """The mean number of answers that an item of the stage takes: of those decided, else by an assumed accuracy."""
    if stage.most_answers is None:
        return stage.answers
    taken = stage.summary.answers_taken
    decided = sum(items for _, items in taken)
    if decided >= ENOUGH_DECIDED:
        return sum(answers * items for answers, items in taken) / decided
    return enough.expected_answers(stage.answers, stage.most_answers, stage.enough, stage.project.seed)


def is_measured(stage: Stage) -> bool:
    """Whether that expectation is a mean of decided items."""
    return sum(items for _, items in stage.summary.answers_taken) >= ENOUGH_DECIDED


def units_asked(stage: Stage) -> list[str]:
    """What the condition for enough answers can speak of; empty where the task does not say it."""
    protocol = usable_protocol(stage)
    return list(protocol.levels(settings_of(stage))) if isinstance(protocol, LevelledProtocol) else []


def unknown_units(stage: Stage) -> list[str]:
    """Units that the condition names and no answer to this task has: it could never hold."""
    asked = units_asked(stage)
    if stage.most_answers is None or not asked:
        return []
    there = {name for unit in asked for name in (unit, unit + COMPARED)}
    named = units_of(enough.condition(stage.enough, stage.most_answers))
    return [unit for unit in named if unit not in there and unit.partition("/")[2] not in there]


def faults(stage: Stage) -> list[str]:
    """Those units as sentences."""
    return [
        f"The condition for enough answers names {unit!r}, which the task does not ask. It asks: "
        f"{', '.join(units_asked(stage))}. Correct it in the stage's settings."
        for unit in unknown_units(stage)
    ]


def refuse(stage: Stage) -> None:
    """Raises UnknownUnitError."""
    if found := faults(stage):
        raise UnknownUnitError(" ".join(found))


@dataclass(frozen=True)
class Saving:
    """What decided items took: `rows` are (answers, items); `mean` answers an item; `fewer` than with `most` each."""

    rows: tuple[tuple[int, int], ...]
    items: int
    mean: float
    fewer: int


def saving(stage: Stage) -> Saving | None:
    """None before an item is decided, and where the number of answers is fixed."""
    rows = tuple((answers, items) for answers, items in stage.summary.answers_taken)
    items = sum(count for _, count in rows)
    if stage.most_answers is None or not items:
        return None
    taken = sum(answers * count for answers, count in rows)
    return Saving(rows, items, taken / items, stage.most_answers * items - taken)
