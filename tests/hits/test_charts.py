"""Charts of pages and of files: what is drawn, what is said of it, and that no name in them is markup."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as some

from hits import charts
from hits.charts import Branch

NAMESPACE = "{http://www.w3.org/2000/svg}"
TEN = datetime(2026, 11, 19, 10, tzinfo=UTC)
HOURS = [(TEN, 4.0), (TEN + timedelta(hours=1), 1.0)]


def _parts(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{markup}</div>")


def _label(markup: str) -> str:
    return next(_parts(markup).iter("svg")).get("aria-label", "")


def _widths(markup: str) -> list[float]:
    return [float(rect.get("width", "").rstrip("%")) for rect in _parts(markup).iter("rect")]


def _heights(markup: str) -> list[float]:
    return [float(rect.get("height", "")) for rect in _parts(markup).iter("rect")]


# Charts of pages


def test_a_page_shows_a_chart_as_it_is() -> None:
    bar = charts.stacked_bar([("kept", 30, "good")], 100, "Kept 30 %")
    assert Template("{{ bar }}").render(Context({"bar": bar})) == bar
    assert bar.startswith("<svg")


def test_a_stacked_bar_gives_each_part_its_share_side_by_side() -> None:
    markup = charts.stacked_bar([("kept", 30, "good"), ("dropped", 20, "dropped")], 100, "Kept 30 %, dropped 20 %")
    rects = list(_parts(markup).iter("rect"))
    assert [(r.get("x"), r.get("width")) for r in rects] == [("0.00%", "30.00%"), ("30.00%", "20.00%")]
    assert [(r.get("class"), r.findtext("title")) for r in rects] == [
        ("fill-good", "kept"),
        ("fill-dropped", "dropped"),
    ]
    assert _label(markup) == "Kept 30 %, dropped 20 %"


def test_a_stacked_bar_never_runs_over_its_end() -> None:
    assert sum(_widths(charts.stacked_bar([("a", 80, "good"), ("b", 80, "warn")], 100, "x"))) == 100


def test_a_bar_of_nothing_is_empty() -> None:
    assert _widths(charts.stacked_bar([("a", 0, "good")], 0, "x")) == []


def test_names_in_a_bar_are_text_and_never_markup() -> None:
    markup = charts.stacked_bar([("<b>", 1, "good")], 1, '"><script>')
    assert "<b>" not in markup and "<script>" not in markup
    assert _label(markup) == '"><script>'


def test_an_interval_says_its_bounds_and_stays_on_its_line() -> None:
    markup = charts.interval_bar(0.97, 1.0)
    rect = next(_parts(markup).iter("rect"))
    assert _label(markup) == "97.0 to 100.0 %"
    assert float(rect.get("x", "").rstrip("%")) + float(rect.get("width", "").rstrip("%")) <= 100


@pytest.mark.parametrize(
    ("value", "ceiling"), [(0, 2), (2, 2), (3, 4), (7, 10), (11, 20), (39, 40), (41, 100), (1000, 1000)]
)
def test_a_scale_ends_at_a_round_number(value: int, ceiling: int) -> None:
    assert charts.nice_ceiling(value) == ceiling


def test_a_curve_says_its_peak_and_its_end_in_words() -> None:
    label = _label(
        charts.curve([(TEN, 1500.0), (TEN + timedelta(hours=1), 60.0)], "Answers an hour", "in the last hour")
    )
    assert "most 1,500" in label and "in the last hour 60" in label


@pytest.mark.parametrize("hours", [1, 2])
def test_one_and_two_hours_are_columns_with_their_numbers_and_no_line(hours: int) -> None:
    markup = charts.curve(HOURS[:hours], "Answers", "last")
    assert not list(_parts(markup).iter("polyline"))
    heights = _heights(markup)
    assert len(heights) == hours
    assert [text.text for text in _parts(markup).iter("text")][-hours:] == ["4", "1"][:hours]
    assert heights[-1] == pytest.approx(heights[0] * (0.25 if hours == 2 else 1))


def test_one_and_two_steps_of_a_computation_are_columns_too() -> None:
    for values in ([0.5], [0.5, 0.25]):
        parts = _parts(charts.steps(values, "Loss"))
        assert (len(list(parts.iter("rect"))), list(parts.iter("polyline"))) == (len(values), [])


def test_three_hours_are_a_line_over_an_axis_of_their_times() -> None:
    markup = charts.curve([*HOURS, (TEN + timedelta(hours=2), 2.0)], "Answers", "last")
    (line,) = _parts(markup).iter("polyline")
    assert len((line.get("points") or "").split()) == 3
    assert [time.text for time in _parts(markup).iter("time")] == ["Thu 10:00 UTC", "Thu 11:00 UTC", "Thu 12:00 UTC"]


def _titles(markup: str) -> list[str]:
    return [title.text or "" for title in _parts(markup).iter("title")]


@pytest.mark.parametrize("points", [1, 2, 3, 168, 169, 100_000])
def test_each_drawn_point_says_what_its_row_of_the_table_says(points: int) -> None:
    hours = [(TEN + timedelta(hours=at), float(at % 7)) for at in range(points)]
    rows = charts.curve_rows(hours)
    markup = charts.curve(hours, "Answers", "last")
    assert _titles(markup) == [f"{at}: {figure}" for at, figure in rows]
    assert 1 <= len(rows) <= charts.MOST_POINTS and len(markup) < 40_000
    values = [value for _, value in hours]
    assert _titles(charts.steps(values, "Loss", "read")) == [
        f"{at}: {figure}" for at, figure in charts.step_rows(values, "read")
    ]


def test_of_more_points_than_can_be_pointed_at_neighbours_are_drawn_as_their_mean() -> None:
    assert charts.bins([3.0]) == [charts.Bin(0, 0, 3.0)]
    found = charts.bins([float(at) for at in range(100_000)])
    assert len(found) == 168 and [one.first for one in found[:2]] == [0, 596] and found[-1].last == 99_999
    assert found[0].mean == 297.5 and found[1].mean == 893.5
    hours = [(TEN + timedelta(hours=at), 4.0) for at in range(336)]
    assert charts.curve_rows(hours)[0] == ("19 Nov 2026, 10:00 UTC to 19 Nov 2026, 11:00 UTC", "4")
    assert charts.step_rows([0.5] * 336, "iteration")[1] == ("iterations 3 to 4", "0.5")
    moments = _moments(*[0.5] * 336)
    titles = _titles(charts.figures_over_time(moments, "Alpha"))
    assert len(titles) == 168 and titles[0] == "at 0; to at 1"


def test_the_rows_of_a_histogram_are_its_columns() -> None:
    counts = [2, 0, 1, 0]
    assert charts.histogram_rows(counts) == [
        ("0 to 25 %", "2"),
        ("25 to 50 %", "0"),
        ("50 to 75 %", "1"),
        ("75 to 100 %", "0"),
    ]
    markup = charts.histogram(counts, "Workers", "workers", {}, bad_to=None)
    assert _titles(markup) == ["0 to 25 %: 2", "50 to 75 %: 1"]


def test_the_names_of_two_marks_stand_in_rows_of_their_own_above_the_plot() -> None:
    markup = charts.histogram([1] * 20, "Workers", "workers", {"floor": 0.5, "crowd": 0.52}, bad_to=None)
    names = [text for text in _parts(markup).iter("text") if "mark" in text.get("class", "")]
    assert [text.get("y") for text in names] == ["9", "20"]
    assert all(float(text.get("y", "")) < charts.TOP for text in names)


def test_nothing_is_drawn_where_there_is_nothing() -> None:
    assert charts.curve([], "Answers", "last") == charts.steps([], "Loss") == charts.scatter([], "x") == ""
    assert charts.histogram([0] * 20, "Workers", "workers", {"floor": 0.2}, bad_to=0.2) == ""
    assert charts.figures_over_time([], "Alpha") == ""
    assert charts.hours_of_the_day([0] * 24, "Answers", "answer") == ""
    assert charts.count_rows({}, "a", "b") == charts.share_rows({}, "a", "b") == charts.icicle((), 3, "a", "b") == ""


def test_a_histogram_marks_its_lines_and_colours_what_lies_below_the_bad_end() -> None:
    counts = [3, 0, 0, 2, 4] + [1] * 15
    markup = charts.histogram(counts, "By accuracy", "workers", {"floor": 0.2, "crowd": 0.51}, bad_to=0.2)
    assert _label(markup) == f"By accuracy: {sum(counts)} workers, floor 20 %, crowd 51 %."
    assert [rect.get("class") for rect in _parts(markup).iter("rect")][:3] == ["fill-bad", "fill-bad", "fill-accent"]
    marks = [line.get("x1") for line in _parts(markup).iter("line") if "mark" in line.get("class", "")]
    assert marks == ["20.0%", "51.0%"]


def test_names_of_lines_stand_below_one_another_so_that_none_meet_on_a_phone() -> None:
    markup = charts.histogram([1] * 20, "By accuracy", "workers", {"floor": 0.5, "crowd": 0.6}, bad_to=None)
    assert len({text.get("y") for text in _parts(markup).iter("text") if "mark" in text.get("class", "")}) == 2


def test_taller_columns_stand_for_more() -> None:
    heights = _heights(charts.histogram([1, 2, 4, 8], "By accuracy", "workers", {}, bad_to=None))
    assert heights == sorted(heights)
    assert heights[3] == pytest.approx(8 * heights[0])


def _moments(*values: float) -> list[charts.Moment]:
    return [charts.Moment(TEN + timedelta(hours=at), value, f"at {at}") for at, value in enumerate(values)]


@pytest.mark.parametrize("values", [(0.5,), (0.5, 1.0)])
def test_one_and_two_figures_are_columns_that_say_their_number_and_their_title(values: tuple[float, ...]) -> None:
    parts = _parts(charts.figures_over_time(_moments(*values), "Alpha"))
    assert not list(parts.iter("polyline"))
    assert [rect.findtext("title") for rect in parts.iter("rect")] == ["at 0", "at 1"][: len(values)]
    assert [text.text for text in parts.iter("text")] == ["0.00", "0.50", "1.00", *(f"{value:.2f}" for value in values)]
    assert float(next(parts.iter("rect")).get("height", "")) == 51


def test_three_figures_are_points_on_a_line() -> None:
    markup = charts.figures_over_time(_moments(0.5, 0.25, 1.0), "Alpha", charts.percent)
    places = [(at.get("cx"), at.get("cy"), at.findtext("title")) for at in _parts(markup).iter("circle")]
    assert places == [("0.00%", "73.0", "at 0"), ("50.00%", "98.5", "at 1"), ("100.00%", "22.0", "at 2")]
    (line,) = _parts(markup).iter("polyline")
    assert line.get("points") == "0.0,50.0 500.0,75.0 1000.0,0.0"
    assert _label(markup) == "Alpha, 3 times from 19 Nov 10:00 to 19 Nov 12:00 UTC: first 50 %, last 100 %."


def test_with_a_negative_figure_the_scale_begins_at_minus_one_and_columns_at_zero() -> None:
    parts = _parts(charts.figures_over_time(_moments(-0.5, 0.5), "Alpha"))
    assert [text.text for text in parts.iter("text")][:3] == ["-1.00", "0.00", "1.00"]
    assert [(rect.get("y"), rect.get("height")) for rect in parts.iter("rect")] == [("73.0", "25.5"), ("47.5", "25.5")]


def test_hours_of_the_day_have_a_column_each_that_says_its_hour() -> None:
    markup = charts.hours_of_the_day([*[0] * 9, 50, *[0] * 13, 100], "Answers", "answer")
    columns = [(rect.get("x"), rect.findtext("title")) for rect in _parts(markup).iter("rect")]
    assert columns == [("37.70%", "09:00 to 10:00 UTC: 50"), ("96.03%", "23:00 to 24:00 UTC: 100")]
    assert _heights(markup) == [51, 102]
    assert _label(markup) == "Answers: 150 answers, most from 23:00 to 24:00 UTC (100)."


def test_one_point_is_drawn_within_a_scale_up_to_ten() -> None:
    parts = _parts(charts.scatter([charts.Point(1, 0.0, "ann: 1 answer, 0.0 %")], "By answers: 1 worker."))
    (point,) = parts.iter("circle")
    assert (point.get("cx"), point.get("cy"), point.findtext("title")) == ("0.00%", "204.0", "ann: 1 answer, 0.0 %")
    assert [text.text for text in parts.iter("text")] == ["0 %", "50 %", "100 %", "1", "10"]


def test_points_stand_at_their_share_over_powers_of_ten_and_say_what_they_are() -> None:
    points = [charts.Point(10, 0.5, "<ann>"), charts.Point(1000, 1.0, "ben")]
    markup = charts.scatter(points, "By answers: 2 workers.")
    places = [(at.get("cx"), at.get("cy"), at.findtext("title")) for at in _parts(markup).iter("circle")]
    assert places == [("33.33%", "113.0", "<ann>"), ("100.00%", "22.0", "ben")]
    assert _label(markup) == "By answers: 2 workers."


def test_of_many_powers_every_other_one_has_its_number() -> None:
    texts = [text.text for text in _parts(charts.scatter([charts.Point(20_000, 0.5, "ann")], "x")).iter("text")]
    assert texts[3:] == ["10", "1,000", "100,000"]


def test_points_that_stand_for_more_are_larger_and_lie_below_the_others() -> None:
    markup = charts.scatter([charts.Point(10, 0.5, "few", 4), charts.Point(10, 0.5, "many", 400)], "x")
    radii = [(at.findtext("title"), at.get("r")) for at in _parts(markup).iter("circle")]
    assert radii == [("many", "9.0"), ("few", "3.6")]


# Charts of files


def _bars(svg: str) -> dict[str, float]:
    """Each bar's width in percent by what it says of itself."""
    bars = ElementTree.fromstring(svg).iter(f"{NAMESPACE}rect")
    return {str(bar.findtext(f"{NAMESPACE}title")): float(bar.get("width", "").rstrip("%")) for bar in bars}


