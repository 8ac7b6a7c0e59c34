"""Charts as SVG, drawn from numbers.

Widths are percentages and heights pixels, so that text keeps its size from a phone to a wide screen. Each chart is
built as a tree of elements, so a name in it is text and never markup, and each says in words what it shows.

Charts of pages take their colours from classes of the style sheet, because the content security policy forbids style
attributes. Charts of files stand alone: they take the colour of the text around them, and are an empty string where
there is nothing to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor, log10, sqrt
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

PLOT_HEIGHT = 132
TOP, BASE = 22, 124
# Of a plot of points, which has its numbers below within itself.
POINTS_HEIGHT, POINTS_BASE = 224, 204
# The radius of a point of one, and the smallest and largest of points that stand for many, in pixels.
POINT, SMALLEST_POINT, LARGEST_POINT = 4.0, 3.0, 9.0
# Of the names of two marks of a histogram, above the plot.
MARK_ROWS = (9, 20)
# As `local-time.js` knows a moment that stands in a title.
MOMENT = "%-d %b %Y, %H:%M UTC"
# Room for the numbers of the scale, in pixels: the style sheet keeps it free at the left of each plot.
GUTTER = 8
# Fewer points are no course that a line could show.
FEWEST_FOR_A_LINE = 3
# More points than these would lie closer than a pointer can hit: neighbours are drawn as one, by their mean.
MOST_POINTS = 168
INK = {"fill": "currentColor"}
# How dark a cell of a confusion matrix is at most.
SHADES = 5


def shaded(cells: Sequence[float]) -> list[tuple[float, int]]:
    """The cells of one row of a confusion matrix, each with how dark it is, by its share of the row."""
    total = sum(cells) or 1
    return [(cell, round(SHADES * cell / total)) for cell in cells]


class Markup(str):
    """Markup that a template shows as it is: it asks for `__html__`."""

    __slots__ = ()

    def __html__(self) -> Markup:
        return self


def _node(
    tag: str, attributes: Mapping[str, object], inside: Iterable[Element] = (), text: str | None = None
) -> Element:
    node = Element(tag, {name: str(value) for name, value in attributes.items()})
    node.text = text
    node.extend(inside)
    return node


def _markup(*nodes: Element) -> Markup:
    return Markup("".join(ElementTree.tostring(node, encoding="unicode") for node in nodes))


def _rect(attributes: Mapping[str, object], title: str) -> Element:
    return _node("rect", attributes, [_node("title", {}, text=title)])


# Charts of pages


def share(part: float, whole: float) -> float:
    """part/whole as a percentage within 0..100; 0 where there is no whole."""
    return min(100.0, max(0.0, 100.0 * part / whole)) if whole else 0.0


def stacked_bar(parts: Sequence[tuple[str, float, str]], total: float, label: str) -> Markup:
    """Parts (name, amount, tone) beside one another; what is left of `total` stays empty."""
    rects, start = [], 0.0
    for name, amount, tone in parts:
        width = min(share(amount, total), 100.0 - start)
        if width:
            place = {"x": f"{start:.2f}%", "width": f"{width:.2f}%", "height": 10}
            rects.append(_rect({**place, "class": f"fill-{tone}"}, name))
        start += width
    shape = {"class": "bar", "width": "100%", "height": 10, "role": "img", "aria-label": label}
    return _markup(_node("svg", shape, rects))


def share_bar(part: float, whole: float, tone: str = "accent") -> Markup:
    """A small bar beside a number that is written there, so nobody has to hear it too."""
    bar = _node("rect", {"class": f"fill-{tone}", "width": f"{share(part, whole):.1f}%", "height": 6})
    return _markup(_node("svg", {"class": "bar small-bar", "width": "100%", "height": 6, "aria-hidden": "true"}, [bar]))


def interval_bar(low: float, high: float, tone: str = "accent") -> Markup:
    """An interval within 0..1 on a line."""
    width = max(100 * (high - low), 2.0)
    start = min(100 * low, 100.0 - width)
    place = {"x": f"{start:.1f}%", "y": 5, "width": f"{width:.1f}%", "height": 4}
    label = f"{100 * low:.1f} to {100 * high:.1f} %"
    shape = {"class": "interval", "width": 120, "height": 14, "role": "img", "aria-label": label}
    return _markup(_node("svg", shape, [_axis_line("7"), _node("rect", {"class": f"fill-{tone}", **place})]))


@dataclass(frozen=True)
class Bin:
    """Neighbours that are drawn as one point: the places of the first and the last, from 0, and their mean."""

    first: int
    last: int
    mean: float


def bins(values: Sequence[float]) -> list[Bin]:
    """Each value by itself, and runs of equal length where there are more than `MOST_POINTS`."""
    size = -(-len(values) // MOST_POINTS) or 1
    runs = [(at, values[at : at + size]) for at in range(0, len(values), size)]
    return [Bin(at, at + len(run) - 1, sum(run) / len(run)) for at, run in runs]


Row = tuple[str, str]


def curve_rows(points: Sequence[tuple[datetime, float]]) -> list[Row]:
    """What `curve` draws, as (time, figure): its points for those who read a table, and for a pointer."""
    drawn = bins([value for _, value in points])
    return [(_span(points[one.first][0], points[one.last][0]), _written(one.mean)) for one in drawn]


def step_rows(values: Sequence[float], step: str = "step", first: float = 1) -> list[Row]:
    """What `steps` draws, as (step, figure)."""
    rows = []
    for one in bins(values):
        low, high = (f"{first + place:,.0f}" for place in (one.first, one.last))
        rows.append((f"{step} {low}" if low == high else f"{step}s {low} to {high}", _amount(one.mean)))
    return rows


def histogram_rows(counts: Sequence[int]) -> list[Row]:
    """What `histogram` draws, as (step of the scale, how many)."""
    return [(_step_of_hundred(index, len(counts)), f"{amount:,}") for index, amount in enumerate(counts)]


def _span(first: datetime, last: datetime) -> str:
    """One moment, or the first and the last of several. `local-time.js` tells both in the viewer's zone."""
    return f"{first:{MOMENT}}" if first == last else f"{first:{MOMENT}} to {last:{MOMENT}}"


