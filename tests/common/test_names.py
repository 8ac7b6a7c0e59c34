from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.names import LONGEST_NAME, name_fault, name_key, plain_name


@pytest.mark.parametrize(
    "spelling", ["operator", "Operator", " OPERATOR ", "ｏｐｅｒａｔｏｒ", "ＯＰＥＲＡＴＯＲ", "𝓸𝓹𝓮𝓻𝓪𝓽𝓸𝓻"]
)
def test_all_spellings_of_a_name_have_one_key(spelling: str) -> None:
    assert name_key(spelling) == "operator"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("lead", ""), ("Жанна", ""), ("жанна.7", ""), ("たなかtaro", ""), ("김민수", ""), ("Ana-María", ""),
        ("оperator", "several scripts"),  # the first letter is Cyrillic
        ("lead\u3164", "U+3164"), ("le\u200bad", "U+200B"), ("\u202edael", "U+202E"), ("lead\u115f", "U+115F"),
        ("асе", "look like Latin"),  # all Cyrillic
        (".", "dots alone"), ("..", "dots alone"),
    ],
)  # fmt: skip
def test_a_new_name_is_visible_of_one_script_and_more_than_dots(name: str, fault: str) -> None:
    assert fault in name_fault(name) and bool(fault) == bool(name_fault(name))


@given(st.text(max_size=300))
def test_a_key_is_its_own_key_and_not_endless(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key or len(key) > LONGEST_NAME
    assert len(plain_name("\ufdfa" * 100_000)) <= 18 * LONGEST_NAME
