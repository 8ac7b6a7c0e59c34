"""A template and a table from end to end: what is named before it is published, what workers post, what is released."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from defusedxml import ElementTree
from django.test import Client
from django.urls import reverse

from hits.answers.verbs import harvesting
from hits.crowd.browser import Allowance
from hits.crowd.key import AnswerKey
from hits.crowd.people import gather
from hits.crowd.worker import Worker
from hits.items.verbs import importing
from hits.judging.rules import crowd_answers
from hits.judging.verbs import deciding, scoring
from hits.models import Assignment, Batch, Hit, Item, Label, Stage
from hits.mturk.question import HTML_QUESTION
from hits.projects.verbs import projects
from hits.protocols import simulated
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import exporting, releasing
from hits.stages.rules import new_fields
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.market import Marketplace
from tests.hits.protocols.page_templates import CASES, Case

pytestmark = pytest.mark.django_db(transaction=True)


def imported(stage: Stage, content: bytes) -> Any:
    upload = importing.create_upload(stage.project, "rows.jsonl", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def published(case: Case, answers: int = 1) -> Stage:
    project = projects.create_project("Pages", "html_page", Decimal("5.00"), "lab@example.org", make.user(), seed=3)
    stage = project.stages.get()
    Stage.objects.filter(pk=stage.pk).update(requirements=[], answers=answers)
    row = json.dumps({"id": "r1", **case.columns}).encode()
    assert imported(stage, row).state == "done"
    stage.refresh_from_db()
    task_settings.change_task(stage, {"settings": {"template": case.html, **case.settings}}, None)
    quote = publishing.quote(stage)
    assert quote.problems == []
    sending.send(publishing.publish(stage, quote.items, quote.total, case.name, None).pk)
    stage.refresh_from_db()
    return stage


def taken_up(stage: Stage) -> None:
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)


def labels(stage: Stage) -> dict[str, Any]:
    return dict(Label.objects.counting().filter(stage=stage).values_list("unit", "value"))


def case(name: str) -> Case:
    return next(found for found in CASES if found.name == name)


def test_the_page_goes_to_the_marketplace_as_an_html_question(market: Marketplace) -> None:
    stage = published(case("no_form"))
    held = market.accept(market.sign_up_worker(), hit_id=stage.hits.get().hit_id)
    root = ElementTree.fromstring(held.question)
    assert root.tag == f"{{{HTML_QUESTION}}}HTMLQuestion"
    html, height = (child.text for child in root)
    assert "<h3>What did she refuse?</h3>" in html and 'name="mturk_form"' in html and height == "0"


def test_columns_that_the_template_names_and_the_table_lacks_are_named_before_anything_is_imported_or_published(
    market: Marketplace,
) -> None:
    stage = published(case("no_form"))
    upload = imported(stage, b'{"id": "r2", "question": "Why?", "speaker": "Bo"}\n')
    assert [fault["message"] for fault in upload.faults] == [
        "The template names the column 'quote', which is missing: add it, or correct the template."
    ]
    assert stage.items.count() == 1
    upload = imported(stage, b'{"id": "r3", "question": "Why?", "speaker": "Bo", "quote": "I <i>may</i>"}\n')
    assert [note.partition(" has ")[0] for note in upload.notes] == ["The column 'quote'"]
    Hit.objects.all().delete()
    Item.objects.update(state=Item.State.NEW)
    Stage.objects.update(settings={"template": "<p>${quotes}</p><input name='a'>"})
    stage.refresh_from_db()
    quote = publishing.quote(stage)
    assert any("the column 'quotes', which is missing" in problem for problem in quote.problems)
    with refused("items_do_not_fit"):
        publishing.publish(stage, quote.items, quote.total, "again", None)
    assert not Hit.objects.exists()


def test_a_row_that_cannot_be_shown_any_more_is_refused_and_holds_up_no_other(market: Marketplace) -> None:
    project = projects.create_project("Pages", "html_page", Decimal("5.00"), "lab@example.org", make.user())
    stage = project.stages.get()
    task_settings.change_task(stage, {"settings": {"template": "<p>${t}</p><input name='a'>"}}, None)
    imported(stage, b'{"id": "r1", "t": "x"}\n{"id": "r2", "t": "y"}\n')
    quote = publishing.quote(stage)
    batch = publishing.publish(stage, quote.items, quote.total, "once", None)
    stage.items.get(key="r1").document.__class__.objects.filter(key="r1").update(data={"columns": {}})
    sending.send(batch.pk)
    batch.refresh_from_db()
    states = dict(stage.hits.values_list("item__key", "state"))
    assert states == {"r1": Hit.State.REFUSED, "r2": Hit.State.LIVE} and batch.state == Batch.State.PUBLISHED
    assert "There is no value for t" in stage.hits.get(item__key="r1").error
    project.account.refresh_from_db()
    assert project.account.reserved == stage.hits.get(item__key="r2").unit_cost * stage.answers


def test_what_is_posted_past_the_page_is_checked_again(market: Marketplace) -> None:
    """Fields that the page does not have give no label, and values that it does not offer are refused."""
    stage = published(case("radio_groups"), answers=2)
    hit_id = stage.hits.get().hit_id
    market.answer(market.sign_up_worker(), hit_id, s1="1", s2="-1", s9="1", hacked="x" * 1000)
    market.answer(market.sign_up_worker(), hit_id, s1="7", s2="0")
    taken_up(stage)
    assert labels(stage) == {"s1": "1", "s2": "-1"}
    refused = Assignment.objects.exclude(problem="").get()
    assert refused.problem == "The field 's1' has the value '7', which is none of its choices."


def test_a_field_that_scripts_made_is_listed_and_stands_in_every_file(market: Marketplace, client: Client) -> None:
    stage, lead = published(case("fields_by_script"), answers=3), make.user()
    make.member(stage.project, lead)
    hit_id = stage.hits.get().hit_id
    market.answer(market.sign_up_worker(), hit_id, count="2")
    market.answer(market.sign_up_worker(), hit_id, count="2", marked="[0,2]")
    market.answer(market.sign_up_worker(), hit_id, marked="[0,2]", seen="3")
    taken_up(stage)
    assert new_fields.brought(stage) == ["marked", "seen"]
    stage.refresh_from_db()
    assert crowd_answers.levels_of(stage) == dict.fromkeys(["count", "marked", "seen"], "nominal")
    client.force_login(lead)
    page = client.get(reverse("results", args=[stage.project.slug, stage.key])).content.decode()
    assert "2 fields that the task did" in page and "<code" in page and ">marked</code>" in page
    table = b"".join(exporting.of_stage(stage, exporting.Choices()).pieces).decode().splitlines()
    assert "Answer.count,Answer.marked,Answer.seen" in table[0]
    made, _ = releasing.release(stage.project, None)
    files = {file.name: file.blob.read() for file in made.files.all()}
    row = json.loads(files["items.jsonl"])
    assert (row["votes"]["marked"], row["votes"]["seen"]) == ({"[0,2]": 2}, {"3": 1})
    assert b"majority.marked" in files["items.csv"].splitlines()[0]


def test_from_a_template_and_a_table_to_a_release(market: Marketplace) -> None:
    made_of = case("checkboxes")
    stage = published(made_of, answers=3)
    hit_id = stage.hits.get().hit_id
    for spam, remark in (("yes", "Dull."), ("yes", ""), ("", "Good.")):
        fields = {"topic": "sea|weather", "place": "Linden|", "remarks": remark} | ({"spam": spam} if spam else {})
        market.answer(market.sign_up_worker(), hit_id, **fields)
    taken_up(stage)
    made, _ = releasing.release(stage.project, None)
    files = {file.name: file.blob.read() for file in made.files.all()}
    row = json.loads(files["items.jsonl"])
    assert row["columns"] == {"id": "r1", **made_of.columns} and row["answers"] == 3
    assert row["majority"] == {
        "topic": '["sea", "weather"]',
        "spam": '["yes"]',
        "adult": "[]",
        "languages": "[]",
        "place": '["Linden"]',
    }
    assert row["votes"]["spam"] == {'["yes"]': 2, "[]": 1}
    assert b"majority.spam" in files["items.csv"].splitlines()[0]
    answers = [json.loads(line) for line in files["answers.jsonl"].splitlines()]
    assert [one["labels"].get("remarks") for one in answers] == ["Dull.", None, "Good."]


@pytest.mark.parametrize("name", ["no_form", "crowd_form", "crowd_classifier", "crowd_entities", "checkboxes"])
def test_simulated_people_answer_pages_that_somebody_wrote(name: str, market: Marketplace) -> None:
    market.end_open_hits()
    stage = published(case(name), answers=2)
    hit_id = stage.hits.get().hit_id
    crowd = [
        Worker(
            person, market.url, AnswerKey(), Allowance(400), "simulated crowd of a sandbox", simulated(), time_scale=0
        )
        for person in gather(seed=7, workers=2, spammers=0, accuracy=1.0, returns=0)
    ]
    for _ in range(60):
        if market.hit(hit_id)["status"] != "Reviewable":
            for worker in crowd:
                worker.step()
    taken_up(stage)
    assert Assignment.objects.filter(problem="").count() == 2
    assert {unit for unit in labels(stage)} <= set(case(name).labels) | {"remarks", "s3"}
