"""A lead writes a task without code, sees it as workers will, and cannot change it once it is published."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits import protocols
from hits.models import Stage
from hits.projects.rules.plugins import recipe_of
from hits.protocols.given_settings import LONGEST_INSTRUCTIONS
from hits.protocols.multiple_choice.protocol import protocol
from hits.stages.pages import default_instructions
from hits.stages.pages.task_settings import LOOKED_AT
from hits.stages.verbs import task_settings
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
TYPED = {
    "hit_title": "Say whether the ferry sails", "hit_description": "One short text, one question.",
    "instructions": "Read <b>slowly</b>.\r\n\r\nThen choose.", "question": "Does it sail?",
    "choices": "Yes | The text says so.\r\n\r\nNo\r\nCannot tell", "several": "", "shuffle": "on",
    "free_text": "optional", "free_text_label": "Why?", "free_text_needed_for": "No", "comment": "on",
    "min_seconds": "5", "early_submit": "notice",
}  # fmt: skip


WITH_INSTRUCTIONS = {
    "answer_writing", "expert_review", "form", "labelling", "multiple_choice", "question_writing", "reading_test",
    "select_all", "spans", "staged_choice", "story",
}  # fmt: skip


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice)
    return make.stage(project, protocol="multiple_choice", settings=protocol.settings({}), hit_title="Old title")


def address(stage: Stage, name: str = "task-settings") -> str:
    return reverse(name, args=[stage.project.slug, stage.key])


def frame_of(reply: Any) -> str:
    found = re.search(r'<iframe[^>]* src="([^"]+)"', reply.content.decode())
    assert found
    return found[1]


def test_what_a_lead_typed_is_the_task(lead_client: Client, stage: Stage) -> None:
    reply = lead_client.post(address(stage), TYPED)
    assert (reply.status_code, reply["Location"]) == (302, address(stage))
    stage.refresh_from_db()
    assert stage.hit_title == "Say whether the ferry sails"
    assert stage.settings == protocol.settings(
        {
            "instructions": "Read <b>slowly</b>.\n\nThen choose.", "question": "Does it sail?", "shuffle": True,
            "choices": ["Yes | The text says so.", "No", "Cannot tell"], "free_text": "optional",
            "free_text_label": "Why?", "free_text_needed_for": ["no"], "min_seconds": 5,
        }
    )  # fmt: skip
    assert b"Yes | The text says so.\nNo\nCannot tell" in lead_client.get(address(stage)).content


def test_every_fault_is_told_at_once_at_its_field_and_nothing_is_saved(lead_client: Client, stage: Stage) -> None:
    wrong = {**TYPED, "hit_title": " ", "question": "", "choices": "Alone", "min_seconds": "soon"}
    reply = lead_client.post(address(stage), wrong)
    assert reply.status_code == 400
    said = reply.content.decode()
    for expected in ("4 fields to correct", "“Title” must not be blank", "“Question” must not be blank",
                     "2 to 40 lines, not 1", "Enter a whole number"):  # fmt: skip
        assert expected in said
    assert "Alone" in said
    stage.refresh_from_db()
    assert (stage.hit_title, stage.settings) == ("Old title", protocol.settings({}))


def test_two_stages_of_a_project_have_different_titles(lead_client: Client, stage: Stage) -> None:
    make.stage(stage.project, hit_title=TYPED["hit_title"])
    assert b"another stage of this project" in lead_client.post(address(stage), TYPED).content


def test_a_published_task_is_shown_and_refused_to_change(lead_client: Client, stage: Stage) -> None:
    make.hit(make.item(stage))
    page = lead_client.get(address(stage)).content.decode()
    assert "It can no longer change" in page and "Save the task" not in page
    reply = lead_client.post(address(stage), TYPED)
    assert reply.status_code == 409 and b"Nothing was changed" in reply.content
    stage.refresh_from_db()
    assert stage.hit_title == "Old title"


def test_the_task_freezes_at_the_last_moment_too(stage: Stage) -> None:
    stale = Stage.objects.get(pk=stage.pk)
    Stage.objects.filter(pk=stage.pk).update(hit_type_id="3TYPE")
    with refused("task_frozen"):
        task_settings.change_task(stale, {"settings": {"question": "New?"}}, None)


def test_the_preview_shows_what_is_typed_and_saves_nothing(lead_client: Client, stage: Stage) -> None:
    reply = lead_client.post(address(stage, "try-task"), TYPED)
    shown = squeezed(lead_client.get(frame_of(reply)))
    assert "Read &lt;b&gt;slowly&lt;/b&gt;." in shown and "The text says so." in shown
    assert "Preview:" in shown and "externalSubmit" not in shown
    assert "(needed for: No)" in shown
    stage.refresh_from_db()
    assert stage.hit_title == "Old title"
    saved = lead_client.get(address(stage, "preview-task")).content.decode()
    assert "slowly" not in saved and "Is this text easy to understand?" in saved


def test_what_cannot_be_shown_says_why_instead(lead_client: Client, stage: Stage) -> None:
    said = lead_client.post(address(stage, "try-task"), {**TYPED, "choices": "Alone"}).content.decode()
    assert "<iframe" not in said and "2 to 40 lines" in said


def test_the_preview_shows_the_first_item_once_there_is_one(lead_client: Client, stage: Stage) -> None:
    assert "night train" in lead_client.get(address(stage, "preview-task")).content.decode()
    document = make.document(stage.project, data={"text": "Our own first text."})
    make.item(stage, document=document, data={"question": "Our own question?"})
    shown = lead_client.get(address(stage, "preview-task")).content.decode()
    assert "Our own first text." in shown and "Our own question?" in shown


def test_only_the_preview_may_be_framed_and_only_by_the_dashboard(lead_client: Client, stage: Stage) -> None:
    framed = lead_client.get(address(stage, "preview-task"))
    assert "frame-ancestors 'self'" in framed["Content-Security-Policy"]
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
    page = lead_client.get(address(stage))
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"


def test_a_draft_of_another_stage_and_one_that_is_gone_are_not_found(lead_client: Client, stage: Stage) -> None:
    query = frame_of(lead_client.post(address(stage, "try-task"), TYPED)).split("?")[1]
    other = make.stage(stage.project, protocol="multiple_choice", settings=protocol.settings({}))
    assert lead_client.get(f"{address(other, 'preview-task')}?{query}").status_code == 404
    assert lead_client.get(f"{address(stage, 'preview-task')}?draft=0").status_code == 404


def test_trying_writes_nothing(lead_client: Client, stage: Stage) -> None:
    with CaptureQueriesContext(connection) as queries:
        frame = frame_of(lead_client.post(address(stage, "try-task"), TYPED))
        lead_client.get(frame)
    assert {query["sql"].split()[0] for query in queries} <= {"SELECT"}


@pytest.mark.parametrize("name", ["select_all", "labelling", "clickable_entity"])
def test_other_protocols_get_the_page_by_describing_their_settings(lead_client: Client, alice: Any, name: str) -> None:
    stage = make.stage(make.project(owner=alice), protocol=name)
    page = lead_client.get(address(stage)).content.decode()
    assert "Minimum time (seconds)" in page
    shown = lead_client.get(address(stage, "preview-task"))
    assert shown.status_code == 200 and b"Preview:" in shown.content


def test_a_protocol_that_describes_nothing_shows_its_first_item(
    lead_client: Client, alice: Any, monkeypatch: Any
) -> None:
    monkeypatch.delattr("hits.protocols.clickable_entity.protocol.ClickableEntity.fields")
    stage = make.stage(make.project(owner=alice))
    assert "Least time" not in lead_client.get(address(stage)).content.decode()
    assert b"Nothing to show yet" in lead_client.get(address(stage, "preview-task")).content
    make.item(stage)
    assert b"Mara Okafor" in lead_client.get(address(stage, "preview-task")).content


def test_what_every_item_brings_itself_is_not_listed_as_asked(lead_client: Client, stage: Stage) -> None:
    own = {"question": "Who won?", "choices": [{"id": "c1", "text": "Ada"}, {"id": "c2", "text": "Ben"}]}
    item = make.item(stage, data=own)
    written = squeezed(lead_client.get(address(stage)))
    assert written.count("Not asked now: every item of this stage brings its own.") == 2
    make.hit(item)
    frozen = squeezed(lead_client.get(address(stage))).partition("As it was published")[2]
    frozen = frozen.partition("</dl>")[0]
    assert frozen.count("each item’s own") == 2 and "Is this text easy to understand?" not in frozen
    make.item(stage, data={"question": "Who lost?"})
    frozen = squeezed(lead_client.get(address(stage))).partition("As it was published")[2]
    frozen = frozen.partition("</dl>")[0]
    assert frozen.count("each item’s own") == 1 and "Yes" in frozen


def test_of_many_items_the_first_are_looked_at_and_the_page_says_so(lead_client: Client, stage: Stage) -> None:
    own = {"question": "Who won?", "choices": [{"id": "c1", "text": "Ada"}, {"id": "c2", "text": "Ben"}]}
    asked = []
    make.items(stage, 100, data=own)
    for more in (0, LOOKED_AT - 100, 1000):
        make.items(stage, more, data={"question": "Who lost?"} if more == 1000 else own)
        with CaptureQueriesContext(connection) as queries:
            page = squeezed(lead_client.get(address(stage)))
        asked.append(len(queries))
        whole = page.count("Not asked now: every item of this stage brings its own.")
        part = page.count(f"Not asked now: each of the first {LOOKED_AT} items of this stage brings its own.")
        assert (whole, part) == ((0, 2) if more == 1000 else (2, 0))
    assert len(set(asked)) == 1
    make.hit(stage.items.order_by("pk")[0])
    frozen = squeezed(lead_client.get(address(stage))).partition("As it was published")[2].partition("</dl>")[0]
    assert frozen.count(f"each item’s own (of the first {LOOKED_AT} items)") == 2


@pytest.mark.parametrize("published", [False, True])
def test_labels_that_call_for_more_are_said_in_their_words(lead_client: Client, alice: Any, published: bool) -> None:
    asked = {
        "labels": ["Common sense", "No"],
        "dependent_labels": ["Causes", "Other"],
        "dependent_on": ["Common sense"],
    }
    settings = protocols.get("labelling").settings(asked)
    stage = make.stage(make.project(owner=alice), protocol="labelling", settings=settings)
    if published:
        make.hit(make.item(stage))
    page = squeezed(lead_client.get(address(stage))).partition("Labels that call for it, one a line")[2]
    said = page.partition("Question above them")[0]
    assert "Common sense" in said and "common-sense" not in said


def test_a_published_task_says_chosen_options_in_their_words(lead_client: Client, stage: Stage) -> None:
    make.hit(make.item(stage))
    frozen = squeezed(lead_client.get(address(stage))).partition("As it was published")[2].partition("</dl>")[0]
    assert "say so, and let the worker decide" in frozen and not re.search(r">\s*notice\s*<", frozen)


@pytest.mark.parametrize(
    ("key", "said", "other"),
    [("vp-long", "about time that uses the phrase", "_np"), ("np-short", "the phrase is the answer", "_vp")],
)
def test_the_preview_of_a_stage_of_questions_has_the_instructions_of_its_part(
    lead_client: Client, alice: Any, key: str, said: str, other: str
) -> None:
    project = make.project(owner=alice, recipe="mcscript")
    found = next(one for one in recipe_of(project).stages if one.key == key)
    stage = make.stage(project, key=key, protocol=found.protocol, settings=found.settings)
    page = lead_client.get(address(stage))
    assert said in squeezed(lead_client.get(frame_of(page)))
    assert f"instructions{other}" not in page.content.decode()


def test_a_lead_starts_from_our_instructions_instead_of_typing_them_again(lead_client: Client, stage: Stage) -> None:
    page = lead_client.get(address(stage)).content.decode()
    assert 'value="start-from-ours"' in page
    reply = lead_client.post(
        address(stage), {**TYPED, "instructions": "", "question": "Is it late?", "do": "start-from-ours"}
    )
    written = str(reply.context["form"]["instructions"].value())
    shown = squeezed(lead_client.get(frame_of(reply)))
    first, _, rest = written.partition("\n\n")
    assert first and rest and "<" not in written and first.split(".")[0] in shown
    # What else was typed is there, and nothing is saved.
    assert "Is it late?" in reply.content.decode() and 'value="start-from-ours"' not in reply.content.decode()
    stage.refresh_from_db()
    assert stage.settings["instructions"] == ""


@pytest.mark.parametrize("name", protocols.available())
def test_every_task_whose_instructions_can_be_written_has_ours_as_text(alice: Any, name: str) -> None:
    stage = make.stage(make.project(owner=alice), protocol=name, settings={})
    assert bool(default_instructions.field_of(stage)) == (name in WITH_INSTRUCTIONS)
    if default_instructions.field_of(stage):
        text = default_instructions.of(stage)
        assert 100 < len(text) < LONGEST_INSTRUCTIONS and "<" not in text and "{" not in text


def test_points_of_a_list_stand_below_one_another_and_paragraphs_apart() -> None:
    html = "<p>Read <b>all</b> of\n it.</p><ol><li>First</li><li>Then</li></ol><ul><li>Or</li></ul><p>A &amp; b</p>"
    assert default_instructions.as_text(html) == "Read all of it.\n\n1. First\n2. Then\n- Or\n\nA & b"
