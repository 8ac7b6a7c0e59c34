"""What a rule in lines, as every majority is, concludes from what the workers said. `rule_text` has the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar

from hits.stats.vote_rules.rule_tree import And, Claim, Computed, Conclusion, Condition, Not, Or, RuleText

T = TypeVar("T")
OutcomeName = Literal["kept", "dropped", "open"]
# What a vote says of each unit: a text, a truth value or a whole number. `<unit>.correct` is there as well, true or
# false, where the unit was compared with a reference. Units of a group are `<group>/<unit>`.
Said = Mapping[str, str | bool | int]
_Spelled = Mapping[str, str]


class Value(NamedTuple):
    """What was computed for a unit of an item from all answers; `confidence` is 0..1 where there is one."""

    value: Any
    confidence: float | None


# By unit. None: nothing was computed yet over the answers that the item has.
Values = Mapping[str, Value] | None
_NO_PARTS: Mapping[str, str] = {}


class Judged(NamedTuple):
    """`conclusion` is empty without a word for it; `parts` has the word of each group where groups are judged.

    `waits`: it is open until something is computed over the answers that are there.
    """

    outcome: OutcomeName
    conclusion: str = ""
    parts: Mapping[str, str] = _NO_PARTS
    waits: bool = False


def conclude(rule: RuleText, said: Sequence[Said], answers: int | None = None, values: Values = None) -> Judged:
    """What the rule concludes from what each worker said whose vote counts, in any order.

    `answers` are wanted of this item, where it wants fewer than the rule says. `values` were computed over its answers.

    Open while answers are missing, unless the rule judges what is there; without an answer it is always open.
    Where groups are judged the item is kept if any of them is, and has no word of its own; a group that is dropped
    without a word has an empty one, and an item without groups is dropped.
    """
    if answers is not None:
        rule = replace(rule, answers=answers)
    if not said or (rule.waits and len(said) < rule.answers):
        return Judged("open")
    spelled = [{unit: _text(value) for unit, value in one.items()} for one in said]
    if rule.each:
        return _by_group(rule, spelled, values)
    conclusion = _first(rule, spelled, values)
    return Judged(_outcome(conclusion.kept), conclusion.word) if conclusion else Judged("open", waits=True)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    # A mean of 4.0 is the 4 that workers chose.
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _outcome(kept: bool) -> OutcomeName:
    return "kept" if kept else "dropped"


def _by_group(rule: RuleText, said: Sequence[_Spelled], values: Values) -> Judged:
    groups = sorted({unit.partition("/")[0] for one in said for unit in one if "/" in unit})
    found = {}
    for group in groups:
        own = None if values is None else _within(values, group)
        if (conclusion := _first(rule, [_within(one, group) for one in said], own)) is None:
            return Judged("open", waits=True)
        found[group] = conclusion
    kept = any(conclusion.kept for conclusion in found.values())
    return Judged(_outcome(kept), parts={group: conclusion.word for group, conclusion in found.items()})


def _within(said: Mapping[str, T], group: str) -> Mapping[str, T]:
    """What one worker said as the group sees it: its own units by their own names over those without a group."""
    shared = {unit: value for unit, value in said.items() if "/" not in unit}
    own = {unit.removeprefix(f"{group}/"): value for unit, value in said.items() if unit.startswith(f"{group}/")}
    return shared | own


def _first(rule: RuleText, said: Sequence[_Spelled], values: Values) -> Conclusion | None:
    """None where it hangs on something that was not computed yet."""
    for line in rule.lines:
        holds = _holds(line.condition, rule, said, values)
        if holds is None:
            return None
        if holds:
            return line.conclusion
    return rule.otherwise


def _holds(condition: Condition, rule: RuleText, said: Sequence[_Spelled], values: Values) -> bool | None:
    """None where it hangs on something that was not computed yet, as in Kleene's logic of three values."""
    match condition:
        case And(parts) | Or(parts):
            # What settles it: one part of `and` that does not hold, one of `or` that does.
            settling = isinstance(condition, Or)
            found = [_holds(part, rule, said, values) for part in parts]
            if settling in found:
                return settling
            return None if None in found else not settling
        case Not(part):
            holds = _holds(part, rule, said, values)
            return None if holds is None else not holds
        case Computed():
            return None if values is None else _computed_holds(condition, values.get(condition.unit))
        case Claim():
            return _claim_holds(condition, rule, said)


def _computed_holds(claim: Computed, found: Value | None) -> bool:
    computed = None if found is None else found.value if claim.what == "aggregate" else found.confidence
    if computed is None:
        return False
    if claim.sign in ("=", "!=", "in"):
        return (_text(computed) in claim.values) != (claim.sign == "!=")
    if isinstance(computed, bool) or not isinstance(computed, int | float):
        return False
    limit = float(claim.values[0])
    return computed >= limit if claim.sign == ">=" else computed <= limit


def _claim_holds(claim: Claim, rule: RuleText, said: Sequence[_Spelled]) -> bool:
    heard = Counter(one.get(claim.unit) for one in said)
    if not rule.counts_missing:
        del heard[None]
    if claim.quantifier == "most":
        mine = heard.pop(claim.values[0], 0)
        return mine > max(heard.values(), default=0)
    if not claim.values:
        # Who said nothing of the unit agrees with nobody.
        agreeing = max((n for value, n in heard.items() if value is not None), default=0)
    else:
        agreeing = sum(n for value, n in heard.items() if (value in claim.values) != claim.negated)
    if claim.quantifier == "all":
        return agreeing == heard.total() > 0
    return _ENOUGH[claim.quantifier](agreeing, claim.number or 0, rule.answers)


# Each takes how many workers agree, the number of the claim and how many answers are wanted.
_ENOUGH: Mapping[str, Callable[[int, int, int], bool]] = {
    "at least": lambda agreeing, number, wanted: agreeing >= number,
    "at most": lambda agreeing, number, wanted: agreeing <= number,
    "exactly": lambda agreeing, number, wanted: agreeing == number,
    "none": lambda agreeing, number, wanted: agreeing == 0,
    "more than half": lambda agreeing, number, wanted: 2 * agreeing > wanted,
}
