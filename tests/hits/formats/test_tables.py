"""The tables of a release, read back by Arrow's own readers, which the usual data-set libraries load files with."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import json as arrow_json
from pyarrow import parquet

from hits.formats.inputs import cosmos
from hits.formats.outputs.parquet_process import schema_of
from hits.formats.outputs.tables import (
    COSMOS_TYPES,
    FORMATS,
    pieces_of,
    write_all,
    write_csv,
    write_jsonl,
    write_parquet,
)

COLUMNS = ("key", "text", "number", "share", "kept")
TYPES = {"key": "string", "text": "string", "number": "int64", "share": "float64", "kept": "bool"}
ROW = {"key": "a", "text": '=1+1, "quoted"\nand \u05e9\u05dc\u05d5\u05dd \U0001f600', "number": 2, "share": 0.1}
ROW["kept"] = True
SET = cosmos.QuestionSet("k1", "We ran.", "Why?", ("To win.", "To lose.", "+1", "None"), 2)


def written(rows: Any, columns: Any = COLUMNS, types: Any = TYPES, formats: Any = FORMATS) -> dict[str, bytes]:
    streams = {name: io.BytesIO() for name in formats}
    write_all(rows, columns, types, streams)
    return {name: stream.getvalue() for name, stream in streams.items()}


def loaded(files: dict[str, bytes]) -> dict[str, pyarrow.Table]:
    parsing = arrow_csv.ParseOptions(newlines_in_values=True)
    return {
        "csv": arrow_csv.read_csv(io.BytesIO(files["csv"]), parse_options=parsing),
        "jsonl": arrow_json.read_json(io.BytesIO(files["jsonl"])),
        "parquet": parquet.read_table(io.BytesIO(files["parquet"])),
    }


def test_the_three_formats_load_with_the_same_columns_types_and_values():
    rows = [ROW, {**ROW, "key": "b", "kept": False, "share": -2.5e-9, "number": -(2**63)}]
    for table in loaded(written(rows)).values():
        assert table.schema.remove_metadata() == schema_of(TYPES)
        assert table.to_pylist() == rows


def test_question_sets_load_with_texts_and_a_whole_number():
    other = replace(SET, answers=("1", "2", "To rest.", "3"), label=0)
    rows = [
        {"id": one.key, "context": one.context, "question": one.question}
        | {f"answer{at}": answer for at, answer in enumerate(one.answers)}
        | {"label": one.label}
        for one in (SET, other)
    ]
    files = written(rows, cosmos.COLUMNS, COSMOS_TYPES)
    for table in loaded(files).values():
        assert table.column_names == list(cosmos.COLUMNS)
        assert [str(field.type) for field in table.schema] == ["string"] * 7 + ["int64"]
        assert table.to_pylist()[1]["answer0"] == "1"
    assert files["csv"].split(b"\r\n")[1] == b"k1,We ran.,Why?,To win.,To lose.,+1,None,2"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
rows = st.fixed_dictionaries(
    {
        "key": texts,
        "text": texts | st.none(),
        "number": st.integers(-(2**63), 2**63 - 1) | st.none(),
        "share": st.floats(allow_nan=False, allow_infinity=False) | st.none(),
        "kept": st.booleans() | st.none(),
    }
)


@settings(max_examples=60)
@given(st.lists(rows, max_size=4))
def test_whatever_is_written_is_read_back(drawn):
    files = written(drawn, formats=("csv", "jsonl"))
    assert [json.loads(line) for line in files["jsonl"].decode().split("\n")[:-1]] == drawn
    head, *lines = csv.reader(io.StringIO(files["csv"].decode(), newline=""))
    assert tuple(head) == COLUMNS
    as_cells = [["" if row[name] is None else str(row[name]) for name in COLUMNS] for row in drawn]
    assert lines == [[*cells[:4], cells[4].lower()] for cells in as_cells]


# Each table takes a process.
@settings(max_examples=8)
@given(st.lists(rows, min_size=1, max_size=30))
def test_whatever_is_written_as_parquet_is_read_back(drawn):
    files = written(drawn, formats=("parquet",))
    assert parquet.read_table(io.BytesIO(files["parquet"])).to_pylist() == drawn


def test_the_same_rows_give_the_same_bytes_in_one_pass_or_three_and_in_another_process():
    many = [{**ROW, "number": number} for number in range(4500)]
    files, apart = written(iter(many)), {name: io.BytesIO() for name in ("csv", "jsonl", "parquet")}
    assert write_csv(many, COLUMNS, apart["csv"]) == 4500
    assert write_jsonl(many, COLUMNS, apart["jsonl"]) == 4500
    assert write_parquet(many, TYPES, apart["parquet"]) == 4500
    assert files == {name: stream.getvalue() for name, stream in apart.items()}
    program = (
        "import sys; from hits.formats.outputs.tables import write_parquet;"
        f"many = ({{**{ROW!r}, 'number': number}} for number in range(4500));"
        f"write_parquet(many, {TYPES}, sys.stdout.buffer)"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE).stdout == files["parquet"]


def test_parquet_has_groups_of_the_asked_size_and_the_order_of_the_schema():
    stream = io.BytesIO()
    turned = ({name: ROW[name] for name in reversed(COLUMNS)} for _ in range(25))
    write_parquet(turned, TYPES, stream, row_group=10)
    metadata = parquet.read_metadata(stream)
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [10, 10, 5]
    assert parquet.read_schema(stream).names == list(COLUMNS)


def test_parquet_and_json_lines_hold_nested_values():
    nested = [{"spans": [{"start": 3}]}, {"spans": []}]
    stream, lines = io.BytesIO(), io.BytesIO()
    write_parquet(nested, {"spans": [{"start": "int64"}]}, stream)
    write_jsonl(nested, ["spans"], lines)
    assert (
        parquet.read_table(stream).to_pylist() == [json.loads(line) for line in lines.getvalue().splitlines()] == nested
    )


def test_pieces_of_batches_are_the_lines_of_the_table_whatever_their_values_hold():
    first = [["a", "100 %s"], [[1, {"x": "y\n"}], {}], [None, True]]
    second = [["=1\n"], [2.5], [False]]
    columns = ("50 %", "nested", "kept")
    lines = b"".join(pieces_of([first, second], columns, {}, "jsonl")).decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"50 %": "a", "nested": [1, {"x": "y\n"}], "kept": None},
        {"50 %": "100 %s", "nested": {}, "kept": True},
        {"50 %": "=1\n", "nested": 2.5, "kept": False},
    ]
    flat = [["a", " =1"], ["-2", "=1"], [None, True]]
    assert b"".join(pieces_of([flat, second], columns, {}, "csv")).decode() == (
        "50 %,nested,kept\r\na,'-2,\r\n' =1,'=1,true\r\n\"'=1\n\",2.5,false\r\n"
    )
    with pytest.raises(ValueError, match="a batch has 2 columns, and the table 3"):
        b"".join(pieces_of([flat[:2]], columns, {}, "csv"))


def test_a_table_without_rows_still_has_its_columns():
    files = written([])
    assert files["csv"] == b"key,text,number,share,kept\r\n" and files["jsonl"] == b""
    assert parquet.read_schema(io.BytesIO(files["parquet"])) == schema_of(TYPES)


class Weak(dict[str, Any]):
    """A row that a weak set can hold."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class Counting(io.RawIOBase):
    """Swallows what is written and counts it."""

    size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        return len(data)


