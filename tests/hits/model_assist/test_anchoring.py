"""Thirty workers who follow a suggestion in 30 % of their doubts, and thirty who never do: what the report says."""

from __future__ import annotations

from typing import Any

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from hits.model_assist.rules import anchoring
from hits.models import Stage, SuggestedAnswer
from tests.hits.model_assist.anchored_crowd import RIGHT, Outcome, Setup, simulate, table
from tests.hits.stand_in import StandIn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("eager")]


def lines_of(outcome: Outcome) -> dict[str, Any]:
    (field,) = outcome.found.fields
    assert field.field == "choice"
    return {line.kind: line.found for line in field.lines}


def test_workers_who_follow_in_three_of_ten_doubts_are_found_out(stand_in: StandIn, lead: Any) -> None:
    setup = Setup(follows=0.3)
    outcome = simulate(stand_in, setup, lead)
    print("\n" + table([(setup, outcome)]))
    lines = lines_of(outcome)
    answers = setup.items * setup.answers
    assert outcome.found.answers == outcome.found.counted == answers == SuggestedAnswer.objects.count()
    # Half of the answers were given with a suggestion in sight, and the server wrote down which.
    assert (lines["all"].shown.of, lines["all"].hidden.of) == (outcome.seen[True], outcome.seen[False])
    assert 0.46 < outcome.seen[True] / answers < 0.54
    # Where the suggestion is right, only doubtful answers disagree with it: 30 % of those follow.
    assert lines["right"].followed_interval.has(0.3)
    assert lines["right"].over_workers.followed.has(0.3)
    # Of all, the share that the report is about: of answers that would disagree, those that follow.
    assert lines["all"].followed_interval.has(outcome.share_that_follows)
    assert lines["all"].followed_interval.high < 0.5 and lines["all"].followed_interval.low > 0.1
    assert lines["all"].is_followed and lines["right"].is_followed
    share_right = (lines["right"].shown.of + lines["right"].hidden.of) / answers
    assert abs(share_right - RIGHT) < 0.08


def test_the_figures_are_those_of_the_raw_rows_of_the_file(stand_in: StandIn, lead: Any) -> None:
    """The downloaded table, counted anew and handed to another program."""
    outcome = simulate(stand_in, Setup(follows=0.3, items=40, workers=12), lead)
    rows = [dict(zip(anchoring.COLUMNS, row, strict=True)) for row in anchoring.table(Stage.objects.get())]
    assert len(rows) == 40 * 9 and all(row["counts"] for row in rows)
    for kind, rights in (("all", (True, False)), ("right", (True,)), ("wrong", (False,))):
        found = lines_of(outcome)[kind]
        chosen = [row for row in rows if row["right"] in rights]
        same = {arm: sum(row["agrees"] for row in chosen if row["shown"] == arm) for arm in (True, False)}
        of = {arm: sum(row["shown"] == arm for row in chosen) for arm in (True, False)}
        p1, p0 = same[True] / of[True], same[False] / of[False]
        assert found.difference == pytest.approx(p1 - p0)
        assert found.followed == pytest.approx((p1 - p0) / (1 - p0))
        oracle = confint_proportions_2indep(same[True], of[True], same[False], of[False], method="newcomb")
        interval = found.difference_interval
        assert (interval.low, interval.high) == pytest.approx(oracle, abs=1e-7)


def test_of_workers_who_never_follow_nothing_is_claimed(stand_in: StandIn, lead: Any) -> None:
    setup = Setup(follows=0.0)
    outcome = simulate(stand_in, setup, lead)
    print("\n" + table([(setup, outcome)]))
    for line in lines_of(outcome).values():
        assert line.difference_interval.has(0) and line.followed_interval.has(0)
        assert line.over_workers.difference.has(0)
        assert not line.is_followed and not line.is_avoided
