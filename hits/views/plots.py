"""Bars and plots as SVG, drawn by the server from numbers. Pure: no request, no table, no script.

Widths are percentages and heights pixels, so that text keeps its size from a phone to a wide screen. Colours come
from classes of the style sheet, because the content security policy forbids style attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import floor, log10

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

PLOT_HEIGHT = 132
TOP, BASE = 22, 124
# Room for the numbers of the scale, in pixels: the style sheet keeps it free at the left of each plot.
GUTTER = 8
# Fewer points are no course that a line could show.
FEWEST_FOR_A_LINE = 3
LONGEST_TIMELINE = 14 * 24


def share(part: float, whole: float) -> float:
    """part/whole as a percentage within 0..100; 0 where there is no whole."""
    return min(100.0, max(0.0, 100.0 * part / whole)) if whole else 0.0


def stacked_bar(parts: Sequence[tuple[str, float, str]], total: float, label: str) -> SafeString:
    """Parts (name, amount, tone) beside one another; what is left of `total` stays empty."""
    drawn, start = [], 0.0
    for name, amount, tone in parts:
        width = min(share(amount, total), 100.0 - start)
        if width:
            drawn.append((f"{start:.2f}", f"{width:.2f}", tone, name))
        start += width
    form = '<rect x="{}%" width="{}%" height="10" class="fill-{}"><title>{}</title></rect>'
    rects = format_html_join("", form, drawn)
    return format_html('<svg class="bar" width="100%" height="10" role="img" aria-label="{}">{}</svg>', label, rects)


def interval_bar(low: float, high: float, tone: str = "accent") -> SafeString:
    """An interval within 0..1 on a line."""
    width = max(100 * (high - low), 2.0)
    start = min(100 * low, 100.0 - width)
    return format_html(
        '<svg class="interval" width="120" height="14" role="img" aria-label="{}">'
        '<line class="axis-line" x1="0" y1="7" x2="100%" y2="7"/>'
        '<rect class="fill-{}" x="{}%" y="5" width="{}%" height="4"/></svg>',
        f"{100 * low:.1f} to {100 * high:.1f} %",
        tone,
        f"{start:.1f}",
        f"{width:.1f}",
    )


def nice_ceiling(value: float) -> int:
    """The next of 2, 4, 10, 20, 40, 100 ... : a scale whose half is a whole number too."""
    if value <= 2:
        return 2
    power = 10 ** int(log10(value))
    return int(next(step * power for step in (1, 2, 4, 10) if step * power >= value))


def filled_hours(timeline: Sequence[Sequence]) -> list[tuple[datetime, int]]:
    """[[ISO hour, answers], ...] with zeros for the hours in between; at most the last 14 days."""
    known = {datetime.fromisoformat(hour): int(answers) for hour, answers in timeline}
    if not known:
        return []
    last = max(known)
    first = max(min(known), last - timedelta(hours=LONGEST_TIMELINE - 1))
    steps = round((last - first) / timedelta(hours=1)) + 1
    hours = (first + timedelta(hours=step) for step in range(steps))
    return [(hour, known.get(hour, 0)) for hour in hours]


def _fine_ceiling(value: float) -> float:
    """The same for shares and losses, which stay below 2."""
    if value > 2:
        return nice_ceiling(value)
    power = 10.0 ** floor(log10(value)) if value > 0 else 1.0
    return next(step * power for step in (1, 2, 4, 10) if step * power >= value)


def _grid(ceiling: float) -> SafeString:
    """Lines at nothing, half and the whole, with their numbers in the gutter."""
    lines = [(BASE - (BASE - TOP) * part / 2, _amount(ceiling * part / 2)) for part in (0, 1, 2)]
    return format_html_join(
        "",
        '<line class="axis-line" x1="0" y1="{0}" x2="100%" y2="{0}"/>'
        '<text x="-{1}" y="{2}" text-anchor="end">{3}</text>',
        ((f"{y:.0f}", GUTTER, f"{y + 4:.0f}", text) for y, text in lines),
    )


def _plot(label: str, content: SafeString) -> SafeString:
    return format_html(
        '<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}</svg>', PLOT_HEIGHT, label, content
    )


def answers_an_hour(timeline: Sequence[Sequence]) -> SafeString:
    """A line over the hours with the axis below, columns of one or two; an empty string where there is none."""
    hours = [(hour, float(answers)) for hour, answers in filled_hours(timeline)]
    return curve(hours, "Answers an hour", "in the last hour")


def curve(points: Sequence[tuple[datetime, float]], what: str, last: str) -> SafeString:
    """A line over moments of equal distance with the axis below, columns of one or two; an empty string where there
    is nothing to draw.

    `what` is drawn, and `last` says what the last point is, for those who hear the plot.
    """
    if not points:
        return SafeString("")
    values = [value for _, value in points]
    ceiling = nice_ceiling(max(values))
    label = (
        f"{what} from {points[0][0]:%-d %b %H:%M} to {points[-1][0]:%-d %b %H:%M} UTC: "
        f"most {_written(max(values))}, {last} {_written(values[-1])}."
    )
    return format_html("{}{}", _plot(label, _course(values, ceiling)), _time_axis(points))


def steps(values: Sequence[float], what: str, step: str = "step", first: float = 1) -> SafeString:
    """A line over steps of some work, numbered from `first`, columns of one or two; an empty string where there is
    none. No value is negative.

    `step` is what one of them is called, such as "iteration".
    """
    if not values:
        return SafeString("")
    ceiling = _fine_ceiling(max(values))
    label = f"{what} over {len(values):,} {step}s: first {_amount(values[0])}, last {_amount(values[-1])}."
    ends = dict.fromkeys(f"{step} {number:,.0f}" for number in (first, first + len(values) - 1))
    marks = format_html_join("", "<span>{}</span>", ((end,) for end in ends))
    return format_html("{}{}", _plot(label, _course(values, ceiling)), _axis(marks, len(values)))


def _course(values: Sequence[float], ceiling: float) -> SafeString:
    drawn = (_columns if len(values) < FEWEST_FOR_A_LINE else _line)(values, ceiling)
    return format_html("{}{}", _grid(ceiling), drawn)


def _columns(values: Sequence[float], ceiling: float) -> SafeString:
    """Each value in the middle of its part of the width, with its number above."""
    part = 100 / len(values)
    rows = [
        (f"{(index + 0.5) * part:.1f}", BASE - (BASE - TOP) * value / ceiling, _amount(value))
        for index, value in enumerate(values)
    ]
    return format_html_join(
        "",
        '<rect class="fill-accent" x="{0}%" transform="translate(-20)" y="{1}" width="40" height="{2}"/>'
        '<text x="{0}%" y="{3}" text-anchor="middle">{4}</text>',
        ((x, f"{top:.1f}", f"{BASE - top:.1f}", f"{top - 5:.1f}", text) for x, top, text in rows),
    )


def _line(values: Sequence[float], ceiling: float) -> SafeString:
    step = 1000 / (len(values) - 1)
    places = [(index * step, 100 - 100 * value / ceiling) for index, value in enumerate(values)]
    return format_html(
        '<svg x="0" y="{}" width="100%" height="{}" viewBox="0 0 1000 100" preserveAspectRatio="none"'
        ' overflow="visible">'
        '<polyline class="line" points="{}"/></svg>',
        TOP,
        BASE - TOP,
        " ".join(f"{x:.1f},{y:.1f}" for x, y in places),
    )


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _written(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _time_axis(points: Sequence[tuple[datetime, float]]) -> SafeString:
    moments = [moment for moment, _ in points]
    shown = [moments[0], moments[len(moments) // 2], moments[-1]] if len(moments) > 2 else moments
    times = format_html_join(
        "", '<time datetime="{}">{}</time>', ((at.isoformat(), f"{at:%a %H:%M} UTC") for at in shown)
    )
    return _axis(times, len(moments))


def _axis(marks: SafeString, points: int) -> SafeString:
    few = " few" if points < FEWEST_FOR_A_LINE else ""
    return format_html('<div class="axis{}">{}</div>', few, marks)


def workers_by_accuracy(counts: Sequence[int], floor: float | None, crowd: float | None) -> SafeString:
    """A histogram over equal steps of accuracy with the blocking floor and the crowd's average as lines."""
    if not any(counts):
        return SafeString("")
    ceiling = nice_ceiling(max(counts))
    width = 100 / len(counts)
    bars = format_html_join(
        "",
        '<rect class="fill-{}" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
        (
            (
                "bad" if floor is not None and (index + 1) / len(counts) <= floor + 1e-9 else "accent",
                f"{index * width + 0.2:.2f}",
                f"{BASE - height:.1f}",
                f"{width - 0.4:.2f}",
                f"{height:.1f}",
                f"{index * width:.0f} to {(index + 1) * width:.0f} %: {amount:,}",
            )
            for index, amount in enumerate(counts)
            if (height := max((BASE - TOP) * amount / ceiling, 2.0 if amount else 0.0))
        ),
    )
    content = format_html("{}{}{}{}", _grid(ceiling), bars, _mark(floor, "floor"), _mark(crowd, "crowd"))
    label = f"Workers by accuracy: {sum(counts):,} workers" + "".join(
        f", {name} {100 * value:.0f} %" for name, value in (("floor", floor), ("crowd", crowd)) if value is not None
    )
    axis = SafeString('<div class="axis"><span>0 %</span><span>50 %</span><span>100 %</span></div>')
    return format_html("{}{}", _plot(label + ".", content), axis)


def _mark(value: float | None, name: str) -> SafeString:
    """A dashed upright line with its name, written on the side where there is room."""
    if value is None:
        return SafeString("")
    left = value > 0.75
    return format_html(
        '<line class="mark mark-{0}" x1="{1}%" y1="4" x2="{1}%" y2="{2}"/>'
        '<text class="mark-{0}" x="{1}%" dx="{3}" y="13" text-anchor="{4}">{0} {5} %</text>',
        name,
        f"{100 * value:.1f}",
        BASE,
        -5 if left else 5,
        "end" if left else "start",
        f"{100 * value:.0f}",
    )
