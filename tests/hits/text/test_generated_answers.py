"""Written answers are held against the right one as published implementations do it."""

from __future__ import annotations

import pytest

from hits.text.figures.generated_answers import compared


def test_the_same_words_are_as_near_as_can_be() -> None:
    told = compared("He took the last boat home.", "he took the last boat home")
    assert (told["bleu"], told["rouge_l"]) == (1.0, 1.0) and told["meteor"] > 0.99


def test_other_words_have_nothing_in_common_and_nothing_is_written_counts_nothing() -> None:
    assert compared("Never.", "he took the last boat home") == {"bleu": 0, "rouge_l": 0, "meteor": 0}
    assert compared("", "he took a boat") == {"bleu": 0, "rouge_l": 0, "meteor": 0}


def test_figures_are_those_of_the_definitions() -> None:
    """Four of five words, in a row: precisions 4/5, 3/4, 2/3, 1/2; the longest common subsequence has 4 of 5 and 4."""
    told = compared("they waited for the ferry", "they waited for the bus")
    assert told["bleu"] == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert told["rouge_l"] == pytest.approx(4 / 5)
    # Banerjee and Lavie (2005) as NLTK weighs it: one chunk of four matches.
    assert told["meteor"] == pytest.approx(4 / 5 * (1 - 0.5 * (1 / 4) ** 3))
