"""Agreeing to a project's terms, in a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from hits.models import Assignment, Hit
from hits.people.rules import terms
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.people.test_terms_task_pages import ASKED, BOX
from tests.hits.task_page import WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("width", [1280, 360])
def test_a_worker_reads_ticks_and_submits(
    width: int, hit: Hit, task_address: Any, new_page: Any, recording_marketplace: Any
) -> None:
    make.terms(hit.stage.project, text="# What we do\n\nAnswers are **published**, without your worker id.\n" * 9)
    page = new_page(width, 800)
    page.goto(task_address())
    instructions_read(page)
    agree = page.get_by_label(BOX)
    expect(agree).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".passage .mention", has_text="Annika de Wit").first.click()
    page.get_by_role("button", name="Submit answer").click()
    expect(page.locator("[data-notice]")).to_contain_text(ASKED)
    expect(agree).to_be_focused()
    assert recording_marketplace.posted == []
    page.keyboard.press("Space")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.reload()
    expect(agree).to_be_checked()
    page.get_by_role("button", name="Submit answer").click()
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = recording_marketplace.posted
    assert posted[terms.FIELD] == "1" and posted["text"] == "Annika de Wit"
    assert not Assignment.objects.exists()


def test_what_the_browser_remembers_does_not_overwrite_the_version_that_was_agreed_to(
    hit: Hit, task_address: Any, new_page: Any, recording_marketplace: Any
) -> None:
    page = new_page()
    page.goto(task_address())
    instructions_read(page)
    page.route("**/task/draft/", lambda route: route.abort())
    page.locator(".passage .mention", has_text="Annika de Wit").first.click()
    expect(page.locator("[data-draft-state]")).to_contain_text("Not saved")
    version = make.terms(hit.stage.project)
    make.assignment(make.hit(make.item(hit.stage)), make.worker(WORKER), terms=version)
    page.reload()
    expect(page.get_by_text("You agreed to version 1")).to_be_visible()
    assert page.locator('[name="project:terms"]').input_value() == "1"


def test_until_the_first_answer_is_recorded_the_box_is_ticked_at_the_next_hit(
    hit: Hit, task_address: Any, new_page: Any, recording_marketplace: Any
) -> None:
    """Also in a frame that may store nothing in the browser."""
    project = hit.stage.project
    make.terms(project)
    page = new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })")
    page.goto(task_address())
    instructions_read(page)
    page.get_by_label(BOX).check()
    page.locator(".passage .mention", has_text="Annika de Wit").first.click()
    page.get_by_role("button", name="Submit answer").click()
    page.wait_for_url(re.compile("externalSubmit"))
    assert not Assignment.objects.exists()

    page.goto(task_address(assignmentId="3THENEXTASSIGNMENT"))
    before = page.get_by_text("You agreed to this version with an answer before this one.")
    expect(page.get_by_label(BOX)).to_be_checked()
    expect(before).to_be_visible()
    expect(page.locator(".terms-text")).to_be_hidden()
    page.get_by_label(BOX).uncheck()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.reload()
    expect(page.get_by_label(BOX)).not_to_be_checked()

    page.goto(task_address(assignmentId="3THENEXTASSIGNMENT", workerId="AANOTHERWORKER"))
    expect(page.get_by_label(BOX)).not_to_be_checked()
    expect(before).to_be_hidden()

    make.terms(project, version=2, text="Other terms")
    page.goto(task_address(assignmentId="3THELASTASSIGNMENT"))
    expect(page.get_by_label(BOX)).not_to_be_checked()
