"""The page "Task" in a real browser: a lead types and sees at once what workers will see."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from hits.models import Stage
from hits.protocols.labelling.protocol import protocol
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.lead_pages import Opener

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def address(alice: Any) -> str:
    project = make.project(owner=alice)
    stage = make.stage(project, protocol="labelling", settings=protocol.settings({}))
    return reverse("task-settings", args=[project.slug, stage.key])


def test_the_preview_follows_the_typing_and_faults_take_its_place(opened: Opener, address: str) -> None:
    page = opened(address)
    shown = page.frame_locator(".task-frame")
    expect(shown.get_by_text("Rosa filled two bags")).to_be_visible()
    labels = page.get_by_label("Labels, one a line")
    labels.fill("A cause\nAn effect | What follows.")
    expect(shown.get_by_text("What follows.")).to_be_visible()
    assert shown.get_by_role("radio").count() == 2
    assert shown.locator(".choice").first.evaluate("e => getComputedStyle(e).display") == "flex"
    labels.fill("Alone")
    expect(page.get_by_text("must hold 2 to 40 lines, not 1")).to_be_visible()
    expect(labels).to_be_focused()
    labels.fill("A cause\nAn effect")
    page.get_by_role("button", name="Save the task").click()
    expect(page.get_by_role("status").first).to_have_text(re.compile("The task is saved"))
    assert [label["text"] for label in Stage.objects.get().settings["labels"]] == ["A cause", "An effect"]


def test_a_refused_form_and_its_preview_are_accessible(opened: Opener, address: str, live_server: Any) -> None:
    page = opened(address)
    page.get_by_label("Labels, one a line").fill("Alone")
    page.get_by_role("button", name="Save the task").click()
    expect(page.get_by_role("alert")).to_have_text(re.compile("1 field to correct"))
    assert faults_in_both_looks(page) == []
    page.goto(live_server.url + address.replace("/task/", "/task/preview/"))
    assert faults_in_both_looks(page) == []


def test_without_a_script_a_task_is_written_and_previewed(opened: Opener, address: str) -> None:
    page = opened(address, java_script_enabled=False)
    page.get_by_label("Question", exact=True).fill("What kind of question is this?")
    page.get_by_role("button", name="Save the task").click()
    expect(page.frame_locator(".task-frame").get_by_text("What kind of question is this?")).to_be_visible()
