"""Writing questions with their correct and incorrect answers."""

import json
import re
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.question_writing.protocol import LONGEST, protocol
from hits.text.questions.overlap import compared
from hits.text.written import alike, kept
from tests.hits.protocols.writing import DOCUMENT, FIELDS, QUESTION

SETTINGS = protocol.settings({})
TEXTS = [name for name in FIELDS if "category" not in name]


def check(fields, **changes):
    return protocol.check(DOCUMENT, {}, protocol.settings(changes), fields)


def labels(fields, **changes):
    return {label.unit: label.value for label in check(fields, **changes).labels}


def faults(fields, **changes):
    """The sentences by the field that they are about."""
    with pytest.raises(AnswerRefusedError) as refused:
        check(fields, **changes)
    assert len(refused.value.reasons) == len(refused.value.fields)
    return dict(zip(refused.value.fields, refused.value.reasons, strict=True))


def test_questions_become_labels_that_no_reference_judges():
    found = check(FIELDS)
    assert all(label.correct is None for label in found.labels)
    said = labels(FIELDS)
    assert said["questions"] == 2
    assert said["question1"] == {
        "question": "Why was she sitting on the stairs?",
        "category": "causes",
        "correct": ["She needed a rest on her way home.", "Climbing so high tired her out."],
        "incorrect": [FIELDS[f"q1_incorrect{at}"] for at in (1, 2, 3)],
    }
    assert (said["question2"]["category"], said["question2"]["correct"]) == ("", [FIELDS["q2_correct1"]])


def test_the_second_question_may_be_left_empty():
    assert set(labels(QUESTION)) == {"questions", "question1", "evidence"}
    assert labels({**QUESTION, "q2_category": "facts", "q2_correct1": " \u200b\n"})["questions"] == 1


def test_an_untouched_form_is_told_one_thing():
    assert faults({}) == {"q1_question": "Question 1 is not written yet. Write it and its answers."}


def test_a_question_without_any_answer_is_told_one_thing():
    assert faults({**QUESTION, "q2_question": "And then?"}) == {
        "q2_correct1": "Question 2 has no answers. Write a correct one and 3 incorrect."
    }


def test_every_fault_is_told_at_once_with_its_field():
    told = faults(
        {
            **FIELDS,
            "q1_question": "",
            "q1_category": "gossip",
            "q1_incorrect2": "she needed   a rest, on her way home!",
            "q2_question": "\t",
            "q2_correct1": "x" * 301,
            "q2_incorrect3": "\u00a0",
        }
    )
    assert told == {
        "q1_question": "The text of question 1 is empty. Write it.",
        "q1_category": "Question 1 is of a kind that is not offered. Choose its kind once more, or none.",
        "q1_incorrect2": "Incorrect answer 2 of question 1 says the same as “Correct answer”. Change one of the two.",
        "q2_question": "The text of question 2 is empty. Write it.",
        "q2_correct1": "Correct answer of question 2 has 301 characters. Shorten it to 300 or fewer.",
        "q2_incorrect3": "Incorrect answer 3 of question 2 is empty. Write it.",
    }


@pytest.mark.parametrize("name", [name for name in QUESTION if name[3:] not in ("category", "correct2")])
def test_each_required_text_is_missed(name):
    for blank in ("", "  ", "\u200b\u200d", "\u3164", "\0\x07"):
        assert list(faults({**QUESTION, name: blank})) == [name]


def test_a_text_of_five_thousand_characters_is_refused_with_the_number():
    assert "has 5,000 characters" in faults({**QUESTION, "q1_correct2": "é" * 5000})["q1_correct2"]
    assert labels({**QUESTION, "q1_correct2": "😀" * LONGEST})["question1"]["correct"][1] == "😀" * LONGEST


@pytest.mark.parametrize(
    "other", ["CAFÉ, closed", "Cafe\u0301 closed.", "“café”  closed", "ca\u200bfé closed", "ＣＡＦÉ closed"]
)
def test_two_answers_that_differ_in_looks_alone_are_one(other):
    assert list(faults({**QUESTION, "q1_incorrect1": "Café closed", "q1_incorrect3": other})) == ["q1_incorrect3"]


def test_answers_of_different_questions_may_be_equal():
    assert labels({**FIELDS, "q2_correct1": FIELDS["q1_correct1"]})["questions"] == 2


def test_the_same_question_twice_is_refused():
    told = faults({**FIELDS, "q2_question": "why was she sitting on the stairs"})
    assert told == {"q2_question": "Question 2 asks the same as question 1. Ask something else."}


def test_a_gap_between_questions_is_told():
    third = {name.replace("q2", "q3"): text for name, text in FIELDS.items() if name.startswith("q2")}
    assert list(faults({**QUESTION, **third}, questions=3)) == ["q2_question"]


@pytest.mark.parametrize(
    "text", ["لماذا جلست؟ \u202bعلى\u202c الدرج", "👩‍🦳☕️ 🏳️‍🌈", "na\u0308ive  e\u0301", "a\u200cb"]
)
def test_any_script_is_kept_to_the_letter(text):
    assert labels({**QUESTION, "q1_correct1": f" {text}\r\n"})["question1"]["correct"][0] == text


