"""Texts that share their wording: copied stories, stories pasted together from others, and passages told twice.

Source: A. Broder (1997), On the resemblance and containment of documents. A passage here is a run of five words (a
"shingle"); S(a) is the set of a text's different passages. Resemblance is |S(a) & S(b)| / |S(a) | S(b)| (Jaccard),
containment of a in b is |S(a) & S(b)| / |S(a)|. Sets are compared exactly: a scenario has some twenty stories, two
hundred at most, for which sketches such as MinHash would cost accuracy and save nothing. Case, spacing and
punctuation make no difference (`hits.text.language.words`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Generic, TypeVar

from hits.text.language.words import placed, words
from hits.text.questions.hiding import merged

SIZE = 5

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Similar(Generic[Key]):
    """Another text: which share of this one's passages it has too, 0..1, and how much the two resemble, 0..1."""

    key: Key
    contained: float
    resemblance: float


@dataclass(frozen=True)
class Piece:
    """A run of a text that stands in the other one too, or does not."""

    text: str
    shared: bool


@dataclass(frozen=True)
class Repeats:
    """The share of a text's words, 0..1, that lie in a passage told before in it, and the first such, as written."""

    share: float
    passage: str


def passages(text: str) -> frozenset[str]:
    """All runs of five words; of a shorter text the whole; none where there is no word."""
    return frozenset(_runs(words(text)))


def contained(text: str, other: str) -> float:
    """The share of the text's different passages that the other one has too, 0..1; 0 for a text without words."""
    own = passages(text)
    return len(own & passages(other)) / len(own) if own else 0.0


def similar(texts: Mapping[Key, str], *, least: float, most: int = 3) -> dict[Key, list[Similar[Key]]]:
    """For every text the others that contain at least this share of it (0..1), at most so many.

    The largest share comes first, and of equal ones the text that stands first. A text like no other one is left out.
    Time and memory grow with the number of passages, as long as texts do not share most of them.
    """
    found = {key: passages(text) for key, text in texts.items()}
    holders: dict[str, list[Key]] = defaultdict(list)
    for key, own in found.items():
        for passage in own:
            holders[passage].append(key)
    near = {key: _nearest(key, found, holders, least)[:most] for key in found}
    return {key: others for key, others in near.items() if others}


def longest_common(text: str, other: str) -> str:
    """The longest run of words that both have, as the first one writes it; empty where no word is shared."""
    own = placed(text)
    matcher = SequenceMatcher(None, [word for word, _, _ in own], words(other), autojunk=False)
    run = matcher.find_longest_match()
    return text[own[run.a][1] : own[run.a + run.size - 1][2]] if run.size else ""


def marked(text: str, other: str) -> list[Piece]:
    """The whole text in order, in runs that lie in passages of the other one and runs that do not."""
    theirs = passages(other)
    own = placed(text)
    size = min(SIZE, len(own))
    spans = [
        (own[at][1], own[at + size - 1][2])
        for at, passage in enumerate(_runs([word for word, _, _ in own]))
        if passage in theirs
    ]
    return [piece for piece in _pieces(text, merged(spans, len(text))) if piece.text]


def repeats(text: str) -> Repeats:
    """What a text says more than once. One that stands twice in itself has a share of one half."""
    own = placed(text)
    seen: set[str] = set()
    again: list[int] = []
    for at, passage in enumerate(_runs([word for word, _, _ in own])):
        if passage in seen:
            again.append(at)
        seen.add(passage)
    told = {place for at in again for place in range(at, min(at + SIZE, len(own)))}
    first = text[own[again[0]][1] : own[again[0] + SIZE - 1][2]] if again else ""
    return Repeats(len(told) / len(own) if own else 0.0, first)


def _runs(found: list[str]) -> Iterator[str]:
    """Runs of five words in order, overlapping; a shorter text is one run. Words hold no space, so none is mistaken."""
    if 0 < len(found) < SIZE:
        yield " ".join(found)
    for at in range(len(found) - SIZE + 1):
        yield " ".join(found[at : at + SIZE])


def _nearest(
    key: Key, found: Mapping[Key, frozenset[str]], holders: Mapping[str, list[Key]], least: float
) -> list[Similar[Key]]:
    own = found[key]
    shared: Counter[Key] = Counter()
    for passage in own:
        shared.update(holders[passage])
    del shared[key]
    near = [
        Similar(other, number / len(own), number / (len(own) + len(found[other]) - number))
        for other, number in shared.items()
        if number >= least * len(own)
    ]
    places = {other: at for at, other in enumerate(found)} if len(near) > 1 else {}
    return sorted(near, key=lambda one: (-one.contained, places.get(one.key, 0)))


def _pieces(text: str, spans: list[tuple[int, int]]) -> Iterator[Piece]:
    at = 0
    for start, end in spans:
        yield Piece(text[at:start], shared=False)
        yield Piece(text[start:end], shared=True)
        at = end
    yield Piece(text[at:], shared=False)
