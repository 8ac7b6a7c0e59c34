"""What written rules conclude, beside predicates that are written in Python a second time."""

from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.vote_rules.conditions import Judged, Value, conclude
from hits.stats.vote_rules.rule_text import RuleTextError, parse

ANSWERS = 3
HEAD = {"nothing": "value missing: counts as nothing\n", "another": "value missing: counts as another value\n"}
VALUES = {"label": ("x", "y", "z"), "seen": ("yes", "no")}
NAMES = {True: "yes", False: "no"}


def said_of(ballots, unit, gap):
    values = [NAMES.get(ballot[unit], ballot[unit]) if unit in ballot else object() for ballot in ballots]
    return [value for value in values if gap == "another" or isinstance(value, str)]


def holds(quantifier, agrees, values):
    """A plain second writing of what each quantifier means."""
    agreeing = len([value for value in values if agrees(value)])
    match quantifier.split():
        case ["at", "least", n]:
            return agreeing >= int(n)
        case ["at", "most", n]:
            return agreeing <= int(n)
        case ["exactly", n]:
            return agreeing == int(n)
        case ["all"]:
            return bool(values) and agreeing == len(values)
        case ["none"]:
            return agreeing == 0
        case ["more", *_]:
            return agreeing > ANSWERS / 2


def agreement(quantifier, values):
    """Whether some value is one of which the quantifier holds."""
    said = {value for value in values if isinstance(value, str)}
    return any(holds(quantifier, lambda v, value=value: v == value, values) for value in said)


@some.composite
def claims(draw, units=("label", "seen")):
    """(text, predicate over ballots and the way in which missing values count)"""
    quantifier = draw(some.sampled_from(["at least 1", "at least 2", "at most 1", "exactly 0", "exactly 2", "all"]))
    quantifier = draw(some.sampled_from([quantifier, "none", "more than half"]))
    unit = draw(some.sampled_from(units))
    if quantifier[:8] in ("at least", "all", "more tha") and draw(some.booleans()):
        return f"{quantifier} agree on {unit}", lambda ballots, gap: agreement(quantifier, said_of(ballots, unit, gap))
    wanted = draw(some.lists(some.sampled_from(VALUES[unit]), min_size=1, max_size=2, unique=True))
    if len(wanted) == 1 and draw(some.booleans()):
        text = f"{quantifier} {unit} != {wanted[0]}"
        return text, lambda ballots, gap: holds(quantifier, lambda v: v not in wanted, said_of(ballots, unit, gap))
    text = f"{quantifier} {unit} in {', '.join(wanted)}"
    return text, lambda ballots, gap: holds(quantifier, lambda v: v in wanted, said_of(ballots, unit, gap))


def negation(inner):
    return f"not ({inner[0]})", lambda *ballots: not inner[1](*ballots)


def junction(word, every, parts):
    return word.join(f"({text})" for text, _ in parts), lambda *ballots: every(part(*ballots) for _, part in parts)


def combined(inner):
    several = some.lists(inner, min_size=2, max_size=3)
    both = several.map(lambda parts: junction(" and ", all, parts))
    return inner.map(negation) | both | several.map(lambda parts: junction(" or ", any, parts))


LABELS = some.fixed_dictionaries({}, optional={"label": some.sampled_from("xyz"), "seen": some.booleans()})


@settings(max_examples=100, deadline=None)
@given(some.recursive(claims(), combined, max_leaves=4), some.lists(LABELS, min_size=3, max_size=3), some.data())
def test_conditions_hold_as_their_python_twins_do(condition, ballots, data):
    text, predicate = condition
    gap = data.draw(some.sampled_from(["nothing", "another"]))
    try:
        rule = parse(f"{HEAD[gap]}yes: {text}\notherwise: keep no", ANSWERS)
    except RuleTextError as impossible:
        assert all("answers cannot say all of this" in fault.message for fault in impossible.faults)
        return
    expected = Judged("kept", "yes" if predicate(ballots, gap) else "no")
    assert all(conclude(rule, order) == expected for order in permutations(ballots))


BALLOTS = [{}, *({"label": value} for value in "xyz")]


@settings(max_examples=100, deadline=None)
@given(claims(units=("label",)), claims(units=("label",)), some.sampled_from(["nothing", "another"]))
def test_a_line_that_is_refused_as_out_of_reach_is_reached_by_no_ballots(first, second, gap):
    try:
        parse(f"{HEAD[gap]}one: {first[0]}\ntwo: {second[0]}\notherwise: drop", ANSWERS)
    except RuleTextError:
        for ballots in combinations_with_replacement(BALLOTS, ANSWERS):
            assert first[1](ballots, gap) or not second[1](ballots, gap)


def labels(word):
    return [{"label": value} if value != "-" else {} for value in word]


@pytest.mark.parametrize(
    "said, nothing, another",
    [
        ("xxy", True, True),
        ("xy", False, False),
        ("xyz", False, False),
        ("xyzx", True, True),
        ("x--", True, False),
        ("xx--", True, False),
        ("xxy--", True, False),
        ("---", False, False),
        ("yyx", False, False),
    ],
)
def test_most_is_more_than_any_other_value_has_and_no_tie(said, nothing, another):
    for gap, expected in (("nothing", nothing), ("another", another)):
        rule = parse(f"{HEAD[gap]}most: most label = x\notherwise: drop", len(said))
        assert (conclude(rule, labels(said)).outcome == "kept") is expected, gap


