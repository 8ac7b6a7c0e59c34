import json
import random
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.optimize import minimize

from hits.text.filtering import filtering_classifier, filtering_features
from hits.text.filtering.adversarial_filtering import Batch, Iteration, Result, filter_answers
from hits.text.filtering.filtered_question import FilteredQuestion
from hits.text.language.words import words
from tests.hits.doing import refused

WORDS = ["river", "lamp", "uncle", "bread", "ticket", "snow", "violin", "ladder", "coat", "market"]


def some_questions(texts, each=3, most=4, seed=5):
    """Correct answers prefer some words, so that there is something to learn."""
    draw = random.Random(seed)
    for text in range(texts):
        told = " ".join(draw.choices(WORDS, k=12))
        for number in range(each):
            incorrect = tuple(" ".join(draw.choices(WORDS, k=draw.randint(1, 4))) for _ in range(draw.randint(1, most)))
            correct = " ".join(draw.choices(WORDS[:5] + told.split()[:3], k=draw.randint(2, 4)))
            asked = f"{draw.choice(['why', 'when', 'who'])} {draw.choice(WORDS)}?"
            yield FilteredQuestion(f"t{text}/q{number}", f"t{text}", told, asked, correct, incorrect)


class Watching:
    """Any other classifier: it keeps what it is shown, and its scores change with each training, or never."""

    def __init__(self, questions, steady=False, equal=False):
        self.questions, self.steady, self.equal = questions, steady, equal
        self.trained, self.asked = [], []

    def fit(self, questions, assigned):
        self.trained.append((list(questions), list(assigned)))

    def scores(self, questions):
        self.asked.append(list(questions))
        return [
            [self.score(place, at) for at in range(len(self.questions[place].incorrect) + 1)] for place in questions
        ]

    def score(self, place, at):
        time = "" if self.steady else len(self.trained)
        text = f"{time} {self.questions[place].key} {at}"
        return 0.0 if self.equal else int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) / 2**32


def run(questions, make=None, **numbers):
    """What was said, and the classifier that was asked."""
    made = []

    def classifier(found):
        made.append((make or Watching)(found))
        return made[-1]

    said = list(filter_answers(questions, classifier=classifier, **{"seed": 1, "batch": 4, "stop_at": 0, **numbers}))
    return said, made[0] if made else None


def result(said):
    assert isinstance(said[-1], Result)
    return said[-1]


def entries(said):
    return [one.entry for one in said if isinstance(one, Iteration)]


def steady(questions):
    return Watching(questions, steady=True)


@settings(max_examples=25, deadline=None)
@given(some.integers(2, 13), some.integers(1, 7), some.integers(0, 50))
def test_batches_hold_whole_texts_and_classifiers_learn_the_current_assignment_of_all_others(texts, batch, seed):
    questions = list(some_questions(texts, seed=seed))
    said, watched = run(questions, batch=batch, seed=seed, most_iterations=3)
    ordered = watched.questions
    everything = set(range(len(ordered)))
    assigned = dict(zip(watched.trained[0][0], watched.trained[0][1], strict=True))
    told = [one for one in said if isinstance(one, Batch)]
    assert len(told) == len(watched.trained) == len(watched.asked)
    for at, ((learned, own), held_out) in enumerate(zip(watched.trained, watched.asked, strict=True)):
        assert set(learned) == everything - set(held_out) and len(learned) + len(held_out) == len(everything)
        hidden = {ordered[place].text_key for place in held_out}
        assert len(hidden) <= batch
        assert hidden.isdisjoint(ordered[place].text_key for place in learned)
        for place, index in zip(learned, own, strict=True):
            assert assigned.setdefault(place, index) == index
        for place in held_out if told[at].iteration else ():
            # What the watched one said at this time: `fit` was called once more for each batch.
            watched.trained, kept = watched.trained[: at + 1], watched.trained
            scores = [watched.score(place, number + 1) for number in range(len(ordered[place].incorrect))]
            watched.trained = kept
            assigned[place] = scores.index(max(scores))
    for iteration in {one.iteration for one in told}:
        asked = [held for held, one in zip(watched.asked, told, strict=True) if one.iteration == iteration]
        assert sorted(place for held_out in asked for place in held_out) == sorted(everything)
    assert result(said).assigned == {ordered[place].key: index for place, index in assigned.items()}
    assert all(0 <= result(said).assigned[one.key] < len(one.incorrect) for one in questions)


