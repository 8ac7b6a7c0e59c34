"""Answering questions about a story with gaps in a real browser: by mouse, by keyboard, without scripts, on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Draft
from hits.protocols.answer_writing.protocol import protocol
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.keyboard import press_until
from tests.hits.protocols.answers import DOCUMENT, FIELDS, FULL, GONE, ITEM
from tests.hits.task_page import instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}


@pytest.fixture
def hit(db):
    return a_hit(ITEM)


def a_hit(data):
    stage = make.stage(protocol="answer_writing", hit_title="Answer questions about a short story")
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=data))


def field(page: Page, name: str):
    return page.locator(f"#{name}")


def choose(page: Page, name: str, label: str) -> None:
    page.locator(f"[name={name}][value={label}]").check()


def fill(page: Page, fields: dict[str, str]) -> None:
    for name, text in fields.items():
        if name.endswith("label"):
            choose(page, name, text)
        else:
            field(page, name).fill(text)


def count(page: Page):
    return page.locator("[data-count]")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.name")


def test_by_mouse_with_a_change_of_mind_and_back(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    source = page.content()
    assert DOCUMENT["text"][:40] in source and not any(word in source for word in GONE)
    expect(page.get_by_role("heading", name="Making pancakes")).to_be_visible()
    expect(count(page)).to_have_text("0 of 4 answered")
    expect(page.locator("[data-written]:visible")).to_have_count(0)
    first = page.get_by_role("group", name="Who cracked the eggs?")
    first.get_by_label("The text says it").check()
    field(page, "q1_correct").fill("The daughter.")
    field(page, "q1_incorrect").fill("the   daughter")
    first.get_by_label("It makes sense, but cannot be known").check()
    expect(field(page, "q1_correct")).to_be_hidden()
    first.get_by_label("A question of your own instead").fill("Did she crack them?")
    # On a slow machine there was time for advice about the answers; it is out of sight with them.
    expect(first.locator(".advice p:visible")).to_have_text([re.compile("begins with “did”")])
    expect(count(page)).to_have_text("0 of 4 answered")
    first.get_by_label("Not said, but I know it").check()
    expect(field(page, "q1_alternative")).to_be_hidden()
    expect(first.locator(".advice p:visible")).to_have_text([re.compile("says the same as the correct one")])
    fill(page, FIELDS)  # back to the first choice of all
    expect(count(page)).to_have_text("4 of 4 answered")
    expect(first.locator(".advice p")).to_have_count(1)  # of the question that is not asked for any more
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= {**FIELDS, "q1_alternative": "Did she crack them?", "pastes": "[]"}.items()
    checked = protocol.check(DOCUMENT, ITEM, {}, posted)
    assert [label.value for label in checked.labels if label.unit.endswith("label")] == [
        "text",
        "script",
        "unfitting",
        "unknown",
    ]
    assert "q1/alternative" not in {label.unit for label in checked.labels}


def test_by_keyboard_alone(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    page.locator(".paper").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the next open question
    for number, downs in enumerate((0, 1, 2, 3), start=1):
        press_until(page, "Tab", lambda name=f"q{number}_label": focused(page) == name)
        for _ in range(downs):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")  # takes it, and sends nothing
        for name in ("correct", "incorrect") if downs < 2 else ("alternative",):
            assert focused(page) == f"q{number}_{name}"
            page.keyboard.type(FIELDS[f"q{number}_{name}"])
            page.keyboard.press("Enter")  # no line break either
            page.keyboard.press("Tab")
    expect(count(page)).to_have_text("4 of 4 answered")
    expect(page.get_by_role("status")).to_have_text("4 of 4 answered")
    page.get_by_role("button", name="Submit answer").focus()
    page.keyboard.press("Enter")
    assert submitted(page, recording_marketplace).items() >= FIELDS.items()


def test_faults_are_told_at_their_places_and_a_reload_keeps_what_was_chosen_and_written(
    new_page, task_address, recording_marketplace
):
    page = new_page()
    page.goto(task_address())
    fill(page, {**FIELDS, "q1_incorrect": "", "q4_alternative": FIELDS["q3_alternative"]})
    choose(page, "q2_label", "unknown")
    page.evaluate("document.querySelector('[name=q3_label]:checked').checked = false")
    submit(page)
    told = {
        "q1_incorrect": "The incorrect answer to question 1 is empty. Write it.",
        "q2_alternative": "Your question instead of question 2 is not written yet. Ask in at least 4 words.",
        "q3_label": "Question 3 has no choice yet. Choose where its answer comes from.",
    }
    expect(page.get_by_role("alert").locator("p")).to_have_text([*told.values()])
    expect(field(page, "q1_incorrect")).to_be_focused()
    expect(field(page, "q2_alternative")).to_have_accessible_description(told["q2_alternative"])
    group = page.get_by_role("radiogroup", name="question 3")
    expect(group).to_have_accessible_description(told["q3_label"])
    choose(page, "q3_label", "unknown")
    expect(page.locator("#q3 :is([aria-invalid], .fault)")).to_have_count(0)
    choose(page, "q3_label", "unfitting")
    page.get_by_role("button", name="Next open question").click()
    expect(field(page, "q1_incorrect")).to_be_focused()
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")
    page.evaluate("localStorage.clear()")  # what the server keeps
    page.reload()
    expect(page.locator("[name=q2_label]:checked")).to_have_value("unknown")
    expect(field(page, "q2_correct")).to_have_value(FIELDS["q2_correct"])
    expect(field(page, "q2_correct")).to_be_hidden()
    expect(count(page)).to_have_text("1 of 4 answered")
    assert Draft.objects.get().fields["q2_label"] == "unknown"
    fill(page, FIELDS)
    submit(page)
    assert submitted(page, recording_marketplace).items() >= FIELDS.items()


def test_without_scripts_the_chosen_label_opens_its_fields(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    expect(page.get_by_text("4 questions", exact=True)).to_be_visible()
    submit(page)
    assert not recording_marketplace.posted  # the browser itself asks for a choice
    choose(page, "q1_label", "unknown")
    expect(field(page, "q1_alternative")).to_be_visible()
    expect(field(page, "q1_correct")).to_be_hidden()
    fill(page, FIELDS)
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= FIELDS.items()
    assert protocol.check(DOCUMENT, ITEM, {}, posted).labels[-1].value == {"pastes": None, "seconds": None}


def test_a_preview_shows_the_questions_and_takes_no_answer(new_page, task_address):
    page = new_page()
    page.goto(task_address(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
    expect(page.get_by_text("Who cracked the eggs?")).to_be_visible()
    expect(page.locator("form :is(input, textarea, button):enabled")).to_have_count(0)


# The field in focus or its label lies under the story or the line that sticks.
UNDER_SOMETHING = """() => [document.activeElement, ...document.activeElement.labels].some((part) => {
  const box = part.getBoundingClientRect();
  return !part.contains(document.elementFromPoint(box.x + 9, box.y + box.height / 2));
})"""


@pytest.mark.parametrize(("scheme", "screen"), [("light", {"width": 1280}), ("dark", PHONE)])
def test_twelve_questions_have_no_accessibility_fault_and_the_story_stays_in_sight(
    new_page, task_address, scheme, screen
):
    page = new_page(**screen, color_scheme=scheme, reduced_motion="reduce")
    page.goto(task_address(a_hit(FULL)))
    assert violations(page) == []
    instructions_read(page)
    fill(page, {**FIELDS, "q2_incorrect": "a spoon, or a WHISK"})
    choose(page, "q11_label", "script")
    submit(page)
    expect(field(page, "q2_incorrect")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Tab")
    for _ in range(4):
        assert not page.evaluate(UNDER_SOMETHING), focused(page)
        page.keyboard.press("Shift+Tab")
    field(page, "q11_correct").focus()
    page.keyboard.press("Tab")
    assert not page.evaluate(UNDER_SOMETHING)
    expect(page.locator("[data-gaps]")).to_be_in_viewport()
    expect(count(page)).to_have_text("3 of 12 answered")
    expect(count(page)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
