"""People and models of a stage side by side, and how often models are wrong where they decide. Reads only.

What people say of an item is, of each unit, the value that most of its first answers give, as many as are wanted; where
two values are given equally often, they say nothing. At most LOOKED_AT items are compared, the newest, so that a page
costs the same with many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Exists, OuterRef, QuerySet, Sum

from hits.answers.models import Label
from hits.items.models import Item
from hits.judging.rules.crowd_answers import Comparison
from hits.model_assist.models import ModelAnnotator, ModelAnswer, RoutedItem, Routing
from hits.mturk import fees
from hits.stages.models import Stage
from hits.stats.audit import Estimate, Share, error_behind

LOOKED_AT = 5000
DECIDED = (Item.State.KEPT, Item.State.DROPPED)
# A unit and its group, as `Comparison.place` names them.
Place = tuple[str, str]
Said = Mapping[Place, Hashable]


@dataclass(frozen=True)
class Line:
    """One annotator: all people together, or a model. Dollars; `seconds` of one answer, people's median, a model's
    mean.

    `gold` has the labels that match a known answer. `agreement` has the answers that say of every unit what people say
    of the item; of people, what the others say. Costs are None where nobody stated them.
    """

    name: str
    answers: int
    gold: Share
    agreement: Share
    seconds: float | None
    minutes: float | None
    cost: Decimal | None
    cost_per_answer: Decimal | None
    model: ModelAnnotator | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Compared:
    """`items` were looked at, where people and a model answered; `limited`: there are more."""

    lines: tuple[Line, ...]
    items: int
    limited: bool


@dataclass(frozen=True)
class PeopleSaid:
    """Of one item and so many answers: the values, and whether they match the known answers; None where none is known
    or people are tied. `tied`: of one unit at least two values were given equally often.
    """

    values: Said
    answers: int
    tied: bool
    right: bool | None


@dataclass(frozen=True)
class Audit:
    """How often the models of routings are wrong where they agree.

    `differ`: of the audited items that people decided, those of which they say another value. `people_wrong`: of the
    items with a known answer that people decided, those of which they are wrong. `estimate` is the models' error by
    these two; None without known answers. `gold`: of the decided and audited items with a known answer, those of which
    the models are wrong. `expected`: the error that the models themselves expect, 1 less their mean confidence.
    `waiting` audited items have no answer of people yet, and in `tied` ones people say nothing.
    """

    differ: Share
    people_wrong: Share
    estimate: Estimate | None
    gold: Share
    expected: float | None
    waiting: int
    tied: int


# People's values


def people_said(stage: Stage, item_pks: Collection[int], comparison: Comparison | None = None) -> dict[int, PeopleSaid]:
    """Of those of the items that have an answer of people that counts and can be compared."""
    comparison = comparison or Comparison.of(stage)
    return {pk: _most(answers) for pk, answers in _answers(stage, item_pks, comparison).items()}


# What one answer says of a place: (value, whether it matches a known answer).
_Answer = dict[Place, tuple[Hashable, bool | None]]


def _answers(stage: Stage, item_pks: Collection[int], comparison: Comparison) -> dict[int, list[_Answer]]:
    """By item, its first answers, as many as are wanted."""
    wanted = stage.answers_at_most
    rows = Label.objects.counting().filter(item__in=item_pks).order_by("assignment__submitted_at", "id")
    found: dict[int, dict[int, _Answer]] = defaultdict(dict)
    for item, assignment, unit, value, correct in rows.values_list(
        "item_id", "assignment_id", "unit", "value", "correct"
    ).iterator(chunk_size=5000):
        of = found[item]
        if assignment not in of and len(of) == wanted:
            continue
        if (place := comparison.place(unit, value)) is not None:
            of.setdefault(assignment, {})[place[:2]] = (place[2], correct)
    return {item: list(of.values()) for item, of in found.items() if of}


def _most(answers: Sequence[_Answer]) -> PeopleSaid:
    values, tied, judged = {}, False, list[bool]()
    for place in {place for answer in answers for place in answer}:
        given = [answer[place] for answer in answers if place in answer]
        counts = Counter(value for value, _ in given).most_common(2)
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            tied = True
            continue
        values[place] = counts[0][0]
        judged += [correct for value, correct in given if value == values[place] and correct is not None][:1]
    return PeopleSaid(values, len(answers), tied, None if tied or not judged else all(judged))


def same(said: Said, people: Said) -> bool | None:
    """Whether an answer says what people say, of all units that both speak of; None where there is none."""
    common = said.keys() & people.keys()
    return all(said[place] == people[place] for place in common) if common else None


def said_by(labels: Iterable[Mapping[str, Any]], comparison: Comparison) -> Said:
    """What a model's labels say of each unit that can be compared."""
    places = (comparison.place(label["unit"], label["value"]) for label in labels)
    return {place[:2]: place[2] for place in places if place is not None}


