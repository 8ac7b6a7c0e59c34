"""The XML of a test, read by the marketplace's own parsers and graded by its own rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.mturk.qualification_test import Question, answer_key, question_form
from marketplace.rules.answer_key import check_fits, grade, parse_answer_key
from marketplace.rules.questions.form_answers import read_form
from marketplace.rules.questions.form_parser import parse_form

texts = st.text("ab<>&\"'é]–😀 ", min_size=1, max_size=8).map(lambda text: f"x{text}x")
asked = st.builds(
    lambda text, question, choices, right: Question(text, question, choices, right % len(choices)),
    st.one_of(st.just(""), texts),
    texts,
    st.lists(texts, min_size=2, max_size=4),
    st.integers(0, 3),
)


@settings(max_examples=20, deadline=None)
@given(texts, st.lists(asked, min_size=1, max_size=6), st.data())
def test_the_marketplace_shows_the_texts_and_grades_the_share_of_right_answers(
    title: str, questions: list[Question], data: Any
) -> None:
    form = parse_form(question_form(title, [title, "<b>&amp;</b>"], questions), "Test")
    key = parse_answer_key(answer_key(questions))
    check_fits(key, form)
    assert [block.text for block in form.parts[0].content] == [title, title, "<b>&amp;</b>"]
    for question, shown in zip(questions, form.questions, strict=True):
        assert [block.text for block in shown.content] == [part for part in (question.text, question.question) if part]
        assert [choice.content.text for choice in shown.answer.choices] == list(question.choices)  # type: ignore[union-attr]
        assert shown.required and shown.answer.most == 1  # type: ignore[union-attr]
    picked = [data.draw(st.integers(0, len(question.choices) - 1)) for question in questions]
    given = {shown.identifier: [f"c{pick}"] for shown, pick in zip(form.questions, picked, strict=True)}
    right = sum(pick == question.right for pick, question in zip(picked, questions, strict=True))
    assert abs(grade(key, read_form(form, given)) - 100 * right / len(questions)) <= 0.5


def test_a_passage_keeps_its_paragraphs() -> None:
    form = parse_form(question_form("T", [], [Question("One.\n\nTwo.", "Who?", ["a", "b"], 0)]), "Test")
    assert [block.text for block in form.questions[0].content] == ["One.", "Two.", "Who?"]


def test_what_is_too_long_or_no_text_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="at most 65,535"):
        question_form("T", [], [Question("<" * 17_000, "Who?", ["a", "b"], 0)])
    with pytest.raises(ValueError, match="control characters"):
        question_form("T\x00", [], [Question("", "Who?", ["a", "b"], 0)])
