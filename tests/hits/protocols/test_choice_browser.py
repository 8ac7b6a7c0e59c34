"""Tasks of choosing in a real browser: by mouse, by keyboard, without a script, on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits import protocols
from hits.models import Hit
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.answers import story

pytestmark = pytest.mark.django_db(transaction=True)
TWO_LISTS = {
    "labels": ["Other words", "Common sense | What nobody has to write down."], "several": True,
    "dependent_labels": ["Causes", "Feelings"], "dependent_on": ["Common sense"],
    "dependent_question": "What kind of common sense?",
}  # fmt: skip
ITEMS: dict[str, dict[str, Any]] = {
    "multiple_choice": {"question": "Who rang the harbour master?", "choices": story.PEOPLE},
    "select_all": {"question": "What kept the water out?", "candidates": story.CANDIDATES},
    "labelling": {"question": "What kept the water out?", "candidates": story.CANDIDATES, "intended": "c0"},
}


@pytest.fixture
def task(db, task_address):
    """The address of a task of that protocol with these settings."""

    def task(name: str, **settings: Any) -> str:
        options = protocols.get(name).settings(settings)
        stage = make.stage(protocol=name, settings=options)
        document = make.document(stage.project, data={"text": story.TEXT})
        hit: Hit = make.hit(make.item(stage, document=document, data=ITEMS[name]))
        return task_address(hit)

    return task


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return {name: value for name, value in posted.items() if name not in ("assignmentId", "workerId", "seconds_open")}


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def press_until(page: Page, key: str, focused: str) -> None:
    """Presses the key until that element has the focus."""
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", focused):
            return
    raise AssertionError(f"{focused} cannot be reached by {key}")


def test_one_choice_by_mouse_with_words_that_it_needs(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task("multiple_choice", free_text="required", free_text_label="How do you know?", shuffle=True))
    page.get_by_text("Pieter Maas", exact=True).click()
    page.get_by_text("Annika de Wit", exact=True).click()
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("The text is missing"))
    page.get_by_label("How do you know?").fill("She rang him at home.")
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.pop("order") in ("annika pieter", "pieter annika")
    assert posted == {"choice": "annika", "text": "She rang him at home.", "comment": ""}


def test_one_choice_by_keyboard_alone(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task("multiple_choice"))
    press_until(page, "Tab", "[name=choice]")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Pieter Maas")).to_be_checked()
    press_until(page, "Tab", "button.submit")
    page.keyboard.press("Enter")
    assert submitted(page, recording_marketplace)["choice"] == "pieter"


def test_none_of_the_above_and_the_others_exclude_each_other(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task("select_all"))
    none, bolt = page.get_by_label("None of the above"), page.get_by_label("A new bolt.")
    press_until(page, "Tab", "[type=checkbox]")
    page.keyboard.press("Space")
    bolt.check()
    assert page.locator("[data-choices] :checked").count() >= 1
    none.check()
    expect(page.locator("[data-choices] :checked")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text(re.compile("No longer ticked: .*A new bolt"))
    bolt.press("Space")
    expect(none).not_to_be_checked()
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert sorted(posted["order"].split()) == ["c0", "c1", "c2", "c3"]
    assert {name for name in posted if name.startswith("selected")} == {"selected-c2"}


def test_the_second_list_opens_with_the_label_that_calls_for_it(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task("labelling", **TWO_LISTS))
    expect(page.locator(".material").get_by_text("right answer")).to_have_count(1)
    second = page.get_by_role("group", name="What kind of common sense?")
    expect(second).to_be_hidden()
    page.get_by_label("Common sense").press("Space")
    expect(second).to_be_visible()
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("The second list has no label yet"))
    second.get_by_label("Causes").check()
    submit(page)
    assert submitted(page, recording_marketplace) == {"has-common-sense": "yes", "has-causes": "yes", "comment": ""}


def test_a_draft_of_boxes_comes_back_from_the_server(new_page, task):
    page = new_page()
    address = task("labelling", **TWO_LISTS)
    page.goto(address)
    page.get_by_label("Other words").check()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.goto(address)
    expect(page.get_by_label("Other words")).to_be_checked()
    expect(page.get_by_label("Common sense")).not_to_be_checked()


def test_an_answer_without_a_script_reaches_the_marketplace(new_page, task, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task("multiple_choice", several=True))
    page.get_by_label("Annika de Wit").check()
    submit(page)
    assert submitted(page, recording_marketplace)["chosen-annika"] == "yes"


def test_the_pages_are_accessible_and_keep_within_their_width(new_page, task):
    page = new_page()
    for name, settings in (
        ("multiple_choice", {"free_text": "optional"}),
        ("select_all", {}),
        ("labelling", TWO_LISTS),
    ):
        page.goto(task(name, **settings))
        if name == "labelling":
            page.get_by_label("Common sense").check()
        assert faults_in_both_looks(page) == [], name


@pytest.mark.parametrize("name", list(ITEMS))
def test_on_a_phone_the_question_stays_in_sight_at_the_end_of_the_text(new_page, task, name):
    page = new_page(360, 740, is_mobile=True, has_touch=True)
    page.goto(task(name))
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator(".choices legend").first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Submit answer")).to_be_in_viewport()
