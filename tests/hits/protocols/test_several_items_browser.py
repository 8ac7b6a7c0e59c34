"""A HIT about three items in a real browser: one after the other, with and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits import protocols
from hits.models import Draft, Hit
from tests.axe import faults_in_both_looks
from tests.hits import factories as make

pytestmark = pytest.mark.django_db(transaction=True)
FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "mood", "question": "How does it sound?", "choices": ["Glad", "Sad"]},
        {"kind": "short_text", "key": "why", "question": "Why?", "required": False},
    ],
}
TEXTS = ("The ferry sails again.", "Nobody came to the fair.", "The soup was warm.")


@pytest.fixture
def three(db: None) -> Hit:
    stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": FORM}), hit_title="Moods")
    items = [
        make.item(stage, document=make.document(stage.project, data={"columns": {"text": text}}), data={})
        for text in TEXTS
    ]
    return make.hit_about(items)


@pytest.fixture
def address(three: Hit, task_address: Callable[..., str]) -> str:
    return task_address(three)


def is_on(page: Page, number: int) -> None:
    expect(page.get_by_text(f"item {number} of 3")).to_be_visible()
    expect(page.get_by_text(TEXTS[number - 1])).to_be_visible()


def answer(page: Page, mood: str) -> None:
    page.get_by_role("radio", name=mood).check()


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Next item").click()


def posted(page: Page, marketplace: Any) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (fields,) = marketplace.posted
    left_out = ("assignmentId", "workerId", "seconds_open")
    return {name: value for name, value in fields.items() if value and name.split(":")[-1] not in left_out}


ALL_THREE = {"item1:mood": "glad", "item2:mood": "sad", "item2:why": "Nobody.", "mood": "glad", "item_number": "3"}


@pytest.mark.parametrize("scripts", [True, False])
def test_three_items_reach_the_marketplace_as_one_answer(
    new_page: Any, address: str, recording_marketplace: Any, scripts: bool
) -> None:
    page = new_page(java_script_enabled=scripts)
    page.goto(address)
    expect(page.get_by_text("There are 3 items, one after another")).to_be_visible()
    is_on(page, 1)
    answer(page, "Glad")
    go_on(page)
    is_on(page, 2)
    expect(page.get_by_role("radio", name="Glad")).not_to_be_checked()
    answer(page, "Sad")
    page.get_by_role("textbox", name="Why?").fill("Nobody.")
    go_on(page)
    is_on(page, 3)
    answer(page, "Glad")
    page.get_by_role("button", name="Submit all 3 answers").click()
    assert posted(page, recording_marketplace) == ALL_THREE


def test_three_items_by_keyboard_alone(new_page: Any, address: str, recording_marketplace: Any) -> None:
    page = new_page()
    page.goto(address)
    for number, key in enumerate("121", 1):
        is_on(page, number)
        page.keyboard.press(key)
        page.keyboard.press("Enter")
        if number == 2:
            page.keyboard.type("Nobody.")
        page.keyboard.press("Enter")
        expect(page.locator("button.submit")).to_be_focused()
        page.keyboard.press("Enter")
    assert posted(page, recording_marketplace) == ALL_THREE


def test_an_item_left_open_says_so_at_its_question_and_nothing_goes_on(
    new_page: Any, address: str, recording_marketplace: Any
) -> None:
    page = new_page()
    page.goto(address)
    go_on(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("“How does it sound\\?”, is not answered"))
    is_on(page, 1)
    assert page.locator(".fault").count() == 1
    without = new_page(java_script_enabled=False)
    without.goto(address)
    go_on(without)
    expect(without.get_by_role("alert")).to_have_text(re.compile("“How does it sound\\?”, is not answered"))
    is_on(without, 1)


def test_who_leaves_after_two_of_three_comes_back_to_the_third(
    new_page: Any, address: str, recording_marketplace: Any
) -> None:
    page = new_page()
    page.goto(address)
    for number, mood in enumerate(("Glad", "Sad"), 1):
        is_on(page, number)
        answer(page, mood)
        go_on(page)
    is_on(page, 3)
    # Another browser: nothing is left in this one's memory.
    again = new_page()
    again.goto(address)
    is_on(again, 3)
    again.get_by_role("button", name="Back").click()
    is_on(again, 2)
    expect(again.get_by_role("radio", name="Sad")).to_be_checked()
    again.get_by_role("textbox", name="Why?").fill("Nobody.")
    go_on(again)
    is_on(again, 3)
    answer(again, "Glad")
    again.get_by_role("button", name="Submit all 3 answers").click()
    assert posted(again, recording_marketplace) == ALL_THREE


def test_what_is_typed_on_an_item_is_kept_as_its_draft(new_page: Any, address: str) -> None:
    page = new_page()
    page.goto(address)
    answer(page, "Glad")
    go_on(page)
    is_on(page, 2)
    page.get_by_role("textbox", name="Why?").fill("Because")
    page.get_by_role("textbox", name="Why?").blur()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    kept = Draft.objects.get().fields
    assert (kept["item1:mood"], kept["why"], kept["item_number"]) == ("glad", "Because", "2")
    page.reload()
    is_on(page, 2)
    expect(page.get_by_role("textbox", name="Why?")).to_have_value("Because")


def test_no_item_has_an_accessibility_fault_or_is_wider_than_the_window(new_page: Any, address: str) -> None:
    page = new_page()
    page.goto(address)
    answer(page, "Glad")
    go_on(page)
    is_on(page, 2)
    go_on(page)
    expect(page.get_by_role("alert")).to_be_visible()
    assert faults_in_both_looks(page) == []
