"""What becomes of a DataFrame, of rows and of a file on their way in, and of results on their way out."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

from annotate_client import TableError
from annotate_client.tables import RESULT_COLUMNS, as_file, frame_of


def sent(table: Any, name: str | None = None) -> list[dict[str, Any]]:
    with as_file(table, name) as (called, file):
        assert called == "rows.jsonl"
        return [json.loads(line) for line in file.read().decode().split("\n") if line]


def test_a_frame_becomes_a_line_for_each_row_without_its_index() -> None:
    frame = pandas.DataFrame({"id": ["a", "b"], "text": ["Ö\u2028x", 'two\n"lines"']}, index=[7, 8])
    assert sent(frame) == [{"id": "a", "text": "Ö\u2028x"}, {"id": "b", "text": 'two\n"lines"'}]


def test_cells_that_are_not_there_are_empty_and_whole_numbers_stay_whole_beside_them() -> None:
    frame = pandas.DataFrame({
        "gold": [2, None], "score": [0.25, None], "text": ["a", None],
        "day": [pandas.Timestamp("2026-03-02"), pandas.NaT], "some": pandas.array([3, None], dtype="Int64"),
    })  # fmt: skip
    assert sent(frame) == [
        {"gold": 2, "score": 0.25, "text": "a", "day": "2026-03-02T00:00:00", "some": 3},
        {"gold": None, "score": None, "text": None, "day": None, "some": None},
    ]


def test_fractions_that_happen_to_be_whole_stay_fractions() -> None:
    with as_file(pandas.DataFrame({"share": [1.0, 2.0]}), None) as (_, file):
        assert file.read() == b'{"share": 1.0}\n{"share": 2.0}\n'


def test_rows_may_lack_columns_and_hold_what_json_has_not() -> None:
    rows = [
        {"id": "a", "day": date(2026, 3, 2), "price": Decimal("1.50"), "choices": ("x", "y")},
        {"id": numpy.int64(7), "more": numpy.array([1, 2]), "nan": float("nan"), "gone": pandas.NA, "yes": True},
    ]
    first, second = sent(rows)
    assert first == {
        "id": "a", "day": "2026-03-02", "price": "1.50", "choices": ["x", "y"],
        "more": None, "nan": None, "gone": None, "yes": None,
    }  # fmt: skip
    assert (second["id"], second["more"], second["yes"]) == (7, [1, 2], True)
    assert second["nan"] is second["gone"] is second["day"] is None


def test_a_file_is_sent_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"id;text\n")
    with as_file(str(file), None) as (name, stream):
        assert (name, stream.read()) == ("rows.csv", b"id;text\n")
    with pytest.raises(FileNotFoundError), as_file(tmp_path / "other.csv", None):
        pass


def test_everything_that_cannot_be_sent_is_named_at_once() -> None:
    rows = [{"id": "a", "text": object()}, {"id": float("inf"), "text": "\ud800"}]
    with pytest.raises(TableError) as caught:
        sent(rows)
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["row 1, text", "row 2, id", "row 2, text"]
    assert "object" in str(caught.value) and "half of a character" in str(caught.value)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([], "no rows"),
        (pandas.DataFrame({"id": []}), "no rows"),
        ([{}], "no rows, or no columns"),
        (["a text"], "row 1: 'a text' is no row"),
        ([{"id": 1}, 5], "row 2: 5 is no row"),
        (pandas.DataFrame([[1, 2]]), "0 is no name of a column"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "'a' is the name of two columns"),
    ],
)
def test_what_is_no_table_is_said(table: Any, said: str) -> None:
    with pytest.raises(TableError, match=said):
        sent(table)


RESULT = {
    "item": "a", "unit": "choice", "worker": "w1", "value": ["x"], "value_text": "X", "correct": True, "gold": None,
    "gold_text": "", "submitted_at": "2026-03-02T10:00:00.123456+00:00", "seconds": 3, "batch": "1",
}  # fmt: skip


def test_results_become_a_frame_with_moments_and_truth_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotate_client.tables.ROWS_AT_ONCE", 2)
    rows = [
        RESULT,
        {**RESULT, "value": 3, "correct": None, "submitted_at": "2026-03-02T10:00:00+00:00"},
        {**RESULT, "value": None, "correct": False, "seconds": None},
    ]
    frame = frame_of(iter(rows))
    assert list(frame.columns) == list(RESULT_COLUMNS)
    assert frame["value"].tolist() == [["x"], 3, None]
    assert frame["correct"].dtype == "boolean" and frame["correct"].mean() == 0.5
    assert str(frame["submitted_at"].dt.tz) == "UTC"
    assert frame["seconds"].sum() == 6 and frame["seconds"].isna().sum() == 1


def test_no_results_are_a_frame_with_the_same_columns_and_types() -> None:
    empty, one = frame_of([]), frame_of([RESULT])
    assert list(empty.columns) == list(one.columns) and len(empty) == 0
    assert [str(kind) for kind in empty.dtypes[["correct", "seconds", "submitted_at"]]] == [
        str(kind) for kind in one.dtypes[["correct", "seconds", "submitted_at"]]
    ]
