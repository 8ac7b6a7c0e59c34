"""Simulated people asking about phrases, at the page that the product really renders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.protocols.phrase_questions.protocol import protocol
from tests.hits import factories
from tests.hits.crowd.pages import filled_in
from tests.hits.protocols.phrases import DOCUMENT, NP, VP, item

SURE = Person("anna", "careful", 7, 1.0, 30.0, 0.0)
Said = list[str]


@pytest.fixture
def ask(db: None) -> Callable[..., Said]:
    """Let a person ask about an item; the page takes what comes of it."""

    def go(data: dict[str, Any], person: Person = SURE, document: dict[str, Any] = DOCUMENT) -> Said:
        stage = factories.stage(protocol="phrase_questions", settings=protocol.settings({}))
        row = factories.item(stage, document=factories.document(stage.project, data=document), data=data)
        fields = filled_in(factories.hit(row), "3A", "AANNA", person, AnswerKey())
        assert fields is not None
        labels = protocol.check(document, data, stage.settings, fields, "AANNA").labels
        return [label.value["question"] for label in labels if label.unit.startswith("p")]

    return go


def test_a_careful_person_asks_for_each_phrase_with_the_rest_of_its_sentence(ask: Callable[..., Said]) -> None:
    said = [text.replace(", then,", "") for text in ask(NP)]
    assert said == [
        "What was it that first they put into a bowl next to a bowl of warm water?",
        "What was it that first they put the flour into next to a bowl of warm water?",
        "What was it that first they put the flour into a bowl next to of warm water?",
        "What was it that first they put the flour into a bowl next to a bowl of?",
        "What was it that after an hour they put into the oven?",
        "Where was it that after an hour they put the loaf?",
    ]


def test_what_happens_is_asked_for_by_time_and_differently_by_two_people(ask: Callable[..., Said]) -> None:
    first, second = (ask(VP, replace(SURE, name=name)) for name in ("anna", "otto"))
    for questions in (first, second):
        assert "they put the flour into a bowl?" in questions[0]
        assert all(text.split()[0] in ("When", "What", "How") for text in questions)
    assert first != second


def test_a_phrase_that_stands_twice_and_tells_of_oneself_is_asked_about_twice(ask: Callable[..., Said]) -> None:
    text = "I’d mixed it and I was tired, I’d mixed it again, because my own spoon broke."
    document = {"text": text, "scenario": "baking a cake"}
    assert len(set(ask(item("np", [(text, ["mixed it", "mixed it"])], text), document=document))) == 2
    (said,) = ask(item("np", [(text, ["my own spoon"])], text), document=document)
    assert "they had mixed it and they were tired, they had mixed it again" in said


def test_a_careless_one_is_refused_with_yes_or_no_and_then_types_anything(ask: Callable[..., Said]) -> None:
    said = ask(NP, replace(SURE, kind="careless"))
    assert len(set(said)) == 6
    assert not any(text.startswith("Did") or text.endswith("?") for text in said)