def test_it_ends_when_few_change_when_no_fewer_change_or_after_the_most_iterations():
    questions = list(some_questions(12))
    said, _ = run(questions, steady)
    assert (result(said).ended, result(said).iterations) == ("few changed", 2)
    assert [entry["changed"] for entry in entries(said)][2:] == [0]
    said, _ = run(questions, steady, stop_at=30)
    assert (result(said).ended, result(said).iterations) == ("few changed", 1)
    said, _ = run(questions, steady, most_iterations=1)
    assert (result(said).ended, result(said).iterations) == ("most iterations", 1)
    for seed in range(5):
        said, _ = run(questions, seed=seed)
        changed = [entry["changed"] for entry in entries(said)][1:]
        assert result(said).ended == "no fewer changed"
        assert changed[-1] >= changed[-2] and all(a > b for a, b in pairwise(changed[:-1]))


def test_the_log_counts_changes_and_how_often_the_correct_answer_scored_above_the_assigned_one():
    questions = list(some_questions(12))
    said, watched = run(questions, steady)
    place = {one.key: at for at, one in enumerate(watched.questions)}
    start = dict(zip(*map(list, watched.trained[0]), strict=True)) | dict(zip(*watched.trained[1], strict=True))

    def told_apart(assigned):
        pairs = [(watched.score(at, 0), watched.score(at, 1 + index)) for at, index in assigned.items()]
        return pytest.approx(np.mean([right > wrong for right, wrong in pairs]), abs=1e-6)

    end = {place[key]: index for key, index in result(said).assigned.items()}
    moved = sum(start[at] != end[at] for at in end)
    first, second, third = entries(said)
    assert first == {"iteration": 0, "changed": 36, "accuracy": told_apart(start), "accuracy_after": told_apart(start)}
    assert second == {
        "iteration": 1,
        "changed": moved,
        "accuracy": told_apart(start),
        "accuracy_after": told_apart(end),
    }
    assert third == {"iteration": 2, "changed": 0, "accuracy": told_apart(end), "accuracy_after": told_apart(end)}
    told = [one for one in said if isinstance(one, Batch)]
    assert [one.done for one in told] == list(range(1, 10)) and {one.total for one in told} == {31 * 3}
    assert [(one.iteration, one.batch, one.batches) for one in told[2:5]] == [(0, 3, 3), (1, 1, 3), (1, 2, 3)]


def test_of_candidates_with_one_score_the_first_is_taken_and_it_counts_as_half_told_apart():
    said, _ = run(list(some_questions(8)), lambda questions: Watching(questions, equal=True))
    assert set(result(said).assigned.values()) == {0}
    assert {entry["accuracy"] for entry in entries(said)} == {0.5}


def test_the_start_is_drawn_evenly_among_the_candidates():
    questions = [replace(one, incorrect=("x", "y", "z")) for one in some_questions(400, each=3)]
    _, watched = run(questions, steady, batch=1000, most_iterations=1)
    start = watched.trained[0][1] + watched.trained[1][1]
    assert len(start) == 1200
    assert all(abs(start.count(index) - 400) < 4 * (1200 * 2 / 9) ** 0.5 for index in range(3))


def test_the_same_seed_gives_the_same_result_in_any_order_and_another_seed_another_one():
    questions = list(some_questions(12))
    said, _ = run(questions, seed=3, most_iterations=2)
    assert run(questions[::-1], seed=3, most_iterations=2)[0] == said
    assert run(questions, seed=4, most_iterations=2)[0] != said


