"""The sample stories and their key: what lies in samples/ is what its source gives, and the source is checked."""

from __future__ import annotations

import io
import json
from types import ModuleType

import pytest

from hits.crowd.key import AnswerKey
from hits.protocols.question_writing.protocol import protocol
from hits.recipes import load
from tests.hits.crowd.builders import SAMPLES, builder


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return builder("build_cosmos")


@pytest.fixture(scope="module")
def source() -> str:
    return (SAMPLES / "cosmos.txt").read_text(encoding="utf-8")


def test_the_files_are_what_their_source_gives(build: ModuleType, source: str) -> None:
    stories, key = build.build(source)
    assert (SAMPLES / "cosmos-stories.txt").read_text(encoding="utf-8") == stories
    lines = (SAMPLES / "cosmos-key.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == key


def test_each_story_is_imported_whole_and_known_by_the_key_alone() -> None:
    recipe, key = load("cosmos"), AnswerKey.read(SAMPLES / "cosmos-key.jsonl")
    content = (SAMPLES / "cosmos-stories.txt").read_bytes()
    documents = recipe.steps.read_documents(
        io.BytesIO(content),
        name="cosmos-stories.txt",
        max_bytes=10**6,
        default_origin="public",
        seed=7,
        options=recipe.options,
    )
    stories = [" ".join(story.split()) for story in content.decode().split("\n\n")]
    assert [document.data["text"] for document in documents] == stories
    assert len({(key.about(story) or ("",))[0] for story in stories} - {""}) == len(stories) >= 24


def test_the_page_takes_everything_that_the_key_has_rubbish_included() -> None:
    key = AnswerKey.read(SAMPLES / "cosmos-key.jsonl")
    lines = [json.loads(line) for line in (SAMPLES / "cosmos-key.jsonl").read_text(encoding="utf-8").splitlines()]
    settings = protocol.settings({})
    for line in lines[:-1]:
        for pair in (line["questions"], key.junk[:2], key.junk[-2:]):
            fields = {name: text for number, one in enumerate(pair, 1) for name, text in _fields(number, one).items()}
            assert protocol.check({"text": line["opening"]}, {}, settings, fields).labels[0].value == 2


def _fields(number: int, question: object) -> dict[str, str]:
    one = question if isinstance(question, dict) else vars(question)
    texts = {f"q{number}_question": one["question"], f"q{number}_category": one["category"]}
    for kind in ("correct", "incorrect"):
        texts |= {f"q{number}_{kind}{place}": text for place, text in enumerate(one[kind], 1)}
    return texts


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- Mr Pell had spilled soup on the tomatoes.\n", "", r"has \(2, 2\) answers"),
        ("| causes", "| reasons", "'reasons' is none of"),
        ("! needs_context no", "! needs_context perhaps", "nobody knows what"),
        ("The bus driver waited.", "Grandpa does not believe in recipes.", "two stories begin with"),
        ("He went red up to his ears. ", "He went red. " * 30, "words"),
    ],
)
def test_a_badly_made_story_is_named(build: ModuleType, source: str, old: str, new: str, message: str) -> None:
    assert old in source
    with pytest.raises(build.SampleError, match=message):
        build.build(source.replace(old, new, 1))
