from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from hits.templatetags import figures


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1234.5"), "$1,234.50"),
        (Decimal("0.005"), "$0.01"),
        (Decimal("-3"), "−$3.00"),
        (None, "–"),
        (0, "$0.00"),
    ],
)
def test_money_has_a_sign_separators_and_cents(value: Decimal | None, text: str) -> None:
    assert figures.money(value) == text


def test_small_amounts_may_show_more_places() -> None:
    assert figures.money(Decimal("0.0941"), 3) == "$0.094"


@pytest.mark.parametrize(
    ("value", "text"),
    [("0.0004", "$0.0004"), ("0.01", "$0.01"), ("5", "$5.00"), ("0.5", "$0.50"), ("-0.0004", "−$0.0004"), (None, "–")],
)
def test_a_small_amount_has_the_digits_that_say_something(value: str | None, text: str) -> None:
    assert figures.cents(value and Decimal(value)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.996, "0.996"), (5.0, "5"), (100, "100"), (1204.5, "1,204.5"), (-3.0, "−3"), (None, "–")]
)
def test_a_number_has_no_noughts_that_say_nothing(value: float | None, text: str) -> None:
    assert figures.plain(value) == text


def test_less_than_nothing_has_one_sign_everywhere() -> None:
    assert (figures.percent(-3), figures.count(-2), figures.measure(-1.5)) == ("−300.0 %", "−2", "−1.50")
    assert figures.interval((-22.326, 0.225)) == "−2232.6 to 22.5 %"


def test_what_stands_between_backticks_is_code_and_nothing_is_trusted() -> None:
    assert figures.in_code("`a` is <b>, or `c d`.") == "<code>a</code> is &lt;b&gt;, or <code>c d</code>."
    assert figures.in_code("5` long") == "5` long"


@pytest.mark.parametrize(("value", "text"), [(Decimal("1"), "+$1.00"), (Decimal("-1"), "−$1.00"), (Decimal(0), "")])
def test_a_change_shows_its_direction(value: Decimal, text: str) -> None:
    assert figures.change(value) == text


def test_shares_are_percentages_and_a_share_of_nothing_is_a_dash() -> None:
    assert figures.percent(figures.of(8121, 15903)) == "51.1 %"
    assert figures.percent(figures.of(1, 0)) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(38.8, "38.8 s"), (41.0, "41 s"), (125, "2 min 5 s"), (3600, "1 h"), (11_400, "3 h 10 min"), (273_600, "3 d 4 h")],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert figures.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1237, "about 1,200"), (35.4, "about 35"), (2.44, "about 2.4"), (0, "about 0")]
)
def test_an_estimate_says_about_and_is_rounded(value: float, text: str) -> None:
    assert figures.about(value) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(35.2, "about 35 a second"), (0.07, "about 4.2 a minute"), (0.001, "about 3.6 an hour")]
)
def test_a_pace_is_given_in_the_unit_that_reads_best(rate: float, text: str) -> None:
    assert figures.pace(rate) == text


def test_a_moment_can_be_read_without_a_script_and_by_one() -> None:
    moment = figures.moment(datetime(2026, 11, 19, 9, 12, tzinfo=UTC))
    assert moment == '<time datetime="2026-11-19T09:12:00+00:00">19 Nov 2026, 09:12 UTC</time>'


def test_how_far_a_moment_is_has_a_direction() -> None:
    assert figures.away(timezone.now() + timedelta(hours=5, seconds=0.4)) == "in 5 h"
    assert figures.away(timezone.now() - timedelta(days=2, hours=3)) == "2 d 3 h ago"


def test_an_answer_is_shown_by_its_words_when_it_has_some() -> None:
    assert figures.said({"start": 1, "end": 3, "text": "Linden"}) == "Linden"
    assert figures.said({"right": 1, "wrong": 0}) == "right: 1 · wrong: 0"


@pytest.mark.parametrize(
    ("size", "text"), [(812, "812 bytes"), (1_234_567, "1.2 MB"), (999_950, "1.0 MB"), (5_000, "5.0 kB")]
)
def test_a_file_size_has_a_unit_that_fits(size: int, text: str) -> None:
    assert figures.file_size(size) == text


def label(unit: str, value: Any = "x", correct: bool | None = None, **columns: Any) -> Any:
    return SimpleNamespace(
        pk=unit, unit=unit, value=value, correct=correct, **{"void": False, "undone_at": None} | columns
    )


def test_that_there_is_no_reference_is_said_once_for_each_standing() -> None:
    right, void = label("a", correct=True), label("e", void=True)
    assert figures.with_reference([right, label("b"), label("c"), label("d"), void]) == [right, label("b"), void]
