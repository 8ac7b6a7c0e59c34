"""Coming in by links, in a real browser: readable for all, and the way back to the panel is open."""

from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page

from marketplace.models import PanelEntry, Worker
from marketplace.verbs import access, panels
from tests.marketplace.site.test_pages_axe import check


@pytest.fixture
def origin(transactional_db: None, live_server: Any, settings: Any) -> str:
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    settings.MARKETPLACE_MAIL = True
    return str(live_server.url)


def make_panel(slug: str, now: datetime, **values: Any) -> Any:
    terms = "You read texts and answer questions.\n\n" + "We keep your answers. " * 150
    panel = {"name": "The panel", "slug": slug, "terms": terms, "completion_url": "https://panel.example.org/"}
    return panels.make_panel(**(panel | values), now=now)


def test_every_page_of_coming_in_is_accessible(page: Page, origin: str, worker: Worker, now: datetime) -> None:
    invitation = access.invite(now=now, email="nina@example.org")
    make_panel("open", now)
    panels.close_panel(make_panel("closed", now, screened_out_url="https://panel.example.org/out"), now)
    paths = [
        f"{origin}/join/{invitation.token}/",
        f"{origin}/accounts/forgot/",
        f"{origin}/panel/open/?PARTICIPANT_ID=pid-1",
        f"{origin}/panel/closed/?PARTICIPANT_ID=pid-1",
        access.reset_link(worker, now),
    ]
    problems = [line for path in paths for line in check(page, path)]
    assert problems == []


def test_a_person_of_a_panel_comes_in_and_goes_back_by_keyboard(
    page: Page, origin: str, task_origin: str, now: datetime
) -> None:
    make_panel("open", now, completion_url=task_origin + "/done?cc=C0DE&p={outside_id}")
    page.goto(f"{origin}/panel/open/?PARTICIPANT_ID=pid-1")
    page.get_by_label("I have read this and agree").press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{origin}/")
    assert check(page, f"{origin}/") == []
    page.get_by_role("link", name="Finish").press("Enter")
    page.wait_for_url(f"{origin}/worker/finish/")
    assert check(page, f"{origin}/worker/finish/") == []
    page.get_by_role("button", name="Back to The panel").press("Enter")
    page.wait_for_url(f"{task_origin}/done?cc=C0DE&p=pid-1")
    assert PanelEntry.objects.get().finished_at is not None
