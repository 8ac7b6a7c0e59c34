from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from common import patience
from common.patience import Patience

KINDS = [kind for kind in vars(patience).values() if isinstance(kind, Patience)]


@given(st.sampled_from(KINDS), st.integers(1, 5000))
def test_pauses_only_grow_and_stay_under_their_limit(kind: Patience, count: int) -> None:
    assert timedelta() <= kind.pause(count) <= kind.pause(count + 1) <= timedelta(seconds=kind.longest)
    assert (kind.pause(count) == timedelta()) == (count < kind.free)


def test_a_thousand_guesses_take_ten_days_from_one_place_and_most_of_a_day_from_many() -> None:
    def waiting(kind: Patience) -> timedelta:
        return sum((kind.pause(count) for count in range(1, 1000)), timedelta())

    assert waiting(patience.SIGN_IN) > timedelta(days=10)
    assert waiting(patience.SIGN_IN_AS_NAME) > timedelta(hours=16)
