"""A Redis of the test's own, which it may kill."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from ops.programs import redis_server
from ops.surroundings import free_port
from ops.waiting import PATIENCE_SECONDS, wait_started


class Broker:
    """A redis-server process. `start` after `kill` brings it back, empty."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._folder = folder
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [redis_server(), "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--dir"]
        self._process = subprocess.Popen([*command, str(self._folder)], stdout=subprocess.DEVNULL)
        wait_started("redis-server", self._answers, self._process, lambda: "")

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    @property
    def running(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)
            self._process = None


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    running = Broker(tmp_path_factory.mktemp("redis"))
    running.start()
    yield running
    running.kill()


@pytest.fixture
def broker(own_broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """Running and empty. That a busy machine lets it answer late is not taken for its absence."""
    monkeypatch.setattr("hits.mturk.shared.TIMEOUT_SECONDS", PATIENCE_SECONDS)
    if not own_broker.running:
        own_broker.start()
    with redis.Redis.from_url(own_broker.url) as client:
        client.flushall()
    yield own_broker
