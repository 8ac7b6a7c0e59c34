"""Machine filtering: which queries a reader answers that has never seen their articles.

Source: S. Zhang et al. (2018), ReCoRD, section 3.3: five-fold cross validation over all triples; what the reader
answers correctly is taken out, so that what stays asks for more than paraphrase. The paper's reader is SAN; any
`hits.text.readers.Reader` serves here.

Where the paper leaves a choice:
- Folds are of whole articles, so that no reader learns from a passage that it is asked about; `by="triple"` deals the
  triples, as the paper's words can be read.
- Correct is an exact match after SQuAD's normalisation; with `least_f1` below 1, a token F1 of so much or more.
- Folds and the order of training follow the seed and the keys, not the order of the triples.

Triples wait in a file on the disk; memory holds a few numbers for each article and triple.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from tempfile import TemporaryFile
from typing import Any, Literal

import numpy as np

from hits.refusals import Refused
from hits.text.figures.squad import exact_match, token_f1
from hits.text.readers import Mention, Prediction, Reader, Triple

Json = dict[str, Any]
By = Literal["article", "triple"]
BY: tuple[By, ...] = ("article", "triple")
MOST_FOLDS = 100
# How often it is said that a reader still learns, and how many articles are asked between two signs of progress.
LEARNING_SECONDS = 1.0
ARTICLES_A_SIGN = 50


@dataclass(frozen=True)
class Sign:
    """`done` of `total` triples are answered. With `anew`, what was said before no longer holds."""

    done: int
    total: int
    anew: bool = False


@dataclass(frozen=True)
class Answer:
    """What the reader that did not learn from `fold` said to a query of it."""

    fold: int
    prediction: str
    score: float
    correct: bool


@dataclass(frozen=True)
class Answered:
    """Answers by the id of the triple, all of one article and one fold."""

    article: str
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class FoldDone:
    """All answers of a fold have been given; from `checkpoint` the work goes on with the next one.

    `entry` is {"fold", "learned_from", "asked", "correct", "share"}.
    """

    done: int
    total: int
    entry: Json
    checkpoint: Json


def is_correct(prediction: str, answers: tuple[str, ...], least_f1: float) -> bool:
    """Exactly an answer after normalisation; or with a token F1 of `least_f1` or more, where that is below 1."""
    if least_f1 >= 1:
        return exact_match(prediction, answers) == 1.0
    return token_f1(prediction, answers) >= least_f1


def _digest(seed: int, key: str) -> int:
    raw = blake2b(f"machine filtering {seed} {key}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big")


class Triples:
    """Triples in a file on the disk, in an order and in folds that follow the seed and the keys.

    Raises Refused for numbers that do not fit, doubled triples, and triples without an answer.
    """

    def __init__(self, triples: Iterable[Triple], *, seed: int, folds: int, by: By = "article") -> None:
        if not 2 <= folds <= MOST_FOLDS or by not in BY:
            message = f"folds must lie between 2 and {MOST_FOLDS} and be by {' or '.join(BY)}, not {folds} by {by!r}"
            raise Refused("machine_filtering_refused", message, status=400)
        self._seed, self.by = seed, by
        # Whoever holds the triples reads them again and again, so the file outlives this function.
        self._file = TemporaryFile()  # noqa: SIM115
        self._articles, self._places, self._ids = self._spooled(triples)
        self._refuse_doubled(self._articles, "articles do not follow one another or are there twice")
        self._refuse_doubled(self._ids, "triples have the id of another one")
        self._units = self._articles if by == "article" else self._ids
        if len(self._units) < 2:
            raise Refused(
                "machine_filtering_refused",
                f"there are too few {by}s: a reader needs some to learn from and others to be asked",
                status=400,
            )
        self.folds = min(folds, len(self._units))

    def _spooled(self, triples: Iterable[Triple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(digests of the articles in order, where each is in the file, digests of the triples in order)."""
        articles, places, ids = array("Q"), array("q"), array("Q")
        for article, group in groupby(triples, key=lambda triple: triple.article):
            listed = sorted(group, key=lambda triple: triple.id)
            if bad := [triple.id for triple in listed if not triple.answers]:
                raise Refused("machine_filtering_refused", f"the triple {bad[0]!r} has no answer", status=400)
            articles.append(_digest(self._seed, f"article {article}"))
            places.append(self._file.tell())
            ids.extend(_digest(self._seed, f"triple {triple.id}") for triple in listed)
            self._file.write(_packed(article, listed))
        order = np.argsort(np.array(articles, np.uint64), kind="stable")
        return (
            np.array(articles, np.uint64)[order],
            np.array(places, np.int64)[order],
            np.sort(np.array(ids, np.uint64)),
        )

    def _refuse_doubled(self, ordered: np.ndarray, what: str) -> None:
        doubled = int((ordered[1:] == ordered[:-1]).sum())
        if doubled:
            raise Refused("machine_filtering_refused", f"{doubled:,} {what}", status=400)

    def __len__(self) -> int:
        return len(self._ids)

    def fold_of(self, triple: Triple) -> int:
        """0 to `folds` - 1; folds differ by one article, or triple, at most."""
        key = f"article {triple.article}" if self.by == "article" else f"triple {triple.id}"
        return int(np.searchsorted(self._units, np.uint64(_digest(self._seed, key)))) % self.folds

    def __iter__(self) -> Iterator[Triple]:
        """All of them, article by article."""
        for article in self.articles():
            yield from article

    def articles(self) -> Iterator[list[Triple]]:
        for place in self._places.tolist():
            self._file.seek(place)
            yield _unpacked(self._file.readline())

    def of(self, fold: int) -> Iterator[Triple]:
        return (triple for triple in self if self.fold_of(triple) == fold)

    def without(self, fold: int) -> Iterator[Triple]:
        return (triple for triple in self if self.fold_of(triple) != fold)

    def digest(self) -> str:
        """The same for the same triples, folds and seed."""
        found = blake2b(f"{self._seed} {self.folds} {self.by}".encode(), digest_size=16)
        for place in self._places.tolist():
            self._file.seek(place)
            found.update(self._file.readline())
        return found.hexdigest()


