"""Calls of a real marketplace that throttles, fails and falls silent."""

import multiprocessing
import secrets
import threading
import time
from collections.abc import Callable
from decimal import Decimal

import pytest

from hits.mturk.bucket import CAPACITY, FLOOR
from hits.mturk.calls import STEPS, Figures, Window
from hits.mturk.errors import (
    AlreadyExistsError,
    CredentialsError,
    NotYetError,
    RefusedError,
    ThrottledError,
    UnreachableError,
)
from hits.mturk.gateway import Gateway, HitTypeSpec
from hits.mturk.question import external_question
from hits.mturk.repeats import REPEATS, Repeat
from ops.waiting import PATIENCE_SECONDS
from tests.hits.broker import Broker
from tests.hits.mturk.conftest import Connect
from tests.marketplace.controls import TestControls

QUESTION = external_question("https://annotate.example.org/task/1")


def _create(gateway: Gateway, token: str) -> str:
    spec = HitTypeSpec("Read", "Read a text", "read", Decimal("0.05"), 600, 3600, ())
    hit_type = gateway.create_hit_type(spec)
    return gateway.create_hit(
        hit_type, question=QUESTION, max_assignments=1, lifetime_seconds=600, token=token
    ).hit_id  # fmt: skip


def _figures(gateway: Gateway) -> dict[str, Figures]:
    return {figures.operation: figures for figures in gateway.calls(Window.HOUR).operations}


@pytest.mark.parametrize("kind", ["error_before", "error_after", "reset_before", "drop_after", "throttle"])
def test_a_passing_fault_of_a_read_is_not_seen_above(connect: Connect, controls: TestControls, kind: str) -> None:
    gateway = connect()
    controls.fail(kind, "GetAccountBalance", count=2)
    assert gateway.balance().available == Decimal("10000.00")
    assert controls.counts()["GetAccountBalance"] == 3
    seen = _figures(gateway)["GetAccountBalance"]
    assert (seen.calls, seen.retries, seen.throttled + seen.failed) == (3, 2, 2)


@pytest.mark.parametrize("kind", ["error_after", "drop_after"])
def test_a_create_whose_answer_was_lost_names_the_hit_that_it_made(
    connect: Connect, controls: TestControls, kind: str
) -> None:
    gateway = connect()
    controls.fail(kind, "CreateHITWithHITType")
    with pytest.raises(AlreadyExistsError) as caught:
        _create(gateway, "item-1")
    assert caught.value.hit_id is not None
    assert [hit.annotation for hit in gateway.all_hits()] == ["item-1"]


def test_a_fault_that_stays_is_given_up_after_four_attempts(connect: Connect, controls: TestControls) -> None:
    controls.fail("error_before", "GetAccountBalance", count=100)
    with pytest.raises(UnreachableError, match="passing fault"):
        connect().balance()
    assert controls.counts() == {"GetAccountBalance": 4}


def test_a_call_that_would_be_done_twice_is_never_repeated(
    connect: Connect, controls: TestControls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPEATS, "get_account_balance", Repeat.NEVER)
    controls.fail("error_after", "GetAccountBalance")
    with pytest.raises(UnreachableError):
        connect().balance()
    assert controls.counts() == {"GetAccountBalance": 1}


def test_a_qualification_type_that_is_there_and_not_listed_yet_is_asked_for_again_later(
    connect: Connect, controls: TestControls
) -> None:
    gateway, name = connect(), f"Reader {secrets.token_hex(4)}"
    made = gateway.ensure_qualification_type(name, "Reads")
    controls.turn(stale_seconds=60)
    with pytest.raises(NotYetError, match="not listed yet"):
        gateway.ensure_qualification_type(name, "Reads")
    controls.turn(stale_seconds=0)
    assert gateway.ensure_qualification_type(name, "Reads") == made


