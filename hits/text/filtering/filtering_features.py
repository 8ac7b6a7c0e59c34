"""What a shallow classifier sees of an answer to a question about a text: lengths, literal overlap, word patterns.

Source: S. Ostermann et al. (2019), MCScript2.0, section 5.1, after E. Merkhofer et al. (2018), MITRE at SemEval-2018
task 11. Three families, in the columns of one sparse matrix:
1. lengths of text, question and answer, in words and in characters;
2. overlap: of answer and text, answer and question, question and text, how many different words and word pairs of the
   first the second has too, and what share of them that is;
3. binary patterns, hashed: words of the answer, those of them that the text has too and those that it has not, words
   of the question, and each word of the question with each of the answer. Those of fewer than three texts are left out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import log1p

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import FeatureHasher

from hits.text.language.words import words

HASHED = 2**20
# A pattern of one text tells nothing about another one, and one of two hardly anything.
LEAST_TEXTS = 3
NUMBERS = 18
# Logarithms are divided by this, so that the lengths of usual texts lie between 0 and 1 as the other features do.
_SCALE = 8.0


@dataclass(frozen=True)
class _Read:
    """A text, question or answer: its length in words and characters, and its different words and word pairs."""

    words: int
    characters: int
    types: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> _Read:
        found = words(text)
        return cls(len(found), len(text), frozenset(found), frozenset(pairwise(found)))


@dataclass(frozen=True)
class Asked:
    """A question about a text, with the answers to it that get a row each."""

    text_key: str
    text: str
    question: str
    answers: Sequence[str]


def _scaled(count: int) -> float:
    return log1p(count) / _SCALE


def _shared(one: frozenset[object], other: frozenset[object]) -> tuple[float, float]:
    common = len(one & other)
    return _scaled(common), common / len(one) if one else 0.0


def _numbers(text: _Read, question: _Read, answer: _Read) -> Iterator[float]:
    for each in (text, question, answer):
        yield from (_scaled(each.words), _scaled(each.characters))
    for one, other in ((answer, text), (answer, question), (question, text)):
        yield from _shared(one.types, other.types)
        yield from _shared(one.pairs, other.pairs)


def _patterns(text: _Read, question: _Read, answer: _Read) -> Iterator[str]:
    for word in answer.types:
        yield f"a {word}"
        yield f"{'t' if word in text.types else 'n'} {word}"
    for asked in question.types:
        yield f"q {asked}"
        for word in answer.types:
            yield f"{asked} {word}"


def _rows(text: str, asked: Iterable[Asked]) -> Iterator[tuple[list[float], list[str]]]:
    """The numbers and patterns of each answer to the questions about one text."""
    read = _Read.of(text)
    for one in asked:
        question = _Read.of(one.question)
        for written in one.answers:
            answer = _Read.of(written)
            yield list(_numbers(read, question, answer)), list(_patterns(read, question, answer))


def features(asked: Iterable[Asked]) -> csr_matrix:
    """(answers, columns) of 32-bit numbers, a row for each answer in order; questions must come text by text.

    The first NUMBERS columns are lengths and overlaps, the others patterns. Beside the matrix, the answers about one
    text are in memory at a time. Patterns that fall into one column count once.
    """
    hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=False, dtype=np.float32)
    # Arrays grow in place, where putting blocks together would need all of them twice.
    columns, values, ends = array("i"), array("f"), array("q", [0])
    texts = np.zeros(NUMBERS + HASHED, np.int32)
    for _, group in groupby(asked, key=lambda one: one.text_key):
        questions = list(group)
        rows = list(_rows(questions[0].text, questions))
        if not rows:
            continue
        hashed = hasher.transform(patterns for _, patterns in rows)
        texts[np.unique(hashed.indices) + NUMBERS] += 1
        for at, (numbers, _) in enumerate(rows):
            found = np.sort(hashed.indices[hashed.indptr[at] : hashed.indptr[at + 1]])
            columns.extend(range(NUMBERS))
            columns.frombytes((found.astype(np.int32) + NUMBERS).tobytes())
            values.extend(numbers)
            values.frombytes(np.ones(len(found), np.float32).tobytes())
            ends.append(len(columns))
    parts = (np.frombuffer(values, np.float32), np.frombuffer(columns, np.int32), np.frombuffer(ends, np.int64))
    found = csr_matrix(parts, shape=(len(ends) - 1, len(texts)))
    texts[:NUMBERS] = LEAST_TEXTS
    return found[:, texts >= LEAST_TEXTS]
