"""Webhooks as a program sees them."""

from __future__ import annotations

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


def test_a_reader_sees_the_host_alone(hook: Webhook) -> None:
    carl = factories.user("carl")
    factories.member(hook.project, carl, "reader")
    (seen,) = signed_in(carl).get(HOOKS).json()["results"]
    assert (seen["host"], seen["address"]) == ("hooks.invalid", None)


def test_a_test_event_and_what_became_of_it(api: APIClient, hook: Webhook, eager: None) -> None:
    started = api.post(f"{HOOKS}{hook.pk}/test/")
    assert started.status_code == 202
    (row,) = api.get(started.json()["see"]).json()["results"]
    assert (row["event"], row["state"], row["attempts"], row["status"]) == ("test", "waiting", 1, None)
    shown = api.get(f"{HOOKS}{hook.pk}/").json()
    assert "has no address" in shown["error"] and shown["failing_since"] and shown["not_before"]
    refused(api.post(f"{HOOKS}{hook.pk}/test/"), 409, "test_waits")


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
