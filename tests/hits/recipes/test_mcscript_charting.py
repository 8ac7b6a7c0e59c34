from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hits.recipes.mcscript.charting import labels_chart, types_chart
from hits.text.figures.question_statistics import LABELS, AskedQuestion, QuestionTally

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tally() -> QuestionTally:
    found = QuestionTally()
    asked = [("What did they bake?", "text"), ("When was it eaten?", "script"), ("What's on it?", "script")]
    found.add("We baked a cake.", [AskedQuestion(text, label, "a", "b") for text, label in asked])
    found.add("I walked.", [AskedQuestion("In which park?", "text-or-script", "a", "b")])
    return found


def drawn(svg: str) -> tuple[ElementTree.Element, list[str | None]]:
    """The chart, and what its bars say of themselves."""
    found = ElementTree.fromstring(svg)
    return found, [bar.findtext(f"{NAMESPACE}title") for bar in found.iter(f"{NAMESPACE}rect")]


def test_the_chart_of_types_has_a_bar_for_each_type(tally: QuestionTally) -> None:
    svg, bars = drawn(types_chart(tally))
    assert bars == ["what: 2, 50.0%", "when: 1, 25.0%", "other: 1, 25.0%"]
    assert "4 questions by their first word: what 2 (50%)" in str(svg.findtext(f"{NAMESPACE}desc"))


def test_the_chart_of_labels_has_a_row_for_each_type_and_a_legend_of_the_labels(tally: QuestionTally) -> None:
    svg, bars = drawn(labels_chart(tally))
    assert bars[:3] == list(LABELS)
    assert bars[3:] == [
        *("what, text: 50.0%", "what, script: 50.0%"),
        *("when, script: 100.0%", "other, text-or-script: 100.0%"),
    ]
    assert "what: text 50%, script 50%" in str(svg.findtext(f"{NAMESPACE}desc"))


def test_a_label_of_another_rule_is_text_and_never_markup() -> None:
    found = QuestionTally()
    found.add("We baked a cake.", [AskedQuestion("Why?", "<b>&own", "a", "b")])
    assert drawn(labels_chart(found))[1][-1] == "why, <b>&own: 100.0%"


def test_without_a_question_there_is_no_chart() -> None:
    assert types_chart(QuestionTally()) == labels_chart(QuestionTally()) == ""
