"""Correcting the sentences and phrases that are asked about: what is refused, and what the other part does."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.protocols.base import AnswerRefusedError
from hits.protocols.optional import MarkedProtocol, MarkedSentence
from hits.protocols.phrase_questions.correcting import about
from hits.protocols.phrase_questions.protocol import protocol
from tests.hits.protocols.phrases import DOCUMENT, FIRST, NP, SECOND, VP, item

TEXT = DOCUMENT["text"]
NP_MARKED = protocol.marked(NP)


def sentence(words: str, *phrases: str) -> MarkedSentence:
    start = TEXT.index(words)
    found = tuple((at := TEXT.index(one, start), at + len(one)) for one in phrases)
    return MarkedSentence(start, start + len(words), found)


def test_it_is_correctable_and_an_unchanged_item_stays_as_it_is() -> None:
    assert isinstance(protocol, MarkedProtocol)
    for one in (NP, VP):
        assert protocol.correct(DOCUMENT, one, protocol.marked(one)) == one
    assert (about(NP), about(VP)) == ("people, things and places", "what happens")


def test_phrases_are_numbered_anew_in_the_order_of_the_text() -> None:
    wanted = [sentence(SECOND, "the loaf"), sentence(FIRST, "warm water", "the flour into a bowl")]
    found = protocol.correct(DOCUMENT, NP, wanted)
    said = [(one["id"], TEXT[one["start"] : one["end"]]) for target in found["targets"] for one in target["phrases"]]
    assert said == [("p1", "the flour into a bowl"), ("p2", "warm water"), ("p3", "the loaf")]
    assert found["part"] == "np"


@pytest.mark.parametrize(
    ("wanted", "places", "said"),
    [
        ([], ("",), "Nothing would be left"),
        ([sentence(FIRST), sentence(SECOND)], ("",), "Nothing would be left"),
        (
            [sentence(FIRST, "the flour", "flour into a bowl")],
            ("0.1",),
            "“flour into a bowl” and “the flour” have words",
        ),
        ([sentence(FIRST, "the flour", "the flour")], ("0.1",), "words in common"),
        ([sentence(FIRST, "the loaf")], ("0.0",), "words of its sentence"),
        ([MarkedSentence(0, 20, ((4, 5),))], ("0.0",), "one or more words"),
        ([MarkedSentence(0, 20, ((9, 2),))], ("0.0",), "the other way round"),
        ([MarkedSentence(0, 9_000, ((0, 4),))], ("0",), "no sentence from 0 to 9,000"),
        ([MarkedSentence(-1, 4, ((0, 4),))], ("0",), "no sentence"),
        ([sentence(SECOND, "the loaf"), sentence("the loaf into", "loaf")], ("1",), "Two sentences overlap"),
    ],
)
def test_what_cannot_be_asked_about_is_refused_with_its_place(
    wanted: list[MarkedSentence], places: tuple[str, ...], said: str
) -> None:
    with pytest.raises(AnswerRefusedError, match=said) as refusal:
        protocol.correct(DOCUMENT, NP, wanted)
    assert refusal.value.fields == places


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(AnswerRefusedError) as refusal:
        protocol.correct(DOCUMENT, NP, [sentence(FIRST, "the loaf"), sentence(SECOND, "the loaf", "loaf")])
    assert refusal.value.fields == ("0.0", "1.1")


def test_the_other_part_takes_up_sentences_and_keeps_its_phrases() -> None:
    after = protocol.correct(DOCUMENT, NP, [NP_MARKED[1], sentence("It smelled wonderful.")])
    found = protocol.follow(VP, NP, after)
    assert [TEXT[one["start"] : one["end"]] for one in found["targets"]] == [SECOND, "It smelled wonderful."]
    assert [len(one["phrases"]) for one in found["targets"]] == [1, 0]
    assert protocol.follow(found, after, after) == found, "only phrases of the first part changed"
    assert protocol.follow(found, NP, after) == found, "what is there already comes only once"


def test_the_other_part_is_never_left_without_a_phrase() -> None:
    alone = item("vp", [(FIRST, ["put the flour into a bowl"]), (SECOND, [])])
    with pytest.raises(AnswerRefusedError, match="about what happens would have nothing left"):
        protocol.follow(alone, NP, protocol.correct(DOCUMENT, NP, NP_MARKED[1:]))


def test_a_text_that_crosses_four_sentences_is_told_to_stay() -> None:
    four = {"targets": [{"start": n, "end": n + 1, "phrases": []} for n in range(4)]}
    three = {"targets": four["targets"][:3]}
    assert "came with 4 target sentences and now has 3. It stays" in protocol.correction_note(four, three)
    assert "with 3 target sentences and now has 4" in protocol.correction_note(three, four)
    assert protocol.correction_note(three, NP) == "" == protocol.correction_note(four, four)


spans = st.tuples(st.integers(-2, 90), st.integers(-2, 90))


@given(
    st.lists(
        st.builds(MarkedSentence, st.integers(-2, 90), st.integers(-2, 90), st.lists(spans, max_size=3).map(tuple))
    )
)
def test_whatever_is_wanted_is_refused_or_stands_in_order_without_overlap(wanted: list[MarkedSentence]) -> None:
    try:
        found = protocol.correct(DOCUMENT, NP, wanted)
    except AnswerRefusedError as refusal:
        assert len(refusal.fields) == len(refusal.reasons)
        return
    phrases = [one for target in found["targets"] for one in target["phrases"]]
    assert [one["id"] for one in phrases] == [f"p{n}" for n in range(1, len(phrases) + 1)]
    for rows in (phrases, found["targets"]):
        assert all(earlier["end"] <= later["start"] for earlier, later in pairwise(rows))
    assert protocol.marked(found) == tuple(
        sorted(MarkedSentence(w.start, w.end, tuple(sorted(w.phrases))) for w in wanted)
    )
