from typing import Any

import pytest

from marketplace.rules import qualifications as rules
from marketplace.rules.qualifications import explain, guards, is_met, normalise


def asked(comparator: str, *values: int, type_id: str = "3OWN") -> dict[str, Any]:
    return normalise([{"QualificationTypeId": type_id, "Comparator": comparator, "IntegerValues": list(values)}])[0]


def place(comparator: str, *places: str) -> dict[str, Any]:
    values = [dict(zip(("Country", "Subdivision"), place.split("-"), strict=False)) for place in places]
    return normalise([{"QualificationTypeId": rules.LOCALE, "Comparator": comparator, "LocaleValues": values}])[0]


@pytest.mark.parametrize(
    ("requirement", "standing", "met"),
    [
        (asked("LessThan", 5), 4, True),
        (asked("LessThan", 5), 5, False),
        (asked("LessThanOrEqualTo", 5), 5, True),
        (asked("GreaterThan", 5), 5, False),
        (asked("GreaterThan", 5), 6, True),
        (asked("GreaterThanOrEqualTo", 5), 5, True),
        (asked("EqualTo", 5), 5, True),
        (asked("EqualTo", 5), 6, False),
        (asked("NotEqualTo", 5), 6, True),
        (asked("NotEqualTo", 5), 5, False),
        (asked("In", 1, 2), 2, True),
        (asked("In", 1, 2), 3, False),
        (asked("NotIn", 1, 2), 3, True),
        (asked("NotIn", 1, 2), 2, False),
        (asked("Exists"), 0, True),
        (asked("DoesNotExist"), 0, False),
        (asked("DoesNotExist"), None, True),
        (asked("Exists"), None, False),
        (asked("NotEqualTo", 5), None, False),
        (asked("NotIn", 5), None, False),
        (asked("LessThan", 5), None, False),
        (place("EqualTo", "US"), ("US", "CA"), True),
        (place("EqualTo", "US-CA"), ("US", "CA"), True),
        (place("EqualTo", "US-CA"), ("US", "NY"), False),
        (place("EqualTo", "US-CA"), ("US", ""), False),
        (place("NotEqualTo", "US-CA"), ("US", "NY"), True),
        (place("In", "US", "CA", "GB"), ("GB", ""), True),
        (place("In", "US", "CA", "GB"), ("FR", ""), False),
        (place("NotIn", "US", "CA"), ("CA", ""), False),
        (place("NotIn", "US", "CA"), None, False),
    ],
)
def test_a_standing_meets_a_requirement(requirement: dict[str, Any], standing: rules.Standing, met: bool) -> None:
    assert is_met(requirement, standing) is met


@pytest.mark.parametrize(
    ("given", "accept", "preview", "discover"),
    [
        ({}, True, False, False),
        ({"ActionsGuarded": "Accept"}, True, False, False),
        ({"ActionsGuarded": "PreviewAndAccept"}, True, True, False),
        ({"ActionsGuarded": "DiscoverPreviewAndAccept"}, True, True, True),
        ({"RequiredToPreview": True}, True, True, False),
        ({"RequiredToPreview": False}, True, False, False),
    ],
)
def test_a_guard_includes_the_weaker_ones(given: Any, accept: bool, preview: bool, discover: bool) -> None:
    requirement = normalise([{"QualificationTypeId": "3OWN", "Comparator": "Exists", **given}])[0]
    assert [guards(requirement, action) for action in ("accept", "preview", "discover")] == [accept, preview, discover]


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        (asked("GreaterThanOrEqualTo", 95, type_id=rules.PERCENT_APPROVED), "At least 95 % of your answers approved"),
        (asked("GreaterThan", 5000, type_id=rules.NUMBER_APPROVED), "More than 5,000 of your answers approved"),
        (place("In", "US", "CA", "GB"), "You live in US, CA or GB"),
        (place("NotEqualTo", "US-CA"), "You do not live in CA (US)"),
        (asked("EqualTo", 1, type_id=rules.ADULT), "You agreed to see content for adults"),
        (asked("Exists", type_id=rules.MASTERS), "Holding: Masters"),
        (asked("DoesNotExist"), "Not holding: Poor quality"),
        (asked("In", 1, 2, 3), "Poor quality: one of 1, 2 or 3"),
    ],
)
def test_a_requirement_is_told_as_a_sentence(requirement: dict[str, Any], sentence: str) -> None:
    assert explain(requirement, "Poor quality") == sentence
