"""What a worker is told about an answer to an item that is there to practise on."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from hits.domain import item_answers
from hits.domain.plugins import protocol_of, settings_of
from hits.models.projects import Item, Stage
from hits.protocols import choosing
from hits.protocols.base import Json
from hits.protocols.optional import KnownValuesProtocol, LevelledProtocol, WordedProtocol
from hits.recipes.source import UNUSED

# The column of an imported file that says why an answer is right.
EXPLANATION = "explanation"
LONGEST_EXPLANATION, LONGEST_VALUE = 2000, 300


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
    protocol, options = protocol_of(stage), settings_of(stage)
    checked = item_answers.check_item(protocol, options, item, fields, worker)
    compared = [label for label in checked.labels if label.correct is not None]
    known = _known(stage, item, options)
    several = len(compared) > 1
    levels = protocol.levels(options) if isinstance(protocol, LevelledProtocol) else {}
    spans = {unit for unit, level in levels.items() if level == "span"}
    if spans:
        # What each label was given says the same once more.
        compared = [label for label in compared if label.unit in spans] or compared
        several = len(compared) > 1
    return Told(
        tuple(
            ToldUnit(
                _asked(stage, item, options, label.unit) if several else "",
                _said(stage, item, options, label.unit, label.value, spans),
                ""
                if label.correct or label.unit not in known
                else _said(stage, item, options, label.unit, known[label.unit], spans),
                bool(label.correct),
            )
            for label in compared
        ),
        explanation(item),
    )


def _known(stage: Stage, item: Item, options: Json) -> dict[str, Any]:
    """The right value by unit; of a choice, its gold."""
    protocol = protocol_of(stage)
    if isinstance(protocol, KnownValuesProtocol):
        return protocol.known_values(item.document.data, item.data, options)
    if item.data.get("gold") and not choosing.choices_of(item.data, options):
        return {"spans": item.data["gold"]}
    gold = sorted(choosing.gold_of(item.data, choosing.choices_of(item.data, options)))
    return {"choice": gold[0] if len(gold) == 1 else gold} if gold else {}


def _asked(stage: Stage, item: Item, options: Json, unit: str) -> str:
    protocol = protocol_of(stage)
    if isinstance(protocol, WordedProtocol):
        return protocol.in_words(item.document.data, item.data, options, unit, None)[0] or unit
    return unit


def _said(stage: Stage, item: Item, options: Json, unit: str, value: Any, spans: Set[str]) -> str:
    protocol = protocol_of(stage)
    if unit in spans:
        return _marked(value, item)
    if isinstance(protocol, WordedProtocol):
        words = protocol.in_words(item.document.data, item.data, options, unit, value)[1]
        return words[:LONGEST_VALUE] or _in_words(value, item, options)
    return _in_words(value, item, options)


def _marked(value: Any, item: Item) -> str:
    """Stretches of the text with their labels."""
    text = str(item.document.data.get("text", ""))
    parts = [(one["start"], one["end"], one["label"]) if isinstance(one, dict) else tuple(one[:3]) for one in value]
    return "; ".join(f"{text[start:end]} ({label})" for start, end, label in parts)[:LONGEST_VALUE] or "nothing"


def _in_words(value: Any, item: Item, options: Json) -> str:
    """A choice by its text, as the worker saw it."""
    if isinstance(value, dict) and "text" in value:
        value = value["text"]
    if isinstance(value, list | tuple | set | frozenset):
        return "; ".join(_in_words(one, item, options) for one in value)[:LONGEST_VALUE] or "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())[:LONGEST_VALUE]
    texts = {choice["id"]: choice["text"] for choice in choosing.choices_of(item.data, options)}
    return str(texts.get(value, value) if isinstance(value, str) else value)[:LONGEST_VALUE]


def explanation(item: Item) -> str:
    """What the column of that name says, of the item or its document."""
    for data in (item.data, item.document.data):
        for columns in (data, data.get(UNUSED)):
            if isinstance(columns, Mapping) and isinstance(text := columns.get(EXPLANATION), str) and text.strip():
                return text.strip()[:LONGEST_EXPLANATION]
    return ""
