"""The wage of a stage goes by measured times, and says so where it is assumed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from hits.models import StageSummary
from hits.payments.rules import wages
from hits.stages.models import Stage
from tests.hits import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def stage(description: str = "Click a name.", expected: int | None = None, **summary: object) -> Stage:
    row = factories.stage(hit_description=description, expected_seconds=expected)
    StageSummary.objects.filter(stage=row).update(**summary)
    row.summary.refresh_from_db()
    return row


def told(row: Stage) -> tuple[float, bool] | None:
    found = wages.answer_time(row)
    return (found.seconds, found.assumed) if found else None


def test_before_any_answer_the_description_counts_and_the_lead_s_word_before_it() -> None:
    assert told(stage("About 2 minutes.")) == (120, True)
    assert told(stage("About 2 minutes.", 90)) == (90, True)
    assert told(stage()) is None
    several = stage("About 2 minutes.")
    several.items_per_hit = 3
    assert told(several) == (360, True)


def test_enough_answers_are_believed_rather_than_what_was_expected() -> None:
    assert told(stage("About 2 minutes.", answers=5, median_seconds=30.5)) == (30.5, False)


def test_few_answers_and_implausible_times_are_doubted() -> None:
    few = wages.answer_time(stage("About 40 seconds.", answers=2, median_seconds=2.0))
    assert few and few.assumed and few.doubt == "The median of 2 answers so far, 2 s, says little."
    fast = wages.answer_time(stage("About 40 seconds.", answers=500, median_seconds=2.0))
    assert (
        fast
        and fast.assumed
        and fast.doubt == "The measured median of 2 s is implausible: less than a fifth of the 40 s that are expected."
    )
    assert fast.hourly(Decimal("0.04")) == Decimal("3.60")
    alone = wages.answer_time(stage(answers=2, median_seconds=38.0))
    assert alone and not alone.assumed and alone.doubt


def test_the_reward_that_reaches_a_wage_is_rounded_up() -> None:
    time = wages.AnswerTime(40, assumed=True)
    assert time.reward_for(Decimal("7.25")) == Decimal("0.09")
    assert time.hourly(Decimal("0.09")) >= Decimal("7.25")
