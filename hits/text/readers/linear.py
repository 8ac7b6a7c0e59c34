"""A linear ranker over the entities of a passage, which learns what an answer looks like from other articles.

An entity gets one number for each query, a weighted sum of
- counts and places: how often, where first, in how many sentences and in which bullets it is mentioned;
- overlap: the TF-IDF cosine of the query with each sentence that mentions it, and whether the query names it already;
- hashed patterns: its type and its last word with words of the query, and the words about its mentions with the words
  about the placeholder.
The weights are those of a softmax over the entities of a passage, learned by AdaGrad (J. Duchi et al., 2011) in small
batches. Features are computed once and kept on the disk, so memory is the same for any number of triples.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, NamedTuple
from zlib import crc32

import numpy as np

from hits.text.language.sentences import sentences
from hits.text.language.words import FUNCTION_WORDS, placed
from hits.text.readers import Mention, Prediction, Triple, by_entity, surface

LABEL = "Linear ranker, which learns"
VERSION = "1"

PLACEHOLDER = "@placeholder"
HASHED = 2**20
WORDS_HASHED = 2**18
PASSES = 4
BATCH = 64
RATE = 0.1
# The hashed weights begin slowly: most patterns are seen once.
FIRST_SQUARES = 1.0
# Each update takes this share off a weight.
DECAY = 1e-4
# Words about a mention and about the placeholder; more of a long query tell nothing new.
WINDOW, ABOUT, QUERY_WORDS = 4, 3, 16
_EDGES = ("<", ">")
_BULLET = re.compile(r"@highlight\s*")
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
_SHIFT = np.uint64(29)


def _number(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def _numbers(words: Iterable[str]) -> np.ndarray:
    return np.array([_number(word) for word in words], np.uint64)


def _hashed(kind: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A column for each pair of the two; `kind` keeps the kinds of patterns apart."""
    mixed = (first[:, None] * _MIX[0]) ^ (second[None, :] * _MIX[1]) ^ (np.uint64(kind) * _MIX[2])
    mixed ^= mixed >> _SHIFT
    mixed *= _MIX[0]
    columns: np.ndarray = ((mixed >> _SHIFT) % np.uint64(HASHED)).astype(np.uint32).ravel()
    return columns


_NONE = np.zeros(1, np.uint64)


class _Sentence(NamedTuple):
    start: int
    end: int
    words: np.ndarray
    in_bullet: bool


class _Entity:
    """What the passage alone says about one entity."""

    def __init__(self, triple: Triple, mentions: Sequence[Mention], own: Sequence[int], passage: _Passage) -> None:
        self.first = mentions[0]
        self.sentences = sorted(set(own))
        self.own = own
        names = {word for mention in mentions for word, _, _ in placed(surface(triple, mention))}
        self.names = _numbers(sorted(names - FUNCTION_WORDS))
        heads = sorted({_last_word(surface(triple, mention)) for mention in mentions})
        self.heads = _numbers(heads)
        self.types = _numbers(sorted({mention.type for mention in mentions}))
        self.about = [passage.about(mention) for mention in mentions]
        bag = {word for words in self.about for word in words if word not in FUNCTION_WORDS}
        self.bag = _numbers(sorted(bag))
        self.starts = any(before[-1:] == ["<"] for before, _ in map(_halves, self.about))
        self.possessive = any(triple.text[m.end : m.end + 2] in ("'s", "\u2019s") for m in mentions)


def _halves(about: Sequence[str]) -> tuple[list[str], list[str]]:
    return list(about[:WINDOW]), list(about[WINDOW:])


def _last_word(name: str) -> str:
    found = [word for word, _, _ in placed(name)]
    return found[-1].removesuffix("'s") if found else ""


