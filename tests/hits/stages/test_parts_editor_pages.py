"""A lead writes a form in plain inputs: nothing is lost on the way, faults stand at their input, files come and go."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from playwright.sync_api import expect

from hits.crowd.html import parse, read_form
from hits.models import Stage
from hits.protocols.form.protocol import protocol
from hits.protocols.form.ready import ready_forms
from hits.protocols.form.schema import form_of
from hits.stages.pages import parts_editor
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.protocols import forms

SETTING = next(setting for setting in protocol.fields if setting.kind == "parts")


@pytest.fixture
def stage(alice: Any) -> Stage:
    columns = {"settings": protocol.settings({}), "hit_title": "Old title", "protocol": "form", "key": "ask"}
    return make.stage(make.project(owner=alice), **columns)


def address(stage: Stage) -> str:
    return reverse("task-settings", args=[stage.project.slug, stage.key])


def typed(page: HttpResponse) -> dict[str, str]:
    """The fields of the task's form as a browser would send them."""
    (form,) = parse(page.content.decode()).all("form", "data-task-form")
    return read_form(form).fields


def form_in(page: HttpResponse) -> Any:
    """The form that is typed on the page, as it would be kept."""
    return form_of(parts_editor.posted(SETTING, typed(page))).as_json()


def as_posted(value: dict[str, Any]) -> dict[str, str]:
    """What a browser sends of the inputs that show this form."""
    editor = parts_editor.Editor(SETTING, value)
    found = {f"{SETTING.name}-typed": "yes"}
    for part in (part for shown in editor.lists for part in shown.parts):
        found[f"{part.name}-kind"] = part.kind.name
        found |= {f"{part.name}-rest": part.rest} if part.rest else {}
        for one in part.inputs:
            if one.setting.kind != "bool":
                found[one.name] = str(one.value)
            elif one.value:
                found[one.name] = "on"
    return found | {one.name: str(one.value) for one in editor.settings}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(forms.random_form())
def test_any_form_shown_in_inputs_and_read_again_is_the_same(made: Any) -> None:
    kept = form_of(made[0]).as_json()
    assert form_of(parts_editor.posted(SETTING, as_posted(kept))).as_json() == kept


@pytest.mark.parametrize("form", [forms.FORM, *(ready.form for ready in ready_forms())], ids=range(7))
def test_every_kind_shown_in_inputs_and_read_again_is_the_same(form: dict[str, Any]) -> None:
    rows = {
        "kind": "matrix",
        "key": "known",
        "question": "?",
        "rows": [{"id": "r", "text": "Row\nof two", "gold": "g"}],
    }
    kept = form_of({**form, "ask": [*form["ask"], rows]}).as_json()
    assert form_of(parts_editor.posted(SETTING, as_posted(kept))).as_json() == kept


@pytest.mark.django_db
def test_parts_are_added_moved_and_removed_without_being_saved(lead_client: Client, stage: Stage) -> None:
    page = lead_client.get(address(stage))
    for one in SETTING.editor.lists:  # type: ignore[union-attr]
        for kind in one.kinds:
            page = lead_client.post(
                address(stage), {**typed(page), f"form-{one.name}-new": kind.name, "do": f"form:{one.name}:add"}
            )
            assert page.status_code == 200
    found, last = form_in(page), len(forms_kinds(1))
    assert [part["kind"] for part in found["show"]] == list(forms_kinds(0))
    assert [part["key"] for part in found["ask"]] == ["answer", *(f"q{n}" for n in range(1, last + 1))]
    for verb in (
        *("form:ask:up:1", "form:ask:down:1", f"form:ask:down:{last}", "form:ask:up:0", "form:ask:remove:0"),
        *("form:show:remove:99", "form:nothing:up:1", "form:ask:up:x"),
    ):
        page = lead_client.post(address(stage), {**typed(page), "do": verb})
    assert [part["key"] for part in form_in(page)["ask"]] == ["q2", "answer", *(f"q{n}" for n in range(3, last + 1))]
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({})
    assert lead_client.post(address(stage), typed(page)).status_code == 302
    stage.refresh_from_db()
    assert len(stage.settings["form"]["ask"]) == last


def forms_kinds(number: int) -> list[str]:
    assert SETTING.editor is not None
    return [kind.name for kind in SETTING.editor.lists[number].kinds]


@pytest.mark.django_db
def test_a_fault_stands_at_the_input_that_it_is_about_and_nothing_is_saved(lead_client: Client, stage: Stage) -> None:
    wrong = {
        "show": [{"kind": "text", "text": "{open"}],
        "ask": [{"kind": "number", "key": "N", "question": "?", "low": "x"}],
    }
    fields = {**typed(lead_client.get(address(stage))), **as_posted(wrong)}
    page = lead_client.post(address(stage), fields)
    assert page.status_code == 400
    tree = parse(page.content.decode())
    for name, said in (
        ("form-show-0-text", "show[0].text has a brace that belongs to no {column}"),
        ("form-ask-0-key", "ask[0].key must be small letters and digits"),
        ("form-ask-0-low", "ask[0].low must be a number or left out, not 'x'."),
    ):
        (field,) = [node for node in tree.all("div", **{"class": "field"}) if any(
            one.attributes.get("name") == name for one in node.walk())]  # fmt: skip
        assert said in field.text()
    assert typed(page)["form-show-0-text"] == "{open"
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({})


