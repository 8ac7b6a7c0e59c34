"""Files of texts with answers to choose from."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.choices import CHOICES, read


def rows(text):
    return read(io.BytesIO(text.encode()))


def faults(text):
    with pytest.raises(FormatErrors) as refused:
        rows(text)
    return "\n".join(map(str, refused.value.errors))


def test_a_row_needs_no_more_than_an_id_and_a_text():
    (row,) = rows('id,text\na,"One, two\nthree"\n')
    assert (row.key, row.text, row.question, row.choices, row.gold) == ("a", "One, two\nthree", "", (), ())


def test_gold_is_a_choice_by_text_number_or_column():
    found = rows(
        "id,text,question,choice1,choice2,choice3,gold\na,T,Q,Yes,No,,No\nb,T,Q,Yes,No,Maybe,3|choice1\nc,T,,,,,Yes\n"
    )
    assert [row.gold for row in found] == [("No",), ("Maybe", "Yes"), ("Yes",)]
    assert [row.choices for row in found] == [("Yes", "No"), ("Yes", "No", "Maybe"), ()]


def test_json_lines_hold_the_same():
    line = {"id": "a", "text": "T", "question": "Q", "choices": ["Yes", "No"], "gold": 2}
    assert rows(json.dumps(line))[0].gold == ("No",)
    assert rows(json.dumps({**line, "gold": ["Yes", "No"]}))[0].gold == ("Yes", "No")


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_columns_are_parted_by_commas_semicolons_or_tabs(separator):
    lines = [["id", "text", "choice1", "choice2", "gold"], ["1", '"One; two,\tthree"', "Yes", "No", "No"]]
    (row,) = rows("\n" + "\n".join(separator.join(line) for line in lines) + "\n")
    assert (row.key, row.text, row.choices, row.gold) == ("1", "One; two,\tthree", ("Yes", "No"), ("No",))
    assert "line 2: 2 cells where the first line has 3" in faults(
        separator.join(["id", "text", "gold"]) + "\n" + separator.join(["a", "T"])
    )


def test_an_id_of_json_lines_may_be_a_number():
    found = rows('{"id": 7, "text": "T"}\n{"id": "8", "text": "T"}\n{"id": -3, "text": "T"}')
    assert [row.key for row in found] == ["7", "8", "-3"]
    assert "line 2, id: '7' is taken" in faults('{"id": 7, "text": "T"}\n{"id": "7", "text": "T"}')


def test_every_fault_is_told_with_its_line():
    said = faults("id,text,choice1,choice2,gold\na,,Yes,No,Perhaps\na,T,Same,same,\nb,T,Alone,,\nc,T\n")
    for expected in (
        "line 2, text: must not be blank",
        "line 2, gold: 'Perhaps' is none of",
        "line 3, id: 'a' is taken",
        "line 3, choice2: is the same as choice1",
        "line 4, choices: are 1",
        "line 5: 2 cells",
    ):
        assert expected in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no row"),
        ("id,texts\na,b\n", "No column is text, which every row needs: rename one of id, texts."),
        ("id,text,id\na,b,c\n", "has 'id' more than once"),
        ('{"id": "a"}', "No column is text"),
        ('{"id": "a", "text": "T", "choices": 3}', "choices: are 1: give 2 to 20"),
        ("id,text,choices,choice2\na,T,Yes|No,No\n", "choices: are given together with choice2"),
        ('{"id": "a", "text": "T", "choices": ["A", 4]}', "must be a text, not a number"),
        ('{"id": "a", "text": "T", "gold": [true]}', "none of the row's choices"),
        ("[1]", "must be an object"),
    ],
)
def test_what_is_no_such_file_is_refused(text, said):
    assert said in faults(text)


def test_choices_and_gold_in_one_column_are_parted_by_bars_or_are_a_list() -> None:
    found = rows('id,text,choices,gold\na,T,Yes | No | Perhaps,2|Yes\nb,T,"[""A | B"", ""C""]",A | B\n')
    assert [row.choices for row in found] == [("Yes", "No", "Perhaps"), ("A | B", "C")]
    assert [row.gold for row in found] == [("No", "Yes"), ("A | B",)]


def test_columns_that_are_no_field_are_kept_and_faults_name_the_columns_of_the_file() -> None:
    table = "doc,body,a,b,colour\nx,T,Yes,No,red\n"
    mapping = {"id": "doc", "text": "body", "choice1": "a", "choice2": "b"}
    (row,) = read(io.BytesIO(table.encode()), mapping=mapping)
    assert (row.key, row.text, row.choices, row.unused) == ("x", "T", ("Yes", "No"), {"colour": "red"})
    with pytest.raises(FormatErrors) as refused:
        read(io.BytesIO(table.replace("x,T,Yes,No", ",,Yes,yes").encode()), mapping=mapping)
    assert str(refused.value).splitlines() == [
        "line 2, doc: must not be blank",
        "line 2, body: must not be blank",
        "line 2, b: is the same as a: workers could not tell them apart",
    ]


WORDS = some.text(alphabet="abc,;\"'|\n é", min_size=1, max_size=12).filter(str.strip)


@settings(max_examples=50)
@given(
    some.lists(
        some.tuples(WORDS, some.lists(WORDS, max_size=4, unique_by=lambda w: " ".join(w.casefold().split()))),
        min_size=1,
        max_size=5,
    )
)
def test_csv_and_json_lines_of_the_same_rows_read_the_same(given_rows):
    given_rows = [(text, [one.strip() for one in own] if len(own) != 1 else []) for text, own in given_rows]
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["id", "text", *CHOICES[:4]])
    writer.writerows([str(i), text, *own, *[""] * (4 - len(own))] for i, (text, own) in enumerate(given_rows))
    lines = [json.dumps({"id": str(i), "text": text, "choices": own}) for i, (text, own) in enumerate(given_rows)]
    assert rows(out.getvalue()) == rows("\n".join(lines))


@settings(max_examples=50)
@given(some.binary(max_size=200))
def test_no_bytes_whatever_break_the_reader(content):
    try:
        read(io.BytesIO(content))
    except FormatErrors as refusal:
        assert refusal.errors
