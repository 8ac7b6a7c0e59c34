"""Items of stages with an `input` of their own: rows of columns, made of what an earlier stage kept.

A row holds the columns of the document and of the item that it is made of, and what was said about that item, each as
`stage.unit`, such as `write.title`. Of several answers to an item it is the value given most often, and nothing in a
tie; of written texts, which are hardly ever equal, it is the one where there is one.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hits.recipes.sampling import sample
from hits.recipes.source import AUTHOR, UNUSED, Collected, GivenLabel, Json, JudgedItem, NextItem
from hits.stats.majority import majority_of
from hits.text.cells import as_text

ITEM, ANSWER = "item", "answer"
# Taken from the stage when this one is added: nothing is made of what is kept there.
KNOWN = "known"
# Letters of the name of an answer that the key of its item ends with.
_NAMED = 8


def items_for(stage: str, each: str, item: JudgedItem) -> Iterator[NextItem]:
    """The items of `stage` that a kept item leads to, one or one an answer; none of an item that is not kept.

    An item of an answer is taken back when that answer stops counting.
    """
    if item.outcome != "kept" or each == KNOWN:
        return
    if each == ITEM:
        yield NextItem(stage, item.key, _row(item, item.labels))
        return
    answers: dict[str, list[GivenLabel]] = defaultdict(list)
    for label in item.labels:
        answers[label.assignment].append(label)
    for assignment, labels in answers.items():
        name = hashlib.sha256(assignment.encode()).hexdigest()[:_NAMED]
        yield NextItem(stage, f"{item.key}-{name}", _row(item, labels), source=assignment)


def drawn(stage: str, each: str, of: str, collected: Collected, count: int) -> list[NextItem]:
    """At most `count` of all items that the kept items of the stage `of` lead to: the same for the same seed."""

    def all_of_them() -> Iterator[NextItem]:
        for item in collected.judged(of, labels=True):
            for made in items_for(stage, each, item):
                yield replace(made, parent=(of, item.key))

    # Read twice, so that only what is drawn is held in memory.
    keys = sample((made.key for made in all_of_them()), count, f"{collected.seed} {stage}")
    wanted = set(keys)
    found = {made.key: made for made in all_of_them() if made.key in wanted}
    return [found[key] for key in keys if key in found]


def _row(item: JudgedItem, labels: Sequence[GivenLabel]) -> Json:
    return {UNUSED: {**_columns(item.document), **_columns(item.data), **_said(item.stage, labels)}}


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    """The texts and numbers of a document or an item, and the columns that it keeps; no worker's id."""
    own = {name: value for name, value in data.items() if type(value) in (str, int, float) and name != AUTHOR}
    kept = data.get(UNUSED)
    return own | (kept if isinstance(kept, dict) else {})


def _said(stage: str, labels: Sequence[GivenLabel]) -> dict[str, str]:
    values: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        values[label.unit].append(_spelled(label.value))
    most = {f"{stage}.{unit}": majority_of(given) for unit, given in values.items()}
    return {column: value for column, value in most.items() if value is not None}


def _spelled(value: Any) -> str:
    """A value as workers read it: the text of a written one, anything else but a text as JSON."""
    if isinstance(value, dict) and isinstance(text := value.get("text"), str):
        return text
    return as_text(value)
