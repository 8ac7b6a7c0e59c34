"""From rows to a release through the client, at a running installation with a crowd."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pandas
import pytest

from annotate_client import (
    AnnotateError,
    ChecksumError,
    Client,
    ConflictError,
    ForbiddenError,
    ImportRefusedError,
    InvalidError,
    NotFoundError,
    NotSignedInError,
    Progress,
    Project,
    Stage,
    WaitTimeoutError,
)
from ops.stack import Stack
from tests.client.conftest import frame, rows

ITEMS, ANSWERS = 10, 30
AT_ONCE = 0.0


def test_a_new_project_is_in_the_list_and_costs_nothing(client: Client, project: Project) -> None:
    assert project.slug in [each.slug for each in client.projects(find=project.name)]
    assert project.row["account"] == {"budget": "20.00", "reserved": "0.00", "paid": "0.00", "left": "20.00"}
    assert client.project(project.slug).name == project.name
    assert [stage.key for stage in project.stages()] == ["choose"]


def test_a_project_that_cannot_be_says_what_is_wrong_with_each_field(client: Client) -> None:
    with pytest.raises(InvalidError) as caught:
        client.create_project("x" * 200, recipe="choice", budget="-1", contact_email="nobody")
    assert set(caught.value.details) == {"name", "budget", "contact_email"}
    assert "  contact_email: " in str(caught.value)


def test_what_is_not_there_or_somebody_elses_is_not_found(
    client: Client, stack: Stack, project: Project, token_of: Callable[[str], str]
) -> None:
    with Client(stack.web_url, token_of("stranger")) as stranger, pytest.raises(NotFoundError):
        stranger.project(project.slug)
    with pytest.raises(NotFoundError):
        project.stage("no-such-stage")
    with Client(stack.web_url, "annotate_wrong") as nobody, pytest.raises(NotSignedInError, match="Make a new one"):
        list(nobody.projects())


def test_a_token_that_may_not_pay_starts_no_project(stack: Stack, client: Client) -> None:
    reading = stack.manage("api_tokens", "clara", "--make", "reads", "--scope", "read").strip()
    with Client(stack.web_url, reading) as reader, pytest.raises(ForbiddenError, match="takes “pay”"):
        reader.create_project("x", recipe="choice", budget="1", contact_email="lab@example.org")


# Import


def test_a_frame_is_imported_by_its_columns_and_the_progress_is_told(project: Project) -> None:
    told: list[Progress] = []
    table = pandas.DataFrame(rows()).rename(columns={"id": "nr", "text": "passage"}).assign(year=2026)
    upload = project.import_items(table, columns={"id": "nr", "text": "passage"}, name="March", progress=told.append)
    assert (upload["items"], upload["name"]) == (ITEMS, "March")
    assert told and "March" in told[-1].what
    items = list(project.stage("choose").items(limit=3))
    assert [item["key"] for item in items] == [row["id"] for row in rows()]
    assert items[0]["data"]["question"] == rows()[0]["question"]


def test_rows_and_files_are_imported_too(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "rest.csv"
    frame()[5:].to_csv(file, index=False)
    assert project.import_items(rows()[:5])["items"] == 5
    assert project.import_items(file)["items"] == 5
    assert project.stage("choose").figures["waiting"] == ITEMS


def test_a_table_with_faults_comes_in_not_at_all_and_each_fault_is_told_with_its_line(project: Project) -> None:
    given = rows()
    given[1]["gold"], given[3]["text"], given[4]["id"] = "Nobody offers this", "", given[0]["id"]
    with pytest.raises(ImportRefusedError) as caught:
        project.import_items(given)
    assert {fault["line"] for fault in caught.value.faults} == {2, 4, 5}
    assert len(str(caught.value).splitlines()) == 1 + len(caught.value.faults)
    assert project.stage("choose").figures["items"] == 0


def test_a_column_that_is_not_there_is_refused_before_anything_is_kept(project: Project) -> None:
    with pytest.raises(AnnotateError, match="passage"):
        project.import_items(rows(), columns={"text": "passage"})
    assert project.stage("choose").figures["items"] == 0


# Publish


def with_items(project: Project) -> Stage:
    project.import_items(rows())
    return project.stage("choose")


@pytest.fixture
def waiting(project: Project) -> Stage:
    return with_items(project)


@pytest.fixture(scope="module")
def unpublished(new_project: Callable[[], Project]) -> Stage:
    """One for all tests that publish nothing."""
    return with_items(new_project())


@pytest.mark.parametrize("confirm", ["1.79", "0", "", "yes", True, 18, Decimal("1.801")])
def test_another_amount_than_the_quotes_publishes_nothing(unpublished: Stage, confirm: str) -> None:
    with pytest.raises(AnnotateError, match="the quote says 1.80"):
        unpublished.publish(unpublished.quote(), confirm=confirm)
    assert list(unpublished.batches()) == []
    assert unpublished.refresh().figures["published"] == 0


def test_a_quote_of_another_stage_or_of_nothing_publishes_nothing(unpublished: Stage, collected: Stage) -> None:
    quote = unpublished.quote()
    with pytest.raises(AnnotateError, match="is one of"):
        collected.publish(quote, confirm=quote.total)
    nothing = collected.quote()
    with pytest.raises(AnnotateError, match="Nothing waits to be published"):
        collected.publish(nothing, confirm=nothing.total)


def test_a_quote_is_published_once_however_often_it_is_confirmed(waiting: Stage) -> None:
    quote = waiting.quote(4)
    assert (quote.items, quote.total, quote.problems) == (4, Decimal("0.72"), [])
    first = waiting.publish(quote, confirm="0.72")
    assert waiting.publish(quote, confirm=0.72)["id"] == first["id"]
    assert [batch["id"] for batch in waiting.batches()] == [first["id"]]
    figures = waiting.figures
    assert (figures["published"], figures["waiting"]) == (4, 6)


def test_a_price_that_changed_since_is_refused_with_its_code(waiting: Stage) -> None:
    quote = waiting.quote()
    waiting.change(reward="0.08")
    with pytest.raises(ConflictError) as caught:
        waiting.publish(quote, confirm=quote.total)
    assert caught.value.code == "quote_changed"
    assert waiting.row["reward"] == "0.08"
    assert list(waiting.batches()) == []


# Wait


def test_nothing_that_is_not_published_is_waited_for(unpublished: Stage) -> None:
    with pytest.raises(AnnotateError, match="Publish it first"):
        unpublished.wait()


def test_waiting_ends_after_its_time_and_says_how_far_it_is(waiting: Stage) -> None:
    quote = waiting.quote()
    waiting.publish(quote, confirm=quote.total)
    told: list[Progress] = []
    with pytest.raises(WaitTimeoutError, match=f"of {ITEMS}.*HITs that have all they ask for") as caught:
        waiting.wait(timeout=AT_ONCE, progress=told.append)
    assert told == [caught.value.progress]
    assert told[0].total == ITEMS and told[0].done < ITEMS


# Results


def test_every_published_item_is_decided_in_the_end(collected: Stage) -> None:
    figures = collected.refresh().figures
    assert (figures["open"], figures["published"], figures["answers"]) == (0, ITEMS, ANSWERS)
    states = {item["state"] for item in collected.items(limit=4)}
    assert states <= {"kept", "dropped"}
    answers = list(collected.answers(limit=7))
    assert len({answer["id"] for answer in answers}) == ANSWERS
    assert all(answer["answer"] for answer in answers)


def test_results_are_the_same_as_rows_and_as_a_frame(collected: Stage) -> None:
    found, table = collected.results(), collected.results_frame()
    assert len(found) == len(table) == ANSWERS
    assert table["value_text"].tolist() == [row["value_text"] for row in found]
    right = {row["id"]: row["gold"] for row in rows()}
    assert table["correct"].tolist() == [row["value_text"] == right[row["item"]] for row in found]
    assert table["correct"].mean() > 0.5


def test_results_have_ids_inputs_and_what_does_not_count_when_they_are_asked_for(collected: Stage) -> None:
    (first, *_) = collected.iter_results(workers="ids", answers="all", inputs=True)
    assert first["worker"] in {answer["worker_id"] for answer in collected.answers()}
    assert first["Input.question"] == next(row["question"] for row in rows() if row["id"] == first["item"])
    assert first["not_counted"] in ("", None)
    with pytest.raises(InvalidError, match="workers"):
        collected.results(workers="names")


def test_agreement_is_computed_and_is_neither_chance_nor_certainty(collected: Stage) -> None:
    found = collected.compute_agreement("dawid_skene")
    assert found["run"] and found["answers"] == ANSWERS
    alpha = found["units"][0]["figures"]["alpha"]
    assert 0 < alpha["value"] <= 1
    assert collected.agreement() == found


# Release


@pytest.fixture
def home(client: Client, collected: Stage) -> Project:
    """The project of the collected stage."""
    return client.project(collected.slug)


def test_a_release_is_made_once_and_downloaded_with_its_sums_checked(home: Project, tmp_path: Path) -> None:
    made = home.make_release()
    assert home.make_release().number == made.number
    assert [release.number for release in home.releases()] == [made.number]
    told: list[Progress] = []
    files = home.release(made.number).download(tmp_path / "out", progress=told.append)
    assert {str(file.relative_to(tmp_path / "out")) for file in files} == {file["name"] for file in made.files}
    assert (told[0].done, told[-1].done) == (0, len(files))
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == made.manifest
    assert len(pandas.read_csv(tmp_path / "out" / "items.csv")) == home.stage("choose").figures["kept"]


def test_a_download_goes_on_where_it_broke_off_and_overwrites_nothing(home: Project, tmp_path: Path) -> None:
    release = home.make_release()
    release.download(tmp_path)
    whole = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    (tmp_path / "items.csv").unlink()
    release.download(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == whole
    (tmp_path / "items.csv").write_text("mine")
    (tmp_path / "README.md").unlink()
    with pytest.raises(FileExistsError, match="items.csv"):
        release.download(tmp_path)
    assert not (tmp_path / "README.md").exists()


def test_a_file_that_is_not_the_one_that_is_named_is_not_kept(home: Project, tmp_path: Path) -> None:
    release = home.make_release()
    for file in release.files:
        if file["name"] == "items.csv":
            file["sha256"] = "0" * 64
    with pytest.raises(ChecksumError, match=r"items\.csv came with other bytes"):
        release.download(tmp_path)
    assert list(tmp_path.rglob("items.csv*")) == []


def test_a_manifest_that_names_another_sum_is_noticed(home: Project, tmp_path: Path) -> None:
    """As when somebody changed a file and its sum at the server, and not the manifest."""
    release = home.make_release()
    release.download(tmp_path)
    changed = b"changed"
    (tmp_path / "README.md").write_bytes(changed)
    for file in release.files:
        if file["name"] == "README.md":
            file["sha256"] = hashlib.sha256(changed).hexdigest()
    with pytest.raises(ChecksumError, match=r"manifest names other sums of README\.md"):
        release.download(tmp_path)


# A collection takes hours until it has a test split, so its release is written into the installation's database.
WITH_KEY = """
import json
from hits.models import Project
from tests.hits import factories as make
files = {"test.json": b"asked", "test-key.json": b"answered"}
told = [{"name": "test.json", "bytes": 5}, {"name": "test-key.json", "bytes": 8, "beside_the_folder": True}]
manifest = {"files": told}
make.release(
    Project.objects.get(slug=SLUG), files={**files, "manifest.json": json.dumps(manifest).encode()}, manifest=manifest
)
"""


def test_the_answers_of_test_come_beside_the_folder_or_not_at_all(client: Client, stack: Stack, tmp_path: Path) -> None:
    project = client.create_project("With a key", recipe="record", budget="20.00", contact_email="lab@example.org")
    stack.manage("shell", "--command", WITH_KEY.replace("SLUG", repr(project.slug)))
    release = project.release(1)
    without = release.download(tmp_path / "public", keys=False)
    assert {file.name for file in without} == {"manifest.json", "test.json"}
    assert {file.name for file in tmp_path.rglob("*") if file.is_file()} == {"manifest.json", "test.json"}
    release.download(tmp_path / "public")
    assert (tmp_path / "public-test-key.json").read_bytes() == b"answered"
    assert not (tmp_path / "public" / "test-key.json").exists()


@pytest.mark.parametrize("name", ["../up.txt", "/etc/up.txt", "a/../../up.txt", "a\\up.txt", "c:up.txt"])
def test_a_name_that_leads_out_of_the_folder_is_refused(home: Project, tmp_path: Path, name: str) -> None:
    release = home.make_release()
    release.files[0]["name"] = name
    with pytest.raises(ChecksumError, match="no name of a file"):
        release.download(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_release_is_said(project: Project) -> None:
    with pytest.raises(ConflictError, match="no item is here"):
        project.make_release()
