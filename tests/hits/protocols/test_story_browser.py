"""Telling a story in a real browser: by keyboard, with interruptions, without scripts, and what a lead then sees."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Draft
from hits.protocols.story.protocol import protocol
from hits.text.language.words import words
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.keyboard import press_until
from tests.hits.protocols.telling import DOCUMENT, OTHER, STORY
from tests.hits.task_page import ASSIGNMENT, WORKER, instructions_read

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 360, "height": 740, "is_mobile": True, "has_touch": True}
LOOKS = [("light", {}), ("dark", PHONE)]


# Milliseconds after which what is typed is saved; see task.js.
TYPING_PAUSE = 1500


@pytest.fixture
def hit(db):
    stage = make.stage(protocol="story", hit_title="Tell a story about something everyday", answers=20)
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data={}))


def field(page: Page):
    return page.get_by_role("textbox", name="Your story")


def count(page: Page):
    return page.locator("#story-count")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit answer").click()


def settle(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved")


def submitted(page: Page, marketplace) -> dict[str, str]:
    page.wait_for_url(re.compile("externalSubmit"))
    (posted,) = marketplace.posted
    return posted


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_story_typed_and_pasted_by_keyboard_is_counted_kept_and_sent(new_page, task_address, recording_marketplace):
    total = 6 + len(words(STORY))
    page = new_page()
    page.goto(task_address())
    expect(page.locator(".about")).to_have_text("Tell a child about taking the bus to town")
    expect(count(page)).to_have_text("0 of 60 to 400 words: 60 to go")
    field(page).focus()
    page.keyboard.type("I don’t mind old-fashioned buses.\n\n")
    expect(count(page)).to_have_text("6 of 60 to 400 words: 54 to go")
    assert page.get_by_role("status").text_content() == ""  # not at each key
    expect(field(page)).to_have_accessible_description("6 of 60 to 400 words: 54 to go")
    page.keyboard.insert_text(STORY)
    expect(count(page)).to_have_text(f"{total} of 60 to 400 words")
    expect(page.get_by_role("status")).to_have_text(f"{total} of 60 to 400 words")
    settle(page)
    page.evaluate("localStorage.clear()")  # what the server keeps
    page.reload()
    expect(count(page)).to_have_text(f"{total} of 60 to 400 words")
    field(page).press("Control+a")
    field(page).press("Control+c")
    field(page).press("ArrowRight")
    field(page).press("Control+v")
    expect(count(page)).to_have_text(f"{2 * total} of 60 to 400 words")
    submit(page)
    twice = page.get_by_role("alert").locator("p")
    expect(twice).to_have_text(
        re.compile("The story repeats itself: 50 % of it was said before, such as “I don’t mind")
    )
    expect(field(page)).to_be_focused()
    expect(field(page)).to_have_accessible_description(re.compile("^The story repeats itself"))
    field(page).press("Control+z")
    expect(count(page)).to_have_text(f"{total} of 60 to 400 words")
    page.get_by_label("Anything else").fill("A nice task.")
    button = page.get_by_role("button", name="Submit answer")
    field(page).focus()
    press_until(page, "Tab", lambda: button.evaluate("button => button === document.activeElement"))
    page.keyboard.press("Enter")
    posted = submitted(page, recording_marketplace)
    assert posted.items() >= {"workerId": WORKER, "assignmentId": ASSIGNMENT, "comment": "A nice task."}.items()
    checked = protocol.check(DOCUMENT, {}, {}, posted)
    assert checked.labels[0].value == {"text": f"I don’t mind old-fashioned buses.\n\n{STORY}", "words": total}
    assert [one["field"] for one in checked.labels[1].value["pastes"]] == ["story"]


def test_what_is_too_long_is_told_and_what_is_no_text_is_refused(new_page, task_address):
    page = new_page()
    page.goto(task_address())
    page.evaluate("""story => {
      const field = document.getElementById("story");
      field.value = story;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }""", "مرحبا 👩‍🦳 \u200fcafe\u0301 " * 3334)  # fmt: skip
    expect(count(page)).to_have_text("6,668 of 60 to 400 words: 6,268 too many")
    expect(page.locator("[data-draft-state]")).to_have_text(re.compile("^Not saved: The draft is too long"))
    submit(page)
    expect(page.locator(".notice p")).to_have_text(re.compile("Shorten it to 12,000 or fewer, and to 400 words"))
    field(page).fill(" \u200b\n\u3164 ")
    expect(count(page)).to_have_text("0 of 60 to 400 words: 60 to go")
    submit(page)
    expect(page.locator(".notice p")).to_have_text("The story is not written yet. Write it into the field.")
    field(page).fill("<b>Buses!</b>")
    submit(page)
    expect(page.locator(".notice p")).to_have_text("The story has 3 words. Write 57 more: 60 to 400 are asked for.")
    settle(page)
    page.reload()
    expect(field(page)).to_have_value("<b>Buses!</b>")
    assert Draft.objects.get().fields["story"] == "<b>Buses!</b>"


def test_what_was_written_while_a_draft_was_refused_is_kept(new_page, task_address):
    page, held = new_page(), []
    page.route("**/task/draft/", lambda route: route.continue_() if held else held.append(route))
    page.goto(task_address())
    field(page).fill("word " * 5000)
    for _ in range(600):
        if held:
            break
        page.wait_for_timeout(100)
    field(page).fill("Buses!")
    page.wait_for_timeout(2 * TYPING_PAUSE)
    held[0].continue_()
    settle(page)
    assert Draft.objects.get().fields["story"] == "Buses!"


def test_it_works_without_scripts(new_page, task_address, recording_marketplace):
    page = new_page(java_script_enabled=False)
    page.goto(task_address())
    expect(count(page)).to_have_text("60 to 400 words")
    submit(page)
    assert not recording_marketplace.posted  # the browser itself asks for what is required
    field(page).fill(STORY)
    submit(page)
    checked = protocol.check(DOCUMENT, {}, {}, submitted(page, recording_marketplace))
    assert checked.labels[0].value["text"] == STORY
    assert checked.labels[1].value == {"pastes": None, "seconds": None}


@pytest.mark.parametrize(("scheme", "screen"), LOOKS)
def test_it_can_be_read_by_everybody_and_the_count_stays_in_sight(new_page, task_address, scheme, screen):
    page = new_page(**screen, color_scheme=scheme, reduced_motion="reduce")
    page.goto(task_address())
    assert violations(page) == [] and fits(page)
    instructions_read(page)
    field(page).fill(f"{STORY}\n\n{OTHER}\n\n" * 3)
    submit(page)
    expect(page.locator(".fault")).to_be_visible()
    assert violations(page) == [] and fits(page)
    field(page).press("Control+End")
    expect(count(page)).to_be_in_viewport()
    expect(page.locator(".about")).to_be_in_viewport()
    expect(count(page)).to_have_text(re.compile("too many$"))


@pytest.mark.parametrize(("scheme", "screen"), LOOKS)
def test_a_lead_compares_a_copied_story_with_the_other_one(new_page, live_server, hit, scheme, screen):
    alice = make.user("alice")
    make.member(hit.stage.project, alice)
    copy = f"{OTHER[:150]} {STORY[60:]}"
    for at, text in enumerate((STORY, OTHER, copy)):
        answer = make.assignment(hit, submitted_at=make.NOON + timedelta(minutes=at))
        make.label(answer, unit="story", value={"text": text, "words": 99}, correct=None)
    signed_in = Client()
    signed_in.force_login(alice)
    page = new_page(**screen, color_scheme=scheme)
    value = signed_in.cookies["annotate_session"].value
    page.context.add_cookies([{"name": "annotate_session", "value": value, "url": live_server.url}])
    page.goto(live_server.url + reverse("answers", args=[hit.stage.project.slug, hit.stage.key]))
    expect(page.locator(".likeness")).to_have_count(2)
    for summary in page.get_by_text("Compare the two").all():
        summary.click()
    expect(page.locator("mark").first).to_be_visible()
    assert violations(page) == [] and fits(page)
    right = page.locator(".likeness .read").last.evaluate("text => text.getBoundingClientRect().right")
    assert right <= page.viewport_size["width"]
    page.get_by_role("link", name="story of").first.click()
    expect(page.locator("tr:target")).to_contain_text(STORY[:40])
