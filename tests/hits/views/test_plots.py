from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from hits.views import plots


def _parts(markup: str) -> ET.Element:
    return ET.fromstring(f"<div>{markup}</div>")


def _widths(markup: str) -> list[float]:
    return [float(rect.get("width", "").rstrip("%")) for rect in _parts(markup).iter("rect")]


def test_a_stacked_bar_gives_each_part_its_share_side_by_side() -> None:
    markup = plots.stacked_bar([("kept", 30, "good"), ("dropped", 20, "dropped")], 100, "Kept 30 %, dropped 20 %")
    rects = list(_parts(markup).iter("rect"))
    assert [(r.get("x"), r.get("width")) for r in rects] == [("0.00%", "30.00%"), ("30.00%", "20.00%")]
    assert _parts(markup).find("svg").get("aria-label") == "Kept 30 %, dropped 20 %"  # type: ignore[union-attr]


def test_a_stacked_bar_never_runs_over_its_end() -> None:
    assert sum(_widths(plots.stacked_bar([("a", 80, "good"), ("b", 80, "warn")], 100, "x"))) == 100


def test_a_bar_of_nothing_is_empty() -> None:
    assert _widths(plots.stacked_bar([("a", 0, "good")], 0, "x")) == []


def test_names_in_a_bar_are_text_and_never_markup() -> None:
    assert "<b>" not in plots.stacked_bar([("<b>", 1, "good")], 1, '"><script>')


def test_an_interval_says_its_bounds_and_stays_on_its_line() -> None:
    markup = plots.interval_bar(0.97, 1.0)
    rect = next(_parts(markup).iter("rect"))
    assert _parts(markup).find("svg").get("aria-label") == "97.0 to 100.0 %"  # type: ignore[union-attr]
    assert float(rect.get("x", "").rstrip("%")) + float(rect.get("width", "").rstrip("%")) <= 100


@pytest.mark.parametrize(
    ("value", "ceiling"), [(0, 2), (2, 2), (3, 4), (7, 10), (11, 20), (39, 40), (41, 100), (1000, 1000)]
)
def test_a_scale_ends_at_a_round_number(value: int, ceiling: int) -> None:
    assert plots.nice_ceiling(value) == ceiling


def test_hours_without_an_answer_count_as_zero() -> None:
    filled = plots.filled_hours([["2026-11-19T10:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert [answers for _, answers in filled] == [5, 0, 0, 2]


def test_a_long_collection_shows_its_last_two_weeks() -> None:
    filled = plots.filled_hours([["2026-01-01T00:00:00+00:00", 5], ["2026-11-19T13:00:00+00:00", 2]])
    assert len(filled) == plots.LONGEST_TIMELINE
    assert filled[-1][1] == 2


def test_the_rate_plot_says_its_peak_and_its_end_in_words() -> None:
    markup = plots.answers_an_hour([["2026-11-19T10:00:00+00:00", 1500], ["2026-11-19T11:00:00+00:00", 60]])
    label = next(_parts(markup).iter("svg")).get("aria-label") or ""
    assert "most 1,500" in label
    assert "last hour 60" in label


HOURS = [["2026-11-19T10:00:00+00:00", 4], ["2026-11-19T11:00:00+00:00", 1]]


def _texts(markup: str) -> list[str]:
    return [str(text.text) for text in _parts(markup).iter("text")]


@pytest.mark.parametrize("hours", [1, 2])
def test_one_and_two_hours_are_columns_with_their_numbers_and_no_line(hours: int) -> None:
    markup = plots.answers_an_hour(HOURS[:hours])
    assert not list(_parts(markup).iter("polyline"))
    columns = list(_parts(markup).iter("rect"))
    assert len(columns) == hours
    assert _texts(markup)[-hours:] == ["4", "1"][:hours]
    heights = [float(rect.get("height", "")) for rect in columns]
    assert heights[-1] == pytest.approx(heights[0] * (0.25 if hours == 2 else 1))


def test_one_and_two_steps_of_a_computation_are_columns_too() -> None:
    for values in ([0.5], [0.5, 0.25]):
        parts = _parts(plots.steps(values, "Loss"))
        assert (len(list(parts.iter("rect"))), list(parts.iter("polyline"))) == (len(values), [])


def test_three_hours_are_a_line() -> None:
    markup = plots.answers_an_hour([*HOURS, ["2026-11-19T12:00:00+00:00", 2]])
    (line,) = _parts(markup).iter("polyline")
    assert len((line.get("points") or "").split()) == 3


def test_without_answers_there_is_no_plot() -> None:
    assert plots.answers_an_hour([]) == ""
    assert plots.workers_by_accuracy([0] * 20, 0.2, None) == ""


def test_the_histogram_marks_floor_and_crowd_and_colours_what_lies_below_the_floor() -> None:
    counts = [3, 0, 0, 2, 4] + [1] * 15
    markup = plots.workers_by_accuracy(counts, 0.2, 0.51)
    label = next(_parts(markup).iter("svg")).get("aria-label")
    assert label == f"Workers by accuracy: {sum(counts)} workers, floor 20 %, crowd 51 %."
    tones = [rect.get("class") for rect in _parts(markup).iter("rect")]
    assert tones[:3] == ["fill-bad", "fill-bad", "fill-accent"]


def test_taller_bars_stand_for_more_workers() -> None:
    markup = plots.workers_by_accuracy([1, 2, 4, 8], None, None)
    heights = [float(rect.get("height", "")) for rect in _parts(markup).iter("rect")]
    assert heights == sorted(heights)
    assert heights[3] == pytest.approx(8 * heights[0])
