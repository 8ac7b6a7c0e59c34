"""The language of vote rules: one spelling, and a sentence for every fault."""

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.stats.vote_rules.rule_text import RuleTextError, computed_units, faults_against, format, parse, units_of
from hits.stats.vote_rules.rule_tree import HEADERS, And, Claim, Computed, Conclusion, Line, Not, Or, RuleText

ANSWERS = 7
VALUES = some.sampled_from(["yes", "c0", "not", "And", "", 'a "b"', "two words", "ß/x", "=", "1"]) | some.text(
    some.characters(exclude_characters="\n"), max_size=3
)
NUMBERED = ("at least", "at most", "exactly")


@some.composite
def computed(draw):
    if draw(some.booleans()):
        what = draw(some.sampled_from(["aggregate", "confidence"]))
        number = draw(some.sampled_from(["0.9", "1", "0.123456789", "0.5"]))
        return Computed(what, "label", draw(some.sampled_from([">=", "<="])), (number,))
    values = tuple(draw(some.lists(VALUES, min_size=1, max_size=3, unique=True)))
    return Computed("aggregate", "label", "in" if len(values) > 1 else draw(some.sampled_from(["=", "!="])), values)


@some.composite
def claims(draw):
    if draw(some.booleans()):
        return draw(computed())
    quantifier = draw(some.sampled_from([*NUMBERED, "all", "none", "more than half", "most"]))
    number = draw(some.integers(1, ANSWERS - 1)) if quantifier in NUMBERED else None
    if quantifier in ("at least", "all", "more than half") and draw(some.booleans()):
        return Claim(quantifier, number, "label", ())
    values = draw(some.lists(VALUES, min_size=1, max_size=1 if quantifier == "most" else 3, unique=True))
    negated = quantifier != "most" and len(values) == 1 and draw(some.booleans())
    return Claim(quantifier, number, "label", tuple(values), negated)


def joined(kind, inner):
    """Parts of the same kind are one list of parts already, as the language reads them."""
    parts = inner.filter(lambda part: not isinstance(part, kind))
    return some.builds(kind, some.tuples(parts, parts) | some.tuples(parts, parts, parts))


CONDITIONS = some.recursive(
    claims(), lambda inner: inner.map(Not) | joined(And, inner) | joined(Or, inner), max_leaves=5
)


def numbered(condition, units):
    """Each claim about a unit of its own, so that none makes another one or a later line impossible."""
    if isinstance(condition, Claim | Computed):
        return replace(condition, unit=f"q/u{next(units)}.correct")
    if isinstance(condition, Not):
        return Not(numbered(condition.part, units))
    return type(condition)(tuple(numbered(part, units) for part in condition.parts))


@some.composite
def rules(draw):
    words = draw(some.sampled_from([(), ("valid",), ("no-majority", "Ä_1", ""), ("x", "a9", "valid")]))
    units = count()
    conclusions = [Conclusion(word != "" and draw(some.booleans()), word) for word in words]
    lines = tuple(Line(conclusion, numbered(draw(CONDITIONS), units)) for conclusion in conclusions)
    otherwise = draw(some.sampled_from([Conclusion(False, ""), Conclusion(False, "rest"), Conclusion(True, "rest")]))
    gaps = [draw(some.sampled_from(HEADERS[name])) for name in ("answers missing", "value missing")]
    return RuleText(ANSWERS, lines, otherwise, draw(some.sampled_from(["", "question"])), *gaps)


@settings(max_examples=60, deadline=None)
@given(rules())
def test_what_is_written_reads_as_the_same_rule(rule):
    text = format(rule)
    assert parse(text, ANSWERS) == rule
    assert format(parse(text, ANSWERS)) == text


def test_spaces_capitals_and_needless_parentheses_make_no_other_rule():
    loose = (
        "\n ok :  At Least  02 (a)".replace("(a)", "a=x") + " AND ((all b IN y ,z)and none c!= w) \r\n\nOtherwise:DROP"
    )
    assert format(parse(loose, 3)) == (
        "answers missing: wait\nvalue missing: counts as nothing\n"
        "ok: at least 2 a = x and all b in y, z and none c != w\notherwise: drop\n"
    )


