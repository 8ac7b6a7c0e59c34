from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.text.language.paragraphs import lexical_coherence, paragraph_of, paragraphs
from hits.text.language.sentences import sentences
from hits.text.language.words import words

NOUNS = ["kettle", "train", "garden", "sister", "ladder", "parcel"]


@dataclass
class Story:
    key: str
    text: str


def sentence(length, noun):
    return " ".join(["The", *[noun] * max(length - 2, 0), "stood"][:length]).capitalize() + "."


told = some.lists(some.tuples(some.integers(1, 45), some.sampled_from(NOUNS)), min_size=1, max_size=40)
stories = told.map(lambda lengths: " ".join(sentence(*one) for one in lengths))


@given(stories, some.integers(0, 99))
@settings(max_examples=40)
def test_a_paragraph_is_a_verbatim_run_of_whole_sentences_of_fitting_length(text, seed):
    if len(words(text)) < 30:
        assert paragraph_of(Story("s", text), seed=seed) is None
        return
    chosen = paragraph_of(Story("s", text), seed=seed)
    assert text[chosen.start : chosen.end] == chosen.text
    assert 30 <= chosen.words == len(words(chosen.text)) <= 150
    inside = [one for one in sentences(text) if one.start < chosen.end and one.end > chosen.start]
    assert (inside[0].start, inside[-1].end, len(inside)) == (chosen.start, chosen.end, chosen.sentences)
    assert chosen == paragraph_of(Story("s", text), seed=seed)
    assert chosen in paragraphs(text)


@given(stories)
@settings(max_examples=20)
def test_pieces_lie_in_order_and_leave_out_less_than_a_paragraph_at_a_place(text):
    found = paragraphs(text)
    ends = [0, *(one.end for one in found)]
    starts = [*(one.start for one in found), len(text)]
    assert all(len(words(text[a:b])) < 2 * 30 for a, b in zip(ends, starts, strict=True) if found)


def test_it_cuts_where_the_scorer_says_that_sentences_fit_least():
    text = " ".join(sentence(20, noun) for noun in ["kettle"] * 3 + ["train"] * 5)
    assert [one.sentences for one in paragraphs(text)] == [3, 5]
    asked = []

    def scorer(first, second):
        asked.append((first, second))
        return -1.0 if len(asked) == 5 else 0.0

    assert [one.sentences for one in paragraphs(text, scorer=scorer)] == [5, 3]
    whole = [one.text for one in sentences(text)]
    assert asked == list(zip(whole, whole[1:], strict=False))


def test_every_piece_of_a_story_has_its_chance_and_the_order_of_stories_none():
    text = " ".join(sentence(25, noun) for noun in NOUNS * 2)
    batch = [Story(f"story {at}", text) for at in range(24)]
    forward = {one.key: paragraph_of(one, seed=7) for one in batch}
    assert forward == {one.key: paragraph_of(one, seed=7) for one in reversed(batch)}
    assert set(forward.values()) == set(paragraphs(text))
    assert forward != {one.key: paragraph_of(one, seed=8) for one in batch}


def test_a_sentence_too_long_for_any_paragraph_stays_outside():
    around = " ".join([sentence(40, "garden"), sentence(151, "train"), sentence(40, "ladder")])
    assert [one.text for one in paragraphs(around)] == [sentence(40, "garden"), sentence(40, "ladder")]
    assert paragraph_of(Story("s", sentence(151, "train")), seed=1) is None


def test_shared_stems_connectives_pronouns_and_answers_count_as_coherent():
    bare = lexical_coherence("My sister baked bread.", "Trains run at night.")
    assert bare == 0.0
    assert lexical_coherence("My sister bakes.", "Baking bread helps.") == pytest.approx(2 / 5)
    for second in ("But trains run at night.", "They run at night.", "Trains ran past it."):
        assert lexical_coherence("My sister baked bread.", second) > bare
    assert lexical_coherence("Who baked bread?", "Trains run at night.") > bare


def test_lengths_that_could_leave_a_long_text_without_a_paragraph_are_refused():
    for low, high in ((0, 10), (30, 59)):
        with pytest.raises(ValueError, match="high at least twice as much"):
            paragraphs("We left.", low=low, high=high)
