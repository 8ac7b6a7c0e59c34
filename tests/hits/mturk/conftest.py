"""A Redis of the test's own, which it may kill; and a marketplace that fails on demand."""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
import redis

from hits.mturk.gateway import Gateway, Limits
from ops.programs import redis_server
from tests.hits.market import Marketplace
from tests.marketplace.controls import TestControls


class Broker:
    """A redis-server process. `start` after `kill` brings it back, empty."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [redis_server(), "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--dir"]
        self._process = subprocess.Popen([*command, str(self._folder)], stdout=subprocess.DEVNULL)
        with redis.Redis.from_url(self.url) as client:
            end = time.monotonic() + 10
            while True:
                try:
                    client.ping()
                    return
                except redis.RedisError:
                    assert time.monotonic() < end, "redis-server did not start"
                    time.sleep(0.01)

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    running = Broker(tmp_path_factory.mktemp("redis"))
    running.start()
    yield running
    running.kill()


@pytest.fixture
def broker(own_broker: Broker) -> Iterator[Broker]:
    """Running and empty."""
    if own_broker._process is None:
        own_broker.start()
    with redis.Redis.from_url(own_broker.url) as client:
        client.flushall()
    yield own_broker


@pytest.fixture(scope="session")
def own_market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marketplace]:
    running = Marketplace(tmp_path_factory.mktemp("failing-marketplace"), MARKETPLACE_TEST_CONTROLS="True")
    running.start()
    yield running
    running.close()


@pytest.fixture
def controls(own_market: Marketplace) -> Iterator[TestControls]:
    """Of the marketplace that `connect` reaches. Nothing fails and nothing was counted yet."""
    found = TestControls(own_market.url)
    found.turn(reset=True)
    yield found
    found.turn(reset=True)


Connect = Callable[..., Gateway]


@pytest.fixture
def connect(
    own_market: Marketplace, controls: TestControls, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> Connect:
    """Gateways of one new account, with the test's own limits; each call of it makes a process's own gateway."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"TEST{secrets.token_hex(8).upper()}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-for-tests")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)

    def make(**changed: float) -> Gateway:
        limits = {
            "connections": 8,
            "timeout_seconds": 5,
            "deadline_seconds": 30,
            "calls_a_second": 1000,
            "most_calls_a_second": 1000,
        }
        given = Limits(**{**limits, **changed})  # type: ignore[arg-type]
        return Gateway(own_market.url, region="us-east-1", redis_url=broker.url, limits=given)

    return make
