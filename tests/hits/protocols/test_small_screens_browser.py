"""Small screens: no answer is out of sight without a sign, and the question stays while text and answers are read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hits import protocols
from tests.hits import factories as make
from tests.hits.answers import story
from tests.hits.answers.question_set import DOCUMENT, SET
from tests.hits.protocols.test_choice_browser import TWO_LISTS
from tests.hits.task_page import instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
CHOICES = [
    {"id": "c0", "text": "She wanted to be sure that the water board would hear of it."},
    {"id": "c1", "text": "Because the pump had failed again."},
    {"id": "c2", "text": "Nobody else was awake at that hour, and the radio was broken."},
    {"id": "c3", "text": "To ask him for the key."},
]
WITH_HELP = [{**choice, "help": "Only if the text says so itself."} for choice in CHOICES]
QUESTION = "Why did Annika de Wit ring the harbour master before the water board had met?"
ITEMS: dict[str, dict[str, Any]] = {
    "multiple_choice": {"question": QUESTION, "choices": CHOICES},
    "select_all": {"question": QUESTION, "candidates": CHOICES},
    "labelling": {"question": QUESTION, "candidates": CHOICES, "intended": "c0"},
    "staged_choice": SET,
    "clickable_entity": story.ITEM,
}
SETTINGS: dict[str, dict[str, Any]] = {"labelling": TWO_LISTS}
SIZES = [(360, 640), (360, 740), (412, 915), (1280, 800)]
PHONES = [(320, 568), (360, 640), (390, 844)]
BAR = 45  # what the marketplace's bar takes of a phone


@pytest.fixture
def task(db, task_address):
    """The address of a task of that protocol, about a text of so many characters."""

    def task(name: str, length: int | None = None, item: dict[str, Any] | None = None) -> str:
        stage = make.stage(protocol=name, settings=protocols.get(name).settings(SETTINGS.get(name, {})))
        data = {"text": story.TEXT[:length]} if name not in ("staged_choice", "clickable_entity") else None
        data = data or (DOCUMENT if name == "staged_choice" else story.DOCUMENT)
        document = make.document(stage.project, data=data)
        return task_address(make.hit(make.item(stage, document=document, data=item or ITEMS[name])))

    return task


def opened(new_page, address: str, width: int, height: int, **options: Any) -> Page:
    """The page as a worker sees it who has closed the instructions."""
    phone = width < 800
    page: Page = new_page(width, height, is_mobile=phone, has_touch=phone, **options)
    page.goto(address)
    instructions_read(page)
    return page


def lower_edge(page: Page) -> float:
    """Where the row with the button begins: what is below this line is not seen."""
    return page.locator(".closing").bounding_box()["y"]


def out_of_sight(page: Page) -> int:
    boxes = [one.bounding_box() for one in page.locator(".choice:visible").all()]
    return sum(box["y"] + box["height"] > lower_edge(page) + 4 for box in boxes)


def answers_end(page: Page) -> float:
    """Where the last part of the question ends. A pixel or two of it below the edge may be called hidden or not."""
    box = page.locator(".question > *:visible").last.bounding_box()
    return box["y"] + box["height"]


def sign(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("more below", re.IGNORECASE))


def some(number: int) -> list[dict[str, str]]:
    return [{"id": f"c{at}", "text": CHOICES[at % len(CHOICES)]["text"]} for at in range(number)]


def counted(page: Page) -> None:
    """What is out of sight is counted by the sign, or there is neither."""
    painted(page)
    hidden = out_of_sight(page)
    if hidden:
        expect(sign(page)).to_have_text(re.compile(rf"({hidden}|{hidden + 1}) more below"))
    elif answers_end(page) <= lower_edge(page) + 2:
        expect(sign(page)).to_have_count(0)


def painted(page: Page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("name", list(ITEMS))
def test_an_answer_out_of_sight_is_counted_until_it_is_seen_and_the_question_stays_in_sight(new_page, task, name):
    address = task(name)
    for size in SIZES:
        page = opened(new_page, address, *size)
        counted_until_seen(page, size)
        page.evaluate("scrollTo(0, 0)")
        question_in_sight(page, name, size)


def counted_until_seen(page: Page, size: tuple[int, int]) -> None:
    if hidden := out_of_sight(page):
        expect(sign(page)).to_have_text(re.compile(r"\d more below"))
        assert hidden <= int(sign(page).inner_text().split()[0]) <= hidden + 1, size
        while sign(page).is_visible():
            sign(page).click()
            painted(page)
        assert out_of_sight(page) == 0, size
    expect(sign(page)).to_be_hidden()


def question_in_sight(page: Page, name: str, size: tuple[int, int]) -> None:
    """With the end of the text and with the last answer."""
    asked = {"staged_choice": "#step-heading", "clickable_entity": ".statement"}.get(name, ".choices legend")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.locator(".answer").evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
    box, panel = page.locator(asked).first.bounding_box(), page.locator(".answer").bounding_box()
    assert panel["y"] <= box["y"] and box["y"] + box["height"] <= lower_edge(page), size
    if size[0] < 800:
        last = page.locator(".reading > *").last.bounding_box()
        assert last["y"] + last["height"] <= panel["y"], size
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0], size


@pytest.mark.parametrize("size", PHONES)
def test_two_fifths_of_a_phone_are_left_for_the_text_however_many_answers_there_are(new_page, task, size):
    width, height = size
    page = opened(new_page, task("multiple_choice"), width, height - BAR)
    for number in range(2, 9):
        page.goto(task("multiple_choice", item={"question": QUESTION, "choices": some(number)}))
        instructions_read(page)
        assert page.locator(".answer").bounding_box()["y"] + BAR >= height * 0.4 - 1, number
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        counted(page)


@pytest.mark.parametrize("name", ["multiple_choice", "select_all"])
def test_on_low_phones_of_any_height_answers_out_of_sight_are_counted_and_nothing_else(new_page, task, name):
    page = opened(new_page, task(name), 360, 740)
    for height in range(740, 500, -9):
        page.set_viewport_size({"width": 360, "height": height})
        page.evaluate("scrollTo(0, 0)")
        counted(page)
        assert page.locator(".answer").bounding_box()["y"] >= 0.4 * height - 1, height


@pytest.mark.parametrize("locale", ["de-DE", "es-ES"])
def test_in_longer_languages_too_the_button_is_beside_the_comment(new_page, task, locale):
    address = task("multiple_choice", item={"question": QUESTION, "choices": WITH_HELP})
    page = opened(new_page, address, 360, 640 - BAR, locale=locale)
    comment, button = (page.locator(part).bounding_box() for part in (".reports summary", ".submit"))
    assert comment["y"] < button["y"] + button["height"] and button["y"] < comment["y"] + comment["height"]


@pytest.mark.parametrize("size", PHONES)
def test_with_a_text_twice_as_large_and_long_words_every_answer_can_be_reached(new_page, task, size):
    choices = [{**choice, "text": f"{choice['text']} {'Wasserversorgung' * 3}", "help": "Said."} for choice in some(5)]
    page = opened(new_page, task("multiple_choice", item={"question": QUESTION, "choices": choices}), *size)
    page.evaluate(
        """() => {
          const larger = new CSSStyleSheet();
          larger.replaceSync("body, .reading, .choice, h2, button { font-size: 32px !important; }");
          document.adoptedStyleSheets = [larger];
        }"""
    )
    painted(page)
    counted(page)
    page.locator(".choice").last.scroll_into_view_if_needed()
    page.locator(".choice input").last.check()
    expect(page.locator(".choice input").last).to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_below_a_short_text_the_answers_take_the_room_that_is_left(new_page, task):
    page = opened(new_page, task("multiple_choice", 60, {"question": QUESTION, "choices": some(16)}), 412, 915)
    panel = page.locator(".answer").bounding_box()
    assert panel["height"] > 0.65 * 915
    assert panel["y"] + panel["height"] <= 915 + 1
    assert page.evaluate("scrollY") == 0


def test_the_sign_leads_by_keyboard_to_the_first_answer_that_is_not_seen(new_page, task):
    choices = [{**choice, "help": "Only if the text says so itself."} for choice in some(10)]
    page = opened(new_page, task("multiple_choice", item={"question": QUESTION, "choices": choices}), 360, 640 - BAR)
    counted(page)
    hidden = int(sign(page).inner_text().split()[0])
    sign(page).press("Enter")
    first = page.locator(".choice input").nth(-hidden)
    expect(first).to_be_focused()
    expect(first).not_to_be_checked()
    expect(first).to_be_in_viewport()


def test_answers_that_open_later_are_counted_too(new_page, task):
    page = opened(new_page, task("labelling"), 360, 640)
    page.get_by_label("Common sense").check()
    expect(page.get_by_role("group", name="What kind of common sense?")).to_be_visible()
    if out_of_sight(page):
        expect(sign(page)).to_be_visible()
    page.locator(".reports summary").click()
    expect(sign(page)).to_be_visible()


def test_without_scripts_the_edge_says_that_more_is_below(new_page, task):
    page = opened(new_page, task("multiple_choice"), 360, 640, java_script_enabled=False)
    expect(page.locator(".answer")).to_have_css("visibility", "visible", pseudo="after")
    page.locator(".answer").evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
    expect(page.locator(".answer")).to_have_css("visibility", "hidden", pseudo="after")
