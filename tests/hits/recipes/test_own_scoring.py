"""Predictions for releases of one's own labels and marked texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hits.formats.files.faults import FormatErrors
from hits.recipes.choice.scoring import SCORING as CHOICE
from hits.recipes.spans.scoring import SCORING as SPANS
from tests.hits.recipes.scored import scored

VOTES = {"yes": 1, "no": 1}
ITEMS = [
    {"id": "a", "text": "One.", "question": "Which?", "majority": ["yes"], "votes": VOTES},
    {"id": "b", "text": "Two.", "question": "Which?", "majority": ["no"], "votes": VOTES},
    {"id": "tie", "text": "Three.", "question": "Which?", "majority": [], "votes": VOTES},
]
TEXTS = [
    {"id": "t", "text": "Ada met Bo.", "spans": [{"start": 0, "end": 3, "label": "who"}]},
    {"id": "u", "text": "Nobody.", "spans": []},
]


def content(rows: list[dict[str, Any]]) -> Any:
    return lambda name: "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_labels_are_scored_where_most_workers_agree() -> None:
    said = {"a": "yes", "b": "yes"}
    assert scored(CHOICE, content(ITEMS), json.dumps(said).encode(), "said.json") == {"accuracy": 0.5, "n": 2}
    with pytest.raises(FormatErrors) as refused:
        scored(CHOICE, content(ITEMS), b'{"a": "yes", "c": "no"}', "said.json")
    assert [fault.message for fault in refused.value.errors] == ["has no answer", "is the id of no item of this file"]


@pytest.mark.parametrize("answers", [{"a": "yes", "b": "c1"}, {"a": "c1", "b": "yes", "tie": "no"}])
def test_a_choice_is_named_by_its_text_or_its_number_and_a_tied_item_is_not_scored(answers: Any) -> None:
    assert scored(CHOICE, content(ITEMS), json.dumps(answers).encode(), "said.json") == {"accuracy": 0.5, "n": 2}


@pytest.mark.parametrize("answer", ["Yes", "c3", 1, ["yes"], None])
def test_what_is_no_choice_of_the_item_is_refused_with_the_choices(answer: Any) -> None:
    with pytest.raises(FormatErrors) as refused:
        scored(CHOICE, content(ITEMS), json.dumps({"a": answer, "b": "no"}).encode(), "said.json")
    assert [fault.message for fault in refused.value.errors] == [f"must be one of yes, no, not {answer!r}"]


def test_spans_count_where_bounds_and_label_are_the_same() -> None:
    """One right of two that are said, one that is marked: 2 * 1 / (2 + 1)."""
    right, wrong = {"start": 0, "end": 3, "label": "who"}, {"start": 8, "end": 10, "label": "what"}
    said = {"t": [right, wrong], "u": []}
    found = scored(SPANS, content(TEXTS), json.dumps(said).encode(), "said.json")
    assert found["f1"] == pytest.approx(2 / 3) and found["n"] == 2


@pytest.mark.parametrize("said", [3, "x", {"start": 0}, [3], [{"start": "x", "end": 1, "label": "who"}], [{}]])
def test_spans_that_are_none_are_refused_by_the_id_of_their_text(said: Any) -> None:
    with pytest.raises(FormatErrors) as refused:
        scored(SPANS, content(TEXTS), json.dumps({"t": said, "u": []}).encode(), "said.json")
    assert [str(fault) for fault in refused.value.errors] == [
        "'t': its spans must be a list of objects with start, end and label"
    ]
