"""What the marketplace itself knows about a worker, and what it stands in the way of."""

from itertools import product
from typing import Any

import pytest

from marketplace.models import Worker
from marketplace.rules.qualifications import ADULT, LOCALE, MASTERS_IDS, NUMBER_APPROVED, PERCENT_APPROVED
from marketplace.verbs import qualifications

ACTIONS = ("discover", "preview", "accept")
LEVELS = ("DiscoverPreviewAndAccept", "PreviewAndAccept", "Accept")


@pytest.mark.parametrize(
    ("submitted", "approved", "rejected", "percent"),
    [
        (0, 0, 0, 100),
        (99, 9, 90, 100),
        (100, 10, 90, 10),
        (100, 0, 0, 100),
        (100, 0, 100, 0),
        (200, 199, 1, 99),
        (150, 0, 1, 0),
        (300, 299, 0, 100),
    ],
)
def test_the_percentage_counts_from_a_hundred_answers(
    submitted: int, approved: int, rejected: int, percent: int
) -> None:
    worker = Worker(submitted_count=submitted, approved_count=approved, rejected_count=rejected)
    assert worker.system_standing(PERCENT_APPROVED) == percent
    assert worker.system_standing(NUMBER_APPROVED) == approved


def test_what_a_worker_said_about_itself() -> None:
    worker = Worker(country="US", subdivision="CA", adult=True, masters=True)
    assert worker.system_standing(LOCALE) == ("US", "CA")
    assert worker.system_standing(ADULT) == 1
    assert {worker.system_standing(type_id) for type_id in MASTERS_IDS} == {1}
    silent = Worker()
    assert silent.system_standing(LOCALE) is None
    assert silent.system_standing(ADULT) == 0
    assert {silent.system_standing(type_id) for type_id in MASTERS_IDS} == {None}


@pytest.mark.parametrize(
    ("type_id", "values"),
    [
        (PERCENT_APPROVED, {"Comparator": "GreaterThan", "IntegerValues": [100]}),
        (NUMBER_APPROVED, {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [1]}),
        (LOCALE, {"Comparator": "NotIn", "LocaleValues": [{"Country": "FR"}]}),
        (ADULT, {"Comparator": "EqualTo", "IntegerValues": [1]}),
        ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", {"Comparator": "Exists"}),
    ],
)
def test_a_level_guards_its_action_and_those_behind_it(type_id: str, values: dict[str, Any]) -> None:
    newcomer = Worker()
    for (depth, level), (place, action) in product(enumerate(LEVELS), enumerate(ACTIONS)):
        requirement = {"QualificationTypeId": type_id, "ActionsGuarded": level, **values}
        blocked = qualifications.failing(newcomer, [requirement], action) == [requirement]
        assert blocked is (place >= depth), (level, action)


def test_one_unmet_requirement_is_enough_and_is_named() -> None:
    worker = Worker(country="US", adult=True)
    met = {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1], "ActionsGuarded": "Accept"}
    unmet = {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "CA"}]}
    unmet["ActionsGuarded"] = "Accept"
    assert qualifications.failing(worker, [met, unmet], "accept") == [unmet]
