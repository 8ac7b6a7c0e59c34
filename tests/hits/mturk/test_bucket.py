"""The rules of the rate, on a clock of the test's own."""

import heapq
import random
import secrets
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.mturk import bucket
from hits.mturk.bucket import Bucket
from hits.mturk.shared import Shared

NOON = 43_200.0
steps = st.lists(st.tuples(st.sampled_from(["take", "take", "take", "throttled"]), st.floats(0, 0.4)), max_size=200)


def _grants(tokens: Bucket, walk: list[tuple[str, float]]) -> list[float]:
    """When the tokens that the walk takes may be used."""
    now, granted = NOON, []
    for verb, seconds in walk:
        now += seconds
        if verb == "throttled":
            tokens.throttled(now)
            continue
        given_one, wait = tokens.take(now)
        if given_one:
            granted.append(now + wait)
    return sorted(granted)


@given(steps, st.floats(0.5, 50), st.floats(50, 200))
def test_no_interval_of_time_sees_more_calls_than_the_burst_and_the_rate_allow(walk, rate, ceiling):
    granted = _grants(Bucket(rate=rate, ceiling=ceiling), walk)
    for first in range(0, len(granted), 7):
        for last in range(first, len(granted), 5):
            length = granted[last] - granted[first]
            assert last - first + 1 <= bucket.CAPACITY + ceiling * length + 1 + 1e-6


@given(steps, st.floats(0.5, 50))
def test_the_rate_stays_between_floor_and_ceiling(walk, rate):
    tokens = Bucket(rate=rate, ceiling=60)
    for step in walk:
        _grants(tokens, [step])
        assert bucket.FLOOR <= tokens.rate <= 60


def test_the_rate_doubles_each_second_until_the_first_refusal_and_then_grows_evenly():
    tokens = Bucket(rate=10, ceiling=200)
    seen = [_busy_second(tokens, second) for second in range(3)]
    assert seen == [10, 20, 40]
    tokens.throttled(NOON + 3)
    assert tokens.rate == pytest.approx(bucket.FIRST_CUT * 40)
    seen = [round(_busy_second(tokens, second), 6) for second in range(5, 9)]
    assert [round(b - a, 6) for a, b in zip(seen, seen[1:], strict=False)] == [1.0, 1.0, 1.0]


def _busy_second(tokens: Bucket, second: int) -> float:
    """The rate after a second in which callers had to wait."""
    for tick in range(100):
        tokens.take(NOON + second + tick / 100)
    return tokens.rate


def test_a_rate_that_nobody_needs_does_not_grow():
    tokens = Bucket(rate=10, ceiling=200)
    for second in range(60):
        for tick in range(5):
            tokens.take(NOON + second + tick / 5)
    assert tokens.rate == 10


def test_a_burst_of_refusals_counts_once():
    tokens = Bucket(rate=40, ceiling=200)
    assert [tokens.throttled(NOON + tick / 20) for tick in range(15)] == [True] + [False] * 14
    assert tokens.rate == 40 * bucket.FIRST_CUT


def test_a_rate_that_is_far_off_is_found_within_seconds():
    tokens, seconds = Bucket(rate=200, ceiling=200, limit=200), 0
    while tokens.rate > 5:
        tokens.throttled(NOON + seconds)
        seconds += 1
    assert seconds < 10


def test_after_a_refusal_nobody_calls_in_a_burst():
    tokens = Bucket(rate=10, ceiling=200)
    tokens.throttled(NOON)
    waits = [tokens.take(NOON + tick / 100)[1] for tick in range(20)]
    assert min(waits) > 0


@pytest.mark.parametrize(("burst", "rate", "calls"), [(20, 2, 300), (20, 5, 600), (20, 25, 1500), (20, 60, 3000)])
def test_it_finds_the_rate_of_a_marketplace_that_does_not_tell_it(burst, rate, calls):
    """Sixteen connections, 80 ms away, from knowing nothing."""
    seconds, refused = _simulate(Bucket(rate=10, ceiling=200), burst, rate, calls)
    fastest = (calls - burst) / rate
    print(f"\n{burst},{rate}/s: {calls} calls in {seconds:.1f} s, at best {fastest:.1f} s; {refused} throttled")
    assert fastest / seconds > 0.8
    assert refused / (calls + refused) < 0.08


def _simulate(tokens: Bucket, burst: float, rate: float, calls: int) -> tuple[float, int]:
    """Seconds and refusals until so many calls are through a marketplace's own bucket."""
    chance = random.Random(5)
    left, filled, refused = burst, NOON, 0
    events = [(NOON, number, "want", 0) for number in range(16)]
    number, now = 16, NOON
    while calls:
        now, _, what, tries = heapq.heappop(events)
        number += 1
        if what == "want":
            granted, wait = tokens.take(now)
            later = now + wait if granted else now + max(0.02, wait - bucket.HORIZON * chance.random())
            heapq.heappush(events, (later, number, "send" if granted else "want", tries))
            continue
        left, filled = min(burst, left + (now - filled) * rate), now
        if left >= 1:
            left, calls, tries, later = left - 1, calls - 1, 0, now + 0.08
        else:
            refused, tries = refused + 1, tries + 1
            tokens.throttled(now + 0.08)
            later = now + 0.08 + chance.uniform(0, min(8, 0.25 * 2**tries))
        heapq.heappush(events, (later, number, "want", tries))
    return now - NOON, refused


