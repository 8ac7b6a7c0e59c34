"""Stories that share their wording."""

import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.words import words
from hits.text.originality.near_duplicates import Similar, contained, longest_common, marked, passages, repeats, similar
from tests.hits.formats.shared_data import shared_file

SOUP = "First I cut the onions, and then I cried a little. I put them into the pot with some oil and stirred."
TEA = "We boil water in the big kettle before anybody comes home. Then I put two spoons of leaves in the pot."
LETTERS = some.lists(some.sampled_from(list("abcde")), max_size=14).map(" ".join)


def plain_passages(text):
    found = text.split()
    return {tuple(found[at : at + 5]) for at in range(max(1, len(found) - 4))} if found else set()


@given(LETTERS, LETTERS)
def test_shares_are_those_of_sets_of_five_words(text, other):
    own, theirs = plain_passages(text), plain_passages(other)
    assert len(passages(text)) == len(own)
    assert contained(text, other) == (len(own & theirs) / len(own) if own else 0)
    found = similar({"own": text, "other": other}, least=0.01).get("own", [])
    shared = len(own & theirs)
    assert found == ([Similar("other", shared / len(own), shared / len(own | theirs))] if shared else [])


@given(some.lists(LETTERS, max_size=6))
def test_the_index_finds_what_comparing_each_with_each_finds(texts):
    by_number = dict(enumerate(texts))
    wanted = {
        at: {no for no, other in by_number.items() if no != at and contained(text, other) >= 0.3 and passages(text)}
        for at, text in by_number.items()
    }
    found = similar(by_number, least=0.3, most=9)
    assert {at: {one.key for one in others} for at, others in found.items()} == {k: v for k, v in wanted.items() if v}
    for others in found.values():
        assert [-one.contained for one in others] == sorted(-one.contained for one in others)


def test_case_spacing_punctuation_and_apostrophes_make_no_other_story():
    assert contained(SOUP, SOUP.upper().replace(" ", "\n  ").replace(".", "!!")) == 1
    assert contained("I don't know what it was", "I don’t know what it was") == 1


def test_a_story_copied_into_a_longer_one_is_found_from_its_own_side():
    found = similar({"soup": SOUP, "both": f"{SOUP} {TEA}", "tea": "Nothing of the kind was ever told."}, least=0.3)
    assert (found["soup"][0].key, found["soup"][0].contained) == ("both", 1.0)
    assert found["both"][0].contained == pytest.approx(18 / 39)
    assert "tea" not in found


def test_the_first_of_equal_ones_comes_first_and_three_are_enough():
    found = similar(dict.fromkeys("abcdef", SOUP), least=0.3)
    assert [one.key for one in found["d"]] == ["a", "b", "c"]
    assert [one.key for one in found["a"]] == ["b", "c", "d"]


def test_the_longest_common_passage_is_told_as_it_was_written():
    other = f"My aunt says: {TEA[:58].lower().replace(' ', '  ')}, if he comes. Two spoons."
    assert longest_common(TEA, other) == "We boil water in the big kettle before anybody comes home"
    assert longest_common("abc", "xyz") == longest_common("", "xyz") == longest_common("abc", "") == ""


def test_shared_passages_are_marked_where_they_stand():
    other = "Before that we boil water in the big kettle. <b>Then</b> I put two spoons of sugar in."
    found = marked(TEA, other)
    assert "".join(piece.text for piece in found) == TEA
    told = [piece.text for piece in found if piece.shared]
    assert told == ["We boil water in the big kettle", "I put two spoons of"]  # "Then" stands beside a <b> there
    assert "".join(piece.text for piece in marked(other, TEA)) == other


@given(some.text(max_size=40), some.text(max_size=40))
def test_marking_keeps_every_character(text, other):
    assert "".join(piece.text for piece in marked(text, other)) == text
    assert "".join(piece.text for piece in marked(text + other, text)) == text + other


def test_a_story_pasted_twice_repeats_half_of_itself():
    assert repeats(f"{SOUP}\n{SOUP}").share == 0.5
    assert repeats(f"{SOUP}\n{SOUP}").passage == "First I cut the onions"
    assert repeats("I ate cake. " * 30).share == pytest.approx(87 / 90)
    assert (repeats(SOUP).share, repeats(SOUP).passage) == (0, "")
    assert repeats("").share == repeats("No, no!").share == 0


def test_letters_of_all_scripts_and_texts_without_any_are_compared():
    arabic = "وضعت الماء في الإبريق ثم أضفت الشاي والسكر"
    assert contained(arabic, f"{arabic} 👩‍🍳 ثم شربت") == 1
    assert similar({1: "👩‍🍳 … !", 2: "👩‍🍳 … !", 3: ""}, least=0.3) == {}


def test_two_hundred_stories_take_no_longer_when_all_are_copies_of_one_another():
    varied = {at: " ".join(f"{word}{at}" for word in (SOUP + TEA).split() * 5) for at in range(200)}
    copied = dict.fromkeys(range(200), " ".join(f"word{at}" for at in range(200)))
    for texts, found in ((varied, 0), (copied, 200)):
        start = time.process_time()
        assert len(similar(texts, least=0.3)) == found
        assert time.process_time() - start < 3


def test_independent_stories_of_a_real_collection_share_next_to_nothing():
    """Where the limits of 30 % lie: far above what stories about one scenario have in common by themselves."""
    root = ElementTree.parse(shared_file("mcscript/dev-data.xml")).getroot()
    scenarios = defaultdict(dict)
    for instance in root.iter("instance"):
        scenarios[instance.get("scenario")][instance.get("id")] = instance.findtext("text")
    assert max(len(stories) for stories in scenarios.values()) >= 2
    for stories in scenarios.values():
        assert similar(stories, least=0.1) == {}
        assert max(repeats(text).share for text in stories.values()) < 0.1
        assert min(len(words(text)) for text in stories.values()) > 60