class _Passage:
    """The words and sentences of a passage and what they say about each entity."""

    def __init__(self, triple: Triple) -> None:
        self.text = triple.text
        self._placed = placed(triple.text)
        self.sentences = [self._sentence(start, end, triple.bullets) for start, end in _spans(triple.text)]
        self.types = np.unique(_numbers(word for word, _, _ in self._placed))
        starts = np.array([each.start for each in self.sentences] or [0])
        self._starts = np.array([start for _, start, _ in self._placed] or [0])
        self._ends = np.array([end for _, _, end in self._placed] or [0])
        self._sentence_starts = starts
        self.entities = []
        for mentions in by_entity(triple).values():
            own = [int(np.searchsorted(starts, mention.start, "right")) - 1 for mention in mentions]
            self.entities.append(_Entity(triple, mentions, own, self))
        self.counts = np.array([len(entity.own) for entity in self.entities], np.float32)

    def _sentence(self, start: int, end: int, bullets: int) -> _Sentence:
        words = [word for word, at, _ in self._placed if start <= at < end and word not in FUNCTION_WORDS]
        return _Sentence(start, end, np.unique(_numbers(words)), start >= bullets)

    def about(self, mention: Mention) -> list[str]:
        """WINDOW words before it and as many after, with marks beyond the ends of its sentence."""
        at = int(np.searchsorted(self._sentence_starts, mention.start, "right")) - 1
        if not self.sentences:
            return [_EDGES[0]] * WINDOW + [_EDGES[1]] * WINDOW
        low, high = self.sentences[at].start, self.sentences[at].end
        first = int(np.searchsorted(self._starts, mention.start))
        after = int(np.searchsorted(self._starts, mention.end))
        before = [self._word(place, low, high, "<") for place in range(first - WINDOW, first)]
        return before + [self._word(place, low, high, ">") for place in range(after, after + WINDOW)]

    def _word(self, place: int, low: int, high: int, edge: str) -> str:
        if not 0 <= place < len(self._placed):
            return edge
        word, start, _ = self._placed[place]
        return word if low <= start < high else edge


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Sentences and bullets, one after another."""
    start = 0
    for line in text.split("\n"):
        if not _BULLET.fullmatch(line):
            for found in sentences(line):
                yield start + found.start, start + found.end
        start += len(line) + 1


class _Query:
    """The words of a query, and those about its placeholder."""

    def __init__(self, query: str) -> None:
        at = query.find(PLACEHOLDER)
        end = at + len(PLACEHOLDER)
        before = [word for word, _, _ in placed(query[:at])]
        after = [word for word, _, _ in placed(query[end:])]
        self.initial = not before
        self.possessive = query[end : end + 2] in ("'s", "\u2019s")
        self.before = ([_EDGES[0]] * WINDOW + before)[-WINDOW:]
        self.after = (after + [_EDGES[1]] * WINDOW)[:WINDOW]
        content = [word.removesuffix("'s") for word in (*before, *after) if word not in FUNCTION_WORDS]
        self.types = np.unique(_numbers(content))
        self.bag = _numbers(dict.fromkeys(content[:QUERY_WORDS]))
        about = [*self.before[-ABOUT:], *self.after[:ABOUT]]
        self.about = _numbers(dict.fromkeys(about))
        self.placed = _numbers(f"{place} {word}" for place, word in enumerate(about))
        names = {found for found in re.findall(r"\b[A-Z][\w'-]+", query[:at][1:] + " " + query[end:])}
        self.names = np.unique(_numbers(word for name in sorted(names) for word, _, _ in placed(name)))


NUMBERS = 19


class _Features(NamedTuple):
    """Of one triple: a row of numbers and the patterns for each entity."""

    numbers: np.ndarray
    patterns: list[np.ndarray]


class _Reading:
    """Turns triples into features; holds the passage that it read last, as triples come article by article."""

    def __init__(self) -> None:
        self._documents = np.zeros(WORDS_HASHED, np.float32)
        self._articles = 0
        self._passage: tuple[tuple[object, ...], _Passage] | None = None

    def count(self, triples: Iterable[Triple]) -> None:
        """In how many passages each word is."""
        last = ""
        for triple in triples:
            if triple.article != last:
                last = triple.article
                self._articles += 1
                found = _numbers({word for word, _, _ in placed(triple.text)})
                self._documents[np.unique(found % np.uint64(WORDS_HASHED))] += 1

    def features(self, triple: Triple) -> _Features:
        passage, query = self._read(triple), _Query(triple.query)
        overlap = self._overlap(passage, query)
        rows = [self._row(passage, query, overlap, at) for at in range(len(passage.entities))]
        numbers = np.array(rows, np.float32).reshape(len(rows), NUMBERS)
        if len(rows):
            numbers[:, NUMBERS - 1] = numbers[:, 8] == numbers[:, 8].max()
        return _Features(numbers, [_patterns(entity, query) for entity in passage.entities])

    def _read(self, triple: Triple) -> _Passage:
        of = (triple.article, triple.text, triple.mentions)
        if self._passage is None or self._passage[0] != of:
            self._passage = (of, _Passage(triple))
        return self._passage[1]

    def _weights(self, words: np.ndarray) -> np.ndarray:
        """Inverse document frequencies."""
        there = self._documents[words % np.uint64(WORDS_HASHED)]
        return np.log((self._articles + 1) / (there + 1)) + 0.1

    def _overlap(self, passage: _Passage, query: _Query) -> list[float]:
        """The TF-IDF cosine of the query with each sentence, words counted once."""
        asked = float(np.sqrt((self._weights(query.types) ** 2).sum())) or 1.0
        found = []
        for sentence in passage.sentences:
            both = np.intersect1d(query.types, sentence.words, assume_unique=True)
            own = float(np.sqrt((self._weights(sentence.words) ** 2).sum())) or 1.0
            found.append(float((self._weights(both) ** 2).sum()) / (asked * own))
        return found

    def _row(self, passage: _Passage, query: _Query, overlap: Sequence[float], at: int) -> list[float]:
        entity = passage.entities[at]
        count, most = float(passage.counts[at]), float(passage.counts.max())
        here = [overlap[own] for own in entity.sentences if 0 <= own < len(overlap)] or [0.0]
        near = [overlap[own + 1] for own in entity.sentences if 0 <= own + 1 < len(overlap)] or [0.0]
        bullets = sum(passage.sentences[own].in_bullet for own in entity.own if 0 <= own < len(passage.sentences))
        named = len(np.intersect1d(entity.names, query.types)) / max(len(entity.names), 1)
        length = max(len(passage.text), 1)
        beside = [
            len(np.intersect1d(query.names, passage.sentences[own].words)) for own in entity.sentences[: len(overlap)]
        ]
        return [
            float(np.log1p(count)),
            count / most,
            float(count == most),
            entity.first.start / length,
            float(entity.own[0] <= 0),
            float(bullets > 0),
            float(np.log1p(bullets)),
            len(entity.sentences) / max(len(passage.sentences), 1),
            max(here),
            sum(here) / len(here),
            max(near),
            named,
            float(named == 1),
            max(beside, default=0) / max(len(query.names), 1),
            float(entity.starts and query.initial),
            float(entity.possessive and query.possessive),
            float(at == 0),
            entity.own[-1] / max(len(passage.sentences), 1),
            0.0,
        ]


def _patterns(entity: _Entity, query: _Query) -> np.ndarray:
    same = [
        f"{place} {word}"
        for about in entity.about
        for place, (word, asked) in enumerate(zip(about, [*query.before, *query.after], strict=True))
        if word == asked
    ]
    found = [
        _hashed(1, entity.types, query.placed),
        _hashed(2, entity.types, np.array([query.initial, 2 + query.possessive], np.uint64)),
        _hashed(3, entity.heads, _NONE),
        _hashed(4, entity.heads, query.bag),
        _hashed(5, entity.bag, query.about),
        _hashed(6, _numbers(same), _NONE),
        _hashed(7, _numbers(each.partition(" ")[0] for each in same), _NONE),
    ]
    return np.unique(np.concatenate(found))


@dataclass
class _Batch:
    """Some triples: `sizes` counts the entities of each, `lengths` the patterns of each entity."""

    sizes: np.ndarray
    lengths: np.ndarray
    numbers: np.ndarray
    right: np.ndarray
    patterns: np.ndarray

    @classmethod
    def of(cls, found: Sequence[tuple[_Features, Sequence[bool]]]) -> _Batch:
        patterns = [each for features, _ in found for each in features.patterns]
        return cls(
            np.array([len(features.patterns) for features, _ in found], np.int64),
            np.array([len(each) for each in patterns], np.int64),
            np.concatenate([features.numbers for features, _ in found]),
            np.array([value for _, right in found for value in right], np.float32),
            np.concatenate(patterns),
        )

    def write(self, stream: IO[bytes]) -> None:
        np.array([len(self.sizes), len(self.lengths), len(self.patterns)], np.int64).tofile(stream)
        for part in (self.sizes, self.lengths, self.numbers, self.right, self.patterns):
            stream.write(part.tobytes())

    @classmethod
    def read(cls, stream: IO[bytes]) -> _Batch:
        triples, entities, patterns = np.frombuffer(stream.read(24), np.int64)

        def part(count: int, kind: type) -> np.ndarray:
            return np.frombuffer(stream.read(int(count) * np.dtype(kind).itemsize), kind)

        sizes, lengths = part(triples, np.int64), part(entities, np.int64)
        numbers = part(entities * NUMBERS, np.float32).reshape(int(entities), NUMBERS)
        return cls(sizes, lengths, numbers, part(entities, np.float32), part(patterns, np.uint32))


class LinearReader:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._reading = _Reading()
        self._weights = np.zeros(HASHED, np.float32)
        self._own = np.zeros(NUMBERS, np.float32)

    def fit(self, triples: Iterable[Triple]) -> None:
        """Triples whose answers are no entity of the passage, or whose passage has fewer than two, teach nothing."""
        self._reading.count(triples)
        with TemporaryFile() as stream:
            places = self._spool(triples, stream)
            squares = np.full(HASHED, FIRST_SQUARES, np.float32)
            own_squares = np.full(NUMBERS, 1e-3, np.float32)
            for number in range(PASSES):
                random.Random(f"linear {self._seed} {number}").shuffle(places)
                for place in places:
                    stream.seek(place)
                    self._learn(_Batch.read(stream), squares, own_squares)

    def _spool(self, triples: Iterable[Triple], stream: IO[bytes]) -> list[int]:
        """Where each batch of features begins in the file."""
        places = []
        useful = (found for found in map(self._judged, triples) if found)
        while some := list(islice(useful, BATCH)):
            places.append(stream.tell())
            _Batch.of(some).write(stream)
        return places

    def _judged(self, triple: Triple) -> tuple[_Features, list[bool]] | None:
        answers = set(triple.answers)
        right = [any(surface(triple, each) in answers for each in one) for one in by_entity(triple).values()]
        return (self._reading.features(triple), right) if any(right) and not all(right) else None

    def _learn(self, batch: _Batch, squares: np.ndarray, own_squares: np.ndarray) -> None:
        chances, of = self._chances(batch)
        right = chances * batch.right
        # The softmax's share of each right entity, which sum up to 1, less the share that it has.
        wrong = chances - right / np.maximum(np.bincount(of, right), 1e-9)[of]
        wrong = (wrong / len(batch.sizes)).astype(np.float32)
        own = wrong @ batch.numbers
        own_squares += own**2
        self._own -= RATE * own / np.sqrt(own_squares)
        columns, places = np.unique(batch.patterns, return_inverse=True)
        slopes = np.bincount(places, np.repeat(wrong, batch.lengths)).astype(np.float32) * len(batch.sizes)
        squares[columns] += slopes**2
        self._weights[columns] *= 1 - DECAY
        self._weights[columns] -= RATE * slopes / np.sqrt(squares[columns])

    def _chances(self, batch: _Batch) -> tuple[np.ndarray, np.ndarray]:
        """(the softmax of each entity over those of its triple, the triple of each entity)."""
        of = np.repeat(np.arange(len(batch.sizes)), batch.sizes)
        entity = np.repeat(np.arange(len(batch.lengths)), batch.lengths)
        score: np.ndarray = np.bincount(entity, self._weights[batch.patterns], len(batch.lengths))
        score = score + batch.numbers @ self._own
        most = np.full(len(batch.sizes), -np.inf)
        np.maximum.at(most, of, score)
        raised = np.exp(score - most[of])
        return raised / np.bincount(of, raised)[of], of

    def predict(self, triples: Iterable[Triple]) -> Iterator[Prediction]:
        """The first mention of the likeliest entity; the score is its share of the softmax."""
        for triple in triples:
            entities = list(by_entity(triple).values())
            if not entities:
                yield Prediction("", 0.0)
                continue
            chances, _ = self._chances(_Batch.of([(self._reading.features(triple), [False] * len(entities))]))
            best = int(chances.argmax())
            yield Prediction(surface(triple, entities[best][0]), round(float(chances[best]), 6))


make = LinearReader
