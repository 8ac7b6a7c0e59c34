"""What a worker said beside the values that were computed for the items: which labels they take for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hits.answers.rules.answer_words import ValueWords
from hits.judging.rules import stage_statistics
from hits.judging.rules.crowd_answers import Comparison
from hits.models import Label, Stage, Worker
from hits.protocols.lines import plain
from hits.stats.agreement.confusion import MOST_LABELS

# Labels that are read, the newest ones.
NEWEST = 5000
LEVELS = ("nominal", "ordinal")


@dataclass(frozen=True)
class Confusion:
    """`table[i][j]`: how often the worker said `labels[j]` of an item whose value is `labels[i]`; `same` of `items` are
    on the diagonal. `left_out` answers have a rarer label. `texts` are what labels that are keys read as; without those
    that read otherwise from item to item, where `differ` says so.
    """

    unit: str
    labels: tuple[Any, ...]
    table: tuple[tuple[int, ...], ...]
    same: int
    items: int
    left_out: int
    texts: Mapping[str, str]
    differ: bool

    @property
    def read(self) -> list[str]:
        """The labels as people read them."""
        return [
            self.texts.get(label, plain(label)) if isinstance(label, str) else plain(label) for label in self.labels
        ]


def of_worker(stage: Stage, worker: Worker) -> list[Confusion]:
    """One for each unit with labels, by the newest computation of agreement; empty where none has run. Six queries.

    The values are made of all answers that count, the worker's own among them. An item without a value, as after a tie
    of the majority, is left out.
    """
    run = stage_statistics.newest(stage)
    if run is None:
        return []
    own = Label.objects.evidence().filter(stage=stage, worker=worker).order_by("-id")
    labels = list(own.values_list("item", "unit", "value")[:NEWEST])
    values = dict(run.concluded.filter(item__in={item for item, _, _ in labels}).values_list("item", "data"))
    comparison = Comparison.of(stage)
    counts: dict[str, Counter[tuple[Any, Any]]] = {}
    for item, unit, value in labels:
        place = comparison.place(unit, value)
        if place is None or comparison.levels[place[0]] not in LEVELS or isinstance(place[2], tuple):
            continue
        found = values.get(item, {}).get("units", {}).get(unit, {}).get("value")
        if found is not None:
            counts.setdefault(place[0], Counter())[found, place[2]] += 1
    words = ValueWords(stage)
    return [_table(unit, counts[unit], words) for unit in comparison.levels if unit in counts]


def _table(unit: str, counts: Counter[tuple[Any, Any]], words: ValueWords) -> Confusion:
    often: Counter[Any] = Counter()
    for pair, n in counts.items():
        for label in pair:
            often[label] += n
    labels = tuple(sorted((label for label, _ in often.most_common(MOST_LABELS)), key=str))
    table = tuple(tuple(counts[value, said] for said in labels) for value in labels)
    same = sum(n for (value, said), n in counts.items() if value == said)
    return Confusion(
        unit,
        labels,
        table,
        same,
        counts.total(),
        counts.total() - sum(map(sum, table)),
        words.texts(unit, labels),
        words.differ(unit, labels),
    )
