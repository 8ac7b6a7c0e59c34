"""Answers as workers read them: what was asked and what was said, in the words of their page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hits.domain.crowd_answers import levels_of
from hits.domain.plugins import settings_of, usable_protocol
from hits.models.projects import Item, Stage
from hits.protocols import choosing
from hits.protocols.base import Json, TaskProtocol
from hits.protocols.optional import WordedProtocol

LONGEST = 300
NOTHING = "nothing"


@dataclass(frozen=True)
class Words:
    """Those of one stage's task. `spans` are the units whose values are stretches of the text."""

    protocol: TaskProtocol | None
    options: Json
    spans: frozenset[str]

    @classmethod
    def of(cls, stage: Stage) -> Words:
        protocol = usable_protocol(stage)
        spans = frozenset(unit for unit, level in levels_of(stage).items() if level == "span")
        return cls(protocol, settings_of(stage) if protocol else stage.settings, spans)

    def asked(self, item: Item, unit: str) -> str:
        """What the unit asks; its name where the task has no other words."""
        if isinstance(self.protocol, WordedProtocol):
            return self.protocol.in_words(item.document.data, item.data, self.options, unit, None)[0] or unit
        return unit

    def said(self, item: Item, unit: str, value: Any) -> str:
        """A value as the page showed it, at most LONGEST characters."""
        if unit in self.spans:
            return _marked(value, item)[:LONGEST]
        words = ""
        if isinstance(self.protocol, WordedProtocol):
            words = self.protocol.in_words(item.document.data, item.data, self.options, unit, value)[1]
        return (words or self._plain(value, item))[:LONGEST]

    def _plain(self, value: Any, item: Item) -> str:
        """A choice by its text."""
        if isinstance(value, dict) and "text" in value:
            value = value["text"]
        if isinstance(value, list | tuple | set | frozenset):
            return "; ".join(self._plain(one, item) for one in value) or NOTHING
        if isinstance(value, dict):
            return ", ".join(f"{name} {one}" for name, one in value.items())
        texts = {choice["id"]: choice["text"] for choice in choosing.choices_of(item.data, self.options)}
        return str(texts.get(value, value) if isinstance(value, str) else value)


def _marked(value: Any, item: Item) -> str:
    """Stretches of the text with their labels."""
    text = str(item.document.data.get("text", ""))
    parts = [(one["start"], one["end"], one["label"]) if isinstance(one, dict) else tuple(one[:3]) for one in value]
    return "; ".join(f"{text[start:end]} ({label})" for start, end, label in parts) or NOTHING
