"""A marketplace whose calls are counted, whose reads can lag behind, and which sends its events to a real queue."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from django.utils import timezone

from hits.answers.verbs import marketplace_events, serving
from hits.models import Hit, Stage
from hits.mturk import events
from tests.hits.market import Accepted, Marketplace
from tests.hits.record_project import fields
from tests.marketplace.controls import TestControls
from tests.marketplace.transports.conftest import cloud

__all__ = ["cloud"]


@pytest.fixture(scope="session")
def marketplace(tmp_path_factory: pytest.TempPathFactory, cloud: str) -> Iterator[Marketplace]:
    """In place of the one that other tests share: this one has its test controls."""
    running = Marketplace(
        tmp_path_factory.mktemp("marketplace"),
        MARKETPLACE_TEST_CONTROLS="True",
        MARKETPLACE_SQS_ENDPOINT_URL=cloud,
        MARKETPLACE_AWS_ACCESS_KEY_ID="market",
        MARKETPLACE_AWS_SECRET_ACCESS_KEY="market",
    )
    running.start()
    yield running
    running.close()


@pytest.fixture
def controls(market: Marketplace) -> Iterator[TestControls]:
    found = TestControls(market.url)
    found.turn(reset=True)
    yield found
    found.turn(reset=True)


@pytest.fixture
def queue_url(cloud: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty queue of its own, to which the requester's side listens."""
    keys = {"region_name": "us-east-1", "aws_access_key_id": "x", "aws_secret_access_key": "y"}
    name = f"answers-{secrets.token_hex(6)}"
    url = boto3.client("sqs", endpoint_url=cloud, **keys).create_queue(QueueName=name)["QueueUrl"]
    settings.MTURK_EVENTS_QUEUE_URL = url
    settings.MTURK_EVENTS_ACCESS_KEY_ID, settings.MTURK_EVENTS_SECRET_ACCESS_KEY = "x", "y"
    monkeypatch.setattr(events, "WAIT_SECONDS", 0)
    marketplace_events.queue.cache_clear()
    yield str(url)
    marketplace_events.queue.cache_clear()


@pytest.fixture
def calm_stage(stage: Stage) -> Callable[[], None]:
    """The list of reviewable HITs was read a moment ago, so that only what is due is fetched."""

    def calm() -> None:
        Stage.objects.filter(pk=stage.pk).update(swept_at=timezone.now())

    return calm


@pytest.fixture
def work(market: Marketplace) -> Callable[..., Accepted]:
    """A worker accepts the HIT, has the page check the answer as browsers do, and submits it."""

    def go(worker_id: str, hit: Hit, name: str = "Linden") -> Accepted:
        hit.refresh_from_db()
        held = market.accept(worker_id, hit_id=hit.hit_id)
        token = serving.page_token(serving.Visit(hit, held.assignment_id, worker_id))
        serving.check(token, fields(hit, name))
        market.submit(held, **fields(hit, name))
        return held

    return go


def a_moment_later() -> None:
    """What is due in a few seconds is due now."""
    soon = timezone.now() + timedelta(seconds=10)
    for hit in Hit.objects.filter(due_at__lte=soon):
        Hit.objects.filter(pk=hit.pk).update(due_at=timezone.now())
