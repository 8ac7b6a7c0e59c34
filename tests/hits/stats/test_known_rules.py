"""The rules of published collections, over every combination of answers that workers can give."""

from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from scipy.stats import binom

from hits.stats.vote_rules.known_rules import (
    COSMOS_GENERATED,
    COSMOS_HUMANS,
    COSMOS_VALIDATION,
    COSMOS_VALIDATION_TO_THE_LETTER,
    KNOWN,
    MCSCRIPT_LABELS,
)
from hits.stats.vote_rules.rule_text import format, parse
from hits.stats.vote_rules.votes import Vote, decide


def judged(known, said):
    outcome = decide(known.rule(), [Vote(f"W{i}", "x", said=one) for i, one in enumerate(said)])
    return outcome.outcome, outcome.conclusion, outcome.parts


def test_each_known_rule_is_in_its_normal_spelling():
    for known in KNOWN:
        assert format(parse(known.text, known.answers)) == known.text


def picks(candidate, common_sense="yes", context="yes"):
    said = {"paragraph": "good", "question": "good", "picked": candidate, "picked.correct": candidate == "c2"}
    return {**said, "needs_common_sense": common_sense, "needs_context": context}


BAD_PARAGRAPH = {"paragraph": "bad"}
BAD_QUESTION = {"paragraph": "good", "question": "bad"}
UNDETERMINED = {"paragraph": "good", "question": "good", "picked": "none", "picked.correct": False}
PICKS = [picks(*choice) for choice in product(["c0", "c2"], ["yes", "no"], ["yes", "no"])]


def validation(ballots):
    if any(ballot in (BAD_PARAGRAPH, BAD_QUESTION) for ballot in ballots):
        return "dropped", "unsatisfactory", {}
    return to_the_letter(ballots)


def to_the_letter(ballots):
    if sum(ballot.get("picked") == "c2" for ballot in ballots) < 2:
        return "dropped", "", {}
    if any("no" in (ballot.get("needs_common_sense"), ballot.get("needs_context")) for ballot in ballots):
        return "kept", "unanswerable", {}
    if any(ballot in (BAD_PARAGRAPH, BAD_QUESTION, UNDETERMINED) for ballot in ballots):
        return "dropped", "", {}
    return "kept", "valid", {}


def test_a_question_set_is_valid_unanswerable_or_neither():
    found = Counter()
    for ballots in combinations_with_replacement([BAD_PARAGRAPH, BAD_QUESTION, UNDETERMINED, *PICKS], 3):
        assert judged(COSMOS_VALIDATION, ballots) == validation(ballots), ballots
        found[validation(ballots)[1]] += 1
        assert judged(COSMOS_VALIDATION_TO_THE_LETTER, ballots) == to_the_letter(ballots), ballots
    assert found["valid"] == 2 and found["unanswerable"] > 10 and found[""] > 10


def test_the_letter_releases_a_paragraph_that_somebody_called_inappropriate_and_the_default_does_not():
    ballots = [picks("c2"), picks("c2", context="no"), BAD_PARAGRAPH]
    assert judged(COSMOS_VALIDATION_TO_THE_LETTER, ballots) == ("kept", "unanswerable", {})
    assert judged(COSMOS_VALIDATION, ballots) == ("dropped", "unsatisfactory", {})


@pytest.mark.parametrize("accuracy, needless", [(0.6, 0.02), (0.94, 0.1)])
def test_as_many_sets_are_valid_as_independent_workers_lead_to_expect(accuracy, needless):
    """`needless` is the share of picks that need no context; every worker is satisfied with the rest."""
    chances = {"valid": 0.0, "unanswerable": 0.0, "": 0.0}
    for kinds in product(product([True, False], [True, False]), repeat=3):
        ballots = [picks("c2" if right else "c0", context="no" if spare else "yes") for right, spare in kinds]
        weight = 1.0
        for right, spare in kinds:
            weight *= (accuracy if right else 1 - accuracy) * (needless if spare else 1 - needless)
        chances[judged(COSMOS_VALIDATION, ballots)[1]] += weight
    two_right, nobody = binom.sf(1, 3, accuracy), binom.pmf(0, 3, needless)
    assert chances["valid"] == pytest.approx(two_right * nobody)
    assert chances["unanswerable"] == pytest.approx(two_right * (1 - nobody))


def test_people_are_right_when_two_of_three_chose_the_intended_answer():
    for chosen in product(["c0", "c1", "c2", "none"], repeat=3):
        expected = "right" if chosen.count("c2") >= 2 else "wrong"
        ballots = [{"choice": one, "choice.correct": one == "c2"} for one in chosen]
        assert judged(COSMOS_HUMANS, ballots) == ("kept", expected, {})


def test_a_generated_answer_is_correct_only_if_all_three_selected_it():
    for chosen in product([("yes", True), ("no", False), (None, "yes")], repeat=3):
        ballots = [{"c0/selected": c0, "c1/selected": c1} for c0, c1 in chosen]
        ballots = [{unit: value for unit, value in ballot.items() if value is not None} for ballot in ballots]
        first = all(c0 == "yes" for c0, _ in chosen)
        second = all(c1 in ("yes", True) for _, c1 in chosen)
        groups = {"c1": second} | ({"c0": first} if any(c0 for c0, _ in chosen) else {})
        parts = {group: "correct" if all_chose else "wrong" for group, all_chose in groups.items()}
        assert judged(COSMOS_GENERATED, ballots) == ("kept", "", parts)


LETTERS = {"t": "text", "s": "script", "f": "unfitting", "u": "unknown"}
BY_HAND = {
    "ttttt": "text", "tttsu": "text", "tttuu": "text", "sssff": "script", "sssts": "script", "ttssu": "text-or-script",
    "tssuu": "text-or-script", "ttsff": "text-or-script", "ttssf": "text-or-script", "fffts": "unfitting",
    "uuutt": "unknown", "uuuff": "unknown", "ttuuf": "no-majority", "ffuut": "no-majority", "tsffu": "no-majority",
}  # fmt: skip


def label_vote(labels):
    counts = Counter(labels)
    for label in LETTERS.values():
        if counts[label] >= 3:
            return label
    return "text-or-script" if counts["text"] + counts["script"] >= 3 else "no-majority"


def test_the_label_vote_over_all_combinations_of_five_labels():
    for word, expected in BY_HAND.items():
        assert label_vote([LETTERS[letter] for letter in word]) == expected
    for labels in product(LETTERS.values(), repeat=5):
        expected = label_vote(labels)
        outcome = "kept" if expected in ("text", "script", "text-or-script") else "dropped"
        found = judged(MCSCRIPT_LABELS, [{"q3/label": label} for label in labels])
        assert found == (outcome, "", {"q3": expected}), labels


def test_a_hit_is_kept_when_one_of_its_questions_is():
    said = [{"q1/label": a, "q2/label": b} for a, b in zip(["text"] * 5, ["unknown"] * 5, strict=True)]
    assert judged(MCSCRIPT_LABELS, said) == ("kept", "", {"q1": "text", "q2": "unknown"})
    assert judged(MCSCRIPT_LABELS, said[:4]) == ("open", "", {})