def _step_of_hundred(index: int, of: int) -> str:
    width = 100 / of
    return f"{index * width:.0f} to {(index + 1) * width:.0f} %"


def curve(points: Sequence[tuple[datetime, float]], what: str, last: str) -> Markup:
    """A line over moments of equal distance with the axis below, columns of one or two; an empty string where there
    is nothing to draw. Each point says its time and its figure when it is pointed at.

    `what` is drawn, and `last` says what the last point is, for those who hear the plot.
    """
    if not points:
        return Markup()
    values = [value for _, value in points]
    label = (
        f"{what} from {points[0][0]:%-d %b %H:%M} to {points[-1][0]:%-d %b %H:%M} UTC: "
        f"most {_written(max(values))}, {last} {_written(values[-1])}."
    )
    rows = curve_rows(points)
    drawn = _course([one.mean for one in bins(values)], nice_ceiling(max(values)), rows)
    return _markup(_plot(label, drawn), _time_axis(points))


def steps(values: Sequence[float], what: str, step: str = "step", first: float = 1) -> Markup:
    """A line over steps of some work, numbered from `first`, columns of one or two; an empty string where there is
    none. No value is negative.

    `step` is what one of them is called, such as "iteration".
    """
    if not values:
        return Markup()
    label = f"{what} over {len(values):,} {step}s: first {_amount(values[0])}, last {_amount(values[-1])}."
    ends = dict.fromkeys(f"{step} {number:,.0f}" for number in (first, first + len(values) - 1))
    marks = [_node("span", {}, text=end) for end in ends]
    rows = step_rows(values, step, first)
    drawn = _course([one.mean for one in bins(values)], _fine_ceiling(max(values)), rows)
    return _markup(_plot(label, drawn), _axis(marks, len(values)))


