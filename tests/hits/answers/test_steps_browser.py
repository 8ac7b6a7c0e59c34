"""A task that asks one thing at a time, in a real browser: by mouse, by keyboard, and with scripts off."""

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Draft
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.answers.question_set import CANDIDATES, DOCUMENT, SET, fields
from tests.hits.answers.test_task_browser import PHONE, settle, submit, submitted
from tests.hits.keyboard import press_until
from tests.hits.task_page import ASSIGNMENT, WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PATH = [
    "No, it can be used",
    "No, it is about",
    "asked about the word",
    "Yes, the paragraph does not",
    "No, one has to",
]
MOST_PLAUSIBLE = "Which answer is the most plausible?"


@pytest.fixture
def hit(db):
    stage = make.stage(protocol="staged_choice")
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=SET))


def heading(page: Page):
    return page.locator("#step-heading")


def press(page: Page, name: str = "Continue") -> None:
    page.get_by_role("button", name=name, exact=True).click()


def at_step(page: Page, number: int, of: int = 5) -> None:
    expect(page.locator("[data-progress]")).to_have_text(f"Step {number} of {of}")


def answer(page: Page, number: int) -> None:
    """Answer the first so many steps and go on."""
    for step, text in enumerate(PATH[:number], 1):
        at_step(page, step)
        page.get_by_role("radio", name=text).check()
        press(page)


