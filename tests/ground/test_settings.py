"""A wrong configuration ends the start, and the message names what to set."""

from __future__ import annotations

from pathlib import Path

import pytest

from common import __version__
from common.env import REMOVED
from hits.environment import Requester
from marketplace.environment import Marketplace
from tests.ground.commands import forked, python

PUBLISHED = "only-for-tests-only-for-tests-only-for-tests"
REFUSED_BY_THE_REQUESTER_SIDE = [
    ({"SECRET_KEY": None}, "SECRET_KEY"),
    ({"SECRET_KEY": ""}, "SECRET_KEY"),
    ({"SECRET_KEY": "short"}, "32 characters"),
    ({"LOG_FORMAT": "xml"}, "LOG_FORMAT: Input should be 'lines' or 'json'."),
    ({"METRICS_TOKEN": "short"}, "METRICS_TOKEN: String should have at least 16 characters."),
    ({"EMAIL_URL": "mail.example.org"}, "EMAIL_URL: write an address such as"),
    ({"WEBHOOK_NETWORKS": "10.0.0.1/8"}, "WEBHOOK_NETWORKS: value is not a valid IPv4 or IPv6 network."),
    ({"PUBLIC_URL": "localhost:8000"}, "PUBLIC_URL: write a URL"),
    ({"MTURK_ENDPOINT_URL": "ftp://crowd.example.org"}, "MTURK_ENDPOINT_URL: write a URL"),
    ({"DATABASE_URL": "mysql://root@127.0.0.1/annotate"}, "DATABASE_URL: write a URL"),
    ({"REDIS_URL": "amqp://127.0.0.1"}, "REDIS_URL: write a URL"),
    ({"MTURK_EVENTS_QUEUE_URL": "answers"}, "MTURK_EVENTS_QUEUE_URL: write a URL"),
    ({"MTURK_WEBHOOK_SECRET": "short"}, "MTURK_WEBHOOK_SECRET: String should have at least 16"),
    ({"MTURK_EVENTS_ACCESS_KEY_ID": "AKIA"}, "annotate.E013"),
    ({"TEXT_EVIDENCE_DAYS": "-1"}, "TEXT_EVIDENCE_DAYS: Input should be greater than or equal to 0."),
    ({"MTURK_ENDPOINT_URL": "https://crowd.example.org"}, "annotate.E001"),
    ({"DEBUG": "yes", "PROXIES": "11"}, "DEBUG: write True or False.\nPROXIES: Input should be less"),
    ({"DEBUG": "True", "PUBLIC_URL": "https://annotate.example.org"}, "DEBUG is True, but"),
    ({"SECRET_KEY": "x" * 50}, "can be guessed"),
    ({"SECRET_KEY": PUBLISHED, "PUBLIC_URL": "https://annotate.example.org"}, "published with this program"),
    ({"PUBLIC_URL": "http://127.0.0.1:8001"}, "annotate.E003"),
]


def _name(change: object) -> str | None:
    if isinstance(change, dict):
        return " ".join(f"{name}={value}" for name, value in change.items())
    return ""


@pytest.mark.parametrize(("change", "said"), REFUSED_BY_THE_REQUESTER_SIDE, ids=_name)
def test_the_requester_side_refuses(change: dict[str, str | None], said: str, tmp_path: Path) -> None:
    done = forked("manage.py", "check", data_dir=tmp_path, **change)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_requester_side_accepts_a_server_configuration(tmp_path: Path) -> None:
    done = forked(
        "manage.py",
        "check",
        data_dir=tmp_path,
        PUBLIC_URL="https://annotate.example.org",
        MTURK_ENDPOINT_URL="https://crowd.example.org",
        REDIS_URL="rediss://broker.example.org/0",
    )
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (0 silenced).\n")


@pytest.mark.parametrize("side", ["annotate", "marketplace"])
def test_reports_of_errors_say_the_version(side: str, tmp_path: Path) -> None:
    ask = "import sentry_sdk; from django.conf import settings; settings.DEBUG; "
    ask += "print(sentry_sdk.get_client().options['release'])"
    dsn = {"SENTRY_DSN": "https://key@127.0.0.1:9/1", "DJANGO_SETTINGS_MODULE": f"{side}.settings"}
    done = python("-c", ask, data_dir=tmp_path, **dsn)
    assert done.stdout == f"{side}@{__version__}\n", done.stderr


def test_a_command_without_the_server_s_environment_says_how_to_get_it(tmp_path: Path) -> None:
    done = python("manage.py", "account", "lena", data_dir=tmp_path, SECRET_KEY=None)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "Set SECRET_KEY in the environment." in done.stderr and "set -a; . data/local.env; set +a" in done.stderr


def test_a_variable_that_is_no_longer_read_is_named(tmp_path: Path) -> None:
    old = {"HARVEST_SECONDS": "5", "MARKETPLACE_METRICS_TOKEN": "a-token-of-an-earlier-version", "MTURK_REGION": ""}
    for program in (("manage.py", "check"), ("-m", "marketplace", "check")):
        done = forked(*program, data_dir=tmp_path, **old)
        assert done.returncode == 0
        assert "HARVEST_SECONDS is no longer read: its value is fixed now" in done.stderr
        assert "MARKETPLACE_METRICS_TOKEN is no longer read: METRICS_TOKEN has taken its place." in done.stderr
        assert "MTURK_REGION" not in done.stderr


