from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from lxml.html import document_fromstring
from playwright.sync_api import Page

from marketplace.models import Message, Requester, Worker
from marketplace.verbs import blocks, messages
from tests.marketplace.site.test_pages_axe import sign_in


@pytest.fixture
def message(worker: Worker, requester: Requester, now: datetime) -> Message:
    text = "Dear worker,\n\n<b>see</b> you tomorrow"
    return messages.send(worker, sender=requester, subject="More <i>work</i>", text=text, now=now)


def test_the_inbox_lists_what_is_unread_and_from_whom(client: Client, message: Message) -> None:
    page = client.get("/worker/messages/").text
    for part in ("More &lt;i&gt;work&lt;/i&gt;", "Alice", "unread", f'href="/worker/messages/{message.pk}/"'):
        assert part in page
    assert "not yet read" in client.get("/").text


def test_a_message_is_shown_as_it_was_written(client: Client, message: Message) -> None:
    page = client.get(f"/worker/messages/{message.pk}/").text
    assert "Dear worker,\n\n&lt;b&gt;see&lt;/b&gt; you tomorrow</p>" in page


def test_an_address_in_a_message_is_a_link_and_nothing_else_of_it_is_markup(
    client: Client, worker: Worker, requester: Requester, now: datetime
) -> None:
    text = "To answer: https://lab.example/task/reply/2:x?a=1&b=2. Not javascript:alert(1) \"onclick='x'\"."
    row = messages.send(worker, sender=requester, subject="Reply", text=text, now=now)
    shown = document_fromstring(client.get(f"/worker/messages/{row.pk}/").text).xpath("//p[@class='text']")[0]
    assert shown.text_content() == text
    assert [dict(link.attrib) for link in shown.iter("a")] == [
        {"href": "https://lab.example/task/reply/2:x?a=1&b=2", "rel": "nofollow"}
    ]


def test_looking_at_a_message_changes_nothing(client: Client, message: Message, worker: Worker) -> None:
    client.get("/worker/messages/")
    client.get(f"/worker/messages/{message.pk}/")
    message.refresh_from_db()
    assert message.read_at is None
    assert client.get(f"/worker/messages/{message.pk}/read/").status_code == 405


def test_a_button_marks_it_as_read_once(client: Client, message: Message, worker: Worker) -> None:
    for _ in range(2):
        assert client.post(f"/worker/messages/{message.pk}/read/").headers["Location"] == "/worker/messages/"
    worker.refresh_from_db()
    assert worker.unread_messages == 0
    assert "Mark as read" not in client.get(f"/worker/messages/{message.pk}/").text


def test_all_are_marked_as_read_together(client: Client, worker: Worker, message: Message, now: datetime) -> None:
    messages.send(worker, sender=None, subject="Second", text="t", now=now)
    client.post("/worker/messages/read-all/")
    worker.refresh_from_db()
    assert worker.unread_messages == 0
    page = client.get("/worker/messages/").text
    assert "Mark all as read" not in page and "Commons" in page


def test_other_peoples_messages_do_not_exist(other_client: Client, message: Message) -> None:
    assert "No messages yet" in other_client.get("/worker/messages/").text
    assert other_client.get(f"/worker/messages/{message.pk}/").status_code == 404
    assert other_client.post(f"/worker/messages/{message.pk}/read/").status_code == 404
    other_client.post("/worker/messages/read-all/")
    message.refresh_from_db()
    assert message.read_at is None


def test_e_mails_are_stopped_and_started_again(client: Client, worker: Worker, now: datetime) -> None:
    assert "Stop e-mails" not in client.get("/worker/messages/").text
    Worker.objects.update(email_confirmed_at=now)
    for shown, wanted, wants in (("Stop e-mails", "no", False), ("Send e-mails too", "yes", True)):
        assert shown in client.get("/worker/messages/").text
        client.post("/worker/messages/by-mail/", {"wanted": wanted})
        worker.refresh_from_db()
        assert worker.wants_email is wants
    assert "Stop e-mails" in client.get("/worker/profile/").text
    sent = client.post("/worker/messages/by-mail/", {"wanted": "no", "from": "profile"})
    assert sent.headers["Location"] == "/worker/profile/"


def test_many_messages_are_paged_at_a_constant_cost(
    client: Client, worker: Worker, message: Message, now: datetime, django_assert_num_queries: Any
) -> None:
    client.get("/worker/messages/")
    queries = 6
    for count in (1, 26):
        with django_assert_num_queries(queries):
            client.get("/worker/messages/")
        for _ in range(26 - count):
            messages.send(worker, sender=None, subject="s", text="t", now=now)
    assert len(client.get("/worker/messages/?page=2").context["page"].object_list) == 1


def test_nobody_tells_a_worker_of_a_block(
    client: Client, worker: Worker, requester: Requester, hit: Any, hit_type: Any, now: datetime
) -> None:
    blocks.block(requester, worker.worker_id, "secret reason", now)
    for page in ("/", "/worker/messages/", f"/mturk/preview?groupId={hit_type.hit_group_id}"):
        text = client.get(page).text
        assert "secret reason" not in text and "block" not in text.lower()
        assert hit_type.title not in text
    answer = client.post("/mturk/accept", {"groupId": hit_type.hit_group_id}, follow=True)
    assert "block" not in answer.text.lower()
    assert not worker.assignments.exists()


def test_an_opened_message_counts_as_read_and_the_bar_follows(
    page: Page, client: Client, worker: Worker, message: Message, now: datetime, live_server: Any, settings: Any
) -> None:
    settings.MARKETPLACE_PUBLIC_URL = live_server.url
    messages.send(worker, sender=None, subject="Second", text="t", now=now)
    sign_in(page, client, live_server.url)
    page.goto(f"{live_server.url}/worker/messages/")
    page.get_by_role("link", name="More <i>work</i>").click()
    page.locator("header.top").get_by_role("link", name="Messages 1 unread").wait_for()
    assert page.get_by_role("button", name="Mark as read").count() == 0
    page.goto(f"{live_server.url}/worker/messages/")
    page.get_by_role("button", name="Mark all as read").click()
    page.get_by_role("link", name="Messages", exact=True).wait_for()
