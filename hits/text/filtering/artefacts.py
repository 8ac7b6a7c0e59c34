"""What a data set gives away: how often a simple model is right that is not shown the question, or not the text.

Source: L. Huang et al. (2019), Cosmos QA, section 5.1, Table 4, which compares a large model on answers with the text
alone, with the question alone, and by themselves. The model here is small: a softmax over the candidates of a question
whose weights AdaGrad learns (J. Duchi et al. 2011) for hashed patterns of words, places and lengths. It shows the
plainest patterns; that it finds none does not say that there are none.

At most `MOST` examples of each part are used, read anew in each pass, so time and memory are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from hits.text.language.words import FUNCTION_WORDS, words

MOST = 3000
HASHED = 2**18
PASSES, RATE = 3, 0.1
LONGEST = 12
# What the model is shown beside the candidates, by the name of the check.
VIEWS: Mapping[str, tuple[bool, bool]] = {
    "question_blind": (True, False),
    "text_blind": (False, True),
    "answers_alone": (False, False),
}


@dataclass(frozen=True)
class Example:
    """`right` are the places of the right ones among the candidates."""

    text: str
    question: str
    candidates: Sequence[str]
    right: frozenset[int]


Part = Callable[[], Iterable[Example]]


def tested(parts: Mapping[str, Part], train: str = "train") -> dict[str, Any]:
    """{view: {part: {"right", "n", "chance"}}, "trained_on": examples}; empty without a part to be tested on.

    `parts` give their examples anew each time. `right` of `n` are right; `chance` is the share that a blind guess has.
    """
    trained_on = sum(1 for _ in _some(parts[train]))
    found: dict[str, Any] = {"trained_on": trained_on}
    for view in VIEWS:
        weights = _learned(parts[train], view)
        of = {name: _tested(part, weights, view) for name, part in parts.items() if name != train}
        found[view] = {name: figures for name, figures in of.items() if figures}
    return found if trained_on and found["text_blind"] else {}


def _some(part: Part) -> Iterator[Example]:
    """At most MOST examples, from all over the part."""
    total = sum(1 for _ in part())
    step = max(1, -(-total // MOST))
    return (example for at, example in enumerate(part()) if at % step == 0 and len(example.candidates) > 1)


def _learned(part: Part, view: str) -> np.ndarray:
    weights, squares = np.zeros(HASHED, np.float32), np.full(HASHED, 1e-2, np.float32)
    for _ in range(PASSES):
        for example in _some(part):
            patterns = _patterns(example, view)
            likely = _likely(patterns, weights)
            wanted = np.zeros(len(patterns))
            wanted[sorted(example.right)] = 1 / len(example.right)
            for columns, slope in zip(patterns, wanted - likely, strict=True):
                squares[columns] += slope * slope
                weights[columns] += RATE * slope / np.sqrt(squares[columns])
    return weights


def _likely(patterns: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    scores = np.array([weights[columns].sum() for columns in patterns], np.float64)
    powers = np.exp(scores - scores.max())
    likely: np.ndarray = powers / powers.sum()
    return likely


def _tested(part: Part, weights: np.ndarray, view: str) -> dict[str, float]:
    right, n, chance = 0, 0, 0.0
    for example in _some(part):
        likely = _likely(_patterns(example, view), weights)
        right += int(likely.argmax()) in example.right
        chance += len(example.right) / len(example.candidates)
        n += 1
    if not n:
        return {}
    return {"right": right, "n": n, "chance": chance / n}


def _patterns(example: Example, view: str) -> list[np.ndarray]:
    """The columns of each candidate."""
    sees_text, sees_question = VIEWS[view]
    listed = [words(candidate)[:LONGEST] for candidate in example.candidates]
    lengths = sorted(len(candidate) for candidate in example.candidates)
    text = words(example.text) if sees_text else []
    places = {word: at for at, word in reversed(list(enumerate(text)))}
    asked = [word for word in words(example.question) if word not in FUNCTION_WORDS] if sees_question else []
    first = " ".join(words(example.question)[:2]) if sees_question else ""
    found = []
    for candidate, own in zip(example.candidates, listed, strict=True):
        names = [f"word {word}" for word in own]
        names += [f"length {min(len(own), LONGEST)}", f"rank {lengths.index(len(candidate))}"]
        if sees_text:
            names += _of_text(own, text, places)
        if sees_question:
            names += [f"pair {one} {word}" for one in asked[:LONGEST] for word in own]
            names += [f"first {first} {word}" for word in own]
            names += [f"shared {sum(word in asked for word in own)}"]
        columns = {crc32(name.encode("utf-8", "surrogatepass")) % HASHED for name in names}
        found.append(np.array(sorted(columns), np.int64))
    return found


def _of_text(own: Sequence[str], text: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """How many of the candidate's words the text has, how often, and where first."""
    content = [word for word in own if word not in FUNCTION_WORDS]
    there = [word for word in content if word in places]
    share = round(4 * len(there) / len(content)) if content else 0
    often = min(max((text.count(word) for word in there), default=0), 8)
    where = min((places[word] for word in there), default=-1)
    tenth = 10 * where // len(text) if where >= 0 else "none"
    return [f"share {share}", f"often {often}", f"where {tenth}"]
