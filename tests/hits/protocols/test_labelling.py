"""Labelling items, with a second list that some labels of the first call for."""

import pytest

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.labelling.protocol import protocol

DOCUMENT = {"text": "Lena closed the shop.\n@highlight\nShop closes"}
REASONING = {
    "labels": ["Paraphrasing | Other words", "Partial clue", "Commonsense"],
    "several": True,
    "dependent_labels": ["Conceptual", "Causal"],
    "dependent_on": ["Commonsense"],
}
NEEDS = {"labels": ["Yes", "No"], "dependent_labels": ["Motivation", "Other"], "dependent_on": ["Yes"]}


def check(*given, item=None, **settings):
    fields = {f"has-{ident}": "yes" for ident in given}
    return protocol.check(DOCUMENT, item or {}, protocol.settings(settings or REASONING), fields)


def said(checked):
    return {label.unit: label.value for label in checked.labels}


def test_of_several_labels_each_says_yes_or_no_and_the_second_list_is_silent():
    assert said(check("paraphrasing", "causal")) == {
        "paraphrasing/has": "yes", "partial-clue/has": "no", "commonsense/has": "no",
    }  # fmt: skip


def test_a_label_that_calls_for_the_second_list_makes_it_count():
    assert said(check("commonsense", "causal")) == {
        "paraphrasing/has": "no", "partial-clue/has": "no", "commonsense/has": "yes",
        "conceptual/has": "no", "causal/has": "yes",
    }  # fmt: skip
    with pytest.raises(AnswerRefusedError, match="The second list has no label yet"):
        check("commonsense")


def test_one_label_with_a_second_list_of_several():
    options = protocol.settings(NEEDS)
    fields = {"label": "yes", "has-motivation": "yes"}
    assert said(protocol.check(DOCUMENT, {}, options, fields)) == {
        "label": "yes", "motivation/has": "yes", "other/has": "no",
    }  # fmt: skip
    assert said(protocol.check(DOCUMENT, {}, options, {"label": "no"})) == {"label": "no"}
    with pytest.raises(AnswerRefusedError, match="no label of the first list"):
        protocol.check(DOCUMENT, {}, options, {"label": "motivation"})


def test_known_labels_are_compared():
    checked = check("commonsense", "causal", item={"gold": ["commonsense", "Conceptual"]})
    assert {label.unit for label in checked.labels if label.correct} == {
        "paraphrasing/has", "partial-clue/has", "commonsense/has",
    }  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [{"dependent_labels": ["A", "B"]}, {"dependent_on": ["Clear"]}, {"labels": ["One"]},
     {"dependent_labels": ["A"], "dependent_on": ["Clear"]}, {"dependent_labels": ["A", "B"], "dependent_on": ["Z"]},
     {"dependent_labels": ["clear | Clear | x", "B"], "dependent_on": ["Clear"]}],
)  # fmt: skip
def test_lists_that_do_not_fit_together_are_refused(given):
    with pytest.raises(SettingsRefusedError):
        protocol.settings(given)


def test_the_page_shows_a_cloze_with_its_answer_filled_in():
    item = {"query": "@placeholder slept while @placeholder waited.", "answers": [{"text": "Lena"}]}
    page = protocol.page(DOCUMENT, item, protocol.settings({}))
    assert page["statement"] == ["", "Lena", " slept while ", "Lena", " waited."]
    assert [block["bullets"] for block in page["blocks"]] == [False, True]


def test_the_page_shows_a_question_set_with_its_right_answer_and_not_its_author():
    item = {"question": "Why?", "candidates": [{"id": "c0", "text": "A"}, {"id": "c1", "text": "B"}], "intended": "c1",
            "author": "AWRITER"}  # fmt: skip
    page = protocol.page(DOCUMENT, item, protocol.settings({}))
    assert page["candidates"] == [{"text": "A", "intended": False}, {"text": "B", "intended": True}]
    assert "AWRITER" not in str(page)


def test_the_report_counts_items_by_the_majority_of_their_workers():
    one, two = said(check("commonsense", "causal")), said(check("paraphrasing"))
    items = [(DOCUMENT, {}, [one, one, two]), (DOCUMENT, {}, [two, two]), (DOCUMENT, {}, [])]
    report = protocol.item_scores(items, protocol.settings(REASONING))
    assert report["n"] == 2
    assert {row["label"]: row["count"] for row in report["labels"]} == {"commonsense": 1, "paraphrasing": 1}
    assert protocol.item_scores([], protocol.settings(REASONING)) == {}


def test_shares_of_the_second_list_are_of_those_who_called_for_it_and_of_all():
    common, partial = said(check("commonsense", "causal")), said(check("partial-clue"))
    items = [(DOCUMENT, {}, [found]) for found in (common, partial, partial, partial)]
    dependent = protocol.item_scores(items, protocol.settings(REASONING))["dependent"]
    assert dependent["n"] == 1
    assert [(row["label"], row["share"], row["share_of_all"]) for row in dependent["labels"]] == [("causal", 1.0, 0.25)]


def test_without_a_second_list_there_is_one_table():
    options = protocol.settings({})
    report = protocol.item_scores([(DOCUMENT, {}, [{"label": "clear"}])], options)
    assert set(report) == {"n", "labels", "note"}