# A text of one line gets `otherwise: drop` behind it; items want 3 answers.
FAULTS = {
    "ok: some a = x": (5, "'some' does not say how many: write at least 1"),
    "ok: majority a = x": (5, "write more than half"),
    "ok: at lest 2 a = x": (5, "'at' does not say how many: write at least N, at most N"),
    "ok: a = x": (5, "say how many before 'a'"),
    "ok: at least 4 a = x": (5, "at least 4 of 3 wanted answers: write a number up to 3"),
    "ok: exactly 4 a = x": (5, "write a number up to 3"),
    "ok: at least 0 a = x": (5, "at least 0 always holds"),
    "ok: at most 3 a = x": (5, "at most 3 always holds"),
    "ok: at least two a = x": (14, "write a whole number after at least"),
    "ok: all = x": (9, "write the unit that is counted here"),
    "ok: all a x": (11, "write = VALUE, != VALUE or in VALUE, VALUE after 'a'"),
    "ok: all a = ": (12, "write a value here"),
    "ok: all a = x, y": (14, "= takes one value: several stand after in"),
    "ok: all a in x, x": (17, "'x' is there twice"),
    "ok: all a = not sure": (13, "in double quotes unless it is a word"),
    "ok: all a = very good": (18, "put a value of several words into double quotes"),
    'ok: all a = "x': (13, "this quotation mark is never closed"),
    "ok: most a in x, y": (12, "write most a = VALUE"),
    "ok: most agree on a": (10, "most does not go with agree on: write at least N, all or more than half"),
    "ok: all agree on": (17, "write the unit that is counted here"),
    "ok: at least 4 agree on a": (5, "at least 4 of 3 wanted answers: write a number up to 3"),
    "ok: all agree on a = x": (20, "write and or or before '='"),
    "ok: (all a = x": (5, "this ( is never closed"),
    "ok: all a = x)": (14, "this ) closes nothing"),
    "ok: all a = x and none b = y or none c = y": (30, "put parentheses around what belongs together"),
    "ok: all a = x and": (18, "write a condition here"),
    "ok: " + "not " * 21 + "all a = x": (5, "at most 20 parentheses and nots"),
    "ok: at least 2 a = x and at least 2 a = y": (5, "3 answers cannot say all of this about a"),
    "ok: aggregate = x": (15, "write the unit that is counted here"),
    "ok: aggregate a x": (17, "write = or != or in or >= or <= after 'a', such as a = VALUE"),
    "ok: aggregate a >= b": (20, "write a number after >=, such as aggregate UNIT >= 0.9"),
    "ok: aggregate a in x, x": (23, "'x' is there twice"),
    "ok: confidence a = 0.9": (18, "write >= or <= after 'a', such as a >= 0.9"),
    "ok: confidence a >= 90": (21, "a confidence is more than 0 and at most 1: write such as 0.9"),
    "ok: a >= 0.9": (5, "say how many before 'a'"),
    "two words: all a = x": (1, "'two words' is no conclusion: write one word"),
    "keep ok: all a = x": (1, "write the word alone"),
    "each: all a = x": (1, "each, one word for a group and a colon"),
    "answers missing: never": (18, "write answers missing: wait or judge what is there"),
    "all a = x": (1, "write a conclusion and a colon first"),
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_fault_says_where_it_is_and_what_to_write(line):
    column, message = FAULTS[line]
    with pytest.raises(RuleTextError) as refused:
        parse(f"{line}\notherwise: drop", 3)
    (fault,) = refused.value.faults
    assert (fault.line, fault.column) == (1, column)
    assert message in fault.message


WHOLE = {
    "ok: all a = x": "line 1, column 1: the last line is missing: write otherwise: drop",
    "otherwise: hold": "line 1, column 12: write otherwise: drop, otherwise: keep, or either with one WORD behind it",
    "otherwise: keep a b": "line 1, column 12: write otherwise: drop, otherwise: keep, or either with one WORD",
    "each q:\notherwise: keep": "line 2, column 12: give the groups that are kept a word",
    "each q:\nkeep: all a = x\notherwise: drop": "line 2, column 1: give the groups that are kept a word",
    "otherwise: keep drop": "'drop' is no conclusion",
    "otherwise: drop\nok: all a = x": "line 2, column 1: no item comes to a line behind otherwise",
    "ok: all a = x\nok: all b = x\notherwise: drop": "line 2, column 1: 'ok' is concluded in line 1 already",
    "ok: all a = x\notherwise: keep ok": "'ok' is concluded in line 1 already",
    "ok: all a = x\nvalue missing: counts as nothing\notherwise: drop": "belongs above the first conclusion",
    "each q:\neach q:\notherwise: drop": "line 2, column 1: each is there twice",
    "x" * 5001: "at most 5,000 characters",
}


@pytest.mark.parametrize("text", WHOLE)
def test_a_fault_of_the_whole_text_is_named(text):
    with pytest.raises(RuleTextError) as refused:
        parse(text, 3)
    assert [fault for fault in refused.value.faults if WHOLE[text] in str(fault)]


SHADOWED = [
    ("all a = x", "all a = x"),
    ("at least 2 a = x", "at least 3 a = x"),
    ("more than half a = x", "exactly 2 a = x"),
    ("at most 1 a != x", "none a != x"),
    ("at least 2 a in x, y", "at least 2 a = x"),
    ("at least 1 a = x", "most a = x and all b = y"),
    ("at least 2 agree on a", "at least 3 a = x"),
    ("at least 2 agree on a", "at least 3 agree on a"),
    ("all b = y or at least 1 a = x", "all a = x or exactly 2 a = x"),
    ("all a = x and all b = y", "all b = y and none c = z and all a = x"),
]


@pytest.mark.parametrize("first, second", SHADOWED)
def test_a_line_that_no_item_comes_to_is_refused(first, second):
    with pytest.raises(RuleTextError, match="line 2, column 1: no item comes here: whenever this holds, line 1 holds"):
        parse(f"one: {first}\ntwo: {second}\notherwise: drop", 3)


@pytest.mark.parametrize(
    "first, second",
    [
        ("at least 2 agree on a", "at least 2 a in x, y"),
        ("at least 2 agree on a", "at least 2 a != x"),
        ("at least 2 a = x", "at least 3 agree on a"),
    ],
)
def test_those_who_agree_need_not_agree_on_a_certain_value(first, second):
    assert len(parse(f"one: {first}\ntwo: {second}\notherwise: drop", 3).lines) == 2


@pytest.mark.parametrize("first, second", SHADOWED[1:-1])
def test_in_the_other_order_both_lines_are_reached(first, second):
    assert len(parse(f"one: {second}\ntwo: {first}\notherwise: drop", 3).lines) == 2


def test_every_fault_comes_at_once_in_the_order_of_the_text():
    text = "answers missing: never\nok: (some a = x) and at least 9 b = y and all c z\nok: all d = w\nx y: none e = f"
    with pytest.raises(RuleTextError) as refused:
        parse(text, 3)
    places = [(fault.line, fault.column) for fault in refused.value.faults]
    assert places == [(1, 18), (2, 6), (2, 22), (2, 49), (3, 1), (4, 1), (4, 1)]
    assert str(refused.value).count("line ") >= 7


KNOWN = {"label": ("text", "script"), "picked": None, "picked.correct": ("yes", "no")}


def test_names_that_no_answer_holds_are_named_with_the_nearest_one():
    text = "a: all lable = text and some x = y\nb: most label = scrip or all picked = c9\n"
    text += "c: none zzz = 1 and all picked.correct = true"
    assert [str(fault) for fault in faults_against(text, KNOWN)] == [
        "line 1, column 8: no answer holds 'lable'; did you mean label?",
        "line 2, column 17: label is never 'scrip'; did you mean script?",
        "line 3, column 9: no answer holds 'zzz'; there is label, picked, picked.correct",
        "line 3, column 42: picked.correct is never 'true'; there is yes, no",
    ]
    assert faults_against("ok: all label in text, script\notherwise: drop", KNOWN) == []


@pytest.mark.parametrize(
    ("written", "spelled"),
    [("0.00001", "0.00001"), ("0.900", "0.9"), ("999999999.999999999", "999999999.999999999"), ("-0.5", "-0.5"),
     ("100", "100"), ("007", "7")],
)  # fmt: skip
def test_a_number_has_one_spelling_which_reads_as_itself(written, spelled):
    rule = parse(f"ok: aggregate a >= {written}\notherwise: drop", 3)
    assert f"aggregate a >= {spelled}\n" in format(rule) and parse(format(rule), 3) == rule


def test_names_in_claims_about_computed_values_are_looked_up_too():
    text = "ok: aggregate labl = text or aggregate label in text, scrip or confidence label >= 0.9\notherwise: drop"
    assert [str(fault).partition(", column ")[2].split(";")[0] for fault in faults_against(text, KNOWN)] == [
        "15: no answer holds 'labl'",
        "55: label is never 'scrip'",
    ]


def test_the_units_of_a_rule_come_with_the_values_that_it_names():
    rule = parse("a: all u = x or (none v != y and most u = z)\nb: all u in x, w\notherwise: drop", 3)
    assert units_of(rule) == {"u": ("x", "z", "w"), "v": ("y",)}
    rule = parse("a: aggregate u in x, y and confidence u >= 0.9 and aggregate v >= 3\notherwise: drop", 3)
    assert units_of(rule) == {"u": ("x", "y"), "v": ()}
    assert computed_units(rule) == {"u": {"aggregate", "confidence"}, "v": {"aggregate"}}


@settings(max_examples=80, deadline=None)
@given(
    some.lists(
        some.sampled_from(
            [*'a:=,()"!\n', "and ", "or ", "not ", "all ", "at least 1 ", "otherwise: drop", "confidence ", ">= 1"]
        )
    )
)
def test_any_text_is_a_rule_or_refused_with_faults(pieces):
    text = "".join(pieces)
    try:
        rule = parse(text, 2)
    except RuleTextError as refused:
        lines = text.split("\n")
        assert refused.faults
        assert all(1 <= fault.line <= len(lines) for fault in refused.faults)
        assert all(1 <= fault.column <= len(lines[fault.line - 1]) + 1 for fault in refused.faults)
    else:
        assert parse(format(rule), 2) == rule
