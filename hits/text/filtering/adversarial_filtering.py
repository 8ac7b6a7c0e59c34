"""Which incorrect answer of each question is taken: the one that a shallow classifier can hardly tell from a right one.

Source: S. Ostermann et al. (2019), MCScript2.0, section 3.4 and algorithm 1 in appendix A.4, after R. Zellers et al.
(2018), SWAG. Each question starts with an incorrect answer drawn at random. In each iteration the texts are shuffled
and split into batches, and all questions of a text are in its batch. For each batch, a classifier learns to tell the
correct from the assigned incorrect answers of all other texts; then every question of the batch is assigned the one
that the classifier finds most likely to be correct. That ends when few assignments changed, or no fewer than in the
iteration before.

Where the paper leaves a choice:
- A batch is trained with what earlier batches of the same iteration were assigned, as the algorithm is written.
- Of candidates with the same score the first is assigned.
- When the number of changes rises, the newest assignment stands, as in the algorithm, which keeps no older one.
- There are always two batches: with fewer texts than that takes, batches are smaller.
- A question with one incorrect answer keeps it and teaches the classifier; one with none is left out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from typing import Any, Literal, Protocol

from hits.refusals import Refused
from hits.text.filtering.filtered_question import FilteredQuestion

Json = dict[str, Any]
NO_CANDIDATE = "no incorrect answer is left"


@dataclass(frozen=True)
class Batch:
    """A batch was done, the first of an iteration being 1. `changed` counts what changed in the iteration so far.

    `done` of `total` trainings are over, if it takes the most iterations; mostly it takes far fewer. Iteration 0
    measures the random start.
    """

    iteration: int
    batch: int
    batches: int
    changed: int
    done: int
    total: int


@dataclass(frozen=True)
class Iteration:
    """`entry` is {"iteration", "changed", "accuracy", "accuracy_after"}; from `checkpoint` the work can go on.

    Accuracies are the classifier's on batches that it did not learn from: how often it finds the correct answer more
    likely than the assigned incorrect one, before and after the batch got new ones; equal scores count a half. Below
    one half, incorrect answers look the better ones: where there is little to learn from, it nears one in (1 +
    candidates), as the best of several mostly beats one. Entry 0 is about the random start, in which every question
    "changed".
    """

    entry: Json
    checkpoint: Json


Ending = Literal["few changed", "no fewer changed", "most iterations"]


@dataclass(frozen=True)
class Result:
    """`assigned` has the index into `incorrect` by the question's key, `left_out` a reason by key."""

    assigned: dict[str, int]
    iterations: int
    ended: Ending
    left_out: dict[str, str] = field(default_factory=dict)


class Classifier(Protocol):
    """Knows the questions by their places; fitted anew for each batch."""

    def fit(self, questions: Sequence[int], assigned: Sequence[int]) -> None:
        """Learn to tell the correct answers of these questions from their assigned incorrect ones."""

    def scores(self, questions: Sequence[int]) -> Sequence[Sequence[float]]:
        """For each question one number for the correct answer, then one for each incorrect; higher is likelier."""


MakeClassifier = Callable[[Sequence[FilteredQuestion]], Classifier]


@dataclass(frozen=True)
class AskedAnswer:
    """An answer, to be learned from or scored elsewhere.

    `id` is the question's key with "correct" or the index of the incorrect answer, with a stroke between.
    """

    id: str
    text: str
    question: str
    answer: str
    correct: bool


def logistic(questions: Sequence[FilteredQuestion]) -> Classifier:
    """The default, `hits.text.filtering.filtering_classifier.LogisticClassifier`."""
    # scikit-learn takes more than a second to import, and most processes never filter.
    from hits.text.filtering.filtering_classifier import LogisticClassifier

    return LogisticClassifier(questions)


def filter_answers(
    questions: Sequence[FilteredQuestion],
    *,
    seed: int,
    batch: int = 250,
    stop_at: int = 50,
    most_iterations: int = 30,
    checkpoint: Json | None = None,
    classifier: MakeClassifier = logistic,
) -> Iterator[Batch | Iteration | Result]:
    """A Batch after each training, an Iteration after each pass over all texts, and the Result last.

    `batch` counts texts, `stop_at` changed assignments. The same questions in any order, numbers and seed give the
    same values, also when it goes on from a checkpoint; one that belongs to others is left aside, and the work begins
    anew. Raises Refused before anything is trained.
    """
    if faults := list(_faults(questions, batch, most_iterations)):
        raise Refused("too_little_to_filter", "; ".join(faults))
    ordered = sorted(questions, key=lambda one: (one.text_key, one.key))
    left_out = {one.key: NO_CANDIDATE for one in ordered if not one.incorrect}
    fit = [one for one in ordered if one.incorrect]
    work = _Filtering(fit, seed, batch, most_iterations, classifier)
    return work.run(stop_at, left_out, checkpoint)


