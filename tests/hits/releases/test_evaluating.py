"""Baselines of a release and systems that are evaluated on it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from hits.models import Action, EvaluatedSystem, Project, Release
from hits.releases.rules import release_folders
from hits.releases.verbs import evaluating
from hits.text.systems import System
from tests.hits import factories as make
from tests.hits.doing import refused

pytestmark = pytest.mark.django_db
TREES, BOATS = "an oak or an elm by the gate", "a boat or a raft on the lake"


def of_labels(items: int) -> Release:
    """Two kinds of texts; which of them it is, the label says."""
    project = make.project(recipe="choice", seed=5)
    rows = [
        {"id": f"i{at}", "text": f"{TREES if at % 2 else BOATS} {at}", "question": "Which?", "majority": [str(at % 2)]}
        for at in range(items)
    ]
    tie = {"id": "tie", "text": "Neither.", "question": "Which?", "majority": []}
    lines = "".join(json.dumps(row | {"votes": {"0": 1, "1": 1}}) + "\n" for row in (*rows, tie))
    manifest = {"counts": {"items": items + 1}}
    release: Release = make.release(project, files={"items.jsonl": lines.encode()}, manifest=manifest)
    return release


LEARNED = "TF-IDF and logistic regression"


def with_systems(release: Release, system: System[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = evaluating.scoring_of(release.project)
    assert found is not None
    other = replace(found, systems=lambda: [system])
    monkeypatch.setattr(evaluating, "scoring_of", lambda project: other)


def overall(row: EvaluatedSystem) -> float:
    return float(row.scores[0]["value"])


def test_a_release_of_train_alone_is_asked_about_in_parts_that_were_not_learned(lead: Any) -> None:
    release = of_labels(40)
    rows = {row.name: row for row in evaluating.baselines(release, lead)}
    majority, chance, learned = (rows.pop(name) for name in ("Most common label", "Random choice", LEARNED))
    assert not rows and overall(majority) <= 0.5 and overall(chance) < 0.9 < overall(learned)
    assert {(row.split, row.seed, row.kind, row.scores[0]["n"]) for row in [majority, chance, learned]} == {
        ("train", 5, "baseline", 40)
    }
    assert Action.objects.get().verb == "ran the baselines"


def test_no_system_sees_the_answers_that_it_is_asked_for(lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release, seen = of_labels(20), []

    def predict(learned: Any, asked: Any, seed: int) -> list[str]:
        assert not {row.id for row in learned} & {row.id for row in asked}
        seen.extend(row.right for row in asked)
        return ["0"] * len(asked)

    system = System("zero", "Always 0", "ours", predict)
    with_systems(release, system, monkeypatch)
    (row,) = evaluating.baselines(release, lead)
    assert seen == [None] * 20 and overall(row) == 0.5


def test_baselines_that_are_run_again_take_the_place_of_the_earlier_ones(lead: Any) -> None:
    release = of_labels(20)
    predictions = json.dumps({f"i{at}": str(at % 2) for at in range(20)}).encode()
    evaluating.evaluate(release, io.BytesIO(predictions), "said.json", keep_as="Ours", user=lead)
    first = [(row.name, row.scores) for row in evaluating.baselines(release, lead)]
    again = [(row.name, row.scores) for row in evaluating.baselines(release, lead)]
    assert first == again
    assert release.systems.count() == 1 + len(first) and release.systems.filter(kind="predictions").count() == 1


def test_a_system_is_compared_with_those_that_are_kept(lead: Any) -> None:
    release = of_labels(40)
    evaluating.baselines(release, lead)
    predictions = json.dumps({f"i{at}": str(at % 2) for at in range(40)}).encode()
    told = evaluating.evaluate(release, io.BytesIO(predictions), "said.json")
    by_name = {one["name"]: one for one in told["differences"]}
    assert told["accuracy"] == 1.0 and by_name["Most common label"]["p"] < 0.01
    assert not release.systems.filter(kind="predictions").exists()


def test_a_system_is_compared_item_by_item_with_one_that_was_asked_in_parts(
    lead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six answers are better and none is worse: p is 2 / 2**6 exactly, whichever of the two that answered alike."""
    release = of_labels(40)
    system = System("zero", "Always 0", "ours", lambda learned, asked, seed: ["0"] * len(asked))
    with_systems(release, system, monkeypatch)
    evaluating.baselines(release, lead)
    alike = {f"i{at}": "0" for at in range(40)}
    evaluating.evaluate(release, io.BytesIO(json.dumps(alike).encode()), "said.json", keep_as="Ours", user=lead)
    better = json.dumps(alike | {f"i{at}": "1" for at in range(1, 12, 2)}).encode()
    told = evaluating.evaluate(release, io.BytesIO(better), "said.json")["differences"]
    assert {one["name"] for one in told} == {"Always 0", "Ours"}
    assert [one["difference"] for one in told] == pytest.approx([6 / 40] * 2)
    assert told[0]["p"] == told[1]["p"] == pytest.approx(2 / 2**6, abs=0.01)