def histogram(counts: Sequence[int], what: str, ones: str, marks: Mapping[str, float], bad_to: float | None) -> Markup:
    """Columns over equal steps from 0 to 100 % with upright lines at `marks`; an empty string where nothing is counted.

    `what` is drawn, and `ones` is what is counted. Columns that end at `bad_to` (0..1) or before are drawn as bad.
    """
    if not any(counts):
        return Markup()
    said = [f"{sum(counts):,} {ones}", *(f"{name} {100 * value:.0f} %" for name, value in marks.items())]
    lines = [node for row, (name, value) in enumerate(marks.items()) for node in _mark(value, name, row)]
    ceiling = nice_ceiling(max(counts))
    plot = _plot(f"{what}: {', '.join(said)}.", [*_grid(ceiling), *_counted(counts, ceiling, bad_to), *lines])
    return _markup(plot, _axis([_node("span", {}, text=text) for text in ("0 %", "50 %", "100 %")], 3))


@dataclass(frozen=True)
class Moment:
    """A figure of at most 1 at a point in time, and what is said of it."""

    at: datetime
    value: float
    title: str


def figures_over_time(moments: Sequence[Moment], what: str, written: Callable[[float], str] | None = None) -> Markup:
    """A line with a point for each of several moments of equal distance, columns of one or two; an empty string where
    there is none.

    The scale goes from 0 to 1, and from -1 where a figure is negative. `written` says how figures are written.
    """
    if not moments:
        return Markup()
    written = written or "{:.2f}".format
    low = -1.0 if any(moment.value < 0 for moment in moments) else 0.0
    drawn = _lone if len(moments) < FEWEST_FOR_A_LINE else _joined
    # Neighbours as one where there are too many; it says the first and the last of them.
    shown = []
    for run in bins([moment.value for moment in moments]):
        begin, end = moments[run.first], moments[run.last]
        shown.append(Moment(end.at, run.mean, end.title if begin is end else f"{begin.title}; to {end.title}"))
    label = (
        f"{what}, {len(moments)} times from {moments[0].at:%-d %b %H:%M} to {moments[-1].at:%-d %b %H:%M} UTC: "
        f"first {written(moments[0].value)}, last {written(moments[-1].value)}."
    )
    plot = _plot(label, [*_grid(1, BASE, written, low), *drawn(shown, low, written)])
    return _markup(plot, _time_axis([(moment.at, moment.value) for moment in moments]))


def percent(value: float) -> str:
    """0.583 -> '58 %'."""
    return f"{100 * value:.0f} %"


def hours_of_the_day(counts: Sequence[int], what: str, one: str) -> Markup:
    """A column for each of the 24 hours of the day in UTC; an empty string where nothing is counted.

    `what` is drawn, and `one` is what is counted, such as "answer".
    """
    if not any(counts):
        return Markup()
    ceiling, busiest = nice_ceiling(max(counts)), counts.index(max(counts))
    ones = one if sum(counts) == 1 else f"{one}s"
    said = f"{sum(counts):,} {ones}, most from {hour_of_the_day(busiest)} UTC ({counts[busiest]:,})"
    columns = [
        _step_column(hour, len(counts), amount / ceiling, "accent", f"{hour_of_the_day(hour)} UTC: {amount:,}")
        for hour, amount in enumerate(counts)
        if amount
    ]
    marks = [_node("span", {}, text=text) for text in ("00:00", "12:00", "24:00 UTC")]
    return _markup(_plot(f"{what}: {said}.", [*_grid(ceiling), *columns]), _axis(marks, 3))


def hour_of_the_day(hour: int) -> str:
    """13 -> '13:00 to 14:00'."""
    return f"{hour:02d}:00 to {hour + 1:02d}:00"