def test_five_steps_by_mouse_reach_the_marketplace(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    answer(page, 4)
    page.get_by_role("radio", name=PATH[4]).check()
    page.get_by_label("Anything else").fill("The parrot is right.")
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.pop("seconds_open").isdigit()
    assert posted == {
        "assignmentId": ASSIGNMENT,
        "workerId": WORKER,
        **fields(WORKER),
        "comment": "The parrot is right.",
    }


def test_the_next_step_comes_without_a_new_page_and_takes_the_focus(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    page.evaluate("window.sameDocument = true")
    answer(page, 1)
    expect(heading(page)).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Step 2 of 5")
    expect(page.get_by_text("parrot never spoke")).to_be_in_viewport()
    assert page.evaluate("window.sameDocument")


def test_five_steps_by_keyboard_alone(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    page.locator(".instructions summary").focus()
    press_until(page, "Tab", lambda: page.evaluate("document.activeElement.type") == "radio")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    for number, text in enumerate(PATH[1:4], 2):
        at_step(page, number)
        expect(heading(page)).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        press_until(page, "ArrowDown", page.get_by_role("radio", name=text).is_checked)
        page.keyboard.press("Enter")
    at_step(page, 5)
    expect(heading(page)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    for _ in ("comment", "submit"):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Submit answer")).to_be_focused()
    page.keyboard.press("Enter")
    assert submitted(page, recording_marketplace).items() >= fields(WORKER).items()


def test_five_steps_with_scripts_off(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    answer(page, 4)
    press(page, "Back")
    at_step(page, 4)
    expect(page.get_by_role("radio", name=PATH[3])).to_be_checked()
    press(page)
    page.get_by_role("radio", name=PATH[4]).check()
    submit(page)
    assert submitted(page, recording_marketplace) == {
        "assignmentId": ASSIGNMENT,
        "workerId": WORKER,
        "seconds_open": "",
        "comment": "",
        **fields(WORKER),
    }


def test_a_bad_paragraph_ends_it_after_one_step(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    page.get_by_role("radio", name="Yes, it is inappropriate").check()
    press(page)
    at_step(page, 2, of=2)
    expect(heading(page)).to_have_text("Nothing more to ask")
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted["paragraph"] == "bad"
    assert not {"question", "picked", "order"} & posted.keys()


def test_a_step_left_open_says_so_and_takes_the_focus(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    press(page)
    notice = page.get_by_role("alert")
    expect(notice).to_have_text(re.compile("Step 1 is not answered yet"))
    expect(notice).to_be_focused()
    page.get_by_role("radio", name=PATH[0]).check()
    expect(notice).to_be_hidden()
    press(page)
    at_step(page, 2)


def test_the_last_step_left_open_is_not_sent(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    answer(page, 4)
    submit(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("Step 5 is not answered yet"))
    assert not recording_marketplace.posted


def test_a_reload_resumes_at_the_same_step_with_what_was_chosen(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    answer(page, 2)
    at_step(page, 3)
    page.get_by_role("radio", name="He is afraid of birds.").check()
    settle(page)
    assert Draft.objects.get().fields["step"] == "3"
    page.evaluate("localStorage.clear()")
    page.reload()
    at_step(page, 3)
    expect(page.get_by_role("radio", name="He is afraid of birds.")).to_be_checked()
    press(page, "Back")
    at_step(page, 2)
    expect(page.get_by_role("radio", name=PATH[1])).to_be_checked()
    press(page)
    expect(page.get_by_role("radio", name="He is afraid of birds.")).to_be_checked()


def test_a_lost_connection_keeps_the_step_and_the_choice(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    page.get_by_role("radio", name=PATH[0]).check()
    page.context.set_offline(True)
    press(page)
    expect(page.get_by_role("alert")).to_have_text(re.compile("No reply.*press the button again"))
    expect(page.get_by_role("radio", name=PATH[0])).to_be_checked()
    page.context.set_offline(False)
    press(page)
    at_step(page, 2)


def test_a_worker_blocked_meanwhile_is_shown_the_refusal(hit, new_page, task_address):
    page = new_page()
    page.goto(task_address())
    page.get_by_role("radio", name=PATH[0]).check()
    make.block(hit.stage, make.worker(WORKER))
    press(page)
    expect(page.get_by_role("heading", name="You cannot work on this HIT")).to_be_visible()


def test_it_works_in_the_frame_of_another_origin(new_page, task_address, recording_marketplace):
    recording_marketplace.framed = task_address()
    page = new_page()
    page.goto(recording_marketplace.origin)
    frame = page.frame_locator("iframe")
    frame.get_by_role("radio", name="Yes, it is inappropriate").check()
    frame.get_by_role("button", name="Continue").click()
    frame.get_by_role("button", name="Submit answer").click()
    expect(frame.get_by_text("Thank you")).to_be_visible()
    assert page.context.cookies() == []


def test_on_a_phone_the_question_is_at_the_bottom_edge_and_the_text_above_it(
    new_page, task_address, recording_marketplace
):
    page = new_page(**PHONE)
    page.goto(task_address())
    instructions_read(page)
    for number, text in enumerate(PATH, 1):
        at_step(page, number)
        panel = page.locator(".answer").bounding_box()
        assert panel["height"] <= 0.62 * 740 + 1
        assert panel["y"] + panel["height"] == pytest.approx(740, abs=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        expect(page.get_by_text("parrot never spoke")).to_be_in_viewport()
        page.get_by_role("radio", name=text).check()
        page.locator("button.primary").tap()
    assert submitted(page, recording_marketplace).items() >= fields(WORKER).items()


def test_each_text_runs_in_its_own_direction(hit, new_page, task_address):
    arabic = {**CANDIDATES[0], "text": "لم يرد أن يسأله أحد 🦜"}
    hit.item.data = {**SET, "candidates": [arabic, *CANDIDATES[1:]]}
    hit.item.save()
    page = new_page()
    page.goto(task_address())
    answer(page, 2)
    direction = "element => getComputedStyle(element).direction"
    assert page.get_by_text(arabic["text"]).evaluate(direction) == "rtl"
    assert page.get_by_text("He is afraid of birds.").evaluate(direction) == "ltr"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_no_step_has_an_accessibility_fault(new_page, task_address, width, scheme):
    page = new_page(width, 740, color_scheme=scheme, reduced_motion="reduce")
    page.goto(task_address())
    assert violations(page) == []
    press(page)
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []
    answer(page, 2)
    expect(heading(page)).to_have_text(MOST_PLAUSIBLE)
    page.get_by_role("radio", name=PATH[2]).check()
    assert violations(page) == []
    press(page)
    at_step(page, 4)
    assert violations(page) == []
    page.get_by_role("radio", name=PATH[3]).check()
    press(page)
    at_step(page, 5)
    assert violations(page) == []
