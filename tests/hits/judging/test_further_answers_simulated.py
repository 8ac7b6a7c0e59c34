"""A simulated crowd answers the same items with five answers each, and with two to seven until there are enough.

`python -m tests.benchmarks.further_answers` does it with more items and prints the table.
"""

import os
import random
from dataclasses import dataclass
from decimal import Decimal

import pytest

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing
from hits.judging.rules import stage_statistics
from hits.judging.verbs import computing, deciding, scoring
from hits.models import Hit, Stage
from hits.payments.verbs import checking_ledger
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending, topping_up
from hits.stages.verbs import aggregation_rule, stage_settings, task_settings

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = int(os.environ.get("FURTHER_ITEMS", "16"))
# Those by whose confidence an item has enough.
METHODS = os.environ.get("FURTHER_METHODS", "glad").split()
WORKERS = 16
CHOICES = ["yes", "no", "unsure"]
VOTED = "".join(f"is-{choice}: most choice = {choice}\n" for choice in CHOICES) + "otherwise: drop\n"
COMPUTED = "".join(f"is-{choice}: aggregate choice = {choice}\n" for choice in CHOICES) + "otherwise: drop\n"


@dataclass(frozen=True)
class Collected:
    """`accuracy` is the share of items whose conclusion is the truth, `answers` are all that came, money in dollars."""

    name: str
    accuracy: float
    answers: int
    paid: Decimal
    quoted: Decimal


@dataclass(frozen=True)
class Crowd:
    """Workers by id with the probability of a right answer; what one says of an item is always the same."""

    accuracy: dict[str, float]
    truth: dict[str, str]

    def says(self, worker: str, number: int, item: str) -> str:
        draw = random.Random(f"{number} {item}")
        right = draw.random() < self.accuracy[worker]
        return self.truth[item] if right else draw.choice([one for one in CHOICES if one != self.truth[item]])


@pytest.fixture
def crowd(market):
    draw = random.Random(11)
    workers = {market.sign_up_worker(): draw.uniform(0.6, 0.95) for _ in range(WORKERS)}
    return Crowd(workers, {f"n{number}": draw.choice(CHOICES) for number in range(ITEMS)})


def collect(name, lead, market, crowd, settings, rule=VOTED, method="majority"):
    project = projects.create_project(name, "choice", Decimal("500.00"), "lab@example.org", lead, seed=3)
    rows = "".join(f"{key},Note {key} says it.\n" for key in crowd.truth)
    upload = importing.create_upload(project, "notes.csv", f"id,text\n{rows}".encode(), "public", None)
    importing.import_upload(upload.pk)
    stage = project.stages.get()
    task = {"question": "Is it so?", "choices": CHOICES, "shuffle": False}
    task_settings.change_task(stage, {"hit_title": name, "settings": task}, None)
    Stage.objects.filter(pk=stage.pk).update(requirements=[])
    stage_settings.change(Stage.objects.get(pk=stage.pk), settings, None)
    stage = Stage.objects.get(pk=stage.pk)
    aggregation_rule.save(stage, aggregation_rule.written(stage, rule), stage.rule_edition, "", None)
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, name, None).pk)
    stage = Stage.objects.select_related("project__account", "summary").get(pk=stage.pk)
    answer_all(stage, market, crowd, quote.total, method)
    stage.project.account.refresh_from_db()
    right = sum(item.conclusion == f"is-{crowd.truth[item.key]}" for item in stage.items.all())
    assert checking_ledger.check(project, None, deep=True).faults == []
    return Collected(name, right / ITEMS, stage.assignments.count(), project.account.sums()[1], quote.total)


def answer_all(stage, market, crowd, quoted, method):
    """Each HIT is answered by the workers in an order of its item's own, as many as it has places."""
    account = stage.project.account
    while (live := list(stage.hits.filter(state=Hit.State.LIVE).select_related("item"))) or _waits(stage):
        for hit in live:
            order = random.Random(hit.item.key).sample(list(crowd.accuracy), WORKERS)
            for worker in order[hit.harvested : hit.max_assignments]:
                number = list(crowd.accuracy).index(worker)
                market.answer(worker, hit.hit_id, choice=crowd.says(worker, number, hit.item.key))
        harvesting.harvest(stage)
        scoring.score(stage)
        reviewing.finish(stage)
        deciding.decide(stage)
        if _waits(stage):
            params = {"method": method}
            computing.run(computing.start(stage.project, stage_statistics.key_of(stage), params, None).pk)
            deciding.decide(stage)
        if batch := topping_up.top_up(stage):
            sending.send(batch.pk)
        account.refresh_from_db()
        assert account.reserved + account.paid <= quoted


def _waits(stage):
    return stage.items.filter(waits_for_values=True).exists()


def test_the_same_crowd_is_as_right_for_less_money_when_easy_items_get_fewer_answers(lead, market, crowd):
    growing = {"answers": 2, "most_answers": 7}
    plans = {
        "5 for every item": {"answers": 5},
        "2 to 7, until 2 agree": {**growing, "enough": "at least 2 agree on choice"},
        "2 to 7, until 3 agree": {**growing, "enough": "at least 3 agree on choice"},
    }
    rows = [collect(name, lead, market, crowd, settings) for name, settings in plans.items()]
    sure = {**growing, "enough": "confidence choice >= 0.95"}
    for method in METHODS:
        rows.append(collect(f"2 to 7, until 0.95 sure by {method}", lead, market, crowd, sure, COMPUTED, method))
    print(f"\n{ITEMS} items, {WORKERS} workers who are right with 0.60 to 0.95, three choices, $0.06 an answer")
    print(f"{'answers an item':36} {'right':>8} {'answers':>8} {'paid':>9} {'quoted at most':>15}")
    for row in rows:
        print(f"{row.name:36} {row.accuracy:8.1%} {row.answers:8,} {row.paid:9,.2f} {row.quoted:15,.2f}")
    fixed, two, three, *sure = rows
    assert fixed.answers == 5 * ITEMS and fixed.paid == fixed.quoted
    assert two.paid < three.paid < fixed.paid and all(row.paid < row.quoted for row in sure)
    assert all(row.paid == row.answers * Decimal("0.06") <= row.quoted for row in rows)
    # Until three agree is a vote of five that ends early, and goes on where five do not agree.
    assert three.accuracy >= fixed.accuracy - 0.05
