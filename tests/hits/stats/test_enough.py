"""How many answers an item wants."""

import time
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.enough import answers_wanted, condition, expected_answers, waits
from hits.stats.vote_rules.conditions import Value
from hits.stats.vote_rules.rule_text import RuleTextError

TWO_AGREE = "at least 2 agree on label"


def labels(word):
    return [{"label": letter} if letter != "-" else {} for letter in word]


@pytest.mark.parametrize(
    "said, wanted",
    [
        ("", 2),
        ("a", 2),
        ("aa", 2),
        ("ab", 3),
        ("abb", 3),
        ("abc", 4),
        ("abcd", 5),
        ("abcde", 5),
        ("abcdea", 5),
        ("--", 3),
        ("-a", 3),
        ("-aa", 3),
        # What came later changes nothing.
        ("aab", 2),
        ("aabbb", 2),
    ],
)
def test_an_item_wants_answers_until_enough_workers_agree(said, wanted):
    assert answers_wanted(labels(said), 2, 5, TWO_AGREE) == wanted


def test_more_than_half_is_of_the_answers_that_are_there():
    assert answers_wanted(labels("ab"), 2, 7, "more than half agree on label") == 3
    assert answers_wanted(labels("aba"), 2, 7, "more than half agree on label") == 3
    assert answers_wanted(labels("abca"), 2, 7, "more than half agree on label") == 5


@settings(max_examples=200, deadline=None)
@given(some.text("ab-", max_size=9), some.integers(1, 4), some.integers(0, 4), some.integers(1, 3))
def test_the_number_never_falls_as_answers_come_and_stays_within_its_bounds(said, least, more, need):
    most = least + more
    text = f"at least {min(need, most)} agree on label"
    wanted = [answers_wanted(labels(said[:n]), least, most, text) for n in range(len(said) + 1)]
    assert wanted == sorted(wanted)
    assert all(least <= number <= most for number in wanted)
    # One more than there are at the most, so that no answer is bought before it is known to be wanted.
    assert all(number <= max(least, n + 1) for n, number in enumerate(wanted))


def test_without_a_difference_between_least_and_most_every_item_wants_as_many():
    assert {answers_wanted(labels("".join(said)), 3, 3, TWO_AGREE) for said in product("ab", repeat=3)} == {3}


@pytest.mark.parametrize(
    "text, message",
    [
        ("at least 6 agree on label", "line 1, column 1: at least 6 of 5 wanted answers"),
        ("some label = x", "line 1, column 1: 'some' does not say how many"),
        ("", "line 1, column 1: write a condition here"),
        ("all label = x\nall label = y", "line 2, column 1: the condition takes one line"),
    ],
)
def test_a_fault_says_where_it_is_in_the_text(text, message):
    with pytest.raises(RuleTextError) as refused:
        condition(text, 5)
    assert str(refused.value).startswith(message)


def test_the_expected_number_is_that_of_workers_who_are_right_four_times_of_five():
    """Two of two are right with 0.8 ** 2 + 0.2 ** 2 = 0.68 or both wrong; of three with two values two always agree."""
    found = expected_answers(2, 5, "at least 2 agree on label.correct", seed=1)
    assert found == pytest.approx(2.32, abs=0.03)
    assert found == expected_answers(2, 5, "at least 2 agree on label.correct", seed=1)
    # More values make it less likely that two of them are the same.
    assert expected_answers(2, 5, TWO_AGREE, seed=1) > found
    # Of items whose value is x as often as another one, x is said by two of two with 0.5 * (0.64 + 0.04) = 0.34.
    assert expected_answers(2, 3, "at least 2 label = x", seed=1) == pytest.approx(2.66, abs=0.03)


@pytest.mark.parametrize("named", ["another value", "value 0", "one value"])
def test_a_condition_may_name_any_value(named: str) -> None:
    text = f'at least 2 choice = "{named}"'
    assert expected_answers(2, 5, text, seed=1) == expected_answers(2, 5, "at least 2 choice = x", seed=1)


def test_the_expectation_of_a_long_condition_takes_no_longer_than_that_of_a_short_one() -> None:
    short, long = "all l != a0", " and ".join(f"all l != a{number}" for number in range(34))

    def seconds(text: str, most: int) -> float:
        began = time.process_time()
        expected_answers(1, most, text, seed=1)
        return time.process_time() - began

    # Reckoned with one claim, the long one would take 34 times as long.
    assert seconds(long, 20) < 6 * seconds(short, 20)


def test_the_longest_condition_for_the_most_answers_takes_no_more_than_seconds_and_is_reckoned_once():
    text = " or ".join(f"at least 100 u{number} = v" for number in range(19))
    began = time.process_time()
    assert [expected_answers(1, 100, text, seed=7) for _ in range(20)] == [100] * 20
    assert time.process_time() - began < 5


def test_the_expectation_of_what_takes_longest_to_count_is_the_mean_of_five_items():
    """Fewer would tell nothing, and more would take longer than a page may."""
    text = " and ".join(f"at least 3 agree on u{number}" for number in range(34))
    found = expected_answers(3, 100, text, seed=1)
    assert 5 * found == pytest.approx(round(5 * found)) and 6 * found != pytest.approx(round(6 * found))


SURE = "confidence label >= 0.9"


@pytest.mark.parametrize(
    ("said", "confidence", "wanted", "undecided"),
    [
        ("a", None, 2, False),
        ("ab", None, 2, True),
        ("ab", 0.5, 3, False),
        ("ab", 0.9, 2, False),
        ("abcd", 0.1, 5, False),
    ],
)
def test_an_item_wants_answers_until_the_computed_value_is_sure_enough(said, confidence, wanted, undecided):
    values = None if confidence is None else {"label": Value("a", confidence)}
    assert answers_wanted(labels(said), 2, 5, SURE, values) == wanted
    assert waits(labels(said), wanted, 5, SURE, values) == undecided


def test_whether_it_waits_hangs_on_the_first_answers_alone():
    either = "at least 2 agree on label or confidence label >= 0.9"
    assert waits(labels("ab"), 2, 5, either, None)
    assert waits(labels("abb"), 2, 5, either, None)
    assert not waits(labels("aab"), 2, 5, either, None)


def test_at_the_most_number_nothing_is_waited_for():
    assert not waits(labels("abcde"), 5, 5, SURE, None)


def test_the_expectation_for_a_confidence_is_that_of_all_orders_of_answers():
    """Four values, of which the right one is said four times of five; every order of at most four answers is tried."""

    def taken(said):
        for number in range(2, 4):
            odds = [12 ** said[:number].count(value) for value in range(4)]
            if max(odds) / sum(odds) >= 0.97:
                return number
        return 4

    exact = sum(
        taken(said) * prod(0.8 if value == 0 else 0.2 / 3 for value in said) for said in product(range(4), repeat=4)
    )
    # The mean of 2,000 simulated items, whose numbers differ by less than one from one another.
    assert expected_answers(2, 4, "confidence label >= 0.97", 7) == pytest.approx(exact, abs=0.08)
    assert 2.2 < exact < 2.8
