"""Counts in sentences: '1 item goes', '3 items go'."""

from __future__ import annotations


def counted(number: int, word: str) -> str:
    """'1 item', '1,204 items'."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def agreeing(number: int, one: str, several: str) -> str:
    """The verb that fits the number."""
    return one if number == 1 else several
