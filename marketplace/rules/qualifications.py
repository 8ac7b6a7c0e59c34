"""Qualification requirements: their normal form, their comparison with a worker, their sentence.

A requirement is a dict in the API's form. A worker's standing is an integer, a (country, subdivision)
pair, or None when the worker does not hold the qualification at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pycountry

from marketplace.rules import limits
from marketplace.rules.countries import COUNTRIES
from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.sentences import Place, Sentence, either

Requirement = dict[str, Any]
Standing = int | tuple[str, str] | None

PERCENT_APPROVED = "000000000000000000L0"
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
SANDBOX_MASTERS = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"
MASTERS_IDS = frozenset({MASTERS, SANDBOX_MASTERS})
# Below this many judged submissions a percentage says nothing, and everybody counts as 100.
PERCENT_COUNTS_FROM = 100

ACCEPT = "Accept"
PREVIEW = "PreviewAndAccept"
DISCOVER = "DiscoverPreviewAndAccept"
# An action is guarded by every setting that includes it.
GUARDS = {"accept": {ACCEPT, PREVIEW, DISCOVER}, "preview": {PREVIEW, DISCOVER}, "discover": {DISCOVER}}

_ORDER: dict[str, Callable[[int, int], bool]] = {
    "LessThan": lambda held, asked: held < asked,
    "LessThanOrEqualTo": lambda held, asked: held <= asked,
    "GreaterThan": lambda held, asked: held > asked,
    "GreaterThanOrEqualTo": lambda held, asked: held >= asked,
}
_EXISTENCE = {"Exists", "DoesNotExist"}
_SETS = {"In", "NotIn"}
_AMOUNTS: dict[str, Callable[[str], Sentence]] = {
    "LessThan": lambda numbers: Sentence("less than %(numbers)s", numbers=numbers),
    "LessThanOrEqualTo": lambda numbers: Sentence("at most %(numbers)s", numbers=numbers),
    "GreaterThan": lambda numbers: Sentence("more than %(numbers)s", numbers=numbers),
    "GreaterThanOrEqualTo": lambda numbers: Sentence("at least %(numbers)s", numbers=numbers),
    "EqualTo": lambda numbers: Sentence("exactly %(numbers)s", numbers=numbers),
    "NotEqualTo": lambda numbers: Sentence("not %(numbers)s", numbers=numbers),
    "In": lambda numbers: Sentence("one of %(numbers)s", numbers=numbers),
    "NotIn": lambda numbers: Sentence("none of %(numbers)s", numbers=numbers),
}


@dataclass(frozen=True)
class SystemType:
    type_id: str
    name: str
    description: str


SYSTEM_TYPES = {
    kind.type_id: kind
    for kind in (
        SystemType(
            PERCENT_APPROVED, Sentence("Percent of answers approved"), "Share of the worker's judged answers, 0 to 100."
        ),
        SystemType(
            NUMBER_APPROVED, Sentence("Number of answers approved"), "How many of the worker's answers were approved."
        ),
        SystemType(LOCALE, Sentence("Location"), "The country, and where known the state, that the worker lives in."),
        SystemType(ADULT, Sentence("Adult content"), "1 if the worker agreed to see content for adults."),
        SystemType(MASTERS, Sentence("Masters"), "Workers of long and proven standing."),
        SystemType(SANDBOX_MASTERS, Sentence("Masters (sandbox)"), "Workers of long and proven standing, for tests."),
    )
}


def normalise(requirements: Sequence[Mapping[str, Any]]) -> list[Requirement]:
    """Check what the model cannot and fill in defaults; raises ParameterValidationError."""
    if len(requirements) > limits.REQUIREMENTS:
        raise ParameterValidationError(
            f"{len(requirements)} QualificationRequirements were given; at most {limits.REQUIREMENTS} are allowed."
        )
    return [_normalise_one(requirement) for requirement in requirements]


def _normalise_one(given: Mapping[str, Any]) -> Requirement:
    type_id, comparator = given["QualificationTypeId"], given["Comparator"]
    numbers, places = given.get("IntegerValues") or [], given.get("LocaleValues") or []
    _check_values(type_id, comparator, numbers, places)
    guarded = given.get("ActionsGuarded", PREVIEW if given.get("RequiredToPreview") else ACCEPT)
    if given.get("RequiredToPreview", guarded != ACCEPT) != (guarded != ACCEPT):
        raise ParameterValidationError(
            f"RequiredToPreview and ActionsGuarded contradict each other in the requirement for {type_id}: "
            f"{ACCEPT} lets everybody preview, {PREVIEW} and {DISCOVER} do not. Leave RequiredToPreview out."
        )
    normal: Requirement = {"QualificationTypeId": type_id, "Comparator": comparator}
    if numbers:
        normal["IntegerValues"] = list(numbers)
    if places:
        normal["LocaleValues"] = [dict(place) for place in places]
    return normal | {"RequiredToPreview": guarded != ACCEPT, "ActionsGuarded": guarded}


def _check_values(type_id: str, comparator: str, numbers: Sequence[int], places: Sequence[Any]) -> None:
    where = f"the QualificationRequirement for {type_id}"
    if comparator in _EXISTENCE:
        if numbers or places:
            raise ParameterValidationError(f"{comparator} takes no values in {where}.")
        return
    if type_id == LOCALE:
        if comparator in _ORDER:
            raise ParameterValidationError(f"A location has no order: {comparator} cannot be used in {where}.")
        _check_count("LocaleValues", "IntegerValues", places, numbers, comparator, limits.LOCALE_VALUES, where)
        _check_places(places, where)
    else:
        _check_count("IntegerValues", "LocaleValues", numbers, places, comparator, limits.INTEGER_VALUES, where)


def _check_count(
    name: str, other: str, values: Sequence[Any], stray: Sequence[Any], comparator: str, most: int, where: str
) -> None:
    if stray:
        raise ParameterValidationError(f"{other} cannot be used in {where}; use {name}.")
    if comparator not in _SETS:
        most = 1
    if not 1 <= len(values) <= most:
        counted = "exactly one value" if most == 1 else f"1 to {most} values"
        raise ParameterValidationError(f"{comparator} needs {counted} in {name} of {where}; {len(values)} were given.")


def _check_places(places: Sequence[Mapping[str, str]], where: str) -> None:
    """A place that does not exist would shut everybody out, or nobody, without a word."""
    for place in places:
        country, part = place["Country"], place.get("Subdivision")
        if country not in COUNTRIES:
            raise ParameterValidationError(f"Country '{country}' in {where} is not a code of ISO 3166, such as US.")
        if part is not None and part_name(country, part) is None:
            raise ParameterValidationError(
                f"Subdivision '{part}' in {where} is not a code of ISO 3166-2 for {country}, such as CA for US."
            )


def part_name(country: str, part: str) -> str | None:
    """The name of a state or another part of a country; None for a code that ISO 3166-2 does not have."""
    parts: Any = pycountry.subdivisions
    # The library does not look at case, the comparison with where a worker lives does.
    found = parts.get(code=f"{country}-{part}") if part == part.upper() else None
    return None if found is None else str(found.name)


def is_met(requirement: Requirement, standing: Standing) -> bool:
    """Whether a worker of this standing passes. Who does not hold a type passes only DoesNotExist."""
    comparator = requirement["Comparator"]
    if comparator == "DoesNotExist":
        return standing is None
    if standing is None:
        return False
    if comparator == "Exists":
        return True
    if isinstance(standing, tuple):
        country, subdivision = standing
        held = any(
            country == place["Country"] and place.get("Subdivision") in (None, subdivision)
            for place in requirement["LocaleValues"]
        )
        return held == (comparator in ("EqualTo", "In"))
    values = requirement["IntegerValues"]
    if comparator in _ORDER:
        return _ORDER[comparator](standing, values[0])
    return (standing in values) == (comparator in ("EqualTo", "In"))


def wants(requirements: Sequence[Requirement], type_id: str) -> bool:
    """Whether workers shall find out that holding the type helps: one of the requirements asks for more than that it is
    not held, and does not hide the HITs from who does not meet it.
    """
    return any(
        asked["QualificationTypeId"] == type_id
        and asked["Comparator"] != "DoesNotExist"
        and not guards(asked, "discover")
        for asked in requirements
    )


def guards(requirement: Requirement, action: str) -> bool:
    """Whether the requirement stands in the way of `action`: accept, preview or discover."""
    return requirement["ActionsGuarded"] in GUARDS[action]


def explain(requirement: Requirement, type_name: str | None = None) -> str:
    """The requirement as a sentence to a worker; `type_name` names a type that is not a system type."""
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    if type_id == LOCALE and comparator not in _EXISTENCE:
        places = either([_place(place) for place in requirement["LocaleValues"]])
        if comparator in ("EqualTo", "In"):
            return Sentence("Living in: %(places)s", places=places)
        return Sentence("Not living in: %(places)s", places=places)
    name = SYSTEM_TYPES[type_id].name if type_id in SYSTEM_TYPES else type_name or type_id
    if comparator in _EXISTENCE:
        if comparator == "Exists":
            return Sentence("Holding: %(name)s", name=name)
        return Sentence("Not holding: %(name)s", name=name)
    amount = _AMOUNTS[comparator](either([f"{value:,}" for value in requirement["IntegerValues"]]))
    if type_id == PERCENT_APPROVED:
        return Sentence("%(amount)s %% of your answers approved", amount=amount, capital=True)
    if type_id == NUMBER_APPROVED:
        return Sentence("%(amount)s of your answers approved", amount=amount, capital=True)
    if type_id == ADULT and is_met(requirement, 1):
        return Sentence("You agreed to see content for adults")
    if type_id == ADULT:
        return Sentence("You did not agree to see content for adults")
    return Sentence("%(name)s: %(amount)s", name=name, amount=amount)


def amount(requirement: Requirement, unit: str = "") -> str:
    """The value that is asked for in words, such as "80 %" (or more), "more than 80 %"; `unit` follows each number."""
    comparator = requirement["Comparator"]
    numbers = either([f"{value:,}{unit}" for value in requirement["IntegerValues"]])
    return numbers if comparator == "GreaterThanOrEqualTo" else _AMOUNTS[comparator](numbers)


def _place(place: Mapping[str, str]) -> str:
    country, part = place["Country"], place.get("Subdivision")
    name = Place(COUNTRIES.get(country, country), country)
    if not part:
        return name
    # By name: CA alone may be Canada or California.
    known = part_name(country, part)
    return Sentence("%(part)s (%(country)s)", part=Place(known, f"{country}-{part}") if known else part, country=name)
