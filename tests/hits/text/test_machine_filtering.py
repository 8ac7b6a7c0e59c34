"""Folds keep articles together, nobody answers what it learned from, and a run goes on where it was cut off."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from hits.text.filtering.machine_filtering import (
    Answer,
    Answered,
    FoldDone,
    Sign,
    Triples,
    filter_triples,
    is_correct,
)
from hits.text.readers import READERS, Prediction, Triple
from tests.hits.doing import refused
from tests.hits.text.triples import made

LINEAR = READERS.load("linear").make


class Remembering:
    """A reader that answers only what it learned, and never anything else."""

    def __init__(self, seed: int) -> None:
        self.known: dict[str, str] = {}

    def fit(self, triples: Iterable[Triple]) -> None:
        self.known = {each.id: each.answers[0] for each in triples}

    def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
        for each in triples:
            yield Prediction(self.known.get(each.id, ""), 1.0)


def run(triples: Triples, make=Remembering, **options) -> tuple[dict[str, Answer], list[FoldDone]]:
    answers: dict[str, Answer] = {}
    folds = []
    for said in filter_triples(triples, make, seed=1, **options):
        if isinstance(said, Answered):
            answers |= said.answers
        elif isinstance(said, FoldDone):
            folds.append(said)
    return answers, folds


def test_folds_are_of_whole_articles_of_nearly_equal_numbers_in_any_order_of_the_input() -> None:
    listed = list(made(23, queries=3))
    triples = Triples(listed, seed=1, folds=5)
    folds = {each.id: triples.fold_of(each) for each in triples}
    articles = defaultdict(set)
    for each in listed:
        articles[each.article].add(folds[each.id])
    assert {len(of) for of in articles.values()} == {1}
    sizes = Counter(fold for of in articles.values() for fold in of)
    assert sorted(sizes.values()) == [4, 4, 5, 5, 5]
    groups = [[each for each in listed if each.article == article] for article in articles]
    random.Random(2).shuffle(groups)
    other = Triples([each for group in groups for each in reversed(group)], seed=1, folds=5)
    assert [each.id for each in other] == [each.id for each in triples]
    assert (other.digest(), {each.id: other.fold_of(each) for each in other}) == (triples.digest(), folds)
    assert Triples(listed, seed=2, folds=5).digest() != triples.digest()


def test_folds_by_triple_divide_an_article() -> None:
    triples = Triples(made(10, queries=3), seed=1, folds=3, by="triple")
    assert sorted(Counter(map(triples.fold_of, triples)).values()) == [10, 10, 10]
    answers, _ = run(triples)
    assert len(answers) == 30


def test_nobody_answers_what_it_learned_from() -> None:
    for by in ("article", "triple"):
        answers, folds = run(Triples(made(12, queries=2), seed=1, folds=4, by=by))
        assert len(answers) == 24 and not any(each.correct for each in answers.values())
        assert [fold.entry["fold"] for fold in folds] == [0, 1, 2, 3]
        assert all(fold.entry["learned_from"] + fold.entry["asked"] == 24 for fold in folds)


def test_the_same_triples_in_another_order_get_the_same_answers() -> None:
    listed = list(made(40))
    one, _ = run(Triples(listed, seed=1, folds=4), LINEAR)
    other, _ = run(Triples(listed[::-1], seed=1, folds=4), LINEAR)
    assert one == other
    assert sum(each.correct for each in one.values()) > 10


def test_it_goes_on_after_the_fold_that_was_done_with_equal_results() -> None:
    triples = Triples(made(40), seed=1, folds=4)
    whole, folds = run(triples, LINEAR)
    rest, later = run(Triples(made(40), seed=1, folds=4), LINEAR, checkpoint=folds[1].checkpoint)
    assert {each.fold for each in rest.values()} == {2, 3}
    assert rest == {key: each for key, each in whole.items() if each.fold in (2, 3)}
    assert [fold.entry for fold in later] == [fold.entry for fold in folds[2:]]
    assert later[-1].done == later[-1].total == 40


def test_a_checkpoint_of_other_triples_or_numbers_is_left_aside_and_that_is_said() -> None:
    triples = Triples(made(12), seed=1, folds=3)
    _, folds = run(triples)
    checkpoint = folds[0].checkpoint
    others: list[tuple[Triples, dict]] = [
        (Triples(made(13), seed=1, folds=3), {}),
        (triples, {"least_f1": 0.5}),
        (triples, {"model": "other 2"}),
    ]
    for these, options in others:
        begun = next(filter_triples(these, Remembering, seed=1, checkpoint=checkpoint, **options))
        assert begun == Sign(0, len(these), anew=True)
        assert len(run(these, checkpoint=checkpoint, **options)[1]) == 3
    goes_on = next(filter_triples(triples, Remembering, seed=1, checkpoint=checkpoint))
    assert goes_on == Sign(4, 12)


def test_what_is_correct_is_an_exact_match_after_normalisation_or_a_token_f1_of_so_much() -> None:
    assert is_correct("the Harrow Bay.", ("Harrow Bay",), 1.0)
    assert not is_correct("Harrow", ("Harrow Bay",), 1.0)
    assert is_correct("Harrow", ("Sund", "Harrow Bay"), 0.66)
    assert not is_correct("Harrow", ("Harrow Bay",), 0.67)
    assert not is_correct("Bay Harrow", ("Harrow Bay",), 1.0)


def test_what_cannot_be_filtered_is_refused_before_anything_is_learned() -> None:
    listed = list(made(3, queries=2))
    for triples, folds, by, said in [
        (listed, 1, "article", "between 2 and 100"),
        (listed, 5, "word", "article or triple"),
        (listed[:2], 5, "article", "too few articles"),
        ([], 5, "article", "too few"),
        ([*listed, replace(listed[0], article="a9")], 5, "article", "1 triples have the id"),
        ([*listed, replace(listed[0], id="other")], 5, "article", "articles do not follow"),
        ([replace(listed[0], answers=())], 5, "article", "has no answer"),
    ]:
        with refused("machine_filtering_refused", match=said):
            Triples(triples, seed=1, folds=folds, by=by)
    assert Triples(listed, seed=1, folds=5).folds == 3


def test_whoever_stops_listening_stops_the_lesson() -> None:
    ended = []

    class Endless(Remembering):
        def fit(self, triples: Iterable[Triple]) -> None:
            try:
                while True:
                    for _ in triples:
                        pass
            finally:
                ended.append(True)

    said = filter_triples(Triples(made(6), seed=1, folds=2), Endless, seed=1)
    assert [next(said), next(said), next(said)] == [Sign(0, 6)] * 3
    assert not ended
    said.close()
    assert ended == [True]


def test_a_reader_that_fails_or_answers_too_little_is_heard() -> None:
    class Failing(Remembering):
        def fit(self, triples: Iterable[Triple]) -> None:
            raise RuntimeError("no memory left on the card")

    class Silent(Remembering):
        def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
            yield from ()

    triples = Triples(made(6), seed=1, folds=2)
    with pytest.raises(RuntimeError, match="on the card"):
        run(triples, Failing)
    with refused("machine_filtering_refused", match="one prediction for each"):
        run(triples, Silent)
