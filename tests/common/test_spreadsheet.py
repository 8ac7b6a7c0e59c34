from __future__ import annotations

import csv
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.spreadsheet import as_written, csv_lines, harmless


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "  =1+1",
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


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("1;=1+1;2", "1;'=1+1;2"),
        ("1; +f(1)", "1;' +f(1)"),
        ("a\t@SUM(A1)", "a\t'@SUM(A1)"),
        ("a\n-2+cmd|' /C calc'!A0", "a\n'-2+cmd|' /C calc'!A0"),
        ("a\r\n=1", "a\r\n'=1"),
        ("a;'=1", "a;''=1"),
        ('1;"=1+1&";2', '1;\'"=1+1&";2'),
        ("\t=1+1", "'\t'=1+1"),
        ("\r\n=1+1", "'\r\n'=1+1"),
    ],
)
def test_a_formula_after_a_separator_or_an_end_of_line_gets_one_too(text: str, cell: str) -> None:
    assert harmless(text) == cell


def test_a_file_has_no_live_cell_whatever_separator_it_is_read_with() -> None:
    lines = list(csv_lines(["=head"], [["1;=1+1;2", "a\n+f(1)", -5], ["b", "\t=x", '1;"=1']]))
    assert lines[:2] == ["'=head\r\n", "1;'=1+1;2,\"a\n'+f(1)\",-5\r\n"]
    for separator in (",", ";", "\t"):
        for row in csv.reader("".join(lines).splitlines(), delimiter=separator):
            assert not [cell for cell in row if cell.lstrip()[:1] in ("=", "+", "@")]


@pytest.mark.parametrize(
    "cell",
    ["", "a;b", "a\nb", "a; 5", "a\n- b\n@highlight\nc", "a\n\nb", "a=1", "1-2", "(=1)", "Zoë", " a", -5, 0.5, None],
)
def test_anything_else_stays_as_it_is(cell: Any) -> None:
    assert harmless(cell) == cell


@given(st.text())
def test_no_text_begins_like_a_formula(text: str) -> None:
    first, *others = re.split("[;\t\r\n]", harmless(text))
    assert unicodedata.normalize("NFKC", first).lstrip()[:1] not in ("=", "+", "-", "@")
    assert not [piece for piece in others if unicodedata.normalize("NFKC", piece).lstrip()[:1] == "="]


@given(st.text("a'\"=-(;\t\r\n \u200b＝") | st.text())
def test_what_was_written_is_read_again(text: str) -> None:
    assert as_written(harmless(text)) == text
