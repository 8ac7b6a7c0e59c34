"""What blocks take away and what undoing one gives back: answers that count, and money for those in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Q, QuerySet

from hits.answers.models import Assignment, Label
from hits.answers.rules import eligibility
from hits.items.models import Item
from hits.judging.rules.required_answers import answers_counted, chunks
from hits.mturk import fees
from hits.projects.models import Project
from hits.publishing.models import Hit
from hits.publishing.rules.excess_hits import excess, free_places, with_coming
from hits.publishing.rules.hit_items import by_item, hits_of, item_pks, without_hit
from hits.stages.models import Stage
from hits.workers.models import Worker

# Why an answer may be held that counts again when its worker's block is undone.
FREE = ("", eligibility.Cause.BLOCKED.value)


@dataclass(frozen=True)
class Loss:
    """`answers` stop counting; at most `replacements` are bought for them, for at most `cost` dollars.

    Fewer are bought where an item's other answers are enough for its verdict.
    """

    answers: int
    replacements: int
    cost: Decimal


def loss(project: Project, worker_ids: Iterable[str]) -> Loss:
    """Of these workers together, over all stages of the project: their labels stop counting in each of them."""
    ids = list(worker_ids)
    answers, replacements, cost = 0, 0, Decimal(0)
    for stage in project.stages.all():
        lost = _workers_by_item(_counting(stage).filter(worker__worker_id__in=ids))
        if lost:
            again = _to_buy(stage, _asked_here(_without_checks(lost)), ids)
            answers, replacements = answers + lost.total(), replacements + again.total()
            cost += _price(stage, again)
    return Loss(answers, replacements, cost)


def answers_of(project: Project, worker_ids: Iterable[str]) -> Counter[str]:
    """Worker to the answers of that worker that count now."""
    rows = Label.objects.of_counting_answers().filter(stage__project=project, worker__worker_id__in=list(worker_ids))
    return Counter(worker for worker, _ in rows.order_by().values_list("worker__worker_id", "assignment").distinct())


@dataclass(frozen=True)
class Return:
    """`answers` count again; `hits` with `places` that nobody took are closed, which releases at most `released` $.

    A place that somebody has accepted by then stays reserved until it is submitted or given back.
    """

    answers: int
    hits: int
    places: int
    released: Decimal


def restored(project: Project, worker: Worker) -> Return:
    """What follows when this worker's answers count again: not those that were rejected, have a problem or are held
    for another reason."""
    answers, by_hit = 0, dict[int, Hit]()
    for stage in project.stages.all():
        back = Label.objects.filter(stage=stage, worker=worker, void=True, assignment__problem="")
        back = back.exclude(assignment__state=Assignment.State.REJECTED)
        items = _workers_by_item(back.filter(Q(assignment__held_for__in=FREE) | Q(assignment__admitted=True)))
        answers += items.total()
        by_hit |= {hit.pk: hit for hit in _closed(stage, items)}
    closed = list(by_hit.values())
    places = sum(free_places(hit) for hit in closed)
    return Return(answers, len(closed), places, sum((hit.unit_cost * free_places(hit) for hit in closed), Decimal(0)))


def _closed(stage: Stage, back: Counter[int]) -> Iterator[Hit]:
    counted = answers_counted(list(back))
    for some in chunks(list(_without_checks(back))):
        hits = list(with_coming(hits_of(some)))
        asked = item_pks(hits)
        # Where answers can grow: the least number, for what they say together may settle it.
        needed = {item: max(0, stage.answers - counted[item] - back[item]) for item in some}
        spare = excess(by_item(hits, some), needed)
        # One that asks about an item that gets nothing back is wanted.
        yield from (hit for hit in hits if hit.pk in spare and back.keys() >= set(asked[hit.pk]))


def _without_checks(lost: Counter[int]) -> Counter[int]:
    """Answers to check questions are not bought again."""
    checks: set[int] = set()
    for some in chunks(list(lost)):
        checks.update(Item.objects.filter(pk__in=some, state=Item.State.CHECK).values_list("pk", flat=True))
    return Counter({pk: count for pk, count in lost.items() if pk not in checks})


def _asked_here(lost: Counter[int]) -> Counter[int]:
    """An item that only imported answers judged waits for a lead, who may publish it: nothing is bought by itself."""
    alone: set[int] = set()
    for some in chunks(list(lost)):
        alone.update(without_hit(Item.objects.filter(pk__in=some)).values_list("pk", flat=True))
    return Counter({pk: count for pk, count in lost.items() if pk not in alone})


def _counting(stage: Stage) -> QuerySet[Label]:
    return Label.objects.of_counting_answers().filter(stage=stage)


def _workers_by_item(labels: QuerySet[Label]) -> Counter[int]:
    """Item to how many workers these labels are by. An answer can have many labels."""
    return Counter(item for item, _ in labels.order_by().values_list("item", "worker").distinct())


def _to_buy(stage: Stage, lost: Counter[int], worker_ids: list[str]) -> Counter[int]:
    """Item to the answers that are bought for it at most: where they can grow, the others may come to disagree."""
    left: Counter[int] = Counter()
    for some in chunks(list(lost)):
        left += _workers_by_item(_counting(stage).filter(item__in=some).exclude(worker__worker_id__in=worker_ids))
    missing = {item: max(0, stage.answers_at_most - left[item]) for item in lost}
    if stage.most_answers is None:
        missing = {item: min(lost[item], number) for item, number in missing.items()}
    return Counter(missing)


def _price(stage: Stage, again: Counter[int]) -> Decimal:
    """Dollars for them: ten answers of one item or more may be bought in one HIT, whose fee is higher."""
    units = {number: fees.unit_cost(stage.reward, max(stage.answers, number)) for number in set(again.values())}
    return sum((units[number] * number for number in again.values()), Decimal(0))