def _faults(questions: Sequence[FilteredQuestion], batch: int, most_iterations: int) -> Iterator[str]:
    if batch < 1 or most_iterations < 1:
        yield f"batch and most_iterations must be 1 or more, not {batch} and {most_iterations}"
    if len({one.text_key for one in questions if one.incorrect}) < 2:
        yield "a classifier needs questions with incorrect answers about at least 2 texts"
    for key, times in Counter(one.key for one in questions).items():
        if times > 1:
            yield f"{times} questions have the key {key!r}"
    texts: dict[str, str] = {}
    for one in questions:
        if texts.setdefault(one.text_key, one.text) != one.text:
            yield f"question {one.key!r} has another text than others of {one.text_key!r}"


def _digest(questions: Sequence[FilteredQuestion], *others: object) -> str:
    digest = blake2b(repr(others).encode(), digest_size=16)
    for one in questions:
        digest.update(repr(astuple(one)).encode())
    return digest.hexdigest()


def _at_random(one: FilteredQuestion, seed: int) -> int:
    return random.Random(f"filter {seed} {one.key}").randrange(len(one.incorrect))


class _Filtering:
    """One run: the questions, what is assigned to each, and how many changed in each iteration."""

    def __init__(
        self, questions: Sequence[FilteredQuestion], seed: int, batch: int, most: int, make: MakeClassifier
    ) -> None:
        self._questions = questions
        self._seed = seed
        self._places: dict[str, list[int]] = {}
        for place, one in enumerate(questions):
            self._places.setdefault(one.text_key, []).append(place)
        self._size = min(batch, (len(self._places) + 1) // 2)
        self._batches = -(-len(self._places) // self._size)
        self._most = most
        self._of = _digest(questions, seed, self._size)
        self._make = make
        self._assigned = [_at_random(one, seed) for one in questions]
        self._changed: list[int] = []

    def run(
        self, stop_at: int, left_out: dict[str, str], checkpoint: Json | None
    ) -> Iterator[Batch | Iteration | Result]:
        self._restore(checkpoint)
        if not (ended := self._ended(stop_at)):
            classifier = self._make(self._questions)
            while not ended:
                yield from self._iterate(classifier)
                ended = self._ended(stop_at)
        keys = [one.key for one in self._questions]
        assigned = dict(zip(keys, self._assigned, strict=True))
        yield Result(assigned, len(self._changed) - 1, ended, left_out)

    def _restore(self, checkpoint: Json | None) -> None:
        if checkpoint is not None and checkpoint.get("of") == self._of:
            self._assigned = list(checkpoint["assigned"])
            self._changed = list(checkpoint["changed"])

    def _ended(self, stop_at: int) -> Ending | None:
        """The random start is number 0 in `_changed` and ends nothing."""
        changed = self._changed[1:]
        if changed and changed[-1] <= stop_at:
            return "few changed"
        if len(changed) > 1 and changed[-1] >= changed[-2]:
            return "no fewer changed"
        return "most iterations" if len(changed) >= self._most else None

    def _dealt(self, iteration: int) -> Iterator[list[int]]:
        """The places of the questions of each batch."""
        texts = sorted(self._places)
        random.Random(f"filter {self._seed} iteration {iteration}").shuffle(texts)
        for start in range(0, len(texts), self._size):
            yield [place for text in texts[start : start + self._size] for place in self._places[text]]

    def _iterate(self, classifier: Classifier) -> Iterator[Batch | Iteration]:
        iteration = len(self._changed)
        changed, before, after = 0, 0.0, 0.0
        for number, held_out in enumerate(self._dealt(iteration), start=1):
            scores = self._judged(classifier, held_out)
            before += self._told_apart(held_out, scores)
            # The start is only measured.
            changed += self._assign(held_out, scores) if iteration else len(held_out)
            after += self._told_apart(held_out, scores)
            done, total = iteration * self._batches + number, (self._most + 1) * self._batches
            yield Batch(iteration, number, self._batches, changed, done, total)
        self._changed.append(changed)
        n = len(self._questions)
        accuracy = {"accuracy": round(before / n, 6), "accuracy_after": round(after / n, 6)}
        yield Iteration({"iteration": iteration, "changed": changed, **accuracy}, self._checkpoint())

    def _judged(self, classifier: Classifier, held_out: Sequence[int]) -> Sequence[Sequence[float]]:
        hidden = set(held_out)
        others = [place for place in range(len(self._questions)) if place not in hidden]
        classifier.fit(others, [self._assigned[place] for place in others])
        return classifier.scores(held_out)

    def _told_apart(self, places: Sequence[int], scores: Sequence[Sequence[float]]) -> float:
        """Of how many questions the correct answer has the higher score."""
        pairs = ((own[0], own[1 + self._assigned[place]]) for place, own in zip(places, scores, strict=True))
        return sum(_told(correct, incorrect) for correct, incorrect in pairs)

    def _assign(self, places: Sequence[int], scores: Sequence[Sequence[float]]) -> int:
        """How many changed."""
        changed = 0
        for place, (_, *incorrect) in zip(places, scores, strict=True):
            likeliest = incorrect.index(max(incorrect))
            changed += likeliest != self._assigned[place]
            self._assigned[place] = likeliest
        return changed

    def _checkpoint(self) -> Json:
        return {"of": self._of, "assigned": list(self._assigned), "changed": list(self._changed)}


# A classifier elsewhere: each round trip of its files is an iteration


def started(questions: Sequence[FilteredQuestion], taken: Mapping[str, str], seed: int) -> dict[str, int]:
    """What is assigned to each question: the incorrect answer that was `taken` last, by key, or one at random."""
    return {
        one.key: one.incorrect.index(taken[one.key]) if taken.get(one.key) in one.incorrect else _at_random(one, seed)
        for one in questions
        if one.incorrect
    }


def answers_by_batch(
    questions: Sequence[FilteredQuestion], assigned: Mapping[str, int], *, seed: int, batch: int
) -> Iterator[tuple[Iterator[AskedAnswer], Iterator[AskedAnswer]]]:
    """(answers to learn from, answers to score) of each batch of texts.

    Learned from are the correct and the assigned incorrect answer of all other texts; all answers are scored.
    """
    if faults := list(_faults(questions, batch, 1)):
        raise Refused("too_little_to_filter", "; ".join(faults))
    fit = sorted((one for one in questions if one.incorrect), key=lambda one: (one.text_key, one.key))
    texts = sorted({one.text_key for one in fit})
    random.Random(f"filter {seed} files").shuffle(texts)
    size = min(batch, (len(texts) + 1) // 2)
    for start in range(0, len(texts), size):
        held_out = set(texts[start : start + size])
        learned = (each for one in fit if one.text_key not in held_out for each in _taught(one, assigned[one.key]))
        asked = (one for one in fit if one.text_key in held_out)
        # In the order of their texts: neither it nor the ids say which is correct.
        yield learned, (each for one in asked for each in sorted(_every(one), key=lambda each: each.answer))


def _taught(one: FilteredQuestion, at: int) -> Iterator[AskedAnswer]:
    every = _every(one)
    yield from (every[0], every[1 + at])


def _every(one: FilteredQuestion) -> list[AskedAnswer]:
    """The correct answer, then the others; the ids number them in the order of their texts."""
    answers = [one.correct, *one.incorrect]
    numbers = {at: number for number, at in enumerate(sorted(range(len(answers)), key=answers.__getitem__))}
    return [
        AskedAnswer(f"{one.key}/{numbers[at]}", one.text, one.question, answer, at == 0)
        for at, answer in enumerate(answers)
    ]


def assigned_by_scores(
    questions: Sequence[FilteredQuestion], before: Mapping[str, int], score: Callable[[str], float]
) -> tuple[dict[str, int], Json]:
    """(the likeliest incorrect answer of each question, an entry as `Iteration` has), by scores of a classifier.

    `score` is asked once about each answer, by its id; of incorrect ones with the same score the first is assigned.
    """
    after: dict[str, int] = {}
    told_before = told_after = 0.0
    for one in questions:
        if one.incorrect:
            correct, *incorrect = [score(each.id) for each in _every(one)]
            after[one.key] = incorrect.index(max(incorrect))
            told_before += _told(correct, incorrect[before[one.key]])
            told_after += _told(correct, max(incorrect))
    n = max(len(after), 1)
    changed = sum(at != before[key] for key, at in after.items())
    return after, {
        "changed": changed,
        "accuracy": round(told_before / n, 6),
        "accuracy_after": round(told_after / n, 6),
    }


def _told(correct: float, incorrect: float) -> float:
    return (correct > incorrect) + (correct == incorrect) / 2
