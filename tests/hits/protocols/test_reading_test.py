"""Answering all questions about a text whose target sentences are left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hits.protocols.base import AnswerRefusedError
from hits.protocols.reading_test.protocol import protocol
from tests.hits.protocols.reviewed import DOCUMENT, HIDDEN_SENTENCE, TEST, choices, shown

SETTINGS = protocol.settings({})


def check(fields: dict[str, str], worker: str = "AONE", item: dict[str, Any] = TEST):
    return protocol.check(DOCUMENT, item, SETTINGS, fields, worker)


def faults(fields: dict[str, str], worker: str = "AONE") -> dict[str, str]:
    with pytest.raises(AnswerRefusedError) as refused:
        check(fields, worker)
    return dict(zip(refused.value.fields, refused.value.reasons, strict=True))


def test_each_question_is_compared_with_the_intended_answer_and_the_order_is_kept():
    labels = {label.unit: (label.value, label.correct) for label in check(choices("a0", "a1", "a0")).labels}
    assert labels["q1/choice"] == ("a0", True)
    assert labels["q2/choice"] == ("a1", False)
    orders, compared = labels["order"]
    assert compared is None
    assert {ident: " ".join(order) for ident, order in orders.items()} == {
        ident: shown("AONE", ident) for ident in ("q1", "q2", "q3")
    }


def test_without_an_intended_answer_nothing_is_compared():
    item = {**TEST, "questions": [{name: one[name] for name in ("id", "text", "answers")} for one in TEST["questions"]]}
    assert {label.correct for label in check(choices("a0", "a0", "a0"), item=item).labels} == {None}


def test_workers_see_other_orders_and_each_the_same_again():
    orders = {tuple(shown(f"A{number}", ident) for ident in ("q1", "q2", "q3")) for number in range(100)}
    assert len(orders) == 8
    pages = [protocol.page(DOCUMENT, TEST, SETTINGS, "AONE") for _ in range(2)]
    assert pages[0] == pages[1]
    assert [one["order"] for one in pages[0]["questions"]] == [shown("AONE", ident) for ident in ("q1", "q2", "q3")]


def test_neither_the_hidden_sentence_nor_the_intended_answer_is_in_the_page():
    page = json.dumps(protocol.page(DOCUMENT, TEST, SETTINGS, "AONE"))
    assert HIDDEN_SENTENCE not in page and "whisked" not in page
    assert "intended" not in page


def test_every_question_without_an_answer_is_named():
    found = faults(choices("a0"))
    assert list(found) == ["q2_choice", "q3_choice"]
    assert found["q2_choice"].startswith("Question 2 is not answered yet: “When did the butter hiss?”")


def test_what_no_page_sends_is_refused():
    assert "does not have" in faults(choices("a9", "a0", "a0"))["q1_choice"]
    theirs = next(worker for worker in ("ATWO", "ATHREE", "AFOUR") if shown(worker, "q1") != shown("AONE", "q1"))
    assert "in the order" in faults(choices("a0", "a0", "a0", q1_order=shown(theirs, "q1")))["q1_choice"]
    assert check(choices("a0", "a0", "a0", q1_order=shown("AONE", "q1")))
    with pytest.raises(AnswerRefusedError, match="no question about this text"):
        check({}, item={"hidden": [], "questions": []})


def said(*answers: tuple[str, bool]) -> dict[str, Any]:
    return {
        name: value
        for number, (answer, right) in enumerate(answers, start=1)
        for name, value in ((f"q{number}/choice", answer), (f"q{number}/choice.correct", right))
    }


def test_accuracy_is_measured_question_by_question():
    right, wrong = ("a0", True), ("a1", False)
    found = protocol.item_scores([(DOCUMENT, TEST, [said(right, wrong, right), said(right, wrong, wrong)])], {})
    assert found["accuracy"] == pytest.approx(100 * 3 / 6)
    assert found["majority"] == pytest.approx(100 / 3)
    assert (found["answers"], found["ties"], found["n"]) == (6, 1, 3)
    assert protocol.item_scores([], {}) == {}
