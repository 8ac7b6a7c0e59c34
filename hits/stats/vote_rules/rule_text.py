"""Vote rules in lines that a researcher can read and write.

    each question:
    answers missing: wait
    value missing: counts as nothing
    text: at least 3 label = text
    drop odd: more than half label in unfitting, unknown
    otherwise: drop

A line is `conclusion: condition`; the first line whose condition holds concludes, and `otherwise:` is the last one.
A conclusion is one word and keeps the item, unless it is written `drop` or `drop WORD`; `keep` keeps it without a word,
where no groups are judged. After `otherwise:` comes `keep`, `keep WORD`, `drop` or `drop WORD`. A condition counts
workers:

    claim       at least N | at most N | exactly N | all | none | more than half   UNIT = VALUE
                the same with   UNIT != VALUE   or   UNIT in VALUE, VALUE   (those that said any of them)
                at least N | all | more than half   agree on UNIT   (so many said the same, whatever it was)
                most UNIT = VALUE   (more than any other value of the unit has; a tie is not most)
                aggregate UNIT = VALUE   (also !=, in, and >= or <= with a number)
                confidence UNIT >= NUMBER   (also <=)
    condition   claims joined by `and` or by `or`, with `not` and parentheses; `and` beside `or` needs parentheses

`aggregate` is the item's value as the stage's computation of agreement found it in the answers of all workers, by the
method that was chosen, and `confidence` how sure that is, from 0 to 1. Neither holds for a unit that nobody answered,
nor a confidence for a value that has none, such as a mean. As long as they were not computed over the answers that the
item has, an item that comes to a line that hangs on them waits.

A unit is what an answer speaks of, such as `label`; `UNIT.correct` is yes or no where it was compared with a
reference. Values with spaces or signs stand in double quotes, a quote in them is doubled.

Header lines come first. `answers missing: wait` (the default) leaves an item open until all wanted answers are there,
`judge what is there` concludes from the first answer on, and anew with each one. `value missing: counts as nothing`
(the default) is for steps that were skipped: who did not say a unit is in no count of it, `all` asks those who said
it and does not hold where nobody did. With `counts as another value` such a worker said something that is no value
of the text: `all` fails, `!=` counts them, and in `most` they are a value together. `more than half` is always of the
wanted answers. With `each GROUP:` the rule judges every group of units such as `q3/label` by itself, under the unit's
own name (`label`); what a worker said without a group is there in every group. GROUP is a word for the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache

from hits.stats.vote_rules.rule_reader import JOINTS, WORD, read_text
from hits.stats.vote_rules.rule_tree import (
    And,
    Claim,
    Computed,
    Conclusion,
    Condition,
    Line,
    Not,
    Or,
    RuleFault,
    RuleText,
    RuleTextError,
    computed,
    leaves,
    nodes,
)

__all__ = ["RuleFault", "RuleText", "RuleTextError", "computed_units", "faults_against", "format", "parse", "units_of"]

# What is collected about how a text came about is evidence for people, and nothing goes by it automatically.
DECIDES_NOTHING = frozenset({"text_evidence", "_typing"})


@lru_cache(maxsize=256)
def parse(text: str, answers: int) -> RuleText:
    """The rule that the text writes, for items that want so many answers.

    Raises RuleTextError with every fault: of the language, of numbers that the answers cannot hold, and of lines
    that no answers can reach.
    """
    read = read_text(text)
    lines = read.lines + read.broken
    faults = read.faults + [fault for line in lines for fault in _number_faults(line, answers)]
    for line in lines:
        for claim in leaves(line.condition):
            if claim.unit in DECIDES_NOTHING:
                message = f"{claim.unit} decides nothing: how a text came about is for people who review answers"
                faults.append(RuleFault(line.number, claim.columns[1], message))
    faults += _unreachable(read.lines, answers)
    if faults or read.otherwise is None:
        raise RuleTextError(faults)
    headers = {name.replace(" ", "_"): value for name, value in read.headers.items()}
    return RuleText(answers, tuple(read.lines), read.otherwise, **headers)


def format(rule: RuleText) -> str:
    """The rule in its one normal spelling, which parses to the same rule; both gaps are written out."""
    headers = [f"each {rule.each}:"] if rule.each else []
    headers += [f"answers missing: {rule.answers_missing}", f"value missing: {rule.value_missing}"]
    lines = [f"{_spelled_conclusion(line.conclusion)}: {_spelled(line.condition)}" for line in rule.lines]
    keep = "keep " if rule.otherwise.kept and rule.otherwise.word else ""
    return "\n".join([*headers, *lines, f"otherwise: {keep}{_spelled_conclusion(rule.otherwise)}"]) + "\n"


def units_of(rule: RuleText) -> dict[str, tuple[str, ...]]:
    """The units that the rule looks at, in its order, each with the values that it names."""
    units: dict[str, dict[str, None]] = {}
    for line in rule.lines:
        for claim in leaves(line.condition):
            units.setdefault(claim.unit, {}).update(dict.fromkeys(claim.named))
    return {unit: tuple(values) for unit, values in units.items()}


def computed_units(rule: RuleText) -> dict[str, frozenset[str]]:
    """The units of which the rule looks at something computed, each with what: aggregate, confidence."""
    units: dict[str, frozenset[str]] = {}
    for line in rule.lines:
        for claim in computed(line.condition):
            units[claim.unit] = units.get(claim.unit, frozenset()) | {claim.what}
    return units


def faults_against(text: str, known: Mapping[str, tuple[str, ...] | None]) -> list[RuleFault]:
    """Units and values of the text that answers never hold, each with the nearest name that they do.

    `known` gives each unit's values, or None where they are not fixed; yes and no stand for true and false, and
    under `each` a unit is known without its group. What is wrong with the language itself is `parse`'s to say.
    """
    read = read_text(text)
    found = [(line, claim) for line in read.lines + read.broken for claim in leaves(line.condition)]
    return sorted(fault for line, claim in found for fault in _unknown(claim, line, known))


def _unknown(claim: Claim | Computed, line: Line, known: Mapping[str, tuple[str, ...] | None]) -> Iterator[RuleFault]:
    if claim.unit not in known:
        yield RuleFault(line.number, claim.columns[1], f"no answer holds {claim.unit!r}; {_nearest(claim.unit, known)}")
        return
    values = known[claim.unit]
    for value, column in zip(claim.named, claim.columns[2:], strict=False):
        if values is not None and value not in values:
            yield RuleFault(line.number, column, f"{claim.unit} is never {value!r}; {_nearest(value, values)}")


def _nearest(name: str, names: Mapping[str, object] | Sequence[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"did you mean {close[0]}?" if close else f"there is {', '.join(names) or 'nothing'}"


# The normal spelling


def _spelled_conclusion(conclusion: Conclusion) -> str:
    return (conclusion.word or "keep") if conclusion.kept else f"drop {conclusion.word}".strip()


def _spelled(condition: Condition) -> str:
    if isinstance(condition, Claim):
        return _spelled_claim(condition)
    if isinstance(condition, Computed):
        values = ", ".join(map(_spelled_value, condition.values))
        return f"{condition.what} {condition.unit} {condition.sign} {values}"
    if isinstance(condition, Not):
        return f"not {_enclosed(condition.part)}"
    joint = " and " if isinstance(condition, And) else " or "
    return joint.join(map(_enclosed, condition.parts))


def _enclosed(condition: Condition) -> str:
    return f"({_spelled(condition)})" if isinstance(condition, And | Or) else _spelled(condition)


def _spelled_claim(claim: Claim) -> str:
    number = "" if claim.number is None else f" {claim.number}"
    if not claim.values:
        return f"{claim.quantifier}{number} agree on {claim.unit}"
    sign = "!=" if claim.negated else "=" if len(claim.values) == 1 else "in"
    return f"{claim.quantifier}{number} {claim.unit} {sign} {', '.join(map(_spelled_value, claim.values))}"


def _spelled_value(value: str) -> str:
    if WORD.fullmatch(value) and value.lower() not in (*JOINTS, "not"):
        return value
    return '"' + value.replace('"', '""') + '"'


# Numbers that the wanted answers cannot hold, and lines that no item comes to


def _number_faults(line: Line, answers: int) -> Iterator[RuleFault]:
    for node in nodes(line.condition):
        if isinstance(node, Claim) and (message := _wrong_number(node, answers)):
            yield RuleFault(line.number, node.columns[0], message)
        if isinstance(node, And) and (crowded := _crowded(node, answers)):
            message = f"{answers} answers cannot say all of this about {crowded[0].unit}: put or where and cannot be"
            yield RuleFault(line.number, crowded[0].columns[0], message)


def _wrong_number(claim: Claim, answers: int) -> str:
    if claim.number is None:
        return ""
    if claim.number > answers:
        return f"{claim.quantifier} {claim.number} of {answers} wanted answers: write a number up to {answers}"
    always = {"at least": 0, "at most": answers}.get(claim.quantifier)
    return f"{claim.quantifier} {claim.number} always holds: write another number" if claim.number == always else ""


def _crowded(condition: And, answers: int) -> list[Claim]:
    """Claims about different values of one unit that together need more answers than are wanted."""
    by_unit: dict[str, list[Claim]] = {}
    for part in condition.parts:
        if isinstance(part, Claim) and part.values and not part.negated:
            by_unit.setdefault(part.unit, []).append(part)
    for crowd in by_unit.values():
        values = [value for claim in crowd for value in claim.values]
        least = sum(_range(claim, answers)[0] for claim in crowd)
        if len(crowd) > 1 and len(set(values)) == len(values) and least > answers:
            return crowd
    return []


def _unreachable(lines: Sequence[Line], answers: int) -> Iterator[RuleFault]:
    for i, later in enumerate(lines):
        for earlier in lines[:i]:
            if _implies(later.condition, earlier.condition, answers):
                message = f"no item comes here: whenever this holds, line {earlier.number} holds before it"
                yield RuleFault(later.number, 1, message)
                break


@lru_cache(maxsize=4096)
def _implies(later: Condition, earlier: Condition, answers: int) -> bool:
    """Whether one holds whenever the other does, as far as their shape shows it; False may also mean unknown."""
    if later == earlier:
        return True
    if isinstance(later, Or):
        return all(_implies(part, earlier, answers) for part in later.parts)
    if isinstance(earlier, And):
        return all(_implies(later, part, answers) for part in earlier.parts)
    if isinstance(earlier, Or) and any(_implies(later, part, answers) for part in earlier.parts):
        return True
    if isinstance(later, And) and any(_implies(part, earlier, answers) for part in later.parts):
        return True
    return isinstance(later, Claim) and isinstance(earlier, Claim) and _claim_implies(later, earlier, answers)


def _claim_implies(later: Claim, earlier: Claim, answers: int) -> bool:
    if (later.unit, later.negated) != (earlier.unit, earlier.negated) or earlier.quantifier in ("all", "most"):
        return False
    low, high = _range(later, answers)
    least, greatest = _range(earlier, answers)
    if not earlier.values:
        # So many who said one value agree; those who said one of several may not.
        return len(later.values) < 2 and least <= low
    if not later.values:
        return False
    if set(later.values) == set(earlier.values):
        return least <= low and high <= greatest
    # More values can only be said by more workers.
    return not later.negated and set(later.values) < set(earlier.values) and least <= low and greatest >= answers


def _range(claim: Claim, answers: int) -> tuple[int, int]:
    """The least and the greatest count of workers with which the claim can hold."""
    number = claim.number or 0
    return {
        "at least": (number, answers),
        "at most": (0, number),
        "exactly": (number, number),
        "none": (0, 0),
        "more than half": (answers // 2 + 1, answers),
    }.get(claim.quantifier, (1, answers))
