from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.models import Action, StageSummary
from hits.stages.pages import overview
from hits.stages.verbs import stage_settings
from hits.views import action_words
from tests.hits import factories as make
from tests.hits.world import World
from tests.markup import squeezed


def test_hours_without_an_answer_count_as_zero() -> None:
    filled = overview.filled_hours([["2026-11-19T10:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert [answers for _, answers in filled] == [5, 0, 0, 2]


def test_a_long_collection_shows_its_last_two_weeks() -> None:
    filled = overview.filled_hours([["2026-01-01T00:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert len(filled) == overview.LONGEST_TIMELINE
    assert filled[-1][1] == 2


def test_the_plot_of_answers_says_what_came_in_the_last_hour() -> None:
    found = overview.answers_an_hour([["2026-11-19T10:00:00+00:00", 1500], ["2026-11-19T11:00:00+00:00", 60]])
    assert "Answers an hour" in found["timeline_plot"] and "in the last hour 60." in found["timeline_plot"]
    assert found["timeline_rows"] == [("19 Nov 2026, 10:00 UTC", "1,500"), ("19 Nov 2026, 11:00 UTC", "60")]
    assert overview.answers_an_hour([]) == {"timeline_plot": "", "timeline_rows": []}


def test_workers_are_plotted_with_the_floor_and_the_crowd_where_they_are_known() -> None:
    both = overview.workers_by_accuracy([1, 2, 4, 8], 0.2, 0.51)
    assert "Workers by accuracy: 15 workers, floor 20 %, crowd 51 %." in both
    assert "Workers by accuracy: 15 workers." in overview.workers_by_accuracy([1, 2, 4, 8], None, None)


def test_answers_of_all_days_are_counted_by_hour_of_the_day_in_utc() -> None:
    timeline = [["2026-11-19T10:00:00+00:00", 5], ["2026-11-20T10:00:00+00:00", 2], ["2026-11-20T01:00:00+02:00", 4]]
    assert {at: n for at, n in enumerate(overview.by_hour_of_the_day(timeline)) if n} == {10: 7, 23: 4}


def _stage_page(client: Client, world: World, timeline: list[list[object]]) -> tuple[str, int]:
    """(the page, its queries) with these hours."""
    StageSummary.objects.filter(stage=world.stage).update(timeline=timeline, items=400, answers=100_000)
    with CaptureQueriesContext(connection) as queries:
        page = squeezed(client.get(world.url("stage")))
    return page, len(queries)


def _hours(page: str) -> list[tuple[str, str, str]]:
    row = r'<td>(\d\d:00 to \d\d:00)</td><td class="n">([\d,]+)</td><td class="n">([\d.]+ %)</td>'
    return [hour for hour in re.findall(row, page) if hour[1] != "0"]


@pytest.mark.django_db
def test_the_page_of_a_stage_has_its_hours_of_the_day_with_the_numbers(world: World, lead_client: Client) -> None:
    one, _ = _stage_page(lead_client, world, [["2026-11-19T10:00:00+00:00", 1]])
    assert _hours(one) == [("10:00 to 11:00", "1", "100.0 %")]
    assert "Answers by hour of the day: 1 answer, most from 10:00 to 11:00 UTC (1)." in one


@pytest.mark.django_db
def test_hours_of_the_day_of_hundred_thousand_answers_take_no_further_query(world: World, lead_client: Client) -> None:
    _stage_page(lead_client, world, [])
    none, before = _stage_page(lead_client, world, [])
    months = [[f"2026-{month:02d}-{day:02d}T{hour:02d}:00:00+00:00", 25 * hour]
              for month in range(1, 4) for day in range(1, 29) for hour in (7, 8)]  # fmt: skip
    many, after = _stage_page(lead_client, world, months)
    assert after == before
    assert _hours(many) == [("07:00 to 08:00", "14,700", "46.7 %"), ("08:00 to 09:00", "16,800", "53.3 %")]
    assert "hour of the day" not in none and "Drawn when the first answers are in" in none


def test_what_was_done_in_a_stage_names_the_workers_who_were_blocked_there(world: World, lead_client: Client) -> None:
    block = make.block(world.stage)
    other = make.block(make.stage(world.project, key="later"))
    for row in (block, other):
        Action.objects.create(project=world.project, verb="blocked", origin=Action.Origin.ITSELF, block=row)
    for page in (world.url("stage"), world.url("stage-done")):
        text = squeezed(lead_client.get(page))
        assert block.worker.worker_id in text and "automatically" in text
        assert other.worker.worker_id not in text


def test_no_end_is_foretold_before_a_whole_hour_of_answers(world: World) -> None:
    stage = world.stage
    stage.summary.open, stage.summary.answers_an_hour = 10, 60
    stage.summary.timeline = [["2026-11-19T10:00:00+00:00", 60]]
    assert overview.expected_end(stage, stage.summary) is None
    stage.summary.timeline.append(["2026-11-19T11:00:00+00:00", 60])
    assert overview.expected_end(stage, stage.summary) is not None


@pytest.mark.django_db
def test_the_card_of_money_says_which_figures_are_the_whole_projects(world: World, lead_client: Client) -> None:
    page = squeezed(lead_client.get(world.url("stage")))
    card = page[page.index('id="stage-money"') :]
    own, whole = card[: card.index("</section>")].split("The whole project</h3>")
    assert "paid for this stage" in own and "Rewards $" in own
    assert "paid $" in whole and "reserved $" in whole and "left of $" in whole


@pytest.mark.django_db
def test_of_changed_requirements_only_those_that_differ_are_told() -> None:
    kept = {"qualification": "percent_approved", "comparator": "GreaterThanOrEqualTo", "integers": [95]}
    gone = {"qualification": "number_approved", "comparator": "GreaterThanOrEqualTo", "integers": [1000]}
    stage = make.stage(requirements=[kept, gone])
    stage_settings.change(stage, {"requirements": [kept]}, None)
    [(_, told)] = action_words.told(stage.project, stage.project.actions.all())
    assert told == "Requirements: approved answers at least 1000 → none"
