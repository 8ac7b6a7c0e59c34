"""Which generated queries a reader answers: in the box fold by fold, or elsewhere by files that go out and in."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs import record
from hits.recipes.record.filtering import FILTERING, answered, triples, triples_of
from hits.recipes.record.query_ids import untelling
from hits.recipes.source import Found, JudgedItem, Progress
from tests.hits.doing import refused
from tests.hits.text.triples import DEEDS, PEOPLE, article

PARAMS = FILTERING.params


class Articles:
    """`Collected` of so many articles, one of which was withdrawn."""

    seed, options, pseudonym_key = 7, {}, "a secret"

    def __init__(self, count: int, plugins: tuple[Path, ...] = ()) -> None:
        self.count, self.plugins = count, plugins

    def judged(self, stage: str, **options: Any) -> Iterator[JudgedItem]:
        assert stage == "generate"
        for number in range(self.count):
            outcome = "withdrawn" if number == 1 else "open"
            key = f"a/{number}"
            yield JudgedItem(stage, key, article(number), key, {}, "public", "train", outcome)


def results(steps: Iterator[Progress | Found]) -> tuple[dict[str, Any], list[Progress]]:
    found, progress = {}, []
    for said in steps:
        if isinstance(said, Found):
            found[said.key] = {
                **found.get(said.key, said.data),
                "queries": {**found.get(said.key, {}).get("queries", {}), **said.data["queries"]},
            }
        else:
            progress.append(said)
    return found, progress


def run(articles: Articles, checkpoint: Any = None, **params: Any) -> tuple[dict[str, Any], list[Progress]]:
    return results(FILTERING.run(articles, {**PARAMS, **params}, 7, checkpoint))


def test_every_query_of_a_standing_article_becomes_a_triple() -> None:
    listed = list(triples(Articles(3)))
    assert [triple.id for triple in listed] == ["a/0/s0-e1", "a/0/s1-e2", "a/2/s0-e1", "a/2/s1-e2"]
    (first, *_) = listed
    assert first.query == f"Neighbours were glad that @placeholder {DEEDS[1]} again."
    assert (first.answers, first.text[first.bullets :]) == ((PEOPLE[1],), f"{PEOPLE[0]} was seen")
    assert [mention.entity for mention in first.mentions] == [0, 1, 2, 0]
    removed = {**article(0), "removed": ["s0-e1"]}
    assert [triple.id for triple in triples_of("a", removed)] == ["a/s1-e2"]


@pytest.mark.parametrize("by", ["article", "triple"])
def test_each_query_gets_fold_prediction_score_and_whether_it_is_correct(by: str) -> None:
    found, progress = run(Articles(21), folds=4, fold_by=by)
    assert len(found) == 20 and "a/1" not in found
    told = found["a/0"]
    assert (told["reader"], told["version"], list(told["queries"])) == ("linear", "1", ["s0-e1", "s1-e2"])
    assert set(told["queries"]["s0-e1"]) == {"fold", "prediction", "score", "correct"}
    folds = {key: {one["fold"] for one in each["queries"].values()} for key, each in found.items()}
    assert all(len(own) == 1 for own in folds.values()) == (by == "article")
    entries = [said.entry for said in progress if said.entry]
    assert [entry["fold"] for entry in entries] == [0, 1, 2, 3]
    right = sum(len(answered(each)) for each in found.values())
    assert right == sum(entry["correct"] for entry in entries) > 20
    assert progress[-1].done == progress[-1].total == 40


def test_it_goes_on_from_the_checkpoint_of_a_fold_with_equal_results() -> None:
    whole, progress = run(Articles(21), folds=4)
    (_, second, *_) = [said.checkpoint for said in progress if said.checkpoint]
    rest, _ = run(Articles(21), second, folds=4)
    assert 0 < len(rest) < len(whole) and all(whole[key] == each for key, each in rest.items())
    _, begun = run(Articles(20), second, folds=4)
    assert begun[0].anew


def test_a_reader_of_the_installation_is_taken_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "nobody.py").write_text(
        "from hits.text.readers import Prediction\nLABEL, VERSION = 'nobody', '9'\n"
        "class Nobody:\n    def __init__(self, seed): pass\n    def fit(self, triples): pass\n"
        "    def predict(self, triples):\n        return (Prediction('nobody', 0.5) for _ in triples)\nmake = Nobody\n"
    )
    found, _ = run(Articles(4, (tmp_path,)), reader="nobody", folds=2)
    assert found["a/0"]["version"] == "9" and not answered(found["a/0"])


def test_a_share_of_the_tokens_counts_as_correct_where_that_is_wanted() -> None:
    with refused("machine_filtering_refused", match="least_f1 must lie above 0"):
        run(Articles(5), least_f1=1.5)


def hidden(id: str) -> str:
    return untelling(id, Articles.pseudonym_key)


def files(articles: Articles, **params: Any) -> dict[str, bytes]:
    assert FILTERING.outside
    written = FILTERING.outside.write(articles, {**PARAMS, "folds": 3, **params}, 7)
    return {name: b"".join(pieces) for name, pieces in written}


def read(articles: Articles, content: Any, **params: Any) -> tuple[dict[str, Any], list[Progress]]:
    assert FILTERING.outside
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    given = {**PARAMS, "folds": 3, "reader": "imported", "sha256": "0" * 64, **params}
    return results(FILTERING.outside.read(articles, given, 7, io.BytesIO(raw)))


def test_the_files_for_a_reader_elsewhere_are_in_record_s_layout_and_each_query_is_asked_once() -> None:
    articles = Articles(10)
    out = files(articles)
    assert list(out) == [f"fold{fold}-{part}.json" for fold in range(3) for part in ("train", "test")]
    asked: list[str] = []
    for fold in range(3):
        train = record.read(io.BytesIO(out[f"fold{fold}-train.json"]))
        test = json.loads(out[f"fold{fold}-test.json"])["data"]
        assert {one.key for one in train} & {one["id"] for one in test} == set()
        assert len(train) + len(test) == 9
        asked += [query["id"] for one in test for query in one["qas"]]
    assert sorted(asked) == sorted(hidden(triple.id) for triple in triples(articles))
    assert not any(re.search(r"s\d+-e\d+", id) for id in asked), "an id names the entity that answers"
    (one,) = [one for one in record.read(io.BytesIO(out["fold0-train.json"])) if one.key == "a/0"] or [None]
    if one:
        assert one.queries[0].answers[0].text == PEOPLE[1]
    assert files(articles) == out


def test_predictions_of_a_reader_elsewhere_give_what_one_in_the_box_would() -> None:
    articles = Articles(10)
    inside, _ = run(articles, folds=3)
    said = {
        hidden(f"{key}/{query}"): one["prediction"]
        for key, each in inside.items()
        for query, one in each["queries"].items()
    }
    found, progress = read(articles, said)
    for key, each in found.items():
        assert each["reader"] == "imported" and each["version"] == "0" * 12
        for query, one in each["queries"].items():
            assert {**one, "score": 0} == {**inside[key]["queries"][query], "score": 0}
    assert progress[-1].entry == {
        "asked": 18,
        "correct": sum(len(answered(one)) for one in found.values()),
        "share": progress[-1].entry["share"],
    }


def test_files_with_faults_are_refused_with_every_fault() -> None:
    articles = Articles(4)
    right = {hidden(triple.id): triple.answers[0] for triple in triples(articles)}
    (first, second, third, *_) = right
    wrong: list[tuple[Any, list[str]]] = [
        ({key: said for key, said in right.items() if key not in (first, second)},
         [f"'{first}': has no prediction", f"'{second}': has no prediction"]),
        ({**right, "a/9/s0-e0": "Sund", "a/0": "x"},
         ["'a/0': is the id of no query here", "'a/9/s0-e0': is the id of no query here"]),
        ({**right, first: None, second: ["Ada Holt"], third: " "},
         ["must be a text, not null", "must be a text, not a list", "is blank"]),
        ({**right, first: "Nobody Here", second: 4}, ["'Nobody Here' is no name that its passage marks", "a number"]),
        (b'{"a": "b", "a": "c"}', ["'a': is there more than once"]),
        (json.dumps([right]).encode(), ["the file must be one object"]),
        (b'{"a": "b"', ["is not JSON"]),
        (b'{"a": "\xff"}', ["is not UTF-8"]),
        (b"PK\x03\x04....", ["is a ZIP archive"]),
    ]  # fmt: skip
    for content, told in wrong:
        with pytest.raises(FormatErrors) as refused:
            read(articles, content)
        said = "\n".join(map(str, refused.value.errors))
        assert [one for one in told if one not in said] == [], said


def test_a_reader_of_any_span_is_let_in_where_that_is_wanted() -> None:
    articles = Articles(4)
    right = {hidden(triple.id): triple.answers[0] for triple in triples(articles)}
    (first, *_) = right
    found, _ = read(articles, {**right, first: "Nobody Here"}, mentions_only=False)
    assert [one["correct"] for one in found["a/0"]["queries"].values()] == [False, True]


def test_a_result_is_told_query_by_query() -> None:
    found, _ = run(Articles(6), folds=2)
    assert FILTERING.table
    (row, _) = FILTERING.table(article(0), found["a/0"])
    assert row["Query"].startswith("Neighbours") and row["Fold"] in "01"