def _texts(svg: str) -> list[str | None]:
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{NAMESPACE}text")]


def _blocks(svg: str) -> dict[str, tuple[float, float]]:
    """Each block's top and height by what it says of itself."""
    parts = ElementTree.fromstring(svg).findall(f"{NAMESPACE}svg")
    places = [(float(part.get("y", "")), float(part.get("height", ""))) for part in parts]
    return dict(zip((str(part.findtext(f"{NAMESPACE}title")) for part in parts), places, strict=True))


def _tags(svg: str) -> set[str]:
    return {element.tag.removeprefix(NAMESPACE) for element in ElementTree.fromstring(svg).iter()}


@pytest.mark.parametrize(
    "svg",
    [
        charts.count_rows({"what": 2}, "Types", "Of questions."),
        charts.share_rows({"what": {"text": 1.0}}, "Types", "Of questions."),
        charts.icicle((Branch("what", 2),), 3, "Types", "Of questions."),
    ],
)
def test_a_chart_of_a_file_is_svg_with_a_title_and_a_description(svg: str) -> None:
    drawn = ElementTree.fromstring(svg)
    assert (drawn.tag, drawn.get("role")) == (f"{NAMESPACE}svg", "img")
    assert (drawn.findtext(f"{NAMESPACE}title"), drawn.findtext(f"{NAMESPACE}desc")) == ("Types", "Of questions.")


