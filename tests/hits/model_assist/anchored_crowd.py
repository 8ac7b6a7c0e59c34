"""A seeded crowd that follows a model's suggestions in a share of its doubts: what the report of the stage finds.

All steps are the real verbs on a real database; the marketplace is one in memory. Each worker reads the
suggestion from the page that is served to them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils import timezone

from hits import tasks
from hits.answers.rules.task_pages import page_of
from hits.answers.verbs import harvesting
from hits.items.verbs import importing
from hits.judging.verbs import scoring
from hits.model_assist.rules.anchoring import Report, report
from hits.models import Hit, Stage
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing
from hits.stages.verbs import stage_settings, task_settings
from tests.hits.stand_in import StandIn

CHOICES = ["north", "east", "south", "west"]
TASK = {"hit_title": "Which way?", "settings": {"question": "Which way does the wind blow?", "choices": CHOICES}}
# Whoever is in doubt guesses among the four.
DOUBTS = 0.5
# Of the suggestions.
RIGHT = 0.8


@dataclass(frozen=True)
class Setup:
    """`follows` is the share of doubts in which a suggestion that is in sight is taken."""

    follows: float
    items: int = 200
    workers: int = 30
    answers: int = 9
    seed: int = 7


@dataclass
class Outcome:
    """What the crowd did: `disagreeing` answers would not agree with the suggestion out of sight, by whether that is
    right, and `would_follow` of them would since it is in sight.
    """

    found: Report
    disagreeing: Counter[bool] = field(default_factory=Counter)
    would_follow: Counter[bool] = field(default_factory=Counter)
    seen: Counter[bool] = field(default_factory=Counter)

    @property
    def share_that_follows(self) -> float:
        return self.would_follow.total() / self.disagreeing.total()


def simulate(market: StandIn, setup: Setup, lead: Any) -> Outcome:
    """Within eager tasks."""
    draw = random.Random(setup.seed)
    stage = _stage(setup, lead, draw)
    crowd = [market.sign_up_worker() for _ in range(setup.workers)]
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, f"simulated-{stage.pk}", None)
    tasks.publish_batch(batch.pk)
    stage.refresh_from_db()
    outcome = Outcome(report(stage))
    for hit in (
        stage.hits.filter(state=Hit.State.LIVE).select_related("item__document", "stage__project").order_by("pk")
    ):
        for worker in draw.sample(crowd, setup.answers):
            market.answer(worker, hit.hit_id, choice=_choice(setup, hit, worker, draw, outcome))
    stage.hits.update(due_at=timezone.now())
    harvesting.harvest(stage)
    scoring.score(stage)
    outcome.found = report(stage)
    return outcome


def _stage(setup: Setup, lead: Any, draw: random.Random) -> Stage:
    project = projects.create_project(
        f"Wind {setup.follows} {setup.seed}", "choice", Decimal(10_000), "lab@example.org", lead, seed=setup.seed
    )
    stage = project.stages.get()
    task_settings.change_task(stage, TASK, None)
    terms = {"requirements": [], "quality": {}, "answers": setup.answers, "suggestions": "half"}
    stage_settings.change(stage, terms, None, confirmed={"answers": setup.answers})
    upload = importing.create_upload(project, "wind.csv", _file(setup.items, draw), "public", None)
    importing.import_upload(upload.pk)
    stage.refresh_from_db()
    return stage


def _file(items: int, draw: random.Random) -> bytes:
    lines = []
    for number in range(items):
        right = draw.choice(CHOICES)
        proposed = right if draw.random() < RIGHT else draw.choice([one for one in CHOICES if one != right])
        lines.append(f"d{number},The flag of hut {number} moves.,{right},{proposed},0.{draw.randrange(10)},windy-2")
    head = "id,text,gold,suggestion:choice,suggestion_score:choice,suggestion_model"
    return "\n".join([head, *lines, ""]).encode()


def _choice(setup: Setup, hit: Hit, worker: str, draw: random.Random, outcome: Outcome) -> str:
    """What the worker posts: the choice's id is its text here."""
    shown = page_of(hit, hit.item, worker_id=worker).suggestions
    right, proposed = hit.item.data["gold"][0], hit.item.suggestions.get().value
    doubts, follows = draw.random() < DOUBTS, draw.random() < setup.follows
    own = draw.choice(CHOICES) if doubts else right
    if own != proposed:
        outcome.disagreeing[proposed == right] += 1
        outcome.would_follow[proposed == right] += doubts and follows
    outcome.seen[bool(shown)] += 1
    # In sight are the words of the choice.
    return shown["choice"] if shown and doubts and follows else own


def table(outcomes: Iterable[tuple[Setup, Outcome]]) -> str:
    """One line a setup and kind of suggestions: what the workers did, and what the report says of it."""
    lines = [f"{'follow in doubt':>15} {'suggestions':12} {'did':>6} {'estimate':>9} {'95 % interval':>18} claimed"]
    for setup, outcome in outcomes:
        for line in outcome.found.fields[0].lines:
            kinds = {"all": (True, False), "right": (True,), "wrong": (False,)}[line.kind]
            did = sum(outcome.would_follow[kind] for kind in kinds) / sum(outcome.disagreeing[kind] for kind in kinds)
            found = line.found
            assert found.followed is not None and found.followed_interval
            interval = f"{found.followed_interval.low:.1%} to {found.followed_interval.high:.1%}"
            claimed = "yes" if found.is_followed else "no"
            lines.append(
                f"{setup.follows:15.0%} {line.kind:12} {did:6.1%} {found.followed:9.1%} {interval:>18} {claimed}"
            )
    return "\n".join(lines)
