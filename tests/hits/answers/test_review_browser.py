"""Review in a real browser, by keyboard alone. REVIEWED_ANSWERS in the environment has it review more of them."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from hits import protocols
from hits.judging.rules.summaries import refresh_summary, refresh_worker_stats
from hits.models import Assignment
from tests.axe import faults_in_both_looks, violations
from tests.hits import factories as make
from tests.hits import samples_of_media
from tests.hits.lead_pages import Opener
from tests.hits.views.test_browser import world
from tests.hits.world import World

__all__ = ["world"]
pytestmark = pytest.mark.django_db(transaction=True)
ANSWERS = int(os.environ.get("REVIEWED_ANSWERS", "15"))


@pytest.fixture
def waiting(world: World) -> list[Assignment]:
    Assignment.objects.filter(stage=world.stage, state="Submitted").delete()
    hits = make.hits(make.items(world.stage, ANSWERS, state="open"))
    due = timezone.now() + timedelta(days=3)
    rows = make.assignments(hits, world.worker, state=Assignment.State.SUBMITTED, auto_approval_at=due)
    for row in rows:
        make.label(row)
    refresh_worker_stats(world.stage, [world.worker.pk])
    refresh_summary(world.stage)
    return rows


class Keyboard:
    """Presses keys, one after the page has done what the one before asked for, and counts them."""

    def __init__(self, page: Page) -> None:
        self.page, self.presses = page, 0

    def press(self, key: str, shows: str) -> None:
        self.presses += 1
        self.page.keyboard.press(key)
        self.page.locator(shows).wait_for(state="attached")


def approves(row: Assignment) -> str:
    """A selector of the form that approves this answer."""
    return f'form[action$="/review/{row.pk}/approve/"]'


def test_answers_are_reviewed_by_keyboard_alone_with_hardly_more_keys_than_answers(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    keys = Keyboard(page)
    for following in waiting[1:-1]:
        keys.press("a", approves(following))
    keys.press("u", approves(waiting[-3]))
    keys.press("a", approves(waiting[-2]))
    keys.press("a", approves(waiting[-1]))
    keys.press("a", "text=Nothing waits for review")
    assert keys.presses <= 1.2 * ANSWERS
    assert set(Assignment.objects.filter(pk__in=[row.pk for row in waiting]).values_list("decision")) == {("Approved",)}
    expect(page.locator("#review")).to_contain_text(f"You approved {ANSWERS} answers")


def test_a_rejection_takes_three_keys_and_none_works_in_a_field(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    keys = Keyboard(page)
    keys.press("r", "[data-rejection] input:focus")
    page.focus("textarea")
    page.keyboard.type("a u j k")
    expect(page.locator("textarea")).to_have_value("a u j k")
    page.keyboard.press("Escape")
    keys.press("Escape", approves(waiting[0]))
    keys.press("r", "[data-rejection] input:focus")
    page.keyboard.press("3")
    chosen = page.input_value("textarea")
    page.keyboard.press("Enter")
    page.locator(approves(waiting[1])).wait_for()
    expect(page.locator("#review-said")).to_contain_text("Rejected the answer of")
    expect(page.locator("#review-heading")).to_be_focused()
    waiting[0].refresh_from_db()
    assert (waiting[0].decision, waiting[0].feedback) == ("Rejected", chosen) and chosen.endswith(".")
    keys.press("j", approves(waiting[2]))
    keys.press("k", approves(waiting[1]))
    page.go_back()
    page.locator(approves(waiting[2])).wait_for()


def test_a_screen_reader_hears_the_answer_its_worker_and_what_a_rejection_costs(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    keys = Keyboard(page)
    expect(page.get_by_role("main")).to_match_aria_snapshot(f"""
        - 'heading "Validate: Review" [level=1]'
        - status
        - heading /Answer of AREA/ [level=2]
        - paragraph: /{ANSWERS} left · 0 decided in this sitting · auto-approved in .+/
        - region /What it is about/:
          - paragraph: /Mara Okafor/
        - region "The answer":
          - term: A boat lands in _____.
          - definition: Linden right
        - region "The worker":
          - term: Gold answers right
          - definition: /of 16, 100.0 %/
          - paragraph:
            - link "Approve the other {ANSWERS - 1} answers of this worker…"
        - button "Approve, $0.04 A"
        - link "Reject… R"
        - link "Bonus… B"
        - link "Previous K"
        - link "Next J"
    """)
    keys.press("r", "[data-rejection] input:focus")
    expect(page.get_by_role("main")).to_match_aria_snapshot("""
        - heading /Reject the answer of AREA/ [level=3]
        - list:
          - listitem: The worker is not paid $0.04.
          - listitem: /approval rate/
          - listitem: /another answer costs \\$0.05/
          - listitem: /You can undo it for 30 seconds/
        - group "Why? The worker reads it.":
          - radio
        - textbox /In other words/
        - 'button "Reject: $0.04 is not paid Enter"'
        - link "Cancel Esc"
    """)
    page.keyboard.press("3")
    keys.press("Enter", approves(waiting[1]))
    expect(page.get_by_role("main")).to_match_aria_snapshot("""
        - status:
          - paragraph:
            - text: Rejected the answer of
            - link /AREA/
          - button "Undo U"
        - heading /Answer of AREA/ [level=2]
    """)


def test_the_focus_stays_on_the_button_that_approves(world: World, opened: Opener, waiting: list[Assignment]) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    page.focus("#review-approve")
    Keyboard(page).press("Enter", approves(waiting[1]))
    expect(page.locator("#review-approve")).to_be_focused()
    expect(page.locator("[aria-live=polite] #review-undo")).to_be_visible()


def test_the_second_click_of_a_double_click_decides_nothing(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    # From here on a line about the last decision stands above, and the buttons stay where they are.
    Keyboard(page).press("a", approves(waiting[1]))
    box = page.locator("#review-approve").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    page.locator(approves(waiting[2])).wait_for()
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    page.keyboard.press("k")
    page.locator(approves(waiting[-1])).wait_for()
    decided = Assignment.objects.exclude(decision="").order_by("pk")
    assert list(decided.values_list("pk", flat=True)) == [row.pk for row in waiting[:2]]


def test_a_key_whose_request_fails_says_so_and_who_is_signed_out_signs_in_again(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    page.route("**/approve/", lambda route: route.abort())
    page.reload()  # a busy browser lets a request through that follows at once
    page.keyboard.press("a")
    expect(page.get_by_role("alert")).to_contain_text("did not answer")
    page.unroute("**/approve/")
    Keyboard(page).press("a", approves(waiting[1]))
    expect(page.locator("#review-fault-of-server")).to_be_hidden()
    world.project.archived_at = timezone.now()
    world.project.save()
    page.keyboard.press("a")
    expect(page.get_by_role("alert")).to_contain_text("did not do that")
    page.context.clear_cookies()
    page.keyboard.press("j")
    page.get_by_label("Password").wait_for()
    assert page.locator("#review").count() == 0


def test_its_parts_are_accessible_and_keep_within_the_width(
    world: World, opened: Opener, waiting: list[Assignment]
) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]))
    keys = Keyboard(page)
    for key, shows in (("a", "#review-undo"), ("r", "[data-rejection]")):
        keys.press(key, shows)
        assert faults_in_both_looks(page) == []


def test_it_works_without_scripts(world: World, opened: Opener, waiting: list[Assignment]) -> None:
    page = opened(reverse("review", args=[world.project.slug, world.stage.key]), java_script_enabled=False)
    page.click("#review-approve")
    page.click("#review-undo")
    page.click("#review-reject")
    page.check("input[name=reason] >> nth=1")
    page.click("#review-do-reject")
    expect(page.locator("#review-said")).to_contain_text("Rejected the answer of")
    waiting[0].refresh_from_db()
    assert waiting[0].decision == "Rejected"


def test_an_uploaded_picture_is_shown_as_the_worker_saw_it_in_a_bounded_size(world: World, opened: Opener) -> None:
    form = {
        "show": [{"kind": "image", "column": "photo", "description": "A photo"}],
        "ask": [{"kind": "short_text", "key": "seen", "question": "What is on it?"}],
    }
    options = protocols.get("form").settings({"form": form})
    stage = make.stage(world.project, key="pictures", protocol="form", settings=options)
    size = {"width": 3000, "height": 2000}
    make.media_file(world.project, samples_of_media.png(**size), name="harbour.png", base="harbour.png", **size)
    document = make.document(world.project, data={"columns": {"photo": "harbour.png"}})
    hit = make.hit(make.item(stage, document=document, data={}))
    due = timezone.now() + timedelta(days=3)
    answer = make.assignment(hit, world.worker, state=Assignment.State.SUBMITTED, auto_approval_at=due)
    make.label(answer, unit="seen", value="A ferry")
    refresh_summary(stage)
    for width in (360, 768, 1280):
        page = opened(reverse("review", args=[world.project.slug, stage.key]), width)
        picture = page.get_by_role("img", name="The picture harbour.png")
        expect(picture).to_be_visible()
        expect(picture).to_have_js_property("naturalWidth", 3000)
        box = picture.bounding_box()
        assert box and box["width"] <= width and box["height"] <= 420
        assert box["width"] / box["height"] == pytest.approx(1.5, rel=0.02)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
