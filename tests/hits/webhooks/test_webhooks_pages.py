"""The pages of webhooks."""

from __future__ import annotations

import json
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from hits.models import Project, Webhook, WebhookDelivery
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.markup import squeezed
from tests.receiver import receiver

pytestmark = pytest.mark.django_db(transaction=True)
# Of the internet at large, so that no name is looked up.
ADDRESS = "https://93.184.216.34/hook?key=1"


@pytest.fixture
def project(alice: Any) -> Project:
    project = make.project(owner=alice, name="River <b>stories</b>", slug="river")
    make.stage(project, key="validate")
    return project


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["river", *arguments])


def text(reply: Any, status: int = 200) -> str:
    assert reply.status_code == status
    return squeezed(reply)


def test_a_project_without_any_says_what_they_are_for(lead_client: Client, project: Project) -> None:
    page = text(lead_client.get(url("webhooks")))
    assert "No webhook yet" in page and "Webhooks</a>" in text(lead_client.get(url("project")))


def test_one_is_added_and_its_secret_shown_once(lead_client: Client, project: Project) -> None:
    form = {"form_fields": "address events", "address": ADDRESS, "events": ["item.decided", "budget.low"]}
    made = lead_client.post(url("webhooks.add"), form, follow=True)
    page, row = text(made), Webhook.objects.get()
    assert row.secret in page and "it is not shown again" in page and ADDRESS.replace("&", "&amp;") in page
    again = text(lead_client.get(made.redirect_chain[-1][0]))
    assert row.secret not in again and "The secret was shown already" in again and Webhook.objects.count() == 1
    later = text(lead_client.get(url("webhook", row.pk)))
    assert row.secret not in later and "Nothing was sent yet" in later
    listed = text(lead_client.get(url("webhooks")))
    assert "An item is decided, or decided otherwise; Little of the budget is left" in listed


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"address": "http://example.org/", "events": ["item.decided"]},
            "must begin with https://. Whoever runs this installation can allow http by WEBHOOK_HTTP.",
        ),
        (
            {"address": "https://10.0.0.1/", "events": ["item.decided"]},
            "not on an internal network. Whoever runs this installation can allow the network by WEBHOOK_NETWORKS.",
        ),
        ({"address": ADDRESS}, "Choose at least one event."),
        ({"address": ADDRESS, "events": ["rain.fell"]}, "&quot;rain.fell&quot; is not a valid choice"),
        ({"address": "https://<b>x</b>/", "events": ["item.decided"]}, "has no address"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    lead_client: Client, project: Project, given: dict[str, Any], why: str
) -> None:
    page = text(lead_client.post(url("webhooks.add"), {"form_fields": "address events", **given}), 400)
    assert why in page and "<b>x</b>" not in page and not Webhook.objects.exists()
    row = make.webhook(project)
    assert why in text(
        lead_client.post(url("webhooks.change", row.pk), {"form_fields": "address events", **given}), 400
    )


def test_the_page_says_why_nothing_arrives_and_what_happens_then(lead_client: Client, project: Project) -> None:
    now = timezone.now()
    row = make.webhook(project, failing_since=now, error="The receiver answered 503.", not_before=now)
    make.webhook_delivery(row, attempts=3, error="The receiver answered 503.", not_before=now)
    page = text(lead_client.get(url("webhook", row.pk)))
    assert (
        "Failing" in page
        and "The receiver answered 503." in page
        and "72 hours after it happened it is given up" in page
    )
    assert "Failing" in text(lead_client.get(url("webhooks")))


def test_it_is_changed_switched_off_tried_and_ended(lead_client: Client, project: Project) -> None:
    row = make.webhook(project)
    page = text(
        lead_client.post(
            url("webhooks.change", row.pk),
            {"form_fields": "address events", "address": ADDRESS, "events": ["budget.low"]},
            follow=True,
        )
    )
    assert "The webhook is changed." in page
    text(lead_client.post(url("webhooks.test", row.pk), follow=True))
    assert WebhookDelivery.objects.get().event == "test"
    assert "A test event waits already" in text(lead_client.post(url("webhooks.test", row.pk)), 409)
    assert "The webhook is off" in text(
        lead_client.post(url("webhooks.change", row.pk), {"active": "False"}, follow=True)
    )
    assert "This webhook is off" in text(lead_client.post(url("webhooks.test", row.pk)), 409)
    assert "The webhook is on" in text(
        lead_client.post(url("webhooks.change", row.pk), {"active": "True"}, follow=True)
    )
    rotated = text(lead_client.post(url("webhooks.rotate", row.pk), follow=True))
    row.refresh_from_db()
    assert row.secret in rotated and "the earlier one signs too" in rotated
    assert "is ended" in text(lead_client.post(url("webhooks.end", row.pk), follow=True))
    assert "No webhook yet" in text(lead_client.get(url("webhooks")))
    ended = text(lead_client.get(url("webhook", row.pk)))
    assert "Ended" in ended and "Send a test event" not in ended
    done = [action.verb for action in project.actions.all()]
    assert done == [
        "changed a webhook", "sent a test event", "changed a webhook", "changed a webhook",
        "rotated the secret of a webhook", "ended a webhook",
    ]  # fmt: skip
    assert "Rotated the secret of a webhook" in text(lead_client.get(url("project")))


