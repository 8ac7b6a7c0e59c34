"""A real browser counts what is typed and pasted, keeps it over a reload, and tells the worker so."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Draft
from hits.projects.rules.plugins import protocol_named
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.protocols.telling import DOCUMENT, STORY
from tests.hits.task_page import instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}
TOLD = "We count how many characters you type and paste into each field"


@pytest.fixture
def hit(db):
    stage = make.stage(protocol="story", hit_title="Tell a story", answers=20, text_evidence=True)
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={}))


def field(page: Page):
    return page.get_by_role("textbox", name="Your story")


def counts(page: Page, name: str = "story") -> list[int]:
    return json.loads(page.locator("[name=_typing]").input_value())[name]


def settle(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.get_by_role("button", name="Submit answer").click()
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def test_typing_pasting_deleting_and_pausing_are_counted_and_survive_a_reload(
    new_page, task_address, recording_marketplace
):
    page = new_page()
    page.goto(task_address())
    field(page).focus()
    page.keyboard.type("I took the bux", delay=20)
    page.keyboard.press("Backspace")
    page.keyboard.type("s.", delay=20)
    typed, pasted, pastes, deletions, pauses, _ = counts(page)
    assert (typed, pasted, pastes, deletions, pauses) == (16, 0, 0, 1, 0)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(2100)
    page.keyboard.press("Control+v")
    assert counts(page)[:5] == [16, 15, 1, 1, 1]
    # As dictation puts a text in: at once, without a key.
    page.keyboard.insert_text(f" {STORY}")
    assert counts(page)[:3] == [16, 15, 1]
    settle(page)
    page.evaluate("localStorage.clear()")  # what the server keeps
    page.reload()
    assert counts(page)[:5] == [16, 15, 1, 1, 1]
    field(page).press("End")
    page.keyboard.type("ab", delay=20)
    assert counts(page)[:5] == [18, 15, 1, 1, 1]
    posted = submitted(page, recording_marketplace)
    assert set(posted) >= {"story", "_typing"}
    assert json.loads(posted["_typing"])["story"][:5] == [18, 15, 1, 1, 1]
    kept = Draft.objects.get().fields["_typing"]
    assert re.fullmatch(r'\{"story":\[\d+(,\d+){5}\]\}', kept), "numbers alone"


def test_seconds_are_those_of_typing_without_pauses(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    field(page).focus()
    page.keyboard.type("abcdefghijklmnop", delay=150)
    page.wait_for_timeout(2600)
    page.keyboard.type("abcdefgh", delay=150)
    typed, _, _, _, pauses, seconds = counts(page)
    assert (typed, pauses) == (24, 1)
    # 15 and 7 gaps of 0.15 s, and what a busy machine adds.
    assert 2 <= seconds <= 6


def test_the_worker_is_told_what_is_counted_and_why_it_says_little(new_page, task_address):
    for look, options in (("light", {}), ("dark", PHONE)):
        page = new_page(color_scheme=look, **options)
        page.goto(task_address())
        instructions_read(page)
        told = page.locator(".counted-typing")
        expect(told.locator("summary")).to_contain_text(TOLD)
        why = told.get_by_text("The counts say little about who dictates")
        expect(why).to_be_hidden()
        told.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(why).to_be_visible()
        expect(told).to_contain_text("input method")
        expect(told).to_contain_text("a draft of an earlier visit")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page) == []


def test_in_a_preview_it_is_told_before_anything_is_accepted(new_page, live_server, hit, task_address):
    page = new_page()
    page.goto(task_address(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
    expect(page.locator(".counted-typing summary")).to_contain_text(TOLD)


def test_a_stage_that_does_not_collect_it_neither_counts_nor_tells(new_page, task_address, hit, recording_marketplace):
    hit.stage.text_evidence = False
    hit.stage.save(update_fields=["text_evidence"])
    page = new_page()
    page.goto(task_address())
    assert page.locator("[name=_typing], .counted-typing, script[src*='typing']").count() == 0
    field(page).fill(STORY)
    assert "_typing" not in submitted(page, recording_marketplace)


def test_without_scripts_the_form_is_sent_all_the_same(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    field(page).fill(STORY)
    posted = submitted(page, recording_marketplace)
    assert (posted["story"].split(), posted["_typing"]) == (STORY.split(), "")


@pytest.mark.parametrize("protocol", ["question_writing", "answer_writing", "phrase_questions", "form"])
def test_each_task_with_texts_counts_its_fields(new_page, task_address, protocol):
    settings = protocol_named(protocol).settings(
        {"form": {"show": [], "ask": [
            {"kind": "long_text", "key": "why", "question": "Why?"},
            {"kind": "short_text", "key": "who", "question": "Who?"},
            {"kind": "number", "key": "how-many", "question": "How many?"},
        ]}} if protocol == "form" else {}
    )  # fmt: skip
    document, item = protocol_named(protocol).example
    stage = make.stage(protocol=protocol, settings=settings, text_evidence=True)
    hit = make.hit(make.item(stage, document=make.document(stage.project, data=document), data=item))
    names = protocol_named(protocol).text_fields(document, item, settings)
    assert names and "how-many" not in names
    page = new_page()
    page.goto(task_address(hit))
    for choice in page.locator("input[type=radio][value=text]").all():
        choice.check()  # of an answer, its fields open with where it comes from
    names = [name for name in names if page.locator(f'[name="{name}"]').is_visible()]
    assert len(names) > 1
    for name in names:
        page.locator(f'[name="{name}"]').focus()
        page.keyboard.type("why")
    assert {name: counts(page, name)[0] for name in names} == dict.fromkeys(names, 3)
