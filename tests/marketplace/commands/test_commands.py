import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from marketplace.models import AccessKey, Assignment, Worker
from marketplace.verbs import assignments

ROOT = Path(__file__).resolve().parents[3]


def printed(*command: str) -> str:
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_createrequester_prints_a_key_pair_that_works() -> None:
    pair = dict(line.split("=", 1) for line in printed("createrequester", "The lab").split())
    key = AccessKey.objects.get(access_key_id=pair["AWS_ACCESS_KEY_ID"])
    assert (key.secret, key.requester.name) == (pair["AWS_SECRET_ACCESS_KEY"], "The lab")
    assert key.requester.available == 10_000


@pytest.mark.django_db
def test_createworker_prints_a_log_in_that_works() -> None:
    username, password, worker_id = printed("createworker", "walter", "--country", "us").split()
    assert Client().login(username=username, password=password)
    assert Worker.objects.get(worker_id=worker_id).country == "US"
    with pytest.raises(CommandError, match="already"):
        printed("createworker", "walter")
    with pytest.raises(CommandError, match="two letters"):
        printed("createworker", "wilma", "--country", "USA")


@pytest.mark.django_db
def test_seed_sandbox_makes_the_sample_workers_once() -> None:
    first, second = printed("seed_sandbox"), printed("seed_sandbox")
    assert first == second
    log_ins = [*([f"worker{n}", "worker"] for n in (1, 2, 3)), ["operator", "operator"]]
    assert [line.split()[:2] for line in first.splitlines()] == log_ins
    assert all(Client().login(username=name, password=password) for name, password in log_ins)


@pytest.mark.django_db
def test_createoperator_prints_a_log_in_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    username, password = printed("createoperator", "olive").split()
    client = Client()
    assert client.login(username=username, password=password)
    assert client.get("/operator/").status_code == 200
    monkeypatch.setenv("MARKETPLACE_OPERATOR_PASSWORD", "a-password-of-my-own")
    assert printed("createoperator", "otto") == "otto\n"
    assert Client().login(username="otto", password="a-password-of-my-own")
    with pytest.raises(CommandError, match="already"):
        printed("createoperator", "Olive")
    monkeypatch.setenv("MARKETPLACE_OPERATOR_PASSWORD", "short")
    with pytest.raises(CommandError, match="too short"):
        printed("createoperator", "ole")


@pytest.mark.django_db
def test_keys_are_made_and_revoked_by_command(requester: Any) -> None:
    pair = dict(line.split("=", 1) for line in printed("createkey", requester.customer_id, "--label", "ci").split())
    key = AccessKey.objects.get(label="ci")
    assert (key.access_key_id, key.secret) == tuple(pair.values())
    assert key.requester == requester
    printed("revokekey", key.access_key_id)
    key.refresh_from_db()
    assert not key.active
    for command in (("revokekey", key.access_key_id), ("revokekey", "AKIANONE"), ("createkey", "A1")):
        with pytest.raises(CommandError):
            printed(*command)


@pytest.mark.django_db
def test_seed_sandbox_refuses_a_public_server(settings: Any) -> None:
    settings.MARKETPLACE_PUBLIC_URL = "https://crowd.example.org"
    with pytest.raises(CommandError, match="createworker"):
        printed("seed_sandbox")


def test_tick_does_what_is_due(hit: Any, hit_type: Any, worker: Any, now: Any) -> None:
    held = assignments.accept(hit_type, worker, now)
    Assignment.objects.filter(pk=held.pk).update(deadline=now)
    assert printed("tick", "--once") == "1 rows changed\n"
    assert printed("tick", "--once") == "0 rows changed\n"


def test_health_answers_without_the_database(client: Client) -> None:
    assert client.get("/health/").json() == {"status": "ok"}
    assert client.post("/health/").status_code == 405


KEY = "kept-for-one-test-of-the-start-0123456789"


def start(**environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m marketplace check` with only these settings of the marketplace in the environment."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MARKETPLACE_", "DJANGO_"))}
    command = [sys.executable, "-m", "marketplace", "check"]
    return subprocess.run(command, env=plain | environment, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "Set MARKETPLACE_SECRET_KEY in the environment."),
        ({"DEBUG": "yes"}, "DEBUG: write True or False"),
        ({"MARKETPLACE_STARTING_BALANCE": "1.234"}, "no more than 2 decimal places"),
        ({"MARKETPLACE_PUBLIC_URL": "crowd.example.org"}, "write an origin"),
        ({"MARKETPLACE_DATABASE_URL": "mysql://u:p@h/n"}, "starts with sqlite"),
        (
            {
                "MARKETPLACE_SECRET_KEY": KEY,
                "MARKETPLACE_ACCEPT_ANY_KEY": "True",
                "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org",
            },
            "marketplace.E001",
        ),
    ],
)
def test_a_wrong_setting_stops_the_start_and_says_why(environment: dict[str, str], words: str) -> None:
    ended = start(**environment)
    assert ended.returncode != 0
    assert words in ended.stderr


def test_a_right_configuration_starts(tmp_path: Path) -> None:
    ended = start(MARKETPLACE_SECRET_KEY=KEY, MARKETPLACE_ACCEPT_ANY_KEY="True", DATA_DIR=str(tmp_path))
    assert ended.returncode == 0, ended.stderr
