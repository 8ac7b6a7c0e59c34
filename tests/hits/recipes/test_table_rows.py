"""Recipes of a table whose rows are items: any table comes in, votes and single answers go out."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.formats.files.faults import FormatErrors
from hits.formats.files.mapping import MappingRefusedError
from hits.recipes import table_rows
from hits.recipes.source import GivenLabel, JudgedItem

LEVELS = {"mood": "nominal", "topic": "set", "stars": "ordinal", "why": "text"}


def read(content: bytes):
    return table_rows.read_documents(io.BytesIO(content), max_bytes=1_000_000, default_origin="public")


def judged(labels):
    return JudgedItem("ask", "k", {}, "k", {"columns": {"text": "T"}}, "public", "train", "kept", labels=tuple(labels))


def test_every_column_is_kept_and_the_id_may_be_missing():
    (first, second) = read(b"premise;Model A\nRain.;wet\nSun.;\n")
    assert first.data == {"columns": {"premise": "Rain.", "Model A": "wet"}}
    assert (first.items[0].data, first.key == first.items[0].key, first.line) == ({}, True, 2)
    assert [first.key] == [one.key for one in read(b'{"premise": "Rain.", "Model A": "wet"}\n')]
    (named,) = read(b'{"id": 7, "talk": [{"speaker": "A", "text": "B"}], "n": 1.5, "none": null}\n')
    assert named.key == "7"
    assert named.data["columns"] == {"id": "7", "talk": '[{"speaker": "A", "text": "B"}]', "n": "1.5", "none": ""}


def test_columns_are_kept_under_the_names_by_which_the_task_reads_them():
    def mapped(content: bytes, **mapping: str):
        return table_rows.read_documents(
            io.BytesIO(content), max_bytes=1_000_000, default_origin="public", mapping=mapping
        )

    (row,) = mapped(b"nr,passage,source\n7,Rain.,web\n", id="nr", text="passage", shown="passage")
    assert (row.key, row.data["columns"]) == ("7", {"id": "7", "text": "Rain.", "shown": "Rain.", "source": "web"})
    plain, renamed = mapped(b"say,by\nRain.,P\n"), mapped(b"say,by\nRain.,P\n", text="say")
    assert plain[0].key == renamed[0].key and renamed[0].data["columns"] == {"text": "Rain.", "by": "P"}
    (unnamed,) = mapped(b"id,text\n7,Rain.\n", text="text")
    assert unnamed.key != "7" and unnamed.data["columns"] == {"id": "7", "text": "Rain."}
    with pytest.raises(FormatErrors, match="would be lost"):
        mapped(b"text,passage\na,b\n", text="passage")


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"a,a\n1,2\n", ["line 1: "]),
        (b"a\nx\nx\n", ["line 3: is the same row as line 2"]),
        (b"id,a\n1,x\n1,y\n", ["line 3, id: '1' is taken"]),
        (b"a,b\n1\n2,3,4\n", ["line 2: ", "line 3: "]),
        (b"a,b\n", ["the file holds no row"]),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_line(content, faults):
    with pytest.raises(FormatErrors) as refused:
        read(content)
    told = [str(fault) for fault in refused.value.errors]
    assert len(told) == len(faults) and all(one.startswith(start) for one, start in zip(told, faults, strict=True)), (
        told
    )


@settings(max_examples=60)
@given(some.lists(some.tuples(some.sampled_from(["good", "bad"]), some.integers(1, 5)), min_size=1, max_size=7))
def test_votes_majority_and_mean_are_those_of_the_labels(answers):
    labels = [
        GivenLabel(f"A{n}", f"3{n}", unit, value, None)
        for n, (mood, stars) in enumerate(answers)
        for unit, value in (("mood", mood), ("stars", stars), ("topic", [mood]), ("why", {"text": "So."}))
    ]
    row = table_rows.row_of(judged(labels), LEVELS)
    counts = Counter(mood for mood, _ in answers)
    best = [mood for mood, count in counts.items() if count == max(counts.values())]
    assert row["votes"]["mood"] == counts and row["answers"] == len(answers)
    assert row["votes"]["topic"] == {f'["{mood}"]': count for mood, count in counts.items()}
    assert row["majority"]["mood"] == (best[0] if len(best) == 1 else None)
    assert row["mean"] == {"stars": round(sum(stars for _, stars in answers) / len(answers), 4)}
    assert "why" not in row["votes"]


def test_single_answers_name_workers_by_a_pseudonym_of_the_project():
    labels = [
        GivenLabel("AWORKER1", "31", "mood", "good", True),
        GivenLabel("AWORKER1", "31", "why", {"text": "So."}, None),
    ]
    (row,) = table_rows.answers_of(judged(labels), "7")
    assert row["labels"] == {"mood": "good", "why": {"text": "So."}} and row["correct"] == {"mood": True}
    assert "AWORKER1" not in str(row)
    assert row["worker"] == table_rows.pseudonym("AWORKER1", "7") != table_rows.pseudonym("AWORKER1", "8")


def test_of_a_task_that_names_very_many_columns_a_hundred_are_asked_for_and_twenty_faults_told():
    table = table_rows.TABLE.asking(f"c{n}" for n in range(5000))
    assert len(table.names) == 101
    with pytest.raises(MappingRefusedError) as refused:
        table.complete(((f"no{n}", "x") for n in range(5000)), ["x"])
    assert len(refused.value.faults) <= 121 and max(map(len, refused.value.faults)) < 500