@pytest.mark.parametrize("said, nothing, another", [("xxx", 1, 1), ("xx-", 1, 0), ("xxy", 0, 0), ("---", 0, 0)])
def test_all_are_those_who_were_asked_and_somebody_was(said, nothing, another):
    for gap, expected in (("nothing", nothing), ("another", another)):
        rule = parse(f"{HEAD[gap]}all: all label = x\notherwise: drop", 3)
        assert (conclude(rule, labels(said)).outcome == "kept") == expected, gap


def test_more_than_half_is_of_the_wanted_answers_even_when_fewer_are_there():
    rule = parse("answers missing: judge what is there\nx: more than half label = x\notherwise: drop", 4)
    outcomes = [conclude(rule, labels(said)).outcome for said in ("", "x", "xx", "xxx", "xxyx")]
    assert outcomes == ["open", "dropped", "dropped", "kept", "kept"]


def test_an_item_stays_open_until_all_wanted_answers_are_there():
    rule = parse("x: at least 1 label = x\notherwise: drop", 3)
    assert [conclude(rule, labels("x" * n)).outcome for n in range(4)] == ["open"] * 3 + ["kept"]


def test_the_first_line_that_holds_concludes():
    rule = parse(
        "drop odd: at least 2 label = y\nfine: at least 1 label = x\ndrop: all label = z\notherwise: keep rest", 3
    )
    found = [conclude(rule, labels(said))[:2] for said in ("xyy", "xyz", "zzz", "yzz")]
    assert found == [("dropped", "odd"), ("kept", "fine"), ("dropped", ""), ("kept", "rest")]


def test_numbers_and_truth_values_are_counted_by_their_spelling():
    rule = parse("ok: all stars = 5 and all seen = yes and all right.correct = no\notherwise: drop", 1)
    assert conclude(rule, [{"stars": 5, "seen": True, "right.correct": False}]).outcome == "kept"
    assert conclude(rule, [{"stars": 1, "seen": True, "right.correct": False}]).outcome == "dropped"


def test_each_group_is_judged_by_itself_beside_what_was_said_without_a_group():
    rule = parse("each question:\nfine: all story = good and at least 2 label = x\notherwise: drop", 3)
    said = [
        {"story": "good", "q1/label": "x", "q2/label": "y", "q10/label": "x"},
        {"story": "good", "q1/label": "x", "q2/label": "x", "q10/story": "bad", "q10/label": "x"},
        {"story": "good", "q1/label": "z", "q2/label": "y", "q10/label": "x"},
    ]
    assert conclude(rule, said) == Judged("kept", "", {"q1": "fine", "q2": "", "q10": ""})
    assert conclude(rule, [{"story": "good", "q2/label": "x"}, {}, {}]) == Judged("dropped", "", {"q2": ""})
    assert conclude(rule, [{"story": "good"}] * 3) == Judged("dropped")


COMPUTED = {"label": Value("x", 0.9), "seen": Value(True, None), "mood": Value(4.0, None)}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("aggregate label = x", True),
        ("aggregate label != x", False),
        ("aggregate label in y, x", True),
        ("confidence label >= 0.9", True),
        ("confidence label <= 0.89", False),
        ("aggregate seen = yes", True),
        ("confidence seen >= 0.1", False),
        ("aggregate mood >= 4", True),
        ("aggregate mood = 4", True),
        ("aggregate mood <= 3.5", False),
        ("aggregate label >= 1", False),
        # Nobody answered it.
        ("aggregate other != x", False),
        ("not aggregate other = x", True),
        ("confidence label >= 0.8 and at least 2 label = y", False),
    ],
)
def test_a_line_can_go_by_the_computed_value_and_its_confidence(condition, holds):
    rule = parse(f"yes: {condition}\notherwise: drop", 3)
    assert conclude(rule, [{"label": "x"}] * 3, values=COMPUTED).outcome == ("kept" if holds else "dropped")


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("confidence label >= 0.9", "waits"),
        ("not confidence label >= 0.9", "waits"),
        ("at least 2 label = x or confidence label >= 0.9", "kept"),
        ("at least 2 label = y or confidence label >= 0.9", "waits"),
        ("at least 2 label = x and confidence label >= 0.9", "waits"),
        ("at least 2 label = y and confidence label >= 0.9", "dropped"),
        ("not (at least 2 label = x and confidence label >= 0.9)", "waits"),
    ],
)
def test_an_item_waits_where_its_conclusion_hangs_on_what_was_not_computed_yet(condition, outcome):
    rule = parse(f"yes: {condition}\notherwise: drop", 3)
    judged = conclude(rule, [{"label": "x"}] * 3)
    assert ("waits" if judged.waits else judged.outcome) == outcome
    if judged.waits:
        # Whatever is computed, it concludes something then.
        found = [conclude(rule, [{"label": "x"}] * 3, values={"label": Value("x", sure)}) for sure in (0.1, 1.0)]
        assert {one.outcome for one in found} == {"kept", "dropped"}


def test_an_earlier_line_that_holds_concludes_without_what_a_later_one_needs():
    rule = parse("sure: all label = x\nlikely: confidence label >= 0.9\notherwise: drop", 2)
    assert conclude(rule, [{"label": "x"}] * 2) == Judged("kept", "sure")
    assert conclude(rule, [{"label": "x"}, {"label": "y"}]) == Judged("open", waits=True)
    assert conclude(rule, [{"label": "x"}]) == Judged("open")


def test_the_values_of_a_group_are_those_of_its_units():
    rule = parse("each question:\nfine: confidence label >= 0.8\notherwise: drop", 1)
    said, values = [{"q1/label": "x", "q2/label": "x"}], {"q1/label": Value("x", 0.9), "q2/label": Value("x", 0.7)}
    assert conclude(rule, said, values=values) == Judged("kept", "", {"q1": "fine", "q2": ""})
    assert conclude(rule, said) == Judged("open", waits=True)
