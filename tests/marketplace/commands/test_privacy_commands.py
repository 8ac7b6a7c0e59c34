import json
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from marketplace.models import Worker
from marketplace.verbs import access, accounts


def printed(*command: str) -> str:
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_resetpassword_prints_a_link_that_works_once(worker: Worker, settings: Any) -> None:
    link = printed("resetpassword", "walter").strip()
    path = link.removeprefix(settings.MARKETPLACE_PUBLIC_URL)
    browser = Client()
    form = browser.get(path, follow=True).redirect_chain[-1][0]
    browser.post(form, {"new_password1": "another-long-8", "new_password2": "another-long-8"})
    assert Client().login(username="walter", password="another-long-8")
    assert Client().get(path).status_code == 410


def test_exportworker_prints_the_same_as_the_page(worker: Worker, client: Client) -> None:
    assert json.loads(printed("exportworker", worker.worker_id))["account"]["username"] == "walter"
    with pytest.raises(CommandError, match="no worker"):
        printed("exportworker", "nobody")


def test_eraseworker_asks_first_and_erases_once(worker: Worker) -> None:
    with pytest.raises(CommandError, match="Add --yes"):
        printed("eraseworker", worker.worker_id)
    assert "owed $0.00" in printed("eraseworker", worker.worker_id, "--yes")
    with pytest.raises(CommandError, match="before"):
        printed("eraseworker", worker.worker_id, "--yes")
    with pytest.raises(CommandError, match="no password"):
        printed("resetpassword", worker.worker_id)
    assert not Client().login(username="walter", password="worker")


def test_suspending_ends_every_session(worker: Worker, now: datetime) -> None:
    browser = Client()
    browser.force_login(worker.user)
    accounts.suspend(worker, now)
    assert browser.get("/worker/").status_code == 302
    assert access.end_sessions(worker.user) == 0