def test_a_system_is_not_compared_with_one_of_another_measure(lead: Any) -> None:
    """Which may have been asked about fewer items."""
    release = of_labels(20)
    evaluating.baselines(release, lead)
    other = release.systems.get(name="Random choice")
    other.scores[0]["measure"], other.sums = "bleu", b""
    other.save()
    predictions = json.dumps({f"i{at}": str(at % 2) for at in range(20)}).encode()
    told = evaluating.evaluate(release, io.BytesIO(predictions), "said.json")
    assert {one["name"] for one in told["differences"]} == {"Most common label", LEARNED}


def test_the_archive_has_the_table_of_systems_and_the_release_stays_as_it_is(lead: Any) -> None:
    release = of_labels(20)
    digest = release.digest
    evaluating.baselines(release, lead)
    with zipfile.ZipFile(release_folders.zipped(release, keys=False)) as archive:
        told = archive.read(f"{release_folders.name_of(release)}/evaluations.md").decode()
    assert "| Most common label | Baseline |" in told and "Accuracy (20)" in told
    assert Release.objects.get().digest == digest


@pytest.mark.parametrize(
    ("recipe", "file", "measures", "said", "cells"),
    [
        (
            "record",
            "test-key.json",
            ("exact_match", "f1"),
            {"human_queries": 8, "human_exact_match": 87.5, "human_f1": 91.25},
            ("87.5 % (on 8)", "91.2 % (on 8)"),
        ),
        ("cosmos", "test-key.csv", ("accuracy",), {"human_sets": 7, "human_majority": 6 / 7}, ("85.7 % (on 7)",)),
        ("mcscript", "test-key.csv", ("accuracy",), {"human_texts": 5, "human_accuracy": 1}, ("100.0 % (on 5 texts)",)),
    ],
)
def test_what_people_scored_stands_above_the_systems_of_the_same_split(
    recipe: str, file: str, measures: tuple[str, ...], said: dict[str, float], cells: tuple[str, ...]
) -> None:
    release = make.release(make.project(recipe=recipe), manifest={"statistics": {"test": said, "overall": {}}})
    assert release_folders.tables(release) == []
    scores = [dict(measure=one, division="", part="", n=9, value=0.5, low=0.4, high=0.6) for one in measures]
    for split, of in (("test", file), ("dev", "other")):
        release.systems.create(file=of, split=split, name="Ours", kind="predictions", scores=scores, sums=b"")
    dev, test = release_folders.tables(release)
    assert [row[:2] for row in test.rows] == [["Human score", "People"], ["Ours", "Predictions"]]
    assert tuple(test.rows[0][2:-2]) == cells
    assert [row[0] for row in dev.rows] == ["Ours"]
    assert "| Human score | People |" in release_folders.markdown(release)


@pytest.mark.parametrize("name", [" Ours", "x" * 81, "a\u202eb", "\u3164"])
def test_a_name_that_cannot_be_read_is_refused_and_nothing_is_kept(lead: Any, name: str) -> None:
    release = of_labels(2)
    with refused("nothing_to_compare", match="name|Name|character"):
        evaluating.evaluate(release, io.BytesIO(b'{"i0": "0", "i1": "1"}'), "said.json", keep_as=name, user=lead)
    assert not release.systems.exists()


