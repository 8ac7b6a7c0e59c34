"""A person of a panel at work in a real browser: the end comes by itself."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from marketplace.models import Assignment, Hit, HitType
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
