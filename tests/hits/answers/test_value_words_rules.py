"""Choices are told by their texts wherever many items stand in one table."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.test import Client
from django.urls import reverse

from hits.answers.rules.answer_words import DIFFER, ValueWords
from hits.models import Item, Stage, Worker
from hits.releases.verbs import exporting
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]
MOODS = [{"id": "c1", "text": "Glad <b>"}, {"id": "c2", "text": "Sad"}, {"id": "c3", "text": "Neither"}]


@pytest.fixture
def stage() -> Stage:
    """As the recipe “Choice” imports it: each item brings the same three choices as c1, c2 and c3."""
    stage = make.stage(key="choose", protocol="multiple_choice")
    glad = dict.fromkeys(("ann", "ben", "cleo"), "c1")
    say(stage, [glad, {**glad, "ann": "c2"}, dict.fromkeys(("ann", "ben", "cleo"), "c3")])
    Item.objects.filter(stage=stage).update(data={"question": "How is it?", "choices": MOODS, "gold": ["c1"]})
    stage.summary.answers = 9
    stage.summary.save()
    return stage


@pytest.fixture
def lead(client: Client, stage: Stage) -> Client:
    person = make.user("lead")
    make.member(stage.project, person)
    client.force_login(person)
    return client


def page(client: Client, name: str, stage: Stage, *more: str) -> str:
    return " ".join(client.get(reverse(name, args=[stage.project.slug, *more])).content.decode().split())


def bring_others(stage: Stage) -> None:
    last = stage.items.order_by("-pk")[0]
    others = [{"id": "c1", "text": "Seven"}, {"id": "c2", "text": "Eight"}, {"id": "c3", "text": "Nine"}]
    last.data = {"question": "How many?", "choices": others}
    last.save()


def test_the_agreement_names_choices_by_their_texts(lead: Client, stage: Stage) -> None:
    computed(stage)
    said = page(lead, "agreement", stage, stage.key)
    assert '<th scope="row">Glad &lt;b&gt;</th>' in said and '<th scope="row">Sad</th>' in said
    assert ">c1<" not in said and DIFFER not in said
    assert "“How is it?”" in said
    found = lead.get(reverse("api:agreement", args=[stage.project.slug, stage.key])).json()
    assert found["texts"] == {"choice": {"c1": "Glad <b>", "c2": "Sad", "c3": "Neither"}}
    answer = lead.get(reverse("agreement-csv", args=[stage.project.slug, stage.key]))
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    assert [(row["value"], row["value_text"]) for row in rows] == [("c1", "Glad <b>")] * 2 + [("c3", "Neither")]


def test_what_a_worker_said_is_told_by_the_texts_of_choices(lead: Client, stage: Stage) -> None:
    computed(stage)
    make.worker_stat(stage, Worker.objects.get(worker_id="AANN"))
    said = page(lead, "worker", stage, "AANN")
    assert "said Glad &lt;b&gt;" in said and "said c1" not in said
    route = reverse("api:worker-confusion", args=[stage.project.slug, stage.key])
    (unit,) = lead.get(route, {"worker_id": "AANN"}).json()["units"]
    assert unit["texts"] == {"c1": "Glad <b>", "c2": "Sad", "c3": "Neither"}


def test_the_page_of_the_rule_says_what_each_key_reads_as(lead: Client, stage: Stage) -> None:
    stage.items.update(ballots=json.dumps([{"choice": "c1", "choice.correct": True}, {"choice": "c3"}]))
    said = page(lead, "rule", stage, stage.key)
    assert (
        '<span class="mono">c1</span> (“Glad &lt;b&gt;”)' in said and '<span class="mono">c3</span> (“Neither”)' in said
    )
    assert '<span class="mono">yes</span></td>' in said, "whether an answer is right is no choice"
    found = lead.get(reverse("api:rule", args=[stage.project.slug, stage.key])).json()
    assert found["texts"] == {"choice": {"c1": "Glad <b>", "c3": "Neither"}}


def test_a_key_that_reads_otherwise_in_a_late_item_stays_a_key_and_the_pages_say_why(
    lead: Client, stage: Stage
) -> None:
    say(stage, [dict.fromkeys(("ann", "ben"), "c1")] * 4)
    stage.items.filter(key__in=[f"item-{number}" for number in (4, 5, 6, 7)]).update(data={"choices": MOODS})
    assert ValueWords(stage).text("choice", "c1") == "Glad <b>"
    bring_others(stage)
    computed(stage)
    make.worker_stat(stage, Worker.objects.get(worker_id="AANN"))
    stage.items.update(ballots=json.dumps([{"choice": "c1"}]))
    for said in (
        page(lead, "agreement", stage, stage.key),
        page(lead, "worker", stage, "AANN"),
        page(lead, "rule", stage, stage.key),
    ):
        assert DIFFER in said and "Glad &lt;b&gt;</th>" not in said


def test_choices_of_the_task_are_told_whatever_the_items_bring() -> None:
    stage = make.stage(key="label", protocol="labelling", settings={"labels": ["Clear enough", "Not clear"]})
    for name in ("a", "b"):
        make.item(stage, key=name, data={"question": "Why?", "candidates": [{"id": "c0", "text": name}]})
    words = ValueWords(stage)
    assert words.text("label", "clear-enough") == "Clear enough"
    assert not words.differ("label", ["clear-enough"])


def test_an_empty_stage_has_the_values_as_they_are() -> None:
    assert ValueWords(make.stage(key="choose", protocol="multiple_choice")).text("choice", "c1") == "c1"


def test_the_long_table_has_texts_and_gold_of_a_choice(stage: Stage) -> None:
    for label in stage.labels.all():
        label.correct = label.value == "c1"
        label.save()
    stage.assignments.update(scored=True)
    file = exporting.of_stage(stage, exporting.Choices("jsonl"))
    rows = [json.loads(line) for line in b"".join(file.pieces).splitlines()]
    assert {(row["value"], row["value_text"], row["gold"], row["gold_text"]) for row in rows} == {
        ("c1", "Glad <b>", "c1", "Glad <b>"), ("c2", "Sad", "c1", "Glad <b>"), ("c3", "Neither", "c1", "Glad <b>")
    }  # fmt: skip
