"""The same simulated crowd answers all items, and only those of which a model is not sure: dollars and error of both.

`python -m tests.benchmarks.routing` does it with 1,000 items and prints the table.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.answers.verbs import harvesting
from hits.items.verbs import importing
from hits.judging.rules.required_answers import chunks
from hits.judging.verbs import deciding, scoring
from hits.model_assist.rules import model_agreement, model_votes
from hits.model_assist.verbs import routing
from hits.models import Stage
from hits.payments.verbs import checking_ledger
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.stages.verbs import task_settings
from hits.stats.audit import Share
from tests.hits.market import Marketplace
from tests.hits.models_that_answer import registered

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = int(os.environ.get("ROUTING_ITEMS", "60"))
WORKERS, ACCURACY = 12, 0.8
CHOICES = ("yes", "no")
# Of the model: how sure it is, and how often. It is right as often as it says: 0.6 * 0.99 + 0.2 * (0.9 + 0.63) = 0.9.
SURE = ((0.99, 0.6), (0.9, 0.2), (0.63, 0.2))
CONFIDENCE, AUDIT = 0.9, 0.15
# A worker holds no more HITs at a time.
IN_HAND = 25


@dataclass(frozen=True)
class World:
    """What is true of each item by its key, what the model says of it, and who works. Each fifth item has gold."""

    truth: dict[str, str]
    model: dict[str, tuple[str, float]]
    workers: list[str]

    def says(self, worker: str, key: str) -> str:
        """Each worker is right with the same probability, and says the same of an item in both plans."""
        right = random.Random(f"{self.workers.index(worker)} {key}").random() < ACCURACY
        return self.truth[key] if right else _other(self.truth[key])


def _other(choice: str) -> str:
    return CHOICES[1 - CHOICES.index(choice)]


@pytest.fixture
def simulated(market: Marketplace) -> World:
    draw = random.Random(17)
    truth = {f"n{number}": draw.choice(CHOICES) for number in range(ITEMS)}
    model = {}
    for key, right in truth.items():
        (sure,) = draw.choices([one for one, _ in SURE], [share for _, share in SURE])
        model[key] = (right if draw.random() < sure else _other(right), sure)
    return World(truth, model, [market.sign_up_worker() for _ in range(WORKERS)])


@dataclass(frozen=True)
class Plan:
    """`error` is the share of all items with a wrong value; ties are half wrong."""

    name: str
    stage: Stage
    paid: Decimal
    answers: int
    error: float


def collected(name: str, lead: Any, market: Marketplace, world: World, *, routed: bool) -> Plan:
    project = projects.create_project(name, "choice", Decimal("900.00"), "lab@example.org", lead, seed=3)
    rows = "".join(
        f"{key},Note {key} says it.,{'' if number % 5 else right}\n"
        for number, (key, right) in enumerate(world.truth.items())
    )
    upload = importing.create_upload(project, "notes.csv", f"id,text,gold\n{rows}".encode(), "public", None)
    stage = project.stages.get()
    task = {"question": "Is it so?", "choices": list(CHOICES), "shuffle": False}
    task_settings.change_task(stage, {"hit_title": name, "settings": task}, None)
    # Whoever works has no history yet, and the marketplace pays at once.
    Stage.objects.filter(pk=stage.pk).update(requirements=[], auto_approval_seconds=0)
    importing.import_upload(upload.pk)
    stage = Stage.objects.select_related("project__account", "summary").get(pk=stage.pk)
    if routed:
        _route(stage, world)
    _ask_people(stage, market, world)
    stage.project.account.refresh_from_db()
    assert checking_ledger.check(project, None, deep=True).faults == []
    return Plan(name, stage, project.account.sums()[1], stage.assignments.count(), _error(stage, world))


def _route(stage: Stage, world: World) -> None:
    """The model answers through its API; then a lead lets it decide."""
    row, token = registered(stage.project, "calibrated", "1", Decimal("0.001"))
    client = APIClient(headers={"Authorization": f"Model {token}"})
    address = f"/api/model/stages/{stage.key}"
    while items := client.post(f"{address}/items/", {"count": 100}, format="json").json()["items"]:
        answers = [
            {
                "item": one["id"],
                "fields": {"choice": world.model[one["key"]][0]},
                "confidence": world.model[one["key"]][1],
            }
            for one in items
        ]
        assert client.post(f"{address}/answers/", {"answers": answers}, format="json").status_code == 200
    condition = routing.Condition((row.pk,), 1, CONFIDENCE, AUDIT)
    found = routing.preview(stage, condition)
    routing.route(stage, condition, found.decided, found.saved, None)
    deciding.decide(stage)


def _ask_people(stage: Stage, market: Marketplace, world: World) -> None:
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, stage.project.name, None).pk)
    # Its HIT type is there now.
    stage.refresh_from_db()
    hits = list(stage.hits.select_related("item"))
    given: dict[str, dict[str, str]] = {worker: {} for worker in world.workers}
    for hit in hits:
        key = hit.item.key
        for worker in random.Random(key).sample(world.workers, hit.max_assignments):
            given[worker][str(hit.hit_id)] = world.says(worker, key)
    for worker, answers in given.items():
        for some in chunks(list(answers), IN_HAND):
            held = market.do("accept_many", worker_id=worker, hit_ids=some)
            sent = {held[hit]: {"choice": answers[hit]} for hit in some}
            market.do("submit_many", worker_id=worker, answers=sent)
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def _error(stage: Stage, world: World) -> float:
    rows = dict(stage.items.values_list("pk", "key"))
    people = model_agreement.people_said(stage, list(rows))
    models = model_votes.labels_of(list(rows))
    wrong = 0.0
    for pk, key in rows.items():
        if pk in models:
            wrong += models[pk][0].value != world.truth[key]
        else:
            wrong += 0.5 if people[pk].tied else people[pk].values["choice", ""] != world.truth[key]
    return wrong / len(rows)


def true_error(stage: Stage, world: World) -> float:
    """Of the items that the model decided."""
    rows = dict(stage.items.values_list("pk", "key"))
    found = model_votes.labels_of(list(rows))
    return sum(labels[0].value != world.truth[rows[pk]] for pk, labels in found.items()) / len(found)


def _told(share: Share) -> str:
    return f"{share.count} of {share.of} ({share.low:.1%} to {share.high:.1%})"


def test_a_calibrated_model_saves_money_and_the_audit_holds_its_error(
    lead: Any, market: Marketplace, simulated: World
) -> None:
    alone = collected("People alone", lead, market, simulated, routed=False)
    both = collected("People and a model", lead, market, simulated, routed=True)
    (row,) = both.stage.routings.all()
    audit = model_agreement.audit(both.stage, [row])
    right = sum(said == simulated.truth[key] for key, (said, _) in simulated.model.items())
    told, error = audit.estimate, true_error(both.stage, simulated)
    assert told
    print(f"\n{ITEMS} items with two choices, three answers each by a crowd that is right with {ACCURACY:.0%};")
    print(f"a model that is right on {right / ITEMS:.1%}, and decides from a confidence of {CONFIDENCE} on")
    print(f"{'':20} {'wrong':>8} {'answers':>9} {'paid':>9}")
    for plan in (alone, both):
        print(f"{plan.name:20} {plan.error:8.1%} {plan.answers:9,} {plan.paid:9,.2f}")
    print(f"The model decided {row.decided:,} items, saved ${row.saved:,.2f} and is wrong on {error:.1%} of them.")
    print(f"Audit: people differ on {_told(audit.differ)}, and are wrong on {_told(audit.people_wrong)} known ones.")
    print(f"Error by that: {told.value:.1%} ({told.low:.1%} to {told.high:.1%}); it expects {audit.expected:.1%}.")
    assert told.low <= error <= told.high
    assert alone.paid - both.paid == row.saved > 0
    assert audit.differ.of == row.audited and audit.waiting == 0
    assert both.error < alone.error
