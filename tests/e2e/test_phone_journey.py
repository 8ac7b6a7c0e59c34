"""A worker's whole journey on a phone, as a screen reader tells it, and what the page of a task weighs on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from ops.stack import Stack
from ops.surroundings import ROOT
from tests.e2e.browsing import accessible, people
from tests.e2e.weighing import weighed

__all__ = ["people"]

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
TITLE = "Read a short text and choose an answer"
# Over the wire, all that the marketplace and the task bring, with an empty cache.
MOST_BYTES, MOST_REQUESTS = 100_000, 25
WORK = re.compile(r"/mturk/work/\d+/$")


@pytest.fixture
def published(stack: Stack) -> None:
    stack.manage("create_lead", "nadia")
    token = stack.manage("api_tokens", "nadia", "--make", "tests", "--scope", "pay").strip()
    new = ("--name", "Village news", "--recipe", "choice", "--budget", "50", "--contact-email", "lab@example.org")
    for words in (
        ("projects", "create", *new),
        ("stages", "change", "village-news", "choose", "--answers", "2"),
        ("import", "village-news", str(ROOT / "samples" / "choice.csv")),
        ("publish", "village-news", "choose", "--yes"),
    ):
        stack.annotate(*words, token=token)


def test_a_screen_reader_tells_the_whole_journey_on_a_phone(
    stack: Stack, people: Callable[..., Page], published: None
) -> None:
    page = people("phone", **PHONE)
    sign_up(page, stack.marketplace_url)
    find(page)
    preview(page)
    accept(page)
    see_enough(page)
    answer(page)
    submit(page)
    see_what_became_of_it(page)


def sign_up(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Sign up").first.click()
    expect(page.get_by_role("main")).to_match_aria_snapshot("""
        - heading "Sign up as a worker" [level=1]
        - textbox "Username"
        - text: /To sign in with. Requesters never see it./
        - textbox "Password"
        - text: /At least 8 characters./
        - combobox "Country you live in"
        - button "Sign up"
    """)
    page.get_by_label("Username").fill("thumb")
    page.get_by_label("Password").fill("another long password")
    page.get_by_label("Country you live in").select_option("CA")
    page.get_by_role("button", name="Sign up").click()


def find(page: Page) -> None:
    page.get_by_role("link", name="HITs", exact=True).click()
    expect(page.get_by_role("navigation", name="Main")).to_match_aria_snapshot("""
        - link "HITs"
        - link "My work"
        - link "Earnings"
        - link "Qualifications"
        - link "Messages"
        - link "Profile"
    """)
    row = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=TITLE))
    expect(row).to_match_aria_snapshot(f"""
        - listitem:
          - heading "{TITLE}" [level=2]
          - strong: /\\$0.05/
          - 'link "Preview: {TITLE}"'
          - 'button "Start: {TITLE}"'
    """)
    row.get_by_role("link", name="Preview").click()


def preview(page: Page) -> None:
    expect(page.get_by_role("main")).to_match_aria_snapshot(f"""
        - heading "{TITLE}" [level=1]
        - term: Reward
        - definition: $0.05
        - term: Time allowed
        - definition: 15 minutes
        - button "Accept"
        - link "Back to the list"
        - group: Who can do this work
        - note: "This is a preview: nothing you enter is kept. Accept the HIT to answer it."
        - iframe
    """)
    task = page.frame_locator("iframe.task")
    expect(task.get_by_text("accept the HIT to answer")).to_be_visible()
    expect(task.get_by_role("button", name="Submit answer")).to_have_count(0)


def accept(page: Page) -> None:
    """The one load that counts: what comes over the wire, and how long scripts keep the page from answering."""
    with weighed(page) as load:
        page.get_by_role("button", name="Accept").click()
        expect(page).to_have_url(WORK)
        page.wait_for_load_state("networkidle")
    hosts = {page.url.split("/")[2], frame_host(page)}
    assert len(hosts) == 2 and load.hosts == hosts, load.lines()
    assert load.total <= MOST_BYTES and len(load.parts) <= MOST_REQUESTS, load.lines()
    expect(page.get_by_role("banner")).to_match_aria_snapshot(f"""
        - heading "{TITLE}" [level=1]
        - paragraph: /\\$\\d.* left/
        - group: Menu
        - status
    """)
    page.get_by_text("Menu").click()
    expect(page.get_by_role("banner")).to_match_aria_snapshot("""
        - group: Menu
        - switch "Auto-accept next HIT" [checked]
        - button "Return"
        - link "My work"
        - link "Report"
    """)
    page.get_by_text("Menu").click()
    accessible(page)


def frame_host(page: Page) -> str:
    return next(frame.url.split("/")[2] for frame in page.frames if "/task/" in frame.url)


def see_enough(page: Page) -> None:
    """In the frame, below the bar: three of four answers at least, a sign for the rest, and two fifths for the text."""
    task = page.frame_locator("iframe.task")
    task.get_by_text("Read first:").click()
    task.get_by_role("button", name="Got it, close this").click()
    expect(task.locator(".instructions-text")).to_be_hidden()
    boxes = [choice.bounding_box() for choice in task.locator(".choice").all()]
    line = task.locator(".closing").bounding_box()["y"]  # type: ignore[index]
    hidden = sum(box["y"] + box["height"] > line + 4 for box in boxes if box)
    assert len(boxes) == 4 and hidden <= 1
    assert bool(hidden) == task.get_by_role("button", name=re.compile("more below")).is_visible()
    assert task.locator(".answer").bounding_box()["y"] >= 0.4 * 640  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "one thing scrolls, not two"
    expect(task.get_by_role("button", name="Submit answer")).to_have_count(1)


def answer(page: Page) -> None:
    task = page.frame_locator("iframe.task")
    expect(task.get_by_role("main")).to_match_aria_snapshot(f"""
        - heading "{TITLE}" [level=1]
        - group: How this task works
        - group:
          - article "Text":
            - heading "Text" [level=2]
            - paragraph
          - region "Your answer":
            - heading "Choose one answer" [level=2]
            - group /\\?/:
              - radio
              - radio
              - radio
              - radio
            - group: Report or comment
            - button "Submit answer"
        - status
    """)
    choose(task)


def choose(task: FrameLocator) -> None:
    task.get_by_role("radio").first.check()
    expect(task.get_by_text("Draft saved")).to_be_visible()


def submit(page: Page) -> None:
    """The next HIT comes by itself, says so, and nothing of the first is left on it."""
    first, task = page.url, page.frame_locator("iframe.task")
    task.get_by_role("button", name="Submit answer").click()
    expect(page).not_to_have_url(first)
    expect(page.get_by_role("status").first).to_have_text("Sent. This is the next HIT.")
    expect(page.get_by_role("banner")).to_match_aria_snapshot("""
        - paragraph: /Sent\\. This is the next one/
        - group: Menu
    """)
    expect(task.get_by_role("radio")).to_have_count(4)
    expect(task.get_by_role("radio", checked=True)).to_have_count(0)
    page.get_by_text("Menu").click()
    page.get_by_role("link", name="My work").click()


def see_what_became_of_it(page: Page) -> None:
    expect(page.get_by_role("main")).to_match_aria_snapshot(f"""
        - heading "My work" [level=1]
        - term: Submitted
        - definition: "1"
        - heading "In hand 1 of at most 25" [level=2]
        - list "In hand 1 of at most 25":
          - listitem:
            - text: {TITLE}
            - 'button "Return: {TITLE}"'
            - 'link "Continue: {TITLE}"'
        - heading "Submitted" [level=2]
        - region "Submitted":
          - table:
            - rowgroup
            - rowgroup:
              - row:
                - cell /{TITLE}/:
                  - link "{TITLE}"
                - cell /Submitted/
                - cell /State. (approved|waiting)/
                - 'cell "Reward: $0.05"'
    """)
    accessible(page)
    page.get_by_role("link", name="Earnings").click()
    expect(page.get_by_role("main")).to_match_aria_snapshot("""
        - heading "Earnings" [level=1]
        - link "Download as CSV"
        - term: Approved
        - definition: /\\$0.0[05]/
        - term: Owed to you
        - definition: /\\$0.0[05]/
        - heading "By day" [level=2]
        - region "By day":
          - table
    """)
    accessible(page)
