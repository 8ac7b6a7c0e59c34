"""A lead writes a task without code, sees it as workers will, and cannot change it once it is published."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hits.flow.setup import setting_up
from hits.models import Stage
from hits.protocols.multiple_choice.protocol import protocol
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
TYPED = {
    "hit_title": "Say whether the ferry sails", "hit_description": "One short text, one question.",
    "instructions": "Read <b>slowly</b>.\r\n\r\nThen choose.", "question": "Does it sail?",
    "choices": "Yes | The text says so.\r\n\r\nNo\r\nCannot tell", "several": "", "shuffle": "on",
    "free_text": "optional", "free_text_label": "Why?", "free_text_needed_for": "No", "comment": "on",
    "min_seconds": "5", "early_submit": "notice",
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


def test_what_a_lead_typed_is_the_task(client: Client, stage: Stage) -> None:
    reply = client.post(address(stage), TYPED)
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
    assert b"Yes | The text says so.\nNo\nCannot tell" in client.get(address(stage)).content


def test_every_fault_is_told_at_once_at_its_field_and_nothing_is_saved(client: Client, stage: Stage) -> None:
    wrong = {**TYPED, "hit_title": " ", "question": "", "choices": "Alone", "min_seconds": "soon"}
    reply = client.post(address(stage), wrong)
    assert reply.status_code == 400
    said = reply.content.decode()
    for expected in ("4 fields to correct", "“Title” must not be blank", "“Question” must not be blank",
                     "2 to 40 lines, not 1", "Enter a whole number"):  # fmt: skip
        assert expected in said
    assert "Alone" in said
    stage.refresh_from_db()
    assert (stage.hit_title, stage.settings) == ("Old title", protocol.settings({}))


def test_two_stages_of_a_project_have_different_titles(client: Client, stage: Stage) -> None:
    make.stage(stage.project, hit_title=TYPED["hit_title"])
    assert b"another stage of this project" in client.post(address(stage), TYPED).content


def test_a_published_task_is_shown_and_refused_to_change(client: Client, stage: Stage) -> None:
    make.hit(make.item(stage))
    page = client.get(address(stage)).content.decode()
    assert "It can no longer change" in page and "Save the task" not in page
    reply = client.post(address(stage), TYPED)
    assert reply.status_code == 409 and b"Nothing was changed" in reply.content
    stage.refresh_from_db()
    assert stage.hit_title == "Old title"


def test_the_task_freezes_at_the_last_moment_too(stage: Stage) -> None:
    stale = Stage.objects.get(pk=stage.pk)
    Stage.objects.filter(pk=stage.pk).update(hit_type_id="3TYPE")
    with pytest.raises(setting_up.TaskFrozenError):
        setting_up.change_task(stale, {"settings": {"question": "New?"}}, None)


def test_the_preview_shows_what_is_typed_and_saves_nothing(client: Client, stage: Stage) -> None:
    reply = client.post(address(stage, "try-task"), TYPED)
    shown = squeezed(client.get(frame_of(reply)))
    assert "Read &lt;b&gt;slowly&lt;/b&gt;." in shown and "The text says so." in shown
    assert "Preview:" in shown and "externalSubmit" not in shown
    assert "(needed for: No)" in shown
    stage.refresh_from_db()
    assert stage.hit_title == "Old title"
    saved = client.get(address(stage, "preview-task")).content.decode()
    assert "slowly" not in saved and "Is this text easy to understand?" in saved


def test_what_cannot_be_shown_says_why_instead(client: Client, stage: Stage) -> None:
    said = client.post(address(stage, "try-task"), {**TYPED, "choices": "Alone"}).content.decode()
    assert "<iframe" not in said and "2 to 40 lines" in said


def test_the_preview_shows_the_first_item_once_there_is_one(client: Client, stage: Stage) -> None:
    assert "night train" in client.get(address(stage, "preview-task")).content.decode()
    document = make.document(stage.project, data={"text": "Our own first text."})
    make.item(stage, document=document, data={"question": "Our own question?"})
    shown = client.get(address(stage, "preview-task")).content.decode()
    assert "Our own first text." in shown and "Our own question?" in shown


def test_only_the_preview_may_be_framed_and_only_by_the_dashboard(client: Client, stage: Stage) -> None:
    framed = client.get(address(stage, "preview-task"))
    assert "frame-ancestors 'self'" in framed["Content-Security-Policy"]
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
    page = client.get(address(stage))
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"


def test_a_draft_of_another_stage_and_one_that_is_gone_are_not_found(client: Client, stage: Stage) -> None:
    query = frame_of(client.post(address(stage, "try-task"), TYPED)).split("?")[1]
    other = make.stage(stage.project, protocol="multiple_choice", settings=protocol.settings({}))
    assert client.get(f"{address(other, 'preview-task')}?{query}").status_code == 404
    assert client.get(f"{address(stage, 'preview-task')}?draft=0").status_code == 404


def test_trying_writes_nothing(client: Client, stage: Stage) -> None:
    with CaptureQueriesContext(connection) as queries:
        frame = frame_of(client.post(address(stage, "try-task"), TYPED))
        client.get(frame)
    assert {query["sql"].split()[0] for query in queries} <= {"SELECT"}


@pytest.mark.parametrize("name", ["select_all", "labelling", "clickable_entity"])
def test_other_protocols_get_the_page_by_describing_their_settings(client: Client, alice: Any, name: str) -> None:
    stage = make.stage(make.project(owner=alice), protocol=name)
    page = client.get(address(stage)).content.decode()
    assert "Minimum time, s" in page
    shown = client.get(address(stage, "preview-task"))
    assert shown.status_code == 200 and b"Preview:" in shown.content


def test_a_protocol_that_describes_nothing_shows_its_first_item(client: Client, alice: Any, monkeypatch: Any) -> None:
    monkeypatch.delattr("hits.protocols.clickable_entity.protocol.ClickableEntity.fields")
    stage = make.stage(make.project(owner=alice))
    assert "Least time" not in client.get(address(stage)).content.decode()
    assert b"Nothing to show yet" in client.get(address(stage, "preview-task")).content
    make.item(stage)
    assert b"Mara Okafor" in client.get(address(stage, "preview-task")).content
