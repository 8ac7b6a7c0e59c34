"""What the acceptance tests share: a running marketplace on the tests' own database, and programs that call it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from marketplace.models import Assignment, HitType, Worker
from marketplace.verbs import assignments
from tests.marketplace.process import database_url, serve


@pytest.fixture(scope="session")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """One server for all tests: they see the same database, which is emptied after each."""
    with django_db_blocker.unblock():
        url = database_url(connection)
    with serve(url) as address:
        yield address


@pytest.fixture
def market(server: str, transactional_db: None) -> str:
    """The address of the running marketplace; rows that a test makes are there at once."""
    return server


@pytest.fixture
def answered(now: datetime) -> Callable[..., Assignment]:
    """Accept one HIT of a group as this worker, and submit."""

    def make(hit_type: HitType, worker: Worker, text: str = "yes") -> Assignment:
        held = assignments.accept(hit_type, worker, now)
        return assignments.submit(held.assignment_id, {"answer": [text]}, now)

    return make


@pytest.fixture
def aws(market: str, requester: Any) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `aws mturk ...` as Alice; fails unless it exits with `status`."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "AWS_ACCESS_KEY_ID": "alice",
        "AWS_SECRET_ACCESS_KEY": "secret-of-alice",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        "AWS_MAX_ATTEMPTS": "1",
    }
    program = [sys.executable, str(Path(sys.executable).with_name("aws")), "mturk"]

    def run(*arguments: str, status: int = 0, by_variable: bool = False) -> subprocess.CompletedProcess[str]:
        where = {"AWS_ENDPOINT_URL_MTURK": market} if by_variable else {}
        command = [*program, *([] if by_variable else ["--endpoint-url", market]), *arguments]
        done = subprocess.run(command, env=environment | where, capture_output=True, text=True, timeout=600)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run
