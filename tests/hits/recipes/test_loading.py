"""Releases of every recipe are loaded by the libraries that people load data sets with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
import pandas
import pytest
import yaml
from datasets.info import DatasetInfosDict

from hits import recipes
from hits.formats.outputs import croissant, parquet_facts
from hits.formats.outputs.data_card import Card, written
from hits.recipes.choice import steps as choice
from hits.recipes.form import steps as form
from hits.recipes.html_page import steps as html_page
from hits.recipes.source import GivenLabel, JudgedItem, ReleaseContent
from tests.hits.recipes import test_cosmos_steps, test_mcscript_release, test_record_release, test_spans

QUESTION = {"kind": "one", "key": "mood", "question": "Mood?", "choices": ["good", "bad"]}
FORM = {"form": {"show": [{"kind": "text", "text": "{text}"}], "ask": [QUESTION]}}


class Rows:
    """What was collected in one stage, in memory."""

    seed, pseudonym_key, plugins, options = 3, "key", (), {}

    def __init__(self, *items: JudgedItem, **settings: Any) -> None:
        self.items, self.given = items, settings

    def settings(self, stage: str) -> dict[str, Any]:
        return self.given

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Any:
        return iter(self.items)


def row(stage: str, key: str, document: dict[str, Any], data: dict[str, Any], *labels: GivenLabel) -> JudgedItem:
    return JudgedItem(stage, key, data, key, document, "public", "train", "kept", labels=labels)


def label(unit: str, value: Any, worker: str = "A1", correct: bool | None = None) -> GivenLabel:
    return GivenLabel(worker, f"3{worker}", unit, value, correct)


def of_choice() -> ReleaseContent:
    choices = {"choices": [{"id": "c1", "text": "Ada"}, {"id": "c2", "text": "Ben"}]}
    tied = row("choose", "a", {"text": "One."}, choices, label("choice", "c1"), label("choice", "c2", "A2"))
    clear = row("choose", "b", {"text": "Two."}, {**choices, "gold": ["c1"]}, label("choice", "c1", correct=True))
    settings = {"several": False, "question": "Who?", "choices": []}
    return choice.build_release(Rows(tied, clear, **settings))


def of_form() -> ReleaseContent:
    text = {"columns": {"text": "It rained.", "source": ""}}
    first = row("ask", "a", text, {}, label("mood", "good"), label("mood", "bad", "A2"))
    return form.build_release(Rows(first, **form.protocol.settings(FORM)))


def of_html_page() -> ReleaseContent:
    page = {"template": '<p>${text}</p><input type="radio" name="mood" value="good"><input type="submit">'}
    first = row("answer", "a", {"columns": {"text": "It rained."}}, {}, label("mood", "good"))
    return html_page.build_release(Rows(first, **html_page.protocol.settings(page)))


def of_spans() -> ReleaseContent:
    return test_spans.released(test_spans.judged([test_spans.MARA], [], key="t1"), enough=1)[0]


RELEASES: dict[str, Callable[[], ReleaseContent]] = {
    "record": test_record_release.evaluated,
    "cosmos": lambda: test_cosmos_steps.build_release(test_cosmos_steps.collection()),
    "mcscript": lambda: test_mcscript_release.build_release(test_mcscript_release.collection()),
    "choice": of_choice,
    "form": of_form,
    "html_page": of_html_page,
    "spans": of_spans,
}


@pytest.fixture(params=RELEASES)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ReleaseContent, Path]:
    """The release's content, and a folder with its files and card."""
    content = RELEASES[request.param]()
    for name, file in content.files.items():
        if not isinstance(file, bytes):
            file.seek(0)
        (tmp_path / name).write_bytes(file if isinstance(file, bytes) else file.read())
    tables = {file: (tmp_path / file) for splits in content.tables.values() for file in splits.values()}
    card = card_of(content, facts=parquet_facts.read({name: path.open("rb") for name, path in tables.items()}))
    (tmp_path / "README.md").write_bytes(written(card))
    sums = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in tables.items()}
    (tmp_path / croissant.FILE).write_bytes(croissant.written(card, sums))
    return content, tmp_path


def card_of(content: ReleaseContent, **changes: Any) -> Card:
    given: dict[str, Any] = {
        "title": "River: “news”",
        "recipe": "A recipe 1",
        "description": "What is asked.",
        "tables": content.tables,
        "counts": content.counts,
        "left_out": content.left_out,
        "notes": content.notes,
        "stages": [("Ask", {"Answers": "12", "Reward": "$0.10"})],
    }
    return Card(**{**given, **changes})


def test_every_recipe_has_a_release_here() -> None:
    assert set(RELEASES) == set(recipes.available())


