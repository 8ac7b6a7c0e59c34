import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.words import FUNCTION_WORDS
from hits.text.questions.overlap import Limits, advice, compared

PARAGRAPH = "We missed the last ferry, so Tomas phoned his aunt. She drove us home in her old van, singing."
texts = some.lists(some.sampled_from(["ferry", "aunt", "van", "the", "we", "bus", "rain", "Tomas's", "24"])).map(
    " ".join
)


def share_of(answer, paragraph):
    reused, total = compared(answer, paragraph)
    return len(reused) / total if total else 0.0


def recomputed_share(answer, paragraph):
    """Written another way on purpose: plain ASCII words, counted off one by one."""
    pieces = [re.sub(r"'s$", "", word) for word in re.findall(r"[a-z0-9]+(?:'[a-z]+)?", answer.lower())]
    content = [word for word in Counter(pieces) if word not in FUNCTION_WORDS]
    found = [word for word in content if re.search(rf"\b{word}\b", paragraph.lower())]
    return len(found) / len(content) if content else 0.0


@given(texts, texts)
def test_the_reused_share_agrees_with_an_independent_count(answer, paragraph):
    assert share_of(answer, paragraph) == recomputed_share(answer, paragraph)
    assert 0.0 <= share_of(answer, paragraph) <= 1.0


def test_only_content_words_count_and_each_of_them_once():
    assert share_of("She was in the old van, the OLD van.", PARAGRAPH) == 1.0
    assert share_of("Tomas's aunt lent the aunt's money.", PARAGRAPH) == pytest.approx(2 / 4)
    assert share_of("It was on her.", PARAGRAPH) == 0.0


def hints(correct, incorrect, **limits):
    told = advice(PARAGRAPH, correct, incorrect, limits=Limits(**limits))
    return {(hint["field"], hint["kind"]): hint for hint in told}


def test_a_correct_answer_is_told_to_say_it_in_other_words():
    hint = hints(["His aunt phoned the ferry captain."], [])["correct0", "reuse"]
    assert (hint["level"], hint["words"], hint["share"]) == ("change", ["aunt", "phoned", "ferry"], 0.75)
    expected = "3 of 4 main words from the paragraph (aunt, phoned, ferry). Say 2 or more of them in other words."
    assert hint["text"] == expected
    assert hints(["A relative phoned someone nearby."], [])["correct0", "reuse"]["level"] == "good"


def test_an_incorrect_answer_is_told_to_use_more_of_the_paragraph():
    hint = hints([], ["A taxi was quickly ordered by the captain's old boss."])["incorrect0", "reuse"]
    expected = (
        "1 of 6 main words from the paragraph (old). Use 2 or more others of its words, so that this answer tempts."
    )
    assert (hint["level"], hint["text"]) == ("change", expected)
    assert hints([], ["The old van missed the ferry."])["incorrect0", "reuse"]["level"] == "good"


def test_lengths_are_held_against_the_middle_one_of_the_others():
    told = hints(["One two three four five six seven eight nine"], ["One two three", "One two three four", "One"])
    lengths = {field: hint["text"] for (field, kind), hint in told.items() if kind == "length"}
    assert lengths == {
        "correct0": "9 words; the others have about 3. Shorten it to 6 words or fewer.",
        "incorrect0": "3 words; the others have about 4.",
        "incorrect1": "4 words; the others have about 3.",
        "incorrect2": "1 word; the others have about 4. Write 2 words or more.",
    }


@given(some.integers(0, 9), some.integers(0, 9), some.sampled_from([0.0, 0.1, 0.3, 0.4, 0.7, 1.0]))
def test_to_do_exactly_what_the_advice_says_ends_it(taken, own, limit):
    paragraph = " ".join(f"given{at}" for at in range(20))

    def told(taken, own):
        answer = " ".join([*(f"given{at}" for at in range(taken)), *(f"own{at}" for at in range(own))])
        found = advice(paragraph, [answer], [answer], limits=Limits(limit, limit))
        return {hint["field"]: hint for hint in found if hint["kind"] == "reuse"}

    for field, way in (("correct0", -1), ("incorrect0", 1)):
        hint = told(taken, own).get(field)
        if hint and hint["level"] == "change":
            step = way * int(re.search(r"(?:Say|Use) (\d+) or more", hint["text"])[1])
            assert told(taken + step, own - step)[field]["level"] == "good"
            assert told(taken + step - way, own - step + way)[field]["level"] == "change"


def test_empty_fields_get_no_advice_and_are_no_measure_for_others():
    assert [hint["field"] for hint in advice(PARAGRAPH, ["", "Rain fell"], ["  ", "...", "❤️"])] == ["correct1"]
