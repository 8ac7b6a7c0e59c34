"""Settings that a lead writes: lists of choices as lines, every fault at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.protocols.base import SettingsRefusedError
from hits.protocols.given_settings import COMMON, Given, choice_lines, paragraphs

DEFAULTS = {**COMMON, "labels": ["Yes", "No"]}


def labels_of(*lines):
    found = Given({"labels": list(lines)}, DEFAULTS)
    found.choices("labels", 2)
    return found.done()["labels"]


def test_a_line_becomes_a_choice_whose_id_tells_its_words():
    assert labels_of("Not sure, really", "Yes | It says so.", "n | No | It denies it.") == [
        {"id": "not-sure-really", "text": "Not sure, really"},
        {"id": "yes", "text": "Yes", "help": "It says so."},
        {"id": "n", "text": "No", "help": "It denies it."},
    ]


def test_texts_that_give_the_same_id_get_different_ones():
    assert [label["id"] for label in labels_of("A b", "A-b", "Ä", "Ö")] == ["a-b", "a-b-2", "choice", "choice-2"]


WORDS = some.text(alphabet="abc XYZ09-äß?", min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=60)
@given(some.lists(some.tuples(WORDS, some.one_of(some.just(""), WORDS)), min_size=2, max_size=6))
def test_choices_shown_as_lines_and_read_again_are_the_same(pairs):
    lines = [f"{text} | {help}" if help else text for text, help in pairs]
    try:
        found = labels_of(*lines)
    except SettingsRefusedError as refusal:
        assert all("more than once" in reason for reason in refusal.reasons)
    else:
        assert labels_of(*choice_lines(found)) == found == labels_of(*found)


def test_every_fault_of_a_list_is_told_at_once():
    with pytest.raises(SettingsRefusedError) as refused:
        labels_of("", "Same", "same", "x" * 501, "bad id! | text | help", {"id": 3}, {"id": "b", "text": "a|b"})
    said = " ".join(refused.value.reasons)
    for expected in ("labels 1 has no text", "more than once", "labels 4 is longer", "labels 5 has the id", "labels 6"):
        assert expected in said
    assert "labels 7 has a bar too many" in said


def test_one_choice_is_no_choice():
    with pytest.raises(SettingsRefusedError, match="2 to 40 lines, not 1"):
        labels_of("Alone")


@pytest.mark.parametrize(
    ("name", "value"),
    [("instructions", 5), ("comment", "yes"), ("min_seconds", True), ("min_seconds", 601), ("early_submit", "scold"),
     ("instructions", "x" * 10_001), ("labels", "Yes"), ("colour", "red")],
)  # fmt: skip
def test_a_setting_of_the_wrong_kind_is_refused_by_its_name(name, value):
    found = Given({name: value}, DEFAULTS)
    found.choices("labels", 2)
    with pytest.raises(SettingsRefusedError, match=name):
        found.done()


def test_blank_lines_part_paragraphs():
    assert paragraphs("One\ntwo\n \n\nThree\n") == ["One\ntwo", "Three"]
