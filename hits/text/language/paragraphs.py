"""Context paragraphs for questions: short runs of sentences that belong together, one from each story.

Source: L. Huang et al. (2019), Cosmos QA, section 2.1 and appendix A. A story is cut between the neighbouring sentences
that fit together least, until every piece is short enough. The paper scores neighbours with BERT's next-sentence
model; any `Scorer` serves here, and the default counts what two sentences share.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

import snowballstemmer

from hits.text.language.sentences import Sentence, sentences
from hits.text.language.words import content_words, words

Scorer = Callable[[str, str], float]
"""How well the second sentence continues the first: higher is better, on any scale."""

# How much a cue weighs beside the overlap, which lies within 0..1: a choice of ours.
_CUE = 0.25
_BACK_WORDS = "he she it they him her them his hers its their this that these those such"
_LOOKS_BACK = frozenset(_BACK_WORDS.split())
_JOINING_WORDS = """
    and but or so then because however therefore also afterwards afterward later meanwhile instead anyway still
    finally eventually suddenly otherwise besides thus after when
"""
_CONNECTS = frozenset(_JOINING_WORDS.split())


class Story(Protocol):
    """What is needed of a story, such as a `hits.formats.inputs.stories.Story`."""

    @property
    def key(self) -> str: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Paragraph:
    """story.text[start:end], a run of whole sentences; `words` and `sentences` are counts."""

    start: int
    end: int
    text: str
    words: int
    sentences: int


@dataclass(frozen=True)
class _Counted:
    sentence: Sentence
    words: int


_Run = Sequence[_Counted]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    # A stemmer holds the word it works on, so threads cannot share one.
    stem: str = snowballstemmer.stemmer("english").stemWord(word)
    return stem


def _overlap(first: str, second: str) -> float:
    """Dice coefficient of the stems of content words, 0..1; 0 where one has none."""
    one, other = ({_stem(word) for word in content_words(text)} for text in (first, second))
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def lexical_coherence(first: str, second: str) -> float:
    """The share of common word stems (Dice), raised by cues that the second sentence leans on the first; 0..1.75.

    The cues: it begins with a connective, it speaks of somebody or something by a pronoun, or it follows a question.
    """
    heard = words(second)
    cues = (
        bool(heard) and heard[0] in _CONNECTS,
        not _LOOKS_BACK.isdisjoint(heard[:4]),
        first.rstrip("\"'\u201d\u2019) ").endswith("?"),
    )
    return _overlap(first, second) + _CUE * sum(cues)


def no_coherence(first: str, second: str) -> float:
    """All sentences fit together alike, so that a story is cut nearest to its middle."""
    return 0.0


COHERENCE: Mapping[str, Scorer] = MappingProxyType({"lexical": lexical_coherence, "middle": no_coherence})
"""Scorers by name."""


def _length(run: _Run) -> int:
    return sum(counted.words for counted in run)


def _runs(counted: _Run, high: int) -> list[_Run]:
    """The sentences between those that are too long for any paragraph."""
    runs: list[list[_Counted]] = [[]]
    for one in counted:
        if one.words > high:
            runs.append([])
        else:
            runs[-1].append(one)
    return [run for run in runs if run]


def _cut(run: _Run, scores: Sequence[float], low: int) -> int:
    """The number of sentences before the cut: lowest score, then nearest to the middle.

    Cuts that leave at least `low` words on both sides come first.
    """
    total, before, places = _length(run), 0, []
    for at in range(1, len(run)):
        before += run[at - 1].words
        lopsided = min(before, total - before) < low
        places.append((lopsided, scores[at - 1], abs(total - 2 * before), at))
    return min(places)[-1]


def _pieces(run: _Run, scores: Sequence[float], low: int, high: int) -> list[_Run]:
    """The run cut until no piece is longer than `high`. A list of work instead of recursion: stories may be long."""
    done, waiting = [], [(run, scores)]
    while waiting:
        piece, own = waiting.pop()
        if _length(piece) <= high:
            done.append(piece)
            continue
        at = _cut(piece, own, low)
        waiting += [(piece[at:], own[at:]), (piece[:at], own[: at - 1])]
    return done


def _paragraph(text: str, piece: _Run) -> Paragraph:
    start, end = piece[0].sentence.start, piece[-1].sentence.end
    return Paragraph(start, end, text[start:end], _length(piece), len(piece))


def paragraphs(text: str, *, scorer: Scorer = lexical_coherence, low: int = 30, high: int = 150) -> list[Paragraph]:
    """Every piece of `low` to `high` words, in order of the text; what is left between them fits no length.

    The scorer is asked once for each two neighbouring sentences. Raises ValueError unless 0 < 2 * low <= high:
    a text that is too long must leave a fitting half wherever it is cut.
    """
    if not 0 < 2 * low <= high:
        raise ValueError(f"low must be above 0 and high at least twice as much, not {low} and {high}")
    counted = [_Counted(sentence, len(words(sentence.text))) for sentence in sentences(text)]
    pieces: list[_Run] = []
    for run in _runs(counted, high):
        scores = [scorer(a.sentence.text, b.sentence.text) for a, b in zip(run, run[1:], strict=False)]
        pieces += _pieces(run, scores, low, high)
    return [_paragraph(text, piece) for piece in pieces if _length(piece) >= low]


def paragraph_of(
    story: Story, *, seed: int, scorer: Scorer = lexical_coherence, low: int = 30, high: int = 150
) -> Paragraph | None:
    """One paragraph, each with the same chance: a function of the story, its key and the seed alone.

    None where no run of whole sentences has a fitting length. Raises ValueError as `paragraphs` does.
    """
    fitting = paragraphs(story.text, scorer=scorer, low=low, high=high)
    return random.Random(f"paragraph {seed} {story.key}").choice(fitting) if fitting else None
