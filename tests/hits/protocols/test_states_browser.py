"""Each protocol's page in every state that a worker meets it in: nothing of it is out of reach of a screen reader."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from hits.models import Hit, Stage
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.answers.test_languages_browser import hit_of
from tests.hits.protocols.test_phones_browser import NAMES
from tests.hits.task_page import WORKER, RecordingMarketplace, instructions_read
from tests.hits.workers.test_practice import test_hit as practised_hit

pytestmark = pytest.mark.django_db(transaction=True)
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
# Their scripts say what is missing before anything is sent; steps are fetched, and htmx says what did not come.
NEEDS_MORE_FIRST = ("clickable_entity", "spans", "staged_choice")
__all__ = ["practised_hit"]


def faults(page: Page, state: str) -> list[str]:
    """In the dark nothing but the colours is different."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    return [f"{state}: {fault}" for fault in found + violations(page, runOnly=["color-contrast"])]


def in_preview(page: Page) -> list[str]:
    """axe takes all in a disabled fieldset for disabled; the text that scrolls there can be focused all the same."""
    for paper in page.locator(".paper").all():
        paper.focus()
        expect(paper).to_be_focused()
    return [fault for fault in faults(page, "preview") if "scrollable-region-focusable" not in fault]


@pytest.mark.parametrize("name", [*NAMES, "form"])
def test_preview_refusal_no_connection_and_a_hit_answered_before_have_no_fault(
    new_page: Callable[..., Page], task_address: Callable[..., str], name: str
) -> None:
    hit = hit_of(name)
    page = new_page(360, 640, is_mobile=True, has_touch=True)
    page.goto(task_address(hit, assignmentId=NO_ASSIGNMENT, workerId=""))
    expect(page.get_by_text("accept the HIT to answer")).to_be_visible()
    found = in_preview(page)
    page.goto(task_address(hit))
    page.emulate_media(color_scheme="light")
    send, notice = page.locator("button.submit, .step button.primary").first, page.locator(".notice[role=alert]").first
    if name != "expert_review":  # what is left as it is there is an answer
        send.click()
        expect(notice).to_be_visible()
        found += faults(page, "refused")
    page.context.set_offline(True)
    anyway = page.get_by_role("button", name="Submit anyway")
    (anyway if anyway.is_visible() else send).click()
    expect(notice).to_be_visible()
    if name not in NEEDS_MORE_FIRST:
        expect(notice).to_contain_text("offline")
    found += faults(page, "offline")
    page.context.set_offline(False)
    make.assignment(hit, make.worker(WORKER), assignment_id="3EARLIER")
    page.goto(task_address(hit, assignmentId="3LATER"))
    expect(page.get_by_role("heading", level=1)).to_have_text("You already answered this item")
    assert found + faults(page, "answered before") == []


@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_practice_and_what_it_says_afterwards_have_no_fault(
    new_page: Callable[..., Page], task_address: Callable[..., str], practised_hit: Hit, answer: str
) -> None:
    page = new_page(360, 640, is_mobile=True, has_touch=True)
    page.goto(task_address(practised_hit))
    found: list[Any] = faults(page, "practice")
    page.get_by_label(answer, exact=True).check()
    page.get_by_role("button", name="See what is right").click()
    told = "That is right." if answer == "Yes" else "That is not right."
    expect(page.get_by_role("status").filter(has_text=told)).to_be_visible()
    assert found + faults(page, "told") == []


KEPT_OUT = {
    "blocked": {},
    "paused": {"until": timezone.now() + timedelta(days=9)},
    "without the qualification": None,
}


@pytest.mark.parametrize("why", list(KEPT_OUT))
def test_whoever_may_not_answer_is_told_so_without_a_fault(
    new_page: Callable[..., Page], task_address: Callable[..., str], why: str
) -> None:
    hit = hit_of("multiple_choice")
    columns = KEPT_OUT[why]
    if columns is None:
        Stage.objects.filter(pk=hit.stage_id).update(
            requirements=[{"qualification": "chosen-reader", "comparator": "Exists"}]
        )
    else:
        make.block(hit.item.stage, make.worker(WORKER), **columns)
    page = new_page(360, 640, is_mobile=True, has_touch=True)
    assert page.goto(task_address(hit)).status == 403
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("Return", exact=True)).to_be_visible()
    assert faults(page, why) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_steps_go_on_after_a_lost_connection_and_are_submitted_without_a_fault(
    new_page: Callable[..., Page], task_address: Callable[..., str], recording_marketplace: RecordingMarketplace
) -> None:
    page = new_page(360, 640, is_mobile=True, has_touch=True)
    page.goto(task_address(hit_of("staged_choice")))
    instructions_read(page)
    found: list[str] = []
    alert, send = page.locator(".notice[role=alert]").first, page.locator("button.submit, .step button.primary").first
    for number in range(1, 6):
        page.locator(".step input[type=radio]").first.check()
        page.context.set_offline(True)
        send.click()
        expect(alert).to_be_visible()
        found += faults(page, f"step {number} offline")
        page.context.set_offline(False)
        expect(page.locator(".step input[type=radio]").first).to_be_checked()
        found += faults(page, f"step {number} reconnected")
        before = page.locator("#step-heading").inner_text()
        send.click()
        page.wait_for_function("before => document.querySelector('#step-heading')?.innerText !== before", arg=before)
        if recording_marketplace.posted:
            break
        found += faults(page, f"step {number + 1}")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert len(recording_marketplace.posted) == 1
    assert found == []
