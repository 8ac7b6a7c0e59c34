"""How a file may name a choice, and counts in sentences."""

from __future__ import annotations

import pytest

from hits.text.language.amounts import agreeing, amount
from hits.text.spellings import meant

CHOICES = [("c1", "Yes", "1"), ("c2", "No", "2"), ("c3", "1", "3")]


@pytest.mark.parametrize(
    ("said", "ident"), [("No", "c2"), ("c1", "c1"), ("2", "c2"), ("1", "c3"), ("3", "c3"), ("4", None), ("", None)]
)
def test_a_choice_is_meant_by_its_text_its_id_or_its_number_in_that_order(said: str, ident: str | None) -> None:
    assert meant(said, CHOICES) == ident


def test_one_is_singular_and_all_else_plural() -> None:
    assert [amount(n, "item") for n in (0, 1, 1204)] == ["0 items", "1 item", "1,204 items"]
    assert [agreeing(n, "goes", "go") for n in (0, 1, 2)] == ["go", "goes", "go"]