def test_the_library_for_data_sets_loads_each_table_with_its_splits(
    released: tuple[ReleaseContent, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content, folder = released
    assert content.tables
    for name, splits in content.tables.items():
        found = datasets.load_dataset(str(folder), name, cache_dir=str(tmp_path_factory.mktemp("cache")))
        assert set(found) == set(splits)
        assert {split: found[split].num_rows for split in found} == {
            split: len(pandas.read_parquet(folder / file)) for split, file in splits.items()
        }
        # One set of columns with one type each, also where a column is empty in one split.
        assert len({json.dumps(found[split].features.to_dict(), sort_keys=True) for split in found}) == 1
        # As the card's head says, without looking into a file.
        said = DatasetInfosDict.from_directory(str(folder))[name]
        assert said.features == found[next(iter(found))].features
        assert {split: facts.num_examples for split, facts in said.splits.items()} == found.num_rows
        assert all(facts.num_bytes > 0 for facts in said.splits.values())


def test_croissant_is_valid_and_gives_the_rows_of_each_table(
    released: tuple[ReleaseContent, Path],
) -> None:
    content, folder = released
    found = mlcroissant.Dataset(jsonld=str(folder / croissant.FILE))
    assert not found.metadata.issues.errors
    for name, splits in content.tables.items():
        for split, file in splits.items():
            rows = list(found.records(f"{name}-{split}"))
            table = pandas.read_parquet(folder / file)
            assert len(rows) == len(table)
            assert set(rows[0]) == {f"{name}-{split}/{column}" for column in table.columns}
            identified = f"{name}-{split}/{table.columns[0]}"
            assert [_plain(row[identified]) for row in rows] == [_plain(value) for value in table.iloc[:, 0]]


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("recipe", RELEASES)
def test_labels_are_told_of_released_items_alone_and_never_of_test(recipe: str) -> None:
    content = RELEASES[recipe]()
    told = [item for of in content.told.values() for item in of()]
    assert told and {item.split for item in told} <= {"train", "dev"}
    if "test" in content.counts:
        assert content.counts["test"]
        most = max(len(list(of())) for of in content.told.values())
        groups = sum(len(item.groups or ()) for item in told)
        assert (groups or most) == content.counts["train"] + content.counts["dev"]


def test_without_a_name_the_first_table_is_loaded(
    released: tuple[ReleaseContent, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content, folder = released
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path_factory.mktemp("cache")))
    assert set(found) == set(next(iter(content.tables.values())))


def test_pandas_reads_every_table_and_a_column_without_a_value_keeps_its_type(
    released: tuple[ReleaseContent, Path],
) -> None:
    content, folder = released
    for splits in content.tables.values():
        kinds = {split: dict(pandas.read_parquet(folder / file).dtypes.astype(str)) for split, file in splits.items()}
        full = {split: kind for split, kind in kinds.items() if len(pandas.read_parquet(folder / splits[split]))}
        assert len({json.dumps(kind, sort_keys=True) for kind in full.values()}) <= 1
        assert len({tuple(kind) for kind in kinds.values()}) == 1


def test_every_annotation_stands_in_a_row_of_its_own() -> None:
    content = of_choice()
    found = pandas.read_parquet(content.files["annotations.parquet"])
    assert list(found.columns) == ["id", "unit", "value", "correct", "worker"]
    assert sorted(zip(found["id"], found["value"], strict=True)) == [("a", "c1"), ("a", "c2"), ("b", "c1")]
    assert [value for value in found["correct"] if value is not None] == [True]
    assert not any("A1" in worker for worker in found["worker"])


def test_the_head_of_a_card_is_yaml_whatever_the_title_says() -> None:
    title = 'A: "b"\n---\n# [x](http://y) <script>'
    text = written(card_of(of_choice(), title=title)).decode()
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["pretty_name"] == title
    assert body.splitlines()[1] == '# A: "b" --- # \\[x](http://y) &lt;script>'
    assert yaml.safe_load(head)["configs"][0]["default"] is True


def test_the_same_card_gives_the_same_bytes_and_says_what_it_is_told() -> None:
    content = of_choice()
    rules = {"Ask": "good: at least 2 choice = c1\notherwise: drop"}
    one, other = written(card_of(content, rules=rules)), written(card_of(content, rules=rules))
    assert one == other
    for said in ("| Reward | $0.10 |", "good: at least 2 choice = c1", "annotations.parquet", "## Licence"):
        assert said in one.decode()


@pytest.mark.parametrize(
    "title", ["a\u2028--- b", "a\x85b", "a\x7fb", "a\ufffeb", "a\n---\nb: c", "“Boats” \U0001f6a3", 'a"\\b']
)
def test_the_head_of_a_card_is_read_whatever_the_title(title: str) -> None:
    card = written(Card(title, "form 1", "", {}, {}, {}, [], []))
    assert yaml.safe_load(card.decode().split("\n---\n")[0]) == {"pretty_name": title}
