"""A worker replies to a message, in a browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from hits.models import InboxEntry, WorkerMessage
from hits.people.rules.inbox import reply_path
from tests.axe import faults_in_both_looks
from tests.hits.people.test_replies import message

__all__ = ["message"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_replies_in_a_browser(new_page: Any, live_server: Any, message: WorkerMessage) -> None:
    page = new_page()
    page.goto(live_server.url + reply_path(message.pk))
    assert faults_in_both_looks(page) == []
    page.get_by_label("Your reply").fill("Which one is right?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Your reply was sent. The project reads it.")
    assert InboxEntry.objects.get().text == "Which one is right?"
    assert page.context.cookies() == []
