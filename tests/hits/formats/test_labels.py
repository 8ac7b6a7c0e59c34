"""Choices by id: what is read, and what is refused with every fault."""

import io

import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.labels import of_ids, read


def labels(content, name="said.csv", columns=("id",), choices=4):
    return read(io.BytesIO(content.encode()), name, columns, choices=choices, max_bytes=10**5)


def faults(*args, **options):
    with pytest.raises(FormatErrors) as refused:
        labels(*args, **options)
    return [str(fault) for fault in refused.value.errors]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("id,label\na,1\nb,0\n", "said.csv"),
        ('id,context,label\na,"x, y",1\nb,z,0\n', "valid.csv"),
        ('{"id": "a", "label": 1}\n{"id": "b", "label": "0"}\n', "said.jsonl"),
        ('{"a": 1, "b": 0}', "said.json"),
    ],
)
def test_three_layouts_say_the_same(content, name):
    assert labels(content, name) == {"a": 1, "b": 0}


def test_an_id_of_several_columns_is_joined():
    assert labels("id,question_id,label\n3,0,1\n", columns=("id", "question_id")) == {"3/0": 1}
    assert labels('{"3/0": 1}', "said.json", columns=("id", "question_id")) == {"3/0": 1}


def test_every_fault_of_a_file_is_named_at_once():
    assert faults("id,label\na,4\nb,x\nc,1\nc,1\nd\n") == [
        "line 2, 'a': its label must be a whole number from 0 to 3",
        "line 3, 'b': its label must be a whole number from 0 to 3",
        "line 5, 'c': is there more than once",
        "line 6: 1 cell where the first line has 2: quote a text that holds separators",
    ]


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("id,answer\na,1\n", "said.csv", "the first line lacks label"),
        ("", "said.csv", "the file holds no label. It needs id and label"),
        ("id,label\n", "said.csv", "the file holds no label"),
        ('{"id": "a"}\n', "said.jsonl", "lacks label"),
        ('{"a": 1', "said.json", "line 1"),
        ('{"a": true}', "said.json", "whole number"),
        ('{"a": 1.0}', "said.json", "whole number"),
        ("id,label\na,-1\n", "said.csv", "whole number"),
        ("id,label\na,\u00b2\n", "said.csv", "whole number"),
    ],
)
def test_what_is_no_table_of_labels_is_refused(content, name, said):
    assert said in "\n".join(faults(content, name))


def test_each_id_without_a_prediction_and_each_unknown_one_is_named():
    with pytest.raises(FormatErrors) as refused:
        of_ids({"a": 1, "x": 0}, ["a", "b", "c"])
    assert [str(fault) for fault in refused.value.errors] == [
        "'b': has no prediction", "'c': has no prediction", "'x': is no id of this file",
    ]  # fmt: skip