# Side by side


def compared(stage: Stage) -> Compared:
    """People first, then the models in the order of their registration, without those that answered nothing here."""
    comparison = Comparison.of(stage)
    pks = list(_compared_items(stage).order_by("-pk").values_list("pk", flat=True)[: LOOKED_AT + 1])
    limited, pks = len(pks) > LOOKED_AT, pks[:LOOKED_AT]
    answers = _answers(stage, pks, comparison)
    people = {pk: said for pk, of in answers.items() if not (said := _most(of)).tied}
    agreed = _agreed(stage, pks, people, comparison)
    lines = [_of_people(stage, answers), *(_of_model(row, agreed) for row in _models(stage))]
    return Compared(tuple(lines), len(answers), limited)


def _compared_items(stage: Stage) -> QuerySet[Item]:
    """Items that people decided and a model answered; where no model answered, those that people decided."""
    rows = stage.items.filter(state__in=[*DECIDED, Item.State.CHECK])
    answered = ModelAnswer.objects.filter(stage=stage)
    if not answered.exists():
        return rows
    return rows.filter(Exists(answered.filter(item=OuterRef("pk"))))


def _agreed(
    stage: Stage, pks: Sequence[int], people: Mapping[int, PeopleSaid], comparison: Comparison
) -> dict[int, Share]:
    """Model to its answers that say what people say."""
    counts: dict[int, Counter[bool]] = defaultdict(Counter)
    rows = ModelAnswer.objects.filter(stage=stage, item__in=pks).values_list("annotator_id", "item_id", "labels")
    for annotator, item, labels in rows.iterator(chunk_size=2000):
        if item in people and (agrees := same(said_by(labels, comparison), people[item].values)) is not None:
            counts[annotator][agrees] += 1
    return {annotator: Share(of[True], of.total()) for annotator, of in counts.items()}


def _of_people(stage: Stage, answers: Mapping[int, Sequence[_Answer]]) -> Line:
    sums = stage.worker_stats.aggregate(
        answers=Sum("answers"), scored=Sum("scored"), correct=Sum("correct"), earned=Sum("earned"), fees=Sum("fees")
    )
    count, median = sums["answers"] or 0, stage.summary.median_seconds
    paid = (sums["earned"] or Decimal(0)) + (sums["fees"] or Decimal(0))
    return Line(
        name="People",
        answers=count,
        gold=Share(sums["correct"] or 0, sums["scored"] or 0),
        agreement=_among_people(answers),
        seconds=median,
        minutes=None if median is None else median * count / 60,
        cost=paid,
        cost_per_answer=fees.unit_cost(stage.reward, stage.answers),
    )


def _among_people(answers: Mapping[int, Sequence[_Answer]]) -> Share:
    """The answers that say what most of the others say of the item."""
    agree: Counter[bool] = Counter()
    for given in answers.values():
        for number, answer in enumerate(given):
            others = _most([*given[:number], *given[number + 1 :]])
            said = {place: value for place, (value, _) in answer.items()}
            if not others.tied and (found := same(said, others.values)) is not None:
                agree[found] += 1
    return Share(agree[True], agree.total())


def _models(stage: Stage) -> list[tuple[ModelAnnotator, dict[str, Any]]]:
    """The models that answered in the stage, with sums over their answers."""
    sums = (
        ModelAnswer.objects.filter(stage=stage)
        .values("annotator_id")
        .annotate(
            answers=Count("pk"),
            scored_sum=Sum("scored"),
            correct_sum=Sum("correct"),
            milliseconds_sum=Sum("milliseconds"),
            milliseconds_mean=Avg("milliseconds"),
            cost_sum=Sum("cost"),
            priced=Count("cost"),
            confidence_mean=Avg("confidence"),
        )
        .order_by("annotator_id")
    )
    by_pk = {row["annotator_id"]: row for row in sums}
    rows = ModelAnnotator.objects.filter(pk__in=by_pk).order_by("pk")
    return [(row, dict(by_pk[row.pk])) for row in rows]


