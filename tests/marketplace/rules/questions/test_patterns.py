"""Expressions of requesters: what a line of them may cost."""

import time

import pytest

from marketplace.rules.errors import ParameterValidationError
from marketplace.rules.questions.form_model import Pattern
from marketplace.rules.questions.patterns import Allowance, check_pattern


def pattern(source: str) -> Pattern:
    return Pattern(source, ignore_case=False, message="")


@pytest.mark.parametrize(
    "source",
    [
        "a{1000000000}",
        "(?:(?:(?:a{99}){99}){99})",
        "(a{99}){99,}",
        "([)a]{99}){99}",
        "((?<x>a|b{99})){99}",
        r"(\({99}){99}",
        "[ab]{90000}",
        "(a{99})*{99}{99}",
        "()]{9}" * 9 + "{99999}",
    ],
)
def test_repetitions_that_would_fill_the_memory_are_refused(source: str) -> None:
    started = time.thread_time()
    with pytest.raises(ParameterValidationError):
        check_pattern(pattern(source))
    assert time.thread_time() - started < 1


@pytest.mark.parametrize("source", ["(?R)", "(a(?1)?)", "(?P<x>a)", "(?x) a", "(?>a)", "[]a]", "[^]"])
def test_what_javascript_does_not_know_is_refused(source: str) -> None:
    with pytest.raises(ParameterValidationError):
        check_pattern(pattern(source))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"^\d{3}-\d{3}-\d{4}$", "555-555-0199"),
        (r"^(?:[A-Z]{2}\d{2}(?: ?\d{4}){5})$", "DE12 3456 7890 1234 5678 9012"),
        (r"^(?=.{1,64}$)(?!x)(?<name>[^@\]]+)@", "nina@example.org"),
        (r"^{}\{2}$", "{}{2}"),
        (r"^.{0,3000}$", "ok"),
    ],
)
def test_ordinary_ones_work(source: str, text: str) -> None:
    check_pattern(pattern(source))
    assert Allowance().fits(pattern(source), text)
