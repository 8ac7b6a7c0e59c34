"""A real marketplace for tests of the requester's side: its own process, its own database, its own port.

`marketplace` runs once a session. `market` points the requester's gateway there with a requester account of its
own, so that no test sees another one's HITs or money.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import boto3
import pytest
import requests

from hits.mturk import gateway
from hits.publishing.rules import marketplace_account
from ops.healthy import answers
from ops.programs import GUNICORN
from ops.surroundings import ROOT, free_port
from ops.waiting import PATIENCE_SECONDS, ServiceNotStartedError, wait_started
from tests.migrated import migrated

STARTING_BALANCE = "10000.00"


class VerbRefusedError(Exception):
    """The marketplace did not let the worker do it; the message holds its error."""


@dataclass(frozen=True)
class Accepted:
    """An assignment that a worker holds. `question` is the HIT's question XML with the task's address."""

    worker_id: str
    assignment_id: str
    hit_id: str
    question: str


class Marketplace:
    """The process, what workers do at it, and what a test does to it (`stop`, `start`)."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._database = folder / "marketplace.sqlite3"
        self._environment = _environment(self._database, self.url) | environment
        self._server: subprocess.Popen[bytes] | None = None
        self._workers: subprocess.Popen[str] | None = None

    @property
    def database_url(self) -> str:
        return self._environment["MARKETPLACE_DATABASE_URL"]

    def start(self) -> None:
        """Returns when it answers. The database of an earlier start is kept."""
        if not self._database.exists():
            shutil.copy(migrated("marketplace"), self._database)
        with self._log().open("ab") as log:
            self._server = subprocess.Popen(
                [
                    sys.executable,
                    *("-m", "gunicorn", "marketplace.wsgi:application", "--config", str(GUNICORN)),
                    *("--bind", f"127.0.0.1:{self._port}", "--workers", "1", "--threads", "8"),
                    # Nobody answers while the only process is renewed.
                    *("--max-requests", "0", "--log-level", "warning"),
                ],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
            )
        try:
            wait_started("The marketplace", self._answers, self._server, lambda: self._log().read_text()[-4000:])
        except ServiceNotStartedError:
            self.stop()
            raise

    def stop(self) -> None:
        """From here on it does not answer; `start` brings it back with everything that it knew."""
        if self._server is not None:
            self._server.terminate()
            self._server.wait(PATIENCE_SECONDS)
            self._server = None

    def close(self) -> None:
        self.stop()
        if self._workers is not None:
            _pipe(self._workers.stdin).close()
            self._workers.wait(PATIENCE_SECONDS)

    def sign_up_worker(self, **attributes: Any) -> str:
        """A worker whom the usual requirements let in; returns the worker's id."""
        standing = {
            "country": "US",
            "subdivision": "CA",
            "adult": True,
            "percent_approved_override": 99,
            "number_approved_override": 6000,
        }
        username = f"worker-{secrets.token_hex(6)}"
        return str(self.do("sign_up", username=username, attributes={**standing, **attributes}))

    def accept(self, worker_id: str, *, hit_id: str | None = None, hit_type_id: str | None = None) -> Accepted:
        """That HIT, or any one of the type. Raises VerbRefusedError, as when the worker is not let in."""
        return Accepted(worker_id, **self.do("accept", worker_id=worker_id, hit_id=hit_id, hit_type_id=hit_type_id))

    def submit(self, held: Accepted, **fields: str) -> requests.Response:
        """Post the form to externalSubmit, as the task page does."""
        form = {"assignmentId": held.assignment_id, "workerId": held.worker_id, **fields}
        return requests.post(f"{self.url}/mturk/externalSubmit", data=form, timeout=PATIENCE_SECONDS)

    def answer(self, worker_id: str, hit_id: str | None, **fields: str) -> Accepted:
        """Accept that HIT and submit the fields as its answer."""
        held = self.accept(worker_id, hit_id=hit_id)
        reply = self.submit(held, **fields)
        if reply.status_code != 200:
            raise VerbRefusedError(f"externalSubmit answered {reply.status_code}")
        return held

    def give_back(self, held: Accepted) -> None:
        self.do("give_back", worker_id=held.worker_id, assignment_id=held.assignment_id)

    def let_time_pass(self, seconds: int) -> int:
        """Do what the clock would have made due by then; new calls still see the real time."""
        return int(self.do("let_time_pass", seconds=seconds))

    def end_open_hits(self) -> None:
        """Whoever looks for work from here on is not offered what earlier tests left."""
        self.do("end_open_hits")

    def forget_tokens(self) -> None:
        """What it does with request tokens after 24 hours."""
        self.do("forget_tokens")

    def status(self, held: Accepted) -> dict[str, str]:
        """The assignment's `status` and the `feedback` that the worker reads."""
        return dict(self.do("status", assignment_id=held.assignment_id, worker_id=held.worker_id))

    def hit(self, hit_id: str | None) -> dict[str, Any]:
        """What the marketplace holds: status, max_assignments, annotation, expires_at, requirements."""
        return dict(self.do("hit", hit_id=hit_id))

    def do(self, verb: str, **arguments: Any) -> Any:
        """Any verb of tests.hits.simulated_workers. Raises VerbRefusedError."""
        if self._workers is None:
            self._workers = subprocess.Popen(
                [sys.executable, "-m", "tests.hits.simulated_workers"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        pipe = _pipe(self._workers.stdin)
        pipe.write(json.dumps({"verb": verb, "arguments": arguments}) + "\n")
        pipe.flush()
        reply = json.loads(_pipe(self._workers.stdout).readline())
        if "error" in reply:
            raise VerbRefusedError(reply["error"])
        return reply["ok"]

    def _answers(self) -> bool:
        return answers(self._port)

    def _log(self) -> Path:
        return self._folder / "marketplace.log"


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _environment(database: Path, url: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MARKETPLACE_")}
    own.pop("DJANGO_SETTINGS_MODULE", None)
    return own | {
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{database}",
        "MARKETPLACE_SECRET_KEY": "only-for-tests-only-for-tests-only-for-tests",
        "DEBUG": "True",
        "MARKETPLACE_SANDBOX": "True",
        "MARKETPLACE_ACCEPT_ANY_KEY": "True",
        "MARKETPLACE_STARTING_BALANCE": STARTING_BALANCE,
        "MARKETPLACE_PUBLIC_URL": url,
    }


@pytest.fixture(scope="session")
def marketplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marketplace]:
    """The running marketplace. Nothing of the requester's side points there yet: that is `market`."""
    running = Marketplace(tmp_path_factory.mktemp("marketplace"))
    running.start()
    yield running
    running.close()


@pytest.fixture
def market(marketplace: Marketplace, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Marketplace]:
    """The marketplace with the requester's gateway pointed there, under a new account that holds $10,000.00."""
    settings.MTURK_ENDPOINT_URL = marketplace.url
    settings.MTURK_SUBMIT_ORIGINS = [marketplace.url]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"TEST{secrets.token_hex(8).upper()}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-for-tests")
    monkeypatch.setattr(gateway, "QUICK_DEADLINE_SECONDS", gateway.QUICK_DEADLINE_SECONDS + 120)
    monkeypatch.setattr(gateway, "QUICK_TIMEOUT_SECONDS", gateway.QUICK_TIMEOUT_SECONDS + 120)
    # boto3 keeps the first credentials that it found for as long as its default session lives.
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    marketplace_account.gateway.cache_clear()
    yield marketplace
    marketplace_account.gateway.cache_clear()
