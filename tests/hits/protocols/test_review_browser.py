"""Reviewing a text, and being tested on one, in a real browser: by mouse, by keyboard, without a script, on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits import protocols
from hits.models import Hit
from hits.protocols.expert_review.protocol import NOTHING_LEFT
from ops.waiting import PAGE_MILLISECONDS
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.keyboard import press_until
from tests.hits.mouse import press_and_release, stop_clock
from tests.hits.protocols.reviewed import DOCUMENT, HIDDEN_SENTENCE, ITEM, TEST

pytestmark = pytest.mark.django_db(transaction=True)


def published(name: str, item: dict[str, Any]) -> Hit:
    stage = make.stage(protocol=name, settings=protocols.get(name).settings({}))
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=item))


@pytest.fixture
def review(db: None, task_address) -> str:
    return task_address(published("expert_review", ITEM))


@pytest.fixture
def test_page(db: None, task_address) -> str:
    return task_address(published("reading_test", TEST))


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def labels(page: Page, marketplace, name: str, item: dict[str, Any]) -> dict[str, Any]:
    """What the answer says that reached the marketplace, by unit."""
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    protocol = protocols.get(name)
    checked = protocol.check(DOCUMENT, item, protocol.settings({}), posted, posted["workerId"])
    return {label.unit: label.value for label in checked.labels}


def was(page: Page, number: int):
    return page.locator(f"[data-question='{number}'] [data-was-block]")


LOW_PAPER = """() => {
  const low = new CSSStyleSheet();
  low.replaceSync(".paper { max-height: 60px !important; }");
  document.adoptedStyleSheets = [low];
}"""


def more_below(page: Page) -> bool:
    return bool(page.evaluate("getComputedStyle(document.querySelector('.paper'), '::after').visibility === 'visible'"))


def until(page: Page, true: Callable[[], bool]) -> None:
    """Styles that follow scrolling come a frame later, and the page's policy lets no script be polled from within."""
    for _ in range(PAGE_MILLISECONDS // 100):
        if true():
            return
        page.wait_for_timeout(100)
    raise AssertionError("not so after a minute")


def focused(page: Page, name: str) -> bool:
    return bool(page.evaluate("name => document.activeElement.name === name", name))


def test_an_expert_changes_restores_and_deletes(new_page, review, recording_marketplace):
    page = new_page()
    page.goto(review)
    first = page.get_by_role("group", name="Question 1")
    expect(was(page, 1)).to_be_hidden()
    expect(page.get_by_text(HIDDEN_SENTENCE)).to_be_hidden()
    page.get_by_label("Show the sentences that were taken out").check()
    expect(page.get_by_text(HIDDEN_SENTENCE)).to_be_visible()

    first.get_by_role("button", name="Swap the two answers").click()
    expect(page.locator("#q1_correct")).to_have_value("the pan")
    expect(was(page, 1)).to_contain_text("Correct answer was: a whisk")
    expect(page.locator("[data-summary]")).to_have_text("· 1 edited")
    page.get_by_role("button", name="Restore question 1").click()
    expect(page.locator("#q1_correct")).to_have_value("a whisk")
    assert focused(page, "q1_text")
    expect(was(page, 1)).to_be_hidden()

    page.locator("#q1_correct_from").select_option(label="a fork")
    expect(page.locator("#q1_correct")).to_have_value("a fork")
    page.locator("#q1_correct").fill("a large fork")
    expect(page.locator("#q1_correct_from")).to_have_value("")
    page.locator("#q2_incorrect").fill("after it was in the pan!")
    page.locator("#q3_delete").select_option("duplicate")
    expect(page.locator("#q3_correct")).to_be_hidden()
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text("The two answers of question 2 say the same.")
    expect(page.get_by_role("alert")).to_contain_text("Say which question of this text question 3 is a duplicate of.")
    assert focused(page, "q2_incorrect")
    assert violations(page) == []

    page.locator("#q2_incorrect").fill("before breakfast")
    page.get_by_label("The one that stays").filter(visible=True).select_option(label="Question 1")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(was(page, 1)).to_contain_text("Correct answer was: a whisk")
    expect(page.locator("[data-summary]")).to_have_text("· 1 edited · 1 deleted")
    submit(page)
    found = labels(page, recording_marketplace, "expert_review", ITEM)
    assert set(found) == {"text", "q1", "q3"}
    assert found["q1"]["after"]["correct"] == "a large fork"
    assert found["q3"]["duplicate_of"] == "q1"


def test_a_click_that_leaves_a_field_reaches_what_it_was_aimed_at(new_page, review):
    page = new_page()
    page.clock.install()
    page.goto(review)
    stop_clock(page)
    page.locator("#q1_correct").fill("a large fork")
    press_and_release(page, page.locator("#q2_text"))
    assert focused(page, "q2_text")
    expect(was(page, 1)).to_be_hidden()
    page.clock.run_for(500)
    expect(was(page, 1)).to_contain_text("Correct answer was: a whisk")
    swap = page.get_by_role("group", name="Question 2").get_by_role("button", name="Swap")
    press_and_release(page, swap)
    expect(was(page, 2)).to_be_visible()
    press_and_release(page, swap)  # it is still where it was
    expect(was(page, 2)).to_be_hidden()
    expect(page.locator("#q2_correct")).to_have_value("after it was in the pan")


def test_what_leaves_a_text_without_a_question_is_told_before_it_happens(new_page, review, recording_marketplace):
    page = new_page(360, 740, color_scheme="dark")
    page.goto(review)
    cascade = page.locator("[data-cascade]")
    for number in (1, 2, 3):
        expect(cascade).to_be_hidden()
        page.locator(f"#q{number}_delete").select_option("nonsensical")
    expect(cascade).to_contain_text(NOTHING_LEFT)
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text(NOTHING_LEFT)
    assert focused(page, "confirm_empty")
    assert violations(page) == []
    page.get_by_label("Yes, leave this text out").check()
    page.get_by_role("button", name="Restore question 2").click()
    expect(cascade).to_be_hidden()
    page.locator("#text_delete").select_option("incoherent")
    expect(cascade).to_contain_text("and its 3 questions with it")
    expect(page.get_by_label("Yes, leave this text out")).not_to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_label("Yes, leave this text out").check()
    submit(page)
    assert labels(page, recording_marketplace, "expert_review", ITEM) == {
        "text": {"action": "delete", "reason": "incoherent", "words": ""}
    }


def test_a_review_by_keyboard_alone(new_page, review, recording_marketplace):
    page = new_page()
    page.goto(review)
    page.locator(".paper").focus()
    press_until(page, "Tab", lambda: focused(page, "q2_text"))
    page.keyboard.press("End")
    page.keyboard.type(" And why?")
    page.keyboard.press("Enter")  # neither a line break nor a submit
    expect(was(page, 2)).to_be_visible()  # after a pause
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.matches('[data-restore]')"))
    page.keyboard.press("Enter")
    assert focused(page, "q2_text")
    press_until(page, "Tab", lambda: focused(page, "q2_delete"))
    page.keyboard.press("ArrowDown")
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.matches('.submit')"))
    page.keyboard.press("Enter")
    assert labels(page, recording_marketplace, "expert_review", ITEM)["q2"]["reason"] == "nonsensical"


def test_a_review_without_a_script(new_page, review, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(review)
    page.get_by_label("Show the sentences that were taken out").check()
    expect(page.get_by_text(HIDDEN_SENTENCE)).to_be_visible()
    page.get_by_role("group", name="Question 1").get_by_label("Swap the two answers").check()
    page.locator("#q2_correct_from").select_option(label="at once")
    page.locator("#q3_delete").select_option("other")
    page.locator("#q3_words").fill("Asked before.")
    submit(page)
    found = labels(page, recording_marketplace, "expert_review", ITEM)
    assert found["q1"]["after"]["correct"] == "the pan"
    assert found["q2"]["after"]["correct"] == "at once"
    assert found["q3"]["words"] == "Asked before."


def test_a_reading_test_names_what_is_open_and_keeps_what_was_chosen(new_page, test_page, recording_marketplace):
    page = new_page(360, 740, color_scheme="dark")
    page.goto(test_page)
    assert HIDDEN_SENTENCE not in page.content()
    page.evaluate(LOW_PAPER)  # lower than the text with any font
    until(page, lambda: more_below(page))
    page.locator(".paper").evaluate("paper => paper.scrollTo(0, paper.scrollHeight)")
    until(page, lambda: not more_below(page))
    answered = page.locator("[data-answered]")
    first = page.get_by_role("radiogroup", name="What did they mix the eggs with?")
    first.get_by_label("a whisk").check()
    expect(answered).to_have_text("· 1 of 3 answered")
    submit(page)
    expect(page.get_by_role("alert")).to_contain_text("Question 2 is not answered yet")
    expect(page.get_by_role("alert")).to_contain_text("Question 3 is not answered yet")
    assert focused(page, "q2_choice")
    page.keyboard.press("Space")
    expect(page.locator("#fault-q2_choice")).to_have_count(0)
    expect(page.locator("#fault-q3_choice")).to_have_count(1)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(answered).to_have_text("· 2 of 3 answered")
    page.get_by_role("radiogroup", name="What did they use for the mixing?").get_by_label("their arms").check()
    submit(page)
    found = labels(page, recording_marketplace, "reading_test", TEST)
    assert (found["q1/choice"], found["q3/choice"]) == ("a0", "a1")


def test_a_reading_test_by_keyboard_alone(new_page, test_page, recording_marketplace):
    page = new_page()
    page.goto(test_page)
    page.locator(".paper").focus()
    for number in (1, 2, 3):
        press_until(page, "Tab", lambda name=f"q{number}_choice": focused(page, name))
        page.keyboard.press("Space")
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.matches('.submit')"))
    page.keyboard.press("Enter")
    found = labels(page, recording_marketplace, "reading_test", TEST)
    assert [found[f"q{number}/choice"] for number in (1, 2, 3)] == [order[0] for order in found["order"].values()]


def test_a_reading_test_without_a_script(new_page, test_page, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(test_page)
    for radio in page.get_by_role("radiogroup").all():
        radio.get_by_role("radio").first.check()
    submit(page)
    found = labels(page, recording_marketplace, "reading_test", TEST)
    assert {unit for unit in found if unit.endswith("/choice")} == {"q1/choice", "q2/choice", "q3/choice"}
