import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.sentences import sentences

odd = some.sampled_from(
    [". ", "? ", "!", '"', "'", "’", "“", "”", "(", ")", "…", " . ", "\n", "\n \n", "\xa0", "\u2028"]
)
known = some.sampled_from(
    ["Dr. ", "a.m. ", "U.S. ", "J. ", "We left", "wo nt", "é", "שלום", "👩‍👧", "\x85", "3.50", "ok "]
)
texts = some.lists(odd | known, max_size=40).map("".join) | some.text(max_size=60)


def split(text):
    return [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["I saw Dr. Weber at 5 p.m. on Friday.", "He was late, as ever."],
        ['"Go home!" she said.', "I went."],
        ["“Is it far?” he asked.", "It was."],
        ["It was ... odd.", "Then it stopped..."],
        ["so we lost it .", "my mom did n't care .", "the end"],
        ["We paid $3.50 at Jo's, i.e. too much.", "Never again!!"],
    ],
)
def test_it_splits_everyday_texts(expected):
    assert split(" ".join(expected)) == expected


def test_a_blank_line_ends_a_sentence_and_a_line_end_does_not():
    assert split("My\nday\r\n \r\nIt began.") == ["My\nday", "It began."]


def test_a_mark_without_its_fellow_does_not_swallow_the_rest():
    rest = ["We walked along the river until the light was gone."] * 8
    for stray in ('"', "' em ", "( "):
        assert split(" ".join([f"Then {stray}we ate.", *rest]))[1:] == rest


@given(texts)
def test_every_character_but_space_lies_in_exactly_one_sentence_at_its_offsets(text):
    found = sentences(text)
    assert all(text[one.start : one.end] == one.text == one.text.strip() != "" for one in found)
    assert all(a.end <= b.start for a, b in zip(found, found[1:], strict=False))
    assert "".join("".join(split(text)).split()) == "".join(text.split())
