import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.text.figures.squad import Scores, exact_match, macro, normalise, token_f1

words = st.lists(
    st.sampled_from(["the", "A", "an", "Paris", "paris,", "U.N.", "New", "York's", "1,000", "-", "THE THE"]), max_size=6
).map(" ".join)
reference_lists = st.lists(words, min_size=1, max_size=4)


def recomputed_words(text):
    """Written another way on purpose: word by word, after dropping the punctuation."""
    bare = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return [word for word in re.split(r"\s+", bare) if word and word not in ("a", "an", "the")]


def recomputed_f1(prediction, reference):
    said, wanted = recomputed_words(prediction), recomputed_words(reference)
    left, common = list(wanted), 0
    for word in said:
        if word in left:
            left.remove(word)
            common += 1
    if common == 0:
        return 0.0
    precision, recall = common / len(said), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


@given(words, reference_lists)
def test_it_agrees_with_an_independent_recomputation(prediction, references):
    equal = any(recomputed_words(prediction) == recomputed_words(r) for r in references)
    assert exact_match(prediction, references) == float(equal)
    best = max(recomputed_f1(prediction, r) for r in references)
    assert token_f1(prediction, references) == pytest.approx(best)


@given(words, reference_lists)
def test_an_exact_match_has_full_f1_and_more_references_never_hurt(prediction, references):
    if normalise(prediction):
        assert exact_match(prediction, references) <= token_f1(prediction, references) <= 1.0
    assert token_f1(prediction, references) >= token_f1(prediction, references[:1])


@given(st.text())
def test_normalising_twice_changes_nothing_more(text):
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("The  United Nations", "united nations"),
        ("Chelsea's", "chelseas"),
        ("an apple, a pear", "apple pear"),
        ("Anthem of Theo", "anthem of theo"),
        ("The The", ""),
    ],
)
def test_it_normalises_as_squad_does(text, expected):
    assert normalise(text) == expected


def test_f1_is_the_best_over_the_references():
    assert token_f1("Kurt Zouma", ["Zouma", "Diego Costa"]) == pytest.approx(2 / 3)
    # As in ReCoRD's own script: no token is there to be shared.
    assert (exact_match("the The", ["The The"]), token_f1("the The", ["The The"])) == (1.0, 0.0)
    assert token_f1("Costa", ["Zouma"]) == 0.0


def test_the_macro_average_is_over_queries_in_percent():
    scores = macro({"1": "Kurt Zouma", "2": "Chelsea"}, {"1": ["Zouma"], "2": ["the Chelsea", "Arsenal"]})
    assert scores == Scores(em=50.0, f1=pytest.approx(100 * (2 / 3 + 1) / 2), n=2)


def test_a_missing_prediction_is_an_error_or_wrong_as_asked():
    references = {"1": ["A b"], "2": ["c"]}
    with pytest.raises(ValueError, match="1 queries have no prediction, such as '2'"):
        macro({"1": "b"}, references)
    assert macro({"1": "b"}, references, missing="wrong") == Scores(em=50.0, f1=50.0, n=2)


def test_it_refuses_unknown_queries_and_nothing_to_score():
    with pytest.raises(ValueError, match="unknown queries, such as '9'"):
        macro({"9": "b"}, {"1": ["b"]})
    with pytest.raises(ValueError, match="no query to score"):
        macro({}, {})
    with pytest.raises(ValueError, match="at least one reference"):
        exact_match("b", [])
    with pytest.raises(ValueError, match="at least one reference"):
        token_f1("b", [])
