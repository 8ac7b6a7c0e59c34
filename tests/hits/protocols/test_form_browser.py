"""A form with every kind of display and field in a real browser: by mouse, by keys alone, without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits import protocols
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.keyboard import press_until
from tests.hits.protocols import forms

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def task(db: None, task_address: Callable[..., str]) -> Callable[..., str]:
    """The address of a task with that form, about the columns of the tests."""

    def task(form: dict[str, Any]) -> str:
        stage = make.stage(protocol="form", settings=protocols.get("form").settings({"form": form}))
        document = make.document(stage.project, data={"columns": forms.COLUMNS})
        return task_address(make.hit(make.item(stage, document=document, data={})))

    return task


NAMES = [{"start": 3, "end": 13, "label": "person"}, {"start": 42, "end": 48, "label": "place"}]


def posted_to(page: Page, marketplace: Any) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return {name: value for name, value in posted.items() if name not in ("assignmentId", "workerId", "seconds_open")}


@pytest.mark.parametrize(("width", "scheme", "layout"), [(1280, "light", "below"), (360, "dark", "beside")])
def test_every_kind_is_accessible_keeps_within_its_width_and_loads_from_its_own_origins_alone(
    new_page: Any, task: Any, width: int, scheme: str, layout: str
) -> None:
    page = new_page(width, color_scheme=scheme)
    page.route(re.compile(r"example\.org"), lambda route: route.fulfill(status=404))
    reply = page.goto(task({**forms.FORM, "layout": layout}))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    policy = dict(part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";"))
    assert policy["img-src"].split() == ["'self'", "data:", "https://pictures.example.org"]
    assert policy["media-src"].split() == ["https://films.example.org:8443", "https://sounds.example.org"]


def test_a_form_is_answered_by_keys_alone(new_page: Any, task: Any, recording_marketplace: Any) -> None:
    page = new_page()
    page.goto(task({"ask": forms.ASK}))
    page.keyboard.press("2")  # the first field without an answer
    expect(page.get_by_role("radio", name="Sad")).to_be_checked()
    expect(page.get_by_role("textbox", name="Why sad?")).to_be_visible()
    page.keyboard.press("1")  # the field that has the focus
    expect(page.get_by_role("textbox", name="Why sad?")).to_be_hidden()
    for keys in (
        ["Enter"], ["ArrowDown", "Enter"],  # the drop-down list
        ["1", "3", "Enter"],  # boxes
        [*"AB123", "Enter"], [*"2026", "Enter"], ["4", "Enter"],
        ["Home", "ArrowRight", "Enter"],  # the slider
    ):  # fmt: skip
        for key in keys:
            page.keyboard.press(key)
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.getAttribute('aria-label')") == "Train: up")
    page.keyboard.press("Space")
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.name") == "better")
    page.keyboard.press("3")
    for key in ["Enter", "Enter", "1", "Enter", "Space", "ArrowRight", "Space", "1", "Control+End", "2", "Enter"]:
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.className").split()[-1] == "submit"
    assert recording_marketplace.posted == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        re.compile("Question 12, “Rate these”, is not answered in every row.")
    )
    page.keyboard.press("Tab")
    page.get_by_role("radio", name="3 good").nth(1).press("Space")
    page.get_by_role("button", name="Submit answer").press("Enter")
    posted = posted_to(page, recording_marketplace)
    assert {name: posted[name] for name in forms.ANSWER if name not in ("day", "better", "warmth")} == {
        name: value for name, value in forms.ANSWER.items() if name not in ("day", "better", "warmth")
    }
    assert (posted["better"], posted["warmth"]) == ("tie", "1")


def test_without_a_script_conditions_are_said_and_enter_sends_nothing(
    new_page: Any, task: Any, recording_marketplace: Any
) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(task({"ask": forms.ASK}))
    expect(page.get_by_text("Only if question 1 is “Sad” or “Angry”")).to_be_visible()
    written = {name: value for name, value in forms.ANSWER.items() if name != "names"}
    for name, value in written.items():
        control = page.locator(f'[name="{name}"]')
        if control.first.get_attribute("type") in ("radio", "checkbox"):
            page.locator(f'[name="{name}"][value="{value}"]').check()
        elif control.evaluate("node => node.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)
    for row, (first, last, label) in enumerate([("1", "2", "person"), ("8", "", "place")], 1):
        page.locator(f'[name="names.from-{row}"]').fill(first)
        page.locator(f'[name="names.to-{row}"]').fill(last)
        page.locator(f'[name="names.label-{row}"]').select_option(label)
    page.locator('[name="code"]').press("Enter")
    assert recording_marketplace.posted == []
    page.get_by_role("button", name="Submit answer").click()
    posted = posted_to(page, recording_marketplace)
    assert {name: posted[name] for name in written} == written
    form = protocols.get("form").settings({"form": {"ask": forms.ASK}})
    labels = protocols.get("form").check({"columns": forms.COLUMNS}, {}, form, posted).labels
    assert [label.value for label in labels if label.unit == "names"] == [NAMES]


def test_an_order_by_hand_and_a_draft_come_back(new_page: Any, task: Any) -> None:
    page = new_page()
    address = task({"ask": [field for field in forms.ASK if field["kind"] in ("ranking", "slider", "one")]})
    page.goto(address)
    page.get_by_role("button", name="Car: up").click()
    page.get_by_role("radio", name="Angry").check()
    expect(page.get_by_role("status")).to_have_text("Car: number 2 of 3")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.goto(address)
    expect(page.locator(".ranked-text > span")).to_have_text(["Boat", "Car", "Train"])
    expect(page.get_by_role("radio", name="Angry")).to_be_checked()
    page.locator(".ranked", has_text="Train").drag_to(
        page.locator(".ranked", has_text="Boat"), target_position={"x": 9, "y": 3}
    )
    expect(page.locator(".ranked-text > span")).to_have_text(["Train", "Boat", "Car"])
    assert [box.input_value() for box in page.locator(".place").all()] == ["1", "2", "3"]


SPANS = {**forms.ASK[-1], "key": "names"}
CHARACTERS = {**SPANS, "key": "signs", "question": "Which signs?", "whole_words": False, "overlap": True}


def marked(page: Page, key: str) -> list[Any]:
    return json.loads(page.locator(f'[name="{key}"]').input_value() or "[]")


def mark(page: Page, key: str, word: str, label: str) -> None:
    page.locator(f'[data-marking="{key}"] .word').get_by_text(word, exact=True).click()
    page.locator(f'[data-marks="{key}"] [data-label="{label}"]').click()


def test_two_texts_to_mark_do_not_disturb_each_other_and_their_drafts_come_back(new_page: Any, task: Any) -> None:
    page = new_page()
    address = task({"ask": [SPANS, CHARACTERS]})
    page.goto(address)
    mark(page, "names", "Linden", "place")
    mark(page, "signs", "Tom", "person")
    page.locator('[data-marking="signs"]').focus()
    for key in ("Control+Home", "ArrowRight", "1"):  # the word around the place, or the sign itself
        page.keyboard.press(key)
    assert marked(page, "names") == [forms.span("Linden", "place")]
    assert marked(page, "signs") == [[1, 2, "person"], forms.span("Tom", "person")]
    expect(page.locator('[data-marks="names"] [data-own-heading]')).to_have_text("Marked (1)")
    page.locator('[data-marking="names"] .word').get_by_text("Wit", exact=True).click()
    page.locator('[data-marks="signs"] [data-label="place"]').click()
    expect(page.locator('[data-marks="signs"] [data-hint]')).to_have_text("Choose a span of the text first.")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.goto(address)
    expect(page.get_by_role("button", name="Delete “Linden”, Place")).to_have_count(1)
    assert marked(page, "names") == [forms.span("Linden", "place")]
    assert marked(page, "signs") == [[1, 2, "person"], forms.span("Tom", "person")]


def test_a_drag_from_one_text_into_another_marks_the_one_where_it_began(new_page: Any, task: Any) -> None:
    page = new_page(1280, 1400)
    page.goto(task({"ask": [SPANS, CHARACTERS]}))
    ends = [page.locator(f'[data-marking="{key}"] .word').get_by_text("Wit", exact=True) for key in ("signs", "names")]
    begin, end = (word.bounding_box() for word in ends)
    assert begin and end
    page.mouse.move(begin["x"] + begin["width"] - 1, begin["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 2, end["y"] + 8, steps=5)
    page.mouse.up()
    for key in ("names", "signs"):
        page.locator(f'[data-marks="{key}"] [data-label="person"]').click()
    assert marked(page, "names") == []
    ((start, stop, _),) = marked(page, "signs")
    assert (start, forms.COLUMNS["report"][stop - 3 : stop]) == (0, "Wit")


def test_a_text_is_marked_by_touch_at_360_px_and_a_refusal_stands_at_it(
    new_page: Any, task: Any, recording_marketplace: Any
) -> None:
    page = new_page(360, 740, is_mobile=True, has_touch=True)
    depends = {**forms.ASK[0], "key": "why", "shown_if": {"field": "names", "values": ["place"]}}
    page.goto(task({"ask": [{**SPANS, "least": 2}, depends]}))
    for tapped in ("Ilse", "Cafe\u0301"):
        page.locator("[data-marking] .word").get_by_text(tapped, exact=True).tap()
    page.locator("[data-label=person]").tap()
    assert marked(page, "names") == [forms.span("Ilse Cafe\u0301", "person")]
    expect(page.get_by_role("radio", name="Sad")).to_be_hidden()
    page.get_by_role("button", name="Submit answer").tap()
    expect(page.locator("#fault-names")).to_have_text(re.compile("Mark at least 2; 1 marked so far."))
    assert page.evaluate("document.activeElement.dataset.marking") == "names"
    page.locator("[data-marking] .word").get_by_text("Linden", exact=True).tap()
    page.locator("[data-label=place]").tap()
    expect(page.locator("#fault-names")).to_have_count(0)
    page.get_by_role("radio", name="Sad").tap()
    page.get_by_role("button", name="Submit answer").tap()
    posted = posted_to(page, recording_marketplace)
    assert (json.loads(posted["names"])[1], posted["why"]) == (forms.span("Linden", "place"), "sad")


@pytest.mark.parametrize(("text", "position"), [("Halden minded.", "static"), ("Halden minded. " * 40, "sticky")])
def test_the_labels_of_a_short_text_lie_over_none_of_it(
    new_page: Any, task_address: Any, text: str, position: str
) -> None:
    spans = {"kind": "spans", "key": "names", "question": "Names?", "column": "text", "choices": ["Person", "Place"]}
    form = protocols.get("form").settings({"form": {"show": [{"kind": "text", "text": "{text}"}], "ask": [spans]}})
    stage = make.stage(protocol="form", settings=form)
    document = make.document(stage.project, data={"columns": {"text": text}})
    page = new_page(360, 740)
    page.goto(task_address(make.hit(make.item(stage, document=document, data={}))))
    bar = page.locator(".label-bar")
    assert bar.evaluate("bar => getComputedStyle(bar).position") == position
