"""Computed values of items and how sure they are, as vote rules and conditions for enough answers look at them.

They come from the newest finished computation of the stage's agreement (`stage_statistics`). For an item they hold if
that began after the item's answers changed last; until then whatever hangs on them waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hits.judging.rules import stage_statistics
from hits.judging.rules.crowd_answers import TEXT, levels_of, named
from hits.models import ComputationRun, Stage
from hits.refusals import Refused
from hits.stats import enough
from hits.stats.aggregation.methods import BY_LEVEL
from hits.stats.vote_rules.conditions import Value
from hits.stats.vote_rules.rule_text import computed_units, parse

CONFIDENCE = "confidence"


# Methods that give an interval instead of a confidence.
_WITHOUT_CONFIDENCE = {"mean", "median"}


def of_items(
    stage: Stage, changed: Mapping[int, datetime | None]
) -> tuple[ComputationRun | None, dict[int, Mapping[str, Value]]]:
    """(the computation, item to its values by unit) of those of the items whose values hold.

    `changed` says of each item when its answers changed last, None where nobody knows.
    """
    run = stage_statistics.newest(stage)
    if run is None or run.started_at is None:
        return run, {}
    there = [pk for pk, at in changed.items() if at is not None and at < run.started_at]
    found = run.concluded.filter(item__in=there).values_list("item", "data")
    values = {
        pk: {unit: Value(one["value"], one["confidence"]) for unit, one in data["units"].items()} for pk, data in found
    }
    # An item without a result has no answer that can be compared.
    return run, {pk: values.get(pk, {}) for pk in there}


def looked_at(stage: Stage) -> bool:
    """Whether the stage's rule or its condition for enough answers looks at computed values."""
    return bool(_by_rule(stage.rule) or _by_condition(stage))


def faults(stage: Stage) -> list[str]:
    """What the rule and the condition look at and no computation gives, as sentences."""
    of_rule, of_condition = unknown(stage, _by_rule(stage.rule)), unknown_to_condition(stage)
    return [
        *(f"The vote rule {fault}. Correct it on the page of the rule." for fault in of_rule),
        *(f"The condition for enough answers {fault}. Correct it in the stage's settings." for fault in of_condition),
    ]


def unknown_to_condition(stage: Stage) -> list[str]:
    """What the condition for enough answers looks at and nothing computes, as the ends of sentences."""
    return unknown(stage, _by_condition(stage))


def refuse(stage: Stage) -> None:
    """Raises Refused (unknown_value)."""
    if found := faults(stage):
        raise Refused("unknown_value", " ".join(found))


def unknown(stage: Stage, units: Mapping[str, frozenset[str]]) -> list[str]:
    """Of these units those that are not computed, as the ends of sentences; `units` as `computed_units` gives them."""
    levels = levels_of(stage)
    given = [unit for unit, level in levels.items() if level != TEXT]
    found = []
    for unit, what in units.items():
        level = levels.get(named(unit, levels)[0], TEXT)
        if level == TEXT:
            there = ", ".join(given) or "nothing"
            found.append(f"looks at the computed value of {unit!r}, which the task does not give; it gives {there}")
        elif CONFIDENCE in what and _WITHOUT_CONFIDENCE.issuperset(BY_LEVEL[level]):
            found.append(
                f"looks at the confidence of {unit!r}, and a mean has none: write such as aggregate {unit} >= 4"
            )
    return found


def _by_rule(rule: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    return computed_units(parse(rule["params"]["text"], rule["params"]["answers"])) if "text" in rule["params"] else {}


def _by_condition(stage: Stage) -> Mapping[str, frozenset[str]]:
    return {} if stage.most_answers is None else computed_units(enough.condition(stage.enough, stage.most_answers))
