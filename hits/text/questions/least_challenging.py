"""Which incorrect candidate of a question set misleads least: the one that gives way to "None of the above".

Source: L. Huang et al. (2019), Cosmos QA, section 2.4. Three models say how well an answer A continues the paragraph P
and the question Q, the paragraph alone, and the question alone; the least challenging candidate has the smallest sum
s(A|P,Q) + s(A|P) + s(A|Q). The paper fine-tunes BERT's next-sentence model; any `Scorer` serves here. As nobody shall
be judged by a model that has seen the answer, models are trained in cross-validation over whole paragraphs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from hits.refusals import Refused
from hits.text.questions.pairs import Pair


class QuestionSet(Protocol):
    """What a set must have, such as a `hits.formats.inputs.cosmos.QuestionSet`; answers[label] is the correct one."""

    @property
    def key(self) -> str: ...

    @property
    def context(self) -> str: ...

    @property
    def question(self) -> str: ...

    @property
    def answers(self) -> Sequence[str]: ...

    @property
    def label(self) -> int: ...


class Scorer(Protocol):
    """A model of what follows a context. One is made for each fold and view, fitted once, then asked."""

    def fit(self, pairs: Sequence[Pair], follows: Sequence[bool]) -> None:
        """Learn from pairs of which `follows` says whether the answer is the context's correct one."""

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """One number a pair, higher for a better continuation; numbers of all models are added up."""


MakeScorer = Callable[[int], Scorer]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Choice:
    """`index` points into the set's answers; `scores` has, for each incorrect index, those of the `VIEWS`."""

    key: str
    index: int
    scores: dict[int, tuple[float, ...]]


VIEW_NAMES = ("paragraph and question", "paragraph", "question")
VIEWS: tuple[Callable[[QuestionSet], str], ...] = (
    lambda one: f"{one.context}\n{one.question}",
    lambda one: one.context,
    lambda one: one.question,
)


@dataclass(frozen=True)
class ScoredPair:
    """An answer in one view of its context, to be learned from or scored.

    `id` is the set's key, the view's name and the answer's index, with strokes between; `follows` says whether the
    answer is the correct one.
    """

    id: str
    context: str
    answer: str
    follows: bool


def lexical_scorer(seed: int) -> Scorer:
    """The default: logistic regression on hashed words, `hits.text.questions.lexical_scorer.LexicalScorer`."""
    # scikit-learn takes more than a second to import, and most processes never score.
    from hits.text.questions.lexical_scorer import LexicalScorer

    return LexicalScorer(seed)


