"""Answering questions about a story that sentences were taken out of."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.answer_writing.protocol import LABELS, protocol
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.stats.vote_rules.known_rules import MCSCRIPT_LABELS
from hits.stats.vote_rules.votes import Vote, decide
from tests.hits.protocols.answers import ASKED, DOCUMENT, FIELDS, FULL, GONE, HIDDEN, ITEM, TEXT

SETTINGS = protocol.settings({})
SAME = "The incorrect answer to question 1 says the same as the correct one. Change one."


def check(fields, item=ITEM, **changes):
    return protocol.check(DOCUMENT, item, protocol.settings(changes), fields)


def labels(fields, **changes):
    return {label.unit: label.value for label in check(fields, **changes).labels}


def faults(fields, item=ITEM, **changes):
    """(field, sentence) of each, in order."""
    with pytest.raises(AnswerRefusedError) as refused:
        check(fields, item, **changes)
    return list(zip(refused.value.fields, refused.value.reasons, strict=True))


def test_each_label_brings_what_it_asks_for():
    assert labels({**FIELDS, "seconds_open": "214", "pastes": '[{"field": "q1_correct", "characters": 13}]'}) == {
        "q1/label": "text",
        "q1/correct": {"text": "The daughter."},
        "q1/incorrect": {"text": "Her brother."},
        "q2/label": "script",
        "q2/correct": {"text": "A spoon or a whisk"},
        "q2/incorrect": {"text": "A fork and a knife"},
        "q3/label": "unfitting",
        "q3/alternative": {"text": "What colour was the bowl?"},
        "q4/label": "unknown",
        "q4/alternative": {"text": "Why did they let the batter rest?"},
        "evidence": {"pastes": [{"field": "q1_correct", "characters": 13}], "seconds": 214},
    }
    assert all(label.correct is None for label in check(FIELDS).labels)
    assert labels(FIELDS, pastes=False)["evidence"] == {"pastes": None, "seconds": None}


def test_the_page_holds_the_story_without_its_hidden_sentences_and_no_type():
    shown = protocol.page(DOCUMENT, FULL, SETTINGS)
    assert all(part in TEXT and part not in json.dumps(shown) for part in (*GONE, *(TEXT[a:b] for a, b in HIDDEN)))
    assert shown["text"].count("\n\n") == 1 and shown["text"].startswith("Last Sunday")
    assert (shown["scenario"], [one["text"] for one in shown["questions"]]) == ("making pancakes", list(ASKED))
    assert {"type", "np", "vp"}.isdisjoint({*shown["questions"][0], *map(str, shown["questions"][0].values())})


def test_an_untouched_form_is_told_one_thing():
    sentence = "No question is answered yet. Begin with question 1: choose where its answer comes from."
    assert faults({}) == [("q1_label", sentence)]
    assert faults({"q3_alternative": " \u200b\n"}) == [("q1_label", sentence)]


def test_every_fault_is_told_at_once_with_its_field():
    wrong = {
        "q1_label": "script",
        "q1_correct": "x" * 1151,
        "q1_incorrect": "\u3164",
        "q2_label": "",
        "q3_label": "unfitting",
        "q3_alternative": "Did I?",
        "q4_label": "nonsense",
    }
    assert faults({**FIELDS, **wrong}) == [
        ("q1_correct", "The correct answer to question 1 has 1,151 characters. Shorten it to 150 or fewer."),
        ("q1_incorrect", "The incorrect answer to question 1 is empty. Write it."),
        ("q2_label", "Question 2 has no choice yet. Choose where its answer comes from."),
        (
            "q3_alternative",
            "Your question instead of question 3 begins with “did”, so yes or no would answer it. Begin with what, who,"
            " where, when or how.",
        ),
        ("q3_alternative", "Your question instead of question 3 has 2 words. Ask in at least 4 words."),
        (
            "q3_alternative",
            "Your question instead of question 3 says “I”. Call whoever tells the story “they”, as in they, them,"
            " their.",
        ),
        ("q4_label", "Question 4 is answered in a way that is not offered. Choose where its answer comes from."),
    ]


@pytest.mark.parametrize("name", [name for name in FIELDS if "label" not in name])
def test_each_text_that_the_label_asks_for_is_missed(name):
    for blank in ("", "  ", "\u200b\u200d", "\0\x07"):
        assert [field for field, _ in faults({**FIELDS, name: blank})] == [name]


@pytest.mark.parametrize("label", ["text", "script"])
@pytest.mark.parametrize("other", ["CAFÉ, closed", "Cafe\u0301 closed.", "“café”  closed", "ca\u200bfé closed"])
def test_an_incorrect_answer_that_differs_in_looks_alone_is_the_correct_one(label, other):
    texts = {"q1_label": label, "q1_correct": "Café closed", "q1_incorrect": other}
    assert faults({**FIELDS, **texts}) == [("q1_incorrect", SAME)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("when did THEY sell the car", "question 3"),
        ("Who cracked the eggs???", "question 1"),
        ("Why did they let the batter  rest", "the one instead of question 3"),
    ],
)
def test_a_question_of_ones_own_is_a_new_one(text, other):
    fields = {**FIELDS, "q3_alternative": "Why did they let the batter rest?", "q4_alternative": text}
    sentence = f"Your question instead of question 4 asks the same as {other}. Ask something else."
    assert faults(fields) == [("q4_alternative", sentence)]


def test_what_the_label_does_not_ask_for_is_ignored():
    more = {
        "q1_alternative": "Did I?",
        "q3_correct": "x" * 500,
        "q3_incorrect": "",
        "q4_correct": "same",
        "q4_incorrect": "same",
        "q9_label": "text",
    }
    assert labels({**FIELDS, **more}) == labels(FIELDS)
    fields = {**FIELDS, "q1_alternative": FIELDS["q3_alternative"]}
    assert labels(fields) == labels(FIELDS)


def test_a_text_is_kept_in_one_line_and_counted_in_characters():
    said = labels({**FIELDS, "q1_correct": " na\u0308ive\r\n\0tea ", "q2_correct": "😀" * 150})
    assert (said["q1/correct"], said["q2/correct"]) == ({"text": "na\u0308ive tea"}, {"text": "😀" * 150})
    assert [field for field, _ in faults({**FIELDS, "q2_correct": "😀" * 151})] == ["q2_correct"]
    assert [field for field, _ in faults(FIELDS, longest_answer=12)] == ["q1_correct", "q2_correct", "q2_incorrect"]
    assert [field for field, _ in faults(FIELDS, fewest_words=6)] == ["q3_alternative"]
    long = "What " + "a" * 300
    assert ("q3_alternative", True) in [
        (field, "Shorten it to 300" in sentence) for field, sentence in faults({**FIELDS, "q3_alternative": long})
    ]


def test_an_item_without_questions_cannot_be_answered():
    assert [sentence for _, sentence in faults(FIELDS, {"hidden": [], "questions": []})] == [
        "There is no question here, so nothing can be answered. Return the HIT: it does not count against you."
    ]
    assert protocol.page(DOCUMENT, {"hidden": [], "questions": []}, SETTINGS)["text"] == TEXT


def test_the_rule_of_the_collection_counts_the_labels_of_five():
    votes = []
    for worker, label in enumerate(["text", "text", "script", "script", "unknown"]):
        said = labels({**FIELDS, "q1_label": label, "q1_alternative": "What was in the bowl then?"})
        counted = {unit: value for unit, value in said.items() if isinstance(value, str)}
        votes.append(Vote(f"W{worker}", "x", said=counted))
    found = decide(MCSCRIPT_LABELS.rule(), votes)
    assert found.parts == {"q1": "text-or-script", "q2": "script", "q3": "unfitting", "q4": "unknown"}


def test_every_fault_of_the_settings_is_told_at_once():
    wrong = {"longest_answer": 9, "fewest_words": 11, "pastes": "yes", "min_seconds": -1, "colour": "red"}
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings(wrong)
    assert len(refused.value.reasons) == 5


def test_the_example_hides_a_sentence_that_a_question_is_about():
    document, item = protocol.example
    shown = protocol.page(document, item, SETTINGS)
    assert "newspapers" not in shown["text"] and "on Saturday. Then I eased" in shown["text"]
    assert len(shown["questions"]) == 3


@settings(max_examples=60)
@given(some.dictionaries(some.sampled_from([*FIELDS, "pastes", "comment"]), some.text(max_size=30)))
def test_no_text_whatever_breaks_the_check(changes):
    try:
        found = labels({**FIELDS, **changes})
    except AnswerRefusedError as refused:
        assert set(refused.fields) <= set(FIELDS)
        assert all(reason.endswith(".") and len(reason) < 250 for reason in refused.reasons)
    else:
        assert json.loads(json.dumps(found)) == found
        assert {found[f"q{number}/label"] for number in range(1, 5)} <= {ident for ident, _, _ in LABELS}