@given(some.text(max_size=60))
def test_a_text_is_kept_as_it_was_written_but_for_its_ends_and_control_characters(text):
    breaks = "\t\n\v\f\r\x85\u2028\u2029"
    wanted = "".join(
        " " if sign in breaks else "" if unicodedata.category(sign) == "Cc" else sign
        for sign in text.replace("\r\n", "\n")
    ).strip()
    drawn = [sign for sign in wanted if sign not in "\u115f\u1160\u2800\u3164\uffa0"]
    if any(unicodedata.category(sign)[0] in "LNPS" for sign in drawn):
        assert kept(text) == wanted
    assert kept(text) in (wanted, "")


@settings(max_examples=60)
@given(some.dictionaries(some.sampled_from([*FIELDS, "pastes", "seconds_open", "comment"]), some.text(max_size=30)))
def test_no_text_whatever_breaks_the_check(changes):
    try:
        found = check({**FIELDS, **changes})
    except AnswerRefusedError as refused:
        assert set(refused.fields) <= set(FIELDS)
        assert all(reason.endswith(".") for reason in refused.reasons)
    else:
        assert json.loads(json.dumps([label.value for label in found.labels])) == [
            label.value for label in found.labels
        ]
        written = [label.value for label in found.labels if re.fullmatch(r"question\d", label.unit)]
        for value in written:
            said = [alike(text) for text in value["correct"] + value["incorrect"]]
            assert len(set(said)) == len(said) and all(said)


@given(some.text(alphabet=string.ascii_letters + " .,!-'", max_size=30))
def test_case_space_and_punctuation_make_no_difference_to_likeness(text):
    if re.search(r"[a-zA-Z]", text):
        assert alike(text) == alike(f"  {text.upper()}?! ") == " ".join(re.findall("[a-z]+", text.lower()))


def evidence(**fields):
    return labels({**FIELDS, **fields})["evidence"]


def test_pastes_are_evidence_and_refuse_nothing():
    noted = [{"field": "q1_correct1", "characters": 34}, {"field": "q2_question", "characters": 0}]
    found = evidence(pastes=json.dumps(noted), seconds_open="171")
    assert (found["pastes"], found["seconds"]) == (noted, 171)


def test_of_a_paste_nothing_but_field_and_length_is_kept():
    posted = [{"field": "q1_correct1", "characters": 3, "text": "abc"}, {"field": "comment", "characters": 9}] * 200
    assert evidence(pastes=json.dumps(posted))["pastes"] == [{"field": "q1_correct1", "characters": 3}] * 100


@pytest.mark.parametrize(
    "posted", ["", "x", "7", "[7]", '[{"field": 1}]', "[" * 9999, '[{"field":"q1_correct1","characters":-1}]']
)
def test_what_the_page_did_not_note_is_not_called_nothing(posted):
    assert evidence(pastes=posted, seconds_open=posted)["pastes"] is None
    assert evidence(pastes="[]")["pastes"] == []


def test_a_stage_that_notes_no_pastes_keeps_none():
    posted = '[{"field": "q1_correct1", "characters": 3}]'
    assert labels({**FIELDS, "pastes": posted}, pastes=False)["evidence"]["pastes"] is None


def test_the_advice_that_the_page_gave_is_kept_for_review():
    told = evidence()["advice"]
    answers = {name: text for name, text in FIELDS.items() if text and re.search(r"correct\d", name)}
    assert set(told) == set(answers)
    for name, text in answers.items():
        reused, total = compared(text, DOCUMENT["text"])
        assert told[name]["reuse"] == pytest.approx(len(reused) / total, abs=0.001)
    assert told["q1_incorrect3"]["reuse"] > told["q1_correct1"]["reuse"]


def test_a_skipped_second_answer_does_not_shift_the_advice():
    only_second = {**QUESTION, "q1_correct1": QUESTION["q1_correct2"], "q1_correct2": ""}
    told = labels(only_second)["evidence"]["advice"]
    assert "q1_correct2" not in told
    assert told["q1_correct1"] == labels(QUESTION)["evidence"]["advice"]["q1_correct2"] | {
        "length": told["q1_correct1"]["length"]
    }


def test_the_settings_say_how_much_is_asked_for():
    shown = protocol.page(DOCUMENT, {}, protocol.settings({"questions": 1, "correct": 1, "incorrect": 2}))
    (question,) = shown["questions"]
    assert [field["name"] for field in question["fields"]] == [
        "q1_question",
        "q1_correct1",
        "q1_incorrect1",
        "q1_incorrect2",
    ]
    assert not labels({**QUESTION}, questions=1, correct=1)["question1"]["correct"][1:]


def test_every_fault_of_the_settings_is_told_at_once():
    wrong = {"questions": 5, "correct": 3, "incorrect": 0, "correct_reuse_percent": 101, "pastes": 1, "min_seconds": -1}
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings({**wrong, "length_factor": 0.5, "colour": "red"})
    assert len(refused.value.reasons) == 8
