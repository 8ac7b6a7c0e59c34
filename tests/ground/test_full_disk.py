"""A disk that fills up while both sites run: they say so, refuse what cannot be kept, and go on when there is room."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
import requests
from botocore.config import Config
from botocore.exceptions import ClientError

from ops.healthy import answers, not_ready
from ops.programs import GUNICORN, tied
from ops.stack import Stack
from ops.surroundings import ROOT, Ports, StackError, free_port
from ops.waiting import until, wait_started
from tests.faults.servers import small_disk
from tests.ground.commands import GOOD, forked, python
from tests.migrated import bring

PASSWORD = "a-lead-on-a-full-disk"
MAKE_LEAD = f"""
from django.contrib.auth import get_user_model
from hits.accounts.verbs.api_tokens import make_token
lead = get_user_model().objects.create_user("lead", password={PASSWORD!r})
print(make_token(lead, "full disk", "pay")[1])
"""
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Disk:
    folder: Path

    def fill(self) -> None:
        """Nothing is left, not even for one page of a database."""
        with (self.folder / "filling").open("ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue

    def free(self) -> None:
        (self.folder / "filling").unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Of 16 MB, with room."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(small_disk(tmp_path / "disk", 16 * 1024))
        except (StackError, FileNotFoundError) as error:
            complain = pytest.fail if os.environ.get("CI") == "true" and os.geteuid() == 0 else pytest.skip
            complain(str(error))
        yield Disk(folder)


@dataclass
class Site:
    port: int
    path: str
    session: requests.Session = field(default_factory=requests.Session)

    def sign_in(self, name: str, password: str) -> requests.Response:
        """In a browser that nobody has signed in with; the page that follows."""
        self.session = requests.Session()
        self.session.trust_env = False
        url = f"http://127.0.0.1:{self.port}{self.path}"
        found = TOKEN.search(self.session.get(url).text)
        assert found
        form = {"username": name, "password": password, "csrfmiddlewaretoken": found[1]}
        return self.session.post(url, data=form)


@contextmanager
def served(module: str, port: int, folder: Path, logs: Path, settings: dict[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "gunicorn", f"{module}.wsgi", "--config", str(GUNICORN)]
    command += ["--bind", f"127.0.0.1:{port}", "--workers", "1"]
    (logs / "run").mkdir(exist_ok=True)
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | GOOD | settings
    with (logs / f"{module}.log").open("wb") as log:
        process = subprocess.Popen(tied(logs, module, command), cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_started(module, lambda: answers(port), process, (logs / f"{module}.log").read_text)
        yield
    finally:
        process.terminate()
        process.wait(30)


def test_both_sites_refuse_what_cannot_be_kept_and_go_on_when_there_is_room(disk: Disk, tmp_path: Path) -> None:
    bring(disk.folder)
    ports = free_port(), free_port()
    settings = {
        "DATA_DIR": str(disk.folder),
        "PUBLIC_URL": f"http://127.0.0.1:{ports[0]}",
        "DEBUG": "True",
        "MARKETPLACE_PUBLIC_URL": f"http://127.0.0.1:{ports[1]}",
        "MARKETPLACE_SANDBOX": "True",
        "MARKETPLACE_ACCEPT_ANY_KEY": "True",
    }
    key = forked("manage.py", "shell", "-v", "0", "-c", MAKE_LEAD, data_dir=disk.folder).stdout.split()[-1]
    password = forked("-m", "marketplace", "createworker", "ann", data_dir=disk.folder, **settings).stdout.split()[1]
    forked("-m", "marketplace", "tick", "--once", data_dir=disk.folder, **settings)
    with (
        served("annotate", ports[0], disk.folder, tmp_path, settings),
        served("marketplace", ports[1], disk.folder, tmp_path, settings),
    ):
        ours, theirs = Site(ports[0], "/sign-in/"), Site(ports[1], "/accounts/login/")
        wire = _wire(ports[1])
        assert wire.create_qualification_type(Name="before", Description="x", QualificationTypeStatus="Active")
        assert "disk" not in not_ready(ports[0]) and not not_ready(ports[1])
        before = _rows(disk)

        disk.fill()
        full = ours.sign_in("lead", PASSWORD)
        assert (full.status_code, full.headers["Retry-After"]) == (503, "30")
        assert "The disk of this service is full or broken" in full.text and "dashboard.css" in full.text
        full = theirs.sign_in("ann", password)
        assert (full.status_code, full.headers["Retry-After"]) == (503, "30")
        assert "The disk of this site is full or broken" in full.text and "site.css" in full.text
        call = _call(ports[0], key)
        assert (call.status_code, call.json()["error"]["code"]) == (503, "disk_full")
        with pytest.raises(ClientError) as refused:
            wire.create_qualification_type(Name="meanwhile", Description="x", QualificationTypeStatus="Active")
        assert refused.value.response["Error"]["Code"] == "ServiceUnavailable"
        assert refused.value.response["ResponseMetadata"]["RetryAttempts"] == 1
        for port in ports:
            until(lambda port=port: "disk" in not_ready(port), "/ready/ says that the disk is full", 10)
        assert not_ready(ports[1])["disk"] == "takes no more files: No space left on device"
        assert _rows(disk) == before

        disk.free()
        assert ours.sign_in("lead", PASSWORD).url.endswith("/") and ours.session.cookies["annotate_session"]
        assert "marketplace_session" in theirs.sign_in("ann", password).request.headers["Cookie"]
        assert _call(ports[0], key).status_code == 200
        assert wire.create_qualification_type(Name="after", Description="x", QualificationTypeStatus="Active")
        until(lambda: "disk" not in not_ready(ports[0]) and not not_ready(ports[1]), "/ready/ says that there is room")


def _wire(port: int) -> Any:
    return boto3.client(
        "mturk",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="ALICE",
        aws_secret_access_key="secret",
        config=Config(retries={"max_attempts": 1}),
    )


def _call(port: int, key: str) -> requests.Response:
    return requests.get(f"http://127.0.0.1:{port}/api/projects/", headers={"Authorization": f"Token {key}"}, timeout=60)


def _rows(disk: Disk) -> list[Any]:
    """Who may sign in, and the accounts and types that are kept; whole."""
    found: list[Any] = []
    for name, table in (("annotate", "auth_user"), ("marketplace", "marketplace_qualificationtype")):
        with closing(sqlite3.connect(disk.folder / f"{name}.sqlite3")) as database:
            found += database.execute("PRAGMA quick_check").fetchall()
            found += database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
    return found


@pytest.mark.parametrize("command", [("manage.py", "migrate"), ("-m", "marketplace", "migrate")])
def test_a_command_that_meets_a_full_disk_ends_with_one_sentence(disk: Disk, command: tuple[str, ...]) -> None:
    disk.fill()
    done = forked(*command, data_dir=disk.folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("The disk is full or broken:")
    assert "Traceback" not in done.stderr


def test_a_start_that_meets_a_full_disk_ends_with_one_sentence(disk: Disk) -> None:
    disk.fill()
    ports = Ports.free()
    settings = {
        "WEB_PORT": str(ports.web),
        "MARKETPLACE_PORT": str(ports.marketplace),
        "BROKER_PORT": str(ports.broker),
    }
    done = python("-m", "ops.run", "--no-sample", data_dir=disk.folder, **settings)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("The disk is full or broken:")
    with pytest.raises(StackError, match="The disk is full or broken"):
        Stack(disk.folder, ports)