def test_bars_are_as_wide_as_their_counts() -> None:
    svg = charts.count_rows({"what": 2, "when": 1, "other": 1}, "Types", "Of questions.")
    bars = _bars(svg)
    assert bars["what: 2, 50.0%"] == 2 * bars["when: 1, 25.0%"] == 2 * bars["other: 1, 25.0%"]
    assert _texts(svg) == ["what", "2", "when", "1", "other", "1"]


def test_a_row_is_filled_by_its_shares_under_a_legend() -> None:
    rows = {"what": {"text": 0.5, "script": 0.5, "both": 0.0}, "when": {"text": 0.0, "script": 1.0, "both": 0.0}}
    svg = charts.share_rows(rows, "Labels", "By type.")
    bars = _bars(svg)
    assert bars["what, text: 50.0%"] == bars["what, script: 50.0%"] == bars["when, script: 100.0%"] / 2
    assert _texts(svg)[:3] == ["text", "script", "both"] and _texts(svg).count("50%") == 2


def test_a_fourth_share_has_a_shade_too_and_no_name_becomes_markup() -> None:
    svg = charts.share_rows({"why": {"a": 0.2, "b": 0.2, "c": 0.2, "<b>&own": 0.4}}, "Labels", "<i>")
    assert _bars(svg)["why, <b>&own: 40.0%"] == pytest.approx(32)
    assert _tags(svg) == {"svg", "title", "desc", "rect", "text"}


