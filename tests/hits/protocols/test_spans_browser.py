"""Marking spans of a text in a real browser: by mouse, by keyboard, by touch, without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hits import protocols
from hits.models import Hit
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.task_page import instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
# The signs before a name are one character each, and two units of a browser.
TEXT = (
    "🛳🛳 Annika de Wit rang Pieter Maas, the harbour master, before the tide came in.\n"
    "Four trawlers lay across the mouth of the harbour until the Water Board had closed the gate of Veere."
)
PROPOSALS = {"proposals": [[3, 16, "person", 2], [3, 9, "person", 1], [175, 180, "place", 3]], "answers": 3}


@pytest.fixture
def task(db, task_address) -> Callable[..., str]:
    """The address of a task with these settings."""

    def task(data: dict[str, Any] | None = None, text: str = TEXT, **settings: Any) -> str:
        stage = make.stage(protocol="spans", settings=protocols.get("spans").settings(settings))
        document = make.document(stage.project, data={"text": text})
        hit: Hit = make.hit(make.item(stage, document=document, data=data or {}))
        return task_address(hit)

    return task


def span(words: str, label: str, text: str = TEXT) -> list[Any]:
    start = text.index(words)
    return [start, start + len(words), label]


def word(page: Page, text: str) -> Locator:
    return page.locator("[data-marking] .word").get_by_text(text, exact=True).first


def label(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Labels").get_by_role("button", name=name)


def kept(page: Page) -> list[Any]:
    return json.loads(page.locator("[name=spans]").input_value() or "[]")


def submitted(page: Page, marketplace: Any) -> dict[str, str]:
    page.get_by_role("button", name="Submit answer").click()
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def drag(page: Page, first: Locator, last: Locator, inset: float = 2) -> None:
    begin, end = first.bounding_box(), last.bounding_box()
    assert begin and end
    # Within the word with any font.
    page.mouse.move(begin["x"] + min(inset, begin["width"] / 3), begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - min(inset, end["width"] / 3), end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_by_mouse_a_drag_or_a_click_on_both_ends_and_then_a_label(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task())
    drag(page, word(page, "Annika"), word(page, "Wit"))
    label(page, "Person").click()
    word(page, "Water").click()
    word(page, "Board").click()
    label(page, "Organisation").click()
    word(page, "Veere").click()
    label(page, "Place").click()
    posted = submitted(page, recording_marketplace)
    assert json.loads(posted["spans"]) == [
        span("Annika de Wit", "person"), span("Water Board", "organisation"), span("Veere", "place"),
    ]  # fmt: skip
    assert "nothing" not in posted


def test_a_drag_that_begins_and_ends_within_words_takes_them_whole_and_may_run_backwards(new_page, task):
    page = new_page()
    page.goto(task())
    drag(page, word(page, "Annika"), word(page, "Wit"), inset=14)
    label(page, "Person").click()
    maas, pieter = word(page, "Maas").bounding_box(), word(page, "Pieter").bounding_box()
    page.mouse.move(maas["x"] + maas["width"] - 4, maas["y"] + 10)
    page.mouse.down()
    page.mouse.move(pieter["x"] + 4, pieter["y"] + 10, steps=5)
    page.mouse.up()
    page.keyboard.press("1")
    assert kept(page) == [span("Annika de Wit", "person"), span("Pieter Maas", "person")]


def test_by_keyboard_alone_a_span_is_begun_ended_labelled_and_deleted(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task())
    expect(page.get_by_role("application", name="Text")).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-marking]')"):
            break
    press(page, "Space", "ArrowRight", "ArrowRight")
    expect(page.get_by_role("status")).to_have_text(re.compile("“Annika de Wit” is chosen"))
    press(page, "Space", "1")
    assert kept(page) == [span("Annika de Wit", "person")]
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "1")
    press(page, "ArrowDown", "ArrowDown", "ArrowDown", "Control+End", "2")
    assert kept(page) == [span("Annika de Wit", "person"), span("Pieter Maas", "person"), span("Veere", "place")]
    press(page, "Control+Home", "Delete")
    expect(page.get_by_role("status")).to_have_text("“Annika de Wit” is no longer marked.")
    press(page, "Space", "Escape", "Delete")
    expect(page.get_by_role("status")).to_have_text("Nothing is marked here.")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('button.submit')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = recording_marketplace.posted
    assert json.loads(posted["spans"]) == [span("Pieter Maas", "person"), span("Veere", "place")]


def test_the_arrows_up_and_down_go_to_the_line_above_and_below(new_page, task):
    page = new_page(600)
    page.goto(task())
    area = page.locator("[data-marking]")
    area.focus()
    top = lambda: page.locator(".cursor").bounding_box()["y"]  # noqa: E731
    first = top()
    press(page, "ArrowRight", "ArrowLeft", "ArrowDown")
    assert top() > first
    press(page, "ArrowUp")
    assert top() == first


def test_by_touch_at_360_px_the_first_and_the_last_word_are_tapped(new_page, task, recording_marketplace):
    page = new_page(360, 740, is_mobile=True, has_touch=True)
    page.goto(task())
    instructions_read(page)
    word(page, "Annika").tap()
    word(page, "Wit").tap()
    label(page, "Person").tap()
    assert kept(page) == [span("Annika de Wit", "person")]
    word(page, "Veere").tap()
    label(page, "Place").tap()
    page.get_by_role("button", name="Delete “Annika de Wit”, Person").tap()
    assert kept(page) == [span("Veere", "place")]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Submit answer").tap()
    page.wait_for_url(re.compile("externalSubmit"))
    assert json.loads(recording_marketplace.posted[0]["spans"]) == [span("Veere", "place")]


def test_a_reload_keeps_the_draft_of_the_server_and_of_the_browser(new_page, task):
    page = new_page()
    address = task()
    page.goto(address)
    drag(page, word(page, "Annika"), word(page, "Wit"))
    label(page, "Person").click()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.goto(address)
    expect(page.locator(".marked").filter(has_text="Annika")).to_have_count(1)
    assert kept(page) == [span("Annika de Wit", "person")]
    page.route("**/task/draft/", lambda route: route.abort())
    word(page, "Veere").click()
    label(page, "Place").click()
    page.reload()
    expect(page.get_by_role("button", name="Delete “Veere”, Place")).to_be_visible()
    assert kept(page) == [span("Annika de Wit", "person"), span("Veere", "place")]


def test_a_span_that_overlaps_is_refused_and_another_label_replaces_the_one_before(new_page, task):
    page = new_page()
    page.goto(task())
    drag(page, word(page, "Annika"), word(page, "Wit"))
    label(page, "Person").click()
    word(page, "Wit").click()
    label(page, "Place").click()
    expect(page.locator("[data-hint]")).to_have_text("“Wit” overlaps “Annika de Wit”. Delete that one first.")
    drag(page, word(page, "Annika"), word(page, "Wit"))
    label(page, "Place").click()
    assert kept(page) == [span("Annika de Wit", "place")]


def test_spans_may_overlap_where_the_stage_says_so_and_both_can_be_seen(new_page, task):
    page = new_page()
    page.goto(task(overlap=True))
    drag(page, word(page, "Annika"), word(page, "Wit"))
    label(page, "Person").click()
    word(page, "Wit").click()
    label(page, "Place").click()
    assert kept(page) == [span("Annika de Wit", "person"), span("Wit", "place")]
    expect(page.locator(".several")).to_have_attribute("data-tag", re.compile("1 2"))


def test_single_characters_can_be_dragged_over_and_their_ends_moved(new_page, task):
    page = new_page()
    page.goto(task(whole_words=False))
    word(page, "Veere").click()
    page.get_by_role("button", name="Start one character later").click()
    page.get_by_role("button", name="End one character earlier").click()
    label(page, "Place").click()
    assert kept(page) == [span("eer", "place")]
    area = page.locator("[data-marking]")
    area.focus()
    press(page, "Control+Home", "ArrowRight", "Shift+ArrowRight", "1")
    assert kept(page)[0] == [1, 4, "person"], "a sign of two units is one step and one character"
    assert TEXT[1:4] == "🛳 A"


def test_a_selection_counts_characters_and_no_units_of_the_browser(new_page, task):
    page = new_page()
    page.goto(task(text="x 🛳🛳 y", whole_words=False))
    select = "node => getSelection().setBaseAndExtent(node.firstChild, 1, node.firstChild, 5)"
    page.locator("[data-marking] [data-start='1']").evaluate(select)
    word(page, "y").dispatch_event("mouseup", {"bubbles": True})
    label(page, "Place").click()
    assert kept(page) == [[2, 4, "place"]]


def test_in_a_text_without_spaces_each_character_is_marked_and_a_latin_word_as_a_whole(
    new_page, task, recording_marketplace
):
    text = "田中さんはSonyで働く。"
    page = new_page()
    page.goto(task(text=text))
    drag(page, word(page, "田"), word(page, "中"))
    label(page, "Person").click()
    word(page, "Sony").click()
    label(page, "Organisation").click()
    posted = submitted(page, recording_marketplace)
    assert json.loads(posted["spans"]) == [span("田中", "person", text), span("Sony", "organisation", text)]


def test_nothing_to_mark_is_said_with_a_box_and_ends_with_the_first_mark(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task())
    page.get_by_role("button", name="Submit answer").click()
    expect(page.get_by_role("alert")).to_have_text(re.compile("Nothing is marked yet"))
    box = page.get_by_label("There is nothing to mark")
    box.check()
    word(page, "Veere").click()
    label(page, "Place").click()
    expect(box).not_to_be_checked()
    expect(box).to_be_disabled()
    page.get_by_role("button", name="Delete “Veere”, Place").click()
    box.check()
    posted = submitted(page, recording_marketplace)
    assert (posted["spans"], posted["nothing"]) == ("", "yes")


def test_who_decides_takes_what_others_marked(new_page, task, recording_marketplace):
    page = new_page()
    page.goto(task(PROPOSALS))
    expect(page.get_by_text("Person, 2 of 3")).to_be_visible()
    page.get_by_role("button", name="Take “Annika de Wit”, Person").click()
    page.get_by_role("button", name="Take “Annika”, Person").click()
    expect(page.locator("[data-hint]")).to_have_text(re.compile("overlaps"))
    page.get_by_role("button", name="Take “Veere”, Place").click()
    assert json.loads(submitted(page, recording_marketplace)["spans"]) == [
        span("Annika de Wit", "person"),
        span("Veere", "place"),
    ]


def test_without_a_script_the_numbers_of_the_words_are_written(new_page, task, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task())
    shown = page.locator(".word").nth(2).evaluate("word => getComputedStyle(word, '::before').content")
    assert shown == '"3 "'
    page.get_by_label("First word").first.fill("1")
    page.get_by_label("Last word").first.fill("3")
    page.get_by_role("combobox", name="Label").first.select_option("person")
    posted = submitted(page, recording_marketplace)
    checked = protocols.get("spans").check({"text": TEXT}, {}, protocols.get("spans").settings({}), posted)
    assert checked.labels[0].value == [span("Annika de Wit", "person")]


def test_the_page_sets_no_cookie(new_page, task):
    page = new_page()
    page.goto(task())
    word(page, "Veere").click()
    label(page, "Place").click()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    assert page.context.cookies() == []


def test_the_page_is_accessible_and_keeps_within_its_width(new_page, task):
    page = new_page()
    for settings in ({}, {"whole_words": False, "overlap": True}):
        page.goto(task(PROPOSALS, **settings))
        for name in ("Take “Annika de Wit”, Person", "Take “Veere”, Place"):
            page.get_by_role("button", name=name).click()
        word(page, "trawlers").click()
        assert faults_in_both_looks(page) == []
