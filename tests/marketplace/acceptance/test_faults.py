"""Faults, one bucket and one clock where several processes serve; and the process that sends notifications."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, HTTPClientError
from django.conf import settings
from django.db import connection
from django.utils import timezone

from marketplace.models import Hit, Requester
from marketplace.verbs import events, hits
from ops.surroundings import ROOT
from ops.waiting import PATIENCE_SECONDS, until
from tests.marketplace.conftest import QUESTION
from tests.marketplace.controls import TestControls
from tests.marketplace.process import database_url, serve
from tests.marketplace.transports.sinks import Hook, hook_server

HIT = {"LifetimeInSeconds": 600, "AssignmentDurationInSeconds": 60, "Reward": "0.05", "Title": "t", "Description": "d"}


@pytest.fixture
def broken_market(transactional_db: None, requester: Requester, tmp_path: Path) -> Iterator[str]:
    log = tmp_path / "log"
    with serve(database_url(connection), log_file=log, MARKETPLACE_TEST_CONTROLS="True") as url:
        yield url
    assert "Traceback" not in log.read_text()


def alice(url: str, **config: Any) -> Any:
    return boto3.client(
        "mturk",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="alice",
        aws_secret_access_key="secret-of-alice",
        config=Config(**({"retries": {"total_max_attempts": 1}} | config)),
    )


def test_faults_strike_in_whichever_process_the_call_arrives(broken_market: str) -> None:
    client, controls = alice(broken_market), TestControls(broken_market)
    for kind, made in (("drop_after", 1), ("reset_before", 1), ("drop_after", 2)):
        controls.fail(kind, "CreateHIT")
        with pytest.raises((ConnectionClosedError, HTTPClientError)):
            client.create_hit(**HIT, Question=QUESTION)
        assert Hit.objects.count() == made
    controls.turn(throttle="6,1/s", forget_requests=True)
    answers = [outcome(client) for _ in range(12)]
    assert answers.count("ThrottlingException") in (5, 6)
    assert controls.counts() == {"GetAccountBalance": 12}
    controls.turn(throttle="")
    controls.advance(3600)
    assert [hit["HITStatus"] for hit in client.list_hits()["HITs"]] == ["Reviewable"] * 2


def outcome(client: Any) -> str:
    try:
        client.get_account_balance()
    except ClientError as error:
        code: str = error.response["Error"]["Code"]
        return code
    return "fine"


def arrived(hook: Hook, times: int) -> None:
    until(lambda: len(hook.got) >= times, f"{times} notifications come", pause=0.02)


@pytest.mark.django_db(transaction=True)
def test_the_ticking_process_sends_without_waiting_for_its_next_tick(
    requester: Requester, hit_type: Any, tmp_path: Path
) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MARKETPLACE_")}
    environment |= {
        "MARKETPLACE_DATABASE_URL": database_url(connection),
        "MARKETPLACE_SECRET_KEY": settings.SECRET_KEY,
        "MARKETPLACE_ACCEPT_ANY_KEY": "True",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "marketplace", "tick", "--interval", "3600", "--send-interval", "0.2"]
    with hook_server() as hook:
        ticking = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            events.set_webhook(requester, hook.url, timezone.now())
            hit_type.requester = requester
            values = {"question": QUESTION, "max_assignments": 1, "lifetime_seconds": 60, "now": timezone.now()}
            hits.create(requester, hit_type, **values)
            arrived(hook, 1)
            hits.create(requester, hit_type, **values)
            arrived(hook, 2)
        finally:
            ticking.terminate()
            assert ticking.wait(PATIENCE_SECONDS) == 0
    told = [event["EventType"] for body in hook.bodies for event in json.loads(body)["Events"]]
    assert told == ["HITCreated", "HITCreated"]
