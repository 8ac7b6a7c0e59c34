"""What models say of the items that they decide, for the rule, for later stages and for releases. Reads only.

People win: where an answer of people counts, the models decide nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hits.answers.models import Verdict
from hits.model_assist.models import ModelAnswer, RoutedItem
from hits.protocols.base import COUNTED
from hits.recipes.source import MODEL, GivenLabel
from hits.stats.vote_rules.votes import Vote

Labels = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Decided:
    """An item that models decide: by which routing, and what they say of each unit."""

    routing: int
    answer: int
    name: str
    labels: Labels


def say(said: dict[str, str | bool | int], unit: str, value: Any, correct: bool | None) -> None:
    """Add what a label says to what a vote rule looks at."""
    if isinstance(value, bool | int) or (isinstance(value, str) and len(value) <= COUNTED):
        said[unit] = value
    if correct is not None:
        said[f"{unit}.correct"] = correct


def votes(labels: Labels, count: int) -> list[Vote]:
    """So many votes that all say this, as if every answer that is wanted did: so each rule has its own words."""
    said: dict[str, str | bool | int] = {}
    for label in labels:
        say(said, label["unit"], label["value"], label["correct"])
    first = labels[0] if labels else {"value": None, "correct": None}
    return [Vote(f"{MODEL}{n}", first["value"], first["correct"], said=said) for n in range(count)]


def of_items(item_pks: Iterable[int]) -> dict[int, Decided]:
    """Those of the items that models decide where people say nothing."""
    rows = RoutedItem.objects.deciding().filter(item__in=list(item_pks))
    columns = ("item_id", "routing_id", "answer_id", "answer__annotator__name", "answer__annotator__version")
    return {
        item: Decided(routing, answer, f"{MODEL}{name} {version}", labels)
        for item, routing, answer, name, version, labels in rows.values_list(*columns, "answer__labels")
    }


def by_models(item_pks: Collection[int]) -> set[int]:
    """Those of the items whose standing verdict is that of models."""
    standing = Verdict.objects.filter(item__in=item_pks, superseded_at=None, routing__isnull=False)
    return set(standing.values_list("item_id", flat=True))


def labels_of(item_pks: Collection[int]) -> dict[int, tuple[GivenLabel, ...]]:
    """What the models say, of the items whose standing verdict is theirs; the name begins with `MODEL`."""
    found = of_items(pks) if (pks := by_models(item_pks)) else {}
    return {
        pk: tuple(
            GivenLabel(one.name, f"{MODEL}{one.answer}", label["unit"], label["value"], label["correct"])
            for label in one.labels
        )
        for pk, one in found.items()
    }


def answers_by_item(item_pks: Collection[int]) -> dict[int, list[ModelAnswer]]:
    """Every answer of a model to these items, oldest first, with its model."""
    found: dict[int, list[ModelAnswer]] = {}
    for row in ModelAnswer.objects.filter(item__in=item_pks).select_related("annotator").order_by("pk"):
        found.setdefault(row.item_id, []).append(row)
    return found
