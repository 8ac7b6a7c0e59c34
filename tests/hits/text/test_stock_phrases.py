"""Stock phrases of a writer beside everybody else's."""

import numpy as np
import pytest

from hits.text.language.words import words
from hits.text.originality.stock_phrases import FEWEST_WORDS, PRIOR_WORDS, Rates, log_odds, most_used, phrases_in


def test_phrases_are_found_whatever_their_case_and_the_longest_one_counts():
    told = "Furthermore, it is important to rest. In conclusion: OVERALL a good day, as a result. Es ist wichtig!"
    assert phrases_in(words(told)) == {
        "furthermore": 1,
        "it is important to": 1,
        "in conclusion": 1,
        "overall": 1,
        "as a result": 1,
        "es ist wichtig": 1,
    }
    assert phrases_in(words("The result of an addition is in the book.")) == {}
    assert phrases_in([]) == {}
    assert most_used([{"thus": 1, "overall": 3}, {"thus": 1}, {"crucial": 2}], most=2) == ["overall", "crucial"]


@pytest.mark.parametrize(
    ("own", "others"),
    [(Rates(14, 1000), Rates(40, 20_000)), (Rates(1, 900), Rates(90, 9000)), (Rates(3, 400), Rates(3, 400))],
)
def test_the_ratio_is_that_of_the_posterior_drawn_at_random(own, others):
    """Independently: with a Beta prior, the log-odds of both posteriors are drawn and subtracted."""
    draw = np.random.default_rng(5)
    prior = PRIOR_WORDS * (own.phrases + others.phrases) / (own.words + others.words)

    def drawn(rates):
        seen = rates.phrases + prior
        share = draw.beta(seen, rates.words + PRIOR_WORDS - seen, 400_000)
        return np.log(share / (1 - share))

    difference = drawn(own) - drawn(others)
    ratio, z = log_odds(own, others)
    # The formula is an approximation for large numbers.
    assert ratio == pytest.approx(difference.mean(), abs=0.1)
    assert z == pytest.approx(difference.mean() / difference.std(), abs=0.35)


def test_of_too_few_words_or_no_phrases_nothing_is_said():
    assert log_odds(Rates(9, FEWEST_WORDS - 1), Rates(9, 5000)) is None
    assert log_odds(Rates(9, 5000), Rates(0, 0)) is None
    assert log_odds(Rates(0, 5000), Rates(0, 5000)) is None


def test_of_writers_like_all_others_one_in_twenty_is_beyond_two():
    draw = np.random.default_rng(8)
    own = draw.binomial(3000, 0.01, 2000)
    found = [log_odds(Rates(int(count), 3000), Rates(1000, 100_000))[1] for count in own]
    # The prior draws towards the others, so rather fewer are beyond.
    assert np.mean(np.abs(found) > 2) < 0.06
    assert not any(z > 4 for z in found)
