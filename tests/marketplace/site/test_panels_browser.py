"""A person of a panel at work in a real browser: the end comes by itself."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from marketplace.models import Assignment, Hit, HitType
from marketplace.rules.questions.html import HtmlQuestion, html_question_xml
from marketplace.verbs import panels
from tests.marketplace.site.test_browser import WORK, answer
from tests.marketplace.site.test_pages_axe import make_question
from tests.marketplace.verbs.test_panels import PANEL


@pytest.mark.parametrize("by_itself", [True, False])
def test_after_the_last_answer_the_completion_page_comes_by_itself(
    transactional_db: None,
    page: Page,
    live_server: Any,
    settings: Any,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    task_origin: str,
    now: datetime,
    by_itself: bool,
) -> None:
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    for _ in range(5):
        make_hit(hit_type, question=make_question(task_origin))
    panels.make_panel(**PANEL, hit_type=hit_type, finish_after=2, now=now)
    page.goto(f"{live_server.url}/panel/spring/?PARTICIPANT_ID=pid-1")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Accept").click()
    expect(page).to_have_url(WORK)
    if not by_itself:
        page.get_by_role("switch").click()
        expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    first = page.url
    answer(page)
    if not by_itself:
        page.get_by_role("button", name="Take the next HIT").click()
    expect(page).not_to_have_url(first)
    expect(page).to_have_url(WORK)
    answer(page)
    expect(page.get_by_role("heading", name="You are done. Thank you")).to_be_visible()
    assert Assignment.objects.count() == 2


FORM = """<!DOCTYPE html><html lang="en"><head><title>Task</title></head><body>
<form action="https://www.mturk.com/mturk/externalSubmit"><label>Answer <input name="answer"></label>
<input type="submit" value="Send"></form></body></html>"""


@pytest.mark.parametrize("by_itself", [True, False])
def test_a_page_that_is_kept_here_leads_to_the_completion_page_too(
    transactional_db: None,
    page: Page,
    live_server: Any,
    settings: Any,
    hit_type: HitType,
    make_hit: Callable[..., Hit],
    now: datetime,
    by_itself: bool,
) -> None:
    """Its frame has no origin: the site asks itself whether the answer arrived, and is led to the completion page."""
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    for _ in range(2):
        make_hit(hit_type, question=html_question_xml(HtmlQuestion(FORM, 400)))
    panels.make_panel(**PANEL, hit_type=hit_type, finish_after=1, now=now)
    page.goto(f"{live_server.url}/panel/spring/?PARTICIPANT_ID=pid-1")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Accept").click()
    expect(page).to_have_url(WORK)
    if not by_itself:
        page.get_by_role("switch").click()
        expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    frame = page.frame_locator("iframe.task")
    frame.get_by_label("Answer").fill("yes")
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="You are done. Thank you")).to_be_visible()
    assert Assignment.objects.count() == 1