@pytest.mark.django_db
def test_a_form_comes_from_a_file_or_a_ready_made_one_and_goes_out_as_a_file(lead_client: Client, stage: Stage) -> None:
    first = lead_client.get(address(stage))
    titles = [ready.title for ready in ready_forms()]
    page = lead_client.post(address(stage), {**typed(first), "do": f"form:ready:{titles.index('Demographics')}"})
    assert [part["key"] for part in form_in(page)["ask"]][:2] == ["age", "gender"]
    out = lead_client.post(address(stage), {**typed(page), "do": "form:export"})
    assert out["Content-Disposition"].startswith("attachment;") and out["Content-Type"] == "application/json"
    for content in (out.content, json.dumps({"title": "T", "form": json.loads(out.content)}).encode()):
        file = SimpleUploadedFile("form.json", content)
        page = lead_client.post(address(stage), {**typed(first), "do": "form:file", "form-file": file})
        assert form_in(page) == form_of(json.loads(out.content)).as_json()
    for content, said in (
        (b"{", "no JSON"),
        (b"[1]", "no object with ask and show"),
        (b"\xff", "no JSON"),
        (b"[" * 9999, "no JSON"),
    ):
        file = SimpleUploadedFile("form.json", content)
        page = lead_client.post(address(stage), {**typed(first), "do": "form:file", "form-file": file})
        assert said in page.content.decode() and form_in(page) == form_in(first)
    assert b"Choose a file first" in lead_client.post(address(stage), {**typed(first), "do": "form:file"}).content
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({})


@pytest.mark.django_db
def test_a_task_that_is_sent_without_the_form_keeps_it_and_a_published_one_shows_it(
    lead_client: Client, stage: Stage
) -> None:
    fields = {
        name: value for name, value in typed(lead_client.get(address(stage))).items() if not name.startswith("form-")
    }
    assert lead_client.post(address(stage), {**fields, "min_seconds": "9"}).status_code == 302
    stage.refresh_from_db()
    assert stage.settings == protocol.settings({"min_seconds": 9})
    make.hit(make.item(stage, document=make.document(stage.project, data={"columns": {}})))
    page = lead_client.get(address(stage)).content.decode()
    assert "Is this easy to understand?" in page and "data-task-form" not in page


@pytest.mark.django_db
def test_the_preview_loads_pictures_of_the_item_and_the_page_around_it_does_not(
    lead_client: Client, stage: Stage
) -> None:
    stage.settings = protocol.settings({"form": forms.FORM})
    stage.save()
    make.item(stage, document=make.document(stage.project, data={"columns": forms.COLUMNS}))
    framed = lead_client.get(reverse("preview-task", args=[stage.project.slug, stage.key]))["Content-Security-Policy"]
    assert "img-src 'self' data: https://pictures.example.org;" in f"{framed};" and "frame-ancestors 'self'" in framed
    assert "pictures.example.org" not in lead_client.get(address(stage))["Content-Security-Policy"]
    assert "Columns of an item: {text}, {answer a}" in lead_client.get(address(stage)).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_form_is_written_in_a_browser_and_seen_at_once(opened: Any, stage: Stage) -> None:
    stage.settings = protocol.settings({"form": forms.FORM})
    stage.save()
    page = opened(address(stage))
    assert faults_in_both_looks(page) == []
    page.get_by_label("Another question").select_option("dropdown")
    page.get_by_role("button", name="Add the question").click()
    last = len(forms.ASK) + 1
    added = page.get_by_role("group", name=f"Question {last}: One answer of a drop-down list")
    added.get_by_label("Question", exact=True).fill("Which harbour?")
    preview = page.frame_locator("iframe.task-frame")
    expect(preview.get_by_text("Which harbour?")).to_be_visible()
    page.get_by_role("button", name=f"Move up: question {last}").click()
    expect(page.get_by_role("group", name=f"Question {last - 1}: One answer of a drop-down list")).to_be_visible()
    expect(preview.get_by_text(f"{last - 1}. Which harbour?")).to_be_visible()
    page.get_by_role("radio", name="Phone").check()
    assert page.locator("iframe.task-frame").bounding_box()["width"] <= 360
    added = page.get_by_role("group", name=f"Question {last - 1}:")
    added.get_by_label("Key").press("Enter")
    expect(page.get_by_text("The task is saved")).to_be_visible()
    stage.refresh_from_db()
    assert [part["question"] for part in stage.settings["form"]["ask"]][last - 2] == "Which harbour?"
