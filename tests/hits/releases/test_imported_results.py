"""Answers that come in with files of results: what they are, what they never are, and that they go again as a whole."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from itertools import permutations
from statistics import mean
from typing import Any

import pytest

from hits.answers.verbs import reviewing
from hits.formats.files.faults import FormatErrors
from hits.formats.files.mapping import MappingRefusedError
from hits.formats.outputs.results import OWN_COLUMNS
from hits.items.verbs import importing
from hits.judging.rules import stage_statistics
from hits.judging.rules.required_answers import answers_counted
from hits.judging.rules.summaries import refresh_summary
from hits.judging.verbs import deciding, scoring
from hits.models import (
    Assignment,
    Block,
    Document,
    Item,
    Label,
    LedgerEntry,
    Stage,
    StageSummary,
    Upload,
    Verdict,
    Worker,
)
from hits.payments.verbs import ordering_bonuses
from hits.people.verbs import messaging
from hits.projects.verbs import projects
from hits.publishing.verbs import topping_up
from hits.releases.rules import imported_results
from hits.releases.verbs import exporting, releasing, removing_results
from hits.stages.verbs import task_settings
from hits.workers.rules import grant_rows, worker_table
from hits.workers.verbs import blocking, granting
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.formats.shared_data import shared_file
from tests.hits.said import computed as computed_figures

pytestmark = pytest.mark.django_db

LABELS = ["Wearing Mask Correctly", "Wearing Mask Incorrectly", "Not Wearing Mask"]
GOLD = {"wmc-qc": LABELS[0], "wmi-qc": LABELS[1], "nwm-qc": LABELS[2]}


def stage_asking(fields: Mapping[str, Mapping[str, Any]], shown: str = "{text}", answers: int = 3) -> Stage:
    """The stage of a new project of the recipe `form`; `fields` by key."""
    project = projects.create_project("Masks", "form", Decimal(100), "lab@example.org", make.user())
    stage = project.stages.select_related("project__account", "summary").get()
    ask = [{"key": key, "question": f"{key}?", **field} for key, field in fields.items()]
    form = {"show": [{"kind": "text", "text": shown}], "ask": ask}
    Stage.objects.filter(pk=stage.pk).update(answers=answers)
    task_settings.change_task(stage, {"settings": {"form": form}}, None)
    return Stage.objects.select_related("project__account", "summary").get(pk=stage.pk)


def moods(**columns: Any) -> Stage:
    mood = {"kind": "one", "choices": ["Glad", "Sad"], "gold": "known"}
    return stage_asking({"mood": mood}, **columns)


def csv_of(*rows: Mapping[str, str]) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def row(number: int, worker: str, mood: str, text: str = "A boat.", **cells: str) -> dict[str, str]:
    return {
        "HITId": "3H", "AssignmentId": f"3A{number}", "WorkerId": worker, "AssignmentStatus": "Submitted",
        "AcceptTime": "Sat Apr 24 17:19:43 PDT 2021", "SubmitTime": "Sat Apr 24 17:20:13 PDT 2021",
        "WorkTimeInSeconds": "30", "Input.text": text, "Input.known": "Glad", "Answer.mood": mood, **cells,
    }  # fmt: skip


def imported(stage: Stage, content: bytes, pairs: Any = (), name: str = "results.csv") -> Upload:
    upload = importing.create_results_upload(stage, name, content, None, pairs)
    importing.import_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def faults(upload: Upload) -> list[str]:
    assert upload.state == Upload.State.REFUSED
    return [f"{fault['line']} {fault['place']}: {fault['message']}".strip() for fault in upload.faults]


def untouched(stage: Stage) -> bool:
    tables = (Assignment, Label, Item, Document, Worker, LedgerEntry)
    return not any(table.objects.exists() for table in tables)


def rows_out(stage: Stage, choices: exporting.Choices) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(exporting.of_stage(stage, choices).pieces).decode())))


# A file of Mechanical Turk's own


@pytest.fixture
def masks() -> Stage:
    """The task of the shared file: six images and three known ones; the gold is a column that the mapping fills."""
    one = {"kind": "one", "choices": LABELS}
    fields = {f"image{number}": one for number in range(1, 7)}
    known = {name: {**one, "gold": f"known_{name}"} for name in GOLD}
    return stage_asking({**fields, **known}, "{image1} {image2} {image3} {image4} {image5} {image6}")


def masks_imported(stage: Stage) -> Upload:
    content = shared_file("mturk-results/results.csv").read_bytes()
    pairs = [(f"Input.known_{name}", f"={label}") for name, label in GOLD.items()]
    upload = imported(stage, content, pairs)
    assert upload.state == Upload.State.DONE, upload.faults[:5] or upload.error
    return upload


def test_the_shared_file_comes_in_as_1962_answers_and_gives_the_requesters_own_table(masks: Stage) -> None:
    upload = masks_imported(masks)
    assert upload.items == Assignment.objects.filter(state="Imported").count() == 1962
    assert masks.items.count() == 654
    assert Label.objects.counting().count() == 1962 * 9
    assert not LedgerEntry.objects.exists()
    with shared_file("mturk-results/worker-quality-expected.csv").open(newline="") as file:
        expected = {line["WorkerId"]: line for line in csv.DictReader(file)}
    assert len(expected) == 61
    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for worker, unit, correct in (
        Label.objects.counting().filter(unit__in=GOLD).values_list("worker__worker_id", "unit", "correct")
    ):
        right[imported_results.own_id(worker)][unit].append(correct)
    seconds: dict[str, list[float]] = defaultdict(list)
    for worker, taken in Assignment.objects.values_list("worker__worker_id", "seconds"):
        seconds[imported_results.own_id(worker)].append(taken)
    assert set(right) == set(expected)
    for worker, line in expected.items():
        shares = [mean(right[worker][unit]) for unit in GOLD]
        assert len(seconds[worker]) == int(line["TasksCompleted"])
        assert mean(seconds[worker]) == pytest.approx(float(line["TimePerTask"]))
        columns = ("WearingMaskCorrectlyAccuracy", "WearingMaskIncorrectlyAccuracy", "NotWearingMaskAccuracy")
        assert shares == pytest.approx([float(line[name]) for name in columns])
        assert mean(shares) == pytest.approx(float(line["TotalAccuracy"]))
        assert all(share >= 0.9 for share in shares) == (line["GoodWorker"] == "True")


def test_the_shared_file_goes_out_again_cell_by_cell(masks: Stage) -> None:
    masks_imported(masks)
    file = exporting.of_stage(masks, exporting.Choices(worker_ids=True))
    out = list(csv.reader(io.StringIO(b"".join(file.pieces).decode(), newline="")))
    with shared_file("mturk-results/results.csv").open(newline="") as given:
        assert out == list(csv.reader(given))


# What an imported answer is


def test_an_imported_answer_counts_for_the_rule_and_for_nothing_of_money() -> None:
    stage = moods()
    upload = imported(stage, csv_of(row(1, "A1", "Glad"), row(2, "A2", "Glad"), row(3, "A3", "Sad")))
    assert (upload.state, upload.items) == (Upload.State.DONE, 3)
    deciding.decide(stage)
    (item,) = stage.items.all()
    assert item.state == Item.State.KEPT
    assert sorted(Label.objects.counting().values_list("value", "correct")) == [
        ("glad", True), ("glad", True), ("sad", False)
    ]  # fmt: skip
    summary = Stage.objects.get(pk=stage.pk).summary
    assert (summary.answers, summary.imported, summary.published, summary.kept) == (3, 3, 0, 1)
    assert (summary.median_seconds, summary.timeline, summary.to_review) == (None, [], 0)
    assert not LedgerEntry.objects.exists() and not stage.hits.exists()
    assert {stat.earned for stat in stage.worker_stats.all()} == {Decimal(0)}


def test_times_of_imported_answers_are_in_no_median_that_pay_is_measured_by() -> None:
    stage = moods()
    imported(stage, csv_of(*(row(number, f"A{number}", "Glad") for number in range(3))))
    make.assignment(make.hit(stage.items.get()), seconds=90.0, answer={"mood": "sad"})
    refresh_summary(stage)
    summary = StageSummary.objects.get(stage=stage)
    assert (summary.median_seconds, len(summary.timeline), summary.answers) == (90.0, 1, 4)


def test_an_imported_worker_is_nobody_of_the_marketplace() -> None:
    """The same id may be somebody there: who holds it, a file does not prove."""
    here = make.worker("A1")
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Sad")))
    (worker,) = Worker.objects.exclude(imported_into=None)
    assert (worker.worker_id, worker.imported_into) == (f"imported-{stage.project_id}:A1", stage.project)
    assert not here.assignments.exists()
    with refused("not_blockable", match="From a file of results"):
        blocking.pause(stage, [worker.worker_id], 5, "Too fast.", None)
    assert not Block.objects.exists()


def test_a_worker_of_a_file_is_left_out_by_a_block_of_which_no_marketplace_is_told() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Sad"), row(2, "A2", "Glad")))
    worker = f"imported-{stage.project_id}:A1"
    lost = blocking.preview_chosen(stage, [worker]).loss
    # An item that was never published is bought by nobody but a lead.
    assert (lost.answers, lost.replacements, lost.cost) == (1, 0, 0)
    assert blocking.intend_by_hand(stage, [worker], "Always says sad.", None) == 1
    assert blocking.unfinished() == [] and blocking.finish(stage) == 0
    assert list(Label.objects.counting().values_list("value", flat=True)) == ["glad"]
    imported(stage, csv_of(row(3, "A1", "Sad", "Another boat.")), name="more.csv")
    assert list(Label.objects.counting().values_list("value", flat=True)) == ["glad"]
    block = Block.objects.select_related("worker", "stage").get()
    assert [row.state for row in worker_table.rows_of(stage, worker_table.ordered(stage, "-answers"))] == [
        "blocked", "imported",
    ]  # fmt: skip
    blocking.undo(block, None)
    block.refresh_from_db()
    assert block.state == "undone" and block.undone_at
    assert Label.objects.counting().count() == 3
    assert blocking.intend_by_hand(stage, [worker], "Again.", None) == 1


def test_one_worker_of_two_files_is_one_and_of_two_projects_is_two() -> None:
    stage, other = moods(), moods()
    imported(stage, csv_of(row(1, "A1", "Sad")))
    imported(stage, csv_of(row(2, "A1", "Glad", "Another boat.")), name="more.csv")
    imported(other, csv_of(row(1, "A1", "Sad")))
    assert Worker.objects.count() == 2 and stage.worker_stats.get().answers == 2


def test_rows_with_the_same_inputs_are_one_item_also_one_that_is_there() -> None:
    stage = moods()
    document = make.document(
        stage.project, key="one", data={"columns": {"text": "A boat.", "known": "Glad", "id": "one"}}
    )
    there = make.item(stage, key="one", document=document, data={})
    rows = [
        row(1, "A1", "Glad"),
        row(2, "A2", "Glad"),
        row(3, "A1", "Sad", "Another boat."),
        row(4, "A2", "Sad", "Another boat."),
    ]
    imported(stage, csv_of(*rows))
    assert there.imported_answers.count() == 2
    (new,) = stage.items.exclude(pk=there.pk)
    assert new.imported_answers.count() == 2 and new.document.data["columns"]["text"] == "Another boat."


def test_an_item_with_too_few_answers_is_published_for_the_missing_ones(stand_in: Any, publish: Any) -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Glad"), row(2, "A2", "Glad")))
    deciding.decide(stage)
    assert stage.items.get().state == Item.State.NEW
    hit = publish(stage).hits.get()
    assert (hit.max_assignments, hit.item, hit.state) == (1, stage.items.get(), "live")


def test_an_answer_that_was_rejected_there_counts_for_nothing_here() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "nonsense", AssignmentStatus="Rejected"), row(2, "A2", "Glad")))
    assert Assignment.objects.exclude(problem="").get().problem == imported_results.REJECTED
    assert Label.objects.counting().count() == 1


def test_the_task_stays_as_it_is_while_imported_answers_stand_on_it() -> None:
    stage = moods()
    upload = imported(stage, csv_of(row(1, "A1", "Glad")))
    with refused("task_frozen", match="Imported answers were checked with this task"):
        task_settings.change_task(stage, {"settings": {"instructions": "Other ones."}}, None)
    removing_results.remove(upload, None)
    task_settings.change_task(stage, {"settings": {"instructions": "Other ones."}}, None)


# Other files


def test_figure_eights_file_is_read_by_the_names_of_the_task() -> None:
    stage = moods()
    cells = {
        "_unit_id": "77", "_created_at": "4/24/2021 17:20:13", "_id": "501", "_started_at": "4/24/2021 17:19:43",
        "_trust": "1.0", "_worker_id": "9001", "_ip": "198.51.100.7", "_city": "Linden", "mood": "Sad",
        "text": "A boat.", "known": "Glad",
    }  # fmt: skip
    assert imported(stage, csv_of(cells)).state == Upload.State.DONE
    answer = Assignment.objects.get()
    assert (answer.seconds, answer.worker.worker_id) == (30, f"imported-{stage.project_id}:9001")
    assert (answer.labels.get().value, answer.labels.get().correct) == ("sad", False)
    assert "198.51.100.7" not in str(answer.row) and "1.0" in answer.row
    columns = stage.items.get().document.data["columns"]
    assert columns == {"text": "A boat.", "known": "Glad"}


def test_turkles_file_is_mechanical_turks_with_a_column_more_which_comes_out_again() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "12", "Glad", **{"Turkle.Username": "ilse"})))
    (out,) = rows_out(stage, exporting.Choices(worker_ids=True))
    assert out["Turkle.Username"] == "ilse" and list(out)[: len(OWN_COLUMNS) - 2] == list(OWN_COLUMNS[:-2])


def test_with_pseudonyms_no_column_of_a_file_names_the_worker() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "12", "Glad", **{"Turkle.Username": "ilse"})))
    (out,) = rows_out(stage, exporting.Choices())
    assert out["Turkle.Username"] == "" and out["WorkerId"] != "12"


@pytest.mark.parametrize("column", ["AssignmentId", "WorkerId"])
def test_a_long_table_with_a_column_of_another_layout_goes_out_with_pseudonyms_and_no_address(column: str) -> None:
    stage = moods()
    document = make.document(stage.project, key="one", data={"columns": {"text": "A boat.", "known": "Glad"}})
    make.item(stage, key="one", document=document, data={})
    cells = {"item": "one", "unit": "mood", "worker": "ILSE", "value": "glad", "_ip": "198.51.100.7", column: "3A"}
    assert imported(stage, csv_of(cells)).state == Upload.State.DONE
    assert "198.51.100.7" not in str(Assignment.objects.get().row)
    (out,) = rows_out(stage, exporting.Choices())
    assert "ILSE" not in out.values() and out["Answer.mood"] == "glad"


@pytest.mark.parametrize("inputs", [False, True])
@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_the_long_table_comes_in_again_as_it_went_out(name: str, inputs: bool) -> None:
    fields = {
        "mood": {"kind": "one", "choices": ["Glad", "Sad"], "gold": "known"},
        "why": {"kind": "any", "choices": ["Words", "Signs"]},
        "sure": {"kind": "scale"},
        "rank": {"kind": "ranking", "choices": ["First", "Second"]},
        "better": {"kind": "pair", "a": "One", "b": "Other"},
        "part": {"kind": "matrix", "rows": ["Left", "Right"]},
        "age": {"kind": "number"},
        "note": {"kind": "long_text"},
    }
    stage = stage_asking(fields)
    cells = {
        "Answer.why": "words|Signs", "Answer.sure": "4", "Answer.rank": "Second|First", "Answer.better": "b",
        "Answer.part.left": "2", "Answer.part.right": "5", "Answer.age": "41",
        "Answer.note": "Two \"boats\", and\nrain.",
    }  # fmt: skip
    first = imported(stage, csv_of(row(1, "A1", "Glad", **cells), row(2, "A2", "Sad", **cells)))
    assert first.state == Upload.State.DONE, first.faults
    said = sorted(map(str, Label.objects.values_list("item__key", "worker", "unit", "value", "correct")))
    content = b"".join(exporting.of_stage(stage, exporting.Choices(name, worker_ids=True, inputs=inputs)).pieces)
    other = stage_asking(fields)
    keys = list(stage.items.values_list("key", "document__data"))
    for key, data in keys:
        make.item(other, key=key, document=make.document(other.project, key=key, data=data), data={})
    again = imported(other, content, name=f"labels.{name}")
    assert again.state == Upload.State.DONE, again.faults
    labels = Label.objects.filter(stage=other).values_list("item__key", "worker", "unit", "value", "correct")
    own = {pk: imported_results.own_id(name) for pk, name in Worker.objects.values_list("pk", "worker_id")}
    first_own = [
        (key, own[worker], *rest)
        for key, worker, *rest in Label.objects.filter(stage=stage).values_list(
            "item__key", "worker", "unit", "value", "correct"
        )
    ]
    assert sorted(map(str, first_own)) == sorted(str((key, own[worker], *rest)) for key, worker, *rest in labels)
    assert len(said) == 2 * 13


def test_long_tables_without_times_may_answer_the_same_item_in_two_stages() -> None:
    first = stage_asking({"mood": {"kind": "one", "choices": ["Glad", "Sad"]}})
    second = make.stage(first.project, key="second", protocol="form", settings=first.settings)
    document = make.document(first.project, key="r1")
    for stage in (first, second):
        make.item(stage, key="r1", document=document, data={})
    for stage, value in ((first, "Glad"), (second, "Sad")):
        content = f"item,unit,worker,value\nr1,mood,A1,{value}\n".encode()
        done = imported(stage, content, name=f"{stage.key}.csv")
        assert done.state == Upload.State.DONE, done.faults
    again = imported(second, b"item,unit,worker,value\nr1,mood,A1,Glad\n", name="again.csv")
    assert "was imported before" in str(again.faults)


def test_a_cell_that_was_kept_from_running_comes_in_as_it_was_answered() -> None:
    stage = stage_asking({"mood": {"kind": "short_text"}})
    imported(stage, csv_of(row(1, "A1", "'=1+1", "'tis a boat.")))
    assert (Label.objects.get().value["text"], stage.items.get().document.data["columns"]["text"]) == (
        "=1+1",
        "'tis a boat.",
    )


def test_a_mixed_stage_says_of_each_row_where_it_comes_from() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Glad")))
    paid = make.assignment(make.hit(stage.items.get()), make.worker("APAID"), answer={"mood": "sad"})
    make.label(paid, unit="mood", value="sad", item=stage.items.get())
    out = list(csv.DictReader(io.StringIO(b"".join(exporting.of_stage(stage, exporting.Choices()).pieces).decode())))
    assert {line["AssignmentId"]: line["ImportedFrom"] for line in out} == {
        "3A1": "results.csv",
        paid.assignment_id: "",
    }
    long = csv.DictReader(io.StringIO(b"".join(exporting.of_stage(stage, exporting.Choices("csv")).pieces).decode()))
    assert {line["batch"] for line in long} == {f"import-{Upload.objects.get().pk}", str(paid.hit.batch_id)}


# What is refused, with nothing changed


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(1, "A1", "Merry")], "2 : the task does not take this answer: The answer to 'mood' is none of"),
        ([row(1, "A1", "")], "2 : the task does not take this answer: Question 1"),
        ([row(1, "A1", "Glad"), row(1, "A1", "Glad")], "3 : is the same answer as line 2: remove one of them"),
        ([row(1, "", "Glad")], "2 WorkerId: must not be blank"),
        ([row(1, "A" * 65, "Glad")], "2 WorkerId: has 65 characters, the limit is 64"),
        ([row(1, "A1", "Glad", WorkTimeInSeconds="NaN")], "2 WorkTimeInSeconds: must be seconds"),
        ([row(1, "A1", "Glad", SubmitTime="yesterday")], "2 SubmitTime: is no time such as"),
        ([row(1, "A1", "Glad", SubmitTime="0001-01-01T00:00:00+14:00")], "2 SubmitTime: is no time such as"),
        ([row(1, "A1", "Glad", AcceptTime="9999-12-31T23:59:59-12:00")], "2 AcceptTime: is no time such as"),
        ([row(1, "A1", "Glad", **{"Input.known": "Merry"})], "2 : The gold answer 'Merry'"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_by_its_lines_and_changes_nothing(rows: Any, said: str) -> None:
    stage = moods()
    upload = imported(stage, csv_of(*rows))
    assert any(fault.startswith(said) for fault in faults(upload)), faults(upload)
    assert untouched(stage)


def test_a_scale_takes_no_nan() -> None:
    stage = stage_asking({"mood": {"kind": "scale"}})
    assert "the task does not take this answer" in faults(imported(stage, csv_of(row(1, "A1", "NaN"))))[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n", "is no file of results"),
        (csv_of({"AssignmentId": "3", "WorkerId": "A1"}), "has no column Answer"),
        (csv_of({"AssignmentId": "3", "WorkerId": "A1", "Answer.item2:mood": "Glad"}), "about several items"),
    ],
)
def test_what_is_no_file_of_results_is_not_even_kept(content: bytes, said: str) -> None:
    stage = moods()
    with pytest.raises(FormatErrors, match=said):
        importing.create_results_upload(stage, "results.csv", content, None)
    assert not Upload.objects.exists()


def test_an_empty_file_and_one_too_large_are_refused(settings: Any) -> None:
    stage = moods()
    settings.MAX_IMPORT_BYTES = 100
    for content in (b"", b"x" * 101):
        with refused("upload_refused"):
            importing.create_results_upload(stage, "results.csv", content, None)


def test_a_column_that_the_task_needs_is_asked_for_and_an_unknown_one_named() -> None:
    stage = moods()
    content = csv_of({name.replace("mood", "feeling"): cell for name, cell in row(1, "A1", "Glad").items()})
    with pytest.raises(MappingRefusedError, match="No column is Answer.mood, which every answer needs"):
        importing.create_results_upload(stage, "results.csv", content, None)
    with pytest.raises(MappingRefusedError, match="The file has no column “Answer.mod” for Answer.mood"):
        importing.create_results_upload(stage, "results.csv", content, None, [("Answer.mood", "Answer.mod")])
    assert imported(stage, content, [("Answer.mood", "Answer.feeling")]).items == 1


def test_the_same_file_twice_is_refused_and_names_the_first_import() -> None:
    stage = moods()
    content = csv_of(row(1, "A1", "Glad"))
    first = imported(stage, content)
    with pytest.raises(importing.SameFileError, match=rf"imported already: results.csv \(import {first.pk},"):
        importing.create_results_upload(stage, "again.csv", content, None)
    removing_results.remove(first, None)
    assert imported(stage, content).items == 1


def test_a_file_that_waits_for_its_columns_is_not_said_to_be_imported() -> None:
    stage, content = moods(), csv_of(row(1, "A1", "Glad"))
    first = importing.create_results_upload(stage, "results.csv", content, None, ask=True)
    with pytest.raises(importing.SameFileError, match="waits for its columns: results.csv") as caught:
        importing.create_results_upload(stage, "results.csv", content, None)
    assert caught.value.first == first and caught.value.waits


def test_the_same_answer_in_another_file_or_given_here_is_refused() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Glad")))
    paid = make.assignment(make.hit(stage.items.get()), assignment_id="3A2")
    upload = imported(stage, csv_of(row(1, "A1", "Sad"), row(2, "A2", "Sad")), name="more.csv")
    assert [fault.split(": ", 1)[1] for fault in faults(upload)] == [
        "this answer was imported before, with results.csv: remove the line",
        "this answer was given here, and is in the project already: remove the line",
    ]
    assert paid.state == "Approved" and Assignment.objects.count() == 2


def test_a_stage_of_another_task_takes_no_files() -> None:
    with refused("no_results_taken", match="takes no files of results"):
        importing.create_results_upload(make.stage(), "results.csv", csv_of(row(1, "A1", "Glad")), None)


# Out again


def test_removing_takes_all_of_a_file_and_leaves_what_else_is_there() -> None:
    stage = moods()
    first = imported(stage, csv_of(*(row(number, f"A{number}", "Glad") for number in range(1, 4))))
    second = imported(stage, csv_of(row(9, "A1", "Sad", "Another boat.")), name="more.csv")
    deciding.decide(stage)
    assert Verdict.objects.filter(superseded_at=None).count() == 1
    told = removing_results.preview(first)
    assert (told.answers, told.workers, told.judged, told.items, told.why_not) == (3, 3, 1, 1, "")
    assert removing_results.remove(first, None) == 3
    deciding.decide(stage)
    assert [item.imported_answers.count() for item in stage.items.all()] == [1]
    assert list(Worker.objects.values_list("worker_id", flat=True)) == [f"imported-{stage.project_id}:A1"]
    assert stage.worker_stats.get().answers == 1
    assert (first.state, second.answers.count()) == (Upload.State.REMOVED, 1)
    with refused("not_removable", match="has no answers here"):
        removing_results.remove(first, None)


def test_figures_are_due_again_where_a_file_was_replaced_by_one_with_as_many_answers() -> None:
    stage = moods()
    first = imported(stage, csv_of(*(row(n, f"A{n % 3}", "Glad", f"Text {n // 3}") for n in range(9))))
    computed_figures(stage)
    removing_results.remove(first, None)
    imported(stage, csv_of(*(row(n, f"A{n % 3}", "Sad", f"Text {n // 3}") for n in range(9))), name="other.csv")
    stage = Stage.objects.select_related("project", "summary").get(pk=stage.pk)
    computed = stage_statistics.computed(stage)
    assert computed and (computed.answers, computed.since, computed.removed) == (9, 9, 9)
    assert computed.in_words == "9 answers came since, 9 answers removed since"
    assert stage_statistics.is_due(stage)


def test_a_worker_who_is_blocked_stays_it_when_the_file_goes_and_comes_again() -> None:
    stage = moods()
    content = csv_of(row(1, "A1", "Sad"), row(2, "A2", "Glad"))
    first, worker = imported(stage, content), f"imported-{stage.project_id}:A1"
    blocking.intend_by_hand(stage, [worker], "Always says sad.", None)
    removing_results.remove(first, None)
    assert list(Worker.objects.values_list("worker_id", flat=True)) == [worker]
    imported(stage, content, name="again.csv")
    assert list(Label.objects.counting().values_list("value", flat=True)) == ["glad"]
    blocking.undo(Block.objects.select_related("worker", "stage").get(), None)
    assert Label.objects.counting().count() == 2


def test_an_item_that_was_published_since_stays_when_its_answers_go() -> None:
    stage = moods()
    upload = imported(stage, csv_of(row(1, "A1", "Glad")))
    hit = make.hit(stage.items.get())
    removing_results.remove(upload, None)
    assert stage.items.get().stale and hit.pk and not Assignment.objects.exists()


def test_answers_on_which_a_published_item_of_a_later_stage_stands_cannot_be_removed() -> None:
    stage = moods()
    upload = imported(stage, csv_of(row(1, "A1", "Glad")))
    later = make.stage(stage.project)
    made = make.item(later, source=upload.answers.get(), document=stage.items.get().document)
    assert removing_results.preview(upload).made == 1
    make.hit(made)
    with refused("not_removable", match="1 items of later stages were made from these answers"):
        removing_results.remove(upload, None)
    assert upload.answers.count() == 1


# Any order of what leads do


class Lead:
    """What a lead may try, in any order. Each leaves imported answers what they are."""

    def __init__(self, stage: Stage, publish: Any) -> None:
        self.stage, self._publish = stage, publish
        self.files = [imported(stage, csv_of(row(1, "A1", "Glad"), row(2, "A2", "Glad", "Another boat.")))]

    def publish(self) -> None:
        deciding.decide(self.stage)
        if self.stage.items.filter(state=Item.State.NEW).exists():
            self._publish(self.stage, f"page {Item.objects.count()} {self.stage.hits.count()}")

    def answer(self) -> None:
        """Somebody is paid for an answer to what was published."""
        for hit in self.stage.hits.filter(assignments=None):
            paid = make.assignment(hit, make.worker(), answer={"mood": "sad"})
            make.label(paid, unit="mood", value="sad", correct=False)
        refresh_summary(self.stage)

    def review(self) -> None:
        """Every verb about answers is asked for all of them."""
        pks = list(Assignment.objects.imported().values_list("pk", flat=True))
        assert reviewing.approve(self.stage, pks, None) == 0
        assert reviewing.reject(self.stage, pks, "Bad.", None) == 0
        assert reviewing.take_back(self.stage, pks, None) == 0
        assert scoring.score(self.stage) == 0 and topping_up.top_up(self.stage) is None

    def block(self) -> None:
        for worker in Worker.objects.exclude(imported_into=None):
            blocking.intend_by_hand(self.stage, [worker.worker_id], "Bad.", None)
            assert not Label.objects.counting().filter(worker=worker).exists()
            for block in Block.objects.in_force().filter(worker=worker).select_related("stage", "worker"):
                blocking.undo(block, None)
            with refused("message_refused", match="Nobody of this stage"):
                messaging.write(self.stage, "Hello", {worker.worker_id: "Thank you."}, "page", None)
            with refused("workers_refused"):
                grant_rows.read_workers([worker.worker_id])
        Stage.objects.filter(pk=self.stage.pk).update(grants="part-one")
        self.stage.refresh_from_db()
        paid = Assignment.objects.from_marketplace().values("worker").distinct().count()
        assert granting.grant_for_answers(self.stage) in (0, paid)

    def bring_more(self) -> None:
        number = len(self.files)
        rows = row(10 + number, "A1", "Sad", f"Boat {number}."), row(20 + number, "A3", "Sad")
        self.files.append(imported(self.stage, csv_of(*rows), name=f"more-{number}.csv"))

    def remove(self) -> None:
        file = self.files.pop(0)
        removing_results.remove(file, None)
        assert not Assignment.objects.filter(imported_from=file).exists()

    def check(self) -> None:
        deciding.decide(self.stage)
        answers = Assignment.objects.imported()
        assert {row.state for row in answers} <= {"Imported"} and not answers.exclude(hit=None).exists()
        assert Label.objects.counting().filter(assignment__in=answers).count() == answers.count()
        assert not LedgerEntry.objects.filter(assignment__in=answers).exists()
        assert Worker.objects.exclude(imported_into=None).count() == answers.values("worker").distinct().count()
        summary = Stage.objects.get(pk=self.stage.pk).summary
        assert (summary.imported, summary.answers) == (answers.count(), Assignment.objects.count())
        counted = answers_counted(list(self.stage.items.values_list("pk", flat=True)))
        assert sum(counted.values()) == Assignment.objects.count()
        unpublished = self.stage.items.filter(hits=None)
        assert summary.published == self.stage.items.count() - unpublished.count()
        assert not unpublished.exclude(state__in=["new", "kept", "dropped"]).exists()


# All but two of the ways to order three of the five; each fourth one on both databases.
ORDERS = [*permutations(["publish", "answer", "review", "remove", "bring_more"])][::10]
MARKED = [pytest.param(order, marks=pytest.mark.on_postgresql) for order in ORDERS[::4]]


@pytest.mark.parametrize("order", [*MARKED, *(order for order in ORDERS if order not in ORDERS[::4])])
def test_no_order_of_verbs_makes_an_imported_answer_a_paid_one(order: Any, stand_in: Any, publish: Any) -> None:
    lead = Lead(moods(), publish)
    lead.check()
    for verb in (*order, "block", "remove"):
        if verb != "remove" or lead.files:
            getattr(lead, verb)()
            lead.check()


def test_no_bonus_is_paid_for_an_imported_answer() -> None:
    stage = moods()
    imported(stage, csv_of(row(1, "A1", "Glad")))
    assert ordering_bonuses._answers(stage.project, ["3A1"]) == {}


def test_the_card_of_a_release_states_no_pay_and_no_page_for_answers_that_were_given_elsewhere(lead: Any) -> None:
    stage = moods()
    assert imported(stage, csv_of(*(row(number, f"W{number}", "Glad") for number in range(3)))).state == "done"
    deciding.decide(stage)
    made, _ = releasing.release(stage.project, lead)
    card = made.files.get(name="README.md").blob.read().decode()
    assert "| Imported answers, given and paid elsewhere | 3 |" in card
    for said in ("Reward for an answer", "Wage an hour", "Workers read", "Answers wanted an item"):
        assert said not in card
    assert "its answers were imported, and given on another page" in card
    assert not made.files.filter(name__startswith="task-pages/").exists()