def test_no_more_than_one_group_of_rows_is_held_at_a_time():
    alive: WeakSet[Weak] = WeakSet()
    streams = {name: Counting() for name in ("csv", "jsonl", "parquet")}
    seen: list[tuple[int, int]] = []

    def many() -> Iterator[Weak]:
        for number in range(10_000):
            row = Weak(ROW, number=number)
            alive.add(row)
            if number % 2000 == 1999:
                seen.append((len(alive), min(s.size for s in streams.values())))
            yield row

    assert write_all(many(), COLUMNS, TYPES, streams) == 10_000
    assert all(rows <= 4001 for rows, _ in seen)
    assert [size for _, size in seen] == sorted({size for _, size in seen}) and seen[1][1] > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"number": 2.0}, "row 2, number: 2.0 is no int64"),
        ({"number": True}, "row 2, number: True is no int64"),
        ({"number": 2**63}, "is no int64"),
        ({"number": "2"}, "row 2, number: '2' is no int64"),
        ({"share": 1}, "row 2, share: 1 is no float64"),
        ({"share": float("nan")}, "share: nan is no float64"),
        ({"kept": 1}, "kept: 1 is no bool"),
        ({"text": b"x"}, "text: b'x' is no string"),
        ({"text": "half \ud83d"}, "is no string"),
        ({"more": 1}, "has ['more'], which are no columns"),
    ],
)
def test_a_row_that_the_formats_would_write_differently_is_refused(change, words):
    with pytest.raises(ValueError, match=r"^row 2") as caught:
        written([ROW, {**ROW, **change}])
    assert words in str(caught.value)


def test_a_row_that_lacks_a_column_is_refused_by_every_writer():
    short = [{"key": "a"}]
    for write in (
        lambda: write_csv(short, COLUMNS, io.BytesIO()),
        lambda: write_jsonl(short, COLUMNS, io.BytesIO()),
        lambda: write_parquet(short, TYPES, io.BytesIO()),
    ):
        with pytest.raises(ValueError, match=r"row 1 lacks the columns \['kept', 'number', 'share', 'text'\]"):
            write()


def test_columns_without_a_type_and_unknown_formats_are_refused():
    with pytest.raises(ValueError, match="each column needs one type"):
        written([], COLUMNS[:-1])
    with pytest.raises(ValueError, match="csv, jsonl, parquet, not xlsx"):
        write_all([], COLUMNS, TYPES, {"xlsx": io.BytesIO()})  # type: ignore[dict-item]


def test_a_number_that_json_does_not_have_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        write_jsonl([{"share": float("inf")}], ["share"], io.BytesIO())
