"""The calls of a whole small job, counted by the marketplace: the benchmark of `make bench` with 30 items."""

from __future__ import annotations

import pytest

from tests.benchmarks.calls import count_calls

pytestmark = pytest.mark.django_db(transaction=True)
# One CreateHITType, one creation and one list of answers a HIT; the balance is asked for the quote and once more at
# its confirmation.
# Each HIT has three answers.
FEWEST = {
    "CreateHITType": 1,
    "CreateHITWithHITType": 10,
    "ListAssignmentsForHIT": 10,
    "GetAccountBalance": 2,
    "ApproveAssignment": 30,
}


def test_ten_items_whose_pages_tell_cost_one_call_more_than_nothing_could(market, eager):
    count = count_calls(market, 10, "pages", rounds=2, hurry=True)
    assert count.calls == {**FEWEST, "ListReviewableHITs": 1}


def test_with_events_telling_it_costs_one_call_more(market, queue_url, eager):
    count = count_calls(market, 10, "events", rounds=2, hurry=True)
    assert count.calls == {**FEWEST, "ListReviewableHITs": 1, "UpdateNotificationSettings": 1}


def test_the_fewest_calls_are_one_to_create_and_one_to_fetch_each_hit():
    from tests.benchmarks.calls import Count

    count = Count({"CreateHITType": 1, "CreateHITWithHITType": 1000, "ListAssignmentsForHIT": 1000}, 1000, 3, 7)
    assert sum(count.minimum.values()) == 1001 + 10 + 1000 + 7 + 2993
    assert count.ratio < 1
