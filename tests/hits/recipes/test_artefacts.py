"""What a data set gives away to a model that does not see everything."""

import random
from functools import partial

from hits.recipes.artefacts import check
from hits.text.filtering import artefacts
from hits.text.filtering.artefacts import Example

WORDS = [
    "boat",
    "dog",
    "lamp",
    "tree",
    "road",
    "milk",
    "song",
    "wind",
    "coat",
    "stone",
    "bread",
    "glass",
    "river",
    "cloud",
    "chair",
    "horse",
]


def examples(count, seed, leak):
    """Four candidates; the right one is given away by nothing, by its words, by the question, or by the text."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        candidates = [" ".join(dice.sample(WORDS, 3)) for _ in range(4)]
        right = dice.randrange(4)
        question, text = f"why did it happen {number}", " ".join(dice.sample(WORDS, 5))
        if leak == "answer":
            candidates[right] += " surely"
        if leak == "question":
            candidates = [f"{candidate} {word}" for candidate, word in zip(candidates, "abcd", strict=True)]
            question = f"pick {'wxyz'[right]} now"
        if leak == "text":
            candidates = [f"{candidate} only{at}" for at, candidate in enumerate(candidates)]
            text += f" only{right}"
        found.append(Example(text, question, candidates, frozenset([right])))
    return found


def found(leak, train=400, test=300):
    parts = {"train": partial(examples, train, 1, leak), "test": partial(examples, test, 2, leak)}
    return check(parts)


def accuracies(leak):
    figures = found(leak)
    return {view: figures[view]["test"] for view in ("question_blind", "text_blind", "answers_alone")}


def is_chance(figures):
    return figures["low"] - 0.02 <= 0.25 <= figures["high"] + 0.02


def test_where_nothing_is_given_away_no_view_is_better_than_chance():
    for figures in accuracies("").values():
        assert figures["chance"] == 0.25 and figures["n"] == 300
        assert is_chance(figures)


def test_a_word_of_right_answers_is_found_by_every_view():
    assert all(figures["accuracy"] > 0.9 for figures in accuracies("answer").values())


def test_what_the_question_gives_away_is_found_where_it_is_seen():
    figures = accuracies("question")
    assert figures["text_blind"]["accuracy"] > 0.9
    assert figures["question_blind"]["accuracy"] < 0.5 and figures["answers_alone"]["accuracy"] < 0.5


def test_what_the_text_gives_away_is_found_where_it_is_seen():
    figures = accuracies("text")
    assert figures["question_blind"]["accuracy"] > 0.8
    assert figures["text_blind"]["accuracy"] < 0.5 and figures["answers_alone"]["accuracy"] < 0.5


def test_the_same_examples_give_the_same_figures():
    assert found("answer") == found("answer")


def test_without_a_part_to_learn_from_or_to_be_tested_on_nothing_is_said():
    assert found("", train=0) == {}
    assert found("", test=0) == {}


def test_the_examples_that_are_used_are_bounded_and_from_all_over_a_part(monkeypatch):
    monkeypatch.setattr(artefacts, "MOST", 50)
    figures = found("", train=199, test=120)
    assert (figures["trained_on"], figures["text_blind"]["test"]["n"]) == (50, 40)
