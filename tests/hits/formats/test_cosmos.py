"""Cosmos QA files: what is read, and what is refused with all its faults."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.inputs.cosmos import COLUMNS, FormatErrors, QuestionSet, columns_of, read
from hits.formats.outputs.tables import ANSWERS, write_csv, write_jsonl
from tests.hits.formats.shared_data import shared_file


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"picnic-{number}",
        "context": "We packed bread and plums. Then the sky went black and we ran for the barn.",
        "question": "Why did they run?",
        "answer0": "They wanted to stay dry.",
        "answer1": "They were late for school.",
        "answer2": "A dog was after them.",
        "answer3": "None of the above choices.",
        "label": 0,
    } | changes


def as_csv(*rows: dict[str, Any], columns: Any = COLUMNS) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_jsonl(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in rows).encode("utf-8", "surrogatepass")


def read_bytes(raw: bytes, **options: Any) -> list[QuestionSet]:
    return read(io.BytesIO(raw), **options)


def faults(raw: bytes, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read_bytes(raw, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


LAYOUTS = pytest.mark.parametrize("write", [as_csv, as_jsonl])


@LAYOUTS
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_it_tells_the_layouts_apart_by_their_content(write, mark):
    first, second = read_bytes(mark + write(row(1), row(2, label=3)))
    assert (first.key, first.label, first.line) == ("picnic-1", 0, 1 if write is as_jsonl else 2)
    assert (second.question, second.answers[second.label]) == ("Why did they run?", "None of the above choices.")
    assert first.context.startswith("We packed bread") and first.answers[2] == "A dog was after them."


@LAYOUTS
def test_labels_may_be_digits_or_numbers_and_fields_stand_in_any_order(write):
    turned = dict(reversed(row(label="2").items()))
    raw = as_jsonl(turned) if write is as_jsonl else as_csv(turned, columns=COLUMNS[::-1])
    assert read_bytes(raw) == [read_bytes(write(row(label=2)))[0]]


@LAYOUTS
def test_quotes_commas_line_ends_emoji_and_right_to_left_texts_are_kept(write):
    texts = {"context": 'She said "stop",\nand\n\nhe \U0001f600 did', "question": "למה הם רצו?", "answer1": "=1+1"}
    (found,) = read_bytes(write(row(**texts)))
    assert (found.context, found.question, found.answers[1]) == tuple(texts.values())


def test_lines_are_counted_as_an_editor_counts_them():
    raw = (
        as_csv(row(1, context="one\r\ntwo\nthree"), row(2)) + b"\r\n" + b"\r\n".join(as_csv(row(3)).split(b"\r\n")[1:])
    )
    found = read_bytes(raw)
    assert [one.line for one in found] == [2, 5, 7]
    assert found[0].context == "one\ntwo\nthree"


@LAYOUTS
@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"label": 4}, "label", "0 to 3, not"),
        ({"label": "one"}, "label", "0 to 3, not 'one'"),
        ({"label": "1.0"}, "label", "0 to 3, not '1.0'"),
        ({"label": ""}, "label", "is missing, though other rows have one"),
        ({"label": -1}, "label", "is missing, though other rows have one"),
        ({"context": ""}, "context", "must not be blank"),
        ({"question": " \n\t "}, "question", "must not be blank"),
        ({"id": " "}, "id", "must not be blank"),
        ({"id": "x" * 201}, "id", "has 201 characters, the limit is 200"),
        ({"answer3": "y" * 5001}, "answer3", "has 5,001 characters, the limit is 5,000"),
        ({"answer2": "They  WANTED to\nstay dry. "}, "answer2", "the same as the correct answer, answer0"),
        ({"answer0": "a dog was after them.", "label": 2}, "answer0", "the same as the correct answer, answer2"),
        ({"answer3": "A DOG was after them."}, "answer3", "is the same as answer2: the answers of a question must"),
        ({"answer1": "STRASSE", "answer3": "Straße"}, "answer3", "is the same as answer1"),
        ({"id": "picnic-1"}, "id", "'picnic-1' is taken: line {first} has it already"),
        ({"question": "Why\x07?"}, "question", "holds a control character, U+0007, at character 3"),
        ({"question": "Why\r?"}, "question", "holds a control character, U+000D, at character 3"),
        ({"context": "a\0b"}, "context", "U+0000"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_its_line_and_field(write, changes, place, words):
    found = faults(write(row(1), row(2, **changes), row(3)))
    first = 1 if write is as_jsonl else 2
    assert [(line, where) for line, where, _ in found] == [(first + 1, place)]
    assert words.format(first=first) in found[0][2]


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"label": True}, "label", "not true or false"),
        ({"label": 1.0}, "label", "not a decimal number"),
        ({"label": [1]}, "label", "not a list"),
        ({"context": None}, "context", "must be a text, not null"),
        ({"id": 7}, "id", "must be a text, not a number"),
        ({"colour": "red"}, "", "unknown field 'colour': remove it; there are id, context"),
        ({"context": "half \ud83d"}, "context", "half of a surrogate pair, U+D83D, at character 5"),
    ],
)
def test_json_lines_are_refused_for_values_of_other_kinds(changes, place, words):
    raw = "\n".join(json.dumps(one) for one in (row(1), row(2, **changes))).encode()
    ((line, where, message),) = faults(raw)
    assert (line, where) == (2, place) and words in message


def test_all_faults_of_a_file_come_at_once():
    rows = [row(1, answer1=" "), row(2, label=9, answer2="none of the above choices.", context=""), row(1)]
    assert [(line, place) for line, place, _ in faults(as_csv(*rows))] == [
        (2, "answer1"), (3, "context"), (3, "label"), (3, "answer3"), (4, "id"),
    ]  # fmt: skip


def test_wrong_columns_are_named_together_and_the_others_are_still_checked():
    columns = ["id", "context", "question", "colour", "id", *COLUMNS[4:]]
    found = faults(as_csv(row(1, colour="red", answer3=""), columns=columns))
    assert [(line, place) for line, place, _ in found] == [(1, ""), (1, ""), (1, ""), (2, "answer3")]
    messages = " ".join(message for _, _, message in found)
    assert "lacks answer0. Columns: id" in messages and "mean nothing here: 'colour'" in messages
    assert "has 'id' more than once" in messages


@pytest.mark.parametrize("blank", ["", "-1", -1])
@LAYOUTS
def test_a_test_part_without_labels_is_refused_with_one_sentence(write, blank):
    ((line, place, message),) = faults(write(*(row(number, label=blank) for number in range(20))))
    assert (line, place) == (None, "label")
    assert message.startswith("no row has a label: this looks like a test part")


def test_a_test_part_without_the_column_is_refused_with_the_same_sentence():
    bare = [{name: value for name, value in row(number).items() if name != "label"} for number in range(3)]
    by_line, by_column = faults(as_jsonl(*bare)), faults(as_csv(*bare, columns=COLUMNS[:-1]))
    assert by_line == by_column and "no row has a label" in by_line[0][2]


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        (b"", None, "the file holds no question. Columns: id"),
        (b"\xef\xbb\xbf\r\n", None, "the file holds no question"),
        (",".join(COLUMNS).encode(), None, "the file holds no question"),
        (b"PK\x03\x04" + b"\xff" * 30, None, "is a ZIP archive"),
        (as_csv(row()).replace(b"id,", b"name,", 1), 1, "the first line lacks id. Columns: id"),
        (as_csv(row(1), row(2)).replace(b"dog", b"dog, or two", 1), 2, "9 cells where the first line has 8"),
        (as_csv(row()) + b'picnic-2,"never closed,a,b\n\n', 3, "quotes of this row"),
        (b"[" + as_jsonl(row()) + b"]", 1, "must be an object, not a list: one object a line"),
        (as_jsonl(row()) + b"\n{broken\n", 2, "is not JSON: "),
        (as_jsonl(row()) + b"\n" + b'{"a":' * 100_000, 2, "nested too deep"),
    ],
)
def test_it_refuses_a_file_that_cannot_be_read(raw, line, words):
    number, _, message = faults(raw)[0]
    assert number == line and words in message


@LAYOUTS
def test_it_names_the_offset_of_every_byte_that_is_not_utf8_and_goes_on(write):
    raw = write(row(1), row(2, answer1="caf\u00e9"), row(3, question="\u00e9?"), row(4, answer0=""))
    raw = raw.replace("\u00e9".encode(), b"\xe9")
    found = faults(raw)
    first = raw.index(b"\xe9")
    offsets = (first, raw.index(b"\xe9", first + 1))
    wrong = [f"is not UTF-8: byte 0xe9 at byte offset {offset}; save the file as UTF-8" for offset in offsets]
    assert {message for _, _, message in found} == {*wrong, "must not be blank"}


def test_it_refuses_a_file_above_the_limit_and_tells_its_progress():
    raw = as_csv(*(row(number) for number in range(1500)))
    told: list[int] = []
    assert len(read_bytes(raw, max_bytes=len(raw), progress=told.append)) == 1500 and told == [1000, 1500]
    assert "split it into several files" in faults(raw, max_bytes=len(raw) - 1)[0][2]


texts = st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t"), min_size=1, max_size=8)
lines = st.lists(
    st.tuples(texts, texts, st.lists(texts, min_size=4, max_size=4), st.integers(0, 3)), min_size=1, max_size=3
)


def cosmos_rows(sets):
    for one in sets:
        answers = dict(zip(ANSWERS, one.answers, strict=True))
        yield {"id": one.key, "context": one.context, "question": one.question, **answers, "label": one.label}


@settings(max_examples=60)
@given(lines)
def test_what_was_written_is_read_back_whatever_the_texts(drawn):
    """A number before each text keeps it from being blank or like another."""
    sets = [
        QuestionSet(f"{n}{key}", f"c{key}", f"q{question}", tuple(f"{i}{a}" for i, a in enumerate(answers)), label)
        for n, (key, question, answers, label) in enumerate(drawn)
    ]
    for write in (write_csv, write_jsonl):
        stream = io.BytesIO()
        assert write(cosmos_rows(sets), COLUMNS, stream) == len(sets)
        assert read_bytes(stream.getvalue()) == sets


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.text("id,label\"\n{}[]: 0'\r", max_size=40).map(str.encode))
def test_whatever_bytes_come_they_are_refused_with_a_reason(raw):
    assert all(message for _, _, message in faults(raw))


def test_the_shared_file_is_read_and_written_back_to_the_byte():
    raw = shared_file("cosmosqa/examples.csv").read_bytes()
    sets, stream = read_bytes(raw), io.BytesIO()
    assert write_csv(cosmos_rows(sets), COLUMNS, stream) == len(sets) == 600
    assert stream.getvalue() == raw


WITHOUT_LABEL = [name for name in COLUMNS if name != "label"]


def unlabelled(number: int = 1) -> dict[str, Any]:
    return {name: value for name, value in row(number).items() if name != "label"}


@pytest.mark.parametrize("raw, columns", [
    (as_csv(row()), set(COLUMNS)),
    (as_jsonl(row()), set(COLUMNS)),
    (b"\xef\xbb\xbf" + as_csv(unlabelled(), columns=WITHOUT_LABEL), set(WITHOUT_LABEL)),
    (as_jsonl({**unlabelled(), "context": 'He read the "label".'}), set(WITHOUT_LABEL)),
    (b'{"id": "s1", "text": "A story, and a question."}', {"id"}),
    (b"We packed bread, plums and a question.\n\nThen we left.", set()),
    (b"\xff\xfe", set()),
])  # fmt: skip
def test_the_first_row_tells_the_columns_and_the_stream_stays_where_it_is(raw, columns):
    stream = io.BytesIO(raw)
    assert columns_of(stream) == columns
    assert stream.tell() == 0