def test_no_more_systems_are_kept_than_can_be_compared(lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release, said = of_labels(2), b'{"i0": "0", "i1": "1"}'
    monkeypatch.setattr(evaluating, "MOST_SYSTEMS", 1)
    for _ in range(2):
        evaluating.evaluate(release, io.BytesIO(said), "said.json", keep_as="Ours", user=lead)
    with refused("nothing_to_compare", match="At most 1 systems are kept"):
        evaluating.evaluate(release, io.BytesIO(said), "said.json", keep_as="Another", user=lead)
    assert release.systems.count() == 1


def of_question_sets() -> Release:
    """Of dev and test each the answer with the number of its row is right."""
    rows = [
        {"id": f"s{at}", "context": f"Text {at}.", "question": "Why?"} | {f"answer{n}": f"{n}" for n in range(4)}
        for at in range(12)
    ]
    told = [json.dumps({**row, "label": at % 4}) + "\n" for at, row in enumerate(rows)]
    key = "id,label\n" + "".join(f"s{at},{at % 4}\n" for at in range(8, 12))
    hidden = "".join(json.dumps(row) + "\n" for row in rows[8:])
    files = {"train.jsonl": "".join(told[:4]), "valid.jsonl": "".join(told[4:8]), "test.jsonl": hidden}
    made = {name: content.encode() for name, content in {**files, "test-key.csv": key}.items()}
    release: Release = make.release(make.project(recipe="cosmos", seed=5), files=made)
    return release


def test_a_system_learns_once_and_its_answers_to_dev_and_test_stay_apart(
    lead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, calls = of_question_sets(), []

    def predict(learned: Any, asked: Any, seed: int) -> list[int]:
        calls.append(([row.id for row in learned], seed))
        assert all(row.right is None for row in asked)
        # Right about all of test and one in four of dev.
        return [int(row.id[1:]) % 4 if int(row.id[1:]) >= 8 else 0 for row in asked]

    system = System("ours", "Ours", "ours", predict)
    with_systems(release, system, monkeypatch)
    rows = evaluating.baselines(release, lead, seed=11)
    assert {(row.split, overall(row), row.seed) for row in rows} == {("dev", 0.25, 11), ("test", 1.0, 11)}
    assert calls == [(["s0", "s1", "s2", "s3"], 11)]


def test_too_few_items_give_no_baselines(lead: Any) -> None:
    with refused("nothing_to_compare", match="too few items"):
        evaluating.baselines(of_labels(3), lead)


def test_kinds_of_reasoning_that_a_stage_labelled_are_scored_apart(lead: Any) -> None:
    project: Project = make.project(recipe="record", owner=lead)
    stage = make.stage(project, key="reasoning", protocol="labelling", settings={"labels": LABELS})
    text = {"text": "Ada met Bo.", "entities": [{"start": 0, "end": 2}, {"start": 8, "end": 9}]}
    asked = [
        {"id": id, "query": "@placeholder left.", "answers": [{"start": 0, "end": 2, "text": "Ada"}]}
        for id in ("q1", "q2", "q3")
    ]
    data = {"version": "1.0", "data": [{"id": "d1", "source": "Ours", "passage": text, "qas": asked}]}
    release = make.release(project, files={"dev.json": json.dumps(data).encode()})
    for key, kind in (("q1", "para"), ("q2", "sense")):
        item = make.item(stage, key=key, state="kept")
        make.label(make.assignment(make.hit(item)), unit="label", value=kind)
    said = json.dumps({"q1": "Ada", "q2": "Bo", "q3": "Ada"}).encode()
    told = evaluating.evaluate(release, io.BytesIO(said), "said.json", "dev.json")
    parts = {one["part"]: (one["n"], one["value"]) for one in told["scores"] if one["measure"] == "exact_match"}
    assert parts == {"": (3, 2 / 3), "Paraphrasing": (1, 1.0), "Commonsense": (1, 0.0)}


LABELS = [{"id": "para", "text": "Paraphrasing"}, {"id": "sense", "text": "Commonsense"}]
