import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules import throttling


@pytest.mark.parametrize("text", ["20", "20,5", "0,5/s", "20,0/s", "-1,5/s", "20,5/m", "20, 5/s", "x"])
def test_a_rate_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="20,5/s"):
        throttling.parse(text)


def test_a_rate_is_capacity_and_calls_a_second() -> None:
    assert throttling.parse("20,5/s") == throttling.Rate(20, 5.0)
    assert throttling.parse("") is None


@given(st.lists(st.integers(0, 3000), max_size=60), st.integers(1, 5), st.sampled_from([0.5, 1.0, 2.0, 5.0]))
def test_it_admits_what_a_bucket_of_tokens_admits(gaps_ms: list[int], capacity: int, per_second: float) -> None:
    """The one moment that is kept against a bucket that is counted out token by token."""
    rate = throttling.Rate(capacity, per_second)
    now = full_at = 0
    tokens_ms = capacity * rate.token_ms
    for gap in gaps_ms:
        now += gap
        tokens_ms = min(capacity * rate.token_ms, tokens_ms + gap)
        admitted = full_at <= rate.latest_full_ms(now)
        assert admitted == (tokens_ms >= rate.token_ms)
        if admitted:
            full_at = max(full_at, now) + rate.token_ms
            tokens_ms -= rate.token_ms
