"""What the command line prints for programs and spreadsheets."""

from __future__ import annotations

import csv

import pytest

from annotate_client.cli.output import show_rows


def test_no_cell_of_a_csv_file_is_a_formula_whatever_separator_it_is_read_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = ["=1+1", " +f(1)", "@SUM(1)", "\u200b=1", "1;=1+1;2", '1;"=1+1&";2', "a\t＝1", "a\n-2+f(1)"]
    show_rows([{"=comment": text, "amount": "-1.50", "plain": "a-b; 5"} for text in texts], "csv")
    written = capsys.readouterr().out
    assert written.count(",-1.50,a-b; 5\n") == len(texts)
    for separator in (",", ";", "\t"):
        for row in csv.reader(written.splitlines(), delimiter=separator):
            cells = [cell.strip(" \u200b")[:1] for cell in row if cell != "-1.50"]
            assert not [first for first in cells if first and first in "=+-@＝"], row