def test_no_variable_is_both_read_and_removed() -> None:
    assert not {*Requester.model_fields, *Marketplace.model_fields} & set(REMOVED)


def test_missing_credentials_are_a_warning_with_a_hint(tmp_path: Path) -> None:
    done = forked("manage.py", "check", data_dir=tmp_path, AWS_ACCESS_KEY_ID=None)
    assert done.returncode == 0
    assert "annotate.W001" in done.stderr


REFUSED_BY_THE_MARKETPLACE = [
    ({"MARKETPLACE_SECRET_KEY": None}, "MARKETPLACE_SECRET_KEY"),
    ({"MARKETPLACE_SECRET_KEY": ""}, "MARKETPLACE_SECRET_KEY"),
    ({"MARKETPLACE_SECRET_KEY": "x"}, "needs at least 32 characters"),
    ({"MARKETPLACE_SECRET_KEY": "x" * 50}, "can be guessed"),
    (
        {"MARKETPLACE_SECRET_KEY": PUBLISHED, "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org"},
        "published with this program",
    ),
    (
        {"DEBUG": "True", "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org"},
        "DEBUG is True, but",
    ),
    ({"DEBUG": "yes"}, "DEBUG"),
    ({"MARKETPLACE_SANDBOX": "on"}, "MARKETPLACE_SANDBOX"),
    ({"MARKETPLACE_ACCEPT_ANY_KEY": "1"}, "MARKETPLACE_ACCEPT_ANY_KEY"),
    ({"MARKETPLACE_PUBLIC_URL": "crowd.example.org"}, "MARKETPLACE_PUBLIC_URL"),
    ({"MARKETPLACE_STARTING_BALANCE": "much"}, "MARKETPLACE_STARTING_BALANCE"),
    (
        {"MARKETPLACE_ACCEPT_ANY_KEY": "True", "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org"},
        "MARKETPLACE_ACCEPT_ANY_KEY",
    ),
]


@pytest.mark.parametrize(("change", "said"), REFUSED_BY_THE_MARKETPLACE, ids=_name)
def test_the_marketplace_refuses(change: dict[str, str | None], said: str, tmp_path: Path) -> None:
    done = forked("-m", "marketplace", "check", data_dir=tmp_path, **change)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_marketplace_accepts_a_server_configuration(tmp_path: Path) -> None:
    done = forked("-m", "marketplace", "check", data_dir=tmp_path, MARKETPLACE_PUBLIC_URL="https://crowd.example.org")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("program", "change", "said"),
    [
        ("import annotate.wsgi", {"DEBUG": "True", "PUBLIC_URL": "https://annotate.example.org"}, "DEBUG is True"),
        (
            "from annotate.celery import app; app.conf.broker_url",
            {"DEBUG": "True", "PUBLIC_URL": "https://annotate.example.org"},
            "DEBUG is True",
        ),
        ("import annotate.wsgi", {"PUBLIC_URL": "http://127.0.0.1:8001"}, "annotate.E003"),
        ("import marketplace.wsgi", {"MARKETPLACE_SECRET_KEY": "x" * 20}, "needs at least 32 characters"),
        (
            "import marketplace.wsgi",
            {"DEBUG": "True", "MARKETPLACE_PUBLIC_URL": "https://crowd.example.org"},
            "DEBUG is True",
        ),
    ],
)
def test_no_program_starts_with_what_the_checks_refuse(
    program: str, change: dict[str, str | None], said: str, tmp_path: Path
) -> None:
    done = python("-c", program, data_dir=tmp_path, **change)
    assert done.returncode != 0
    assert said in done.stderr


def test_on_a_server_no_task_page_is_on_the_workers_own_machine(tmp_path: Path) -> None:
    show = "from marketplace import settings as s; print(s.MARKETPLACE_HTTP_QUESTION_HOSTS, s.CONTENT_SECURITY_POLICY)"
    server = python("-c", show, data_dir=tmp_path, MARKETPLACE_PUBLIC_URL="https://crowd.example.org")
    assert server.returncode == 0, server.stderr
    assert "localhost" not in server.stdout and "127.0.0.1" not in server.stdout
    laptop = python("-c", show, data_dir=tmp_path, MARKETPLACE_PUBLIC_URL="http://127.0.0.1:8001")
    assert "http://localhost:*" in laptop.stdout


def test_each_side_starts_without_the_other_ones_secrets(tmp_path: Path) -> None:
    requester = python("manage.py", "check", data_dir=tmp_path, MARKETPLACE_SECRET_KEY=None)
    marketplace = python("-m", "marketplace", "check", data_dir=tmp_path, SECRET_KEY=None, AWS_ACCESS_KEY_ID=None)
    assert (requester.returncode, marketplace.returncode) == (0, 0)
