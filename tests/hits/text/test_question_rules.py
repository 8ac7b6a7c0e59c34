"""Which questions are taken, and what is said about the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.questions.question_rules import NARRATOR_WORDS, OPENING_WORDS, Rules, asked, faults, question_words

TAKEN = [
    "What did they put into the bowl?",
    "When had they done the dishes?",
    "How long was it in the oven",
    "Who’s the one that paid?",
    "Which of them can't swim yet?",  # a modal verb, though not the first word
    "Where is the isle of Skye?",
    "To whom did they write?",
    "What was under the mast?",  # neither "us" nor "me" inside another word
    "Whatever did the meter show?",
    "Antlers hung above which door?",
    "20 minutes later, what happened?",
    "In the US, what is eaten?",
    "What is eaten in the us at noon?",
    "Where do US’s farmers go?",
    "IN THE US WHAT IS EATEN?",
    "你 在 哪 里？",
]
OPENINGS = [
    *["Did they go to the shop?", "DID THEY GO TO THE SHOP?", "did they go to the shop?", "  Did they go there?"],
    *["“Did they go to the shop?”", "'Did they go to the shop?'", "‘Did they go there?", "¿Did they go there?"],
    *[
        "\u200fDid they go there?",
        "\u202bDid they go there?",
        "\ufeffDid they go there?",
        "D\u00adi\u200bd it go on?",
    ],
    *["1. Did they go there?", "(1) Was it there, then?", "- Did they go there?", "Ｄｉｄ they go there?"],
    *["Didn't they go there?", "Didn’t they go there?", "Didnʼt they go there?", "Didn`t they go there?"],
    *["Didn´t they go there?", "Didn′t they go there?", "didnt they go there?", "ISN'T it raining today?"],
    *["Can’t they go there?", "Won't they go there?", "Shan't they go there?", "Cannot they go there?"],
    *["D'you know the shop?", "Mustn't they go there?", "Was’nt it a good cake?", "Ought they to go there?"],
]
NARRATORS = [
    *["What did I buy there?", "What did i buy there?", "Who gave me the bag?", "Whose bag was mine then?"],
    *["Where was my red bag?", "Who did it but myself?", "What did you do then?", "Where was your red bag?"],
    *["Which bag was yours then?", "What did we do then?", "Who gave us the bag?", "Whose was our red bag?"],
    *["What I'm about to do?", "What I’m about to do?", "Why thinks I‘d be late?", "What Iʼve got in there?"],
    *["When we're in the shop?", "When you`d be in it?", "When we′ll be in it?", "What Im about to do?"],
    *["What did the narrator buy?", "Where was the narrator’s bag?", "What did the Storyteller buy?"],
    *["WHO GAVE US THE BAG?", "Who gave Us the bag?"],
    *[
        "Who said “I am late” there?",
        "What was in (my) bag?",
        "What did my\u200bself do?",
        "Why is y’all so late?",
    ],
]


@pytest.mark.parametrize("text", TAKEN)
def test_a_question_of_something_else_is_taken(text):
    assert faults(text) == []


@pytest.mark.parametrize("text", OPENINGS)
def test_what_yes_or_no_would_answer_is_refused_however_it_is_written(text):
    (told,) = faults(text)
    assert told.startswith("The question begins with “") and told.endswith("Begin with what, who, where, when or how.")


@pytest.mark.parametrize("text", NARRATORS)
def test_the_person_who_tells_the_story_is_they(text):
    (told,) = faults(text)
    assert told.startswith("The question says “") and "they, them, their" in told


def test_every_word_of_the_lists_is_refused():
    for word in OPENING_WORDS:
        assert question_words(word) == [word], "a word of the list is one word"
        assert "begins with" in faults(f"{word.capitalize()} the cake then eaten?")[0]
    for word in NARRATOR_WORDS:
        assert question_words(word) == [word]
        assert "says" in faults(f"Where then was {word} standing?")[0]


def test_words_are_counted_with_numbers_and_without_marks():
    assert faults("How many eggs?", "Question 2") == ["Question 2 has 3 words. Ask in at least 4 words."]
    assert faults("Why?!? — …", "Question 2") == ["Question 2 has 1 word. Ask in at least 4 words."]
    assert faults("Why 20 more eggs?") == []
    assert faults("Why an ice-cream?") == []
    assert faults("Why?", rules=Rules(fewest_words=1)) == []


@pytest.mark.parametrize("text", ["", "?!", "\u200b\u200f", "😀 🎂", "“ ”"])
def test_a_text_without_a_word_is_told_one_thing(text):
    assert faults(text, "Question 7") == ["Question 7 is not written yet. Ask in at least 4 words."]


def test_everything_wrong_is_told_at_once_and_in_bounded_sentences():
    told = faults("Did you give me my " + "x" * 300, "Question 1")
    assert told == [
        "Question 1 begins with “did”, so yes or no would answer it. Begin with what, who, where, when or how.",
        "Question 1 says “you”, “me”, “my”. Call whoever tells the story “they”, as in they, them, their.",
        "Question 1 has 319 characters. Shorten it to 300 or fewer.",
    ]
    long = faults("Did'" + "x" * 9000 + " you'" + "d" * 9000)
    assert len(long) == 4 and all(len(sentence) < 250 for sentence in long)
    assert faults("What is it about 😀" + "😀" * 282) == []


def test_the_lists_are_a_leads_to_choose():
    rules = Rules(openings=frozenset({"why"}), narrator=frozenset({"hero"}))
    assert faults("Did you see what I saw?", rules=rules) == []
    assert "“why's”" in faults("Why's the hero's horse so slow?", rules=rules)[0]
    assert "“hero's”" in faults("Why's the hero's horse so slow?", rules=rules)[1]


@given(some.text(alphabet="abcdefgh “”?!.,", max_size=40))
def test_questions_that_differ_in_case_spacing_and_marks_alone_ask_the_same(text):
    assert asked(text) == asked(f" “{text.upper()}\n”?! ")
    assert asked(f"{text} x") != asked(text)
