"""Webhooks as a program sees them."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from hits.models import Project, Stage, Webhook, WebhookDelivery
from tests.hits import factories
from tests.hits.api.test_errors import refused
from tests.hits.api_calls import HOME, signed_in

HOOKS = HOME + "webhooks/"
# Of the internet at large, so that no name is looked up.
ADDRESS = "https://93.184.216.34/hook?key=1"
EVENTS = ["item.decided", "release.made"]


@pytest.fixture
def hook(river_stage: Stage) -> Webhook:
    return factories.webhook(river_stage.project)


def test_one_is_added_listed_changed_and_ended(api: APIClient, river: Project) -> None:
    made = api.post(HOOKS, {"address": ADDRESS, "events": EVENTS}, format="json")
    assert made.status_code == 201
    body = made.json()
    assert body["secret"].startswith("whsec_") and (body["address"], body["state"]) == (ADDRESS, "on")
    assert body["created_by"] == "alice"
    (listed,) = api.get(HOOKS).json()["results"]
    assert "secret" not in listed and listed == {name: value for name, value in body.items() if name != "secret"}
    one = f"{HOOKS}{body['id']}/"
    changed = api.patch(one, {"events": ["budget.low"], "active": False}, format="json").json()
    assert (changed["events"], changed["state"]) == (["budget.low"], "off")
    assert api.delete(one).status_code == 204
    assert api.get(one).json()["state"] == "ended"
    refused(api.patch(one, {"active": True}, format="json"), 409, "webhook_off")


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"address": "http://example.org/"}, "invalid", "address"),
        ({"address": "https://127.0.0.1/"}, "invalid", "address"),
        ({"events": ["rain.fell"]}, "invalid", "events"),
        ({"events": []}, "invalid", "events"),
        ({"events": "item.decided"}, "invalid", "events"),
        ({"address": "https://example.org/" + "a" * 500}, "invalid", "address"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_added(
    api: APIClient, river: Project, changes: dict[str, Any], code: str, field: str
) -> None:
    error = refused(api.post(HOOKS, {"address": ADDRESS, "events": EVENTS, **changes}, format="json"), 400, code)
    assert list(error["details"]) == [field]
    assert not Webhook.objects.exists()


def test_a_reader_sees_the_host_alone(hook: Webhook) -> None:
    carl = factories.user("carl")
    factories.member(hook.project, carl, "reader")
    (seen,) = signed_in(carl).get(HOOKS).json()["results"]
    assert (seen["host"], seen["address"]) == ("hooks.invalid", None)


def test_another_secret_is_shown_once(api: APIClient, hook: Webhook) -> None:
    secret = api.post(f"{HOOKS}{hook.pk}/rotate/").json()["secret"]
    hook.refresh_from_db()
    assert secret == hook.secret


def test_a_test_event_and_what_became_of_it(api: APIClient, hook: Webhook, eager: None) -> None:
    started = api.post(f"{HOOKS}{hook.pk}/test/")
    assert started.status_code == 202
    (row,) = api.get(started.json()["see"]).json()["results"]
    assert (row["event"], row["state"], row["attempts"], row["status"]) == ("test", "waiting", 1, None)
    shown = api.get(f"{HOOKS}{hook.pk}/").json()
    assert "has no address" in shown["error"] and shown["failing_since"] and shown["not_before"]
    refused(api.post(f"{HOOKS}{hook.pk}/test/"), 409, "test_waits")


def test_messages_are_listed_by_state_and_sent_again(api: APIClient, hook: Webhook) -> None:
    rows = [factories.webhook_delivery(hook, state=state) for state in ("delivered", "given_up", "waiting")]
    listed = api.get(f"{HOOKS}{hook.pk}/deliveries/?state=given_up").json()["results"]
    assert [row["id"] for row in listed] == [rows[1].pk]
    page = api.get(f"{HOOKS}{hook.pk}/deliveries/?limit=2").json()
    assert len(page["results"]) == 2 and page["next"]
    again = api.post(f"{HOOKS}deliveries/{rows[1].pk}/again/")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    refused(api.post(f"{HOOKS}deliveries/{rows[2].pk}/again/"), 409, "waits_already")


def test_rows_of_another_project_are_not_reached(api: APIClient, river: Project) -> None:
    elsewhere = factories.webhook_delivery(state="delivered")
    one = f"{HOOKS}{elsewhere.webhook_id}/"
    answers = [
        api.get(one),
        api.patch(one, {"active": False}, format="json"),
        api.delete(one),
        api.post(f"{one}rotate/"),
        api.post(f"{one}test/"),
        api.get(f"{one}deliveries/"),
        api.post(f"{HOOKS}deliveries/{elsewhere.pk}/again/"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert WebhookDelivery.objects.get().state == "delivered" and Webhook.objects.get().active
