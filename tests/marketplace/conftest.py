"""Requesters, workers and HITs for all marketplace tests. Made through the verbs, as in earnest."""

import json
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest
from botocore.config import Config
from django.utils import timezone

from tests.settings import use

use("tests.settings.marketplace")

from marketplace.models import Hit, HitType, Requester, Worker
from marketplace.verbs import accounts, hits
from tests.calm import calm
from tests.marketplace.wire import tally
from tests.marketplace.wire.model import mismatches
from tests.quick_flush import quick_flush

__all__ = ["calm", "quick_flush"]

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/frame?item=1&amp;v=2</ExternalURL>'
    "<FrameHeight>600</FrameHeight></ExternalQuestion>"
)


@pytest.fixture(scope="session")
def django_db_use_migrations() -> bool:
    """Tables are made from the models at once; that the migrations lead to the same ones is a check of its own."""
    return False


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def requester(db: None, now: datetime) -> Requester:
    """A requester with $10,000.00 and the key `alice`."""
    return accounts.create_requester("Alice", Decimal("10000.00"), now, "alice", "secret-of-alice").requester


@pytest.fixture
def make_worker(db: None) -> Callable[..., Worker]:
    def make(name: str = "walter", **attributes: Any) -> Worker:
        return accounts.create_worker(name, "worker", **attributes)

    return make


@pytest.fixture
def worker(make_worker: Callable[..., Worker]) -> Worker:
    return make_worker()


@pytest.fixture
def make_hit_type(requester: Requester) -> Callable[..., HitType]:
    def make(**values: Any) -> HitType:
        return hits.find_or_create_type(
            **{
                "requester": requester,
                "title": "Pick the entity",
                "description": "Read a passage and click the entity that fits",
                "keywords": "reading, entity",
                "reward": Decimal("0.50"),
                "assignment_duration_seconds": 600,
                "auto_approval_delay_seconds": 3600,
                "requirements": [],
            }
            | values
        )

    return make


@pytest.fixture
def hit_type(make_hit_type: Callable[..., HitType]) -> HitType:
    return make_hit_type()


@pytest.fixture
def make_hit(requester: Requester, now: datetime) -> Callable[..., Hit]:
    def make(hit_type: HitType, **values: Any) -> Hit:
        defaults = {"question": QUESTION, "max_assignments": 1, "lifetime_seconds": 3600, "now": now}
        return hits.create(hit_type.requester, hit_type, **(defaults | values))

    return make


@pytest.fixture
def hit(hit_type: HitType, make_hit: Callable[..., Hit]) -> Hit:
    return make_hit(hit_type)


@pytest.fixture
def connect(live_server: Any) -> Callable[..., Any]:
    """An unmodified boto3 client of a running server; retries are off, so that a test sees each answer.

    Every successful answer is checked against the service model before boto3 reads it.
    """

    def make(key: str = "alice", secret: str = "secret-of-alice", **config: Any) -> Any:
        return boto3_client(live_server.url, key, secret, **config)

    return make


def boto3_client(url: str, key: str = "alice", secret: str = "secret-of-alice", **config: Any) -> Any:
    client = boto3.client(
        "mturk",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(**({"retries": {"total_max_attempts": 1}} | config)),
    )
    client.meta.events.register("before-parse.mturk", _check_answer)
    return client


def _check_answer(operation_model: Any, response_dict: dict[str, Any], **kwargs: Any) -> None:
    body = json.loads(response_dict["body"])
    if response_dict["status_code"] == 200:
        tally.count(operation_model.name, mismatches(body, operation_model.output_shape))
    else:
        assert body.keys() <= {"__type", "Message", "TurkErrorCode"}


@pytest.fixture
def mturk(connect: Callable[..., Any], requester: Requester) -> Any:
    """Alice's client."""
    return connect()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = tally.report()
    if lines:
        terminalreporter.section("contract", sep="-")
    for line in lines:
        terminalreporter.write_line(line)
