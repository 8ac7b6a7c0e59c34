"""The pages of messages: inbox, what was sent, templates, one text to everybody of a stage."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from hits.core.pages import FIELDS
from hits.models import InboxEntry, Stage, Worker, WorkerMessage
from hits.people.rules import inbox as domain
from hits.people.verbs import messaging
from hits.views import paging
from tests.axe import faults_in_both_looks
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.hits.stand_in import StandIn
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stage(alice: Any) -> Stage:
    project = make.project(owner=alice, name="River <b>stories</b>", slug="river")
    return make.stage(project, key="choose", title="Choose <i>one</i>", hit_title="Was it wet?")


@pytest.fixture
def worker(stage: Stage) -> Worker:
    row = make.worker("AREADER")
    make.worker_stat(stage, row)
    return row


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["river", *arguments])


def remark(stage: Stage, worker: Worker, text: str = "Two <b>names</b> fit.") -> InboxEntry:
    answer = make.assignment(make.hit(make.item(stage)), worker, remark=text)
    domain.enter([answer])
    return InboxEntry.objects.get(assignment=answer)


# The inbox


def test_the_inbox_has_remarks_and_replies_with_what_they_belong_to(
    lead_client: Client, stage: Stage, worker: Worker
) -> None:
    assert "Nothing is open" in squeezed(lead_client.get(url("inbox")))
    one = remark(stage, worker)
    make.reply(make.message(stage, worker, subject="Your <u>answers</u>"), text="Why?\n<script>alert(1)</script>")
    page = squeezed(lead_client.get(url("inbox")))
    assert (
        "Two &lt;b&gt;names&lt;/b&gt; fit." in page and "&lt;script&gt;alert(1)" in page and "<script>alert" not in page
    )
    assert f'href="{url("item", "choose", one.assignment.hit.item_id)}#answer-{one.assignment_id}"' in page
    assert "replied to <b>Your &lt;u&gt;answers&lt;/u&gt;</b>" in page and f'href="{url("worker", "AREADER")}"' in page
    assert page.index("Why?") < page.index("Two &lt;b&gt;")
    assert "Messages</a>" in squeezed(lead_client.get(url("project")))


def test_the_newest_stands_first_whenever_its_answer_was_scored(
    lead_client: Client, stage: Stage, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_SIZE", 2)
    now = timezone.now()
    for minute in (3, 1, 4, 2):
        make.reply(make.message(stage, worker), text=f"minute {minute}.", at=now + timedelta(minutes=minute))
    address, read = url("inbox"), []
    while address:
        page = lead_client.get(address)
        read += re.findall(r"minute (\d)\.", page.content.decode())
        after = page.context["page"].after
        address = f"{url('inbox')}?{urlencode({'after': after})}" if after else ""
    assert read == ["4", "3", "2", "1"]


def test_an_entry_is_marked_and_opened_again(lead_client: Client, stage: Stage, worker: Worker) -> None:
    entry = remark(stage, worker)
    assert "1 is marked as answered." in squeezed(
        lead_client.post(url("mark-answered"), {"entry": entry.pk, "show": "open"}, follow=True)
    )
    page = squeezed(lead_client.get(url("inbox") + "?show=answered"))
    assert "Marked as answered by alice" in page and "Open again" in page
    assert "Two &lt;b&gt;" not in squeezed(lead_client.get(url("inbox")))
    assert "1 is opened again." in squeezed(lead_client.post(url("open-again"), {"entry": entry.pk}, follow=True))
    for wrong in ({}, {"entry": "x"}, {"entry": 10**12}, {"entry": remark(make.stage(), worker).pk}):
        assert "Nothing was changed." in squeezed(lead_client.post(url("mark-answered"), wrong, follow=True))


def test_all_of_a_page_are_marked_at_once(lead_client: Client, stage: Stage, worker: Worker) -> None:
    entries = [remark(stage, worker) for _ in range(3)]
    assert "Mark these 3 as answered" in squeezed(lead_client.get(url("inbox")))
    lead_client.post(url("mark-answered"), {"entry": [entry.pk for entry in entries]})
    assert not InboxEntry.objects.open().exists()


def test_a_reply_is_sent_and_marks_the_entry(
    lead_client: Client, stage: Stage, worker: Worker, stand_in: StandIn
) -> None:
    before = make.message(stage, worker, subject="Your answers")
    entry = make.reply(before, text="Why?")
    page = squeezed(lead_client.get(url("reply-to-worker", entry.pk)))
    assert 'value="Re: Your answers"' in page and "Why?" in page and "Look again." in page
    confirmation = page.partition('name="confirmation" value="')[2].partition('"')[0]
    given = {"subject": "Re: Your answers", "text": "Because.", "confirmation": confirmation}
    for _ in range(2):
        assert lead_client.post(url("reply-to-worker", entry.pk), given).status_code == 302
    entry.refresh_from_db()
    assert entry.answered_with and entry.answered_with.text == "Because."
    assert messaging.send(stage.project) == 1
    assert [note[0] for note in stand_in.notes] == ["AREADER"]
    assert "Answered by alice: “Re: Your answers”" in squeezed(lead_client.get(url("inbox") + "?show=answered"))
    refused = lead_client.post(url("reply-to-worker", entry.pk), {**given, "text": "", "confirmation": "page-0009"})
    assert refused.status_code == 400 and "Nothing was sent." in squeezed(refused)


def test_pages_cost_the_same_with_many_rows(lead_client: Client, stage: Stage, worker: Worker) -> None:
    def queries() -> list[int]:
        counted = []
        for name in ("inbox", "messages", "message-templates"):
            with CaptureQueriesContext(connection) as found:
                assert lead_client.get(url(name)).status_code == 200
            counted.append(len(found))
        return counted

    def fill(number: int) -> None:
        for _ in range(number):
            someone = make.worker()
            remark(stage, someone)
            make.reply(make.message(stage, someone))
            make.message_template(stage.project)

    fill(2)
    before = queries()
    fill(8)
    assert queries() == before


# What was sent


def test_the_log_says_what_was_sent_to_whom_by_whom_and_what_became_of_it(
    lead_client: Client, alice: Any, stage: Stage, worker: Worker
) -> None:
    assert "Nothing was written yet" in squeezed(lead_client.get(url("messages")))
    make.reply(make.message(stage, worker, created_by=alice, subject="<b>Bold</b>"))
    make.message(stage, state=WorkerMessage.State.REFUSED, error="No work of theirs.", subject="Second")
    page = squeezed(lead_client.get(url("messages")))
    assert (
        "&lt;b&gt;Bold&lt;/b&gt;" in page and "No work of theirs." in page and "Choose &lt;i&gt;one&lt;/i&gt;" in page
    )
    assert '<td data-label="By">alice</td>' in page and '<td class="n" data-label="Replies">1</td>' in page
    only = squeezed(lead_client.get(url("messages") + "?show=refused"))
    assert "Second" in only and "Bold" not in only
    assert "No message here" in squeezed(lead_client.get(url("messages") + "?show=planned"))


def test_the_log_is_paged(lead_client: Client, stage: Stage, worker: Worker) -> None:
    for number in range(51):
        make.message(stage, worker, subject=f"Message {number}.")
    first = lead_client.get(url("messages"))
    assert "Message 50." in squeezed(first) and "Message 0." not in squeezed(first)
    address = squeezed(first).partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "Message 0." in squeezed(lead_client.get(url("messages") + address))


# Templates


def test_a_template_is_kept_changed_used_and_removed(lead_client: Client, stage: Stage, worker: Worker) -> None:
    given = {"name": "<b>New</b>", "subject": "New in {stage}", "text": "Hello {worker}."}
    assert "is kept." in squeezed(lead_client.post(url("message_templates.make"), given, follow=True))
    row = stage.project.message_templates.get()
    assert "&lt;b&gt;New&lt;/b&gt;</a>" in squeezed(lead_client.get(url("message-templates")))
    lead_client.post(url("message_templates.change", row.pk), {**given, "text": "Dear {worker}."})
    page = squeezed(
        lead_client.get(reverse("message-workers", args=["river", "choose"]) + f"?worker=AREADER&template={row.pk}")
    )
    assert "Dear AREADER.</textarea>" in page and 'value="New in Was it wet?"' in page
    entry = remark(stage, worker)
    assert "Dear AREADER." in squeezed(lead_client.get(url("reply-to-worker", entry.pk) + f"?template={row.pk}"))
    assert "is removed." in squeezed(lead_client.post(url("message_templates.remove", row.pk), follow=True))
    assert not stage.project.message_templates.exists()


def test_faults_of_a_template_stand_at_their_fields_and_what_was_written_stays(
    lead_client: Client, stage: Stage
) -> None:
    given = {"name": "A", "subject": "For {nobody}", "text": "{what} <i>", FIELDS: "name subject text"}
    answer = lead_client.post(url("message_templates.make"), given)
    page = squeezed(answer)
    assert answer.status_code == 400 and "There is no placeholder {nobody}." in page and "{what} &lt;i&gt;" in page
    other = make.message_template()
    assert lead_client.get(url("message-template", other.pk)).status_code == 404


# One text to many


def test_everybody_of_a_stage_is_written_to_once(
    lead_client: Client, stage: Stage, worker: Worker, stand_in: StandIn
) -> None:
    address = reverse("message-stage", args=["river", "choose"])
    row = make.message_template(stage.project)
    page = squeezed(lead_client.get(f"{address}?template={row.pk}"))
    assert "As AREADER reads it" in page and "Hello AREADER." in page and "New in Was it wet?" in page
    confirmation = page.partition('name="confirmation" value="')[2].partition('"')[0]
    given = {"recipients": "stage", "subject": row.subject, "text": row.text, "confirmation": confirmation}
    for _ in range(2):
        assert lead_client.post(address, given)["Location"] == url("messages")
    assert messaging.send(stage.project) == len(stand_in.notes) == 1
    used = lead_client.post(address, {**given, "text": "Other words."})
    assert used.status_code == 409 and "Other words." in used.content.decode()
    assert "has sent another text already" in used.content.decode() and confirmation not in used.content.decode()
    for changes in ({"text": "{nobody}"}, {"recipients": "all"}, {"subject": ""}, {"confirmation": ""}):
        answer = lead_client.post(address, {**given, "confirmation": "page-0002", **changes})
        assert answer.status_code == 400
    assert WorkerMessage.objects.count() == 1


def test_a_stage_in_which_nobody_answered_says_so(lead_client: Client, stage: Stage) -> None:
    assert "Nobody has answered here" in squeezed(lead_client.get(reverse("message-stage", args=["river", "choose"])))


def test_a_reader_looks_and_has_no_buttons(stage: Stage, worker: Worker, bob: Any) -> None:
    make.member(stage.project, bob, "reader")
    make.message_template(stage.project)
    remark(stage, worker)
    reader = Client()
    reader.force_login(bob)
    for name in ("inbox", "messages", "message-templates"):
        page = squeezed(reader.get(url(name)))
        for button in ("Mark as answered", "Reply…", "Keep the template", "Remove", "Write to everybody"):
            assert button not in page


def test_an_id_of_a_worker_is_not_broken_over_two_lines(opened: Opener, stage: Stage) -> None:
    make.message(
        stage, make.worker("AI0P3J8FUGHZF2"), subject="About your answers", error="The marketplace is away. " * 5
    )
    for width in (1280, 360):
        page = opened(url("messages"), width)
        lines = page.get_by_role("link", name="AI0P3J8FUGHZF2").evaluate("link => link.getClientRects().length")
        assert lines == 1, width


def test_the_pages_fit_and_are_accessible(opened: Opener, stage: Stage, worker: Worker) -> None:
    entry = remark(stage, worker, "word " * 100 + "x" * 200)
    make.reply(make.message(stage, worker, subject="x" * 150))
    row = make.message_template(stage.project, name="x" * 60)
    for address in (
        url("inbox"), url("messages"), url("message-templates"), url("message-template", row.pk),
        url("reply-to-worker", entry.pk), reverse("message-stage", args=["river", "choose"]) + f"?template={row.pk}",
    ):  # fmt: skip
        page = opened(address)
        expect(page.locator("h1")).to_be_visible()
        assert faults_in_both_looks(page) == [], address
