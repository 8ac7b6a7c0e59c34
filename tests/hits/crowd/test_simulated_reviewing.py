"""Simulated experts and simulated readers at the pages that the product really renders."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from hits.crowd.key import AnswerKey, Written
from hits.crowd.people import Person
from hits.models import Hit
from hits.protocols import get
from tests.hits import factories as make
from tests.hits.crowd.pages import filled_in
from tests.hits.protocols.reviewed import DOCUMENT, ITEM, TEST, TEXT

pytestmark = pytest.mark.django_db
SURE = Person("anna", "careful", 7, 1.0, 30.0, 0.0)
KNOWN = Written("What did they mix the eggs with?", "", ("a fork",), ("a whisk", "a spade"), kinds=("script",))
KEY = AnswerKey(written={"Yesterday I wanted pancakes": [KNOWN]}, stories={"making pancakes": [TEXT]})
EMPTY = AnswerKey()


def published(protocol: str, item: dict[str, Any]) -> Hit:
    stage = make.stage(protocol=protocol, settings=get(protocol).settings({}))
    return make.hit(make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=item))


def said(protocol: str, item: dict[str, Any], person: Person = SURE, key: AnswerKey = KEY) -> dict[str, Any]:
    """The labels of what the person sends, by unit."""
    fields = filled_in(published(protocol, item), "3A", "AANNA", person, key)
    assert fields is not None
    checked = get(protocol).check(DOCUMENT, item, get(protocol).settings({}), fields, "AANNA")
    return {label.unit: label.value for label in checked.labels}


def with_questions(**changes: dict[str, Any]) -> dict[str, Any]:
    """The item with other values in its questions, by their ids."""
    item = deepcopy(ITEM)
    for one in item["questions"]:
        one |= changes.get(one["id"], {})
    return item


def test_an_expert_exchanges_what_the_key_knows_to_be_wrong() -> None:
    labels = said("expert_review", ITEM)
    assert labels["text"]["action"] == "keep"
    assert labels["q1"]["after"] == {"text": KNOWN.question, "correct": "a fork", "incorrect": "the pan"}
    assert "q2" not in labels


def test_an_expert_deletes_what_is_no_question_and_what_is_asked_twice() -> None:
    labels = said("expert_review", with_questions(q2={"text": "butter and things"}), key=EMPTY)
    assert labels["q2"]["reason"] == "nonsensical"
    twice = with_questions(q3={"text": "What did they mix the eggs with ?"})
    assert said("expert_review", twice, key=EMPTY)["q3"]["duplicate_of"] == "q1"


def test_an_expert_exchanges_an_answer_that_says_nothing_of_the_story() -> None:
    item = with_questions(
        q3={"correct": "asdf", "candidates": {"correct": ["asdf", "their arms hurt"], "incorrect": []}}
    )
    assert said("expert_review", item, key=EMPTY)["q3"]["after"]["correct"] == "their arms hurt"


def test_an_expert_throws_out_a_story_that_nobody_told() -> None:
    other = AnswerKey(stories={"making pancakes": ["Another story."]})
    assert said("expert_review", ITEM, key=other) == {"text": {"action": "delete", "reason": "incoherent", "words": ""}}


def test_a_careless_one_leaves_everything_and_mends_only_what_no_page_takes() -> None:
    careless = replace(SURE, kind="careless")
    assert set(said("expert_review", ITEM, careless)) == {"text"}
    item = with_questions(
        q1={"incorrect": ""},
        q2={"incorrect": "", "candidates": {"correct": [], "incorrect": []}},
        q3={"correct": "their arms."},
    )
    labels = said("expert_review", item, careless)
    assert labels["q1"]["after"]["incorrect"] == "the pan"
    assert (labels["q2"]["reason"], labels["q3"]["reason"]) == ("other", "other")


def test_a_text_whose_questions_all_go_is_confirmed() -> None:
    item = with_questions(**{f"q{number}": {"text": "no question"} for number in (1, 2, 3)})
    assert len(said("expert_review", item)) == 4


def accuracy(person: Person, key: AnswerKey = KEY) -> dict[str, bool]:
    fields = filled_in(published("reading_test", TEST), "3A", "AANNA", person, key)
    assert fields is not None
    labels = get("reading_test").check(DOCUMENT, TEST, get("reading_test").settings({}), fields, "AANNA").labels
    return {label.unit: bool(label.correct) for label in labels if label.unit.endswith("/choice")}


def test_a_reader_who_knows_chooses_what_the_key_has() -> None:
    right = AnswerKey(written={"Yesterday I wanted pancakes": [replace(KNOWN, correct=("A whisk.",), incorrect=())]})
    assert accuracy(SURE, right)["q1/choice"] is True
    assert accuracy(replace(SURE, accuracy=0.0), right)["q1/choice"] is False


def test_readers_who_know_agree_on_what_no_key_has_and_blind_ones_do_not() -> None:
    readers = [replace(SURE, name=f"reader-{number}") for number in range(4)]
    assert len({str(accuracy(reader, EMPTY)) for reader in readers}) == 1
    assert len({str(accuracy(replace(reader, kind="random"), EMPTY)) for reader in readers}) > 1
