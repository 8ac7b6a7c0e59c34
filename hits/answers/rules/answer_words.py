"""Answers as people read them: what was asked and what was said, in the words of the task's page.

The review, the table of answers, the feedback on practice and messages to workers all say it with these, and so do
tables over many items: agreement, confusion, values, the fields of a rule.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from django.db.models import Q

from hits.answers.models import Assignment, Label
from hits.core.jobs.failures import PASSING
from hits.items.models import Item
from hits.judging.rules.crowd_answers import levels_of
from hits.projects.rules.plugins import usable_protocol
from hits.protocols import choosing, marked
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.lines import nothing, plain
from hits.protocols.optional import Line, WordedProtocol
from hits.stages.models import Stage

log = logging.getLogger(__name__)
LONGEST = 300
# Of one answer in a list, so many characters; a line counts as its words and as many as what stands beside them.
SHOWN, BESIDE = 2000, 40
DIFFER = "Items bring answers to choose from of their own: what c1 or c2 says, each item’s page shows."
# Items in which a value has to read alike before a table of many items says it in words.
COMPARED = 5


class AskedDocument(Protocol):
    @property
    def data(self) -> Json: ...


class AskedItem(Protocol):
    """What it takes of an item to say an answer to it: an `Item`, or as much of one as a table reads."""

    @property
    def pk(self) -> int: ...

    @property
    def data(self) -> Json: ...

    @property
    def document(self) -> AskedDocument: ...


@dataclass(frozen=True)
class SaidLine:
    """A line of an answer and whether it is right by the reference; None where it was not compared with one."""

    line: Line
    is_right: bool | None


@dataclass(frozen=True)
class SaidOfItem:
    """What an answer says about one item; `item` is None where the answer is about no other one."""

    item: Item | None
    lines: tuple[SaidLine, ...]

    @property
    def asks_several(self) -> bool:
        """Whether it takes what was asked to know what is said of which."""
        return sum(not one.line.is_note for one in self.lines) > 1


@dataclass(frozen=True)
class Words:
    """Those of one stage's task."""

    stage: Stage
    protocol: TaskProtocol | None
    options: Json

    @classmethod
    def of(cls, stage: Stage) -> Words:
        protocol = usable_protocol(stage)
        return cls(stage, protocol, protocol.settings(stage.settings) if protocol else stage.settings)

    @cached_property
    def _worded(self) -> WordedProtocol | None:
        """Asked once: to compare an object with a protocol takes as long as to tell an answer."""
        return self.protocol if isinstance(self.protocol, WordedProtocol) else None

    def lines(self, item: AskedItem, said: Mapping[str, Any]) -> Sequence[Line]:
        """What an answer says about the item; `said` are the values of its labels by unit."""
        if self._worded:
            try:
                found = self._worded.in_lines(item.document.data, item.data, self.options, said)
            except PASSING:
                raise
            except Exception:
                # The answer may be older than what the task asks now: it is shown all the same.
                log.exception("The task %s does not tell an answer to item %s.", self._worded.name, item.pk)
                found = []
            if found:
                return found
        return [Line(unit, self._plain(item, unit, value), (unit,)) for unit, value in said.items()]

    def line(self, item: AskedItem, unit: str, value: Any, longest: int | None = LONGEST) -> Line:
        """What one label says, at most so many characters of it; all of it where none is given."""
        found = next((line for line in self.lines(item, {unit: value}) if unit in line.units), None)
        found = found or Line(unit, self._plain(item, unit, value), (unit,))
        return found if longest is None else replace(found, said=found.said[:longest])

    def of_answer(self, labels: Iterable[Label]) -> list[SaidOfItem]:
        """What these labels of one answer say, item by item, in the order of their rows."""
        by_item: dict[int, list[Label]] = {}
        for label in labels:
            by_item.setdefault(label.item_id, []).append(label)
        alone = len(by_item) == 1
        return [
            SaidOfItem(None if alone else own[0].item, self.of_item(own[0].item, own))
            for _, own in sorted(by_item.items())
        ]

    def of_item(self, item: Item, labels: Sequence[Label]) -> tuple[SaidLine, ...]:
        """What these labels, all of one answer and of this item, say together."""
        correct = {label.unit: label.correct for label in labels}
        lines = self.lines(item, {label.unit: label.value for label in labels})
        return tuple(SaidLine(line, _judged([correct.get(unit) for unit in line.units])) for line in lines)

    def _plain(self, item: AskedItem, unit: str, value: Any) -> str:
        """A value that the task has no words for; a choice by its text."""
        if levels_of(self.stage).get(unit) == "span":
            return marked.in_words(value, str(item.document.data.get("text", "")), {}) or nothing()
        return self.choice(item, value) if isinstance(value, str) else plain(value)

    def choice(self, item: AskedItem, value: str) -> str:
        """A choice of the item, given by its id, by its text; whatever else as it is."""
        texts = {choice["id"]: choice["text"] for choice in choosing.choices_of(item.data, self.options)}
        return str(texts.get(value, plain(value)))


