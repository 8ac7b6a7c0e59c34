"""Templates, one text to many, and the inbox through the API."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from hits.models import InboxEntry, Stage, WorkerMessage
from hits.people.verbs import messaging
from tests.hits import factories as make
from tests.hits.api.test_errors import refused
from tests.hits.stand_in import StandIn

pytestmark = pytest.mark.django_db(transaction=True)
HOME = "/api/projects/river/"
GIVEN = {"name": "New texts", "subject": "New in {stage}", "text": "Hello {worker}."}


def test_a_template_is_made_read_changed_and_removed(api: APIClient, river_stage: Stage) -> None:
    made = api.post(HOME + "message-templates/", GIVEN, format="json")
    assert made.status_code == 201 and made.json()["changed_by"] == "alice"
    address = f"{HOME}message-templates/{made.json()['id']}/"
    assert api.put(address, {**GIVEN, "text": "Look."}, format="json").json()["text"] == "Look."
    assert api.get(address).json()["text"] == "Look."
    [listed] = api.get(HOME + "message-templates/").json()["results"]
    assert listed["name"] == "New texts"
    assert api.delete(address).status_code == 204
    for method in (api.get, api.delete):
        refused(method(address), 404, "not_found")


def test_one_text_goes_to_many_once(api: APIClient, river_stage: Stage, stand_in: StandIn) -> None:
    for name in ("A1", "A2"):
        make.worker_stat(river_stage, make.worker(name))
    body = {"recipients": "stage", "subject": "New", "text": "Hello {worker}.", "confirmation": "page-0001"}
    address = f"{HOME}stages/{river_stage.key}/message-stage/"
    for said in ("2 messages", "0 messages"):
        assert api.post(address, body, format="json").json()["message"].startswith(said)
    assert messaging.send(river_stage.project) == 2
    rows = api.get(HOME + "messages/").json()["results"]
    assert [(row["worker_id"], row["text"], row["state"]) for row in rows] == [
        ("A1", "Hello A1.", "sent"),
        ("A2", "Hello A2.", "sent"),
    ]
    refused(api.post(address, {**body, "subject": "Newer"}, format="json"), 409, "confirmation_used")
    refused(api.post(address, {**body, "recipients": "all"}, format="json"), 400, "invalid")
    refused(api.post(address, {**body, "text": "{who}"}, format="json"), 400, "message_refused")
    assert WorkerMessage.objects.count() == 2


def test_the_inbox_is_listed_marked_opened_and_answered(api: APIClient, river_stage: Stage, stand_in: StandIn) -> None:
    worker = make.worker("A1")
    make.worker_stat(river_stage, worker)
    entry = make.reply(make.message(river_stage, worker), text="Why?")
    [row] = api.get(HOME + "inbox/").json()["results"]
    assert (row["kind"], row["state"], row["text"], row["worker_id"], row["answer"]) == (
        "reply", "open", "Why?", "A1", None,
    )  # fmt: skip
    chosen = {"entries": [entry.pk]}
    assert api.post(HOME + "inbox/answered/", chosen, format="json").json() == {"changed": 1}
    assert api.get(HOME + "inbox/").json()["results"] == []
    assert api.get(HOME + "inbox/?state=answered").json()["results"][0]["answered_by"] == "alice"
    assert api.post(HOME + "inbox/open/", chosen, format="json").json() == {"changed": 1}
    body = {"subject": "Re", "text": "Because.", "confirmation": "page-0001"}
    for _ in range(2):
        assert api.post(f"{HOME}inbox/{entry.pk}/reply/", body, format="json").status_code == 202
    [row] = api.get(HOME + "inbox/?state=all").json()["results"]
    assert row["answered_with"] == WorkerMessage.objects.latest("pk").pk
    assert messaging.send(river_stage.project) == len(stand_in.notes) == 1


def test_entries_of_others_are_not_there(api: APIClient, river_stage: Stage) -> None:
    other = make.reply()
    for path in ("answered", "open"):
        refused(api.post(f"{HOME}inbox/{path}/", {"entries": [other.pk]}, format="json"), 404, "no_entry")
        for wrong in ([], [0], ["x"], list(range(1, 502))):
            refused(api.post(f"{HOME}inbox/{path}/", {"entries": wrong}, format="json"), 400, "invalid")
    body = {"subject": "Re", "text": "Because.", "confirmation": "page-0001"}
    refused(api.post(f"{HOME}inbox/{other.pk}/reply/", body, format="json"), 404, "not_found")
    assert InboxEntry.objects.open().count() == 1
