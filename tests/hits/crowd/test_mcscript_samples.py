"""The sample scenarios and their key: what lies in samples/ is what its source gives, and the source is checked."""

from __future__ import annotations

import io
import json
from types import ModuleType

import pytest

from hits.crowd.key import AnswerKey
from hits.protocols.story.protocol import protocol
from hits.recipes import load
from tests.hits.crowd.builders import SAMPLES, builder


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return builder("build_mcscript")


@pytest.fixture(scope="module")
def source() -> str:
    return (SAMPLES / "mcscript.txt").read_text(encoding="utf-8")


def test_the_files_are_what_their_source_gives(build: ModuleType, source: str) -> None:
    scenarios, key = build.build(source)
    assert (SAMPLES / "mcscript-scenarios.txt").read_text(encoding="utf-8") == scenarios
    lines = (SAMPLES / "mcscript-key.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == key


def test_each_scenario_is_imported_and_has_stories_that_the_page_takes() -> None:
    recipe, key = load("mcscript"), AnswerKey.read(SAMPLES / "mcscript-key.jsonl")
    documents = recipe.steps.read_documents(
        io.BytesIO((SAMPLES / "mcscript-scenarios.txt").read_bytes()),
        name="mcscript-scenarios.txt",
        max_bytes=10**6,
        default_origin="public",
        options=recipe.options,
    )
    settings = protocol.settings({})
    assert len(documents) >= 6 and all(document.data["hint"] for document in documents)
    for document in documents:
        stories = key.stories(document.data["scenario"])
        assert len(set(stories)) == len(stories) >= 3
        for story in stories:
            labels = {
                label.unit: label.value
                for label in protocol.check(document.data, {}, settings, {"story": story}).labels
            }
            assert labels["story"]["text"] == story


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "# taking a bus | It may be to work, to school or to a town.",
            "# baking bread",
            "two scenarios have one name",
        ),
        ("# baking bread | Think of a loaf that you made at home.\n", "", "no scenario stands before"),
        ("My niece mixed everything in a big bowl with a wooden spoon.", "It was " + "very " * 300 + "good.", "words"),
    ],
)
def test_a_badly_made_story_is_named(build: ModuleType, source: str, old: str, new: str, message: str) -> None:
    assert old in source
    with pytest.raises(build.SampleError, match=message):
        build.build(source.replace(old, new, 1))
