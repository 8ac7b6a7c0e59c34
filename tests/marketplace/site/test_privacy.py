import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client

from marketplace.models import Worker


def test_a_worker_takes_the_own_data_along_and_nobody_elses(
    client: Client, worker: Worker, other_worker: Worker
) -> None:
    answer = client.get("/worker/privacy/data/")
    assert "attachment" in answer.headers["Content-Disposition"]
    assert json.loads(answer.content)["account"]["worker_id"] == worker.worker_id
    assert other_worker.worker_id not in answer.text


def test_deleting_asks_for_the_password_and_cannot_be_guessed(client: Client, worker: Worker) -> None:
    answers = [client.post("/worker/privacy/delete/", {"secret": "wrong"}).status_code for _ in range(6)]
    assert answers == [400] * 5 + [429]
    worker.refresh_from_db()
    assert worker.erased_at is None


def test_a_deleted_account_is_gone(client: Client, worker: Worker, sign_in: Callable[[Worker], Client]) -> None:
    elsewhere = sign_in(worker)
    answer = client.post("/worker/privacy/delete/", {"secret": "worker"})
    assert worker.worker_id in answer.text
    assert [browser.get("/worker/").status_code for browser in (client, elsewhere)] == [302, 302]
    assert not [session for session in Session.objects.all() if SESSION_KEY in session.get_decoded()]
    assert not Client().login(username="walter", password="worker")


def test_money_that_is_owed_is_given_up_only_on_purpose(
    client: Client, worker: Worker, sign_in: Callable[[Worker], Client]
) -> None:
    Worker.objects.filter(pk=worker.pk).update(earned=Decimal("7.25"))
    assert "You are owed $7.25" in client.get("/worker/privacy/delete/").text
    assert client.post("/worker/privacy/delete/", {"secret": "worker"}).status_code == 400
    assert client.post("/worker/privacy/delete/", {"secret": "worker", "lose": "on"}).status_code == 200
    worker.refresh_from_db()
    assert (worker.erased_at is not None, worker.owed) == (True, Decimal("7.25"))


def test_an_account_without_a_password_types_its_id(client: Client, worker: Worker, settings: Any) -> None:
    worker.user.set_unusable_password()
    worker.user.save()
    person = Client()
    person.force_login(worker.user)
    assert person.post("/worker/privacy/delete/", {"secret": "A"}).status_code == 400
    assert person.post("/worker/privacy/delete/", {"secret": worker.worker_id.lower()}).status_code == 200
