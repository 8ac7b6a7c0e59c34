"""What the answers that count say about single items: how they split, in words, and how far they differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from hits.answers.models import Label
from hits.answers.rules.answer_words import Words
from hits.items.models import Item
from hits.judging.rules.crowd_answers import Comparison, full_unit
from hits.stages.models import Stage
from hits.stats.agreement.confusion import disagreement
from hits.stats.answers import Answers, AnswersError

SHOWN = 3
# Labels of the items of one page, at most.
MOST_LABELS = 20_000
# (unit, group) to what one answer says of it, in a form in which it can be compared.
Said = Mapping[tuple[str, str], Hashable]
_Place = tuple[str, str]


@dataclass(frozen=True)
class Votes:
    """Of the question of an item on which its answers differ most: `shown` are (value in words, answers), most first.

    `question` is empty where one thing is asked alone. `others` are the answers with another value, `of` all of them,
    and `further` the number of other questions.
    """

    question: str
    shown: tuple[tuple[str, int], ...]
    others: int
    of: int
    further: int

    def in_words(self) -> str:
        """In one line, for files."""
        told = [f"{words}: {count}" for words, count in self.shown]
        return "; ".join([*told, f"others: {self.others}"] if self.others else told)


def disagreements(levels: Mapping[str, str], given: Mapping[int, Sequence[Said]]) -> dict[int, float]:
    """Item to how far its answers differ, 0..1: of each thing asked the share of pairs of answers that say another
    value, of sets and marked spans their mean distance; the mean over all that is asked. Items of which nothing was
    answered twice are left out.
    """
    rows: dict[str, list[tuple[str, str, Hashable]]] = defaultdict(list)
    for pk, votes in given.items():
        for number, said in enumerate(votes):
            for (unit, group), value in said.items():
                rows[unit].append((f"{pk} {group}", str(number), value))
    apart: dict[int, list[float]] = defaultdict(list)
    for unit, of_unit in rows.items():
        for pk, value in _apart(of_unit, levels.get(unit, "")):
            apart[pk].append(value)
    return {pk: round(sum(values) / len(values), 6) for pk, values in apart.items()}


def _apart(rows: Sequence[tuple[str, str, Hashable]], level: str) -> list[tuple[int, float]]:
    """(item, distance of its answers) of one unit. Values of scales differ or do not: a distance in their own unit
    could not be put beside that of another question.
    """
    try:
        answers = Answers.of(rows)
        by_item, _ = disagreement(answers, level if level in ("set", "span") else "nominal")
    except AnswersError:
        return []
    pairs = zip(answers.items, by_item.tolist(), strict=True)
    return [(int(item.partition(" ")[0]), value) for item, value in pairs if not isnan(value)]


def votes_of(stage: Stage, items: Collection[Item]) -> dict[int, Votes]:
    """Item to its votes; without the items of which no answer counts that can be compared. One query, and the items'
    documents have to be there.
    """
    comparison, words = Comparison.of(stage), Words.of(stage)
    counts: dict[int, dict[_Place, Counter[Hashable]]] = defaultdict(lambda: defaultdict(Counter))
    samples: dict[tuple[_Place, Hashable], object] = {}
    labels = Label.objects.counting().filter(item__in=[item.pk for item in items]).order_by("item_id", "id")
    for pk, unit, value in labels.values_list("item_id", "unit", "value")[:MOST_LABELS]:
        if (place := comparison.place(unit, value)) is not None:
            counts[pk][place[:2]][place[2]] += 1
            samples.setdefault((place[:2], place[2]), value)
    order = {unit: number for number, unit in enumerate(comparison.levels)}
    return {item.pk: _votes(item, counts[item.pk], samples, order, words) for item in items if item.pk in counts}


def _votes(
    item: Item,
    counts: Mapping[_Place, Counter[Hashable]],
    samples: Mapping[tuple[_Place, Hashable], object],
    order: Mapping[str, int],
    words: Words,
) -> Votes:
    place = min(counts, key=lambda one: (-_differing(counts[one]), order[one[0]]))
    unit, of = full_unit(*place), counts[place]
    lines = [(words.line(item, unit, samples[place, value]), count) for value, count in of.most_common(SHOWN)]
    # Several units may tell of one question: what was marked, and how much of it.
    asked = {
        words.line(item, full_unit(*other), samples[other, next(iter(values))]).asked
        for other, values in counts.items()
    }
    return Votes(
        question=lines[0][0].asked if len(asked) > 1 else "",
        shown=tuple((line.said, count) for line, count in lines),
        others=of.total() - sum(count for _, count in lines),
        of=of.total(),
        further=len(asked) - 1,
    )


def _differing(counts: Counter[Hashable]) -> float:
    """The share of pairs of answers with different values; 0 where there is one answer."""
    n = counts.total()
    return 1 - sum(count * (count - 1) for count in counts.values()) / (n * (n - 1)) if n > 1 else 0.0
