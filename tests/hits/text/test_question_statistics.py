"""Figures of labelled questions, counted by hand here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.figures.question_statistics import (
    LABELS,
    OTHER,
    TYPES,
    AskedQuestion,
    QuestionTally,
    question_type,
    together,
)

CAKE = "We baked a cake. It was good!"
WALK = "I walked the dog."
ASKED = [
    AskedQuestion("What did they bake?", "text", "a cake", "bread"),
    AskedQuestion("When was it eaten?", "script", "after baking it", "before"),
    AskedQuestion("What's on the cake?", "script", "icing", "a dog, perhaps"),
]
questions = some.builds(
    AskedQuestion,
    some.sampled_from([f"{word} is it?" for word in (*TYPES, "Whose", "?!")]),
    some.sampled_from(LABELS),
    some.just("yes"),
    some.just("no"),
)


@pytest.fixture
def tally() -> QuestionTally:
    found = QuestionTally()
    found.add(CAKE, ASKED)
    found.add(WALK, [AskedQuestion("In which park?", "text-or-script", "the park", "the zoo")])
    return found


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did they do?", "what"),
        ("WHEN?", "when"),
        ("\u201cWho\u2019s there?\u201d they asked", "who"),
        ("How long did it take?", "how"),
        ("whatever they did", OTHER),
        ("At what time did they leave?", OTHER),
        ("?!", OTHER),
    ],
)
def test_a_questions_type_is_its_first_word(question: str, kind: str) -> None:
    assert question_type(question) == kind


def test_the_figures_are_those_counted_by_hand(tally: QuestionTally) -> None:
    found = tally.figures()
    assert (found["questions"], found["texts"], found["questions_per_text"]) == (4, 2, 2.0)
    # Full stops, question marks, the exclamation mark and the comma are tokens.
    assert found["mean_tokens_text"] == (9 + 5) / 2
    assert found["mean_tokens_question"] == (5 + 5 + 5 + 4) / 4
    assert found["mean_tokens_answer"] == (2 + 1 + 3 + 1 + 1 + 4 + 2 + 2) / 8
    assert [found[f"questions_labelled_{label}"] for label in ("text", "script", "text_or_script")] == [1, 2, 1]
    assert [found[f"questions_with_{kind}"] for kind in ("what", "when", "why", "other")] == [2, 1, 0, 1]
    assert (found["script_share_of_what"], found["script_share_of_when"]) == (0.5, 1.0)
    assert found["text_or_script_share_of_other"] == 1.0


def test_without_a_question_there_is_no_mean() -> None:
    found = QuestionTally()
    assert (found.figures()["questions"], found.figures()["mean_tokens_answer"]) == (0, None)


@given(some.lists(some.lists(questions, max_size=6), max_size=6))
def test_every_question_has_one_type_and_one_label_and_parts_add_up(texts: list[list[AskedQuestion]]) -> None:
    parts, whole = [QuestionTally() for _ in texts], QuestionTally()
    for part, asked in zip(parts, texts, strict=True):
        part.add(CAKE, asked)
        whole.add(CAKE, asked)
    assert together(parts) == whole
    count = sum(map(len, texts))
    assert sum(whole.by_type().values()) == sum(whole.by_label().values()) == count
    assert all(sum(whole.shares(kind).values()) == pytest.approx(1) for kind in whole.by_type())


def test_a_label_of_another_rule_is_counted_under_its_own_word() -> None:
    found = QuestionTally()
    found.add(CAKE, [AskedQuestion("Why?", "<b>&own", "a", "b")])
    assert found.figures()["questions"] == found.figures()["questions_labelled_<b>&own"] == 1
