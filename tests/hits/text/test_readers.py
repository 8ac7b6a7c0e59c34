"""Readers are found by name, learn from triples that they go through again and again, and never see an answer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hits.text.filtering.machine_filtering import is_correct
from hits.text.readers import READERS, Mention, Triple, by_entity, most_mentioned
from tests.hits.text.triples import TOWNS, made, triple

PLUGIN = """
from hits.text.readers import Prediction
LABEL = "last: the last name of the passage"
VERSION = "3"
class Last:
    def __init__(self, seed): pass
    def fit(self, triples): pass
    def predict(self, triples):
        for one in triples:
            last = one.mentions[-1]
            yield Prediction(one.text[last.start:last.end], 1.0)
make = Last
"""


class Again:
    """Triples that may be gone through often; counts how often they were."""

    def __init__(self, triples: list[Triple]) -> None:
        self.triples, self.times = triples, 0

    def __iter__(self) -> Iterator[Triple]:
        self.times += 1
        yield from self.triples


def read(name: str, learned: list[Triple], asked: list[Triple], seed: int = 1) -> list[str]:
    reader = READERS.load(name).make(seed)
    reader.fit(Again(learned))
    return [prediction.text for prediction in reader.predict(iter(asked))]


def share(name: str, learned: list[Triple], asked: list[Triple]) -> float:
    right = [is_correct(said, one.answers, 1.0) for said, one in zip(read(name, learned, asked), asked, strict=True)]
    return sum(right) / len(right)


def test_readers_are_found_by_scanning_and_an_installation_brings_more(tmp_path: Path) -> None:
    assert {"linear", "most_frequent", "random"} <= set(READERS.labels())
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "last.py").write_text(PLUGIN)
    (tmp_path / "readers" / "linear.py").write_text("LABEL = 'an impostor'")
    (tmp_path / "readers" / "broken.py").write_text("1 / 0")
    labels = READERS.labels([tmp_path])
    assert labels["last"] == "last: the last name of the passage"
    assert labels["linear"] == READERS.labels()["linear"]
    assert "cannot be used" in labels["broken"] and "ZeroDivisionError" in labels["broken"]
    module = READERS.load("last", [tmp_path])
    assert (module.VERSION, [one.text for one in module.make(1).predict([triple()])]) == ("3", ["Sund"])
    with pytest.raises(LookupError, match="there are: linear, most_frequent, random"):
        READERS.load("last")
    with pytest.raises(LookupError, match="ZeroDivisionError"):
        READERS.load("broken", [tmp_path])


@pytest.mark.parametrize("code", ["1 / 0", "LABEL = 'too little'", "open('/srv/secret/words.txt')"])
def test_leads_do_not_read_where_a_broken_reader_lies(tmp_path: Path, code: str) -> None:
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "broken.py").write_text(code)
    label = READERS.labels([tmp_path])["broken"]
    assert "cannot be used: readers/broken.py" in label
    assert str(tmp_path) not in label and "secret" not in label


def test_the_most_frequent_entity_is_that_with_the_most_mentions_and_of_several_the_first() -> None:
    one = triple()
    assert read("most_frequent", [], [one]) == ["Ada Holt"]
    tied = replace(one, mentions=one.mentions[:2])
    first = most_mentioned(tied)
    assert first is not None and first.start == 0
    assert read("most_frequent", [], [replace(one, mentions=())]) == [""]


def test_a_random_reader_draws_by_seed_and_id_alone() -> None:
    asked = list(made(40))
    said = read("random", [], asked)
    backwards = read("random", [], asked[::-1])
    assert said == backwards[::-1]
    assert said != read("random", [], asked, seed=2)
    assert len(set(said)) > 5


def test_the_linear_reader_learns_what_the_baselines_cannot_know() -> None:
    """In these texts the answer is named where the passage says what the query says, and it is mentioned once."""
    triples = list(made(300))
    learned, asked = triples[:200], triples[200:]
    assert share("linear", learned, asked) > 0.6
    assert share("most_frequent", learned, asked) < 0.3
    assert share("random", learned, asked) < 0.4


def test_the_same_triples_and_seed_give_the_same_predictions_and_answers_are_not_read() -> None:
    triples = list(made(80))
    learned, asked = triples[:60], triples[60:]
    said = read("linear", learned, asked)
    assert said == read("linear", learned, [replace(one, answers=("nobody",)) for one in asked])


def test_the_linear_reader_survives_triples_that_teach_nothing() -> None:
    one = triple()
    bare = replace(one, mentions=(), answers=("nobody",))
    alone = replace(one, mentions=one.mentions[:1], answers=("Ada Holt",))
    empty = replace(one, text="", mentions=(), bullets=0, query="@placeholder", answers=("x",))
    strange = replace(one, text="\u0130\u0345 \U0001f600 a\n\n@highlight\n", mentions=(Mention(0, 2, 0),), bullets=6)
    assert len(read("linear", [bare, alone, empty, strange], [one, bare, alone, empty, strange])) == 5


def test_entities_stand_in_the_order_of_their_first_mention() -> None:
    one = triple()
    assert [len(mentions) for mentions in by_entity(one).values()] == [2, 1, 1]
    assert random.Random(1).choice(TOWNS) in TOWNS
