"""Telling a story: what is taken, what is turned back and with which words, and which stories are copies."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.optional import ComparingProtocol, WrittenProtocol
from hits.protocols.story import instructions
from hits.protocols.story.protocol import MOST_CHARACTERS, protocol
from hits.text.language.words import words
from tests.hits.protocols.telling import DOCUMENT, OTHER, STORY


def check(text, changes=None, **fields):
    return protocol.check(DOCUMENT, {}, protocol.settings(changes or {}), {"story": text, **fields})


def labels(text, changes=None, **fields):
    return {label.unit: label.value for label in check(text, changes, **fields).labels}


def faults(text, **changes):
    with pytest.raises(AnswerRefusedError) as refused:
        check(text, changes)
    assert set(refused.value.fields) == {"story"} and len(refused.value.fields) == len(refused.value.reasons)
    return list(refused.value.reasons)


def of_words(count):
    return " ".join(f"word{number}" for number in range(count))


def test_a_story_becomes_its_text_and_its_number_of_words():
    found = check(f"\n {STORY}\r\n", comment="Nice.")
    assert [(label.unit, label.correct) for label in found.labels] == [("story", None), ("evidence", None)]
    assert found.labels[0].value == {"text": STORY, "words": len(words(STORY))}
    assert found.remark == "Nice."


def test_the_evidence_is_what_the_page_noted_and_refuses_nothing():
    noted = [{"field": "story", "characters": len(STORY)}, {"field": "comment", "characters": 4}]
    said = labels(STORY, pastes=json.dumps(noted), seconds_open="95")["evidence"]
    assert said == {"pastes": noted[:1], "seconds": 95}
    assert labels(STORY)["evidence"] == {"pastes": None, "seconds": None}
    assert labels(STORY, {"pastes": False}, pastes=json.dumps(noted))["evidence"]["pastes"] is None


@pytest.mark.parametrize("blank", ["", "  \n\t\r\n", "\u200b\u200d\n\u3164", "\0\x07\x1b", "\u202e\u2066"])
def test_nothing_that_can_be_seen_is_no_story(blank):
    assert faults(blank) == ["The story is not written yet. Write it into the field."]


def test_the_number_of_words_has_two_ends():
    assert faults("Buses!") == ["The story has 1 word. Write 59 more: 60 to 400 are asked for."]
    assert faults(of_words(59)) == ["The story has 59 words. Write 1 more: 60 to 400 are asked for."]
    assert labels(of_words(60))["story"]["words"] == 60
    assert labels(of_words(400))["story"]["words"] == 400
    assert faults(of_words(401)) == ["The story has 401 words. Leave out 1: 60 to 400 are asked for."]
    assert faults(of_words(9), shortest=1000, longest=1200) == [
        "The story has 9 words. Write 991 more: 1,000 to 1,200 are asked for."
    ]


def test_fifty_thousand_characters_are_told_as_one_fault():
    told = "The story has 50,000 characters. Shorten it to 12,000 or fewer, and to 400 words at most."
    assert faults("bus! " * 9999 + "stop!") == [told]
    assert faults("x" * 50_000) == [told]
    assert MOST_CHARACTERS == 12_000


def test_a_story_pasted_twice_is_turned_back_with_what_it_says_twice():
    (told,) = faults(f"{STORY}\n{STORY}")
    assert told == (
        "The story repeats itself: 50 % of it was said before, such as “Yesterday I wanted to buy”."
        " Tell each thing once."
    )
    (over_and_over,) = faults("I get on the bus and I pay. " * 20)
    assert "was said before, such as “I get on the bus”" in over_and_over
    assert labels("Row, row, row the boat! " * 3 + STORY)["story"]["words"] > 100  # a song in it is no fault


def test_the_instructions_are_no_story():
    told = "Much of this is the text of the instructions. Tell the story in your own words."
    assert faults(instructions.EXAMPLE) == [told]
    assert faults(" ".join(instructions.STEPS).upper()) == [told]
    assert faults(instructions.EXAMPLE[:400] + OTHER[:100]) == [told]
    own = "Tell me how it goes, from the very first step to the last one."
    assert faults(own, instructions=own, shortest=5) == [told]
    assert labels(instructions.EXAMPLE, {"instructions": own})  # nobody was shown it


def test_all_faults_are_told_at_once():
    told = faults(instructions.EXAMPLE * 5)
    assert [sentence.split()[2] for sentence in told] == ["has", "this", "repeats"]


def test_any_script_and_any_markup_is_text():
    story = "<b>" + STORY + "</b> <script>alert(1)</script>\n\nوضعت العملة في يد السائق 👩‍🦳🚌 \u200fe\u0301"
    assert labels(story)["story"]["text"] == story
    assert labels(STORY.replace("coat", "co\x07at\x1b"))["story"]["text"] == STORY


@given(some.text(max_size=80))
def test_whatever_is_written_is_kept_or_turned_back_with_sentences(text):
    try:
        kept = labels(text, {"shortest": 1})["story"]["text"]
    except AnswerRefusedError as refused:
        assert all(reason[0].isupper() and reason[-1] in ".”" for reason in refused.reasons)
    else:
        assert not any(unicodedata.category(sign) == "Cc" and sign != "\n" for sign in kept)


def test_the_settings_say_how_many_words_and_what_is_wrong_with_them():
    assert protocol.settings({"shortest": 20, "longest": 20})["longest"] == 20
    for wrong, count in (
        ({"shortest": 0, "longest": 9999, "pastes": "yes", "colour": 1}, 4),
        ({"shortest": 200, "longest": 100}, 1),
    ):
        with pytest.raises(SettingsRefusedError) as refused:
            protocol.settings(wrong)
        assert len(refused.value.reasons) == count


def test_the_page_shows_a_leads_own_instructions_in_paragraphs():
    page = protocol.page({"scenario": "s"}, {}, protocol.settings({"instructions": "One.\n\nTwo."}))
    assert (page["instructions"], page["hint"], page["shortest"], page["longest"]) == (["One.", "Two."], "", 60, 400)
    assert isinstance(protocol, WrittenProtocol)
    assert protocol.page(*protocol.example, protocol.settings({}))["scenario"]


def test_a_copied_story_is_told_with_the_one_it_is_most_like():
    assert isinstance(protocol, ComparingProtocol)
    copy = f"{OTHER[:120]} {STORY[60:]}"
    answers = {7: STORY, 8: OTHER, 9: copy}
    found = protocol.compare({number: {"text": text, "words": 1} for number, text in answers.items()})
    assert {number: like.other for number, like in found.items()} == {7: 9, 9: 7}
    assert 0.5 < found[9].share < found[7].share < 1
    assert found[7].passage in STORY and found[7].passage.startswith("is far away. So I put on")
    assert "".join(text for text, _ in found[9].own) == copy
    assert "".join(text for text, _ in found[9].others) == STORY
    assert "".join(text for text, both in found[9].own if both) in copy[100:]


def test_stories_told_by_different_people_are_not_copies():
    assert protocol.compare({1: {"text": STORY}, 2: {"text": OTHER}, 3: {"text": instructions.EXAMPLE}}) == {}
