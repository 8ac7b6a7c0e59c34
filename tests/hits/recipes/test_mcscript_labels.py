"""The vote on where an answer comes from (M5): every combination of five labels, and the published table of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import cycle, islice, product

import pytest

from hits.recipes import load
from hits.stats.vote_rules.conditions import conclude
from hits.stats.vote_rules.known_rules import MCSCRIPT_LABELS
from hits.stats.vote_rules.rule_text import parse

LABELS = ("text", "script", "unfitting", "unknown")
RULE = parse(MCSCRIPT_LABELS.text, MCSCRIPT_LABELS.answers)
# Table 1 of the paper, and the 8,242 questions without a clear majority of section 4.1.
PUBLISHED = {
    "text": 9_357,
    "script": 12_433,
    "text-or-script": 2_403,
    "unfitting": 3_240,
    "unknown": 6_457,
    "no-majority": 8_242,
}
KEPT = ("text", "script", "text-or-script")


WORKED_OUT = [
    ("ttttt", "text"),
    ("tttsu", "text"),
    ("tttss", "text"),
    ("tttuu", "text"),
    ("sssss", "script"),
    ("ssstt", "script"),
    ("sssfu", "script"),
    ("ttssu", "text-or-script"),
    ("ttssf", "text-or-script"),
    ("ttsfu", "text-or-script"),
    ("tssuu", "text-or-script"),
    ("tssff", "text-or-script"),
    ("ttsuu", "text-or-script"),
    ("fffff", "unfitting"),
    ("fffts", "unfitting"),
    ("fffuu", "unfitting"),
    ("uuuuu", "unknown"),
    ("uuutt", "unknown"),
    ("uuuff", "unknown"),
    ("ttffu", "no-majority"),
    ("tsffu", "no-majority"),
    ("ssuuf", "no-majority"),
    ("tuuff", "no-majority"),
    ("tsuuf", "no-majority"),
]


@cache
def concluded(*questions: Sequence[str]) -> tuple[str, dict[str, str]]:
    """(outcome of the item, word of each question) when each of five workers labels every question."""
    said = [{f"q{n}/label": labels[worker] for n, labels in enumerate(questions, 1)} for worker in range(5)]
    found = conclude(RULE, said)
    return found.outcome, dict(found.parts)


def by_hand(labels: Sequence[str]) -> str:
    """Section 3.3, read a second time."""
    for label in LABELS:
        if labels.count(label) > 2:
            return label
    return "text-or-script" if labels.count("text") + labels.count("script") > 2 else "no-majority"


def spelled(short: str) -> tuple[str, ...]:
    return tuple({"t": "text", "s": "script", "f": "unfitting", "u": "unknown"}[letter] for letter in short)


@pytest.mark.parametrize(("labels", "word"), WORKED_OUT)
def test_a_table_of_verdicts_worked_out_by_hand(labels: str, word: str) -> None:
    assert concluded(spelled(labels)) == ("kept" if word in KEPT else "dropped", {"q1": word})


def test_every_combination_of_five_labels_is_judged_as_a_second_reading_says() -> None:
    ballots = list(product(LABELS, repeat=5))
    assert len(ballots) == 1024
    for start in range(0, len(ballots), 12):
        some = ballots[start : start + 12]
        expected = {f"q{n}": by_hand(labels) for n, labels in enumerate(some, 1)}
        kept = any(word in KEPT for word in expected.values())
        assert concluded(*some) == ("kept" if kept else "dropped", expected)


def test_fewer_than_five_answers_wait_and_a_missing_label_is_no_label() -> None:
    four = [{"q1/label": "text"}] * 4
    assert conclude(RULE, four).outcome == "open"
    assert conclude(RULE, [*four[:2], {}, {}, {"q1/label": "script"}]).parts == {"q1": "text-or-script"}
    assert conclude(RULE, [*four[:2], {}, {}, {}]).parts == {"q1": "no-majority"}


def test_the_published_table_comes_of_ballots_in_its_numbers() -> None:
    """Each ballot ends as the table worked out by hand says; the rule is asked once about each different dozen."""
    ways = {word: [spelled(labels) for labels, own in WORKED_OUT if own == word] for word in PUBLISHED}
    ballots = [ballot for word, count in PUBLISHED.items() for ballot in islice(cycle(ways[word]), count)]
    counts = Counter[str]()
    for start in range(0, len(ballots), 12):
        counts.update(concluded(*ballots[start : start + 12])[1].values())
    assert counts == PUBLISHED
    answerable = sum(counts[word] for word in KEPT)
    discarded = counts["unfitting"] + counts["unknown"]
    assert (answerable, discarded, answerable + discarded) == (24_193, 9_697, 33_890)
    assert f"{answerable / 33_890:.0%}" == "71%"


def test_the_recipe_judges_by_this_rule() -> None:
    (stage,) = (stage for stage in load("mcscript").stages if stage.key == "answers")
    assert stage.rule == MCSCRIPT_LABELS.rule()
