"""Files that are made to cost much: each reader takes time and memory in proportion to a file's size, or refuses it."""

from __future__ import annotations

import gc
import io
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from hits.formats.files import jsonstream, reading, rows
from hits.formats.files.faults import Faults, FormatErrors
from hits.formats.files.reading import LONGEST_LINE, MOST_COLUMNS, MOST_ROWS
from hits.formats.inputs import (
    articles,
    choices,
    cosmos,
    generated,
    mcscript,
    payments,
    qualification_test,
    record,
    scenarios,
    stories,
)

MB = 1_000_000


def _bonuses(stream: io.BytesIO) -> Any:
    faults = Faults()
    payments.read_bonus_file(stream.read(), faults)
    faults.refuse()


def _test(stream: io.BytesIO) -> Any:
    faults = Faults()
    qualification_test.read_file(stream.read(), faults)
    faults.refuse()


def _table(stream: io.BytesIO) -> Any:
    faults = Faults()
    with rows.opened(stream) as table:
        for _ in table.rows(faults):
            pass
    faults.refuse()


READERS: dict[str, Callable[[io.BytesIO], Any]] = {
    "articles.jsonl": lambda stream: articles.read(stream, "a.jsonl"),
    "articles.txt": lambda stream: articles.read(stream, "a.txt"),
    "articles.story": lambda stream: articles.read(stream, "a.story"),
    "articles.zip": lambda stream: articles.read(stream, "a.zip"),
    "choices": choices.read,
    "cosmos": cosmos.read,
    "generated": generated.read,
    "mcscript": mcscript.read,
    "record": record.read,
    "scenarios": scenarios.read,
    "stories.jsonl": lambda stream: stories.read(stream, "a.jsonl"),
    "stories.txt": lambda stream: stories.read(stream, "a.txt"),
    "stories.story": lambda stream: stories.read(stream, "a.story"),
    "rows": _table,
    "bonuses": _bonuses,
    "qualification test": _test,
}
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "commas": lambda size: b"," * size,
    "semicolons": lambda size: b";" * size,
    "different columns": lambda size: ",".join(f"c{n}" for n in range(size // 8)).encode(),
    "one column again and again": lambda size: b"id," * (size // 3),
    "rows of commas": lambda size: b"id,text\n" + (b"," * 99 + b"\n") * (size // 100),
    "a cell without end": lambda size: b'id,text\n1,"' + b"x" * size + b'"',
    "a quote that never ends": lambda size: b'id,text\n1,"' + b"x\n" * (size // 2),
    "line feeds": lambda size: b"\n" * size,
    "carriage returns": lambda size: b"\r" * size,
    "spaces": lambda size: b" " * size,
    "one letter a line": lambda size: b"a\n" * (size // 2),
    "numbers": lambda size: "\n".join(map(str, range(size // 8))).encode(),
    "brackets": lambda size: b"[" * size,
    "objects in objects": lambda size: b'{"a":' * (size // 5),
    "empty objects": lambda size: b"[" + b"{}," * (size // 3) + b"{}]",
    "empty objects a line": lambda size: b"{}\n" * (size // 3),
    "an object of many names": lambda size: json.dumps({str(n): 0 for n in range(size // 14)}).encode(),
    "a long text": lambda size: json.dumps({"id": "1", "text": "x" * size}).encode(),
    "many choices": lambda size: json.dumps(
        {"id": "1", "text": "x", "choices": [*map(str, range(size // 12))]}
    ).encode(),
    "data of empty objects": lambda size: b'{"version": "1", "data": [' + b"{}," * (size // 3) + b"{}]}",
    "data of one long list": lambda size: b'{"version": "1", "data": [[' + b"0," * (size // 2) + b"0]]}",
    "entities as long as their passage": lambda size: _entities(size),
    "a million attributes": lambda size: b"<data " + b" ".join(b'a%d=""' % n for n in range(size // 11)) + b"/>",
    "an endless attribute": lambda size: b'<data a="' + b"x" * size + b'"/>',
    "elements in elements": lambda size: b"<a>" * (size // 3),
    "empty elements": lambda size: b"<data>" + b"<instance/>" * (size // 11) + b"</data>",
    "many answers": lambda size: (
        b'<data><instance id="1"><text>x</text><questions><question id="1" text="x">'
        + b"".join(b'<answer id="%d" text="x" correct="False"/>' % n for n in range(size // 44))
        + b"</question></questions></instance></data>"
    ),
    "bytes of no text": lambda size: b"\xff" * size,
    "bytes of no text by lines": lambda size: b"\xff\n" * (size // 2),
    "NUL": lambda size: b"\0" * size,
    "a ZIP archive": lambda size: b"PK\x03\x04" + b"\0" * size,
}


def _entities(size: int) -> bytes:
    entities = [{"start": 0, "end": size // 2 - 1}] * (size // 100)
    return json.dumps({"idx": 1, "source": "a", "passage": {"text": "x" * (size // 2), "entities": entities}}).encode()


def refused(read: Callable[[io.BytesIO], Any], raw: bytes) -> list[str]:
    """What a reader says about the file; nothing for one that it takes. Any other exception comes out."""
    try:
        read(io.BytesIO(raw))
    except FormatErrors as error:
        return [str(fault) for fault in error.errors]
    return []


def seconds(read: Callable[[io.BytesIO], Any], raw: bytes) -> float:
    """Processor time. The garbage collector rests meanwhile: it would go through what all other tests left behind."""
    gc.disable()
    try:
        began = time.process_time()
        refused(read, raw)
        return time.process_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("reader", READERS)
def test_the_time_of_a_hostile_file_grows_with_its_size_and_not_with_its_square(reader: str) -> None:
    slow = {}
    for name, made in HOSTILE.items():
        # Of what is quadratic, sixteen times the size takes 256 times as long.
        few, many = max(seconds(READERS[reader], made(5_000)), 0.004), seconds(READERS[reader], made(80_000))
        if many > 64 * few:
            slow[name] = (few, many)
    assert slow == {}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.long
def test_the_limits_bound_the_memory_of_a_hostile_file(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reading, jsonstream):
        monkeypatch.setattr(module, "LONGEST_LINE", 20_000)
    for module in (reading, stories):
        monkeypatch.setattr(module, "MOST_ROWS", 1000)
    for module in (stories, mcscript):
        monkeypatch.setattr(module, "LONGEST_STORY", 2000)
    monkeypatch.setattr(articles, "LONGEST_ARTICLE", 2000)
    monkeypatch.setattr(payments, "MOST_LINES", 1000)
    monkeypatch.setattr(mcscript, "MOST_ELEMENTS", 1000)
    monkeypatch.setattr(reading, "PIECE", 10_000)
    greedy = {}
    for name, made in HOSTILE.items():
        raw = made(40_000)
        # A qualification test is read as a whole: it has a megabyte at most.
        a_byte = 30 if reader == "qualification test" else 5
        if (peak := peak_of(READERS[reader], raw)) > 2 * MB + a_byte * len(raw):
            greedy[name] = peak
    assert greedy == {}


ROWS = 4000
WORDS = "The ferry was late again, and Mara read the paper on the quay. " * 8
USUAL = {
    "articles.jsonl": "".join(json.dumps({"id": f"a{n}", "paragraphs": [WORDS]}) + "\n" for n in range(ROWS)),
    "articles.txt": (WORDS + "\n") * ROWS,
    "choices": "id,text\n" + "".join(f'{n},"{WORDS}"\n' for n in range(ROWS)),
    "record": "".join(
        json.dumps({
            "id": f"d{n}", "source": "a", "passage": {"text": WORDS, "entities": [{"start": 30, "end": 33}]},
            "qas": [{"id": f"q{n}", "query": "@placeholder", "answers": [{"start": 30, "end": 33, "text": "Mara"}]}],
        }) + "\n"
        for n in range(ROWS)
    ),
    "scenarios": "".join(f"going to the {n}th place and back | {WORDS[:200]}\n" for n in range(ROWS)),
    "stories.jsonl": "".join(json.dumps({"id": f"s{n}", "text": WORDS}) + "\n" for n in range(ROWS)),
    "stories.txt": "".join(WORDS + "\n\n" for n in range(ROWS)),
}  # fmt: skip


@pytest.mark.parametrize("reader", USUAL)
def test_a_usual_file_takes_three_bytes_of_memory_a_byte(reader: str) -> None:
    raw = USUAL[reader].encode()
    assert peak_of(READERS[reader], raw) < 3 * len(raw) + 3 * MB


def test_a_record_file_in_one_object_takes_no_more_than_its_lines() -> None:
    lines = USUAL["record"].rstrip().split("\n")
    raw = ('{"version": "1", "data": [' + ",\n".join(lines) + "]}").encode()
    assert refused(record.read, raw) == []
    assert peak_of(record.read, raw) < 3 * len(raw) + 3 * MB


def peak_of(read: Callable[[io.BytesIO], Any], raw: bytes) -> int:
    """The most bytes that reading held at a time, beside the file."""
    tracemalloc.start()
    try:
        refused(read, raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("reader", ["choices", "cosmos"])
def test_columns_are_capped_and_the_limit_is_said(reader: str) -> None:
    said = refused(READERS[reader], b"," * (2 * MB))
    cells = f"this row has {2 * MB + 1:,} cells, the limit is {MOST_COLUMNS:,} columns"
    assert said[0] == f"line 1: {cells}, so nothing after it can be read"


@pytest.mark.parametrize("reader", ["choices", "cosmos", "record", "stories.jsonl"])
def test_a_line_without_end_is_refused_with_the_limit(reader: str) -> None:
    said = refused(READERS[reader], b'{"id": "' + b"x" * (2 * LONGEST_LINE))
    assert any(f"more than {LONGEST_LINE:,} characters" in one for one in said), said


def test_rows_are_capped_and_the_limit_is_said() -> None:
    said = refused(scenarios.read, "\n".join(f"a{n}" for n in range(MOST_ROWS + 1)).encode())
    assert f"more than {MOST_ROWS:,} rows" in said[0] and "split it" in said[0]


@pytest.mark.parametrize("reader", ["choices", "cosmos", "bonuses", "qualification test"])
def test_a_cell_beyond_what_the_csv_module_takes_is_a_fault_with_the_limit(reader: str) -> None:
    heads = {"bonuses": b"assignment_id,amount,reason", "qualification test": b"question,right,choice1,choice2"}
    heads |= {"choices": b"id,text", "cosmos": ",".join(cosmos.COLUMNS).encode()}
    for cell in (heads[reader] + b"\n1," + b"x" * 200_000, b"x" * 200_000):
        said = refused(READERS[reader], cell)
        assert any("131,072 characters" in one or "65,536 characters" in one for one in said), said


def test_a_cell_of_many_lines_has_the_limit_of_a_line() -> None:
    row = b",".join(b'"' + b"x\n" * 50_000 + b'"' for _ in range(50))
    said = refused(choices.read, b"id,text\n" + row)
    assert any(f"more than {LONGEST_LINE:,} characters" in one for one in said), said
