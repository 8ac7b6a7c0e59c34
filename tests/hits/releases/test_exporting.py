"""Results as files: which rows, which columns, and that memory and queries do not grow with them."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pyarrow import parquet

from hits.formats.outputs.results import OWN_COLUMNS
from hits.judging.rules.counting import recount
from hits.models import Label, Stage
from hits.recipes.table_rows import pseudonym
from hits.releases.verbs import exporting
from hits.releases.verbs.exporting import Choices, of_project, of_stage
from tests.hits import factories as make
from tests.hits.doing import refused

FORM = {
    "show": [{"kind": "text", "text": "{text}"}],
    "ask": [
        {"kind": "one", "key": "mood", "question": "How?", "choices": ["Glad", "Sad"], "gold": "known"},
        {"kind": "number", "key": "sure", "question": "How sure?", "required": False},
    ],
}


@pytest.fixture
def stage(db: None) -> Stage:
    project = make.project(recipe="form", slug="moods")
    return make.stage(project, key="ask", protocol="form", settings={"form": FORM}, hit_type_id="3TYPE")


def answered(stage: Stage, text: str, mood: str, worker: str = "A1", **columns: Any) -> Any:
    """An answer to a new item, with its labels."""
    document = make.document(stage.project, data={"columns": {"text": text, "known": "Glad", "=more": "kept"}})
    item = make.item(stage, document=document, data={})
    made = make.assignment(
        make.hit(item), make.worker(worker), answer={"mood": mood, "sure": "3"}, scored=True, **columns
    )
    void = bool(columns.get("problem") or columns.get("held") or columns.get("state") == "Rejected")
    for unit, value, correct in (("mood", mood, mood == "glad"), ("sure", 3, None)):
        Label.objects.create(
            assignment=made, item=item, stage=stage, worker=made.worker, unit=unit, value=value, correct=correct,
            void=void,
        )  # fmt: skip
    return made


def content(file: exporting.ResultsFile) -> bytes:
    return b"".join(file.pieces)


def rows(file: exporting.ResultsFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(file).decode(), newline="")))


def long(stage: Stage, **choices: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content(of_stage(stage, Choices("jsonl", **choices))).splitlines()]


def test_a_row_of_the_long_table_is_what_one_answer_says_about_one_unit(stage: Stage) -> None:
    given = answered(stage, "A boat.", "sad")
    first, second = long(stage)
    assert list(first) == list(exporting.LONG)
    assert first == {
        "item": given.hit.item.key, "unit": "mood", "value": "sad", "value_text": "Sad",
        "worker": pseudonym("A1", stage.project.pseudonym_key),
        "correct": False, "gold": "glad", "gold_text": "Glad", 
        "submitted_at": given.submitted_at.isoformat(), "seconds": given.seconds,
        "batch": str(given.hit.batch_id),
    }  # fmt: skip
    assert (second["unit"], second["value"], second["correct"], second["gold"]) == ("sure", 3, None, None)


def test_the_three_formats_of_the_long_table_say_the_same(stage: Stage) -> None:
    answered(stage, "A boat.", "sad")
    of_lines = [{**row, "value": str(row["value"])} for row in long(stage)]
    table = parquet.read_table(io.BytesIO(content(of_stage(stage, Choices("parquet")))))
    assert table.to_pylist() == of_lines
    assert [str(one) for one in table.schema.types] == [
        *["string"] * 5,
        "bool",
        "string",
        "string",
        "string",
        "double",
        "string",
    ]
    spelled = {None: "", False: "false", True: "true"}
    expected = [
        {name: spelled[value] if value in (None, False) else str(value) for name, value in row.items()}
        for row in of_lines
    ]
    assert rows(of_stage(stage, Choices("csv"))) == expected


def test_mechanical_turks_table_has_its_columns_in_order_and_all_that_the_item_brought(stage: Stage) -> None:
    given = answered(stage, "A boat.", "sad")
    file = of_stage(stage, Choices())
    assert file.name == "moods-ask-results.csv"
    (row,) = rows(file)
    assert list(row) == [
        *OWN_COLUMNS[:-2], "Input.=more", "Input.known", "Input.text", "Answer.mood", "Answer.sure", *OWN_COLUMNS[-2:]
    ]  # fmt: skip
    assert row["HITId"] == given.hit.hit_id and row["HITTypeId"] == "3TYPE" and row["AssignmentStatus"] == given.state
    assert (row["Input.=more"], row["Answer.mood"], row["Answer.sure"]) == ("kept", "sad", "3")


def test_an_answer_about_several_items_is_one_row_with_the_numbers_of_the_items(stage: Stage) -> None:
    first = make.item(stage, document=make.document(stage.project, data={"columns": {"text": "One"}}), data={})
    second = make.item(stage, document=make.document(stage.project, data={"columns": {"text": "Two"}}), data={})
    hit = make.hit_about([first, second])
    posted = {"item1:mood": "glad", "mood": "sad", "item_number": "2", "workerId": "A1"}
    made = make.assignment(hit, make.worker("A1"), answer=posted)
    for item, value in ((first, "glad"), (second, "sad")):
        Label.objects.create(
            assignment=made, item=item, stage=stage, worker=made.worker, unit="mood", value=value, correct=None
        )
    (row,) = rows(of_stage(stage, Choices()))
    fields = {name: cell for name, cell in row.items() if name.startswith(("Input.", "Answer."))}
    assert fields == {
        "Input.item1:text": "One", "Input.item2:text": "Two", "Answer.item1:mood": "glad", "Answer.item2:mood": "sad"
    }  # fmt: skip
    assert [(each["item"], each["value"]) for each in long(stage)] == [(first.key, "glad"), (second.key, "sad")]


def test_only_answers_that_count_come_out_unless_all_are_asked_for_with_the_reason(stage: Stage) -> None:
    answered(stage, "1", "glad", "A1")
    answered(stage, "2", "glad", "A2", state="Rejected")
    answered(stage, "3", "glad", "A3", held="Too fast.")
    answered(stage, "4", "glad", "A4", held="Too fast.", admitted=False, state="Approved")
    make.assignment(make.hit(make.item(stage)), make.worker("A5"), answer={}, problem="Nothing is answered.")
    blocked = answered(stage, "6", "glad", "A6")
    make.block(stage, blocked.worker)
    blocked.labels.update(void=True)
    back = answered(stage, "7", "glad", "A7")
    back.labels.filter(unit="mood").update(undone_at=back.submitted_at)
    make.assignment(make.hit(make.item(stage)), make.worker("A8"), answer={}, scored=False)
    assert {(row["worker"], row["unit"]) for row in long(stage, worker_ids=True)} == {
        ("A1", "mood"), ("A1", "sure"), ("A7", "sure")
    }  # fmt: skip
    assert [row["WorkerId"] for row in rows(of_stage(stage, Choices(worker_ids=True)))] == ["A1", "A7"]
    why = {(row["worker"], row["unit"]): row["not_counted"] for row in long(stage, worker_ids=True, all=True)}
    assert why == {
        ("A1", "mood"): "", ("A1", "sure"): "", ("A2", "mood"): "rejected", ("A2", "sure"): "rejected",
        ("A3", "mood"): "not counted yet: Too fast.", ("A3", "sure"): "not counted yet: Too fast.",
        ("A4", "mood"): "left out by a lead", ("A4", "sure"): "left out by a lead",
        ("A5", None): "invalid: Nothing is answered.",
        ("A6", "mood"): "the worker is blocked", ("A6", "sure"): "the worker is blocked",
        ("A7", "mood"): "taken back", ("A7", "sure"): "", ("A8", None): "not checked yet",
    }  # fmt: skip
    told = {row["WorkerId"]: row["NotCounted"] for row in rows(of_stage(stage, Choices(worker_ids=True, all=True)))}
    assert told["A1"] == told["A7"] == "" and told["A6"] == "the worker is blocked" and len(told) == 8


def test_what_is_said_not_to_count_is_what_the_labels_say(stage: Stage) -> None:
    answered(stage, "1", "glad", "A1")
    answered(stage, "2", "glad", "A2", state="Rejected")
    answered(stage, "3", "glad", "A3", held="Too fast.")
    answered(stage, "4", "glad", "A4", held="Too fast.", admitted=True)
    make.block(stage, answered(stage, "5", "glad", "A5").worker)
    make.block(stage, answered(stage, "6", "glad", "A6").worker, until=make.NOON)
    recount(stage.assignments.all())
    counting = {(label.worker.worker_id, label.unit) for label in Label.objects.counting().select_related("worker")}
    told = long(stage, worker_ids=True, all=True)
    assert {(row["worker"], row["unit"]) for row in told if not row["not_counted"]} == counting
    assert {worker for worker, _ in counting} == {"A1", "A4", "A6"}


def test_results_of_a_project_name_the_stage_of_each_row(stage: Stage) -> None:
    other = make.stage(stage.project, key="again", protocol="form", settings={"form": FORM})
    answered(stage, "1", "glad")
    answered(other, "2", "sad", "A2")
    lines = content(of_project(stage.project, Choices("jsonl"))).splitlines()
    assert [(row["stage"], row["value"]) for row in map(json.loads, lines)] == [
        ("ask", "glad"), ("ask", 3), ("again", "sad"), ("again", 3)
    ]  # fmt: skip
    assert [row["Answer.mood"] for row in rows(of_project(stage.project, Choices()))] == ["glad", "sad"]


def test_cells_that_a_spreadsheet_would_run_get_an_apostrophe_in_csv_alone(stage: Stage) -> None:
    answered(stage, "=cmd()", "=1+1")
    (row,) = rows(of_stage(stage, Choices()))
    assert (row["Input.text"], row["Answer.mood"]) == ("'=cmd()", "'=1+1")
    assert [each["value"] for each in rows(of_stage(stage, Choices("csv")))] == ["'=1+1", "3"]
    assert long(stage)[0]["value"] == "=1+1"


@pytest.mark.parametrize("all_of_them", [False, True])
def test_the_long_table_has_what_the_items_bring_where_it_is_asked_for(stage: Stage, all_of_them: bool) -> None:
    answered(stage, "=A boat.", "sad")
    other = make.item(stage, document=make.document(stage.project, data={"columns": {"n": [1, 2]}}), data={})
    made = make.assignment(make.hit(other), make.worker("A2"), answer={}, scored=True)
    Label.objects.create(assignment=made, item=other, stage=stage, worker=made.worker, unit="sure", value=3)
    first, _, last = long(stage, inputs=True, all=all_of_them)
    names = ["Input.=more", "Input.known", "Input.n", "Input.text"]
    assert list(first) == [*exporting.LONG, *["not_counted"] * all_of_them, *names]
    assert [first[name] for name in names] == ["kept", "Glad", None, "=A boat."]
    assert [last[name] for name in names] == [None, None, [1, 2], None]
    first, _, last = rows(of_stage(stage, Choices("csv", inputs=True, all=all_of_them)))
    assert (first["Input.text"], last["Input.n"], last["Input.text"]) == ("'=A boat.", "[1, 2]", "")
    table = parquet.read_table(io.BytesIO(content(of_stage(stage, Choices("parquet", inputs=True)))))
    assert table.column("Input.n").to_pylist() == [None, None, "[1, 2]"]
    assert not any(name.startswith("Input.") for name in long(stage)[0])


def test_results_of_a_project_have_what_the_items_of_all_stages_bring(stage: Stage) -> None:
    other = make.stage(stage.project, key="again", protocol="form", settings={"form": FORM})
    answered(stage, "1", "glad")
    given = answered(other, "2", "sad", "A2")
    given.hit.item.document.data["columns"]["extra"] = "only here"
    given.hit.item.document.save()
    lines = content(of_project(stage.project, Choices("jsonl", inputs=True))).splitlines()
    assert [(row["Input.text"], row["Input.extra"]) for row in map(json.loads, lines)] == [
        ("1", None), ("1", None), ("2", "only here"), ("2", "only here")
    ]  # fmt: skip


def test_an_unknown_format_is_refused(stage: Stage) -> None:
    with refused("unknown_format", match="There are mturk, csv, jsonl, parquet"):
        of_stage(stage, Choices("xlsx"))


@pytest.mark.parametrize("name", exporting.FORMATS)
def test_an_empty_stage_gives_a_file_without_rows(stage: Stage, name: str) -> None:
    file = content(of_stage(stage, Choices(name)))
    assert file.count(b"\n") <= 1 or parquet.read_table(io.BytesIO(file)).num_rows == 0


@pytest.mark.parametrize("name", exporting.FORMATS)
def test_queries_do_not_grow_with_the_answers_of_a_part(stage: Stage, name: str) -> None:
    answered(stage, "1", "glad", "A1")
    with CaptureQueriesContext(connection) as few:
        content(of_stage(stage, Choices(name)))
    for number in range(2, 12):
        answered(stage, str(number), "glad", f"A{number}")
    with CaptureQueriesContext(connection) as many:
        content(of_stage(stage, Choices(name)))
    assert len(many) == len(few)


def test_the_more_labels_answers_have_the_fewer_answers_are_read_at_a_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "CHUNK", 4)
    monkeypatch.setattr(exporting, "FIRST", 1)
    for number in range(9):
        made = answered(stage, str(number), "glad", f"A{number}")
        more = [f"unit-{at}" for at in range(4)]
        Label.objects.bulk_create(
            Label(assignment=made, item=made.hit.item, stage=stage, worker=made.worker, unit=unit, value=1)
            for unit in more
        )
    with CaptureQueriesContext(connection) as asked:
        rows_out = long(stage)
    # Six labels an answer, so two answers have the twelve that three parts of four hold.
    limits = [found[1] for query in asked if (found := re.search(r"LIMIT (\d+)", query["sql"]))]
    assert limits == ["1", *["2"] * 5] and len(rows_out) == 54


@pytest.mark.parametrize("name", ["csv", "jsonl", "mturk"])
def test_a_file_is_sent_before_all_of_it_is_read(stage: Stage, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "CHUNK", 2)
    for number in range(6):
        answered(stage, str(number), "glad", f"A{number}")
    pieces = of_stage(stage, Choices(name)).pieces
    begun = next(pieces) + next(pieces)
    # Whoever answers meanwhile is in the rest: nothing was read ahead.
    late = answered(stage, "late", "glad", "A7", submitted_at=make.NOON + timedelta(hours=1))
    rest = b"".join(pieces)
    assert begun and (late.assignment_id.encode() in rest or late.hit.item.key.encode() in rest)
