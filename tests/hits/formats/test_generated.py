"""Files of machine-written answers: any number of answers of any number of systems."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.generated import Generated, read

TEXT = "The ferry was late, so we ate our bread on the quay."


def row(**changes: Any) -> dict[str, Any]:
    fields = {
        "id": "a",
        "context": TEXT,
        "question": "Why did they eat there?",
        "system": "gpt",
        "answer0": "They had to",
    }
    return {**fields, "answer1": "wait.", "answer2": "It was fun.", **changes}


def as_csv(*rows: dict[str, Any]) -> bytes:
    written = io.StringIO()
    table = csv.DictWriter(written, dict.fromkeys(name for one in rows for name in one))
    table.writeheader()
    table.writerows(rows)
    return written.getvalue().encode()


def as_jsonl(*rows: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def faults(raw: bytes) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read(io.BytesIO(raw))
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_a_row_is_what_one_system_answered_to_one_question(write: Any) -> None:
    ten = {f"answer{n}": f"answer {n}" for n in range(10)}
    first, second = read(io.BytesIO(write(row(), row(system="other", **ten))))
    assert first == Generated("a", TEXT, row()["question"], "gpt", ("They had to", "wait.", "It was fun."))
    assert (second.system, second.answers) == ("other", tuple(f"answer {n}" for n in range(10)))


def test_the_system_need_not_be_named() -> None:
    unnamed = {name: value for name, value in row().items() if name != "system"}
    (found,) = read(io.BytesIO(as_jsonl(unnamed)))
    assert found.system == ""


@pytest.mark.parametrize(
    ("raw", "line", "fault"),
    [
        (as_jsonl(row(), row(answer0="Again.")), 2, "'a' is taken: line 1 has its answers of the system 'gpt' already"),
        (as_jsonl(row(), row(system="b", question="Who?")), 2, "differs in question or context from line 1"),
        (as_jsonl(row(label=0)), 1, "unknown field 'label'"),
        (as_jsonl(row(answer100="x")), 1, "unknown field 'answer100'"),
        (as_jsonl({"id": "a", "context": TEXT, "answer0": "x"}), 1, "the field question is missing"),
        (as_jsonl(row(answer0="", answer1=" ", answer2="")), 1, "has no answer"),
        (as_jsonl(row(answer1=3)), 1, "must be a text, not a number"),
        (as_jsonl(row(system="s" * 41)), 1, "has 41 characters, the limit is 40"),
        (as_jsonl(row(id="i" * 151)), 1, "has 151 characters, the limit is 150"),
        (b"id,id\n1,2\n", 1, "the first line has 'id' more than once"),
        (as_csv(row()) + b"one,two\n", 3, "2 cells where the first line has 7"),
        (b"", None, "the file holds no answer"),
    ],
)
def test_every_fault_is_named_with_its_line(raw: bytes, line: int | None, fault: str) -> None:
    assert any(at == line and fault in message for at, _, message in faults(raw))
