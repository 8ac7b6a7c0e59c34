import unicodedata

from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.words import FUNCTION_WORDS, content_words, placed, unit_words, words


def test_a_word_is_letters_marks_and_digits_joined_by_apostrophes():
    assert words("Don’t PANIC, it's 5.30 at Zoë's — ok?") == ["don't", "panic", "it's", "5", "30", "at", "zoë's", "ok"]
    assert words("'quoted' rock 'n' roll' s") == ["quoted", "rock", "n", "roll", "s"]


def test_composed_and_decomposed_letters_are_the_same_word():
    assert words("cafe\u0301 naïve") == words("CAFÉ nai\u0308ve") == ["café", "naïve"]


def test_emoji_and_punctuation_are_no_words_and_other_scripts_are():
    assert words("❤️ 👩‍👩‍👧 … ؟ שָׁלוֹם नमस्ते") == ["שָׁלוֹם", "नमस्ते"]


def test_a_word_is_found_where_it_stands():
    text = "\tZOE\u0308’s cats — 5 of them."
    assert [(word, text[start:end]) for word, start, end in placed(text)] == [
        *[("zoë's", "ZOE\u0308’s"), ("cats", "cats"), ("5", "5"), ("of", "of"), ("them", "them")]
    ]


def test_content_words_leave_out_what_holds_a_sentence_together():
    text = "The dog's owner did n't say that he'd been at the vet, and they wo nt ask."
    assert content_words(text) == ["dog", "owner", "say", "vet", "ask"]


@given(some.text(max_size=60))
def test_every_word_begins_with_a_letter_or_digit_and_is_found_again_alone(text):
    for word in words(text):
        assert unicodedata.category(word[0])[0] in "LNC"  # C: a letter that Python's older tables do not know
        assert words(word) == [word]
        assert [found for found, _, _ in placed(word)] == [word]
    assert not FUNCTION_WORDS.intersection(content_words(text))


def test_the_words_of_units_are_words_and_single_characters_where_no_spaces_are_written():
    assert unit_words("ZOE\u0308’s cats saw 東京.") == ["zoë's", "cats", "saw", "東", "京"]