def test_from_any_checkpoint_the_rest_is_the_same_to_the_byte():
    questions = list(some_questions(16))
    logistic = {"make": filtering_classifier.LogisticClassifier, "most_iterations": 4}
    said, _ = run(questions, **logistic)
    checkpoints = [at for at, one in enumerate(said) if isinstance(one, Iteration)]
    assert len(checkpoints) > 2
    for at in checkpoints:
        stored = json.loads(json.dumps(said[at].checkpoint))
        rest, asked = run(questions, **logistic, checkpoint=stored)
        assert repr(rest) == repr(said[at + 1 :])
    assert asked is None  # Nothing was left to learn after the last one.
    # What belongs to other questions or another seed is no beginning for these.
    changed = [replace(questions[0], correct="another"), *questions[1:]]
    assert run(changed, checkpoint=said[checkpoints[1]].checkpoint)[0] == run(changed)[0]
    assert run(questions, seed=2, checkpoint=said[checkpoints[1]].checkpoint)[0] == run(questions, seed=2)[0]


def test_one_candidate_is_kept_and_teaches_and_a_question_without_any_is_left_out_with_a_reason():
    questions = list(some_questions(6))
    questions[4] = replace(questions[4], incorrect=())
    questions[5] = replace(questions[5], incorrect=("only one",))
    said, watched = run(questions)
    assert result(said).left_out == {questions[4].key: "no incorrect answer is left"}
    assert result(said).assigned.keys() == {one.key for one in questions} - {questions[4].key}
    assert result(said).assigned[questions[5].key] == 0
    assert questions[4] not in watched.questions and questions[5] in watched.questions


def test_every_fault_is_named_before_anything_is_trained():
    one = next(some_questions(1))
    made = []
    with refused("too_little_to_filter") as refusal:
        filter_answers([one, replace(one, text="other")], seed=1, batch=0, most_iterations=0, classifier=made.append)
    for said in ("1 or more, not 0 and 0", "at least 2 texts", "2 questions have the key 't0/q0'", "another text"):
        assert said in str(refusal.value)
    assert made == []


def test_features_are_lengths_overlaps_and_patterns_and_those_of_few_texts_are_left_out(monkeypatch):
    monkeypatch.setattr(filtering_features, "LEAST_TEXTS", 1)
    asked = [
        filtering_features.Asked("a", "The old red stove is hot.", "What is hot?", ["The red stove", "a hot lamp"]),
        filtering_features.Asked("b", "Snow fell.", "Who fell?", ["Snow!"]),
    ]
    found = filtering_features.features(asked).toarray()
    numbers, patterns = found[:, : filtering_features.NUMBERS], found[:, filtering_features.NUMBERS :]

    def scaled(count):
        return np.log1p(count) / 8

    lengths = [6, 25, 3, 12, 3, 13]
    overlaps = [scaled(3), 1, scaled(1), 1 / 2, 0, 0, 0, 0, scaled(2), 2 / 3, scaled(1), 1 / 2]
    assert numbers[0] == pytest.approx([*map(scaled, lengths), *overlaps])
    # Two for each word of the answer, one for each of the question, one for each pair: 6 + 3 + 9 and 2 + 2 + 2.
    assert set(np.unique(patterns)) == {0, 1}
    assert patterns.sum(axis=1).tolist() == [18, 18, 6]
    monkeypatch.setattr(filtering_features, "LEAST_TEXTS", 2)
    # "fell" is asked for in one text alone, and so is every word of an answer.
    assert filtering_features.features(asked).shape == (3, filtering_features.NUMBERS)


