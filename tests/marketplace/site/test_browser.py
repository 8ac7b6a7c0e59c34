"""A worker at work in a real browser: the task page is of another origin, and sees no cookie of ours."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from marketplace.models import Assignment, Hit, HitType, Worker
from marketplace.verbs import assignments
from tests.axe import violations
from tests.marketplace.site.test_pages_axe import make_question, sign_in

Status = Assignment.Status
WORK = re.compile(r"/mturk/work/\d+/$")


@pytest.fixture
def url(
    transactional_db: None,
    live_server: Any,
    settings: Any,
    page: Page,
    client: Client,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    task_origin: str,
) -> str:
    """A marketplace with three HITs of one group, and Walter signed in."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    for _ in range(3):
        make_hit(hit_type, question=make_question(task_origin))
    sign_in(page, client, live_server.url)
    return live_server.url


def answer(page: Page) -> None:
    task = page.frame_locator("iframe.task")
    task.get_by_label("Answer").fill("Calypso")
    task.get_by_role("button", name="Submit answer").click()


def start(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Start: Pick the entity").click()
    expect(page).to_have_url(WORK)


def wait(page: Page, seconds: int) -> None:
    """Let time pass, in the browser (whose clock is installed) and for the deadlines of the marketplace."""
    page.clock.fast_forward(seconds * 1000)
    Assignment.objects.update(deadline=F("deadline") - timedelta(seconds=seconds))


def test_one_hit_follows_the_other_until_the_last(page: Page, url: str, worker: Worker, task_origin: str) -> None:
    assert task_origin.split(":")[1] != url.split(":")[1]
    start(page, url)
    for done in (1, 2):
        before = page.url
        answer(page)
        expect(page).not_to_have_url(before)
        expect(page).to_have_url(WORK)
        expect(page.get_by_text("Sent. This is the next one")).to_be_visible()
        assert Assignment.objects.filter(status=Status.SUBMITTED).count() == done
    page.reload()
    expect(page.get_by_text("Sent. This is the next one")).to_be_hidden()
    answer(page)
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    assert set(Assignment.objects.values_list("status", flat=True)) == {Status.SUBMITTED}
    assert "<FreeText>Calypso</FreeText>" in Assignment.objects.first().answer  # type: ignore[union-attr]


def test_with_the_switch_off_it_stops_after_a_submit(page: Page, url: str) -> None:
    start(page, url)
    switch = page.get_by_role("switch", name="Auto-accept next HIT")
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    page.reload()
    expect(switch).to_have_attribute("aria-checked", "false")
    answer(page)
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    page.get_by_role("button", name="Take the next HIT").click()
    expect(page).to_have_url(WORK)


def test_without_scripts_a_link_leads_on(page: Page, url: str, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto(url)
    plain.get_by_role("button", name="Start: Pick the entity").click()
    held = Assignment.objects.get()
    assert held.assignment_id in (plain.locator("iframe.task").get_attribute("src") or "")
    # This test's task page needs a script; post what it would have posted.
    plain.set_content(
        f'<form method="post" action="{url}/mturk/externalSubmit"><input name="assignmentId" '
        f'value="{held.assignment_id}"><input name="answer" value="x"><button>Send</button></form>'
    )
    plain.get_by_role("button", name="Send").click()
    plain.get_by_role("link", name="Go on").click()
    plain.get_by_role("button", name="Take the next HIT").click()
    expect(plain).to_have_url(WORK)
    context.close()


def test_time_running_out_is_said_and_then_over(page: Page, url: str) -> None:
    start(page, url)
    page.clock.install()
    Assignment.objects.update(deadline=timezone.now() + timedelta(seconds=20))
    page.reload()
    expect(page.locator("#running-out")).to_be_visible()
    assert violations(page, iframes=False) == []
    expect(page.get_by_role("status")).to_contain_text("left to submit this HIT")
    wait(page, 20)
    expect(page.locator("#time-over")).to_be_visible()
    assert violations(page, iframes=False) == []
    expect(page.get_by_role("status")).to_contain_text("Time is over")
    expect(page.get_by_role("button", name="Return")).to_be_hidden()
    page.get_by_role("link", name="Go on").click()
    expect(page.get_by_role("heading", name="Time ran out")).to_be_visible()


def test_a_late_answer_gets_a_friendly_page_in_the_frame(page: Page, url: str) -> None:
    start(page, url)
    Assignment.objects.update(deadline=timezone.now() - timedelta(seconds=1))
    answer(page)
    frame = page.frame_locator("iframe.task")
    expect(frame.get_by_role("heading", name="The time ran out")).to_be_visible()
    frame.get_by_role("link", name="Go on").click()
    expect(page.get_by_role("heading", name="Time ran out")).to_be_visible()


COME_BACK = "document.dispatchEvent(new Event('visibilitychange'))"


@pytest.mark.parametrize(
    ("how", "heading", "says"), [("answer", "Submitted", "Your answer is kept"), ("return", "Returned", "went back")]
)
def test_a_second_tab_says_what_became_of_the_hit(page: Page, url: str, how: str, heading: str, says: str) -> None:
    start(page, url)
    first = page.url
    other = page.context.new_page()
    other.goto(first)
    page.evaluate(COME_BACK)
    expect(page.locator("#ended")).to_be_hidden()
    if how == "answer":
        answer(other)
    else:
        other.get_by_role("button", name="Return").click()
    expect(other).not_to_have_url(first)
    page.evaluate(COME_BACK)
    told = page.locator("#ended")
    expect(told).to_contain_text(heading)
    expect(told).to_contain_text(says)
    expect(told).to_contain_text("can no longer be submitted")
    expect(page.get_by_role("status")).to_contain_text(says)
    expect(page.get_by_role("button", name="Return")).to_be_hidden()
    assert violations(page, iframes=False) == []
    # And whoever sends it all the same.
    page.frame_locator("iframe.task").get_by_label("Answer").fill("Another one")
    page.frame_locator("iframe.task").get_by_role("button", name="Submit answer").click()
    heading_of_refusal = {"answer": "This answer was not recorded", "return": "This HIT was returned"}[how]
    expect(page.frame_locator("iframe.task").get_by_role("heading", name=heading_of_refusal)).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(320, 568), (360, 640), (390, 844)])
