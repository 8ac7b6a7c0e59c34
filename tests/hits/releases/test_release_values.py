"""Values that were aggregated from all answers to an item are tables of a release, for loaders too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pandas
import pytest

from hits.items.rules.new_items import make_items
from hits.judging.rules import stage_statistics
from hits.judging.rules.recipe_rows import Rows
from hits.judging.rules.summaries import refresh_summary
from hits.models import Item, Project, Release, Stage
from hits.recipes.inputs import items_for
from hits.recipes.source import ToldItem
from hits.releases.rules import release_values
from hits.releases.verbs import releasing
from hits.stages.verbs import custom_stages
from tests.benchmarks.cosmos_fill import fill
from tests.hits import factories as make
from tests.hits.said import computed, say

pytestmark = pytest.mark.django_db
SAID: list[dict[str, Any]] = [
    {"ann": "yes", "ben": "yes", "cleo": "no"}, {"ann": "no", "ben": "no"}, {"ann": "yes", "ben": "no"}, {"ann": "no"},
]  # fmt: skip


@pytest.fixture
def stage() -> Stage:
    """Three items are kept, one is dropped."""
    project = make.project(recipe="choice")
    found = make.stage(project, key="choose", title="Choose", protocol="multiple_choice")
    say(found, SAID)
    found.items.update(state=Item.State.KEPT)
    found.items.filter(key="item-4").update(state=Item.State.DROPPED)
    refresh_summary(found)
    return found


def written(made: Release, folder: Path) -> Path:
    for file in made.files.select_related("blob"):
        (folder / file.name).parent.mkdir(exist_ok=True)
        (folder / file.name).write_bytes(file.blob.read())
    return folder


def release(project: Project) -> Release:
    return releasing.release(project, None)[0]


def test_without_a_run_a_release_has_no_such_table(stage: Stage) -> None:
    made = release(stage.project)
    assert "aggregated" not in made.manifest and not made.files.filter(name__contains="aggregated").exists()
    assert "Aggregated" not in made.files.get(name="README.md").blob.read().decode()


def test_each_released_item_has_its_value_by_the_method_that_the_lead_chose(stage: Stage, tmp_path: Path) -> None:
    computed(stage, method="dawid_skene")
    made = release(stage.project)
    folder = written(made, tmp_path)
    rows = [json.loads(line) for line in (folder / "aggregated.jsonl").read_text().splitlines()]
    by_item = {found.item.key: found.data["units"]["choice"]
               for found in stage_statistics.newest(stage).concluded.select_related("item")}  # type: ignore[union-attr]  # fmt: skip
    assert [row["item"] for row in rows] == ["item-1", "item-2", "item-3"]
    assert {(row["split"], row["stage"], row["unit"], row["method"]) for row in rows} == {
        ("train", "choose", "choice", "dawid_skene")}  # fmt: skip
    for row in rows:
        assert (row["value"], row["confidence"], row["answers"]) == tuple(
            by_item[row["item"]][name] for name in ("value", "confidence", "answers"))  # fmt: skip
    # The collection's own files are what they were.
    assert "aggregated" not in (folder / "items.jsonl").read_text()
    loaded = datasets.load_dataset(str(folder), "aggregated", cache_dir=str(tmp_path / "cache"))["train"]
    assert list(loaded["value"]) == [row["value"] for row in rows] and loaded.column_names == list(rows[0])
    frame = pandas.read_parquet(folder / "aggregated-train.parquet")
    assert str(frame.dtypes["confidence"]) == "float64" and frame["answers"].tolist() == [3, 2, 2]
    assert set(datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))) == {"train"}


def test_a_tie_has_no_value_and_columns_keep_their_types(stage: Stage, tmp_path: Path) -> None:
    computed(stage)
    frame = pandas.read_parquet(written(release(stage.project), tmp_path) / "aggregated-train.parquet")
    assert frame["value"].fillna("none").tolist() == ["yes", "no", "none"] and frame["low"].isna().all()
    assert str(frame.dtypes["low"]) == "float64"


def test_card_and_manifest_say_which_method_when_and_whether_answers_are_newer(stage: Stage) -> None:
    computed(stage, method="mace")
    run = stage_statistics.newest(stage)
    assert run is not None and run.finished_at is not None
    made = release(stage.project)
    assert made.manifest["aggregated"] == [
        {
            "stage": "choose", "method": "mace", "methods": {"choice": "mace"}, "answers": 8, "values": 3,
            "computed_at": run.finished_at.strftime("%Y-%m-%dT%H:%M:%SZ"), "older_than_answers": False,
        }
    ]  # fmt: skip
    card = made.files.get(name="README.md").blob.read().decode()
    for said in ("## Aggregated values: Choose", "| Values by | MACE |", "| Older than the newest answers | no |"):
        assert said in card
    say(stage, [{"ann": "yes"}])
    refresh_summary(stage)
    later = release(stage.project)
    assert later.number == 2 and later.manifest["aggregated"][0]["older_than_answers"] is True
    assert "| Older than the newest answers | yes:" in later.files.get(name="README.md").blob.read().decode()


def test_a_label_that_stopped_counting_makes_the_values_older(stage: Stage) -> None:
    computed(stage)
    assert releasing.preview(stage.project)["aggregated"][0]["older_than_answers"] is False
    stage.labels.filter(worker__worker_id="ACLEO").update(void=True)
    assert releasing.preview(stage.project)["aggregated"][0]["older_than_answers"] is True


def test_a_method_that_does_not_fit_is_named_as_the_one_that_was_taken() -> None:
    stage = make.stage(make.project(recipe="form"), key="ask", protocol="form", settings={"form": {
        "show": [{"kind": "text", "text": "{text}"}],
        "ask": [{"kind": "scale", "key": "fluent", "question": "Fluent?", "points": 5}],
    }})  # fmt: skip
    say(stage, [{"ann": {"fluent": 4}, "ben": {"fluent": 5}}])
    stage.items.update(state=Item.State.KEPT)
    refresh_summary(stage)
    computed(stage, method="dawid_skene")
    (facts,) = releasing.preview(stage.project)["aggregated"]
    assert (facts["method"], facts["methods"]) == ("dawid_skene", {"fluent": "median"})


def test_only_what_is_told_is_in_the_tables(stage: Stage) -> None:
    """Items of a split whose labels are hidden, and groups of units that are not released, are left out."""
    say(stage, [{"ann": {"q1/choice": "a", "q2/choice": "b"}, "ben": {"q1/choice": "a", "q2/choice": "b"}}])
    computed(stage)
    told = {"choose": lambda: iter([ToldItem("item-2", "dev"), ToldItem("item-5", "train", frozenset({"q2"}))])}
    files, tables, facts = release_values.files_of(stage.project, told)
    rows = [json.loads(line) for line in _bytes(files["aggregated.jsonl"]).splitlines()]
    assert [(row["split"], row["item"], row["unit"], row["value"]) for row in rows] == [
        ("dev", "item-2", "choice", "no"), ("train", "item-5", "q2/choice", "b")]  # fmt: skip
    assert tables == {"aggregated": {"dev": "aggregated-dev.parquet", "train": "aggregated-train.parquet"}}
    assert facts[0]["values"] == 2 and set(files) == {"aggregated.jsonl", *tables["aggregated"].values()}
    assert release_values.files_of(stage.project, {"choose": lambda: iter([])}) == ({}, {}, [])


SMALL = {"test_sets": 12, "dev_sets": 12, "held_out_share": 1.0, "best_written": 1, "best_kept_share": 0.1}


def test_of_a_collection_with_splits_no_set_of_test_has_a_value_or_a_page(tmp_path: Path) -> None:
    """Through the whole flow, loaded as others load it."""
    project = fill(240)
    project.options |= SMALL
    project.save()
    computed(project.stages.get(key="validate"), method="dawid_skene")
    made = release(project)
    assert all(made.manifest["counts"][split] for split in ("train", "dev", "test"))
    folder = written(made, tmp_path)
    hidden = {json.loads(line)["id"] for line in (folder / "test.jsonl").read_text().splitlines()}
    loaded = datasets.load_dataset(str(folder), "aggregated", cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "dev"}
    for split in loaded:
        asked = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))[split]
        assert set(loaded[split]["item"]) == set(asked["id"]) and hidden.isdisjoint(asked["id"])
    (page,) = made.manifest["task_pages"]
    assert page["item"] not in hidden and (folder / page["file"]).read_text().count("<style>")


def test_a_stage_of_a_leads_own_tells_no_label_of_test_and_nobody_who_wrote_an_item() -> None:
    """Its rows hold what was said of the sets that it asks about."""
    project = fill(240)
    project.options |= SMALL
    project.save()
    form = {"show": [], "ask": [{"kind": "one", "key": "fun", "question": "Fun?", "choices": ["yes", "no"]}]}
    table = {"title": "Fun", "protocol": "form", "settings": {"form": form},
             "input": {"stage": "validate", "each": "item"}}  # fmt: skip
    own, sets = custom_stages.add_stage(project, table, None), project.stages.get(key="validate").items.in_bulk()
    by_key = {item.key: item for item in sets.values()}
    found = Rows(project).judged("validate", labels=True)
    make_items(own, [(by_key[one.key], made) for one in found for made in items_for("fun", "item", one)])
    own.items.update(state=Item.State.KEPT)
    refresh_summary(own)
    made = release(project)
    files = {file.name: file.blob.read().decode(errors="replace") for file in made.files.select_related("blob")}
    hidden = {json.loads(line)["id"] for line in files["test.jsonl"].splitlines()}
    rows = [json.loads(line) for line in files["fun-items.jsonl"].splitlines()]
    shown = {json.loads(line)["id"] for name in ("train", "valid") for line in files[f"{name}.jsonl"].splitlines()}
    assert len(hidden) == 12 and {row["id"] for row in rows} == shown and not shown & hidden
    assert made.manifest["left_out"]["fun: about texts whose labels are not told"] == 12
    assert rows[0]["columns"]["validate.picked"] and "AWRITER" not in "".join(files.values())


def _bytes(file: Any) -> bytes:
    file.seek(0)
    content: bytes = file.read()
    return content
