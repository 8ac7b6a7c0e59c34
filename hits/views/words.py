"""Settings that are data, said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hits.stats.blocking import MEASURES, Policy
from hits.workers.rules.project_qualifications import title_of

NAMES = {
    "percent_approved": "approval rate",
    "number_approved": "approved answers",
    "locale": "country",
    "adult": "adult content accepted",
}
COMPARATORS = {
    "LessThan": "below",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "above",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "",
    "NotEqualTo": "not",
    "In": "one of",
    "NotIn": "none of",
}


RULES = {
    "matches_reference": "keeps what matches gold",
    "measured": "keeps every answered item",
    "conditions": "in lines",
}


def rule_name(name: str) -> str:
    """A rule's name as readers know it."""
    return RULES.get(name, name.replace("_", " "))


def requirement(given: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """One worker requirement: 'approval rate at least 95 %', 'country one of US, CA, GB'.

    `titles` are those of the project's own qualifications, by key.
    """
    key, comparator = given["qualification"], given["comparator"]
    name = NAMES.get(key) or f"the qualification “{titles.get(key) or title_of(key)}”"
    if comparator in ("Exists", "DoesNotExist"):
        return f"{'holds' if comparator == 'Exists' else 'does not hold'} {name}"
    values = [str(value) for value in [*given.get("integers", []), *given.get("locales", [])]]
    unit = " %" if key == "percent_approved" else ""
    return " ".join(part for part in (name, COMPARATORS.get(comparator, comparator), ", ".join(values)) if part) + unit


def policy(given: Mapping[str, Any]) -> str:
    """A blocking policy: 'after every 1,000 scored answers, of workers with 20 or more, below 20 % (p < 0.01)'."""
    read = Policy.from_dict(given)
    measure = MEASURES[read.measure]
    of = f" {measure.of}" if measure.of else ""
    floor = f"{read.floor:.0%} of the way from chance to the crowd" if read.relative else f"{read.floor:.0%}"
    return (
        f"after every {read.check_every:,} {measure.scored}, of workers with {read.min_answers:,} or more, "
        f"below {floor}{of} (p < {read.alpha:g})"
    )


def requirements(given: Iterable[Mapping[str, Any]], titles: Mapping[str, str]) -> list[str]:
    return [requirement(one, titles) for one in given]
