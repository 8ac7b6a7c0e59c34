"""A text without some of its sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.text.language.sentences import sentences
from hits.text.questions.hiding import merged, pieces, visible

TEXT = "We filled the kettle. It was heavy.\n\nThe water boiled. We poured the tea."


def spans(*texts: str, within: str = TEXT) -> list[list[int]]:
    return [[within.index(text), within.index(text) + len(text)] for text in texts]


@pytest.mark.parametrize(
    ("hidden", "left"),
    [
        ([], TEXT),
        (["We filled the kettle."], "It was heavy.\n\nThe water boiled. We poured the tea."),
        (["It was heavy."], "We filled the kettle.\n\nThe water boiled. We poured the tea."),
        (["The water boiled."], "We filled the kettle. It was heavy.\n\nWe poured the tea."),
        (["The water boiled.", "It was heavy."], "We filled the kettle.\n\nWe poured the tea."),
        (["We poured the tea."], "We filled the kettle. It was heavy.\n\nThe water boiled."),
        ([TEXT], ""),
    ],
)
def test_a_sentence_goes_and_the_paragraphs_stay(hidden, left):
    assert visible(TEXT, spans(*hidden)) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("One.  [Two.]  Three.", "One. Three."),
        ("One.[Two.]Three.", "One. Three."),
        ("One. [Two.][Three.] Four.", "One. Four."),
        ("One.\n[Two.]\nThree.", "One.\nThree."),
        ("One.\r\n \r\n[Two.] Three.", "One.\n\nThree."),
        ("One. [Two\n\nand more.] Three.", "One. Three."),
        (" [One.]\n\nTwo  and  a  half.\n", "Two  and  a  half."),
    ],
)
def test_what_is_left_is_joined_by_one_space_or_by_the_break_that_was_there(text, left):
    plain = text.replace("[", "").replace("]", "")
    marks = [at for at, sign in enumerate(text) if sign in "[]"]
    places = [mark - before for before, mark in enumerate(marks)]
    assert visible(plain, list(zip(places[::2], places[1::2], strict=True))) == left


def test_spans_may_overlap_touch_stand_in_any_order_and_reach_too_far():
    assert merged([[5, 9], [0, 2], [8, 12], [2, 3], [4, 4], [18, 99], [-4, 1], [30, 40]], 20) == [
        (0, 3),
        (5, 12),
        (18, 20),
    ]


some_texts = some.text(alphabet="ab.é😀 \n\t\r\u00a0\u2029", max_size=40)
some_spans = some.lists(some.tuples(some.integers(-3, 45), some.integers(-3, 45)), max_size=6)


@settings(max_examples=200)
@given(some_texts, some_spans)
def test_no_hidden_character_is_left_and_the_others_stay_in_order(text, hidden):
    shown = [sign for at, sign in enumerate(text) if not any(start <= at < end for start, end in hidden)]
    found = visible(text, hidden)
    assert "".join(found.split()) == "".join("".join(shown).split())
    assert found == found.strip()
    assert visible(text, hidden[::-1]) == found
    assert "".join(piece.text for piece in pieces(text, hidden)) == text


@settings(max_examples=60)
@given(some.lists(some.sampled_from(["We ate it.", "Tea was made!", "Why not?"]), min_size=1, max_size=8), some.data())
def test_hiding_whole_sentences_leaves_the_other_sentences(told, data):
    text = data.draw(some.sampled_from([" ", "\n\n", "  "])).join(told)
    found = sentences(text)
    hidden = data.draw(some.sets(some.sampled_from(range(len(found)))))
    left = visible(text, [[found[at].start, found[at].end] for at in hidden])
    assert [one.text for one in sentences(left)] == [one.text for at, one in enumerate(found) if at not in hidden]