def _of_model(found: tuple[ModelAnnotator, dict[str, Any]], agreed: Mapping[int, Share]) -> Line:
    row, sums = found
    mean, total = sums["milliseconds_mean"], sums["milliseconds_sum"]
    cost: Decimal | None = sums["cost_sum"]
    return Line(
        name=str(row),
        answers=sums["answers"],
        gold=Share(sums["correct_sum"], sums["scored_sum"]),
        agreement=agreed.get(row.pk, Share(0, 0)),
        seconds=None if mean is None else mean / 1000,
        minutes=None if total is None else total / 60_000,
        cost=cost,
        cost_per_answer=None if cost is None else cost / sums["priced"],
        model=row,
        confidence=sums["confidence_mean"],
    )


# The audit


def standing(stage: Stage) -> list[Routing]:
    """The routings of the stage by which models still decide something, oldest first."""
    deciding = RoutedItem.objects.deciding().filter(routing=OuterRef("pk"))
    return list(stage.routings.filter(Exists(deciding)).order_by("pk"))


def is_deciding(stage: Stage) -> bool:
    """Whether items were left to models a moment ago, whose verdicts are still to be written: no figure counts them as
    decided yet.
    """
    waiting = stage.items.filter(stale=True, state=Item.State.OPEN)
    return RoutedItem.objects.deciding().filter(item__in=waiting).exists()


def audit(stage: Stage, routings: Collection[Routing]) -> Audit:
    """Of these routings of the stage together."""
    comparison = Comparison.of(stage)
    rows = RoutedItem.objects.standing().filter(routing__in=[row.pk for row in routings])
    audited = list(
        rows.filter(is_audited=True).order_by("-pk").values_list("item_id", "item__state", "answer__labels")[:LOOKED_AT]
    )
    decided = {pk: labels for pk, state, labels in audited if state in DECIDED}
    said = people_said(stage, decided, comparison)
    counts: Counter[bool] = Counter()
    tied = 0
    for pk, labels in decided.items():
        agrees = None if pk not in said or said[pk].tied else same(said_by(labels, comparison), said[pk].values)
        tied += agrees is None
        counts[agrees is False] += agrees is not None
    differ, wrong = Share(counts[True], counts.total()), people_wrong(stage, comparison)
    gold = [
        (scored, correct)
        for scored, correct in rows.filter(answer__scored__gt=0)
        .order_by("-pk")
        .values_list("answer__scored", "answer__correct")[:LOOKED_AT]
    ]
    mean = rows.aggregate(mean=Avg("confidence"))["mean"]
    return Audit(
        differ=differ,
        people_wrong=wrong,
        estimate=error_behind(differ, wrong, _values(decided.values(), comparison)),
        gold=Share(sum(correct < scored for scored, correct in gold), len(gold)),
        expected=None if mean is None else 1 - mean,
        waiting=len(audited) - len(decided),
        tied=tied,
    )


def _values(labels: Iterable[Sequence[Mapping[str, Any]]], comparison: Comparison) -> int:
    """How many values the models give, at least two; where they speak of several units, wrong answers differ anyway."""
    found: dict[Place, set[Hashable]] = defaultdict(set)
    for of_item in labels:
        for place, value in said_by(of_item, comparison).items():
            found[place].add(value)
    return max(2, len(next(iter(found.values())))) if len(found) == 1 else max(2, sum(map(len, found.values())))


def people_wrong(stage: Stage, comparison: Comparison | None = None) -> Share:
    """Of the newest items with a known answer that people answered as often as is wanted, those of which they are
    wrong.

    Check questions are among them, each with its first answers, as many as an item gets.
    """
    known = Label.objects.counting().filter(item=OuterRef("pk"), correct__isnull=False)
    rows = stage.items.filter(Exists(known), state__in=[*DECIDED, Item.State.CHECK]).order_by("-pk")
    found = people_said(stage, list(rows.values_list("pk", flat=True)[:LOOKED_AT]), comparison)
    judged = [said.right for said in found.values() if said.right is not None and said.answers >= stage.answers]
    return Share(judged.count(False), len(judged))
