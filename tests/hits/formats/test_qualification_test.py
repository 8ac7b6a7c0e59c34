"""What leads write for a qualification test: on screen, in files, and drawn from items."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.files.faults import Faults
from hits.formats.inputs.qualification_test import (
    CHOICE_COLUMNS,
    Details,
    check_details,
    known_question,
    read_file,
    read_questions,
    without_blanks,
)

GOOD = {"text": "", "question": "Who stayed?", "choices": ["Mara", "Nobody"], "right": 0}


def faults_of(questions: object) -> list[str]:
    faults = Faults()
    read_questions(questions, faults)
    return [str(fault) for fault in faults.listed]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"right": None}, "No right answer is named"),
        ({"right": 2}, "No right answer is named"),
        ({"right": True}, "No right answer is named"),
        ({"right": -1}, "No right answer is named"),
        ({"choices": ["Mara"]}, "2 to 10 choices; there are 1"),
        ({"choices": ["x"] * 11}, "2 to 10 choices; there are 11"),
        ({"choices": ["Mara", " mara "]}, "Two choices read the same: “mara”"),
        ({"choices": ["Mara", ""]}, "choice 2: This is empty"),
        ({"choices": ["Mara", 7]}, "choice 2: This must be a text"),
        ({"question": " "}, "wording: This is empty"),
        ({"question": "a\x07b"}, "control characters"),
        ({"text": "x" * 10_001}, "passage: This has 10,001 characters"),
        ({"answer": "Mara"}, "fields that mean nothing here: answer"),
    ],
)
def test_a_bad_question_is_refused_with_its_place(change: dict[str, Any], said: str) -> None:
    found = faults_of([GOOD, {**GOOD, **change}])
    assert found and all(fault.startswith("question 2") for fault in found)
    assert said in " ".join(found)


def test_every_fault_is_named_at_once_and_sixty_questions_are_too_many() -> None:
    bad = {"question": "", "choices": ["a", "A"], "right": 5}
    assert len(faults_of([bad, GOOD, bad])) == 6
    assert faults_of([GOOD] * 60) == ["There are 60 questions; at most 50 make a test."]
    assert faults_of({"questions": []}) == ["The questions must be a list."]
    assert faults_of(["Who?"]) != [] and faults_of([GOOD] * 50) == []


def test_details_are_judged_field_by_field() -> None:
    faults = Faults()
    check_details(Details("reading", "two\nlines", " ", 0, 0, 366), faults)
    assert {fault.place for fault in faults.listed} == {
        "key", "title", "description", "pass_mark", "minutes", "retry_days",
    }  # fmt: skip
    fine = Faults()
    kept = check_details(Details("reading-test", " Reading ", "a\r\nb", 80, 15, None), fine)
    assert fine.count == 0 and (kept.title, kept.description) == ("Reading", "a\nb")


def test_the_key_of_a_pool_is_none_of_a_test() -> None:
    faults = Faults()
    check_details(Details("pool-students", "Reading", "a", 80, 15, None), faults)
    assert [(fault.place, "are those of pools" in fault.message) for fault in faults.listed] == [("key", True)]


words = st.text("abz ,;\"'<&é\n", min_size=1, max_size=12).filter(lambda text: text.strip())


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    choices = draw(st.lists(words, min_size=2, max_size=5, unique_by=lambda text: " ".join(text.split()).casefold()))
    return {
        "text": draw(st.one_of(st.just(""), words)).strip(),
        "question": draw(words).strip(),
        "choices": [choice.strip() for choice in choices],
        "right": draw(st.integers(0, len(choices) - 1)),
    }


@settings(max_examples=20, deadline=None)
@given(st.lists(questions(), min_size=1, max_size=4))
def test_a_csv_file_and_a_json_file_say_the_same(asked: list[dict[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["text", *CHOICE_COLUMNS, "right", "question"])
    for one in asked:
        writer.writerow(
            [one["text"], *one["choices"], *[""] * (10 - len(one["choices"])), one["right"] + 1, one["question"]]
        )
    for content in (text.getvalue().encode("utf-8-sig"), text.getvalue().encode("utf-16"), json.dumps(asked).encode()):
        faults = Faults()
        assert read_file(content, faults) == asked
        assert faults.count == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no question"),
        (b"question,choice1,choice2\nWho?,a,b\n", "lacks right"),
        (b"question,right,choice1,choice2,hint\nWho?,1,a,b,c\n", "mean nothing here: hint"),
        (b"question,right,choice1,choice2\nWho?,3,a,b\n", "line 2, right"),
        (b"question,right,choice1,choice2\nWho?,a,a,b\n", "line 2, right"),
        (b"question,right,choice1,choice2\nWho?,1,a\n", "line 2: 3 cells"),
        (b'question,right,choice1,choice2\n"Who?,1,a,b\n', "quotes do not match"),
        (b"question,right,choice1,choice2\nWho?,1,caf\xe9,b\n", "line 2: This is neither UTF-8"),
        (b'[{"question": "Who?"', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"question": "Who?"}', "must be a list"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(content: bytes, said: str) -> None:
    faults = Faults()
    read_file(content, faults)
    assert said in " ".join(map(str, faults.listed))


def test_items_give_a_question_only_where_one_answer_is_known() -> None:
    choices = [{"id": "c0", "text": "Mara"}, {"id": "c1", "text": "Nobody"}]
    asked = {"question": "Who stayed?", "candidates": choices, "intended": "c1", "author": "A1"}
    known = {"text": "A text.", "question": "Who stayed?", "choices": ["Mara", "Nobody"], "right": 1}
    assert known_question({"text": "A text."}, asked, {}) == known
    of_settings = {"question": "Who stayed?", "choices": choices}
    assert known_question({"text": "A text."}, {"gold": ["c1"]}, of_settings) == known
    for without in ({**asked, "intended": "c9"}, {"gold": ["c0", "c1"]}, {"gold": []}, {"query": "X", "answers": []}):
        assert known_question({"text": "A text."}, without, of_settings) is None
    same = {**asked, "candidates": [*choices, {"id": "c2", "text": "nobody"}]}
    assert known_question({}, same, {}) is None


def test_blank_choices_leave_and_the_right_one_stays_right() -> None:
    assert without_blanks(["", "a", " ", "b"], 3) == {"choices": ["a", "b"], "right": 1}
    assert without_blanks(["a", ""], 1)["right"] is None
    assert without_blanks(["a"], None)["right"] is None