@dataclass(frozen=True)
class Point:
    """A share (0..1) at an amount (1 or more), what is said of it, and how many it stands for."""

    amount: float
    share: float
    title: str
    stands_for: int = 1


def scatter(points: Sequence[Point], what: str) -> Markup:
    """Shares upwards over amounts on a scale of powers of ten; an empty string where there is no point.

    Points that stand for more are larger, by their area.
    """
    if not points:
        return Markup()
    powers = max(1, ceil(log10(max(point.amount for point in points))))
    most = max(point.stands_for for point in points)
    drawn = [node for power in range(powers + 1) for node in _power(power, powers)]
    # The largest first, so that they cover none.
    drawn += [_point(point, powers, most) for point in sorted(points, key=lambda point: -point.stands_for)]
    return _markup(_plot(what, [*_grid(1, POINTS_BASE, percent), *drawn], POINTS_HEIGHT))


def nice_ceiling(value: float) -> int:
    """The next of 2, 4, 10, 20, 40, 100 ... : a scale whose half is a whole number too."""
    if value <= 2:
        return 2
    power = 10 ** int(log10(value))
    return int(next(step * power for step in (1, 2, 4, 10) if step * power >= value))


def _fine_ceiling(value: float) -> float:
    """The same for shares and losses, which stay below 2."""
    if value > 2:
        return nice_ceiling(value)
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(step * power for step in (1, 2, 4, 10) if step * power >= value)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def _written(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _height(value: float, low: float) -> float:
    """Where a value of a scale from `low` to 1 stands, in pixels from the top; outside of it at its ends."""
    return BASE - (BASE - TOP) * (min(1.0, max(low, value)) - low) / (1 - low)


def _lone(moments: Sequence[Moment], low: float, written: Callable[[float], str]) -> Iterator[Element]:
    """Columns from zero on, each in the middle of its part of the width, with its number above."""
    part = 100 / len(moments)
    for index, moment in enumerate(moments):
        top, bottom = sorted((_height(moment.value, low), _height(0.0, low)))
        x, height = f"{(index + 0.5) * part:.1f}%", max(bottom - top, 2.0)
        place = {"x": x, "transform": "translate(-20)", "y": f"{top:.1f}", "width": 40, "height": f"{height:.1f}"}
        yield _rect({"class": "fill-accent", **place}, moment.title)
        yield _node("text", {"x": x, "y": f"{top - 5:.1f}", "text-anchor": "middle"}, text=written(moment.value))


def _joined(moments: Sequence[Moment], low: float, written: Callable[[float], str]) -> Iterator[Element]:
    heights = [_height(moment.value, low) for moment in moments]
    yield _line([(BASE - height) / (BASE - TOP) for height in heights], 1)
    for index, (moment, height) in enumerate(zip(moments, heights, strict=True)):
        place = {"cx": f"{100 * index / (len(moments) - 1):.2f}%", "cy": f"{height:.1f}", "r": POINT}
        yield _node("circle", {"class": "fill-accent", **place}, [_node("title", {}, text=moment.title)])


def _plot(label: str, content: Iterable[Element], height: int = PLOT_HEIGHT) -> Element:
    shape = {"class": "plot", "width": "100%", "height": height, "role": "img", "aria-label": label}
    return _node("svg", shape, content)


def _axis_line(y: str) -> Element:
    return _node("line", {"class": "axis-line", "x1": 0, "y1": y, "x2": "100%", "y2": y})


def _grid(
    ceiling: float, base: int = BASE, written: Callable[[float], str] = _amount, low: float = 0
) -> Iterator[Element]:
    """Lines at the lowest, the middle and the highest of the scale, with their numbers in the gutter."""
    for part in (0, 1, 2):
        y = base - (base - TOP) * part / 2
        yield _axis_line(f"{y:.0f}")
        place = {"x": -GUTTER, "y": f"{y + 4:.0f}", "text-anchor": "end"}
        yield _node("text", place, text=written(low + (ceiling - low) * part / 2))


def _course(values: Sequence[float], ceiling: float, rows: Sequence[Row]) -> list[Element]:
    """`rows` say what each value is."""
    titles = [f"{place}: {figure}" for place, figure in rows]
    if len(values) < FEWEST_FOR_A_LINE:
        return [*_grid(ceiling), *_columns(values, ceiling, titles)]
    return [*_grid(ceiling), _line(values, ceiling), *_pointed_at(titles)]


def _pointed_at(titles: Sequence[str]) -> Iterator[Element]:
    """Over each point of a line, as high as the plot and to the middle of the way to its neighbours, its title."""
    last = len(titles) - 1
    for index, title in enumerate(titles):
        left, right = max(0.0, (index - 0.5) / last), min(1.0, (index + 0.5) / last)
        place = {"x": f"{100 * left:.2f}%", "y": TOP, "width": f"{100 * (right - left):.2f}%", "height": BASE - TOP}
        yield _rect({"class": "pointed-at", **place}, title)


def _columns(values: Sequence[float], ceiling: float, titles: Sequence[str]) -> Iterator[Element]:
    """Each value in the middle of its part of the width, with its number above."""
    part = 100 / len(values)
    for index, value in enumerate(values):
        x, top = f"{(index + 0.5) * part:.1f}%", BASE - (BASE - TOP) * value / ceiling
        place = {"x": x, "transform": "translate(-20)", "y": f"{top:.1f}", "width": 40, "height": f"{BASE - top:.1f}"}
        yield _rect({"class": "fill-accent", **place}, titles[index])
        yield _node("text", {"x": x, "y": f"{top - 5:.1f}", "text-anchor": "middle"}, text=_amount(value))


def _line(values: Sequence[float], ceiling: float) -> Element:
    step = 1000 / (len(values) - 1)
    points = " ".join(f"{index * step:.1f},{100 - 100 * value / ceiling:.1f}" for index, value in enumerate(values))
    place = {"x": 0, "y": TOP, "width": "100%", "height": BASE - TOP}
    scale = {"viewBox": "0 0 1000 100", "preserveAspectRatio": "none", "overflow": "visible"}
    return _node("svg", {**place, **scale}, [_node("polyline", {"class": "line", "points": points})])


def _time_axis(points: Sequence[tuple[datetime, float]]) -> Element:
    moments = [moment for moment, _ in points]
    shown = [moments[0], moments[len(moments) // 2], moments[-1]] if len(moments) > 2 else moments
    times = [_node("time", {"datetime": at.isoformat()}, text=f"{at:%a %H:%M} UTC") for at in shown]
    return _axis(times, len(moments))


def _axis(marks: Iterable[Element], points: int) -> Element:
    return _node("div", {"class": "axis few" if points < FEWEST_FOR_A_LINE else "axis"}, marks)


def _counted(counts: Sequence[int], ceiling: float, bad_to: float | None) -> Iterator[Element]:
    for index, amount in enumerate(counts):
        if not amount:
            continue
        tone = "bad" if bad_to is not None and (index + 1) / len(counts) <= bad_to + 1e-9 else "accent"
        title = f"{_step_of_hundred(index, len(counts))}: {amount:,}"
        yield _step_column(index, len(counts), amount / ceiling, tone, title)


def _step_column(index: int, of: int, part: float, tone: str, title: str) -> Element:
    """A column in its step of the width; `part` is how much of the scale it takes, and the least can still be seen."""
    height, width = max((BASE - TOP) * part, 2.0), 100 / of
    place = {"x": f"{index * width + 0.2:.2f}%", "y": f"{BASE - height:.1f}"}
    size = {"width": f"{width - 0.4:.2f}%", "height": f"{height:.1f}"}
    return _rect({"class": f"fill-{tone}", **place, **size}, title)


def _mark(value: float, name: str, row: int) -> tuple[Element, Element]:
    """A dashed upright line with its name above the plot, on the side where there is room; each in a row of its own."""
    x, left = f"{100 * value:.1f}%", value > 0.75
    y = MARK_ROWS[row]
    line = _node("line", {"class": f"mark mark-{name}", "x1": x, "y1": y - 9, "x2": x, "y2": BASE})
    side = {"dx": -5 if left else 5, "y": y, "text-anchor": "end" if left else "start"}
    return line, _node("text", {"class": f"mark-{name}", "x": x, **side}, text=f"{name} {100 * value:.0f} %")


def _power(power: int, powers: int) -> Iterator[Element]:
    """An upright line at a power of ten with its number below, which stays within the plot.

    Of five powers and more only every second or third has its number, so that they keep apart on a phone.
    """
    x = f"{100 * power / powers:.1f}%"
    anchor = {0: "start", powers: "end"}.get(power, "middle")
    yield _node("line", {"class": "axis-line", "x1": x, "y1": TOP, "x2": x, "y2": POINTS_BASE})
    if (powers - power) % max(1, (powers - 1) // 2) == 0:
        yield _node("text", {"x": x, "y": POINTS_BASE + 16, "text-anchor": anchor}, text=f"{10**power:,}")


def _point(point: Point, powers: int, most: int) -> Element:
    larger = (LARGEST_POINT - SMALLEST_POINT) * sqrt(point.stands_for / most)
    place = {
        "cx": f"{100 * log10(max(1.0, point.amount)) / powers:.2f}%",
        "cy": f"{POINTS_BASE - (POINTS_BASE - TOP) * point.share:.1f}",
        "r": f"{POINT if most == 1 else SMALLEST_POINT + larger:.1f}",
    }
    return _node("circle", {"class": "point", **place}, [_node("title", {}, text=point.title)])


# Charts of files

FONT_SIZE = 12
ROW_HEIGHT, BAR_HEIGHT, BASELINE = 30, 20, 15
# In percent of the width: room for the names of rows, the longest bar, and the least in which a share can be read.
NAMES, LONGEST_BAR, LEAST_SHARE = 20.0, 60, 9.0
# Light enough for the letters in them, on a light page and on a dark one.
BAR_SHADE = ".2"
SHARE_SHADES = (".36", ".2", ".06")
OTHER_SHADE = ".02"
COLUMN_SHADES = (".18", ".12", ".06")
ICICLE_HEIGHT = 480
# The least height in which a label can be read.
LINE_HEIGHT = 17


@dataclass(frozen=True)
class Branch:
    """A block of an icicle chart; its branches count no more than itself together, and come the largest first."""

    name: str
    count: int
    branches: tuple[Branch, ...] = ()


def count_rows(counts: Mapping[str, int], title: str, description: str) -> str:
    """A row for each name, its bar as long as its count."""
    if not counts:
        return ""
    total, most = sum(counts.values()), max(counts.values())
    drawn: list[Element] = []
    for row, (name, count) in enumerate(counts.items()):
        top, width = row * ROW_HEIGHT, LONGEST_BAR * count / most
        drawn.append(_text("0", top + BASELINE, name))
        drawn.append(_bar(NAMES, width, top, BAR_SHADE, f"{name}: {count:,}, {count / total:.1%}"))
        drawn.append(_text(f"{NAMES + width + 1:.2f}%", top + BASELINE, f"{count:,}"))
    return _file("plot", len(counts) * ROW_HEIGHT, title, description, drawn)


def share_rows(rows: Mapping[str, Mapping[str, float]], title: str, description: str) -> str:
    """A row for each name, filled by its shares (0..1), and a legend above. All rows have the same shares in order."""
    if not rows:
        return ""
    labels = list(next(iter(rows.values())))
    drawn = []
    for position, label in enumerate(labels):
        left = position * 100 / len(labels)
        drawn += [_bar(left, 4, 0, _share_shade(position), label), _text(f"{left + 5:.2f}%", BASELINE, label)]
    for row, (name, parts) in enumerate(rows.items(), start=1):
        drawn.append(_text("0", row * ROW_HEIGHT + BASELINE, name))
        drawn.extend(_filled(name, parts, row * ROW_HEIGHT))
    return _file("plot", (len(rows) + 1) * ROW_HEIGHT, title, description, drawn)


def icicle(branches: Sequence[Branch], columns: int, title: str, description: str) -> str:
    """Each branch a block as high as its count, beside the block that it branches from; `columns` is the depth."""
    total = sum(branch.count for branch in branches)
    if not total:
        return ""
    blocks = _blocks(branches, 0, 0.0, ICICLE_HEIGHT / total)
    drawn = [_block(block, 100 / columns) for block in blocks]
    return _file("plot prefixes", ICICLE_HEIGHT, title, description, drawn)


def _file(style: str, height: int, title: str, description: str, content: Iterable[Element]) -> str:
    shape = {"class": style, "width": "100%", "height": height, "role": "img"}
    said = [_node("title", {}, text=title), _node("desc", {}, text=description)]
    return str(_markup(_node("svg", {"xmlns": "http://www.w3.org/2000/svg", **shape}, [*said, *content])))


def _text(x: str, y: float | str, text: str) -> Element:
    return _node("text", {"x": x, "y": y, **INK, "font-size": FONT_SIZE}, text=text)


def _shaded(shade: str) -> dict[str, str]:
    return {**INK, "fill-opacity": shade, "stroke": "currentColor", "stroke-opacity": ".5"}


def _bar(left: float, width: float, top: int, shade: str, title: str) -> Element:
    place = {"x": f"{left:.2f}%", "y": top + 1, "width": f"{width:.2f}%", "height": BAR_HEIGHT}
    return _rect({**place, **_shaded(shade)}, title)


def _share_shade(position: int) -> str:
    return SHARE_SHADES[position] if position < len(SHARE_SHADES) else OTHER_SHADE


def _filled(name: str, parts: Mapping[str, float], top: int) -> Iterator[Element]:
    left = NAMES
    for position, (label, part) in enumerate(parts.items()):
        width = (100 - NAMES) * part
        if width:
            yield _bar(left, width, top, _share_shade(position), f"{name}, {label}: {part:.1%}")
        if width >= LEAST_SHARE:
            yield _text(f"{left + 1:.2f}%", top + BASELINE, f"{part:.0%}")
        left += width


@dataclass(frozen=True)
class _Block:
    """A rectangle of an icicle chart: its column from 0, top and height in pixels, and what stands in it."""

    column: int
    top: float
    height: float
    name: str
    count: int


def _blocks(branches: Sequence[Branch], column: int, top: float, scale: float) -> Iterator[_Block]:
    """A block for each branch that has room for a label, and one for all others together where that has room."""
    shown = [branch for branch in branches if branch.count * scale >= LINE_HEIGHT]
    for branch in shown:
        yield _Block(column, top, branch.count * scale, branch.name, branch.count)
        yield from _blocks(branch.branches, column + 1, top, scale)
        top += branch.count * scale
    others = branches[len(shown) :]
    count = sum(branch.count for branch in others)
    if count * scale >= LINE_HEIGHT:
        yield _Block(column, top, count * scale, f"{len(others):,} others", count)


def _block(block: _Block, width: float) -> Element:
    """A drawing of its own, which cuts off what is too long for it."""
    place = {"x": f"{block.column * width:.2f}%", "y": f"{block.top:.1f}"}
    size = {"width": f"{width:.2f}%", "height": f"{block.height:.1f}"}
    title = _node("title", {}, text=f"{block.name}: {block.count:,}")
    shade = _shaded(COLUMN_SHADES[min(block.column, len(COLUMN_SHADES) - 1)])
    shape = _node("rect", {"width": "100%", "height": "100%", **shade})
    label = _text("6", f"{min(block.height / 2, 40) + 4:.1f}", f"{block.name} {block.count:,}")
    return _node("svg", {**place, **size}, [title, shape, label])
