"""What a worker is told about an answer to an item that is there to practise on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hits.answers.rules import item_answers
from hits.answers.rules.answer_words import Words
from hits.items.models import Item
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols import choosing
from hits.protocols.base import Json
from hits.protocols.lines import nothing
from hits.protocols.optional import KnownValuesProtocol
from hits.recipes.source import UNUSED
from hits.stages.models import Stage

# The column of an imported file that says why an answer is right.
EXPLANATION = "explanation"
LONGEST_EXPLANATION = 2000


@dataclass(frozen=True)
class ToldUnit:
    """Of one thing that was asked: what was said and what is right, in words; `right` is empty where that is not told
    apart from whether the answer was.
    """

    unit: str
    said: str
    right: str
    is_right: bool


@dataclass(frozen=True)
class Told:
    """`units` are those with a known answer; `why` is the row's explanation, empty without one."""

    units: tuple[ToldUnit, ...]
    why: str

    @property
    def is_right(self) -> bool:
        return all(unit.is_right for unit in self.units)


def told(stage: Stage, item: Item, fields: Mapping[str, str], worker: str) -> Told:
    """Raises AnswerRefusedError where the fields are no answer."""
    options, words = settings_of(stage), Words.of(stage)
    checked = item_answers.check_item(protocol_of(stage), options, item, fields, worker)
    compared = [label for label in checked.labels if label.correct is not None]
    known = _known(stage, item, options)
    said_nothing_of = known_units(stage, item) - {label.unit for label in checked.labels}
    units = []
    for label in compared:
        line = words.line(item, label.unit, label.value)
        asked = line.asked if len(compared) + len(said_nothing_of) > 1 else ""
        tells = not label.correct and label.unit in known
        right = words.line(item, label.unit, known[label.unit]).said if tells else ""
        units.append(ToldUnit(asked, line.said, right, bool(label.correct)))
    for unit in (unit for unit in known if unit in said_nothing_of):
        line = words.line(item, unit, known[unit])
        units.append(ToldUnit(line.asked, nothing(), line.said, False))
    return Told(tuple(units), explanation(item))


def known_units(stage: Stage, item: Item) -> frozenset[str]:
    """The units that a right answer says something of; empty where the task does not name them."""
    protocol = protocol_of(stage)
    if not isinstance(protocol, KnownValuesProtocol):
        return frozenset()
    return frozenset(protocol.known_values(item.document.data, item.data, settings_of(stage)))


def _known(stage: Stage, item: Item, options: Json) -> dict[str, Any]:
    """The right value by unit; of a choice, its gold."""
    protocol = protocol_of(stage)
    if isinstance(protocol, KnownValuesProtocol):
        return protocol.known_values(item.document.data, item.data, options)
    if item.data.get("gold") and not choosing.choices_of(item.data, options):
        return {"spans": item.data["gold"]}
    gold = sorted(choosing.gold_of(item.data, choosing.choices_of(item.data, options)))
    return {"choice": gold[0] if len(gold) == 1 else gold} if gold else {}


def explanation(item: Item) -> str:
    """What the column of that name says, of the item or its document."""
    for data in (item.data, item.document.data):
        for columns in (data, data.get(UNUSED)):
            if isinstance(columns, Mapping) and isinstance(text := columns.get(EXPLANATION), str) and text.strip():
                return text.strip()[:LONGEST_EXPLANATION]
    return ""
