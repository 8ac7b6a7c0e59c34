import csv
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.figures.set_statistics import Prefix, Tally, Tokens
from tests.hits.formats.shared_data import shared_file


@dataclass(frozen=True)
class Set:
    question: str
    answers: tuple[str, ...] = ("They left .", "It rained all day", "None of the above choices .", "Bo sang")
    label: int = 0
    context: str = "We waited. Nobody came."
    key: str = ""


SETS = [
    Set("Why did they wait?"),
    Set("Why did they wait?", label=2),
    Set("why DID he go", context="Bo went."),
    Set("What's next?"),
    Set("?!"),
]
questions = some.lists(some.sampled_from(["why", "what", "will", "did", "it"]), max_size=5).map(" ".join)


def tally(sets):
    counted = Tally()
    for one in sets:
        counted.add(one)
    return counted


def test_the_figures_are_those_of_the_table():
    found = tally(SETS).statistics()
    assert (found.questions, found.paragraphs, found.unanswerable) == (5, 2, 1 / 5)
    assert found.paragraph == Tokens(mean=(6 + 3) / 2, most=6)
    assert found.question == Tokens(mean=(5 + 5 + 4 + 3 + 2) / 5, most=5)
    assert found.correct_answer == Tokens(mean=(4 * 3 + 6) / 5, most=6)
    assert found.incorrect_answer == Tokens(mean=(4 * (4 + 6 + 2) + (3 + 4 + 2)) / 15, most=6)


def test_nothing_has_no_means():
    found = tally([]).statistics()
    assert (found.questions, found.unanswerable, found.question) == (0, None, Tokens(None, None))


def test_questions_begin_with_words_that_branch():
    assert tally(SETS).prefix_tree() == (
        Prefix("why", 3, (Prefix("did", 3, (Prefix("they", 2), Prefix("he", 1))),)),
        Prefix("what's", 1, (Prefix("next", 1),)),
    )


def ended_at(tree, before=()):
    """(the words of a prefix, the questions that have no further word of it)."""
    for prefix in tree:
        here = (*before, prefix.word)
        if ended := prefix.count - sum(after.count for after in prefix.following):
            yield " ".join(here), ended
        yield from ended_at(prefix.following, here)


@given(some.lists(questions, max_size=12))
def test_the_tree_agrees_with_an_independent_count_of_prefixes(asked):
    beginnings = [" ".join(question.split()[:3]) for question in asked if question]
    tree = tally(map(Set, asked)).prefix_tree()
    assert dict(ended_at(tree)) == {each: beginnings.count(each) for each in beginnings}
    assert sum(prefix.count for prefix in tree) == len(beginnings)


@given(some.lists(some.tuples(questions, some.integers(0, 3), some.sampled_from(["Bo went.", "We. Waited."]))))
def test_tallies_of_different_paragraphs_add_up_to_one_of_all(asked):
    sets = [Set(question, label=label, context=context) for question, label, context in asked]
    added = tally(one for one in sets if one.context == "Bo went.")
    added.absorb(tally(one for one in sets if one.context != "Bo went."))
    assert added == tally(sets)


def test_on_real_questions_the_figures_come_near_the_published_ones():
    """Of the data set's development part: 8.7 % unanswerable, 72.6, 11.2, 9.7 and 9.1 tokens on average."""
    with shared_file("cosmosqa/examples.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            Set(row["question"], tuple(row[f"answer{at}"] for at in range(4)), int(row["label"]), row["context"])
            for row in csv.DictReader(file)
        ]
    found = tally(rows).statistics()
    assert found.questions == 600
    assert found.unanswerable == pytest.approx(0.087, abs=0.01)
    assert found.paragraph.mean == pytest.approx(72.6, rel=0.05)
    assert found.question.mean == pytest.approx(11.2, rel=0.05)
    assert found.correct_answer.mean == pytest.approx(9.7, rel=0.05)
    assert found.incorrect_answer.mean == pytest.approx(9.1, rel=0.05)