def test_a_refusal_is_not_repeated(connect: Connect, controls: TestControls) -> None:
    gateway = connect()
    with pytest.raises(RefusedError, match="does not exist"):
        gateway.hit("3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    assert controls.counts() == {"GetHIT": 1}
    assert _figures(gateway)["GetHIT"].refused == 1


def test_throttling_lasts_until_the_deadline_and_says_that_nothing_was_done(
    connect: Connect, controls: TestControls
) -> None:
    controls.fail("throttle", "GetAccountBalance", count=None)
    began = time.monotonic()
    with pytest.raises(ThrottledError, match="no more calls for now"):
        connect(timeout_seconds=60, deadline_seconds=61).balance()
    assert 0.9 < time.monotonic() - began < 61
    assert controls.counts()["GetAccountBalance"] > 1


def test_waiting_for_a_turn_counts_for_the_deadline(connect: Connect, controls: TestControls) -> None:
    # The calls that may be made at once, and hardly one more while they are made.
    gateway = connect(calls_a_second=FLOOR, most_calls_a_second=FLOOR, timeout_seconds=60, deadline_seconds=60.5)
    with pytest.raises(ThrottledError, match="had no turn in time"):
        for _ in range(200):
            gateway.balance()
    assert CAPACITY <= controls.counts()["GetAccountBalance"] < 2 * CAPACITY


def test_a_lost_answer_followed_by_throttling_stays_an_unknown_outcome(
    connect: Connect, controls: TestControls
) -> None:
    kinds: list[dict[str, object]] = [{"kind": "error_after", "count": 1}, {"kind": "throttle"}]
    controls.turn(faults=[{"operation": "CreateHITType", **kind} for kind in kinds])
    with pytest.raises(UnreachableError) as caught:
        _create(connect(timeout_seconds=60, deadline_seconds=61), "item-1")
    assert not isinstance(caught.value, ThrottledError)


def test_without_a_key_pair_a_person_is_asked_to_set_one(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(CredentialsError, match="Set AWS_ACCESS_KEY_ID"):
        connect().balance()


def test_a_profile_that_is_not_there_is_a_matter_of_the_key_pair(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(CredentialsError, match="nobody"):
        connect()


def test_figures_of_all_processes_are_added_up(connect: Connect, controls: TestControls) -> None:
    gateways = [connect(), connect()]
    for gateway in gateways:
        for _ in range(5):
            gateway.balance()
    for window in Window:
        report = gateways[0].calls(window)
        assert (report.known, report.total.calls, sum(moment.calls for moment in report.timeline)) == (True, 10, 10)
        assert report.total.median_ms and report.total.p95_ms
        assert 0 < report.total.median_ms <= report.total.p95_ms <= 2 * report.total.milliseconds
        assert report.timeline[-1].rate == 1000


def test_without_redis_figures_are_unknown_and_calls_are_made(
    connect: Connect, broker: Broker, controls: TestControls
) -> None:
    gateway = connect()
    broker.kill()
    assert gateway.balance().available
    report = gateway.calls(Window.DAY)
    assert (report.known, report.operations) == (False, ())


def test_quantiles_come_from_the_histogram() -> None:
    figures = Figures("x")
    assert figures.median_ms is None
    for step, amount in ((2, 90), (5, 10)):
        figures.steps[step] = amount
    assert figures.median_ms == pytest.approx(STEPS[1] + (STEPS[2] - STEPS[1]) * 50 / 90)
    assert figures.p95_ms == pytest.approx((STEPS[4] + STEPS[5]) / 2)


def _publish(make: Callable[[], Gateway], number: int, calls: int, results: object) -> None:
    """One process's share of a job: HITs with tokens of their own."""
    gateway = make()
    hit_type = gateway.create_hit_type(HitTypeSpec("Read", "Read a text", "read", Decimal("0.05"), 600, 3600, ()))

    def create(row: int) -> str:
        return gateway.create_hit(
            hit_type, question=QUESTION, max_assignments=1, lifetime_seconds=600, token=f"p{number}.{row}"
        ).hit_id  # fmt: skip

    results.put([outcome for _, outcome in gateway.run(create, range(calls))])  # type: ignore[attr-defined]


def test_two_processes_get_150_calls_through_a_limit_that_nobody_told_them(
    connect: Connect, controls: TestControls
) -> None:
    controls.turn(throttle="20,25/s")
    context = multiprocessing.get_context("fork")
    results = context.Queue()

    def make() -> Gateway:
        return connect(calls_a_second=10, most_calls_a_second=200)

    processes = [context.Process(target=_publish, args=(make, number, 75, results)) for number in range(2)]
    began = time.monotonic()
    for process in processes:
        process.start()
    outcomes = [outcome for _ in processes for outcome in results.get(timeout=600)]
    seconds = time.monotonic() - began
    for process in processes:
        process.join(PATIENCE_SECONDS)
    controls.turn(throttle="")
    total = connect().calls(Window.HOUR).total
    share = total.throttled / total.calls
    print(f"\n{total.calls} attempts in {seconds:.1f} s, {total.throttled} throttled ({share:.1%})")
    assert len(outcomes) == len(set(outcomes)) == 150
    assert {hit.annotation for hit in connect().all_hits()} == {f"p{n}.{row}" for n in range(2) for row in range(75)}
    assert share < 0.2


def test_redis_may_die_and_come_back_in_the_middle_of_a_job(
    connect: Connect, controls: TestControls, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.mturk.shared.ABSENT_SECONDS", 0.2)
    gateway = connect(calls_a_second=60, most_calls_a_second=60)

    def kill_and_start() -> None:
        time.sleep(0.5)
        broker.kill()
        time.sleep(0.5)
        broker.start()

    killer = threading.Thread(target=kill_and_start)
    killer.start()
    outcomes = gateway.run(lambda row: gateway.balance().available, range(120))
    killer.join()
    assert {outcome for _, outcome in outcomes} == {Decimal("10000.00")}
    assert controls.counts() == {"GetAccountBalance": 120}
    assert gateway.pace().shared


def test_a_marketplace_that_is_down_is_not_asked_for_each_row(connect: Connect, controls: TestControls) -> None:
    gateway = connect(connections=2)
    controls.fail("reset_before", count=None)
    outcomes = gateway.run(lambda row: gateway.balance(), range(500))
    assert {type(outcome) for _, outcome in outcomes} == {UnreachableError}
    assert controls.counts()["GetAccountBalance"] <= 24


def test_accounts_of_other_keys_have_limits_of_their_own(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    slowed = connect(calls_a_second=10, most_calls_a_second=20)
    slowed._limiter.throttled()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", f"TEST{secrets.token_hex(8).upper()}")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    assert connect(calls_a_second=10, most_calls_a_second=20).pace().throttled_at is None
    assert slowed.pace().throttled_at is not None
