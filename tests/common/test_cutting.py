"""What is kept of texts and answers that are longer than any task takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from common.cutting import LEFT_OUT, LONGEST_NAMES, LONGEST_VALUES, bounded, cut
from hits.protocols.html_page.answers import LONGEST_ANSWER


def test_a_text_that_is_cut_says_how_much_is_missing() -> None:
    assert cut("x" * 2000, 2000) == "x" * 2000
    assert cut("x" * 2001, 2000) == "x" * 1940 + " [… 61 more characters were cut off]"


@given(st.text(max_size=300), st.integers(0, 200))
def test_no_cut_text_is_longer_than_it_may_be(text: str, longest: int) -> None:
    assert len(cut(text, longest)) <= longest


def test_an_answer_that_any_task_takes_is_kept_as_it_is() -> None:
    boxes = {f"item{number % 20 + 1}:field-{number}": "yes" for number in range(20_000)}
    for fields in ({}, {"text": "é" * LONGEST_ANSWER}, boxes):
        assert bounded(fields) == fields


def test_of_a_long_answer_the_long_values_are_cut_and_no_short_one() -> None:
    kept = bounded({"comment": "<" * 2_500_000, "why": "x" * 200_000, "answer": "46-51"})
    assert kept["answer"] == "46-51"
    assert kept["comment"].endswith(" more characters were cut off]")
    assert kept["comment"][:100_000] == "<" * 100_000 and kept["why"][:100_000] == "x" * 100_000
    assert sum(map(len, kept.values())) <= LONGEST_VALUES


def test_of_an_answer_with_endless_names_the_first_fields_are_kept_and_the_rest_is_told() -> None:
    kept = bounded({f"{'n' * 99_990}{number}": "v" for number in range(20)})
    assert sum(map(len, kept)) <= LONGEST_NAMES + len(LEFT_OUT)
    assert kept[LEFT_OUT] == "13 fields were left out: the answer is too long"