@given(walk=steps)
@settings(max_examples=40, deadline=None)
def test_redis_and_this_module_follow_the_same_rules(own_broker, walk):
    start = Bucket(rate=10, ceiling=60)
    here, there = Bucket(**asdict(start)), Shared(own_broker.url, secrets.token_hex(8))
    now = NOON
    for verb, seconds in walk:
        now += seconds
        if verb == "take":
            turn, (granted, wait) = there.take(start, now), here.take(now)
        else:
            turn, granted, wait = there.throttled(start, now), here.throttled(now), 0.0
        assert turn is not None
        assert (turn.granted, turn.rate, turn.limit) == (granted, here.rate, here.limit)
        assert turn.wait == pytest.approx(wait, abs=1e-12)


def test_the_third_cut_in_a_row_and_no_earlier_one_is_deep():
    tokens, rates = Bucket(rate=40, ceiling=200), [40.0]
    for cut in range(4):
        tokens.throttled(NOON + 1.1 * cut)
        rates.append(tokens.rate)
    shares = [after / before for before, after in zip(rates, rates[1:], strict=False)]
    assert shares == pytest.approx([bucket.FIRST_CUT, bucket.CUT, bucket.DEEP_CUT, bucket.DEEP_CUT])


def waiting(**columns: float) -> Bucket:
    """A bucket that somebody had to wait for, without a token, last looked at at noon."""
    state = {"rate": 10.0, "ceiling": 200.0, "at": NOON, "grown_at": NOON, "cut_at": NOON, "wanted": True}
    return Bucket(**{**state, **columns})


@pytest.mark.parametrize(
    ("since_growth", "since_cut", "rate"), [(1.0, 1.0, 20), (0.99, 5.0, 10), (5.0, 0.99, 10), (2.0, 2.0, 20)]
)
def test_the_rate_grows_from_a_second_after_the_last_growth_and_the_last_cut_on(since_growth, since_cut, rate):
    tokens = waiting(at=NOON + 9, grown_at=NOON + 10 - since_growth, cut_at=NOON + 10 - since_cut)
    tokens.take(NOON + 10)
    assert tokens.rate == rate
    assert (tokens.grown_at, tokens.wanted) == ((NOON + 10, False) if rate == 20 else (NOON + 10 - since_growth, True))


@pytest.mark.parametrize(("seconds", "cut"), [(0.99, False), (1.0, True), (1.01, True)])
def test_a_refusal_a_second_after_the_last_cut_is_another_one(seconds, cut):
    tokens = waiting(limit=10.0)
    assert tokens.throttled(NOON + seconds) is cut
    assert tokens.rate == (8.0 if cut else 10.0)


@pytest.mark.parametrize(("seconds", "cuts"), [(2.49, 3), (2.5, 1)])
def test_two_and_a_half_seconds_after_a_cut_the_row_is_over(seconds, cuts):
    tokens = waiting(limit=10.0, cuts=2)
    tokens.throttled(NOON + seconds)
    assert tokens.cuts == cuts
    assert tokens.rate == 10.0 * (bucket.DEEP_CUT if cuts == 3 else bucket.CUT)


def test_a_cut_remembers_what_was_too_much_and_stops_at_the_floor():
    tokens = waiting(rate=0.6, limit=10.0)
    tokens.throttled(NOON + 2)
    assert (tokens.rate, tokens.limit, tokens.cut_at, tokens.wanted) == (bucket.FLOOR, 0.6, NOON + 2, False)


@pytest.mark.parametrize(("tokens", "granted", "wait"), [(1.0, True, 0.0), (-2.0, True, 0.3), (-2.1, False, 0.31)])
def test_a_token_is_promised_for_three_tenths_of_a_second_at_most(tokens, granted, wait):
    here = waiting(tokens=tokens, wanted=False)
    assert here.take(NOON) == (granted, pytest.approx(wait))
    assert here.tokens == tokens - granted
    assert here.wanted is (wait > 0)


def test_a_full_bucket_holds_twenty_calls_at_once():
    tokens = Bucket(rate=0.5, ceiling=200)
    waits = [tokens.take(NOON)[1] for _ in range(21)]
    assert waits == [0.0] * 20 + [2.0]
    tokens.take(NOON + 3600)
    assert tokens.tokens == 19


def test_a_clock_that_goes_back_takes_no_tokens_away():
    tokens = waiting(tokens=5.0)
    tokens.take(NOON - 100)
    assert (tokens.tokens, tokens.at) == (4.0, NOON)


@pytest.mark.parametrize(
    ("rate", "limit", "step"), [(3.0, 0.0, 3.0), (1.0, 1.0, 0.05), (10.0, 40.0, 1.0), (60.0, 40.0, 20.0)]
)
def test_a_step_is_even_below_what_was_too_much_and_doubles_beyond_it(rate, limit, step):
    tokens = waiting(rate=rate, limit=limit)
    tokens.take(NOON + 1)
    assert tokens.rate == pytest.approx(rate + step)


def test_the_rate_never_grows_past_its_ceiling():
    tokens = waiting(rate=150.0)
    tokens.take(NOON + 1)
    assert tokens.rate == 200.0