def _drawn(seed: int, text: str) -> bytes:
    return blake2b(f"{seed} {text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _dealt(sets: Sequence[QuestionSet], folds: int, seed: int) -> list[list[QuestionSet]]:
    """The sets in folds of nearly equal numbers of paragraphs, in an order that depends on seed and texts alone."""
    paragraphs = sorted({one.context for one in sets}, key=lambda context: _drawn(seed, context))
    place = {context: at for at, context in enumerate(paragraphs)}
    dealt: list[list[QuestionSet]] = [[] for _ in range(min(folds, len(paragraphs)))]
    for one in sorted(sets, key=lambda one: (place[one.context], one.key)):
        dealt[place[one.context] % len(dealt)].append(one)
    return dealt


def _faults(sets: Sequence[QuestionSet], folds: int) -> Iterator[str]:
    if folds < 2:
        yield f"cross-validation needs at least 2 folds, not {folds}"
    if len({one.context for one in sets}) < 2:
        yield "a model needs question sets on at least 2 different paragraphs"
    for key, times in Counter(one.key for one in sets).items():
        if times > 1:
            yield f"{times} sets have the key {key!r}"
    for one in sets:
        if len(one.answers) < 2 or not 0 <= one.label < len(one.answers):
            yield f"set {one.key!r} needs a correct candidate and an incorrect one"


def _scores(
    scorer: Scorer, view: Callable[[QuestionSet], str], training: Sequence[QuestionSet], asked: Sequence[QuestionSet]
) -> list[float]:
    """Scores of all candidates of the asked sets, one set after the other."""
    known = [(context, answer) for one in training for context in (view(one),) for answer in one.answers]
    follows = [at == one.label for one in training for at in range(len(one.answers))]
    scorer.fit(known, follows)
    found = scorer.score([(context, answer) for one in asked for context in (view(one),) for answer in one.answers])
    if len(found) != sum(len(one.answers) for one in asked):
        raise Refused(
            "least_challenging_refused",
            "the scorer must give one number for each pair that it is asked about",
            status=400,
        )
    return found


def _choice(one: QuestionSet, scores: Sequence[tuple[float, ...]], seed: int) -> Choice:
    """Candidates with the same sum have the same chance."""
    incorrect = {at: score for at, score in enumerate(scores) if at != one.label}
    smallest = min(sum(score) for score in incorrect.values())
    tied = [at for at, score in incorrect.items() if sum(score) == smallest]
    return Choice(one.key, random.Random(f"least challenging {seed} {one.key}").choice(tied), incorrect)


def _fold(
    training: Sequence[QuestionSet], asked: Sequence[QuestionSet], seed: int, make: MakeScorer
) -> Iterator[Choice]:
    views = [_scores(make(seed), view, training, asked) for view in VIEWS]
    scores = list(zip(*views, strict=True))
    start = 0
    for one in asked:
        end = start + len(one.answers)
        yield _choice(one, scores[start:end], seed)
        start = end


def _all_folds(
    dealt: Sequence[Sequence[QuestionSet]], seed: int, make: MakeScorer, progress: Progress | None
) -> Iterator[Choice]:
    done, total = 0, sum(map(len, dealt))
    for asked in dealt:
        training = [one for fold in dealt if fold is not asked for one in fold]
        yield from _fold(training, asked, seed, make)
        done += len(asked)
        if progress:
            progress(done, total)


def least_challenging(
    sets: Sequence[QuestionSet],
    *,
    seed: int,
    folds: int = 5,
    scorer: MakeScorer = lexical_scorer,
    progress: Progress | None = None,
) -> Iterator[Choice]:
    """One choice for each set, fold by fold; `progress` is called after each with (sets done, sets in all).

    No model is asked about a paragraph that it was trained on. The choices depend on the sets and the seed, not on
    the order of the sets. With fewer paragraphs than folds, each paragraph is a fold. Raises Refused,
    which names every fault at once, before anything is trained.
    """
    if faults := list(_faults(sets, folds)):
        raise Refused("least_challenging_refused", "; ".join(faults), status=400)
    return _all_folds(_dealt(sets, folds, seed), seed, scorer, progress)


def pairs_by_fold(
    sets: Sequence[QuestionSet], *, seed: int, folds: int
) -> Iterator[tuple[Iterator[ScoredPair], Iterator[ScoredPair]]]:
    """(pairs to learn from, pairs to score) of each fold, for a scorer that runs elsewhere.

    The folds are those of `least_challenging`, which also says what is raised.
    """
    if faults := list(_faults(sets, folds)):
        raise Refused("least_challenging_refused", "; ".join(faults), status=400)
    dealt = _dealt(sets, folds, seed)
    for asked in dealt:
        yield _pairs(one for fold in dealt if fold is not asked for one in fold), _pairs(asked)


def _pairs(sets: Iterable[QuestionSet]) -> Iterator[ScoredPair]:
    for one in sets:
        for name, view in zip(VIEW_NAMES, VIEWS, strict=True):
            for at, answer in enumerate(one.answers):
                yield ScoredPair(_pair_id(one, name, at), view(one), answer, at == one.label)


def _pair_id(one: QuestionSet, view: str, at: int) -> str:
    return f"{one.key}/{view}/{at}"


def chosen_by_scores(one: QuestionSet, score: Callable[[str], float], seed: int) -> Choice:
    """What is chosen where a scorer elsewhere gave each pair, by its id, a score."""
    scores = [tuple(score(_pair_id(one, name, at)) for name in VIEW_NAMES) for at in range(len(one.answers))]
    return _choice(one, scores, seed)
