"""Figures of workers: agreement with the others, chance, runs, and what stands out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.stats.worker_figures import Compared, Crowd, Own, Said, compare, runs, what_stands_out

answers = st.lists(
    st.builds(
        Said,
        worker=st.integers(0, 4),
        item=st.integers(0, 5),
        unit=st.sampled_from(["a", "b"]),
        value=st.sampled_from(["x", "y", "z"]),
        counts=st.booleans(),
        correct=st.none(),
    ),
    max_size=60,
    unique_by=lambda row: (row.worker, row.item, row.unit),
)


def slow(rows: Sequence[Said], worker: int) -> tuple[int, float, float]:
    """The definition, row by row."""
    compared, agreed, chance = 0, 0.0, 0.0
    for own in (row for row in rows if row.worker == worker):
        counting = [row for row in rows if row.counts and row.unit == own.unit]
        others = [row for row in counting if row.item == own.item and row.worker != worker]
        elsewhere = [row for row in counting if row.item != own.item and row.worker != worker]
        if others:
            compared += 1
            agreed += sum(row.value == own.value for row in others) / len(others)
            chance += sum(row.value == own.value for row in elsewhere) / len(elsewhere) if elsewhere else 0.0
    return compared, agreed, chance


@given(answers)
def test_agreement_is_the_share_of_the_others_whose_counting_answers_say_the_same(rows: list[Said]) -> None:
    found = compare(rows)
    assert set(found) == {row.worker for row in rows}
    for worker, figures in found.items():
        expected = slow(rows, worker)
        assert (figures.compared, figures.agreed, figures.agreed_by_chance) == pytest.approx(expected)


def test_nobody_said_anything() -> None:
    assert compare([]) == {}


def test_a_second_answer_of_a_worker_to_the_same_question_is_left_out() -> None:
    rows = [Said(1, 1, "a", "x"), Said(1, 1, "a", "y"), Said(2, 1, "a", "y")]
    assert compare(rows)[1].agreed == 0
    assert compare(rows)[2].agreed == 0


def test_what_counts_for_nothing_is_compared_and_nobody_is_compared_with_it() -> None:
    rows = [Said(1, 1, "a", "x", counts=False), Said(2, 1, "a", "x"), Said(3, 1, "a", "x")]
    found = compare(rows)
    assert (found[1].compared, found[1].agreed) == (1, 1.0)
    assert (found[2].compared, found[2].agreed) == (1, 1.0)
    assert compare(rows[:2])[2].compared == 0


def test_right_by_chance_is_the_share_of_other_known_items_for_which_the_answer_would_do() -> None:
    # Three of four items deserve x: who always says x is right in three, and by chance in (2 + 2 + 2 + 3) / 3.
    gold = {1: "x", 2: "x", 3: "x", 4: "y"}
    rows = [Said(1, item, "a", right, correct=True) for item, right in gold.items()]
    rows += [Said(2, item, "a", "x", correct=right == "x") for item, right in gold.items()]
    assert compare(rows)[2].right_by_chance == pytest.approx((2 + 2 + 2 + 3) / 3)
    assert compare(rows)[1].right_by_chance == pytest.approx((2 + 2 + 2 + 0) / 3)


def test_who_always_says_the_same_agrees_as_chance_would() -> None:
    draw = random.Random(5)
    truth = {item: draw.choices("xy", [3, 1])[0] for item in range(400)}
    rows = [Said(worker, item, "a", value) for worker in range(4) for item, value in truth.items()]
    rows += [Said(9, item, "a", "x") for item in truth]
    found = compare(rows)[9]
    assert found.agreed / found.compared == pytest.approx(Counter(truth.values())["x"] / 400)
    assert found.agreed == pytest.approx(found.agreed_by_chance, rel=0.02)


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_runs_are_those_of_equal_answers_one_after_another(values: list[str]) -> None:
    repeats, longest = runs(values)
    assert repeats == sum(a == b for a, b in zip(values, values[1:], strict=False))
    text = "".join(values)
    assert longest == max((n for n in range(1, len(text) + 1) if "a" * n in text or "b" * n in text), default=0)


CROWD = Crowd(20.0, 0, 0.3, 0.9, 0.33, 0.8, 0.33)


def own(**changed: object) -> Own:
    usual = {
        "answers": 60, "median_seconds": 18.0, "longest_run": 3, "scored": 40, "correct": 36, "right_by_chance": 13.2,
        "figures": Compared(60, 48, 20, 13.2),
    }  # fmt: skip
    return Own(**{**usual, **changed})  # type: ignore[arg-type]


def test_nothing_stands_out_of_a_usual_worker() -> None:
    assert what_stands_out(own(), CROWD) == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"median_seconds": 6.0}, "Median of 6.0 s, below a third of the crowd's 20.0 s."),
        ({"longest_run": 14}, "14 answers in a row are the same."),
        (
            {"correct": 13},
            "Gold answers: 32% right, which is no better than chance (33%); the crowd 90%.",
        ),
        ({"correct": 26}, "Gold answers: 65% right, much below the crowd's 90%."),
        (
            {"figures": Compared(60, 21, 20, 0)},
            "Others: 35% agreed with, which is no better than chance (33%); the crowd 80%.",
        ),
    ],
)
def test_what_stands_out_is_named(changed: dict[str, object], sentence: str) -> None:
    assert what_stands_out(own(**changed), CROWD) == [sentence]


def test_nobody_repeats_anything_and_one_worker_has_no_answer_that_counts() -> None:
    assert what_stands_out(own(longest_run=0), Crowd(20.0, 0, 0.0, None, 0.0, None, 0.0)) == []


def test_few_answers_say_nothing() -> None:
    assert what_stands_out(own(answers=4, scored=19, correct=2, figures=Compared(19, 2, 6, 0)), CROWD) == []


def test_faster_than_the_task_allows_is_named_before_the_crowd_s_time() -> None:
    crowd = Crowd(20.0, 5, 0.3, 0.9, 0.33, 0.8, 0.33)
    assert what_stands_out(own(median_seconds=4.0), crowd) == [
        "Half of the answers took less than the 5 s that the task asks for at least."
    ]


def test_where_the_whole_crowd_hurries_the_time_that_is_expected_tells() -> None:
    crowd = Crowd(0.7, 0, 0.3, 0.9, 0.33, 0.8, 0.33, expected_seconds=40)
    assert what_stands_out(own(median_seconds=0.6), crowd) == [
        "Median of 0.6 s, less than a fifth of the 40 s that an answer is expected to take."
    ]
    assert (
        what_stands_out(own(median_seconds=8.0), crowd)
        == what_stands_out(own(answers=4, median_seconds=0.6), crowd)
        == []
    )
