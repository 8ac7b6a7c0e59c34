from __future__ import annotations

from hits.views import overview


def test_hours_without_an_answer_count_as_zero() -> None:
    filled = overview.filled_hours([["2026-11-19T10:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert [answers for _, answers in filled] == [5, 0, 0, 2]


def test_a_long_collection_shows_its_last_two_weeks() -> None:
    filled = overview.filled_hours([["2026-01-01T00:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert len(filled) == overview.LONGEST_TIMELINE
    assert filled[-1][1] == 2


def test_the_plot_of_answers_says_what_came_in_the_last_hour() -> None:
    plot = overview.answers_an_hour([["2026-11-19T10:00:00+00:00", 1500], ["2026-11-19T11:00:00+00:00", 60]])
    assert "Answers an hour" in plot and "in the last hour 60." in plot
    assert overview.answers_an_hour([]) == ""


def test_workers_are_plotted_with_the_floor_and_the_crowd_where_they_are_known() -> None:
    both = overview.workers_by_accuracy([1, 2, 4, 8], 0.2, 0.51)
    assert "Workers by accuracy: 15 workers, floor 20 %, crowd 51 %." in both
    assert "Workers by accuracy: 15 workers." in overview.workers_by_accuracy([1, 2, 4, 8], None, None)
