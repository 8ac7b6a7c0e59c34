"""Simulated people answering questions about a story with gaps, at the page that the product really renders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hits.crowd.key import AnswerKey, Written
from hits.crowd.people import Person
from hits.protocols.answer_writing.protocol import protocol
from tests.hits import factories
from tests.hits.crowd.pages import filled_in
from tests.hits.protocols.answers import ASKED, DOCUMENT, FULL

SURE = Person("anna", "careful", 7, 1.0, 30.0, 0.0)
TRUE = ("text", "script", "unfitting", "unknown")
KEY = AnswerKey(
    written={
        "Last Sunday the three of us made pancakes for breakfast.": [
            *(
                Written(text, "", (f"right {n}",), (f"RIGHT {n}", f"wrong {n}"), kinds=(TRUE[n % 4],))
                for n, text in enumerate(ASKED)
            ),
            Written("Where did the flour come from?", "", ("A shop.",), ("A tree.",)),
        ]
    }
)
Said = dict[str, Any]


@pytest.fixture
def go(db: None) -> Callable[..., Said]:
    """Let a person answer all twelve questions; the page takes what comes of it."""
    stage = factories.stage(protocol="answer_writing", settings=protocol.settings({}))
    row = factories.item(stage, document=factories.document(stage.project, data=DOCUMENT), data=FULL)
    hit = factories.hit(row)

    def go(person: Person = SURE, key: AnswerKey = KEY) -> Said:
        fields = filled_in(hit, f"3A{person.name}", f"A{person.name}".upper(), person, key)
        assert fields is not None
        return {label.unit: label.value for label in protocol.check(DOCUMENT, FULL, stage.settings, fields).labels}

    return go


def given(said: Said) -> list[str]:
    return [said[f"q{number}/label"] for number in range(1, 13)]


def test_a_careful_person_says_what_the_key_says(go: Callable[..., Said]) -> None:
    said = go()
    assert given(said) == [TRUE[n % 4] for n in range(12)]
    assert (said["q2/correct"], said["q2/incorrect"]) == ({"text": "right 1"}, {"text": "wrong 1"})
    questions = [said[f"q{number}/alternative"]["text"] for number in (3, 4, 7, 8, 11, 12)]
    assert len(set(questions)) == 6


def test_who_errs_or_does_not_look_gives_other_labels(go: Callable[..., Said]) -> None:
    def right(**changes: Any) -> int:
        return sum(one == TRUE[n % 4] for n, one in enumerate(given(go(replace(SURE, **changes)))))

    assert 0 < right(name="otto", accuracy=0.5) < 12
    assert right(name="carl", kind="careless") < 9
    assert "right 0" not in str(go(replace(SURE, name="carl", kind="careless")))


def test_those_who_look_agree_on_questions_that_no_key_holds(go: Callable[..., Said]) -> None:
    one, other = (go(replace(SURE, name=name), AnswerKey()) for name in ("anna", "otto"))
    assert given(one) == given(other)
    assert len(Counter(given(one))) > 1
    pairs = [(one[unit], other[unit]) for unit in one if unit.endswith("/correct")]
    assert pairs and all(mine == theirs for mine, theirs in pairs)
