"""What a rule in lines, as every majority is, concludes from what the workers said. `rule_text` has the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from hits.quality.rule_tree import And, Claim, Conclusion, Condition, Not, Or, RuleText

OutcomeName = Literal["kept", "dropped", "open"]
# What a vote says of each unit: a text, a truth value or a whole number. `<unit>.correct` is there as well, true or
# false, where the unit was compared with a reference. Units of a group are `<group>/<unit>`.
Said = Mapping[str, str | bool | int]
_Spelled = Mapping[str, str]
_NO_PARTS: Mapping[str, str] = {}


class Judged(NamedTuple):
    """`conclusion` is empty without a word for it; `parts` has the word of each group where groups are judged."""

    outcome: OutcomeName
    conclusion: str = ""
    parts: Mapping[str, str] = _NO_PARTS


def conclude(rule: RuleText, said: Sequence[Said], answers: int | None = None) -> Judged:
    """What the rule concludes from what each worker said whose vote counts, in any order.

    `answers` are wanted of this item, where it wants fewer than the rule says.

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
        return _by_group(rule, spelled)
    conclusion = _first(rule, spelled)
    return Judged(_outcome(conclusion.kept), conclusion.word)


def _text(value: str | bool | int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _outcome(kept: bool) -> OutcomeName:
    return "kept" if kept else "dropped"


def _by_group(rule: RuleText, said: Sequence[_Spelled]) -> Judged:
    groups = sorted({unit.partition("/")[0] for one in said for unit in one if "/" in unit})
    found = {group: _first(rule, [_within(one, group) for one in said]) for group in groups}
    kept = any(conclusion.kept for conclusion in found.values())
    return Judged(_outcome(kept), parts={group: conclusion.word for group, conclusion in found.items()})


def _within(said: _Spelled, group: str) -> _Spelled:
    """What one worker said as the group sees it: its own units by their own names over those without a group."""
    shared = {unit: value for unit, value in said.items() if "/" not in unit}
    own = {unit.removeprefix(f"{group}/"): value for unit, value in said.items() if unit.startswith(f"{group}/")}
    return shared | own


def _first(rule: RuleText, said: Sequence[_Spelled]) -> Conclusion:
    holding = (line.conclusion for line in rule.lines if _holds(line.condition, rule, said))
    return next(holding, rule.otherwise)


def _holds(condition: Condition, rule: RuleText, said: Sequence[_Spelled]) -> bool:
    match condition:
        case And(parts):
            return all(_holds(part, rule, said) for part in parts)
        case Or(parts):
            return any(_holds(part, rule, said) for part in parts)
        case Not(part):
            return not _holds(part, rule, said)
        case Claim():
            return _claim_holds(condition, rule, said)


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