def test_messages_are_listed_by_state_and_sent_again(lead_client: Client, project: Project) -> None:
    row = make.webhook(project)
    gone = make.webhook_delivery(row, state="given_up", body='{"type":"x","data":{"item":"<i>7</i>"}}')
    make.webhook_delivery(row, state="delivered", done_at=timezone.now())
    page = text(lead_client.get(url("webhook", row.pk) + "?state=given_up"))
    assert "&lt;i&gt;7&lt;/i&gt;" in page and "Delivered</span>" not in page
    assert "once more" in text(lead_client.post(url("webhooks.send_again", gone.pk), follow=True))
    assert "No message here" in text(lead_client.get(url("webhook", row.pk) + "?state=given_up"))
    assert "still to be sent" in text(lead_client.post(url("webhooks.send_again", gone.pk)), 409)


def test_each_message_says_what_it_is_about_and_what_was_answered(lead_client: Client, project: Project) -> None:
    row = make.webhook(project)
    data = {"stage": "validate", "item": "otters-3 <b>", "outcome": "kept", "id": 7}
    decided = json.dumps({"type": "item.decided", "data": data})
    make.webhook_delivery(row, event="item.decided", body=decided, state="delivered", status=204)
    make.webhook_delivery(row, state="waiting", status=204)
    page = text(lead_client.get(url("webhook", row.pk)))
    assert "item otters-3 &lt;b&gt;, stage validate, outcome kept</span>" in page and "release 1</span>" in page
    assert page.count("The receiver answered 204.") == 1
    assert reverse("help-page", args=["webhooks"]) in page


def test_an_opened_message_moves_no_column_out_of_sight(opened: Opener, project: Project) -> None:
    row = make.webhook(project)
    data = {"stage": "validate", "item": "otters-3" * 20, "see": "https://annotate.example.org/" + "api/" * 40}
    body = json.dumps({"type": "item.decided", "data": data})
    make.webhook_delivery(row, event="item.decided", body=body, state="delivered", status=204, done_at=timezone.now())
    for width in (1280, 360):
        page = opened(url("webhook", row.pk), width)
        page.locator("tbody summary").click()
        for part in (".table", "tbody pre"):
            hidden = page.locator(part).evaluate("shown => shown.scrollWidth - shown.clientWidth")
            assert hidden <= 0, (width, part)
        assert violations(page) == []


def test_a_reader_sees_the_host_and_no_button(project: Project) -> None:
    carl = make.user("carl")
    make.member(project, carl, "reader")
    row = make.webhook(project)
    make.webhook_delivery(row, state="delivered")
    reader = Client()
    reader.force_login(carl)
    for page in (text(reader.get(url("webhooks"))), text(reader.get(url("webhook", row.pk)))):
        assert "hooks.invalid" in page and "of-the-receiver" not in page
        assert "<button" not in page.partition("<main")[2]


def test_rows_of_another_project_are_not_reached(lead_client: Client, project: Project) -> None:
    elsewhere = make.webhook_delivery(state="delivered")
    for name in ("webhooks.change", "webhooks.rotate", "webhooks.test", "webhooks.end"):
        assert lead_client.post(url(name, elsewhere.webhook_id)).status_code == 404
    assert lead_client.get(url("webhook", elsewhere.webhook_id)).status_code == 404
    assert lead_client.post(url("webhooks.send_again", elsewhere.pk)).status_code == 404


def test_pages_cost_the_same_with_many_messages(lead_client: Client, project: Project) -> None:
    row = make.webhook(project)

    def queries() -> list[int]:
        counts = []
        for name, arguments in (("webhooks", ()), ("webhook", (row.pk,))):
            with CaptureQueriesContext(connection) as caught:
                lead_client.get(url(name, *arguments))
            counts.append(len(caught))
        return counts

    make.webhook_delivery(row)
    few = queries()
    for _ in range(60):
        make.webhook_delivery(row)
    assert queries() == few


def test_it_is_used_by_keyboard_from_the_form_to_a_message_that_arrived(
    opened: Opener, project: Project, eager: None, settings: Any, tmp_path: Path
) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    with receiver(tmp_path) as listener:
        listener.begin()
        page = opened(url("webhooks"), 360, "dark")
        page.get_by_role("textbox", name="Address").focus()
        page.keyboard.type(listener.address)
        for _ in Webhook.Event.values:
            page.keyboard.press("Tab")
            page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".token")).to_contain_text("whsec_")
        assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("button", name="Send a test event").focus()
        page.keyboard.press("Enter")
        expect(page.locator("tbody")).to_contain_text("Delivered")
        page.get_by_text("test", exact=True).click()
        expect(page.locator("tbody pre")).to_contain_text("Nothing happened")
        assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= 360
        assert [message["type"] for message in listener.messages] == ["test"]
        page.set_viewport_size({"width": 1280, "height": 800})
        assert violations(page) == []
        page.goto(page.url.rpartition("webhooks/")[0] + "webhooks/")
        assert violations(page) == []
