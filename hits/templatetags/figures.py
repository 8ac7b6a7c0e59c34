"""How numbers are written on the dashboard: one place for money, shares, times and estimates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from math import floor, log10
from typing import Any

from django import template
from django.forms import BoundField, ChoiceField
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from hits import charts
from hits.stats.blocking import Evidence
from hits.stats.intervals import wilson

register = template.Library()
NOTHING, MINUS = "–", "\N{MINUS SIGN}"


@register.filter
def count(value: float | None) -> str:
    """24400 -> '24,400'."""
    return NOTHING if value is None else minus(f"{value:,.0f}")


def minus(text: str) -> str:
    """A number with the sign for less than nothing, as it is printed: '-3' -> '−3'."""
    return text.replace("-", MINUS)


@register.filter
def money(value: Decimal | float | str | None, digits: int = 2) -> str:
    """1234.5 -> '$1,234.50'; a negative amount as '−$3.00'. `digits` after the point."""
    if value is None or value == "":
        return NOTHING
    amount = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{MINUS if amount < 0 else ''}${abs(amount):,.{digits}f}"


@register.filter
def cents(value: Decimal | None, digits: int = 6) -> str:
    """An amount of a fraction of a cent, with the digits that say something: '$0.0004', '$0.01', '$5.00'."""
    if value is None:
        return NOTHING
    whole, _, rest = money(value, digits).partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


@register.filter
def plain(value: float | Decimal | None, digits: int = 6) -> str:
    """A number without noughts that say nothing: 0.996000 -> '0.996', 5.0 -> '5', 1204 -> '1,204'."""
    if value is None:
        return NOTHING
    text = minus(f"{value:,.{digits}f}")
    return text.rstrip("0").rstrip(".") if digits else text


@register.filter
def change(value: Decimal) -> str:
    """An amount with its sign: '+$1.00', '−$1.00'; nothing for zero."""
    return "" if not value else f"{'+' if value > 0 else ''}{money(value)}"


@register.filter
def percent(value: float | None, digits: int = 1) -> str:
    """0.583 -> '58.3 %'."""
    return NOTHING if value is None else minus(f"{100 * value:.{digits}f} %")


@register.filter
def of(part: float | None, whole: float | None) -> float | None:
    """The share part/whole, None when there is no whole: `{{ kept|of:answered|percent }}`."""
    return part / whole if whole and part is not None else None


@register.filter
def interval(bounds: tuple[float, float]) -> str:
    """(0.5551, 0.6108) -> '55.5 to 61.1 %'."""
    return minus(f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f} %")


@register.filter
def duration(seconds: float | None) -> str:
    """38.8 -> '38.8 s', 125 -> '2 min 5 s', 11400 -> '3 h 10 min', 273600 -> '3 d 4 h'."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = int(seconds)
    for size, unit, smaller, name in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {name}" if rest else "")
    return f"{whole} s"


@register.filter
def latency(milliseconds: float | None) -> str:
    """38.4 -> '38 ms', 1280 -> '1.3 s'."""
    if milliseconds is None:
        return NOTHING
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


@register.filter
def about(value: float | None) -> str:
    """An estimate with two significant digits: 1237 -> 'about 1,200'."""
    if value is None:
        return NOTHING
    if value <= 0:
        return "about 0"
    digits = 1 - floor(log10(value))
    return f"about {round(value, min(digits, 1)):,.{max(0, min(digits, 1))}f}".removesuffix(".0")


@register.filter
def pace(rate: float) -> str:
    """A rate given by the second, in the unit that reads best: 'about 35 a second', 'about 4.2 a minute'."""
    for unit, seconds in (("second", 1), ("minute", 60)):
        if rate * seconds >= 1:
            return f"{about(rate * seconds)} a {unit}"
    return f"{about(rate * 3600)} an hour"


@register.filter
def moment(value: datetime | str | None) -> SafeString | str:
    """A point in time that the browser shows in the viewer's zone; UTC without a script."""
    if not value:
        return NOTHING
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    return format_html('<time datetime="{}">{} UTC</time>', when.isoformat(), f"{when:%-d %b %Y, %H:%M}")


@register.filter
def away(value: datetime | None) -> str:
    """How far a moment is: 'in 5 h', '2 d 3 h ago', 'now'."""
    if value is None:
        return NOTHING
    seconds = (value - timezone.now()).total_seconds()
    if abs(seconds) < 1:
        return "now"
    return f"in {duration(round(seconds))}" if seconds > 0 else f"{duration(round(-seconds))} ago"


@register.filter
def whole(value: float | None) -> int | None:
    return None if value is None else round(value)


@register.filter
def chance(p: float) -> str:
    """A p value: '0.0123', or 'below 0.0001'."""
    return "below 0.0001" if p < 0.0001 else f"{p:.4f}"


@register.filter
def measure(value: float | None) -> str:
    """A count as '1,204', a mean as '38.25'."""
    if value is None:
        return NOTHING
    return count(value) if isinstance(value, int) else minus(f"{value:,.2f}")


@register.filter
def scored_in_words(evidence: Evidence | Mapping[str, Any]) -> str:
    """What the evidence of a block counts: '2 of 40 scored answers were right'."""
    read = evidence if isinstance(evidence, Evidence) else Evidence.from_dict(evidence)
    return read.counted


