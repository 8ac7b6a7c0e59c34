"""Turns shared through a real Redis, which comes and goes."""

import socket
import threading
import time
from collections.abc import Callable

import pytest

from hits.mturk.bucket import CAPACITY, Bucket
from hits.mturk.limiter import Limiter
from hits.mturk.shared import Shared
from ops.waiting import until
from tests.hits.broker import Broker


def _limiter(url: str, start: float = 10, ceiling: float = 200) -> Limiter:
    return Limiter(Shared(url, "account"), start=start, ceiling=ceiling)


class Clock:
    """Moved by hand: nothing takes time but sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("hits.mturk.limiter.time", clock)
    return clock


def _turns(limiter: Limiter, seconds: float, now: Callable[[], float] = time.monotonic) -> int:
    """How many turns one thread gets in that time."""
    end, turns = now() + seconds, 0
    while limiter.wait_for_turn(end) is not None:
        turns += 1
    return turns


def test_two_processes_together_get_what_one_would_get(broker: Broker) -> None:
    limiters = [_limiter(broker.url, start=20, ceiling=20) for _ in range(2)]
    turns: list[int] = []
    threads = [threading.Thread(target=lambda each=each: turns.append(_turns(each, 1.0))) for each in limiters]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A promise is good for a moment after the end.
    assert CAPACITY < sum(turns) <= CAPACITY + 20 * (time.monotonic() - began) + 1
    assert min(turns) > 0


def test_a_new_process_starts_with_what_others_learned(broker: Broker) -> None:
    _limiter(broker.url, start=40).throttled()
    assert _limiter(broker.url, start=40).pace().rate == pytest.approx(14)
    pace = _limiter(broker.url).pace()
    assert pace.shared and pace.throttled_at is not None


def test_accounts_do_not_slow_each_other(broker: Broker) -> None:
    Shared(broker.url, "one").throttled(Bucket(rate=10, ceiling=200))
    assert Limiter(Shared(broker.url, "other"), start=10, ceiling=200).pace().throttled_at is None


def test_a_redis_that_forgot_everything_is_told_what_the_process_knows(broker: Broker) -> None:
    limiter = _limiter(broker.url, start=40)
    limiter.throttled()
    broker.kill()
    broker.start()
    assert limiter.wait_for_turn(time.monotonic() + 60) == pytest.approx(14)
    assert limiter.pace().shared and limiter.pace().rate == pytest.approx(14)


def test_without_redis_each_process_goes_on_at_its_share(broker: Broker, clock: Clock) -> None:
    limiter = _limiter(broker.url, start=40, ceiling=40)
    limiter.wait_for_turn(clock.now + 1)
    broker.kill()
    began = clock.now
    turns = _turns(limiter, 1.0, clock.monotonic)
    assert clock.now - began <= 1.0
    assert 0.7 * (CAPACITY + 40) / 2 <= turns <= (CAPACITY + 40) / 2 + 1
    assert not limiter.pace().shared
    limiter.throttled()
    assert limiter.pace().rate < 40


def test_redis_is_used_again_soon_after_it_is_back(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hits.mturk.shared.ABSENT_SECONDS", 0.2)
    limiter = _limiter(broker.url)
    broker.kill()
    assert limiter.wait_for_turn(time.monotonic() + 60)
    broker.start()
    until(lambda: limiter.pace().shared, "Redis is used again", pause=0.02)
    assert limiter.wait_for_turn(time.monotonic() + 60)


def test_a_redis_that_accepts_and_says_nothing_costs_a_moment_and_then_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hits.mturk.shared.ABSENT_SECONDS", 600)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        limiter = _limiter(f"redis://127.0.0.1:{mute.getsockname()[1]}/0")
        assert all(limiter.wait_for_turn(time.monotonic() + 60) for _ in range(8))
        assert _connections(mute) == 1


def _connections(server: socket.socket) -> int:
    """How many wait to be accepted."""
    server.setblocking(False)
    found = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return found
        found += 1


def test_nobody_waits_longer_than_allowed(broker: Broker, clock: Clock) -> None:
    limiter = _limiter(broker.url, start=0.2, ceiling=0.2)
    assert _turns(limiter, 0.1, clock.monotonic) > 0
    began = clock.now
    assert limiter.wait_for_turn(began + 0.2) is None
    assert clock.now - began <= 0.2
