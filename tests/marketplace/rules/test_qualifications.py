from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules import qualifications as rules
from marketplace.rules.errors import ParameterValidationError
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


def refusal(given: dict[str, Any]) -> str:
    with pytest.raises(ParameterValidationError) as refused:
        normalise([{"QualificationTypeId": "3OWN", "Comparator": "Exists", **given}])
    return str(refused.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"IntegerValues": [1]}, "Exists takes no values"),
        ({"Comparator": "DoesNotExist", "LocaleValues": [{"Country": "US"}]}, "DoesNotExist takes no values"),
        ({"Comparator": "EqualTo"}, "EqualTo needs exactly one value in IntegerValues"),
        ({"Comparator": "EqualTo", "IntegerValues": [1, 2]}, "needs exactly one value in IntegerValues"),
        ({"Comparator": "In", "IntegerValues": list(range(16))}, "In needs 1 to 15 values"),
        ({"Comparator": "In", "LocaleValues": [{"Country": "US"}]}, "LocaleValues cannot be used"),
        ({"RequiredToPreview": True, "ActionsGuarded": "Accept"}, "contradict each other"),
        ({"RequiredToPreview": False, "ActionsGuarded": "PreviewAndAccept"}, "contradict each other"),
        ({"RequiredToPreview": False, "ActionsGuarded": "DiscoverPreviewAndAccept"}, "contradict each other"),
    ],
)
def test_a_requirement_that_makes_no_sense_is_refused(given: dict[str, Any], words: str) -> None:
    assert words in refusal(given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"Comparator": "LessThan", "LocaleValues": [{"Country": "US"}]}, "A location has no order"),
        ({"Comparator": "EqualTo", "LocaleValues": [{"Country": "XX"}]}, "Country 'XX'"),
        ({"Comparator": "EqualTo", "LocaleValues": [{"Country": "US", "Subdivision": "QQ"}]}, "Subdivision 'QQ'"),
        ({"Comparator": "EqualTo", "IntegerValues": [1]}, "IntegerValues cannot be used"),
        ({"Comparator": "In", "LocaleValues": [{"Country": "US"}] * 31}, "In needs 1 to 30 values"),
    ],
)
def test_a_place_that_does_not_exist_or_is_compared_by_size_is_refused(given: dict[str, Any], words: str) -> None:
    assert words in refusal({"QualificationTypeId": rules.LOCALE, **given})


def test_ten_requirements_are_allowed_and_eleven_are_not() -> None:
    one = {"QualificationTypeId": "3OWN", "Comparator": "Exists"}
    assert len(normalise([one] * 10)) == 10
    with pytest.raises(ParameterValidationError, match="11 QualificationRequirements were given; at most 10"):
        normalise([one] * 11)


def test_the_most_values_of_each_kind_are_kept_as_they_were_given() -> None:
    numbers, places = list(range(15)), [{"Country": "US"}, {"Country": "CA"}] * 15
    assert asked("In", *numbers)["IntegerValues"] == numbers
    found = normalise([{"QualificationTypeId": rules.LOCALE, "Comparator": "NotIn", "LocaleValues": places}])[0]
    assert found["LocaleValues"] == places and "IntegerValues" not in found
    assert "LocaleValues" not in asked("EqualTo", 1)


def test_both_ways_of_saying_who_may_preview_may_agree() -> None:
    for guarded, preview in (("Accept", False), ("PreviewAndAccept", True), ("DiscoverPreviewAndAccept", True)):
        given = {"QualificationTypeId": "3OWN", "Comparator": "Exists", "ActionsGuarded": guarded}
        found = normalise([{**given, "RequiredToPreview": preview}])[0]
        assert (found["ActionsGuarded"], found["RequiredToPreview"]) == (guarded, preview)
        assert normalise([given])[0] == found


def test_workers_find_out_that_holding_a_type_helps_where_a_requirement_shows_its_hits() -> None:
    shown = asked("GreaterThan", 5)
    hidden = {**shown, "ActionsGuarded": "DiscoverPreviewAndAccept"}
    assert rules.wants([asked("DoesNotExist"), hidden, shown], "3OWN")
    assert not rules.wants([shown], "3OTHER")
    assert not rules.wants([hidden], "3OWN") and not rules.wants([asked("DoesNotExist")], "3OWN")
    assert not rules.wants([], "3OWN")


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (asked("GreaterThanOrEqualTo", 5000), "5,000 %"),
        (asked("GreaterThan", 80), "more than 80 %"),
        (asked("LessThan", 80), "less than 80 %"),
        (asked("LessThanOrEqualTo", 80), "at most 80 %"),
        (asked("NotEqualTo", 80), "not 80 %"),
        (asked("NotIn", 1, 2), "none of 1 % or 2 %"),
    ],
)
def test_the_value_that_is_asked_for_is_told_in_words(requirement: dict[str, Any], words: str) -> None:
    assert rules.amount(requirement, " %") == words


@pytest.mark.parametrize(
    ("requirement", "sentence"),
    [
        (asked("EqualTo", 0, type_id=rules.ADULT), "You did not agree to see content for adults"),
        (asked("DoesNotExist", type_id=rules.LOCALE), "Not holding: Location"),
        (place("In", "US", "CA-ON"), "Living in: United States or Ontario (Canada)"),
        (place("NotIn", "US", "GB"), "Not living in: United States or United Kingdom"),
        (asked("LessThan", 5000, type_id=rules.NUMBER_APPROVED), "Less than 5,000 of your answers approved"),
    ],
)
def test_more_requirements_as_sentences(requirement: dict[str, Any], sentence: str) -> None:
    assert explain(requirement) == sentence


def test_a_type_without_a_name_is_told_by_its_id() -> None:
    assert explain(asked("Exists")) == "Holding: 3OWN"
    assert explain(asked("Exists", type_id=rules.SANDBOX_MASTERS), "Poor quality") == "Holding: Masters (sandbox)"
