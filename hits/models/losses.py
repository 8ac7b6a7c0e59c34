"""What blocks would take away: answers that stop counting, and what buying them again costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from hits.models.answers import Label
from hits.models.needs import chunks
from hits.models.projects import Project, Stage
from hits.mturk import fees


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
            again = _to_buy(stage, lost, ids)
            answers, replacements = answers + lost.total(), replacements + again
            cost += fees.unit_cost(stage.reward, stage.answers) * again
    return Loss(answers, replacements, cost)


def answers_of(project: Project, worker_ids: Iterable[str]) -> Counter[str]:
    """Worker to the answers of that worker that count now."""
    rows = Label.objects.of_counting_answers().filter(stage__project=project, worker__worker_id__in=list(worker_ids))
    return Counter(worker for worker, _ in rows.order_by().values_list("worker__worker_id", "assignment").distinct())


def _counting(stage: Stage) -> QuerySet[Label]:
    return Label.objects.of_counting_answers().filter(stage=stage)


def _workers_by_item(labels: QuerySet[Label]) -> Counter[int]:
    """Item to how many workers these labels are by. An answer can have many labels."""
    return Counter(item for item, _ in labels.order_by().values_list("item", "worker").distinct())


def _to_buy(stage: Stage, lost: Counter[int], worker_ids: list[str]) -> int:
    left: Counter[int] = Counter()
    for some in chunks(list(lost)):
        left += _workers_by_item(_counting(stage).filter(item__in=some).exclude(worker__worker_id__in=worker_ids))
    return sum(min(count, max(0, stage.answers - left[item])) for item, count in lost.items())
