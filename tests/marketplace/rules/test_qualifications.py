from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        (place("In", "US", "CA", "GB"), "Living in: United States, Canada or United Kingdom"),
        (place("NotEqualTo", "US-CA"), "Not living in: California (United States)"),
        (asked("EqualTo", 1, type_id=rules.ADULT), "You agreed to see content for adults"),
        (asked("Exists", type_id=rules.MASTERS), "Holding: Masters"),
        (asked("DoesNotExist"), "Not holding: Poor quality"),
        (asked("In", 1, 2, 3), "Poor quality: one of 1, 2 or 3"),
    ],
)
def test_a_requirement_is_told_as_a_sentence(requirement: dict[str, Any], sentence: str) -> None:
    assert explain(requirement, "Poor quality") == sentence


COUNTRIES = ("US", "CA", "GB")
STATES = ("", "CA", "NY", "ON")
# The signs that the difference between what is held and what is asked may have.
ORDERED = {"LessThan": {-1}, "LessThanOrEqualTo": {-1, 0}, "GreaterThan": {1}, "GreaterThanOrEqualTo": {0, 1}}
NUMBER = st.integers(-3, 3)
NUMBERS = st.lists(NUMBER, min_size=1, max_size=15)
PLACES = st.lists(
    st.sampled_from(["US", "CA", "GB", "US-CA", "US-NY", "CA-ON"]).map(
        lambda place: dict(zip(("Country", "Subdivision"), place.split("-"), strict=False))
    ),
    min_size=1,
    max_size=30,
)


def passes_by_the_book(comparator: str, standing: Any, numbers: list[int], places: list[dict[str, str]]) -> bool:
    """The documented meaning, spelled out once more and differently."""
    if standing is None:
        return comparator == "DoesNotExist"
    if comparator in ("Exists", "DoesNotExist"):
        return comparator == "Exists"
    if isinstance(standing, tuple):
        lives = {standing[0], f"{standing[0]}-{standing[1]}"}
        asked_for = {"-".join(place.values()) for place in places}
        inside = bool(lives & asked_for)
    elif comparator in ORDERED:
        difference = standing - numbers[0]
        return max(-1, min(1, difference)) in ORDERED[comparator]
    else:
        inside = numbers.count(standing) > 0
    return inside if comparator in ("EqualTo", "In") else not inside


@given(st.data())
def test_any_number_compares_as_documented(data: st.DataObject) -> None:
    comparator = data.draw(
        st.sampled_from([*ORDERED, "EqualTo", "NotEqualTo", "In", "NotIn", "Exists", "DoesNotExist"])
    )
    numbers = data.draw(NUMBERS if comparator in ("In", "NotIn") else st.lists(NUMBER, min_size=1, max_size=1))
    values = [] if comparator.endswith(("Exists", "Exist")) else numbers
    standing = data.draw(st.none() | NUMBER)
    assert is_met(asked(comparator, *values), standing) is passes_by_the_book(comparator, standing, values, [])


@given(st.data())
def test_any_place_compares_as_documented(data: st.DataObject) -> None:
    comparator = data.draw(st.sampled_from(["EqualTo", "NotEqualTo", "In", "NotIn", "Exists", "DoesNotExist"]))
    places = data.draw(PLACES)[: 1 if comparator.endswith("EqualTo") else 30]
    requirement = {"QualificationTypeId": rules.LOCALE, "Comparator": comparator, "LocaleValues": places}
    if comparator.endswith(("Exists", "Exist")):
        del requirement["LocaleValues"]
    standing = data.draw(st.none() | st.tuples(st.sampled_from(COUNTRIES), st.sampled_from(STATES)))
    expected = passes_by_the_book(comparator, standing, [], places)
    assert is_met(normalise([requirement])[0], standing) is expected
