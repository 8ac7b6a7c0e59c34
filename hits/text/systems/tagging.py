"""Systems that mark spans of a text, by tags of its tokens. See `hits.text.language.token_tags`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from sklearn_crfsuite import CRF

from hits.text.language.token_tags import OUTSIDE, Span, flat, tagged, tokens, untagged
from hits.text.systems import System, Tagged

# Strength of the L1 and L2 penalties, and the steps of L-BFGS: usual ones for names in news.
L1, L2, STEPS = 0.1, 0.1, 50
# A million tokens take about 250 MB. Learning takes a minute or two for so many tokens times tags, of which each label
# has two.
MOST_TOKENS = 1_000_000
MOST_TOKENS_TIMES_TAGS = 10_000_000
SUFFIXES = (2, 3)
AROUND = (-2, -1, 1, 2)
EDGE = "|"


def _words(row: Tagged) -> list[str]:
    return [row.text[start:end] for start, end in tokens(row.text)]


def _tags(row: Tagged) -> list[str]:
    return tagged(tokens(row.text), flat(row.right or ()))


def _majority(learned: Sequence[Tagged], asked: Sequence[Tagged], seed: int) -> Sequence[tuple[Span, ...]]:
    """A word outside what is learned is in no span; of equally common tags O comes first, then the alphabet decides."""
    counts: dict[str, Counter[str]] = {}
    for row in learned:
        for word, tag in zip(_words(row), _tags(row), strict=True):
            counts.setdefault(word.lower(), Counter())[tag] += 1
    most = {word: min(found, key=lambda tag: (-found[tag], tag != OUTSIDE, tag)) for word, found in counts.items()}
    return [untagged(tokens(row.text), [most.get(word.lower(), OUTSIDE) for word in _words(row)]) for row in asked]


@lru_cache(maxsize=2**16)
def _own(word: str) -> tuple[str, ...]:
    """Patterns of a word alone: what it is, its shape and how it ends."""
    low = word.lower()
    return (f"w {low}", f"s {_shape(word)}", *(f"e {low[-length:]}" for length in SUFFIXES))


@lru_cache(maxsize=2**16)
def _shape(word: str) -> str:
    """`Xx` of Linden, `d` of 1850, `Xx'x` of Mara's: kinds of characters, each row of one kind once."""
    kinds = ("X" if sign.isupper() else "x" if sign.isalpha() else "d" if sign.isdigit() else sign for sign in word)
    return "".join(kind for kind, _ in groupby(kinds))


def _patterns(row: Tagged) -> list[list[str]]:
    """Of each token: its own, and the words and shapes around it."""
    found = _words(row)
    low, shapes = [word.lower() for word in found], [_shape(word) for word in found]
    return [[*_own(word), *_around(low, shapes, at)] for at, word in enumerate(found)]


def _around(low: Sequence[str], shapes: Sequence[str], at: int) -> Iterator[str]:
    for step in AROUND:
        inside = 0 <= at + step < len(low)
        yield f"{step} {low[at + step] if inside else EDGE}"
        if abs(step) == 1 and inside:
            yield f"{step}s {shapes[at + step]}"


def _drawn(learned: Sequence[Tagged], seed: int) -> list[Tagged]:
    """Texts in a random order, as many as are learned from within the limits, and one at least."""
    labels = {label for row in learned for _, _, label in row.right or ()}
    most = min(MOST_TOKENS, MOST_TOKENS_TIMES_TAGS // (1 + 2 * len(labels)))
    drawn: list[Tagged] = []
    count = 0
    for row in random.Random(f"crf {seed}").sample(learned, len(learned)):
        count += len(tokens(row.text))
        if drawn and count > most:
            break
        drawn.append(row)
    return drawn


def _crf(learned: Sequence[Tagged], asked: Sequence[Tagged], seed: int) -> Sequence[tuple[Span, ...]]:
    """A whole text is one sequence, as a span may go on in the next sentence. No spans where none is learned."""
    drawn = _drawn(learned, seed)
    # CRFsuite ends the process where it has no token to learn from.
    if all(tag == OUTSIDE for row in drawn for tag in _tags(row)):
        return [() for _ in asked]
    model = CRF(algorithm="lbfgs", c1=L1, c2=L2, max_iterations=STEPS)
    # Made row by row: the patterns of all texts as words would take several times what they take as numbers.
    model.fit(map(_patterns, drawn), map(_tags, drawn))
    return [untagged(tokens(row.text), model.predict_single(_patterns(row))) for row in asked]


SYSTEMS: tuple[System[Tagged], ...] = (
    System("majority", "Most common tag of each word", "counted in what is learned", _majority),
    System(
        "crf",
        "Linear conditional random field",
        "J. Lafferty et al. (2001), Conditional random fields; CRFsuite (N. Okazaki, 2007), patterns of words, their "
        "shapes, ends and neighbours",
        _crf,
    ),
)
