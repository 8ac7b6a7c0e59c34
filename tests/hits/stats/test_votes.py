from itertools import permutations, product

import pytest

from hits.stats.vote_rules.votes import Counts, Rule, RuleError, Vote, available, decide

KINDS = {"right": (True, False), "wrong": (False, False), "unscored": (None, False), "void": (True, True)}


def votes(kinds):
    return [Vote(f"W{i}", "x", *KINDS[kind]) for i, kind in enumerate(kinds)]


def matches(need, answers):
    return Rule("matches_reference", 1, {"need": need, "answers": answers})


def combinations(longest=4):
    return [kinds for size in range(longest + 1) for kinds in product(KINDS, repeat=size)]


@pytest.mark.parametrize("need, answers", [(1, 1), (1, 3), (2, 2), (2, 3), (3, 3)])
def test_matches_reference_over_all_combinations(need, answers):
    for kinds in combinations():
        right, wrong = kinds.count("right"), kinds.count("wrong")
        can_still_be = right + max(0, answers - right - wrong)
        expected = "kept" if right >= need else "open" if can_still_be >= need else "dropped"
        assert decide(matches(need, answers), votes(kinds)).outcome == expected, kinds


@pytest.mark.parametrize("answers", [1, 2, 3])
def test_measured_over_all_combinations(answers):
    for kinds in combinations():
        counting = len(kinds) - kinds.count("void")
        expected = "kept" if counting >= answers else "open"
        assert decide(Rule("measured", 1, {"answers": answers}), votes(kinds)).outcome == expected


def test_the_order_of_the_votes_does_not_matter():
    for kinds in product(KINDS, repeat=3):
        assert len({decide(matches(2, 3), votes(order)) for order in permutations(kinds)}) == 1


def test_void_votes_never_count():
    for kinds in combinations(3):
        bare = decide(matches(1, 2), votes(kinds))
        padded = decide(matches(1, 2), votes((*kinds, "void", "void")))
        assert padded.outcome == bare.outcome


def test_a_decision_is_final_while_wanted_answers_come_in():
    for kinds in product(["right", "wrong"], repeat=3):
        outcomes = [decide(matches(2, 3), votes(kinds[:n])).outcome for n in range(4)]
        settled = [outcome for outcome in outcomes if outcome != "open"]
        assert len(set(settled)) == 1


def test_an_outcome_names_its_rule_and_its_counts():
    outcome = decide(matches(1, 4), votes(["wrong", "void", "unscored"]))
    assert (outcome.outcome, outcome.rule, outcome.version) == ("open", "matches_reference", 1)
    assert outcome.counts == Counts(right=0, wrong=1, unscored=1, void=1, missing=2)
    assert outcome.counts.to_dict()["missing"] == 2


def test_the_same_worker_cannot_vote_twice_unless_one_vote_is_void():
    twice = [Vote("A", "x", True), Vote("A", "y", False)]
    with pytest.raises(ValueError, match="two votes that count"):
        decide(matches(1, 2), twice)
    assert decide(matches(1, 2), [twice[0], Vote("A", "y", False, void=True)]).outcome == "kept"


def test_a_rule_survives_being_stored():
    rule = matches(1, 3)
    assert Rule.from_dict(rule.to_dict()) == rule
    written = Rule("conditions", 1, {"answers": 3, "text": "ok: all label = good\notherwise: drop"})
    assert Rule.from_dict(written.to_dict()) == written
    assert available() == [("conditions", 1), ("matches_reference", 1), ("measured", 1)]


def test_a_written_rule_looks_at_what_the_votes_that_count_say():
    rule = Rule(
        "conditions", 1, {"answers": 2, "text": "ok: all label = good\ndrop odd: most label = bad\notherwise: drop"}
    )
    good, bad = ({"label": word} for word in ("good", "bad"))
    a, b, c = Vote("A", "x", said=good), Vote("B", "x", void=True, said=bad), Vote("C", "x", said=good)
    assert decide(rule, [a, b]).outcome == "open"
    kept = decide(rule, [a, b, c])
    assert (kept.outcome, kept.conclusion, kept.counts.void, kept.counts.missing) == ("kept", "ok", 1, 0)
    dropped = decide(rule, [Vote("D", "x", said=bad), Vote("B", "x", said=bad)])
    assert (dropped.outcome, dropped.conclusion, dropped.parts) == ("dropped", "odd", {})


def test_a_written_rule_is_refused_with_every_place_that_is_wrong():
    data = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": "ok: at least 4 a = x\nb: all c d"}}
    with pytest.raises(
        RuleError, match="rule conditions: line 1, column 5: .*; line 2, column 1: .*; line 2, column 10"
    ):
        Rule.from_dict(data)


@pytest.mark.parametrize(
    "data, message",
    [
        ({"name": "majority", "version": 1, "params": {}}, "no rule 'majority'.*there are: conditions 1"),
        ({"name": "measured", "version": 2, "params": {"answers": 1}}, "no rule 'measured' in version 2"),
        ({"name": "measured", "version": 1, "params": {}}, "exactly the parameters \\['answers'\\]"),
        ({"name": "measured", "version": 1, "params": {"answers": 0}}, "at least 1, not 0"),
        ({"name": "measured", "version": 1, "params": {"answers": True}}, "at least 1, not True"),
        ({"name": "matches_reference", "version": 1, "params": {"need": 3, "answers": 2}}, "2 answers cannot hold 3"),
        ({"name": "conditions", "version": 1, "params": {"answers": 0, "text": ""}}, "at least 1, not 0"),
        ({"name": "conditions", "version": 1, "params": {"answers": 1, "text": 5}}, "text must be the rule's lines"),
        ({"name": "measured", "version": 1}, "exactly name, version and params"),
    ],
)
def test_a_wrong_rule_is_refused(data, message):
    with pytest.raises(RuleError, match=message):
        Rule.from_dict(data)


def test_an_item_that_wants_fewer_answers_than_its_rule_allows_is_judged_by_those():
    one_of_seven = matches(1, 7)
    assert decide(one_of_seven, votes(["wrong", "wrong"])).outcome == "open"
    assert decide(one_of_seven, votes(["wrong", "wrong"]), answers=2).outcome == "dropped"
    measured = Rule("measured", 1, {"answers": 7})
    assert [decide(measured, votes(["right"] * n), answers=2).outcome for n in (1, 2)] == ["open", "kept"]
    half = Rule("conditions", 1, {"answers": 7, "text": "ok: more than half label = x\notherwise: drop"})
    said = [Vote(str(n), "x", said={"label": "x"}) for n in range(2)]
    assert decide(half, said).outcome == "open"
    assert decide(half, said, answers=2).outcome == "kept"
    assert decide(half, said, answers=2).counts.missing == 0
    # Nor is anything concluded before they are there.
    early = Rule(
        "conditions", 1, {"answers": 7, "text": f"answers missing: judge what is there\n{half.params['text']}"}
    )
    assert [decide(early, said[:1], answers=n).outcome for n in (1, 2)] == ["kept", "open"]
