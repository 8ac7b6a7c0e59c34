"""Stages that a lead adds: rows of the file, what an earlier stage kept, single answers, and a draw of them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from hits.answers.verbs import harvesting, reviewing
from hits.items.verbs import importing, sampling
from hits.judging.verbs import advancing, deciding, scoring
from hits.models import Item, Stage
from hits.projects.verbs import project_files, projects
from hits.protocols.base import SettingsRefusedError
from hits.publishing.verbs import publishing, sending
from hits.releases.verbs import releasing
from hits.stages.rules.stage_tables import table_of
from hits.stages.verbs import custom_stages, stage_settings, task_settings
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db(transaction=True)
TABLE = b"id,text,source\nn1,Rain fell all day.,diary\nn2,The sun shone.,letter\n"
WRITE = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "short_text", "key": "headline", "question": "A headline?"},
        {"kind": "one", "key": "weather", "question": "Was it wet?", "choices": ["Wet", "Dry"]},
    ],
}
RATE = {
    "show": [{"kind": "text", "text": "{text} / {ask.headline}"}],
    "ask": [{"kind": "scale", "key": "good", "question": "How good is the headline?"}],
}
OF_ANSWERS = {"title": "Rate", "protocol": "form", "input": {"stage": "ask", "each": "answer"}}


@pytest.fixture
def first(lead: Any, market: Any) -> Stage:
    project = projects.create_project("Headlines", "form", Decimal("20.00"), "lab@example.org", lead, seed=3)
    stage = project.stages.get()
    stage_settings.change(stage, {"answers": 2, "requirements": []}, lead)
    task_settings.change_task(stage, {"settings": {"form": WRITE}}, None)
    return stage


def imported(stage: Stage, content: bytes = TABLE) -> None:
    upload = importing.create_upload(stage.project, "w.csv", content, "public", None)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "done", upload.faults


def published(stage: Stage) -> None:
    quote = publishing.quote(stage)
    assert quote.problems == []
    sending.send(publishing.publish(stage, quote.items, quote.total, f"page {stage.key}", None).pk)
    stage.refresh_from_db()


def answered(stage: Stage, market: Any, *answers: dict[str, str]) -> None:
    """Every HIT by as many workers as there are answers; then verdicts, and what follows from them."""
    workers = [market.sign_up_worker() for _ in answers]
    for hit in stage.hits.all():
        for worker, fields in zip(workers, answers, strict=True):
            market.answer(worker, hit.hit_id, **fields)
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    advancing.advance(stage)


def columns(stage: Stage) -> list[dict[str, Any]]:
    return [item.data["columns"] for item in stage.items.order_by("id")]


TWO = ({"headline": "Wet!", "weather": "wet"}, {"headline": "Again", "weather": "wet"})


def test_each_answer_that_counts_is_an_item_of_the_next_stage_and_is_published(first, market, lead):
    imported(first)
    stage = custom_stages.add_stage(first.project, OF_ANSWERS, lead)
    assert (stage.key, stage.position, stage.auto_publish, stage.items.count()) == ("rate", 2, False, 0)
    task_settings.change_task(stage, {"settings": {"form": RATE}}, None)
    published(first)
    answered(first, market, *TWO)
    assert sorted((row["text"], row["ask.headline"], row["ask.weather"], row["source"]) for row in columns(stage)) == [
        ("Rain fell all day.", "Again", "wet", "diary"),
        ("Rain fell all day.", "Wet!", "wet", "diary"),
        ("The sun shone.", "Again", "wet", "letter"),
        ("The sun shone.", "Wet!", "wet", "letter"),
    ]
    published(stage)
    assert stage.hits.count() == 4


def test_an_item_of_an_answer_that_stops_counting_is_taken_back(first, market, lead):
    imported(first, TABLE[: TABLE.index(b"n2")])
    stage_settings.change(first, {"approval": "review", "auto_approval_seconds": 86_400}, lead)
    advancing.only_approved(first, False, lead)
    stage = custom_stages.add_stage(first.project, OF_ANSWERS, lead)
    published(first)
    answered(first, market, *TWO)
    stays, goes = stage.items.order_by("id")
    reviewing.reject(first, [goes.source_id], "It is no headline.", lead)
    reviewing.finish(first)
    deciding.decide(first)
    deciding.decide(stage)
    states = dict(stage.items.values_list("key", "state"))
    assert states == {stays.key: Item.State.NEW, goes.key: Item.State.WITHDRAWN}


def test_what_most_said_stands_in_the_columns_of_a_kept_item(first, market, lead):
    imported(first)
    published(first)
    answered(first, market, *TWO)
    # Added later: what was kept already comes too, with the next round.
    stage = custom_stages.add_stage(
        first.project, {**OF_ANSWERS, "input": {"stage": "ask", "each": "item"}, "answers": 1}, lead
    )
    assert advancing.unfinished() == [first.pk]
    assert advancing.advance(first) == 2 and advancing.advance(first) == 0
    assert [item.key for item in stage.items.order_by("id")] == ["n1", "n2"]
    assert columns(stage)[0] == {
        "id": "n1", "text": "Rain fell all day.", "source": "diary", "ask.weather": "wet",
    }  # fmt: skip


def test_a_stage_draws_the_same_sample_for_the_same_seed_and_none_twice(first, market, lead):
    imported(first)
    published(first)
    answered(first, market, *TWO)
    stage = custom_stages.add_stage(first.project, {**OF_ANSWERS, "draws": 3}, lead)
    assert advancing.advance(first) == 0 and stage.items.count() == 0
    assert sampling.quote(stage) == sampling.Quote(there=4, here=0, new=4)
    assert sampling.draw(stage, 3) == 3 and sampling.draw(stage, 3) == 0
    keys = set(stage.items.values_list("key", flat=True))
    assert sampling.draw(stage, 4) == 1
    assert keys < set(stage.items.values_list("key", flat=True))
    assert all(item.source.worker and item.parent.stage_id == first.pk for item in stage.items.all())


def test_rows_of_the_file_go_to_a_stage_that_asks_about_them_too(first, lead):
    imported(first, TABLE[: TABLE.index(b"n2")])
    stage = custom_stages.add_stage(first.project, {"title": "Tone", "protocol": "form"}, lead)
    assert [item.key for item in stage.items.all()] == ["n1"]
    imported(first, b"id,text,source\nn3,Fog.,note\n")
    assert [item.key for item in stage.items.order_by("id")] == ["n1", "n3"]
    assert {item.document for item in stage.items.all()} == {item.document for item in first.items.all()}
    assert stage.summary.__class__.objects.get(stage=stage).items == 2


def test_every_fault_of_a_new_stage_is_named_once_and_nothing_is_added(first, lead):
    wrong = {
        "title": "Ask", "key": "ask", "protocol": "spans", "reward": 0.1, "answers": 0,
        "input": {"stage": "later", "each": "word"}, "colour": "red",
    }  # fmt: skip
    with pytest.raises(SettingsRefusedError) as refusal:
        custom_stages.add_stage(first.project, wrong, lead)
    said = refusal.value.reasons
    assert len(said) == len(set(said)) == 4
    for place in ("answers must be", "reward must be", "input must be a table", "colour is unknown"):
        assert any(sentence.startswith(place) for sentence in said), (place, said)
    fits = {**wrong, "reward": "0.10", "answers": 1, "input": {"stage": "later", "each": "item"}}
    del fits["colour"]
    with pytest.raises(SettingsRefusedError) as refusal:
        custom_stages.add_stage(first.project, fits, lead)
    assert [sentence.split()[0] for sentence in refusal.value.reasons] == ["key", "protocol", "input.stage"]
    assert first.project.stages.count() == 1


def test_only_an_unused_stage_of_the_leads_own_is_removed(first, lead, market):
    project = first.project
    middle = custom_stages.add_stage(project, {"title": "Tone", "protocol": "form"}, lead)
    last = custom_stages.add_stage(project, {**OF_ANSWERS, "input": {"stage": "tone"}}, lead)
    with refused("stage_not_removable", match="stage of the recipe"):
        custom_stages.remove_stage(first, lead)
    with refused("stage_not_removable", match="named by “Rate”"):
        custom_stages.remove_stage(middle, lead)
    custom_stages.remove_stage(last, lead)
    imported(first)
    custom_stages.remove_stage(middle, lead)
    assert list(project.stages.values_list("key", "position")) == [("ask", 1)]
    again = custom_stages.add_stage(project, {"title": "Tone", "protocol": "form"}, lead)
    assert again.items.count() == 2
    published(again)
    with refused("stage_not_removable", match="was published"):
        custom_stages.remove_stage(again, lead)
    verbs = list(project.actions.order_by("id").values_list("verb", flat=True))
    assert verbs.count("added a stage") == 3 and verbs.count("removed a stage") == 2


def test_the_projects_file_and_its_clone_have_the_stage_too(first, lead):
    stage = custom_stages.add_stage(first.project, {**OF_ANSWERS, "draws": 7}, lead)
    made = project_files.clone(first.project, "Again", Decimal("5.00"), lead)
    copy = made.stages.get(key="rate")
    assert table_of(copy) == table_of(stage)
    text = project_files.written(first.project).replace('stage = "ask"', 'stage = "nowhere"')
    with refused("project_file_refused", match="input.stage must name an earlier stage, not 'nowhere'"):
        project_files.read(text.encode())


def test_a_row_of_any_recipes_stage_has_its_texts_as_columns(lead, market):
    """Such as the passage and the query of a ReCoRD item."""
    stage = make.stage()
    item = make.item(stage, state=Item.State.KEPT)
    verdict = make.verdict(item, outcome="kept")
    added = custom_stages.add_stage(
        stage.project, {"title": "Fluent", "protocol": "form", "input": {"stage": stage.key}}, lead
    )
    assert advancing.advance(stage) == 1
    row = columns(added)[0]
    assert (row["text"], row["query"]) == (item.document.data["text"], item.data["query"])
    assert verdict.pk


def test_a_release_has_the_votes_of_the_stage_in_files_of_its_own(first, market, lead):
    imported(first)
    stage = custom_stages.add_stage(first.project, {**OF_ANSWERS, "answers": 1, "requirements": []}, lead)
    task_settings.change_task(stage, {"settings": {"form": RATE}}, None)
    published(first)
    answered(first, market, *TWO)
    before = releasing.preview(first.project)
    assert before["counts"] == {"items": 2, "answers": 4, "rate items": 0, "rate answers": 0}
    assert before["left_out"] == {"rate: answers are missing": 4}
    published(stage)
    answered(stage, market, {"good": "4"})
    made, _ = releasing.release(first.project, lead)
    files = {file.name: file.blob.read().decode(errors="replace") for file in made.files.all()}
    assert {name for name in files if name.startswith("rate-")} == {
        "rate-items.csv", "rate-items.jsonl", "rate-items.parquet", "rate-answers.jsonl", "rate-annotations.parquet",
    }  # fmt: skip
    assert 'path: "rate-annotations.parquet"' in files["README.md"]
    rows = [json.loads(line) for line in files["rate-items.jsonl"].splitlines()]
    assert sorted(row["columns"]["ask.headline"] for row in rows) == ["Again", "Again", "Wet!", "Wet!"]
    assert {row["mean"]["good"] for row in rows} == {4.0}
