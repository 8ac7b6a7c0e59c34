"""Numbers of things in sentences for leads, in the singular and the plural."""

from __future__ import annotations


def amount(number: int, noun: str) -> str:
    """“1 worker”, “2,000 workers”."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def amount_is(number: int, noun: str = "") -> str:
    """“1 worker is”, “2 workers are”; without a noun “1 is”, “2 are”."""
    return f"{amount(number, noun) if noun else f'{number:,}'} {'is' if number == 1 else 'are'}"


def agreeing(number: int, one: str, several: str) -> str:
    """The verb that fits the number: agreeing(1, "goes", "go") is “goes”."""
    return one if number == 1 else several
