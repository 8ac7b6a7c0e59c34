"""The models' error behind what people say of the audited items, who err themselves."""

from __future__ import annotations

import random

import pytest

from hits.stats.audit import Share, error_behind


def test_without_mistakes_of_people_it_is_the_share_on_which_they_differ() -> None:
    found = error_behind(Share(30, 1000), Share(0, 1000))
    assert found and found.value == pytest.approx(0.03)
    assert found.low < 0.03 < found.high


def test_people_s_own_mistakes_are_taken_away() -> None:
    # m = 3 %, c = 10 %, two values: they differ where exactly one of them is wrong.
    differ = 0.03 * 0.9 + 0.97 * 0.1
    found = error_behind(Share(round(100_000 * differ), 100_000), Share(10_000, 100_000))
    assert found and found.value == pytest.approx(0.03, abs=1e-4)


def test_with_more_values_wrong_answers_rarely_meet() -> None:
    differ = 0.2 * (1 - 0.1 / 4) + 0.8 * 0.1
    found = error_behind(Share(round(100_000 * differ), 100_000), Share(10_000, 100_000), values=5)
    assert found and found.value == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(("differ", "wrong"), [(Share(0, 0), Share(1, 9)), (Share(1, 9), Share(0, 0))])
def test_without_observations_nothing_is_said(differ: Share, wrong: Share) -> None:
    assert error_behind(differ, wrong) is None


@pytest.mark.parametrize(("differ", "wrong"), [(Share(0, 20), Share(10, 20)), (Share(20, 20), Share(12, 20))])
def test_it_stays_a_share_where_people_know_nothing(differ: Share, wrong: Share) -> None:
    found = error_behind(differ, wrong)
    assert found and 0 <= found.low <= found.value <= found.high <= 1


def test_the_interval_holds_the_error_at_least_as_often_as_it_says() -> None:
    draw, held, error, people = random.Random(5), 0, 0.04, 0.104
    for _ in range(400):
        both = [(draw.random() < error, draw.random() < people) for _ in range(80)]
        wrong = sum(draw.random() < people for _ in range(120))
        found = error_behind(Share(sum(a != b for a, b in both), 80), Share(wrong, 120))
        assert found
        held += found.low <= error <= found.high
    assert held >= 0.95 * 400


def test_the_interval_does_not_say_everything() -> None:
    found = error_behind(Share(60, 200), Share(10, 200))
    assert found and found.low > 0.1 and found.high < 0.5


@pytest.mark.parametrize(
    ("differ", "wrong", "tells"),
    [(Share(1, 1), Share(0, 1), False), (Share(3, 9), Share(1, 3), False), (Share(12, 121), Share(5, 61), True)],
)
def test_a_figure_from_a_few_items_is_not_shown_by_itself(differ: Share, wrong: Share, tells: bool) -> None:
    found = error_behind(differ, wrong)
    assert found and found.tells is tells
