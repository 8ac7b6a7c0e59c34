"""A project of the recipe `cosmos` whose question sets are all validated, put into the tables in any number.

Texts are as long as the published ones: 70 tokens a paragraph, eleven a question, eight an answer. Three of 200 seeded
validators judge each set, most of them well; what they say is kept as `deciding` keeps it, and so is what the stage's
rule concludes. Seven in ten valid sets have their least challenging answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import islice
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding
from hits.models import (
    Assignment,
    Batch,
    ComputationResult,
    ComputationRun,
    Document,
    Hit,
    Item,
    Label,
    Project,
    Stage,
    Verdict,
    Worker,
)
from hits.projects.verbs import projects
from hits.recipes.cosmos.steps import LEAST_CHALLENGING, VALID, VALIDATE, question_set
from hits.stats.vote_rules.votes import Outcome, Rule, Vote
from hits.stats.vote_rules.votes import decide as apply_rule
from tests.benchmarks.synthetic import WORDS

VALIDATORS = 200
WRITERS = 300
SETS_A_PARAGRAPH = 35_588 / 21_000
CHUNK = 1000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
BEGINNINGS = ("Why did they", "What may happen after", "What made the", "Who was", "Where would the", "How did the")
Said = dict[str, str]
# What each of a set's validators, by their places, said of it.
Given = list[tuple[int, Said]]


def fill(sets: int, *, answers: bool = True) -> Project:
    """A project with so many sets on about six in ten as many paragraphs, every one judged.

    Without `answers` there are only the sets and what was concluded, which is all that a release reads.
    """
    owner, _ = get_user_model().objects.get_or_create(username="bench")
    name = f"Question sets {sets}"
    made = projects.create_project(name, "cosmos", Decimal(sets), "lab@example.org", owner, seed=1)
    stage = made.stages.get(key=VALIDATE)
    batch = Batch.objects.create(stage=stage, total=sets, done=sets, state=Batch.State.PUBLISHED)
    documents = _documents(made, max(2, round(sets / SETS_A_PARAGRAPH)))
    filling = Filling(stage, batch, documents, _validators(), cache(_judge(Rule.from_dict(stage.rule))))
    numbers = iter(range(sets))
    while some := list(islice(numbers, CHUNK)):
        filling.put(some, answers)
    _compute(made, stage)
    refresh_summary(stage)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # What the database does by itself within a minute of so many new rows.
            cursor.execute("ANALYZE")
    return made


def _validators() -> list[Worker]:
    Worker.objects.bulk_create([Worker(worker_id=f"A{n:05}") for n in range(VALIDATORS)], ignore_conflicts=True)
    return list(Worker.objects.order_by("pk")[:VALIDATORS])


def _documents(project: Project, count: int) -> list[Document]:
    rows = (
        Document(project=project, key=f"story-{n:05}", origin="public", purpose="train", data=_paragraph(n))
        for n in range(count)
    )
    return Document.objects.bulk_create(rows, batch_size=CHUNK)


def _paragraph(number: int) -> dict[str, str]:
    draw = random.Random(f"paragraph {number}")
    sentences = [_sentence(draw, draw.randint(5, 21)) for _ in range(5)]
    return {"text": " ".join(sentences), "source": f"story-{number:05}", "title": ""}


def _sentence(draw: random.Random, words: int, end: str = ".") -> str:
    return f"{' '.join(draw.choices(WORDS, k=words)).capitalize()}{end}"


def _question_set(draw: random.Random, number: int) -> dict[str, Any]:
    question = f"{draw.choice(BEGINNINGS)} {' '.join(draw.choices(WORDS, k=7))}?"
    correct, *incorrect = (_sentence(draw, 7) for _ in range(4))
    return question_set(f"set-{number:05}", question, correct, incorrect, f"AWRITER{number % WRITERS:05}")


def _answer(draw: random.Random, item: dict[str, Any], skill: float) -> Said:
    """The steps that this validator reaches."""
    for step in ("paragraph", "question"):
        if draw.random() < 0.02:
            return {**({"paragraph": "good"} if step == "question" else {}), step: "bad"}
    said = {"paragraph": "good", "question": "good", "picked": _picked(draw, item, skill)}
    if said["picked"] == "none":
        return said
    needs = {"needs_common_sense": "no" if draw.random() < 0.015 else "yes"}
    return {**said, **needs, "needs_context": "no" if draw.random() < 0.015 else "yes"}


def _picked(draw: random.Random, item: dict[str, Any], skill: float) -> str:
    if draw.random() < skill:
        return str(item["intended"])
    return draw.choice(["none", *(each["id"] for each in item["candidates"] if each["id"] != item["intended"])])


def _vote(place: int, said: Said, item: dict[str, Any]) -> Vote:
    compared = {"picked.correct": said["picked"] == item["intended"]} if "picked" in said else {}
    return Vote(str(place), "", said={**said, **compared})


def _judge(rule: Rule) -> Callable[[str], Outcome]:
    def judge(ballots: str) -> Outcome:
        return apply_rule(rule, [Vote(str(n), "", said=said) for n, said in enumerate(json.loads(ballots))])

    return judge


@dataclass(frozen=True)
class Filling:
    stage: Stage
    batch: Batch
    documents: Sequence[Document]
    validators: Sequence[Worker]
    judge: Callable[[str], Outcome]

    def put(self, numbers: Sequence[int], answers: bool) -> None:
        """The sets of these numbers with their verdicts, and with their HITs, answers and labels."""
        made = [self._set(number) for number in numbers]
        Item.objects.bulk_create(item for item, _ in made)
        Verdict.objects.bulk_create(self._verdict(item) for item, _ in made)
        if answers:
            self._put_answers(made)

    def _put_answers(self, made: Sequence[tuple[Item, Given]]) -> None:
        hits = Hit.objects.bulk_create(self._hit(item) for item, _ in made)
        given = [(hit, place, said) for hit, (_, answers) in zip(hits, made, strict=True) for place, said in answers]
        rows = Assignment.objects.bulk_create(self._assignment(*one) for one in given)
        pairs = zip(rows, given, strict=True)
        Label.objects.bulk_create(label for row, (hit, _, said) in pairs for label in _labels(row, hit.item, said))

    def _set(self, number: int) -> tuple[Item, Given]:
        draw = random.Random(f"set {number}")
        data = _question_set(draw, number)
        places = draw.sample(range(len(self.validators)), 3)
        # One validator in ten picks at random.
        said = [(place, _answer(draw, data, 0.2 if place % 10 == 0 else 0.95)) for place in places]
        ballots = deciding.ballots([_vote(place, one, data) for place, one in said])
        outcome = self.judge(ballots)
        columns = {"state": outcome.outcome, "conclusion": outcome.conclusion, "ballots": ballots}
        document = self.documents[number % len(self.documents)]
        return Item(stage=self.stage, document=document, key=data["set"], data=data, **columns), said

    def _hit(self, item: Item) -> Hit:
        return Hit(
            item=item,
            stage=self.stage,
            batch=self.batch,
            token=f"{self.stage.pk}-{item.key}",
            state=Hit.State.CLOSED,
            hit_id=f"3{item.pk:029}",
            max_assignments=3,
            created_with=3,
            reward=self.stage.reward,
            unit_cost=Decimal("0.12"),
            assignment_seconds=self.stage.assignment_seconds,
            harvested=3,
        )

    def _assignment(self, hit: Hit, place: int, said: Said) -> Assignment:
        at = BEGAN + timedelta(seconds=hit.pk * 3 + place)
        return Assignment(
            hit=hit,
            stage=self.stage,
            worker=self.validators[place],
            assignment_id=f"3{hit.pk:020}{place:09}",
            state=Assignment.State.APPROVED,
            accepted_at=at - timedelta(seconds=30),
            submitted_at=at,
            seconds=30,
            answer=said,
            scored=True,
        )

    def _verdict(self, item: Item) -> Verdict:
        outcome = self.judge(item.ballots)
        return Verdict(
            item=item,
            outcome=outcome.outcome,
            rule=outcome.rule,
            rule_version=outcome.version,
            conclusion=outcome.conclusion,
            detail=outcome.counts.to_dict(),
            advanced=True,
        )


def _labels(row: Assignment, item: Item, said: Said) -> Iterator[Label]:
    for unit, value in said.items():
        correct = value == item.data["intended"] if unit == "picked" else None
        yield Label(
            assignment=row, item=item, stage=row.stage, worker=row.worker, unit=unit, value=value, correct=correct
        )


def _compute(project: Project, stage: Stage) -> None:
    """The results of a finished run of the recipe's computation, an incorrect candidate for each."""
    done = {"state": ComputationRun.State.DONE, "finished_at": timezone.now()}
    run = ComputationRun.objects.create(project=project, key=LEAST_CHALLENGING, seed=project.seed, **done)
    valid = stage.items.filter(conclusion=VALID).order_by("pk").values_list("pk", "data__intended")
    ComputationResult.objects.bulk_create(
        (ComputationResult(run=run, item_id=pk, data=_result(intended)) for pk, intended in valid if pk % 10 < 7),
        batch_size=CHUNK,
    )


def _result(intended: str) -> dict[str, Any]:
    others = sorted({"c0", "c1", "c2", "c3"} - {intended})
    return {"candidate": others[0], "scores": {each: [0.1, 0.2, 0.3] for each in others}}
