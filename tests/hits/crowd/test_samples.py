"""The sample texts: what lies in samples/ is what its source gives, and the source is checked."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

from hits.formats.inputs import record
from hits.recipes.record.steps import mark
from tests.hits.crowd.builders import SAMPLES, builder


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return builder("build")


@pytest.fixture(scope="module")
def source() -> str:
    return (SAMPLES / "record.txt").read_text(encoding="utf-8")


def test_the_file_is_what_its_source_gives(build: ModuleType, source: str) -> None:
    lines = (SAMPLES / "record.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == build.build(source)


def test_the_importer_reads_it_and_both_origins_are_there() -> None:
    with (SAMPLES / "record.jsonl").open("rb") as stream:
        documents = record.read(stream)
    assert len(documents) >= 24
    assert sum(len(document.queries) for document in documents) >= 36
    marks = mark([(document.key, document.origin) for document in documents], seed=1)
    assert set(marks.values()) == {"train", "eval"}
    assert {document.origin for document in documents if marks[document.key] == "eval"} == {"public", "crawled"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("after both engines of the [Grey Heron]", "after both engines of the Grey Heron", "not in brackets"),
        ("= Tobias Lund | Lund", "= Tobias Lindt", "no mention of Tobias Lindt"),
        ("? The company has sent", "? The ferry company has promised", "copied from the passage: .*ferry company has"),
        ("* Lifeboat was busy off [Cape Dunmore]\n* Crab", "* Crab", "there are 2 bullets"),
    ],
)
def test_a_badly_made_example_is_named(build: ModuleType, source: str, old: str, new: str, message: str) -> None:
    assert old in source
    with pytest.raises(build.SampleError, match=f"harbour-01: .*{message}"):
        build.build(source.replace(old, new, 1))
