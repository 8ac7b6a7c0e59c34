"""What the workers of a stage said of each unit, in a form in which it can be compared. Reads only.

Only labels that count are read. Units of a group, `q3/choice`, are read item and group by item and group under their
bare name, unless the protocol names them in full.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hits.models import Label, Stage
from hits.projects.rules.plugins import settings_of, usable_protocol
from hits.protocols.base import SettingsRefusedError
from hits.protocols.optional import ComparableProtocol, LevelledProtocol
from hits.refusals import Refused

CHUNK = 5000
TEXT = "text"
# Beside the levels of protocols: a list of things, the best first.
RANKING = "ranking"


@dataclass
class UnitAnswers:
    """(item, worker, value) of one unit; an item is its number in the database, with the group after a space.

    `known` says of (item, value) whether it is right, where it was compared with a known answer.
    """

    unit: str
    level: str
    rows: list[tuple[str, str, Hashable]] = field(default_factory=list)
    known: dict[tuple[str, Hashable], bool] = field(default_factory=dict)

    @property
    def order(self) -> tuple[Any, ...]:
        """Of an ordinal scale whose values are texts, such as days: their order; empty where they are numbers."""
        values = {value for _, _, value in self.rows}
        is_text = self.level == "ordinal" and any(isinstance(value, str) for value in values)
        return tuple(sorted(values, key=str)) if is_text else ()


def levels_of(stage: Stage) -> dict[str, str]:
    """The level of each unit; empty where the stage's protocol compares nothing, or cannot be used."""
    protocol = usable_protocol(stage)
    if not isinstance(protocol, LevelledProtocol):
        return {}
    try:
        return protocol.levels(settings_of(stage))
    except SettingsRefusedError:
        return {}


def is_compared(stage: Stage) -> bool:
    """Whether any answer of the stage can be compared with another one."""
    return stage.crowd and any(level != TEXT for level in levels_of(stage).values())


def refuse_uncompared(stage: Stage) -> None:
    """Raises Refused (not_compared)."""
    if not is_compared(stage):
        raise Refused("not_compared", f"The answers of “{stage.title}” are texts: there is no agreement to compute.")


def named(unit: str, levels: Mapping[str, str]) -> tuple[str, str]:
    """(the unit by the name that has a level, its group); the name is empty where nothing is compared."""
    if unit in levels:
        return unit, ""
    group, _, bare = unit.rpartition("/")
    return (bare, group) if bare in levels else ("", "")


def full_unit(unit: str, group: str) -> str:
    """The unit of one group as labels name it."""
    return f"{group}/{unit}" if group else unit


@dataclass(frozen=True)
class Comparison:
    """How the values of a stage's labels are compared. `levels` are those of its units."""

    levels: Mapping[str, str]
    compared: Callable[[str, Any], Any]

    @classmethod
    def of(cls, stage: Stage) -> Comparison:
        protocol = usable_protocol(stage)
        return cls(levels_of(stage), protocol.comparable if isinstance(protocol, ComparableProtocol) else _itself)

    def place(self, unit: str, value: Any) -> tuple[str, str, Hashable] | None:
        """(the unit by the name that has a level, its group, one spelling of the value); None where nobody's values are
        compared, as of texts.
        """
        name, group = named(unit, self.levels)
        level = self.levels.get(name, TEXT)
        return (name, group, _comparable(self.compared(unit, value), level)) if level != TEXT else None

    def value(self, unit: str, value: Any) -> Hashable | None:
        """That spelling alone."""
        place = self.place(unit, value)
        return place[2] if place else None


def read(stage: Stage) -> list[UnitAnswers]:
    """What was said of each unit that can be compared and was answered, in the order of the protocol's levels."""
    comparison = Comparison.of(stage)
    found = {unit: UnitAnswers(unit, level) for unit, level in comparison.levels.items() if level != TEXT}
    columns = ("item_id", "worker__worker_id", "unit", "value", "correct")
    labels = Label.objects.counting().filter(stage=stage).order_by("id").values_list(*columns)
    for item, worker, unit, value, correct in labels.iterator(chunk_size=CHUNK):
        if (place := comparison.place(unit, value)) is None:
            continue
        name, group, said = place
        of = found[name]
        if isinstance(said, tuple):
            of.level = RANKING
        key = f"{item} {group}" if group else str(item)
        of.rows.append((key, worker, said))
        if correct is not None:
            of.known[key, said] = correct
    return [one for one in found.values() if one.rows]


def _itself(unit: str, value: Any) -> Any:
    return value


def _comparable(value: Any, level: str) -> Hashable:
    if level == "set":
        return frozenset(map(_plain, value)) if isinstance(value, list) else frozenset({_plain(value)})
    if level == "span":
        return frozenset(_span(one) for one in value)
    if level == "ordinal" and isinstance(value, list):
        # A ranking.
        return tuple(map(_plain, value))
    return _plain(value)


def _plain(value: Any) -> Hashable:
    """A text or number as it is; anything else in one spelling."""
    return value if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)


def _span(one: Any) -> tuple[int, int, str]:
    start, end, label = (one["start"], one["end"], one["label"]) if isinstance(one, dict) else one
    return start, end, label
