"""The time that a text says a task takes."""

from __future__ import annotations

import re

_WORDS = {
    "half a": 0.5, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip
_SIZES = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_NUMBER = r"\d{1,5}(?:\.\d{1,2})?|" + "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True))
_UNIT = r"seconds?|secs?|s|minutes?|mins?|hours?|h"
_DURATION = re.compile(rf"(?<![\w.$])({_NUMBER})[ -]?({_UNIT})(?![\w])", re.IGNORECASE)
LONGEST = 86_400


def longest_duration(text: str) -> int | None:
    """Seconds of the longest time that the text names, such as 120 for "about 2 minutes"; None without any.

    The longest, because a description may name parts of the task too: a wage reckoned with it is not too high. Times
    of more than a day are no time for one task and are passed over.
    """
    found = [_seconds(*match.groups()) for match in _DURATION.finditer(text)]
    return max((seconds for seconds in found if 1 <= seconds <= LONGEST), default=None)


def _seconds(number: str, unit: str) -> int:
    amount = _WORDS[number.lower()] if number.lower() in _WORDS else float(number)
    size = unit.lower()
    return round(amount * _SIZES[size if size in _SIZES else size.removesuffix("s")])
