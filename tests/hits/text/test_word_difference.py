"""Word-level differences."""

from hypothesis import given
from hypothesis import strategies as some

from hits.text.originality.word_difference import Run, difference

TEXTS = some.lists(
    some.sampled_from(["a ", "whisk", "fork", " ", "’s", ".", "\n", "é", "🥞", "the "]), max_size=12
).map("".join)


def test_one_changed_word_is_one_run_each_way():
    assert difference("They used a whisk.", "They used a fork.") == [
        Run("same", "They used a "),
        Run("gone", "whisk"),
        Run("new", "fork"),
        Run("same", "."),
    ]


def test_a_changed_phrase_is_one_run_and_not_one_a_word():
    assert difference("in the big pan", "in a small pan") == [
        Run("same", "in "),
        Run("gone", "the big "),
        Run("new", "a small "),
        Run("same", "pan"),
    ]


def test_the_same_text_and_no_text():
    assert difference("a whisk", "a whisk") == [Run("same", "a whisk")]
    assert difference("a whisk", "") == [Run("gone", "a whisk")]
    assert difference("", "") == []


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_from_the_runs(before, after):
    runs = difference(before, after)
    assert "".join(run.text for run in runs if run.kind != "new") == before
    assert "".join(run.text for run in runs if run.kind != "gone") == after
