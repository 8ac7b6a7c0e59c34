"""Asking about the phrases of a story: what becomes labels, and what is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.phrase_questions.protocol import NOTHING_TO_ASK, protocol
from tests.hits.protocols.phrases import DOCUMENT, FIELDS, FIRST, NP, SECOND, VP, VP_FIELDS, item

SETTINGS = protocol.settings({})
EMPTY = "is not written yet. Ask in at least 4 words."


def labels(fields, data=NP, document=DOCUMENT, **changes):
    checked = protocol.check(document, data, protocol.settings(changes), fields)
    return {label.unit: label.value for label in checked.labels}


def faults(fields, data=NP, **changes):
    """(field, sentence) of each fault."""
    with pytest.raises(AnswerRefusedError) as refused:
        labels(fields, data, **changes)
    return list(zip(refused.value.fields, refused.value.reasons, strict=True))


def test_each_phrase_gets_its_question_and_no_reference_judges_it():
    checked = protocol.check(DOCUMENT, NP, SETTINGS, {**FIELDS, "seconds_open": "95", "comment": "Nice story."})
    said = {label.unit: label.value for label in checked.labels}
    assert said == {
        "questions": 6,
        "p1": {"phrase": "the flour", "question": FIELDS["p1"]},
        "p2": {"phrase": "a bowl", "question": FIELDS["p2"]},
        "p3": {"phrase": "a bowl", "question": FIELDS["p3"]},
        "p4": {"phrase": "warm water", "question": FIELDS["p4"]},
        "p5": {"phrase": "the loaf", "question": FIELDS["p5"]},
        "p6": {"phrase": "into the oven", "question": FIELDS["p6"]},
        "evidence": {"seconds": 95},
    }
    assert all(label.correct is None for label in checked.labels)
    assert checked.remark == "Nice story."


def test_the_other_part_asks_about_what_happens():
    assert labels(VP_FIELDS, VP)["p2"] == {"phrase": "put the loaf into the oven", "question": VP_FIELDS["p2"]}
    assert labels(VP_FIELDS, VP)["evidence"] == {"seconds": None}


def test_every_missing_question_is_named():
    assert faults({}) == [(f"p{number}", f"Question {number} {EMPTY}") for number in range(1, 7)]
    assert faults({**FIELDS, "p3": " \u200b\n", "p5": "?"}) == [
        ("p3", f"Question 3 {EMPTY}"),
        ("p5", f"Question 5 {EMPTY}"),
    ]


def test_all_that_is_wrong_is_told_at_once_at_its_fields():
    wrong = {
        **FIELDS,
        "p1": "“Did they measure flour?",
        "p2": "What was it?",
        "p4": "What did I see there?",
        "p5": "x " * 151,
    }
    assert faults(wrong) == [
        ("p1", "Question 1 begins with “did”, so yes or no would answer it. Begin with what, who, where, when or how."),
        ("p2", "Question 2 has 3 words. Ask in at least 4 words."),
        ("p4", "Question 4 says “I”. Call whoever tells the story “they”, as in they, them, their."),
        ("p5", "Question 5 has 301 characters. Shorten it to 300 or fewer."),
    ]


def test_the_same_question_twice_in_a_form_is_refused_whatever_it_looks_like():
    assert faults({**FIELDS, "p6": "“what DID they  measure, out first”"}) == [
        ("p6", "Question 6 asks the same as question 1. Ask something else.")
    ]
    assert len(faults({**FIELDS, "p1": "?", "p2": "?"})) == 2  # missing, which is no question to repeat


def test_a_question_is_kept_as_written_in_one_line_with_or_without_its_mark():
    said = labels({**FIELDS, "p1": "  What did\u2028they\tmeasure\0 out\r\n"})
    assert said["p1"]["question"] == "What did they measure out"


def test_what_the_form_adds_or_says_about_phrases_is_ignored():
    tampered = {**FIELDS, "p7": "Did you?", "phrase": "x", "p1-phrase": "x", "questions": "99", "evidence": "{}"}
    assert labels(tampered) == labels(FIELDS)


def test_an_item_without_phrases_is_said_to_be_one_and_takes_nothing():
    for data in ({"part": "np", "targets": []}, item("np", [(FIRST, [])]), {}):
        assert faults_without_field(data) == (NOTHING_TO_ASK,)
        shown = protocol.page(DOCUMENT, data, SETTINGS)
        assert (shown["count"], shown["sentences"]) == (0, [])
        assert "".join(part["text"] for piece in shown["story"] for part in piece["parts"]) == DOCUMENT["text"]


def faults_without_field(data):
    with pytest.raises(AnswerRefusedError) as refused:
        labels(FIELDS, data)
    assert refused.value.fields == ()
    return refused.value.reasons


def test_a_phrase_outside_of_the_text_is_not_asked_for():
    data = item("np", [(SECOND, ["the loaf"])])
    end = len(DOCUMENT["text"])
    broken = [{"id": "p2", "start": end - 2, "end": end + 9}, {"id": "p3", "start": 9, "end": 9}]
    data["targets"][0]["phrases"] += broken
    assert labels({"p1": FIELDS["p1"]}, data)["questions"] == 1


def marked(shown, ident):
    return [part["text"] for piece in shown["story"] for part in piece["parts"] if ident in part["phrases"].split()]


def test_the_page_shows_the_whole_text_with_each_phrase_in_its_place():
    shown = protocol.page(DOCUMENT, NP, SETTINGS)
    parts = [(piece["sentence"], part) for piece in shown["story"] for part in piece["parts"]]
    assert "".join(part["text"] for _, part in parts) == DOCUMENT["text"]
    first = [(part["text"], part["phrases"]) for sentence, part in parts if sentence == 1]
    assert first == [
        ("First I put ", ""),
        ("the flour", "p1"),
        (" into ", ""),
        ("a bowl", "p2"),
        (" next to ", ""),
        ("a bowl", "p3"),
        (" of ", ""),
        ("warm water", "p4"),
        (".", ""),
    ]
    assert [one["text"] for one in shown["sentences"]] == [FIRST, SECOND]
    assert [phrase["number"] for one in shown["sentences"] for phrase in one["phrases"]] == [1, 2, 3, 4, 5, 6]
    assert shown["count"] == 6


def test_phrases_that_overlap_are_each_marked_whole():
    data = item("np", [(FIRST, ["a bowl next to a bowl"])])
    inner = DOCUMENT["text"].index("a bowl of warm water")
    data["targets"][0]["phrases"].append({"id": "p2", "start": inner, "end": inner + len("a bowl of warm water")})
    shown = protocol.page(DOCUMENT, data, SETTINGS)
    assert "".join(marked(shown, "p1")) == "a bowl next to a bowl"
    assert "".join(marked(shown, "p2")) == "a bowl of warm water"


def test_instructions_are_those_of_the_part():
    own = {"instructions": "Both.", "instructions_vp": "When.\n\nHow long."}
    given_settings = protocol.settings(own)
    assert protocol.page(DOCUMENT, VP, given_settings)["instructions"] == ["When.", "How long."]
    assert protocol.page(DOCUMENT, NP, given_settings)["instructions"] == ["Both."]
    assert protocol.page(DOCUMENT, NP, SETTINGS)["instructions"] == []


def test_a_lead_may_change_the_words_and_their_number():
    own = {"fewest_words": 6, "opening_words": ["Why", "WHY", "Doesn’t"], "narrator_words": ["Baker"]}
    assert protocol.settings(own)["opening_words"] == ["why", "doesn't"]
    told = faults({**FIELDS, "p1": "Why’s the baker so late today?", "p4": "Is it my own bowl then?"}, **own)
    assert [(name, sentence.split(",")[0]) for name, sentence in told] == [
        ("p1", "Question 1 begins with “why's”"),
        ("p1", "Question 1 says “baker”. Call whoever tells the story “they”"),
        ("p3", "Question 3 has 5 words. Ask in at least 6 words."),
    ]
    none = {"opening_words": [], "narrator_words": []}
    assert labels({**FIELDS, "p1": "Did I see the oven?"}, **none)["questions"] == 6


def test_every_fault_of_the_settings_is_told_at_once():
    wrong = {
        "fewest_words": 0,
        "opening_words": ["is", "he or she", ""],
        "narrator_words": "I",
        "instructions_np": 7,
        "colour": "red",
    }
    with pytest.raises(SettingsRefusedError) as refused:
        protocol.settings(wrong)
    assert [reason.split()[0] for reason in refused.value.reasons if "colour" not in reason] == [
        "instructions_np",
        "fewest_words",
        "opening_words",
        "opening_words",
        "narrator_words",
    ]
    assert len(refused.value.reasons) == 6
    with pytest.raises(SettingsRefusedError, match="at most 200"):
        protocol.settings({"narrator_words": ["me"] * 201})


def test_the_example_is_a_story_with_its_phrases():
    document, data = protocol.example
    shown = protocol.page(document, data, SETTINGS)
    assert [phrase["text"] for one in shown["sentences"] for phrase in one["phrases"]] == [
        "a biscuit",
        "in my pocket",
        "all three of us",
        "a towel",
    ]


@settings(max_examples=60)
@given(some.dictionaries(some.sampled_from([*FIELDS, "seconds_open", "comment"]), some.text(max_size=30)))
def test_no_text_whatever_breaks_the_check(changes):
    try:
        found = labels({**FIELDS, **changes})
    except AnswerRefusedError as refused:
        assert set(refused.fields) <= set(FIELDS)
        assert all(reason.endswith(".") and len(reason) < 250 for reason in refused.reasons)
    else:
        assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(("part", "first"), [("np", "a biscuit"), ("vp", "hid a biscuit in my pocket")])
def test_a_stage_that_asks_one_part_is_shown_an_example_and_the_instructions_of_that_part(part, first):
    own = protocol.settings({"part": part})
    document, data = protocol.example_for(own)
    shown = protocol.page(document, data, own)
    assert (shown["part"], shown["sentences"][0]["phrases"][0]["text"]) == (part, first)
    named = [one.name for one in protocol.fields_for(own) if one.name.startswith("instructions")]
    assert named == [f"instructions_{part}"]


def test_a_part_that_there_is_not_is_refused():
    with pytest.raises(SettingsRefusedError, match="part must be one of"):
        protocol.settings({"part": "adverbs"})