def test_on_a_phone_the_bar_is_one_row_and_its_menu_lies_over_the_task(
    page: Page, url: str, hit_type: HitType, width: int, height: int
) -> None:
    HitType.objects.filter(pk=hit_type.pk).update(title="Donaudampfschifffahrtsgesellschaft " * 3)
    page.set_viewport_size({"width": width, "height": height})
    page.set_extra_http_headers({"Accept-Language": "de"})
    page.goto(url)
    page.locator("li.hit form button").click()
    expect(page).to_have_url(WORK)
    page.wait_for_load_state()
    frame = page.locator("iframe.task")
    before = frame.bounding_box()
    assert before is not None and before["y"] <= 45 and before["height"] >= height - 45
    menu, give_back = page.locator(".fold summary"), page.locator("#give-back button")
    assert menu.bounding_box()["height"] >= 44
    expect(give_back).to_be_hidden()
    menu.click()
    expect(give_back).to_be_visible()
    assert frame.bounding_box() == before, "the task keeps its place"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page, iframes=False) == []
    page.keyboard.press("Escape")
    expect(give_back).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    page.mouse.click(width / 2, height - 20)
    expect(give_back).to_be_hidden()
    assert page.locator("#sent").is_hidden()
    page.locator("#sent").evaluate("span => { span.hidden = false }")
    assert page.locator(".workbar").bounding_box()["height"] <= 62
    for said in (page.get_by_role("heading", level=1), page.locator("#sent"), page.locator("#clock")):
        box = said.bounding_box()
        assert box["width"] > 40 and box["y"] >= 0 and box["y"] + box["height"] <= 62, "all of it is seen"
        assert box["x"] + box["width"] <= menu.bounding_box()["x"]


def test_returning_and_taking_back(page: Page, url: str) -> None:
    start(page, url)
    hit = Assignment.objects.get().hit_id
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_text("It does not count against you")).to_be_visible()
    page.get_by_role("button", name="Undo: take it back").click()
    expect(page).to_have_url(WORK)
    assert Assignment.objects.get(status=Status.ACCEPTED).hit_id == hit


def test_the_frame_fills_the_window_without_a_second_scrollbar(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    start(page, url)
    box = page.locator("iframe.task").bounding_box()
    assert box is not None
    assert round(box["y"] + box["height"]) == 800
    assert page.evaluate("document.documentElement.scrollHeight <= window.innerHeight")


def test_a_double_click_takes_one_hit(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Start: Pick the entity").dblclick()
    expect(page).to_have_url(WORK)
    assert Assignment.objects.count() == 1


def test_the_queue_counts_down_and_says_what_runs_out(
    page: Page, url: str, worker: Worker, hit_type: HitType, make_hit: Callable[..., Hit]
) -> None:
    now = timezone.now()
    urgent, calm = (assignments.accept(hit_type, worker, now) for _ in range(2))
    Assignment.objects.filter(pk=urgent.pk).update(deadline=now + timedelta(seconds=20))
    page.clock.install()
    page.goto(f"{url}/worker/")
    rows = page.locator(".held")
    expect(rows.nth(1)).to_contain_text(re.compile(r"0\d:\d\d"))
    expect(page.get_by_role("status")).to_contain_text("seconds left")
    wait(page, 20)
    expect(rows.nth(0)).to_contain_text("time is over")
    expect(page.get_by_role("status")).to_contain_text("time is over")
    expect(rows.nth(0).get_by_role("link", name="Continue")).to_be_hidden()
    page.get_by_role("link", name="Return all").click()
    page.get_by_role("button", name="Return 1 HIT").click()
    expect(page.get_by_text("1 HIT returned")).to_be_visible()
    calm.refresh_from_db()
    assert calm.status == Status.RETURNED


def test_the_list_is_worked_by_keyboard(page: Page, url: str) -> None:
    page.goto(url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("entity")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=entity"))
    page.get_by_role("link", name="Preview: Pick the entity").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Start: Pick the entity")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(WORK)
