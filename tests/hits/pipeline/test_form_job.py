"""A questionnaire from end to end: a table, a form about its columns, three answers, votes and single answers out."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import pytest

from hits.answers.verbs import harvesting
from hits.formats.files.faults import Fault, grouped
from hits.items.rules import unsuitable_items
from hits.items.verbs import importing
from hits.judging.verbs import deciding, scoring
from hits.models import Item, Stage
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import releasing
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = b"id,text,source,right\nn1,Rain fell all day.,diary,wet\nn2,The sun shone.,letter,dry\n"
FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "weather", "question": "Was it wet?", "choices": ["Wet", "Dry"], "gold": "right"},
        {"kind": "scale", "key": "sure", "question": "How sure are you?"},
        {"kind": "short_text", "key": "why", "question": "Why?", "shown_if": {"field": "weather", "values": ["dry"]}},
    ],
}


@pytest.fixture
def stage(lead: Any, market: Any) -> Stage:
    project = projects.create_project("Weather", "form", Decimal("5.00"), "lab@example.org", lead, seed=3)
    found = project.stages.get()
    found.requirements = []
    found.save(update_fields=["requirements"])
    return found


def imported(stage: Stage, content: bytes) -> Any:
    upload = importing.create_upload(stage.project, "w.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def test_a_table_that_the_form_does_not_fit_is_refused_and_each_fault_told_once(stage: Stage) -> None:
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    upload = imported(stage, b"id,right\na,wet\nb,Dry\nc,soggy\n")
    assert upload.state == "refused" and stage.items.count() == 0
    assert [str(group) for group in grouped(Fault(**fault) for fault in upload.faults)] == [
        "The form names the column 'text', which is missing: add it, or correct the form. (3 lines: 2, 3, 4)",
        "line 4: The gold answer 'soggy' of the column 'right' is none of the answers of 'weather'.",
    ]


def test_items_that_the_form_does_not_fit_are_named_at_the_quote_and_not_published(stage: Stage) -> None:
    assert imported(stage, TABLE).state == "done"
    task_settings.change_task(
        stage, {"settings": {"form": {**FORM, "show": [{"kind": "text", "text": "{txt}"}]}}}, None
    )
    quote = publishing.quote(stage)
    (problem,) = quote.problems
    assert problem.startswith("2 waiting items do not fit the task, such as n1: The form names the column 'txt', which")
    with refused("items_do_not_fit"):
        publishing.publish(stage, quote.items, quote.total, "page", None)
    assert not stage.hits.exists()
    assert sum(one.count for one in unsuitable_items.of_waiting(stage, 1)) == 1
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    assert publishing.quote(stage).problems == []


def test_arrivals_that_the_form_does_not_fit_wait_and_the_lead_reads_why(stage: Stage) -> None:
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    assert imported(stage, TABLE).state == "done"
    stage.items.update(parent=make.item())
    stage.auto_publish = True
    task_settings.change_task(
        stage, {"settings": {"form": {**FORM, "show": [{"kind": "text", "text": "{txt}"}]}}}, None
    )
    assert publishing.publish_arrivals(stage) is None
    (reason,) = publishing.held_up(stage)
    assert reason.startswith("2 waiting items do not fit the task, such as n1: The form names the column 'txt', which")
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    assert publishing.held_up(stage) == []
    assert publishing.publish_arrivals(stage).total == 2


def test_votes_and_single_answers_are_released_with_all_columns(stage: Stage, market: Any, lead: Any) -> None:
    task_settings.change_task(stage, {"settings": {"form": FORM}}, None)
    assert imported(stage, TABLE).items == 2
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "page", None).pk)
    said = {"n1": [("wet", "5"), ("wet", "4"), ("dry", "3")], "n2": [("dry", "5"), ("dry", "9"), ("wet", "1")]}
    workers = [market.sign_up_worker() for _ in range(3)]
    for hit in stage.hits.select_related("item"):
        for worker, (weather, sure) in zip(workers, said[hit.item.key], strict=True):
            market.answer(worker, hit.hit_id, weather=weather, sure=sure, why="It says so.")
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    stage.summary.refresh_from_db()
    # The point 9 is not on the scale, which anybody can post nevertheless.
    assert stage.summary.invalid == 1
    assert list(stage.items.filter(state=Item.State.KEPT).values_list("key", flat=True)) == ["n1"]
    made, _ = releasing.release(stage.project, lead)
    files = {file.name: file.blob.read().decode(errors="replace") for file in made.files.all()}
    (row,) = map(json.loads, files["items.jsonl"].splitlines())
    assert row == {
        "id": "n1", "columns": {"id": "n1", "text": "Rain fell all day.", "source": "diary", "right": "wet"},
        "answers": 3, "conclusion": "", "votes": {"weather": {"wet": 2, "dry": 1}, "sure": {"5": 1, "4": 1, "3": 1}},
        "majority": {"weather": "wet", "sure": None}, "mean": {"sure": 4.0},
    }  # fmt: skip
    (flat,) = csv.DictReader(io.StringIO(files["items.csv"], newline=""))
    assert (flat["Input.source"], flat["majority.weather"], flat["votes.weather"]) == (
        "diary",
        "wet",
        "wet: 2 | dry: 1",
    )
    answers = [json.loads(line) for line in files["answers.jsonl"].splitlines()]
    assert [answer["labels"].get("why") for answer in answers] == [None, None, {"text": "It says so."}]
    assert [answer["correct"] for answer in answers] == [{"weather": True}, {"weather": True}, {"weather": False}]
    assert len({answer["worker"] for answer in answers}) == 3


def test_marked_spans_are_compared_and_released_with_their_places(stage: Stage, market: Any, lead: Any) -> None:
    names = {
        "kind": "spans",
        "key": "names",
        "question": "Names?",
        "column": "text",
        "choices": ["Person"],
        "gold": "g",
    }
    task_settings.change_task(stage, {"settings": {"form": {"ask": [names]}}}, None)
    known = json.dumps([{"start": 2, "end": 6, "label": "person"}]).replace('"', '""')
    assert imported(stage, f'id,text,g\nn1,"🛳 Ilse\r\nsails.","{known}"\n'.encode()).items == 1
    assert stage.items.get().document.data["columns"]["text"][2:6] == "Ilse"
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, "page", None).pk)
    hit = stage.hits.get()
    right, nothing = {"names": '[[2, 6, "person"]]'}, {"names.nothing": "yes"}
    for said in (right, nothing, right):
        market.answer(market.sign_up_worker(), hit.hit_id, **said)
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    made, _ = releasing.release(stage.project, lead)
    files = {file.name: file.blob.read().decode(errors="replace") for file in made.files.all()}
    (row,) = map(json.loads, files["items.jsonl"].splitlines())
    value = [{"start": 2, "end": 6, "label": "person"}]
    assert json.loads(row["majority"]["names"]) == value and row["votes"]["names/person"] == {"yes": 2, "no": 1}
    answers = [json.loads(line) for line in files["answers.jsonl"].splitlines()]
    assert [(one["labels"]["names"], one["correct"]["names"]) for one in answers] == [
        (value, True), ([], False), (value, True),
    ]  # fmt: skip
