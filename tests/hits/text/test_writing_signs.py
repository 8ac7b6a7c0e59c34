"""Sentences about how a text came about, and what is unusual enough to be read first."""

import numpy as np
import pytest

from hits.text.originality import writing_signs as signs
from hits.text.originality.stock_phrases import Rates
from hits.text.originality.typing_counts import Counts
from hits.text.originality.writing_signs import Facts, Near, Others, Written, of_answer, of_worker, quantiles

PASTED = Counts(typed=19, pasted=221, pastes=1, seconds=4)


def told(facts, others=Others()):  # noqa: B008
    return {one.kind: (one.text, one.is_sign) for one in of_answer(facts, others)}


def test_a_pasted_text_is_told_with_its_share_and_where_the_others_stand():
    others = Others(pasted=quantiles([0.0] * 97 + [0.95, 1.0, 1.0]))
    facts = Facts(240, seconds=60, counts=PASTED)
    assert told(facts, others)["pasted"] == (
        "92 % of 240 characters were pasted, at once, more than in 97 % of the answers here.",
        True,
    )
    assert told(Facts(240, 60, Counts(typed=19, pasted=221, pastes=3)))["pasted"][0].endswith("pasted, in 3 pastes.")
    assert signs.signs(facts) == 1


def test_who_pastes_little_or_quotes_the_item_has_no_sign():
    assert signs.signs(Facts(60, 60, Counts(typed=0, pasted=60, pastes=1))) == 0
    assert signs.signs(Facts(240, 60, Counts(typed=200, pasted=40, pastes=1))) == 0
    quoted = Facts(240, 60, PASTED, copied=0.8)
    assert signs.signs(quoted) == 0
    assert told(quoted)["copied_from_item"] == (
        "80 % of its passages stand in the item's own text. An answer may well quote it.",
        False,
    )


def test_an_honest_fast_typist_has_no_sign():
    """120 words a minute are ten characters a second."""
    facts = Facts(1200, seconds=150, counts=Counts(typed=1260, deletions=60, pauses=4, seconds=126))
    others = Others(speed=quantiles([3.0, 4.0, 5.0, 6.0]), pasted=quantiles([0.0, 0.0]))
    assert told(facts, others) == {
        "pasted": ("None of 1,260 characters was pasted.", False),
        "typing_speed": (
            "Typed 10.0 characters a second, pauses left out, faster than 100 % of the answers here.",
            False,
        ),
    }


def test_who_dictates_has_no_sign_and_is_told_as_that():
    facts = Facts(600, seconds=90, counts=Counts(typed=12, deletions=3, pauses=5, seconds=6))
    assert signs.signs(facts) == 0
    sentence, is_sign = told(facts)["other_input"]
    assert not is_sign and "dictates" in sentence and "input method" in sentence and "earlier visit" in sentence


def test_a_page_that_counted_nothing_is_no_sign():
    assert told(Facts(600, 90)) == {
        "no_counts": (
            "The page counted nothing: scripts were off, or it was opened before counting was switched on.",
            False,
        )
    }


@pytest.mark.parametrize(
    "facts",
    [
        Facts(5000, 3, Counts(typed=5000, seconds=3)),
        Facts(300, 60, Counts(typed=100, pasted=200, pastes=0)),
        Facts(300, 60, None, is_readable=False),
    ],
)
def test_impossible_counts_are_evidence_and_are_not_used(facts):
    assert signs.signs(facts) == 1
    assert set(told(facts)) == {"wrong_counts"} and (facts.pasted, facts.speed) == (None, None)


def test_faster_than_any_person_is_a_sign():
    facts = Facts(1000, 60, Counts(typed=1000, seconds=40))
    assert signs.signs(facts) == 1
    assert told(facts)["typing_speed"][0].endswith("The fastest typists reach 17.")


def test_shared_wording_is_a_sign_of_the_later_text_alone():
    own = Facts(240, 60, Counts(typed=240, seconds=50))
    assert told(Facts(**{**vars(own), "near": Near(0.64, "ACOPIED", is_earlier=True)}))["near_duplicate"] == (
        "Shares about 64 % of its wording with an earlier answer of ACOPIED.",
        True,
    )
    assert told(Facts(**{**vars(own), "near": Near(0.64, "ACOPIER", is_earlier=False)}))["near_duplicate"][1] is False


def test_where_others_stand_is_what_counting_them_gives():
    draw = np.random.default_rng(2)
    values = draw.random(5000)
    among = quantiles(values)
    assert len(among) == signs.QUANTILES and quantiles([None, 1.0]) == []
    for value in (0.0, 0.1, 0.5, 0.93):
        assert signs.below(value, among) == pytest.approx((values < value).mean(), abs=0.02)


def written(**more):
    return Written(**{"answers": 12, "counted": 12, "pasted": 0, "near": 0, "rates": Rates(2, 1000), **more})


def test_a_worker_is_told_by_pastes_copies_and_phrases_beside_the_others():
    everybody = Rates(80, 20_000)
    own = written(pasted=10, near=4, rates=Rates(40, 1000), phrases=["furthermore", "overall", "thus"])
    found = {one.kind: one for one in of_worker(own, Others(rates=everybody))}
    assert found["pasted"].is_sign and "10 of 12 answers" in found["pasted"].text
    assert found["near_duplicate"].is_sign and "4 of 12 answers" in found["near_duplicate"].text
    phrases = found["stock_phrases"]
    assert not phrases.is_sign, "a way of writing proves nothing"
    assert "“furthermore” and “overall” 40.0 times in 1,000 words; the others 2.1 times" in phrases.text
    assert of_worker(written(rates=Rates(5, 1000)), Others(rates=everybody)) == []


def test_sentences_of_one_length_are_told_where_few_workers_write_so():
    spread = [0.3 + at / 100 for at in range(60)]
    others = Others(evenness=quantiles([0.05, *spread]))
    # Thirty sentences of 12 words but for two of 13.
    even = written(sentences=30, length_sum=28 * 12 + 2 * 13, length_squares=28 * 144 + 2 * 169)
    lengths = np.array([12] * 28 + [13] * 2)
    assert even.evenness == pytest.approx(lengths.std() / lengths.mean())
    [one] = of_worker(even, others)
    assert one.kind == "even_sentences" and not one.is_sign and "12.1 words on average" in one.text
    uneven = written(sentences=30, length_sum=360, length_squares=30 * 144 + 30 * 36)
    assert of_worker(uneven, others) == []
    assert written(sentences=3, length_sum=36, length_squares=432).evenness is None
