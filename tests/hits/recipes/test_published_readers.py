"""Readers of the published data sets, which know nothing of this project, load its releases."""

import csv
import json
import random

import pytest

from hits.recipes.cosmos import steps as cosmos_steps
from hits.recipes.mcscript import steps as mcscript_steps
from hits.recipes.record.scoring import SCORING
from tests.hits.formats import published_readers as readers
from tests.hits.recipes import test_cosmos_steps, test_mcscript_release
from tests.hits.recipes.scored import scored
from tests.hits.recipes.test_record_release import chain, document, file_of, imported, ordered_release

SPLITS = ("train", "dev", "test")


def unpacked(release, folder):
    for name, stream in release.files.items():
        stream.seek(0)
        (folder / name).write_bytes(stream.read())
    return folder


@pytest.fixture
def record_folder(tmp_path):
    documents = imported(file_of(*(document(number, queries=1 + number % 3) for number in range(30))))
    items = chain(documents[:10], "train", "validate")
    items += chain(documents[10:], "eval", "validate", "revalidate", "human")
    return unpacked(ordered_release(items, seed=1), tmp_path)


def test_a_reader_of_record_loads_every_split_and_test_without_answers(record_folder):
    rows = {split: list(readers.record(record_folder, split)) for split in (*SPLITS, "test-key")}
    counts = {split: len(found) for split, found in rows.items()}
    assert counts == {"train": 19, "dev": 20, "test": 21, "test-key": 21}
    assert all(row[4] == ["Bo Lind"] for split in ("train", "dev", "test-key") for row in rows[split])
    assert [row[:4] for row in rows["test"]] == [row[:4] for row in rows["test-key"]]
    assert {row[4] for row in rows["test"]} == {None}


def test_a_reader_of_superglue_loads_the_same_queries_by_number(record_folder):
    for split, published in (("train", "train"), ("dev", "val"), ("test", "test")):
        numbered = list(readers.superglue_record(record_folder, published))
        own = list(readers.record(record_folder, split))
        assert [row[1] for row in numbered] == list(range(len(own)))
        assert [(row[2], row[4]) for row in numbered] == [(row[1], row[3]) for row in own]
        assert [row[5] for row in numbered] == [row[4] or [] for row in own]


def test_evaluate_gives_the_em_and_f1_of_an_independent_script(record_folder):
    pool = ["Bo Lind", "the BO LIND.", "Bo", "Ada Noor", "Noor", "a, an", "", "lind's Bo Lind!", "Ada Bo Lind Noor"]
    queries = [row[0] for row in readers.record(record_folder, "test-key")]
    for seed in range(20):
        dice = random.Random(seed)
        said = {query: dice.choice(pool) for query in queries}
        content = lambda name: (record_folder / name).read_bytes()  # noqa: E731
        found = scored(SCORING, content, json.dumps(said).encode(), "said.json")
        percent = (100 * found["exact_match"], 100 * found["f1"])
        assert percent == pytest.approx(readers.record_scores(record_folder, said))
        assert found["n"] == len(queries)


def test_a_reader_of_cosmos_loads_every_split_and_test_without_labels(tmp_path):
    release = cosmos_steps.build_release(test_cosmos_steps.collection())
    folder = unpacked(release, tmp_path)
    rows = {split: readers.cosmos(folder, split) for split in SPLITS}
    assert {split: len(found) for split, found in rows.items()} == release.counts
    assert {row["label"] for row in rows["test"]} == {-1}
    assert {row["label"] for split in ("train", "dev") for row in rows[split]} <= {0, 1, 2, 3}
    with (folder / "test-key.csv").open(encoding="utf-8", newline="") as file:
        key = {row["id"]: int(row["label"]) for row in csv.DictReader(file)}
    assert key.keys() == {row["id"] for row in rows["test"]}


def test_a_reader_of_mcscript_loads_every_split_and_test_without_labels(tmp_path):
    made = test_mcscript_release.all_reviewed(test_mcscript_release.collection())
    release = mcscript_steps.build_release(made)
    folder = unpacked(release, tmp_path)
    rows = {split: list(readers.mcscript(folder, split)) for split in SPLITS}
    assert {split: len(found) for split, found in rows.items()} == release.counts
    assert {row[7] for row in rows["test"]} == {None}
    assert {row[7] for split in ("train", "dev") for row in rows[split]} == {0, 1}
    with (folder / "test-key.csv").open(encoding="utf-8", newline="") as file:
        key = [(int(row["id"]), int(row["question_id"])) for row in csv.DictReader(file)]
    assert key == [(row[0], row[3]) for row in rows["test"]]


def test_each_release_says_what_it_gives_away_to_models_that_do_not_see_everything():
    made = test_mcscript_release.all_reviewed(test_mcscript_release.collection())
    documents = imported(file_of(*(document(number) for number in range(12))))
    items = chain(documents[:6], "train", "validate") + chain(documents[6:], "eval", "validate", "revalidate")
    releases = {
        1 / 3: ordered_release(items, seed=1),
        0.25: cosmos_steps.build_release(test_cosmos_steps.collection()),
        0.5: mcscript_steps.build_release(made),
    }
    for chance, release in releases.items():
        found = release.check()
        assert found["trained_on"] == release.counts["train"]
        for view in ("question_blind", "text_blind", "answers_alone"):
            sizes = {split: figures["n"] for split, figures in found[view].items()}
            assert sizes == {split: release.counts[split] for split in ("dev", "test")}
            assert all(figures["chance"] == pytest.approx(chance, abs=1e-4) for figures in found[view].values())
