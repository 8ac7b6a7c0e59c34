"""A seeded crowd of which some answer badly: who is blocked, after how many answers and at what cost.

All steps are the real verbs on a real database; the marketplace is one in memory.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from hits import tasks
from hits.items.verbs import importing
from hits.models import Assignment, Block, Hit, Item, Label, Stage, WorkerStat
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.stages.verbs import stage_settings, task_settings
from hits.stats.blocking import AGREEMENT, KNOWN_ANSWERS, Policy, Tally, binomial_p_below, crowd_average
from hits.stats.majority import majority_of
from hits.workers.verbs import blocking, comparing
from tests.hits.market import VerbRefusedError
from tests.hits.stand_in import StandIn

CHOICES = ["north", "east", "south", "west"]
TASK = {"hit_title": "Which way?", "settings": {"question": "Which way does the wind blow?", "choices": CHOICES}}
# How often the workers of a kind look; otherwise they choose by chance.
KINDS = {"honest": (15, 0.9), "careless": (2, 0.35), "spammer": (3, 0.0)}
ANSWERS_A_ROUND = 10
MOST_ROUNDS = 60
Crowd = dict[str, str]


@dataclass(frozen=True)
class Setup:
    """`policy` as stages.toml writes it; empty: nobody is blocked."""

    title: str
    gold_share: float
    policy: dict[str, Any] = field(default_factory=dict)


WITH_GOLD = Setup(
    "check questions",
    0.25,
    {"measure": KNOWN_ANSWERS, "relative": True, "floor": 0.5, "check_every": 20, "min_answers": 8, "alpha": 0.01},
)
WITHOUT_GOLD = Setup(
    "agreement",
    0.0,
    {"measure": AGREEMENT, "relative": True, "floor": 0.5, "check_every": 60, "min_answers": 20, "alpha": 0.01},
)
NOBODY_BLOCKED = Setup("nobody blocked", 0.0)


@dataclass
class Outcome:
    """`blocked` is (worker, kind, answers in the stage by then); `p_values` of honest workers are the least of any
    check. Dollars are those of approved answers with their fees.
    """

    setup: Setup
    items: int
    blocked: list[tuple[str, str, int]] = field(default_factory=list)
    p_values: dict[str, float] = field(default_factory=dict)
    answers: int = 0
    check_answers: int = 0
    bought_again: int = 0
    cost: Decimal = Decimal(0)
    right: float = 0.0
    short: int = 0

    def blocked_of(self, kind: str) -> list[int]:
        return [answers for _, of, answers in self.blocked if of == kind]


def simulate(market: StandIn, setup: Setup, lead: Any, items: int, seed: int = 7) -> Outcome:
    """Within eager tasks. Each item is answered three times."""
    draw = random.Random(seed)
    stage = _stage(setup, lead, items, draw)
    crowd = {market.sign_up_worker(): kind for kind, (count, _) in KINDS.items() for _ in range(count)}
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, f"simulated-{stage.pk}", None)
    tasks.publish_batch(batch.pk)
    outcome, answered = Outcome(setup, items), Counter[tuple[str, int]]()
    for _ in range(MOST_ROUNDS):
        _answer_some(market, stage, crowd, answered, draw)
        _conclude(stage, crowd, outcome)
        if not stage.items.filter(state__in=[Item.State.OPEN, Item.State.AGAIN]).exists():
            break
    return _told(stage, outcome)


def _stage(setup: Setup, lead: Any, items: int, draw: random.Random) -> Stage:
    project = projects.create_project(f"Wind {setup.title}", "choice", Decimal(1000), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    task_settings.change_task(stage, TASK, None)
    stage_settings.change(stage, {"gold_share": setup.gold_share, "requirements": [], "quality": setup.policy}, None)
    if setup.policy:
        blocking.block_by_itself(stage, True, None)
    upload = importing.create_upload(project, "wind.csv", _file(setup, items, draw), "public", None)
    importing.import_upload(upload.pk)
    stage.refresh_from_db()
    return stage


def _file(setup: Setup, items: int, draw: random.Random) -> bytes:
    """The right answer of an item stands in its key, which workers do not see."""
    checks = items if setup.gold_share else 0
    rows = [(f"d{number}-{draw.choice(CHOICES)}", "") for number in range(items)]
    for number in range(checks):
        right = draw.choice(CHOICES)
        rows.append((f"g{number}-{right}", right))
    lines = [f"{key},The flag of hut {number} moves.,{gold}" for number, (key, gold) in enumerate(rows)]
    return ("id,text,gold\n" + "\n".join(lines) + "\n").encode()


def _answer_some(
    market: StandIn, stage: Stage, crowd: Crowd, answered: Counter[tuple[str, int]], draw: random.Random
) -> None:
    """Each worker who may answer takes some open HITs about items that are new to the worker."""
    blocks = Block.objects.in_force().filter(project=stage.project_id)
    out = set(blocks.values_list("worker__worker_id", flat=True))
    hits = list(stage.hits.filter(state=Hit.State.LIVE).select_related("item").order_by("pk"))
    for worker, kind in crowd.items():
        taken = 0
        for hit in draw.sample(hits, len(hits)) if worker not in out else []:
            if taken == ANSWERS_A_ROUND:
                break
            if answered[worker, hit.item_id]:
                continue
            try:
                market.answer(worker, hit.hit_id, choice=_choice(kind, hit.item, draw))
            except VerbRefusedError:
                continue
            answered[worker, hit.item_id] += 1
            taken += 1


def _choice(kind: str, item: Item, draw: random.Random) -> str:
    _, looks = KINDS[kind]
    return item.key.partition("-")[2] if draw.random() < looks else draw.choice(CHOICES)


def _conclude(stage: Stage, crowd: Crowd, outcome: Outcome) -> None:
    before = set(Block.objects.values_list("worker__worker_id", flat=True))
    stage.hits.filter(state=Hit.State.LIVE).update(due_at=timezone.now())
    tasks.harvest_stage(stage.pk)
    stage.refresh_from_db()
    comparing.compare_workers(stage)
    _note_p_values(stage, crowd, outcome)
    for block in Block.objects.exclude(worker__worker_id__in=before).select_related("worker"):
        count = stage.assignments.filter(worker=block.worker).count()
        outcome.blocked.append((block.worker.worker_id, crowd[block.worker.worker_id], count))


def _note_p_values(stage: Stage, crowd: Crowd, outcome: Outcome) -> None:
    if not stage.quality:
        return
    policy = Policy.from_dict(stage.quality)
    columns = ("scored", "correct") if policy.measure == KNOWN_ANSWERS else ("compared", "agreed")
    rows = WorkerStat.objects.filter(stage=stage, **{f"{columns[0]}__gte": 1})
    tallies = [Tally(*row) for row in rows.values_list("worker__worker_id", *columns)]
    for tally in tallies:
        if crowd[tally.worker] == "honest" and tally.scored >= policy.min_answers:
            p = binomial_p_below(-int(-tally.correct // 1), tally.scored, crowd_average(tallies))
            outcome.p_values[tally.worker] = min(p, outcome.p_values.get(tally.worker, 1.0))


def _told(stage: Stage, outcome: Outcome) -> Outcome:
    approved = stage.assignments.filter(state=Assignment.State.APPROVED)
    checks = approved.filter(hit__item__state=Item.State.CHECK)
    outcome.answers, outcome.check_answers = approved.count(), checks.count()
    outcome.bought_again = outcome.answers - outcome.check_answers - stage.answers * outcome.items
    outcome.cost = approved.aggregate(sum=Sum("hit__unit_cost"))["sum"] or Decimal(0)
    items = list(stage.items.exclude(state=Item.State.CHECK))
    given = _counting(items)
    outcome.right = sum(majority_of(given[item.pk]) == item.key.partition("-")[2] for item in items) / len(items)
    outcome.short = sum(len(given[item.pk]) < stage.answers for item in items)
    return outcome


def _counting(items: Sequence[Item]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {item.pk: [] for item in items}
    for item, value in Label.objects.counting().filter(item__in=items).values_list("item", "value"):
        found[item].append(value)
    return found


def table(outcomes: Iterable[Outcome]) -> str:
    """One line a setup: who was blocked after how many answers, what was bought, and what it cost."""
    head = (
        f"{'':16} {'blocked after so many answers':44} {'honest p':>9} {'answers':>8} {'checks':>7} {'again':>6} "
        f"{'cost':>8} {'right':>7}"
    )
    return "\n".join([head, *(_line(one) for one in outcomes)])


def _line(one: Outcome) -> str:
    kinds = [(kind, sorted(one.blocked_of(kind))) for kind in KINDS]
    said = "; ".join(f"{kind} {', '.join(map(str, counts))}" for kind, counts in kinds if counts) or "–"
    least = f"{min(one.p_values.values()):.3f}" if one.p_values else "–"
    return (
        f"{one.setup.title:16} {said:44} {least:>9} {one.answers:8,} {one.check_answers:7,} {one.bought_again:6,} "
        f"{one.cost:>8,.2f} {one.right:7.1%}"
    )
