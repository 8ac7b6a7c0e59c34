import math
import random
import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.text.questions.answer_merging import (
    Merging,
    groups,
    normal_form,
    representative,
    same,
    select,
    still_incorrect,
)

PIECES = ["the", "a", "stove", "gas", "on", "three", "3", "cups", "cup", "oven", "and", "never", "car", "cat", "?"]
answers = some.lists(some.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join)
collected = some.lists(answers, min_size=1, max_size=7)


@pytest.mark.parametrize(
    "answer, form",
    [
        ("  On the Stove. ", "on stove"),
        ("Twenty-one or twenty two minutes", "21 22 minutes"),
        ("about two hundred and five dollars", "about 205 dollars"),
        ("one", "1"),
        ("1,000 people", "1000 people"),
        ("2.5 cups at 10:30!", "2.5 cups at 10:30"),
        ("7,8 or 9", "7 8 9"),
        ("to the kitchen and a hall", "kitchen hall"),
        ("The", "the"),
        ("and / or", "and or"),
        ("?!", "?!"),
        ("They don\u2019t know", "they don't know"),
        ("CAFE\u0301", "caf\u00e9"),
    ],
)
def test_a_normal_form_is_words_in_lower_case_with_digits_and_without_little_words(answer, form):
    assert " ".join(normal_form(answer)) == form


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ("stove", "On the gas stove.", True),
        ("the gas stove", "a stove with gas", False),
        ("car", "on the carpet", False),
        ("three spoons", "3 spoons", True),
        ("kitchen", "kitchens", True),
        ("kitchen", "the kitchenette", False),
        ("in the morning", "in the evening", False),
        ("cat", "car", True),
        ("2 cups", "3 cups", True),
        ("yes", "no", False),
        ("and", "The boys and girls", False),
        ("?!", "at the shop", False),
        ("gas on", "on gas on", True),
    ],
)
def test_answers_say_the_same_if_one_contains_the_others_words_or_is_less_than_three_edits_away(one, other, expected):
    assert same(one, other) is expected
    assert same(other, one) is expected


@pytest.mark.parametrize(
    "correct, text, sizes, tie",
    [
        (["On the stove", "the stove", "stove", "in the oven", "oven"], "stove", [3, 2], False),
        (["a pan", "The pan.", "the pan.", "The pan.", "a pot roast"], "The pan.", [4, 1], False),
        (["ten minutes", "10 minutes", "10 minutes!", "an hour", "one hour"], "10 minutes", [3, 2], False),
        (["three", "3", "3 cups", "two"], "3", [3, 1], False),
        (["stove", "gas stove", "gas grill", "gas"], None, [2, 2], True),
        (["spouts", "spots", "pots", "pot"], None, [2, 2], True),
        (["a pan", "pancake mix", "pan of a neighbour", "the new pan", "the new pan"], "the new pan", [3, 1, 1], False),
        (["by bus", "by train", "by bicycle", "walking", "she ran"], None, [1, 1, 1, 1, 1], True),
        (["by bus", "by bus", "on foot", "on foot", "in her car"], None, [2, 2, 1], True),
        (["their mother"], "their mother", [1], False),
    ],
)
def test_the_largest_group_wins_and_its_most_frequent_wording_stands_for_it(correct, text, sizes, tie):
    found = select(correct, seed="1 q1")
    assert ([len(group) for group in found.groups], found.tie) == (sizes, tie)
    assert found.text == text or text is None and found.text in found.group
    assert len(found.group) == sizes[0]


def test_the_wording_is_of_the_most_frequent_form_then_the_most_frequent_then_the_shortest_then_the_first():
    assert representative(["stove", "the old stove", "The old stove", "an old stove"]) == "The old stove"
    assert representative(["oven", "the hot oven", "a hot oven"]) == "a hot oven"
    assert representative([" oven ", "oven", "Oven"]) == "oven"
    assert representative(["oven", "Oven"]) == "Oven"


def edits(a, b):
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            replaced = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, replaced)
    return table[-1][-1]


def alike(a, b):
    """Written another way on purpose: padded strings for containment, a full table of edits."""

    def form(answer):
        # Without any word it is one thing, also where it has space in it.
        found = re.findall(r"\w+", answer.replace("three", "3")) or [answer.replace(" ", "\0")]
        return " ".join([word for word in found if word not in ("and", "or", "to", "the", "a")] or found)

    a, b = form(a), form(b)
    return f" {a} " in f" {b} " or f" {b} " in f" {a} " or edits(a, b) < 3


@settings(max_examples=60, deadline=None)
@given(collected, some.randoms(use_true_random=False))
def test_all_answers_of_a_group_say_the_same_and_the_order_of_the_workers_makes_no_difference(correct, draw):
    found = select(correct, seed="7 q3")
    assert all(alike(*pair) for group in found.groups for pair in combinations(group, 2))
    assert all(any(not alike(a, b) for a in one for b in other) for one, other in combinations(found.groups, 2)), (
        "two groups that say the same are one"
    )
    assert Counter(answer for group in found.groups for answer in group) == Counter(correct)
    assert found.tie == (len(found.groups) > 1 and len(found.groups[0]) == len(found.groups[1]))
    shuffled = draw.sample(correct, len(correct))
    assert select(shuffled, seed="7 q3") == found
    assert groups([correct[0]] * 5) == ((correct[0],) * 5,)


def test_each_of_several_largest_groups_is_drawn_as_often_and_a_seed_always_draws_the_same():
    correct = ["by bus", "by bus", "on foot", "on foot", "riding a bicycle", "a bicycle", "never"]
    drawn = Counter(select(correct, seed=f"5 q{number}").text for number in range(1800))
    assert drawn.keys() == {"by bus", "on foot", "a bicycle"}
    spread = math.sqrt(1800 * (1 / 3) * (2 / 3))
    assert all(abs(times - 600) < 4 * spread for times in drawn.values())
    seeds = [f"{random.Random(1).random()} {number}" for number in range(20)]
    assert [select(correct, seed=seed) for seed in seeds] == [select(correct, seed=seed) for seed in seeds]


def test_an_incorrect_answer_that_somebody_gave_as_the_correct_one_is_left_out():
    selected = select(["On the stove", "stove", "oven"], seed="1")
    incorrect = ["The stove!", "in the oven", "a stove top", "on stove", "in the oven"]
    assert still_incorrect(incorrect, selected) == ["in the oven", "a stove top", "in the oven"]


@pytest.mark.parametrize("correct", [[], ["  "], ["fine", ""]])
def test_no_answer_and_an_empty_one_are_refused(correct):
    with pytest.raises(ValueError, match="no answer|without any character"):
        select(correct, seed="1")


def test_how_many_edits_are_the_same_and_which_words_are_dropped_can_be_said_otherwise():
    strict = Merging(edits=0, dropped=frozenset({"on"}))
    assert not same("cat", "car", strict) and same("cat", "a cat", strict)
    assert normal_form("on the stove", strict.dropped) == ("the", "stove")
    assert groups(["kitchen", "kitchens"], strict) == (("kitchen",), ("kitchens",))
    assert select(["kitchens", "kitchen", "on kitchen"], seed="1", by=strict).group == ("kitchen", "on kitchen")
    selected = select(["stove"], seed="1", by=strict)
    assert still_incorrect(["On stove", "the stove"], selected, strict) == ["the stove"]
