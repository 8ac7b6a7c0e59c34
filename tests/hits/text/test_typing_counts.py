"""What a page counted of typing comes back from a form that anybody can fill."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.originality.typing_counts import LARGEST, LONGEST, MOST_FIELDS, Counts, is_possible, read, spelled, total

NAMES = {"story", "why"}


def test_what_a_page_posts_is_read_field_by_field():
    found = read('{"story":[120,40,1,7,3,31],"why":[0,0,0,0,0,0]}', NAMES)
    assert found == {"story": Counts(120, 40, 1, 7, 3, 31), "why": Counts()}
    assert spelled(found) == {"story": [120, 40, 1, 7, 3, 31], "why": [0] * 6}
    assert total(found.values()) == Counts(typed=120, pasted=40, pastes=1, deletions=7, pauses=3, seconds=31)


def test_a_browser_without_scripts_posts_nothing_and_other_fields_are_left_out():
    assert read("", NAMES) == {}
    assert read('{"other":[1,0,0,0,0,1]}', NAMES) == {}


@pytest.mark.parametrize(
    "posted",
    [
        "typed a lot",
        "[]",
        "7",
        "null",
        '{"story":12}',
        '{"story":[1,2,3]}',
        '{"story":[-1,0,0,0,0,0]}',
        '{"story":[1.5,0,0,0,0,0]}',
        '{"story":[true,0,0,0,0,0]}',
        '{"story":["1",0,0,0,0,0]}',
        '{"story":[1e400,0,0,0,0,0]}',
        json.dumps({"story": [LARGEST + 1, 0, 0, 0, 0, 0]}),
        json.dumps({f"f{n}": [0] * 6 for n in range(MOST_FIELDS + 1)}),
        '{"story":[1,0,0,0,0,0]}' + " " * LONGEST,
        "[" * 5000,
    ],
)
def test_what_no_page_posts_is_told_from_nothing(posted):
    assert read(posted, NAMES) is None


@given(some.text(max_size=60) | some.recursive(some.integers() | some.text(max_size=3), some.lists).map(json.dumps))
def test_whatever_comes_is_read_or_refused_and_nothing_is_raised(posted):
    found = read(posted, NAMES)
    assert found is None or found == {}


@pytest.mark.parametrize(
    ("counts", "seconds", "possible"),
    [
        (Counts(typed=300, seconds=40), 60, True),
        (Counts(typed=12 * 60, seconds=60), 61, True),
        (Counts(), 0, True),
        (Counts(pasted=9000, pastes=1), 2, True),
        (Counts(typed=5000, seconds=3), 3, False),
        (Counts(typed=300, seconds=400), 60, False),
        (Counts(typed=10, pasted=100, pastes=0), 60, False),
    ],
)
def test_more_than_the_time_allows_is_impossible(counts, seconds, possible):
    assert is_possible(counts, seconds) is possible
