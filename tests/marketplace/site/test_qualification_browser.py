"""A qualification test in a real browser: by keyboard alone, and against the clock."""

import re
from datetime import datetime, timedelta
from typing import Any

from django.test import Client
from playwright.sync_api import Page, expect

from marketplace.models import Qualification, QualificationRequest, Requester, Worker
from marketplace.verbs import qualification_requests, qualifications
from tests.marketplace.rules.test_answer_key import form, key, percent, question
from tests.marketplace.site.test_pages_axe import sign_in

TEST = qualifications.NewTest(form(move="CD", why=""), 600, key(question("move", {"D": 1}), mapping=percent(1)))


def test_it_is_taken_by_keyboard_and_survives_a_reload(
    page: Page, client: Client, live_server: Any, settings: Any, requester: Requester, worker: Worker, now: datetime
) -> None:
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    kind = qualifications.create_type(
        requester, name="Chess", description="d", status="Active", now=now, test=TEST, retry_delay_seconds=0
    )
    sign_in(page, client, live_server.url)
    page.goto(f"{live_server.url}/worker/qualifications/{kind.qualification_type_id}/")
    page.get_by_role("button", name="Start the test, 10 minutes").press("Enter")
    expect(page.locator("#test-clock")).to_have_text(re.compile(r"^09:5\d left$"))
    page.reload()
    page.get_by_label("D", exact=True).press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("It takes the <b>queen</b>")
    page.get_by_role("button", name="Hand in the answers").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Submitted: 100 %.")
    assert QualificationRequest.objects.count() == 1
    assert "&lt;b&gt;queen" in QualificationRequest.objects.get().answer

    begun = qualification_requests.ask(worker, kind.qualification_type_id, now + timedelta(minutes=1))
    page.clock.install()
    page.goto(f"{live_server.url}/worker/qualifications/test/{begun.request_id}/")
    page.get_by_label("C", exact=True).check()
    page.clock.fast_forward("11:00")
    expect(page.locator("#test-clock")).to_have_text("time is over")
    expect(page.get_by_text("Answers can no longer be handed in.").first).to_be_visible()
    expect(page.get_by_role("button", name="Hand in the answers")).to_be_disabled()
    assert Qualification.objects.get().integer_value == 100
