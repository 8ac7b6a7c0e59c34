"""Writing questions in a real browser: by mouse, by keyboard, with interruptions, without scripts."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Draft
from hits.protocols.question_writing.protocol import protocol
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.mouse import stop_clock
from tests.hits.protocols.writing import DOCUMENT, FIELDS, QUESTION, SECOND
from tests.hits.task_page import ASSIGNMENT, WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}


@pytest.fixture
def hit(db):
    stage = make.stage(protocol="question_writing", hit_title="Write questions about a short story")
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={}))


def field(page: Page, name: str):
    return page.locator(f"#{name}")


def write(page: Page, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if name.endswith("category"):
            field(page, name).select_option(text)
        elif text:
            field(page, name).fill(text)


def add(page: Page, what: str) -> None:
    page.get_by_role("button", name=f"Add {what}").filter(visible=True).click()


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def settle(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def advice(page: Page, name: str):
    return field(page, f"{name}-advice")


def test_two_questions_by_mouse_reach_the_marketplace_and_become_labels(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    expect(field(page, "q1_correct2")).to_be_hidden()
    expect(field(page, "q2_question")).to_be_hidden()
    add(page, "a second correct answer")
    write(page, QUESTION)
    add(page, "question 2")
    write(page, SECOND)
    page.get_by_label("Anything else").fill("A good story.")
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= {**FIELDS, "workerId": WORKER, "assignmentId": ASSIGNMENT, "pastes": "[]"}.items()
    checked = protocol.check(DOCUMENT, {}, {}, posted)
    assert [label.unit for label in checked.labels] == ["questions", "question1", "question2", "evidence"]
    assert checked.remark == "A good story."


def test_one_question_by_keyboard_alone(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    page.locator(".paper").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    for name in ("q1_question", "q1_category", "q1_correct1", "", "q1_correct2", "q1_incorrect1", "q1_incorrect2"):
        assert page.evaluate("document.activeElement.name") == name
        if name == "q1_category":
            page.keyboard.type("Causes")
        elif name:
            page.keyboard.type(FIELDS[name])
            page.keyboard.press("Enter")  # neither a line break nor a submit
            page.keyboard.press("Tab")
            continue
        page.keyboard.press("Tab" if name else "Enter")
    page.keyboard.type(FIELDS["q1_incorrect3"])
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.name") == "q2_question"
    page.get_by_role("button", name="Submit answer").focus()
    page.keyboard.press("Enter")
    assert submitted(page, recording_marketplace).items() >= QUESTION.items()


def test_a_reload_loses_nothing(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    add(page, "a second correct answer")
    write(page, QUESTION)
    settle(page)
    page.evaluate("localStorage.clear()")  # what the server keeps
    page.reload()
    assert {name: field(page, name).input_value() for name in QUESTION} == QUESTION
    expect(field(page, "q1_correct2")).to_be_visible()
    add(page, "question 2")
    field(page, "q2_correct1").fill(SECOND["q2_correct1"])
    page.reload()  # before anything could be sent
    expect(field(page, "q2_correct1")).to_have_value(SECOND["q2_correct1"])
    expect(advice(page, "q2_correct1")).to_contain_text("main words from the paragraph")
    settle(page)
    assert Draft.objects.get().fields.items() >= {**QUESTION, "q2_correct1": SECOND["q2_correct1"]}.items()


def test_what_the_browser_kept_is_called_saved_only_once_the_server_has_it(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    field(page, "q1_question").fill("Why?")
    settle(page)
    page.route(re.compile("/draft"), lambda route: None)  # no answer comes
    field(page, "q1_question").fill("Why then?")
    page.reload()
    expect(field(page, "q1_question")).to_have_value("Why then?")
    expect(page.locator("[data-draft-state]")).to_have_text("Saving…")
    page.unroute_all(behavior="ignoreErrors")


def test_a_draft_is_saved_at_a_pause_and_when_the_page_goes_out_of_sight(new_page, task_address):
    page = new_page()
    page.clock.install()
    page.goto(task_address())
    stop_clock(page)
    field(page, "q1_question").press_sequentially("Why?")
    expect(page.locator("[data-draft-state]")).to_have_text("Saving…")
    assert not Draft.objects.exists()
    page.clock.run_for(10_000)
    settle(page)
    assert Draft.objects.get().fields["q1_question"] == "Why?"
    field(page, "q1_question").fill("Why not?")
    with page.expect_response("**/task/draft/"):  # no pause can come: the clock stands
        page.evaluate("""() => {
          Object.defineProperty(document, "hidden", { value: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""")
    assert Draft.objects.get().fields["q1_question"] == "Why not?"


def test_advice_is_told_beside_its_field_and_politely_while_typing(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    expect(advice(page, "q1_correct1")).to_be_empty()
    field(page, "q1_correct1").fill("She carried her shopping bag to the second landing.")
    told = advice(page, "q1_correct1")
    expect(told).to_contain_text("5 of 5 main words from the paragraph")
    expect(told.locator(".change")).to_contain_text("in other words")
    expect(page.get_by_role("status")).to_contain_text("Correct answer: 5 of 5 main words")
    field(page, "q1_incorrect1").fill("Soup.")
    expect(advice(page, "q1_incorrect1")).to_contain_text("Write 5 words or more")
    field(page, "q1_correct1").fill("She needed a rest.")
    expect(told).to_contain_text("0 of 2 main words")
    expect(told).not_to_contain_text("in other words")
    field(page, "q1_correct1").fill("😀" * 299 + "12345")
    expect(told).to_contain_text("304 of 300 characters. Shorten it by 4.")


def test_a_paste_is_noted_by_its_field_and_length_alone(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    expect(page.get_by_text("We note into which field and how many characters")).to_be_visible()
    write(page, QUESTION | {"q1_correct2": ""})
    field(page, "q1_question").press("Control+a")
    field(page, "q1_question").press("Control+c")
    field(page, "q1_incorrect3").press("Control+a")
    field(page, "q1_incorrect3").press("Control+v")
    settle(page)
    page.reload()
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted["q1_incorrect3"] == QUESTION["q1_question"]
    assert json.loads(posted["pastes"]) == [{"field": "q1_incorrect3", "characters": len(QUESTION["q1_question"])}]


def test_every_fault_is_told_at_its_field_and_the_first_gets_the_focus(new_page, task_address, recording_marketplace):
    page = new_page()
    page.goto(task_address())
    write(page, {**QUESTION, "q1_correct2": "", "q1_incorrect2": "", "q1_incorrect3": "字" * 8000})
    settle(page)
    submit(page)
    empty = "Incorrect answer 2 of question 1 is empty. Write it."
    long = "Incorrect answer 3 of question 1 has 8,000 characters. Shorten it to 300 or fewer."
    expect(page.get_by_role("alert").locator("p")).to_have_text([empty, long])
    expect(field(page, "q1_incorrect2")).to_be_focused()
    expect(field(page, "q1_incorrect2")).to_have_accessible_description(empty)
    expect(field(page, "q1_incorrect3")).to_have_accessible_description(re.compile(f"^{re.escape(long)}"))
    write(page, {"q1_incorrect2": QUESTION["q1_incorrect2"]})
    expect(page.locator("[aria-invalid]")).to_have_count(1)
    write(page, {"q1_incorrect3": QUESTION["q1_incorrect3"]})
    expect(page.locator("[aria-invalid], .fault")).to_have_count(0)
    submit(page)
    assert submitted(page, recording_marketplace).items() >= {**QUESTION, "q1_correct2": ""}.items()


def test_it_works_without_scripts(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    assert page.get_by_role("button", name=re.compile("^Add")).count() == 0
    submit(page)
    assert not recording_marketplace.posted  # the browser itself asks for what is required
    write(page, FIELDS)
    submit(page)
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= FIELDS.items()
    evidence = protocol.check(DOCUMENT, {}, {}, posted).labels[-1].value
    assert (evidence["pastes"], evidence["seconds"]) == (None, None)


def test_a_preview_cannot_be_answered(new_page, task_address):
    page = new_page()
    page.goto(task_address(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
    expect(page.get_by_text("accept the HIT to answer")).to_be_visible()
    expect(page.locator("form :is(input, textarea, select, button):enabled")).to_have_count(0)


# The field in focus or its label lies under the paragraph or the line that sticks.
UNDER_SOMETHING = """() => [document.activeElement, ...document.activeElement.labels].some((part) => {
  const box = part.getBoundingClientRect();
  return document.elementFromPoint(box.x + 20, box.y + box.height / 2) !== part;
})"""


@pytest.mark.parametrize(("scheme", "screen"), [("light", {}), ("dark", PHONE)])
def test_it_has_no_accessibility_fault_and_no_field_hides(new_page, task_address, scheme, screen):
    page = new_page(**screen, color_scheme=scheme, reduced_motion="reduce")
    page.goto(task_address())
    assert violations(page) == []
    instructions_read(page)
    page.locator(".kinds summary").click()
    add(page, "a second correct answer")
    write(page, {**QUESTION, "q1_incorrect2": "", "q1_incorrect3": "Soup."})
    expect(advice(page, "q1_incorrect3").locator(".change").first).to_be_visible()
    submit(page)
    expect(field(page, "q1_incorrect2")).to_be_focused()
    assert violations(page) == []
    for _ in range(5):
        assert not page.evaluate(UNDER_SOMETHING), page.evaluate("document.activeElement.name")
        page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.documentElement.scrollWidth") <= (screen or {"width": 1280})["width"]
    expect(page.locator("[data-paragraph]")).to_be_in_viewport()
