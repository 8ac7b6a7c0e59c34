from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.names import LONGEST_NAME, name_key, plain_name


@pytest.mark.parametrize(
    "spelling", ["operator", "Operator", " OPERATOR ", "ｏｐｅｒａｔｏｒ", "ＯＰＥＲＡＴＯＲ", "𝓸𝓹𝓮𝓻𝓪𝓽𝓸𝓻"]
)
def test_all_spellings_of_a_name_have_one_key(spelling: str) -> None:
    assert name_key(spelling) == "operator"


def test_names_that_look_alike_in_other_scripts_are_others() -> None:
    assert name_key("оperator") != name_key("operator")  # the first letter is Cyrillic


@given(st.text(max_size=300))
def test_a_key_is_its_own_key_and_not_endless(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key or len(key) > LONGEST_NAME
    assert len(plain_name("\ufdfa" * 100_000)) <= 18 * LONGEST_NAME
