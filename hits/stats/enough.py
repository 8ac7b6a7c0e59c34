"""How many answers an item wants, where that lies between a least and a most number.

An item gets one answer after another until a condition holds, such as `at least 2 agree on label`. The condition is
written in the language of `rule_text`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import count

from hits.stats.vote_rules.conditions import Said, Value, Values, conclude
from hits.stats.vote_rules.rule_text import computed_units, parse, units_of
from hits.stats.vote_rules.rule_tree import RuleFault, RuleText, RuleTextError, leaves

_HEAD = "enough: "
# Of an expectation before anything was answered.
ASSUMED_ACCURACY = 0.8
SIMULATED_ITEMS = 2000
# Answers that the claims of a condition are counted over while that is found out, at most: about a second. Where items
# may want many answers, fewer items tell the mean as well, but never fewer than so many.
COUNTED_AT_MOST, FEWEST_SIMULATED = 1_000_000, 5
_VALUES = ("one value", "another value", "a third value", "a fourth value")


@lru_cache(maxsize=256)
def condition(text: str, most: int) -> RuleText:
    """A rule that keeps exactly the items of which the condition holds, for `most` answers at most.

    Raises RuleTextError with every fault, in the columns of `text`.
    """
    faults = []
    if "\n" in text.strip():
        faults = [RuleFault(2, 1, "the condition takes one line: join its parts by and or or")]
    try:
        found = parse(f"{_HEAD}{text.strip()}\notherwise: drop", most)
    except RuleTextError as error:
        faults = faults or [_of_text(fault) for fault in error.faults]
    if faults:
        raise RuleTextError(faults)
    return found


def _of_text(fault: RuleFault) -> RuleFault:
    return RuleFault(fault.line, max(1, fault.column - len(_HEAD)), fault.message)


def looks_at_values(text: str, most: int) -> bool:
    """Whether the condition hangs on values that are computed, and not on the answers alone."""
    return bool(computed_units(condition(text, most)))


def answers_wanted(said: Sequence[Said], least: int, most: int, text: str, values: Values = None) -> int:
    """How many answers the item wants, from `least` to `most`, by what its answers say in the order of submission.

    It is the least number of first answers of which the condition `text` holds. With fewer answers than that it is one
    more than there are. Later answers never change what earlier ones have settled. `values` were computed over all of
    them; where the condition hangs on values that were not, the item `waits` at that number.
    """
    return _first(said, least, most, text, lambda _: values)


def waits(said: Sequence[Said], number: int, most: int, text: str, values: Values) -> bool:
    """Whether more than `number` answers may be wanted, which hangs on values that were not computed yet."""
    there = number < most and len(said) >= number
    return there and conclude(condition(text, most), said[:number], number, values).waits


def _first(
    said: Sequence[Said], least: int, most: int, text: str, values_of: Callable[[Sequence[Said]], Values]
) -> int:
    rule = condition(text, most)
    for number in range(least, most):
        if len(said) < number:
            return number
        judged = conclude(rule, said[:number], number, values_of(said[:number]))
        if judged.outcome == "kept" or judged.waits:
            return number
    return most


@lru_cache(maxsize=256)
def expected_answers(least: int, most: int, text: str, seed: int) -> float:
    """The mean number of answers an item, if each answer is right with a probability of 0.8; from simulated items.

    A wrong answer says one of the other values with equal probability: of those that the condition names and one more,
    or of four where it names none. A computed value is the most probable one for somebody who knows all that. It is a
    guess for the time before anything was answered.
    """
    rule = condition(text, most)
    values = {unit: _values(unit, named) for unit, named in units_of(rule).items()}
    claims = sum(1 for line in rule.lines for _ in leaves(line.condition))
    draw = random.Random(f"expected answers {seed}")
    items = max(FEWEST_SIMULATED, min(SIMULATED_ITEMS, COUNTED_AT_MOST // (most * most * max(1, claims))))
    return sum(_simulated(least, most, text, values, draw) for _ in range(items)) / items


def _values(unit: str, named: Sequence[str]) -> Sequence[str]:
    if unit.endswith(".correct"):
        return ("yes", "no")
    another = next(value for number in count() if (value := f"value {number}") not in named)
    return (*named, another) if named else _VALUES


def _simulated(least: int, most: int, text: str, values: Mapping[str, Sequence[str]], draw: random.Random) -> int:
    right = {unit: "yes" if unit.endswith(".correct") else draw.choice(known) for unit, known in values.items()}
    said = [{unit: _answer(right[unit], known, draw) for unit, known in values.items()} for _ in range(most)]
    computed = computed_units(condition(text, most))
    return _first(said, least, most, text, lambda given: {unit: _computed(unit, given, values) for unit in computed})


def _computed(unit: str, said: Sequence[Said], values: Mapping[str, Sequence[str]]) -> Value:
    """The most probable value and its probability, by Bayes' rule from equal ones."""
    known = values[unit]
    times = ASSUMED_ACCURACY * (len(known) - 1) / (1 - ASSUMED_ACCURACY)
    given = Counter(str(one[unit]) for one in said)
    weights = {value: times ** given[value] for value in known}
    best = max(known, key=lambda value: weights[value])
    return Value(best, weights[best] / sum(weights.values()))


def _answer(right: str, known: Sequence[str], draw: random.Random) -> str:
    return right if draw.random() < ASSUMED_ACCURACY else draw.choice([value for value in known if value != right])