class ValueWords:
    """What values read as in tables over the items of a stage, where no one item says it.

    A value has words only if it reads alike in all items: choices that each item brings itself may have one id and
    other texts in each.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @cached_property
    def _words(self) -> Words:
        return Words.of(self.stage)

    @cached_property
    def _items(self) -> list[Item]:
        return list(self.stage.items.select_related("document").order_by("pk")[:COMPARED])

    @cached_property
    def _bring_others(self) -> bool:
        """Whether items of the stage bring choices of their own which are not those of every other item."""
        first = self._items[0].data if self._items else {}
        name = next((name for name in choosing.OWN_CHOICES if first.get(name)), "")
        if not name:
            return False
        if any(item.data.get(name) != first[name] for item in self._items):
            return True
        others = ~Q(**{f"data__{name}": first[name]}) | Q(**{f"data__{name}__isnull": True})
        return self.stage.items.filter(others).exists()

    def text(self, unit: str, value: Any) -> str:
        """The value in words; as it is, where it has none that hold for all items."""
        found = self._reading(unit, value)
        return plain(value) if found is None else found

    def texts(self, unit: str, values: Iterable[Any]) -> dict[str, str]:
        """Value to words, of those values that are texts and have words of their own."""
        told = {value: self.text(unit, value) for value in values if isinstance(value, str)}
        return {value: text for value, text in told.items() if text != value}

    def differ(self, unit: str, values: Iterable[Any]) -> bool:
        """Whether items read one of these values otherwise than others do."""
        return any(self._reading(unit, value) is None for value in values)

    def asked(self, unit: str, value: Any) -> str:
        """What the task asks where a value like this is said, if it asks the same of all items; else empty."""
        found = {self._words.line(item, unit, value).asked for item in self._items} - {unit}
        return found.pop() if len(found) == 1 and not self._ask_others else ""

    @cached_property
    def _ask_others(self) -> bool:
        """Whether an item brings another question than the first one."""
        own = self._items[0].data.get("question") if self._items else None
        return bool(own) and self.stage.items.filter(~Q(data__question=own) | Q(data__question__isnull=True)).exists()

    def part(self, item: Item, group: str) -> str:
        """What a group of units of an item is called: a choice of the item by its text."""
        texts = {choice["id"]: choice["text"] for choice in choosing.choices_of(item.data, self._words.options)}
        return str(texts.get(group, group))

    def _reading(self, unit: str, value: Any) -> str | None:
        """None where it differs from item to item."""
        if not isinstance(value, str | list) or not self._items:
            return plain(value)
        readings = {self._words.line(item, unit, value).said for item in self._items}
        if len(readings) > 1:
            return None
        (said,) = readings
        if said == plain(value) or self._without_own(unit, value) == said or not self._bring_others:
            return said
        return None

    def _without_own(self, unit: str, value: Any) -> str:
        """What the task's settings alone make of the value."""
        item = self._items[0]
        data = {name: own for name, own in item.data.items() if name not in choosing.OWN_CHOICES}
        bare = Item(pk=item.pk, stage=self.stage, document=item.document, key=item.key, data=data)
        return self._words.line(bare, unit, value).said


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def beginning(lines: Iterable[SaidLine], longest: int = SHOWN) -> list[SaidLine]:
    """As many of the lines as have so many characters together, the last of them cut where it has to be."""
    found: list[SaidLine] = []
    for one in lines:
        if longest <= 0:
            break
        found.append(replace(one, line=replace(one.line, said=shortened(one.line.said, longest))))
        longest -= len(one.line.said) + BESIDE
    return found


def _judged(correct: Iterable[bool | None]) -> bool | None:
    compared = [one for one in correct if one is not None]
    return all(compared) if compared else None


def of_answers(stages: Iterable[Stage], answers: Iterable[Assignment]) -> dict[int, list[SaidOfItem]]:
    """What each of these answers, all of these stages, says, by its id. Their labels are read, with items and texts."""
    words = {stage.pk: Words.of(stage) for stage in {stage.pk: stage for stage in stages}.values()}
    return {answer.pk: words[answer.stage_id].of_answer(answer.labels.all()) for answer in answers}


def of_item(stage: Stage, item: Item, answers: Iterable[Assignment]) -> dict[int, list[SaidOfItem]]:
    """What each of these answers says about the item, by its id: their labels are of this item alone."""
    words = Words.of(stage)
    said = {answer.pk: list(answer.labels.all()) for answer in answers}
    return {pk: [SaidOfItem(None, words.of_item(item, labels))] if labels else [] for pk, labels in said.items()}
