"""What an expert says of a text and its questions, what is refused, and what a lead reads of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hits.protocols.base import AnswerRefusedError
from hits.protocols.expert_review.protocol import LONGEST_WORDS, NOTHING_LEFT, protocol
from hits.protocols.optional import ChangingProtocol, WrittenProtocol
from tests.hits.protocols.reviewed import DOCUMENT, HIDDEN_SENTENCE, ITEM, QUESTIONS, fields

SETTINGS = protocol.settings({})


def said(item: dict[str, Any] = ITEM, **changes: str) -> dict[str, Any]:
    """The labels by unit."""
    checked = protocol.check(DOCUMENT, item, SETTINGS, fields(item, **changes))
    return {label.unit: label.value for label in checked.labels}


def faults(item: dict[str, Any] = ITEM, **changes: str) -> dict[str, str]:
    """The sentences by the field that they are about."""
    with pytest.raises(AnswerRefusedError) as refused:
        protocol.check(DOCUMENT, item, SETTINGS, fields(item, **changes))
    assert len(refused.value.fields) == len(refused.value.reasons) == len(set(refused.value.fields))
    assert all(reason[0].isupper() and reason.endswith(".") for reason in refused.value.reasons)
    return dict(zip(refused.value.fields, refused.value.reasons, strict=True))


def changed(**changes: Any) -> dict[str, Any]:
    """The item with other values in its first question."""
    item = deepcopy(ITEM)
    item["questions"][0] |= changes
    return item


KEPT = {"action": "keep", "reason": "", "words": ""}
BEFORE = {slot: QUESTIONS[0][slot] for slot in ("text", "correct", "incorrect")}


def edited(**after: str) -> dict[str, Any]:
    value = {"action": "edit", "reason": "", "words": "", "duplicate_of": "", "before": BEFORE}
    return {**value, "after": {**BEFORE, **after}}


def test_it_can_be_set_up_on_a_page_and_its_changes_undone():
    assert isinstance(protocol, WrittenProtocol) and isinstance(protocol, ChangingProtocol)
    document, item = protocol.example
    ((start, end),) = item["hidden"]
    assert document["text"][start:end].startswith("Then my sister") and document["text"][start:end].endswith("tail.")


def test_a_form_that_nobody_touched_changes_nothing():
    assert said() == {"text": KEPT}
    assert said(q1_correct="  a whisk\r\n") == {"text": KEPT}, "outer space is no change"


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({"q1_text": "What did they mix them with?"}, {"text": "What did they mix them with?"}),
        ({"q1_correct": "a hand\nwhisk"}, {"correct": "a hand whisk"}),
        ({"q1_swap": "yes"}, {"correct": "the pan", "incorrect": "a whisk"}),
        ({"q1_swap": "yes", "q1_incorrect": "a bowl"}, {"correct": "a bowl", "incorrect": "a whisk"}),
        ({"q1_correct_from": "1"}, {"correct": "a fork"}),
        ({"q1_incorrect_from": "1"}, {"incorrect": "a spade"}),
        ({"q1_correct_from": "1", "q1_correct": "a fork"}, {"correct": "a fork"}),
    ],
)
def test_an_edit_is_recorded_with_what_stood_there_before(changes: dict[str, str], after: dict[str, str]):
    assert said(**changes) == {"text": KEPT, "q1": edited(**after)}


def test_what_nobody_touched_stays_as_the_item_holds_it_even_if_it_would_be_refused_today():
    item = changed(correct="a  whisk " + "of iron " * 40)
    after = said(item, q1_incorrect="a spade")["q1"]["after"]
    assert after == {**BEFORE, "correct": item["questions"][0]["correct"], "incorrect": "a spade"}


def test_a_deletion_says_why():
    deleted = {"action": "delete", "before": BEFORE, "after": None, "words": "", "duplicate_of": ""}
    assert said(q1_delete="nonsensical", q1_correct="")["q1"] == {**deleted, "reason": "nonsensical"}
    assert said(q1_delete="duplicate", q1_duplicate_of="q3", q1_words="ignored")["q1"] == {
        **deleted,
        "reason": "duplicate",
        "duplicate_of": "q3",
    }
    other = said(q1_delete="other", q1_words=" It\nhurts. ", q1_duplicate_of="q3")["q1"]
    assert other == {**deleted, "reason": "other", "words": "It hurts."}


def test_a_text_is_deleted_with_all_its_questions_once_that_is_confirmed():
    sentence = "This text will be left out, and its 3 questions with it."
    assert faults(text_delete="incoherent")["confirm_empty"].startswith(sentence)
    gone = said(text_delete="incoherent", confirm_empty="yes", q1_correct="", q2_delete="nonsensical")
    assert gone == {"text": {"action": "delete", "reason": "incoherent", "words": ""}}
    assert set(faults(text_delete="other", confirm_empty="yes")) == {"text_words"}
    assert set(faults(text_delete="boring", confirm_empty="yes")) == {"text_delete"}


def test_deleting_the_last_question_that_can_be_answered_has_to_be_confirmed():
    all_of_them = {f"q{number}_delete": "nonsensical" for number in (1, 2, 3)}
    assert faults(**all_of_them) == {
        "confirm_empty": f"{NOTHING_LEFT} Tick “Yes, leave this text out” if you mean that."
    }
    assert set(said(**all_of_them, confirm_empty="yes")) == {"text", "q1", "q2", "q3"}
    unknown = changed(label="unknown")
    assert set(faults(unknown, q2_delete="nonsensical", q3_delete="nonsensical")) == {"confirm_empty"}
    assert "q2" in said(q2_delete="nonsensical", q3_delete="nonsensical"), "the first one is left"


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"q1_text": " \u200b"}, "q1_text", "The text of question 1 is empty. Write it, or delete the question."),
        ({"q1_correct": ""}, "q1_correct", "The correct answer of question 1 is empty"),
        ({"q1_incorrect": "A  Whisk!"}, "q1_incorrect", "The two answers of question 1 say the same"),
        ({"q1_incorrect": "x" * 151}, "q1_incorrect", "has 151 characters. Shorten it to 150 or fewer."),
        ({"q1_text": "x" * 301}, "q1_text", "has 301 characters. Shorten it to 300 or fewer."),
        ({"q1_correct_from": "9"}, "q1_correct_from", "not in the list"),
        ({"q1_correct_from": "1", "q1_correct": "a spoon"}, "q1_correct_from", "Keep one of the two"),
        ({"q1_correct_from": "1", "q1_swap": "yes"}, "q1_correct_from", "Do one of the two"),
        ({"q1_delete": "ugly"}, "q1_delete", "for a reason that is not offered"),
        ({"q1_delete": "other"}, "q1_words", "Say in a few words why question 1 is to be deleted."),
        ({"q1_delete": "other", "q1_words": "x" * (LONGEST_WORDS + 1)}, "q1_words", "Shorten it to 300"),
        ({"q1_delete": "duplicate"}, "q1_duplicate_of", "Say which question of this text"),
        ({"q1_delete": "duplicate", "q1_duplicate_of": "q9"}, "q1_duplicate_of", "Say which question of this text"),
        ({"q1_delete": "duplicate", "q1_duplicate_of": "q1"}, "q1_duplicate_of", "cannot be a duplicate of itself"),
        (
            {"q1_delete": "duplicate", "q1_duplicate_of": "q2", "q2_delete": "nonsensical"},
            "q1_duplicate_of",
            "question 2, which is deleted, too",
        ),
    ],
)
def test_what_cannot_stand_is_refused_with_what_to_change(changes: dict[str, str], field: str, sentence: str):
    found = faults(**changes)
    assert set(found) == {field}
    assert sentence in found[field]


def test_duplicates_in_a_circle_are_refused_at_each_of_them():
    pair = {"q1_delete": "duplicate", "q1_duplicate_of": "q2", "q2_delete": "duplicate", "q2_duplicate_of": "q1"}
    found = faults(**pair)
    assert set(found) == {"q1_duplicate_of", "q2_duplicate_of"}
    assert "in a circle" in found["q1_duplicate_of"]
    three = {**pair, "q2_duplicate_of": "q3", "q3_delete": "duplicate", "q3_duplicate_of": "q1"}
    assert {name for name, sentence in faults(**three).items() if "in a circle" in sentence} == {
        f"q{number}_duplicate_of" for number in (1, 2, 3)
    }


def test_all_faults_are_told_at_once():
    found = faults(q1_text="", q1_correct="", q2_incorrect="After it was in the pan.", q3_delete="other")
    assert set(found) == {"q1_text", "q1_correct", "q2_incorrect", "q3_words"}


def test_an_answer_that_is_missing_from_the_start_has_to_be_written():
    item = changed(incorrect="", candidates={"correct": ["a whisk"], "incorrect": []})
    assert set(faults(item)) == {"q1_incorrect"}
    assert said(item, q1_incorrect="a spade")["q1"]["before"]["incorrect"] == ""


def test_the_page_marks_what_was_taken_out_and_offers_each_other_wording_once():
    page = protocol.page(DOCUMENT, ITEM, SETTINGS)
    runs = [run for paragraph in page["passage"] for run in paragraph]
    assert [run["text"] for run in runs if run["hidden"]] == [HIDDEN_SENTENCE]
    assert len(page["passage"]) == 2
    offered = page["questions"][0]["slots"][1]["candidates"]
    assert offered == [{"id": "1", "text": "a fork"}], "neither what stands there already nor a wording twice"


# What a lead reads


def test_a_lead_reads_an_edit_as_texts_before_and_after():
    found = protocol.change(ITEM, "q1", edited(correct="a fork"))
    assert found is not None
    assert (found.title, found.action, found.reason) == ("Question 1", "edit", "")
    assert found.before == {"Question": BEFORE["text"], "Correct answer": "a whisk", "Incorrect answer": "the pan"}
    assert found.after == {**found.before, "Correct answer": "a fork"}


def test_a_lead_reads_why_something_was_deleted():
    labels = said(q1_delete="duplicate", q1_duplicate_of="q3", q2_delete="other", q2_words="Nobody asks that.")
    reasons = {unit: protocol.change(ITEM, unit, labels[unit]).reason for unit in ("q1", "q2")}  # type: ignore[union-attr]
    assert reasons == {"q1": "it asks the same as question 3", "q2": "Nobody asks that."}
    gone = protocol.change(ITEM, "text", {"action": "delete", "reason": "incoherent", "words": ""})
    assert gone is not None and gone.after is None and gone.reason == "it is incoherent"
    assert gone.before["Question 2"] == QUESTIONS[1]["text"]


@pytest.mark.parametrize("value", [KEPT, "edit", None, {"text": "x"}])
def test_other_labels_change_nothing(value: Any):
    assert protocol.change(ITEM, "text", value) is None


def test_an_item_is_left_out_with_its_text_or_with_its_last_question():
    delete = {"action": "delete", "reason": "nonsensical"}
    assert protocol.left_out(ITEM, {"q1": delete, "q2": delete}) == ""
    assert protocol.left_out(ITEM, {"q1": delete, "q2": delete, "q3": delete}) == "No question is left."
    assert protocol.left_out(changed(label="unfitting"), {"q2": delete, "q3": delete}) == "No question is left."
    assert "it is incoherent" in protocol.left_out(ITEM, {"text": {"action": "delete", "reason": "incoherent"}})
    assert protocol.left_out(ITEM, {"q1": edited(correct="a fork")}) == ""
