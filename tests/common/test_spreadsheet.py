from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.spreadsheet import harmless


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "  =1+1",
        "\t=1+1",
        "\n=1+1",
        "\r\n=1+1",
        "\n",
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
        "\u3000＝1+1",
        "\ufeff=1+1",
        "\u200b=1+1",
    ],
)
def test_text_that_a_spreadsheet_runs_gets_an_apostrophe(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["", "a=1", "1-2", "(=1)", "Zoë", " a", -5, 0.5, None])
def test_anything_else_stays_as_it_is(cell: Any) -> None:
    assert harmless(cell) is cell


@given(st.text())
def test_no_text_begins_like_a_formula(text: str) -> None:
    cell = harmless(text)
    assert cell.removeprefix("'") == text or cell == text
    assert unicodedata.normalize("NFKC", cell).lstrip()[:1] not in ("=", "+", "-", "@")
