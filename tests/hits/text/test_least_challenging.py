import csv
import random
from dataclasses import dataclass
from itertools import islice

import pytest

from hits.text.questions.least_challenging import least_challenging, lexical_scorer
from tests.hits.doing import refused
from tests.hits.formats.shared_data import shared_file

WORDS = ["river", "lamp", "uncle", "bread", "ticket", "snow", "violin", "ladder", "coat", "market"]


@dataclass(frozen=True)
class Set:
    key: str
    context: str
    question: str
    answers: tuple[str, ...]
    label: int = 0


class Watching:
    """A scorer that any neural one could be: it keeps what it was shown, and likes answers by their length."""

    seen: list["Watching"] = []

    def __init__(self, seed):
        self.asked, self.known = [], []
        Watching.seen.append(self)

    def fit(self, pairs, follows):
        self.known = list(zip(pairs, follows, strict=True))

    def score(self, pairs):
        self.asked += pairs
        return [float(len(answer)) for _, answer in pairs]


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(Watching, "seen", [])
    return Watching.seen


def some_sets(count, paragraphs):
    draw = random.Random(5)
    for at in range(count):
        answers = tuple(" ".join(draw.sample(WORDS, draw.randint(1, 4))) for _ in range(4))
        yield Set(f"set {at}", f"Paragraph {at % paragraphs}.", f"Why {at}?", answers, draw.randrange(4))


def test_it_names_the_incorrect_candidate_with_the_smallest_sum_of_three_scores(watched):
    sets = list(some_sets(30, 12))
    choices = {choice.key: choice for choice in least_challenging(sets, seed=1, scorer=Watching)}
    assert set(choices) == {one.key for one in sets}
    for one in sets:
        incorrect = [at for at in range(4) if at != one.label]
        chosen = choices[one.key]
        assert len(one.answers[chosen.index]) == min(len(one.answers[at]) for at in incorrect)
        assert chosen.scores == {at: (float(len(one.answers[at])),) * 3 for at in incorrect}


def test_no_model_is_asked_about_a_paragraph_that_it_knows_and_each_has_its_own_view(watched):
    sets = list(some_sets(40, 11))
    list(least_challenging(sets, seed=1, folds=4, scorer=Watching))
    assert len(watched) == 4 * 3
    contexts = {f"{one.context}\n{one.question}": "both" for one in sets}
    contexts |= {one.context: "paragraph" for one in sets} | {one.question: "question" for one in sets}
    for model in watched:
        shown = {context for (context, _), _ in model.known}
        assert shown.isdisjoint(context for context, _ in model.asked)
        assert len({contexts[context] for context in shown}) == 1
    answers = {(answer, at == one.label) for one in sets for at, answer in enumerate(one.answers)}
    assert {(answer, follows) for model in watched for (_, answer), follows in model.known} <= answers
    assert sum(len(model.asked) for model in watched) == 3 * 4 * 40


def test_the_same_seed_gives_the_same_choices_in_any_order_of_the_sets():
    sets = list(some_sets(40, 20))
    first = {choice.key: choice for choice in least_challenging(sets, seed=3)}
    assert first == {choice.key: choice for choice in least_challenging(sets[::-1], seed=3)}
    assert first != {choice.key: choice for choice in least_challenging(sets, seed=4)}


def test_equal_sums_are_drawn_and_not_always_the_first(watched):
    sets = [Set(f"set {at}", f"P{at}", "Q", ("right", "one", "two", "six")) for at in range(40)]
    chosen = {choice.index for choice in least_challenging(sets, seed=1, scorer=Watching)}
    assert chosen == {1, 2, 3}


def test_each_fold_reports_how_far_it_is_before_the_next_one_is_trained(watched):
    told = []
    choices = least_challenging(list(some_sets(20, 10)), seed=1, scorer=Watching, progress=lambda *at: told.append(at))
    for _ in range(5):
        next(choices)
    assert (told, len(watched)) == ([(4, 20)], 6)
    list(choices)
    assert told == [(4, 20), (8, 20), (12, 20), (16, 20), (20, 20)]


def test_the_default_scorer_learns_which_words_make_an_answer_right_and_what_it_shares():
    draw = random.Random(2)
    pairs = [
        (f"the {word} fell", f"{mark} {word if mark == 'maybe' else 'sea'}")
        for word in WORDS
        for mark in ("maybe", "never")
    ]
    draw.shuffle(pairs)
    scorer = lexical_scorer(1)
    scorer.fit(pairs * 40, [answer.startswith("maybe") for _, answer in pairs] * 40)
    right, wrong, shared = scorer.score(
        [("the cow fell", "maybe cow"), ("the cow fell", "never sea"), ("the cow fell", "cow")]
    )
    assert 0 <= wrong < 0.2 < shared < right <= 1


def test_every_fault_of_the_sets_is_named_before_anything_is_trained(watched):
    broken = [Set("a", "P", "Q", ("x", "y")), Set("a", "P", "Q", ("x",)), Set("b", "P", "Q", ("x", "y"), 2)]
    with refused("least_challenging_refused") as refusal:
        least_challenging(broken, seed=1, folds=1, scorer=Watching)
    for words in (
        "2 folds, not 1",
        "2 different paragraphs",
        "2 sets have the key 'a'",
        "set 'a' needs",
        "set 'b' needs",
    ):
        assert words in str(refusal.value)
    assert watched == []


def test_a_scorer_that_leaves_pairs_out_is_refused():
    class Short(Watching):
        def score(self, pairs):
            return [0.0]

    with refused("least_challenging_refused", match="one number for each pair"):
        list(least_challenging(list(some_sets(4, 2)), seed=1, scorer=Short))


def written_sets():
    """Real sets of which all candidates were written, so that none is "None of the above"."""
    with shared_file("cosmosqa/examples.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            answers = [row[f"answer{at}"] for at in range(4)]
            kept = [answer for answer in answers if not answer.lower().startswith("none of the above")]
            right = answers[int(row["label"])]
            if len(kept) == 3 and right in kept:
                yield Set(row["id"], row["context"], row["question"], tuple(kept), kept.index(right))


class Kept:
    """The default scorer with a record of what it said."""

    said: dict[tuple[str, str], float] = {}

    def __init__(self, seed):
        self.model = lexical_scorer(seed)

    def fit(self, pairs, follows):
        self.model.fit(pairs, follows)

    def score(self, pairs):
        found = self.model.score(pairs)
        self.said.update(zip(pairs, found, strict=True))
        return found


def test_on_real_question_sets_held_out_models_find_the_right_answer_more_often_than_chance(monkeypatch):
    monkeypatch.setattr(Kept, "said", {})
    sets = list(islice(written_sets(), 250))
    assert len(list(least_challenging(sets, seed=1, scorer=Kept))) == 250
    found = 0
    for one in sets:
        scores = [Kept.said[f"{one.context}\n{one.question}", answer] for answer in one.answers]
        found += scores.index(max(scores)) == one.label
    assert found / 250 > 0.43  # chance is 1/3 with a spread of 0.03