def test_a_block_is_as_high_as_its_count_within_the_one_before_it() -> None:
    branches = (Branch("why", 60, (Branch("did", 30, (Branch("she", 30),)),)), Branch("what", 40))
    assert _blocks(charts.icicle(branches, 3, "Beginnings", "Of questions.")) == {
        "why: 60": (0, pytest.approx(0.6 * charts.ICICLE_HEIGHT)),
        "did: 30": (0, pytest.approx(0.3 * charts.ICICLE_HEIGHT)),
        "she: 30": (0, pytest.approx(0.3 * charts.ICICLE_HEIGHT)),
        "what: 40": (pytest.approx(0.6 * charts.ICICLE_HEIGHT), pytest.approx(0.4 * charts.ICICLE_HEIGHT)),
    }


def test_blocks_too_small_for_a_label_are_drawn_together_and_every_label_has_room() -> None:
    rare = tuple(Branch(f"w{at}", 1) for at in range(60))
    blocks = _blocks(charts.icicle((Branch("why", 140), *rare), 3, "Beginnings", "Of questions."))
    assert list(blocks) == ["why: 140", "60 others: 60"]
    assert all(height >= charts.LINE_HEIGHT for _, height in blocks.values())


@given(some.text(min_size=1, max_size=8).map(lambda text: "<b>&\"'" + text))
def test_no_word_of_a_block_becomes_markup(word: str) -> None:
    printable = "".join(letter for letter in word if letter.isprintable())
    svg = charts.icicle((Branch(printable, 2, (Branch("</svg>", 2),)),), 3, "Beginnings", printable)
    assert list(_blocks(svg)) == [f"{printable}: 2", "</svg>: 2"]
    assert _tags(svg) == {"svg", "title", "desc", "rect", "text"}