@register.filter
def said(value: Any) -> str:
    """Any answer or setting as text: the words of {"text": ...}, else 'name: value' pairs."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and value["text"]:
            return str(value["text"])
        return " · ".join(f"{name}: {said(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " · ".join(said(part) for part in value)
    return "–" if value is None else str(value)


# What the counts of a verdict are called.
_VOTES = {
    "right": "match gold",
    "wrong": "do not match gold",
    "unscored": "were compared with no gold",
    "void": "do not count",
    "missing": "are still to come",
}


@register.filter
def in_code(text: str) -> SafeString:
    """A sentence of a card, which is Markdown: what stands between backticks as code."""
    # The parts in code stand at every second place.
    parts = re.split("`([^`]+)`", text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", one) if at % 2 else one,) for at, one in enumerate(parts))
    )


@register.filter
def vote_counts(detail: Mapping[str, int]) -> str:
    """What a verdict's answers were: '2 match gold, 1 does not count'; those that there are."""
    told = [
        f"{number:,} {_number_of(_VOTES[name], number)}" for name, number in detail.items() if number and name in _VOTES
    ]
    return f"of the answers {', '.join(told)}" if told else "no answer"


def _number_of(words: str, number: int) -> str:
    verb, _, rest = words.partition(" ")
    one = {"match": "matches", "do": "does", "were": "was", "are": "is"}[verb]
    return f"{one if number == 1 else verb} {rest}"


@register.filter
def with_reference(labels: Iterable[Any]) -> list[Any]:
    """The labels that were compared with a reference, and of the others one of each standing: all say the same."""
    shown: dict[Any, Any] = {}
    for label in labels:
        shown.setdefault((label.void, bool(label.undone_at)) if label.correct is None else label.pk, label)
    return list(shown.values())


@register.filter
def asked(data: dict[str, Any]) -> str:
    """What an item asks in one line: its query, or all its fields."""
    return str(data["query"]) if data.get("query") else said(data)


@register.filter
def at(found: Mapping[Any, Any], key: Any) -> Any:
    """What a dictionary holds at a key that only the page knows; None where it holds nothing."""
    return found.get(key)


@register.filter
def in_option_words(field: BoundField) -> Any:
    """The value of a form's field; of a choice between options, the words of the one that is chosen."""
    value = field.value()
    options: Any = field.field.choices if isinstance(field.field, ChoiceField) else ()
    return dict(options).get(value, value)


@register.filter
def named(values: Iterable[Any], names: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Each of a row's values behind the name of its column."""
    return list(zip(names, values, strict=True))


@register.filter
def short_id(value: str) -> str:
    """A marketplace id cut in the middle: 'A1FZ…9QK'."""
    return value if len(value) <= 10 else f"{value[:4]}…{value[-3:]}"


@register.filter
def file_size(size: int) -> str:
    """Bytes in the unit that reads best: '812 bytes', '1.4 MB' (powers of 1,000)."""
    if size < 1000:
        return f"{size} bytes"
    for unit in ("kB", "MB", "GB"):
        size_in_unit = size / {"kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
        if size_in_unit < 999.5 or unit == "GB":
            return f"{size_in_unit:.1f} {unit}"
    return NOTHING


@register.filter
def tone(state: str) -> str:
    """The chip class of a state: colour always comes with the word that it stands beside."""
    return TONES.get(state, "")


TONES = {
    "live": "good", "kept": "good", "done": "good", "granted": "bad", "Approved": "good", "published": "good",
    "paused": "warn", "again": "warn", "waiting": "warn", "Submitted": "warn", "intended": "warn", "lifting": "warn",
    "sent": "warn", "refused": "bad", "Rejected": "bad", "open": "info", "publishing": "info", "reading": "info",
    "storing": "info", "queued": "info", "paid": "good", "planned": "info", "offered": "info",
    "offering": "warn", "withdrawing": "warn", "mapping": "warn", "running": "info", "stopped": "warn", "failed": "bad",
    "finished": "info",
}  # fmt: skip


@register.simple_tag
def bar(done: float | Decimal, total: float | Decimal, label: str, tone: str = "accent") -> charts.Markup:
    """A progress bar with its text alternative."""
    done, total = float(done), float(total)
    said = f"{label}: {charts.share(done, total):.0f} %"
    return charts.stacked_bar([(said, done, tone)], total, said)


@register.simple_tag
def share_bar(part: int, whole: int) -> charts.Markup:
    """A small bar beside a number that stands there in words, for the eye alone."""
    return charts.share_bar(part, whole)


@register.simple_tag
def accuracy_bar(correct: int, scored: int, tone: str = "accent") -> charts.Markup:
    """The 95 % interval of an accuracy on a line from 0 to 1."""
    return charts.interval_bar(*wilson(correct, scored), tone)


@register.simple_tag
def interval_bar(bounds: tuple[float, float], tone: str = "accent") -> charts.Markup:
    """An interval on a line from 0 to 1."""
    return charts.interval_bar(*bounds, tone)


@register.simple_tag
def accuracy_interval(correct: int, scored: int) -> str:
    return interval(wilson(correct, scored))


@register.simple_tag(takes_context=True)
def with_query(context: dict[str, Any], **changes: Any) -> str:
    """The page's own query string with some values changed; an empty value takes the key out."""
    query = context["request"].GET.copy()
    for key, value in changes.items():
        if value in (None, ""):
            query.pop(key, None)
        else:
            query[key] = str(value)
    return f"?{query.urlencode()}" if query else "?"