def _packed(article: str, triples: list[Triple]) -> bytes:
    first = triples[0]
    queries = [[each.id, each.query, each.answers] for each in triples]
    return json.dumps([article, first.text, first.mentions, first.bullets, queries]).encode() + b"\n"


def _unpacked(line: bytes) -> list[Triple]:
    article, text, mentions, bullets, queries = json.loads(line)
    marked = tuple(Mention(*each) for each in mentions)
    return [Triple(id, article, text, marked, bullets, query, tuple(answers)) for id, query, answers in queries]


class _Stopped(Exception):
    """Whoever asked for the work is gone."""


class _Lesson:
    """The triples that a reader learns from; each pass over them starts anew, until the lesson is broken off."""

    def __init__(self, triples: Triples, fold: int) -> None:
        self._triples, self._fold = triples, fold
        self.over = threading.Event()
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[Triple]:
        for triple in self._triples.without(self._fold):
            if self.over.is_set():
                raise _Stopped
            yield triple

    def learn(self, reader: Reader) -> None:
        try:
            reader.fit(self)
        except BaseException as error:
            self.error = error


def filter_triples(
    triples: Triples,
    make: Callable[[int], Reader],
    *,
    seed: int,
    least_f1: float = 1.0,
    model: str = "",
    checkpoint: Json | None = None,
) -> Iterator[Sign | Answered | FoldDone]:
    """Fold by fold: what a reader that learned from all others says to its queries.

    `model` names reader and version. The same triples, numbers, model and seed give the same answers, also when it goes
    on from a checkpoint, which leaves out the folds that were done; one that belongs to others is left aside, and the
    first Sign says so.
    """
    of = f"{triples.digest()} {least_f1} {model}"
    total = len(triples)
    goes_on = checkpoint is not None and checkpoint.get("of") == of
    begin, done = (checkpoint["folds"], checkpoint["done"]) if checkpoint and goes_on else (0, 0)
    yield Sign(done, total, anew=checkpoint is not None and not goes_on)
    for fold in range(begin, triples.folds):
        reader = make(seed)
        for _ in _taught(reader, _Lesson(triples, fold)):
            yield Sign(done, total)
        asked = correct = 0
        for number, found in enumerate(_answers(reader, triples, fold, least_f1), start=1):
            asked += len(found.answers)
            correct += sum(each.correct for each in found.answers.values())
            yield found
            if number % ARTICLES_A_SIGN == 0:
                yield Sign(done + asked, total)
        done += asked
        share = round(correct / asked, 6) if asked else 0.0
        entry = {"fold": fold, "learned_from": total - asked, "asked": asked, "correct": correct, "share": share}
        yield FoldDone(done, total, entry, {"of": of, "folds": fold + 1, "done": done})


def _taught(reader: Reader, lesson: _Lesson) -> Iterator[None]:
    """Once a second while it learns: whoever stops to listen stops the lesson too."""
    thread = threading.Thread(target=lesson.learn, args=(reader,), daemon=True, name="reader")
    thread.start()
    try:
        while thread.is_alive():
            yield
            thread.join(LEARNING_SECONDS)
    finally:
        lesson.over.set()
        thread.join()
    if lesson.error is not None:
        raise lesson.error


def _answers(reader: Reader, triples: Triples, fold: int, least_f1: float) -> Iterator[Answered]:
    for listed in triples.articles():
        if asked := [triple for triple in listed if triples.fold_of(triple) == fold]:
            said = list(reader.predict(iter(asked)))
            if len(said) != len(asked):
                raise Refused(
                    "machine_filtering_refused",
                    "the reader must give one prediction for each triple that it is asked",
                    status=400,
                )
            answers = {triple.id: _judged(triple, one, fold, least_f1) for triple, one in zip(asked, said, strict=True)}
            yield Answered(asked[0].article, answers)


def _judged(triple: Triple, said: Prediction, fold: int, least_f1: float) -> Answer:
    return Answer(fold, said.text, said.score, is_correct(said.text, triple.answers, least_f1))
