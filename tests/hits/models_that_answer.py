"""A stage with one question of two answers, people and models who answer it: straight into the tables."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from hits.accounts.models import token_digest
from hits.model_assist.verbs import model_answering
from hits.models import Item, ModelAnnotator, ModelAnswer, Project, Stage, Worker
from tests.hits import factories as make
from tests.hits.doing import do

SETTINGS = {"question": "Is it good?", "choices": ["Yes", "No"], "min_seconds": 0}


def measured(answers: int = 3) -> dict[str, Any]:
    return {"name": "measured", "version": 1, "params": {"answers": answers}}


def stage(project: Project | None = None, **columns: Any) -> Stage:
    """Three answers an item; every item with three answers is kept."""
    defaults = {
        "key": "ask",
        "title": "Ask",
        "protocol": "multiple_choice",
        "settings": SETTINGS,
        "answers": 3,
        "rule": measured(columns.get("answers", 3)),
    }
    return make.stage(project or make.project(), **{**defaults, **columns})


def item(stage_row: Stage, gold: str = "", **columns: Any) -> Item:
    text = make.document(stage_row.project, data={"text": "Rain fell all day."})
    return make.item(stage_row, document=text, data={"gold": [gold]} if gold else {}, **columns)


def items(stage_row: Stage, count: int) -> list[Item]:
    return [item(stage_row, key=f"r{number}") for number in range(count)]


def registered(project: Project, name: str, version: str, cost: Decimal | None = None) -> tuple[ModelAnnotator, str]:
    """With its token."""
    row = do("models.register", project, name=name, version=version, cost_per_answer=cost)
    return row, row.token


def model(project: Project, name: str = "small-bert", version: str = "1", token: str = "") -> ModelAnnotator:
    digest = token_digest(token or f"token {ModelAnnotator.objects.count()}")
    return ModelAnnotator.objects.create(project=project, name=name, version=version, digest=digest, start="model_1234")


def says(row: ModelAnnotator, item_row: Item, choice: str, confidence: float | None = 0.95) -> ModelAnswer:
    """Through the verb, as the model's own call would."""
    stage_row = item_row.stage
    model_answering.take(row, stage_row, 100, 600)
    given = model_answering.Given(item_row.pk, {"choice": choice}, confidence)
    model_answering.answer(row, stage_row, [given])
    return ModelAnswer.objects.get(annotator=row, item=item_row)


def given_too_often(row: ModelAnnotator, stage_row: Stage) -> None:
    """All items that it has not answered, as after three runs that failed."""
    for _ in range(3):
        model_answering.take(row, stage_row, 100, 600)
        row.leases.update(until=timezone.now() - timedelta(seconds=1))


def people_say(item_row: Item, *choices: str, gold: str = "") -> list[Worker]:
    """An answer of another worker each, on one HIT, which counts."""
    hit = make.hit(
        item_row, slot=item_row.hits.count() + 1, max_assignments=len(choices), state="closed", harvested=len(choices)
    )
    found = []
    for choice in choices:
        answer = make.assignment(hit, answer={"choice": choice})
        make.label(answer, unit="choice", value=choice, correct=None if not gold else choice == gold)
        found.append(answer.worker)
    Item.objects.filter(pk=item_row.pk).update(stale=True, state=Item.State.OPEN)
    return found
