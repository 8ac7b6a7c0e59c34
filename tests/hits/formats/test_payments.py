"""What a lead writes to pay somebody: amounts, reasons, and the file."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.formats.files.faults import Faults
from hits.formats.inputs.payments import (
    MOST_LINES,
    AskedBonus,
    read_amount,
    read_bonus_file,
    read_reason,
    read_worker_id,
)

HEAD = "assignment_id,amount,reason\n"


def read(text: str | bytes) -> tuple[list[AskedBonus], list[str]]:
    faults = Faults()
    found = read_bonus_file(text if isinstance(text, bytes) else text.encode(), faults)
    return found, [str(fault) for fault in faults.listed]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_it_reads_what_spreadsheets_write(delimiter: str, encoding: str, end: str) -> None:
    rows = [["Assignment_ID", "amount", "worker_id", "reason"], ["3A", "0.50", "A1", '"Clear, and ""fast"""']]
    text = end.join(delimiter.join(row) for row in rows) + end
    assert read(text.encode(encoding)) == ([AskedBonus(2, "3A", "0.50", 'Clear, and "fast"', "A1")], [])


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    found, faults = read(HEAD + '\n3A,1,"two\nlines"\n\n,,\n3B,1,one\n')
    assert faults == []
    assert [(one.line, one.reason) for one in found] == [(3, "two\nlines"), (7, "one")]


def test_cells_that_look_like_formulas_are_texts() -> None:
    assert read(HEAD + "3A,1,=SUM(A1)\n")[0][0].reason == "=SUM(A1)"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (HEAD, "no bonus"),
        (HEAD.encode("utf-16")[:-1], "line 1: This is neither UTF-8 nor UTF-16"),
        (HEAD.encode() + b"3A,1,fine\n3B,1,\xff\n", "line 3: This is neither UTF-8"),
        (HEAD + "3A,1,a\0b\n", "line 2: There is a NUL byte"),
        ("assignment_id,amount\n3A,1\n", "lacks reason"),
        (HEAD.replace("\n", ",colour\n") + "3A,1,x,red\n", "“colour”"),
        (HEAD.replace("\n", ",amount\n") + "3A,1,x,2\n", "amount more than once"),
        (HEAD + '3A,1,"never closed\n', "quotes of this line"),
        (HEAD + "3A,1,two, not quoted\n", "line 2: 4 cells where the first line has 3"),
        (HEAD + "3A,1,x\n" * (MOST_LINES + 1), f"line {MOST_LINES + 2:}: At most 10,000"),
        (b"x" * (9 * 1024 * 1024), "at most 8.4 MB"),
    ],
)
def test_it_says_what_is_wrong_with_a_file(content: str | bytes, said: str) -> None:
    faults = read(content)[1]
    assert len(faults) == 1 and said in faults[0]


def test_lines_that_can_be_read_come_back_beside_the_faults() -> None:
    found, faults = read(HEAD + "3A,1\n3B,1,fine\n")
    assert [one.assignment_id for one in found] == ["3B"] and len(faults) == 1


@pytest.mark.parametrize(("text", "amount"), [("1", "1.00"), ("0.5", "0.50"), ("0.01", "0.01"), ("10000.00", "10000")])
def test_amounts_are_dollars_and_cents(text: str, amount: str) -> None:
    assert read_amount(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    ["", "0", "0.00", "-1", "+1", "1.234", "1,50", "1e2", "NaN", "½", "١", "$1", "1.", ".5", "10000.01", "9" * 99],
)
def test_anything_else_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="amount"):
        read_amount(text)


def test_a_reason_is_kept_as_it_will_be_sent() -> None:
    assert read_reason("  Clear,\r\nand fast – 好 \n") == "Clear,\nand fast – 好"


@pytest.mark.parametrize("text", ["", " \n", "x" * 4097, "a\0b", "a\x1bb", "a\ud800b"])
def test_a_reason_that_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="reason"):
        read_reason(text)


@pytest.mark.parametrize("text", ["", "A", "B123", "a123", "A1-2", "A" * 65, "A1\n"])
def test_worker_ids_are_those_of_the_marketplace(text: str) -> None:
    assert read_worker_id("A1Z") == "A1Z"
    with pytest.raises(ValueError, match="worker id"):
        read_worker_id(text)