class Dense:
    """Written another way on purpose: a dictionary of patterns, a dense matrix, and the loss as it is defined."""

    def __init__(self, questions):
        rows = [[self.row(one, answer) for answer in (one.correct, *one.incorrect)] for one in questions]
        texts = {}
        for one, own in zip(questions, rows, strict=True):
            for row in own:
                for name in row:
                    texts.setdefault(name, set()).add(one.text_key)
        names = sorted(name for name, where in texts.items() if len(where) >= 3 or name.startswith("#"))
        self.rows = [[[row.get(name, 0.0) for name in names] for row in own] for own in rows]

    def row(self, one, answer):
        told, asked, said = words(one.text), words(one.question), words(answer)
        found = {f"{word} said": 1 for word in said} | {f"{word} asked": 1 for word in asked}
        found |= {f"{word} told {word in told}": 1 for word in said}
        found |= {f"{a} asked and {b} said": 1 for a in asked for b in said}
        for name, text, kind in zip("tqa", (one.text, one.question, answer), (told, asked, said), strict=True):
            found |= {f"#{name} words": np.log(1 + len(kind)) / 8, f"#{name} signs": np.log(1 + len(text)) / 8}
        for name, a, b in (("at", said, told), ("aq", said, asked), ("qt", asked, told)):
            for size in (1, 2):
                first, second = ({tuple(k[i : i + size]) for i in range(len(k) - size + 1)} for k in (a, b))
                common = len(first & second)
                found[f"#{name}{size}"] = np.log(1 + common) / 8
                found[f"#{name}{size} share"] = common / max(1, len(first))
        return found

    def fit(self, questions, assigned):
        x = [self.rows[place][at] for place, index in zip(questions, assigned, strict=True) for at in (0, 1 + index)]
        x, sign = np.array(x), np.array([1, -1] * len(questions))

        def loss(weights):
            margins = sign * (x @ weights[1:] + weights[0])
            slopes = -sign / (1 + np.exp(margins))
            penalty = weights[1:] / filtering_classifier.STRENGTH
            value = np.logaddexp(0, -margins).sum() + weights[1:] @ penalty / 2
            return value, np.concatenate([[slopes.sum()], x.T @ slopes + penalty])

        start = np.zeros(x.shape[1] + 1)
        self.weights = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-7}).x

    def scores(self, questions):
        return [(np.array(self.rows[place]) @ self.weights[1:] + self.weights[0]).tolist() for place in questions]


def plainly_filtered(questions, seed, batch, iterations):
    """Algorithm 1 as it stands, for so many iterations; only what is drawn is drawn in the same way."""
    classifier = Dense(questions)
    assigned = [random.Random(f"filter {seed} {one.key}").randrange(len(one.incorrect)) for one in questions]
    for iteration in range(1, iterations + 1):
        texts = sorted({one.text_key for one in questions})
        random.Random(f"filter {seed} iteration {iteration}").shuffle(texts)
        while texts:
            testing, texts = texts[:batch], texts[batch:]
            test = [at for at, one in enumerate(questions) if one.text_key in testing]
            train = [at for at, one in enumerate(questions) if one.text_key not in testing]
            classifier.fit(train, [assigned[at] for at in train])
            for at, (_, *incorrect) in zip(test, classifier.scores(test), strict=True):
                assigned[at] = int(np.argmax(incorrect))
    return {one.key: index for one, index in zip(questions, assigned, strict=True)}


def test_it_agrees_with_a_plain_dense_implementation_of_the_algorithm(monkeypatch):
    monkeypatch.setattr(filtering_classifier, "TOLERANCE", 1e-7)
    questions = sorted(some_questions(20), key=lambda one: (one.text_key, one.key))
    said, own = run(questions, filtering_classifier.LogisticClassifier, seed=2, batch=7)
    assert result(said).iterations > 1
    assert result(said).assigned == plainly_filtered(questions, 2, 7, result(said).iterations)
    # And the classifiers say the same, not only the same order.
    dense, some_places = Dense(questions), range(40)
    for each in (own, dense):
        each.fit(some_places, [0] * 40)
    for found, expected in zip(own.scores(range(40, 60)), dense.scores(range(40, 60)), strict=True):
        assert found == pytest.approx(expected, abs=1e-3)
